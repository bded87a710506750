"""Reject secrets in plain text anywhere in a configuration: stored values may only name a variable."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.util.secrets import is_secret_name, names_variable, redact

_PAIR = re.compile(r"([\w.+-]+)['\"]?\s*[:=]\s*['\"]?([^\s,'\"{}\[\]]+)")
_NUMBER = re.compile(r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?|true|false|null", re.IGNORECASE)
_HEADERS = "model.extra_headers."


def refuse_in_words(words: Sequence[str]) -> None:
    """Reject overrides that contain a secret, before anything is composed or printed."""
    for word in words:
        key, _, value = word.lstrip("+~").partition("=")
        value = value.replace("\\", "").strip().strip("'\"")  # as Hydra parses it
        inside = _PAIR.findall(value) if value.startswith(("{", "[")) else []
        for name, one in [(key, value), *inside]:
            if _is_secret(key, name, one):
                raise _refusal(redact(key))


def refuse_in(tree: Mapping[str, Any]) -> None:
    """Reject a configuration that contains a secret, which would be stored in the run folder."""
    for path, value in _leaves(tree, ""):
        if _is_secret(path, path, str(value)):
            raise _refusal(path)


def _is_secret(path: str, name: str, value: str) -> bool:
    """Whether a value is a secret, judged by its format or by its name below a path."""
    if not value or all(names_variable(one.strip()) for one in value.split(",")):
        return False
    if redact(value) != value:
        return True
    last = name.rpartition(".")[2].strip("'")
    counted = _NUMBER.fullmatch(value) and not path.startswith(_HEADERS)
    return is_secret_name(last) and path not in _own_keys() and not counted and value != "None"


@cache
def _own_keys() -> frozenset[str]:
    """Keys of the schema, none of which holds a secret, whatever its name suggests."""
    from balrog_rag.config.schema import documented_keys  # here: the schema would double the time of `--help`

    return frozenset(key for key, _ in documented_keys())


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield every leaf value with its path; items of a list have the list's path."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            shown = f"'{name}'" if "." in str(name) else str(name)
            yield from _leaves(inner, f"{path}.{shown}" if path else shown)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner, path)
    else:
        yield path, value


def _refusal(path: str) -> ConfigError:
    return ConfigError(
        f"{path}: looks like a secret; put it into an environment variable (or .env) "
        f"and write {path}=env:NAME, so that it is not stored in the run folder"
    )
