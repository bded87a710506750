"""What a caller sends to have one episode played, and its checks."""

import math
import re
import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from balrog_rag.config.schema import MOST_SEED
from balrog_rag.contracts.errors import ConfigError

AGENT = "naive_append"
"""The default agent: its prompts can be trained on as one sequence."""
OWN_FIELDS = ("model", "messages", "stream")
MOST_STEPS = 1_000_000
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


class Endpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A server that speaks OpenAI's chat completions."""

    base_url: str
    name: str
    """Sent as it is."""
    api_key: str = ""
    """The key itself, or env:NAME for a variable of this process. A key is never stored."""
    sampling: dict[str, Any] = {}
    """Further fields of every request, such as temperature or max_tokens, sent as they are."""

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r})"

    def check(self) -> None:
        """Raise ConfigError for an address that is none, or fields that the harness sets itself."""
        try:
            parts = urlsplit(self.base_url)
            whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            whole, parts = False, urlsplit("")
        if not whole:
            raise ConfigError(
                "model.base_url: not a server address; use http://HOST:PORT/v1 or https://HOST/v1"
            )
        if parts.username or parts.password or parts.query:
            raise ConfigError(
                "model.base_url: must not contain a user, a password or a query, since it is stored; put the "
                "key into model.api_key"
            )
        if not self.name:
            raise ConfigError("model.name: empty; name the model as its server does")
        if own := next((name for name in OWN_FIELDS if name in self.sampling), ""):
            raise ConfigError(f"model.sampling.{own}: set by the harness; leave it out")


class RolloutRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One rollout as requested."""

    model: Endpoint | str
    """The endpoint, or the name of a model option such as scripted."""
    task: str = ""
    """env/task; or give `spec`."""
    spec: dict[str, Any] | None = None
    """A complete episode spec, as in the header of a journal; it replaces task, seed, agent and overrides."""
    seed: int | None = None
    split: str | None = None
    index: int | None = None
    """With `split`: which seed of it; instead of `seed`."""
    agent: str = AGENT
    overrides: tuple[str, ...] = ()
    """KEY=VALUE, as for `balrog-rag run`."""
    max_steps: int | None = None
    """Most agent steps, like limits.steps."""
    deadline: float | None = None
    """Most seconds; a rollout that takes longer has no score and can be continued."""
    id: str = ""
    """Names its folder; a rollout of this id that has begun is continued."""

    def check(self) -> None:
        """Raise ConfigError for values that no rollout can have."""
        if bool(self.task) == (self.spec is not None):
            raise ConfigError("task: give either a task, as in env.tasks, or a spec")
        if (self.seed is not None) + (self.split is not None) > 1:
            raise ConfigError("seed: given together with split; leave out one of the two")
        if (self.split is None) != (self.index is None):
            raise ConfigError("index: split and index go together, as in split=train index=0")
        if self.seed is not None and not 0 <= self.seed <= MOST_SEED:
            raise ConfigError(f"seed: expected an integer from 0 to 2**63 - 1, got {self.seed}")
        if self.max_steps is not None and not 1 <= self.max_steps <= MOST_STEPS:
            raise ConfigError(f"max_steps: expected 1 to {MOST_STEPS:,}, got {self.max_steps}")
        # NaN is refused, too: it compares false with everything.
        if self.deadline is not None and not (self.deadline > 0 and math.isfinite(self.deadline)):
            raise ConfigError(f"deadline: expected a number of seconds above 0, got {self.deadline:g}")
        if self.id and not _ID.fullmatch(self.id):
            raise ConfigError("id: expected up to 100 letters, digits, '.', '_' or '-'")
        if isinstance(self.model, Endpoint):
            self.model.check()

    def named(self) -> "RolloutRequest":
        """Return the request with an id."""
        return self if self.id else msgspec.structs.replace(self, id=secrets.token_hex(8))

    def stored(self) -> dict[str, Any]:
        """Return the request as it may be written to disk: without its key, and whether it had one."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        if isinstance(self.model, Endpoint) and not is_reference(self.model.api_key):
            plain["had_key"] = bool(plain["model"].pop("api_key", ""))
        return plain


def is_reference(key: str) -> bool:
    """Whether a key is given as env:NAME."""
    return re.fullmatch(r"env:[A-Za-z_]\w*", key) is not None


def read_request(given: Mapping[str, Any] | bytes) -> RolloutRequest:
    """Parse a request from JSON or a mapping; errors name the field and never contain a value."""
    try:
        if isinstance(given, bytes):
            request = msgspec.json.decode(given, type=RolloutRequest)
        else:
            request = msgspec.convert(given, RolloutRequest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise ConfigError(f"rollout: {error}") from error
    request.check()
    return request
