"""Keep API keys private: they come from the environment or an ignored .env; `redact` filters every output."""

import base64
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

from balrog_rag.contracts.errors import ConfigError

HIDDEN = "[redacted]"
SHORTEST = 8
SECRET_NAME = re.compile(
    r"(?:key|token|secret|password|passwd|passphrase|credential|auth|authorization|bearer|jwt|cookie|signature)s?$",
    re.IGNORECASE,
)
NO_SECRET_NAME = re.compile(
    r"(?:max|min|_?n|stop|pad|bos|eos|sep|cls|mask|unk|per_minute|cache|idempotency|sort)[_-]?(?:token|key)s?$",
    re.IGNORECASE,
)
VARIABLE = re.compile(r"env:[A-Za-z_]\w*")

# One pattern for all keys that are recognizable by their format; named groups keep it readable.
# Prefixes before a fixed marker are bounded: otherwise a text full of prefixes takes minutes.
SHAPES = re.compile(
    r"""
      \b(?:sk|rk|pk)-[A-Za-z0-9_-]{12,}                        # OpenAI, Anthropic, DeepSeek, OpenRouter, ...
    | \bxai-[A-Za-z0-9_-]{12,}
    | \bgsk_[A-Za-z0-9]{12,}
    | \bAIza[0-9A-Za-z_-]{20,}                                 # Google
    | \bya29\.[0-9A-Za-z_-]{10,}
    | \b(?:AKIA|ASIA|ABSK)[A-Za-z0-9+/=]{12,}                  # AWS
    | \bhf_[A-Za-z0-9]{12,}                                    # Hugging Face
    | \b(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{16,}
    | \beyJ[A-Za-z0-9_-]{8,600}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]*  # JSON web tokens
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    | (?P<bearer>\b(?:Bearer|Basic)(?:\s|%20|\+)+)(?=\S{0,200}\d|\S{24})[A-Za-z0-9._~+/=%-]{8,}
    | (?P<named>
        (?:x-(?:goog-)?api-?key|api[-_ ]?key|access[-_]?token|auth[-_]?token|aws_?secret_?access_?key
          |aws_?session_?token|secret_?access_?key|client_?secret|password|authorization|x-amz-security-token
          |x-amz-signature)
        ["'\\]*\s*(?:[:=]|%3A|%3D)\s*["'\\]*(?:(?:Bearer|Basic)\s+)?
      )(?!env:[A-Za-z_]\w*(?:[\s"'\\,;&}<>]|$))[^\s"'\\,;&}<>]{6,}  # env:NAME only names a variable
    | (?P<query>[?&](?:key|token|sig|signature|code)=)[^&\s"'<>]{6,}
    | (?P<scheme>\b[a-z][a-z0-9+.-]{0,24}://)[^/\s@"'<>?\#]{1,512}(?=@)  # user and password before a host
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
# A text that matches none of these cannot contain a key.
HINTS = (
    *("sk-", "rk-", "pk-", "xai-", "gsk_", "aiza", "ya29", "akia", "asia", "absk", "hf_", "eyj"),
    *("github_pat", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "bearer", "basic", "key", "token", "secret"),
    *("password", "authorization", "signature", "sig=", "code=", "://"),
)


def load_env(folder: Path | None = None) -> None:
    """Read `.env` of the current folder into the environment; variables already set keep their value.

    A `.env` in a run folder or sweep is ignored: it came with the folder, possibly from an untrusted source.
    """
    here = folder or Path.cwd()
    path = here / ".env"
    if path.is_file() and not any((here / name).exists() for name in ("config.json", "sweep.json")):
        from dotenv import load_dotenv

        load_dotenv(stream=io.StringIO(_env_text(path)), override=False)
    known_secrets.cache_clear()


def _env_text(path: Path) -> str:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    except OSError as error:
        raise ConfigError(f"{path.name}: cannot be read ({error.strerror})") from error
    if "\0" in text:  # probably UTF-16, which some editors write
        raise ConfigError(f"{path.name}: not UTF-8 text; save it as UTF-8")
    return text


_remembered: set[str] = set()


def remember(*values: str) -> None:
    """Add values to hide, for example of headers that the configuration sets."""
    if not _remembered.issuperset(values):
        _remembered.update(values)
        known_secrets.cache_clear()


_hidden_here: ContextVar[re.Pattern[str] | None] = ContextVar("_hidden_here", default=None)
"""The secrets of this task alone, such as the key of one rollout among many."""


@contextmanager
def hiding(*values: str) -> Iterator[None]:
    """Hide further values in this task while the body runs; unlike `remember`, they do not add up."""
    before = _hidden_here.set(_pattern_of(tuple(value for value in values if value)))
    try:
        yield
    finally:
        _hidden_here.reset(before)


@lru_cache(maxsize=256)
def _pattern_of(values: tuple[str, ...]) -> re.Pattern[str] | None:
    return _any_of({form for value in values if len(value) >= SHORTEST for form in _forms(value)})


def _any_of(forms: set[str]) -> re.Pattern[str] | None:
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile("|".join(map(re.escape, longest_first))) if forms else None


@lru_cache(maxsize=1)
def known_secrets() -> re.Pattern[str] | None:
    """Return a pattern for the values of secret environment variables, plain, base64 or %-encoded."""
    named = {
        value for name, value in os.environ.items() if is_secret_name(name) and not value.startswith("/")
    }
    return _any_of(
        {form for value in named | _remembered if len(value) >= SHORTEST for form in _forms(value)}
    )


def _forms(secret: str) -> set[str]:
    """The encodings of a secret: plain, in JSON, quoted for a URL, in base64 at any offset."""
    quoted = {quote(secret), quote(secret, safe=""), quote_plus(secret)}
    lower = {re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), form) for form in quoted}
    forms = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], *quoted, *lower}
    data = secret.encode()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        forms.add(encode(data).decode())
        for offset in range(3):
            # Characters that also depend on the secret's neighbours are left out.
            encoded = encode(b"\0" * offset + data).decode().rstrip("=")
            whole = (len(data) + offset) % 3 == 0
            forms.add(encoded[(0, 2, 3)[offset] : None if whole else -1])
    return {form for form in forms if len(form) >= SHORTEST}


def is_secret_name(name: str) -> bool:
    """Whether a variable, header or key of this name holds a secret."""
    return SECRET_NAME.search(name) is not None and NO_SECRET_NAME.search(name) is None


def redact(text: str) -> str:
    """Remove keys from a text: those of the environment in any encoding, and anything that looks like one."""
    for known in (known_secrets(), _hidden_here.get()):
        if known is not None:
            text = known.sub(HIDDEN, text)
    lowered = text.lower()
    if not any(hint in lowered for hint in HINTS):
        return text
    return SHAPES.sub(_hide, text)


def _hide(found: re.Match[str]) -> str:
    kept = found["bearer"] or found["named"] or found["query"] or found["scheme"] or ""
    return f"{kept}{HIDDEN}"


def names_variable(value: str) -> bool:
    """Whether a value is `env:NAME`."""
    return VARIABLE.fullmatch(value) is not None


def resolve(value: str) -> str:
    """Replace `env:NAME` by that variable's value, so that a configuration refers to secrets by name only."""
    if not names_variable(value):
        return value
    name = value.removeprefix("env:")
    if name not in os.environ:
        raise ConfigError(f"{value}: this environment variable is not set; set {name} or put it into .env")
    remember(os.environ[name])
    return os.environ[name]


def secret_values(value: Any, name: str = "") -> Iterator[str]:
    """Yield the values of all secret names anywhere in a tree."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from secret_values(item, str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from secret_values(item, name)
    elif is_secret_name(name) and value is not None:
        yield str(value)


def redact_tree(value: Any, name: str = "") -> Any:
    """Copy a configuration or a record without secrets: values of secret names are hidden, texts redacted."""
    if isinstance(value, str):
        named = is_secret_name(name) and len(value) >= SHORTEST and not names_variable(value)
        return HIDDEN if named else redact(value)
    if isinstance(value, Mapping):
        return {key: redact_tree(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact_tree(item, name) for item in value]
    return value
