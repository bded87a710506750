"""A remote model: calls are retried by kind of failure, paced, priced, and cut to fit."""

import asyncio
import random
import time

import msgspec

from balrog_rag.config.schema import ModelConfig
from balrog_rag.contracts.data import AnswerFormat, Message, Reply, Request
from balrog_rag.contracts.errors import ContextTooLong, ModelRefused
from balrog_rag.models import calls, failures
from balrog_rag.models.api_keys import missing_key
from balrog_rag.models.calls import ModelCall
from balrog_rag.models.failures import FailedCall, Failure, Kind
from balrog_rag.models.fit import shorter
from balrog_rag.models.pace import Pace, Slot
from balrog_rag.models.prices import Card
from balrog_rag.models.token_counts import count_messages
from balrog_rag.util import secrets


class Tries(msgspec.Struct):
    """How often one call was sent, at any length, and since when."""

    count: int = 0
    begun: float = 0.0


class RemoteModel:
    """A model of any provider that LiteLLM knows, or at a given address."""

    def __init__(self, config: ModelConfig, call: ModelCall | None = None) -> None:
        """`call` sends the prompts; None: what the configuration names."""
        if call is None:
            secrets.load_env()
        self.name = config.name
        self._config = config
        self.pace = Pace(config.concurrency, config.requests_per_minute, config.tokens_per_minute)
        self._call = call or calls.call_of(config)
        self.trouble = ""
        """Why recent attempts failed, while calls are being retried; "" otherwise."""
        self.retried = 0
        """Failed attempts that were retried, including those of calls still without an answer."""
        self._card: Card | None = None
        self._keys_missing: list[str] = []
        self._keyless = ""
        self._starting: asyncio.Task[None] | None = None

    def price_known(self) -> bool:
        """Whether the cost of a call is known before the first one; may import LiteLLM for its table."""
        price = self._config.price
        return None not in (price.input, price.output) or self._call.open().known

    async def warm(self) -> None:
        """Load in a thread what calls need; run it while games start, or the first call pays for it."""
        if self._card is not None:
            return
        # One task, shielded: a cancelled caller must not cancel the loading that others wait for.
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        await asyncio.shield(self._starting)

    async def _start(self) -> None:
        self._card = await asyncio.to_thread(self._call.open)
        self._keyless = missing_key(self._config)
        self._keys_missing = self._call.keys_missing()

    @property
    def notes(self) -> list[str]:
        """What the user should know of this model before the run, e.g. that its price is unknown."""
        notes = []
        if self._keys_missing:
            notes.append(
                f"API key missing for {self.name}: set {' or '.join(self._keys_missing)} "
                "in the environment or .env"
            )
        if self._card is not None and not self._card.known:
            notes.append(
                f"the price of {self.name} is unknown: dollars are not counted and no dollar cap can be "
                f"kept; set {self._card.prices.missing}"
            )
        return notes

    async def complete(self, request: Request) -> Reply:
        """Answer, or raise a ModelError; retries and cuts happen inside, within their limits."""
        await self.warm()
        if self._keyless:
            raise ModelRefused(f"model {self.name}: {self._keyless}, then resume")
        messages, trimmed, tries = request.messages, 0, Tries()
        while True:
            outcome = await self._ask(messages, request.answer, tries)
            if isinstance(outcome, Reply):
                return msgspec.structs.replace(outcome, trimmed=trimmed) if trimmed else outcome
            # `tries` is shared by all lengths, so that a prompt that is being cut does not get more attempts.
            # Cut from the whole prompt, not from the last attempt: the same length then cuts the same turns.
            less = shorter(request.messages, messages)
            if less is None:
                raise ContextTooLong(
                    f"model {self.name}: {outcome}; the prompt has no older turns left to cut: "
                    "use a model with a longer context, a shorter layout or fewer passages"
                )
            messages, trimmed = less

    async def _ask(
        self, messages: tuple[Message, ...], answer: AnswerFormat | None, tries: "Tries"
    ) -> Reply | Failure:
        """Return the reply after as many attempts as needed, or the failure that the prompt is too long."""
        bounds = self._config.retry
        tokens = self._expected(messages)
        while True:
            async with self.pace.slot(tokens) as slot:
                tries.count += 1
                tries.begun = tries.begun or time.monotonic()  # waiting for a slot does not count as retrying
                outcome = await self._attempt(slot, messages, answer, tries.count)
            if isinstance(outcome, Reply) or outcome.kind is Kind.CONTEXT:
                self.trouble = ""
                return outcome
            wait = self._wait(outcome, tries.count)
            late = time.monotonic() - tries.begun + wait > bounds.seconds
            if not outcome.kind.again or tries.count >= bounds.attempts or late:
                raise failures.describe(self._config, outcome, tries.count)
            self.trouble = failures.asked_again(self._config, outcome, tries.count)
            self.retried += 1
            await self.pace.hold(wait)  # outside the slot, so that other calls can use it meanwhile

    def _expected(self, messages: tuple[Message, ...]) -> int:
        """Return the estimated tokens of a call; 0 if no limit needs them."""
        if self._config.tokens_per_minute is None:
            return 0
        return count_messages(messages) + (self._config.max_tokens or 0) // 4

    def _wait(self, failure: Failure, attempt: int) -> float:
        """Return seconds until the next attempt: the provider's Retry-After, or exponential with jitter."""
        bounds = self._config.retry
        if failure.retry_after:  # a Retry-After of 0 does not say when retrying helps: back off as usual
            return failure.retry_after
        longest = min(bounds.longest_wait, bounds.first_wait * 2.0 ** min(attempt - 1, 30))
        # Jitter: episodes that failed together must not all retry at the same moment.
        return longest * random.uniform(0.5, 1.0)

    async def _attempt(
        self, slot: Slot, messages: tuple[Message, ...], form: AnswerFormat | None, attempt: int
    ) -> Reply | Failure:
        """Send it once."""
        assert self._card is not None
        sent = time.monotonic()
        try:
            async with asyncio.timeout(self._config.timeout):
                answer = await self._call(messages, form)
        except TimeoutError:
            return Failure(Kind.TIMEOUT, None, "")
        except FailedCall as failed:
            if failed.failure.kind is Kind.RATE_LIMIT:
                self.pace.rate_limited(slot, self._pause(failed.failure))
            return failed.failure
        # The estimate reserved for this call is corrected at once, so that others need not wait for it.
        reply = answer.reply
        self.pace.used(slot, reply.usage.input + reply.usage.output)
        latency = round(time.monotonic() - sent, 4)
        return msgspec.structs.replace(reply, cost=self._card.cost(answer), latency=latency, attempts=attempt)

    def _pause(self, failure: Failure) -> float | None:
        """Return seconds to hold all calls; a Retry-After longer than the retry limit ends calls instead."""
        asked = failure.retry_after
        return asked if asked is not None and asked <= self._config.retry.seconds else None

    async def close(self) -> None:
        """Close the connections."""
        if self._starting is not None:
            # The loading thread cannot be cancelled; close only what it has finished opening.
            await asyncio.wait([self._starting])
        await self._call.close()
