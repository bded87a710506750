"""Why a call failed, and what follows: retry, stop the run, or cut the prompt."""

import email.utils
import re
import time
from collections.abc import Mapping
from enum import Enum

import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.errors import ModelError, ModelRefused, ModelUnavailable
from balrog_rag.util.secrets import redact

LONGEST_TEXT = 300
LONGEST_ERROR = 16_384
"""Most bytes of an error body that are read: LiteLLM alone takes two microseconds for each."""
LONGEST_WHOLE = LONGEST_ERROR // 4
"""Characters of a text that this bound cannot have cut, whatever its encoding."""
TRANSIENT = frozenset({408, 409, 423, 425, 499})
NO_CREDIT = re.compile(
    r"insufficient_quota|exceeded your current quota|credit balance|billing", re.IGNORECASE
)
TOO_LONG = re.compile(
    r"context.?length|context.?window|maximum context|too many (?:input )?tokens"
    r"|(?:prompt|input) is too long|exceeds? the (?:available )?context|reduce the length",
    re.IGNORECASE,
)
NO_MODEL = re.compile(
    r"model.{0,80}(?:not.?found|does not exist|not exist|unknown)|unknown model", re.IGNORECASE
)
SAID = re.compile(r'["\']message["\']\s*:\s*"((?:[^"\\]|\\.)+)"')


class Kind(Enum):
    """The kinds of failure, with their wording in error messages."""

    RATE_LIMIT = "the rate limit was reached"
    SERVER = "the server had an error"
    NETWORK = "the connection failed"
    TIMEOUT = "no complete answer came in time"
    BROKEN = "the answer was malformed"
    KEY = "the key was refused"
    CREDIT = "the account has no credit left"
    MODEL = "there is no such model or endpoint"
    CONTEXT = "the prompt is too long for this model"
    REQUEST = "the request was refused"
    UNSENT = "the request cannot be sent"

    @property
    def again(self) -> bool:
        """Whether a retry may help."""
        return self in (Kind.RATE_LIMIT, Kind.SERVER, Kind.NETWORK, Kind.TIMEOUT, Kind.BROKEN)


class Failure(msgspec.Struct, frozen=True):
    """One failed attempt, in a text without secrets."""

    kind: Kind
    status: int | None
    text: str
    retry_after: float | None = None

    def __str__(self) -> str:
        code = f" (HTTP {self.status})" if self.status is not None else ""
        return f"{self.kind.value}{code}" + (f": {self.text}" if self.text else "")


class FailedCall(Exception):
    """One attempt that produced no answer."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


def by_status(status: int | None, text: str) -> Kind:
    """Classify an answer by its status and text."""
    if status is None:
        return Kind.REQUEST
    # Providers use 429 for an empty account as well, which no waiting cures.
    if status == 429:
        return Kind.CREDIT if NO_CREDIT.search(text) else Kind.RATE_LIMIT
    if status >= 500 or status in TRANSIENT:
        return Kind.SERVER
    if status == 402:
        return Kind.CREDIT
    if status in (400, 413, 422) and TOO_LONG.search(text):
        return Kind.CONTEXT
    if status in (401, 403):
        return Kind.KEY
    # After 401 and 403: the text of a refused key may mention the model as well.
    if status == 404 or NO_MODEL.search(text):
        return Kind.MODEL
    return Kind.REQUEST


def brief(text: str) -> str:
    """Return a provider's error text on one short line, without secrets or control characters."""
    text = shortened(text)
    said = SAID.search(text)
    line = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", redact(said[1] if said else text)).split())
    # aiohttp writes this for plain HTTP as well, where it would suggest a problem with TLS.
    line = re.sub(r" ssl:(?:default|<[^>]*>)", "", line)
    return line if len(line) <= LONGEST_TEXT else line[:LONGEST_TEXT] + " ..."


def shortened(text: str) -> str:
    """Return the part of a text to inspect, without a secret that the bound may have cut in two."""
    if len(text) < LONGEST_WHOLE:
        # Half a secret is not recognised as one, so the second half of a cut text is dropped after redacting.
        return text
    text = redact(text[:LONGEST_ERROR])
    return text[: len(text) // 2]


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Return the wait of a Retry-After header: seconds, or a date relative to the reply's own Date."""
    value = headers.get("retry-after")
    if not isinstance(value, str) or not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        until, sent = _moment(value), _moment(headers.get("date") or "")
    if until is None:
        return None
    # Relative to the server's own clock: this machine's may be wrong by hours.
    return max(0.0, until - (time.time() if sent is None else sent))


def _moment(date: str) -> float | None:
    """Return the seconds since 1970 of a date in a header."""
    try:
        when = email.utils.parsedate_tz(date)
        return None if when is None else float(email.utils.mktime_tz(when))
    except (ValueError, OverflowError):
        # A date that parses may still not exist, or be out of range; then it says nothing.
        return None


ADVICE = {
    Kind.KEY: "set the provider's key (e.g. OPENAI_API_KEY) in the environment or .env, or model.api_key_env",
    Kind.CREDIT: "top the account up, then resume",
    Kind.MODEL: "check model.name and model.base_url",
    Kind.REQUEST: "check model.* for a setting that this model does not accept",
    Kind.UNSENT: "check model.base_url, model.extra_headers, model.extra_body and the key",
    Kind.RATE_LIMIT: "lower model.concurrency or set model.requests_per_minute, then resume",
    Kind.TIMEOUT: "raise model.timeout, or resume later",
}


def describe(config: ModelConfig, failure: Failure, attempts: int) -> ModelError:
    """Return the error for a call that failed for good, as one line."""
    advice = ADVICE.get(failure.kind, "resume when the provider is back")
    tries = f", after {attempts} attempts" if failure.kind.again and attempts > 1 else ""
    line = f"{_who(config)}: {failure}{tries}; {advice}"
    return ModelUnavailable(line) if failure.kind.again else ModelRefused(line)


def asked_again(config: ModelConfig, failure: Failure, attempts: int) -> str:
    """Describe a call that waits for its next attempt."""
    return f"{_who(config)}: {failure}; asked {attempts} of {config.retry.attempts} times"


def _who(config: ModelConfig) -> str:
    return f"model {config.name}" + (f" at {redact(config.base_url)}" if config.base_url else "")
