"""How fast calls are sent: limits on calls in flight, calls and tokens per minute, lower after a 429."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec

from balrog_rag.util.wording import many

GROWTH = 1.0
CUT = 0.5


class Hold(Protocol):
    """Waits before a call is sent; that of a run also waits out a pause and raises at a stop."""

    async def __call__(self, seconds: float = 0.0) -> None:
        """Wait."""
        ...


async def only_wait(seconds: float = 0.0) -> None:
    """Wait; the default for a model outside a run."""
    if seconds > 0:
        await asyncio.sleep(seconds)


class Slot(msgspec.Struct):
    """One call's place: its start, and its estimated tokens until the real ones are known."""

    since: float
    tokens: int


class Pace:
    """The rate limiter of a model: every call of every episode passes through `slot`."""

    def __init__(
        self,
        concurrency: int,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        minute: float = 60.0,
        setting: str = "model.concurrency",
    ) -> None:
        """`setting` is the key that sets `concurrency`; "" if it is the model's own capacity."""
        self._most = concurrency
        self._setting = setting
        self._held = {"requests_per_minute": 0, "tokens_per_minute": 0}
        self._limit = float(concurrency)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._requests, self._tokens, self._minute = requests_per_minute, tokens_per_minute, minute
        self._recent: deque[Slot] = deque()
        self._recent_tokens = 0
        self._not_before = 0.0
        self._last_cut = 0.0
        self.hold: Hold = only_wait
        """Awaited before each call, and during every wait."""

    @property
    def limit(self) -> int:
        """How many calls may be in flight now."""
        return max(1, int(self._limit))

    @property
    def in_flight(self) -> int:
        """How many calls are in flight."""
        return self._in_flight

    @property
    def room(self) -> int:
        """How many more calls could be in flight."""
        return max(0, self.limit - self._in_flight)

    @property
    def bottleneck(self) -> str:
        """The setting that calls wait for; "" if none waits or the model itself is the limit."""
        for name, limit in (("requests_per_minute", self._requests), ("tokens_per_minute", self._tokens)):
            if waiting := self._held[name]:
                waiting += len(self._waiting)
                return f"model.{name}={limit}: {many(waiting, 'calls')} wait{'s' if waiting == 1 else ''}"
        waiting = sum(not turn.done() for turn in self._waiting)
        # Below the configured maximum the provider's rate limit is what holds calls back, not the setting.
        if not waiting or not self._setting or self._limit < self._most:
            return ""
        return f"{self._setting}={self._most}: {many(waiting, 'calls')} wait{'s' if waiting == 1 else ''}"

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[Slot]:
        """Wait for a place for one call of about that many tokens."""
        await self._enter()
        try:
            yield await self._wait_for_minute(tokens)
        finally:
            self._in_flight -= 1
            self._wake()

    async def _enter(self) -> None:
        # Joining the queue even if a place is free keeps the order: nobody overtakes calls that wait.
        if self._in_flight >= self.limit or self._waiting:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                self._give_up(turn)
                raise
        else:
            self._in_flight += 1

    def _give_up(self, turn: "asyncio.Future[None]") -> None:
        # Cancelled after its turn had come: the place is already counted and would be lost.
        if turn.done() and not turn.cancelled():
            self._in_flight -= 1
            self._wake()
        elif turn in self._waiting:
            self._waiting.remove(turn)

    def _wake(self) -> None:
        while self._waiting and self._in_flight < self.limit:
            # A place is handed over here, counted, before the waiter runs: nobody can take it in between.
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                self._in_flight += 1

    async def _wait_for_minute(self, tokens: int) -> Slot:
        """Stay within the last minute's calls and tokens, and wait out a pause requested by the provider."""
        clock = asyncio.get_running_loop().time
        await self.hold()
        # In a loop: while this call waited, others may have used up the minute's tokens.
        while (wait := self._seconds_to_wait(clock(), tokens))[0] > 0:
            await self._held_back(*wait)
        slot = Slot(clock(), tokens)
        if self._requests is not None or self._tokens is not None:
            self._recent.append(slot)
            self._recent_tokens += tokens
        return slot

    async def _held_back(self, seconds: float, by: str) -> None:
        if not by:
            await self.hold(seconds)
            return
        self._held[by] += 1
        try:
            await self.hold(seconds)
        finally:
            self._held[by] -= 1

    def _seconds_to_wait(self, now: float, tokens: int) -> tuple[float, str]:
        """Return how long to wait, and for which setting; "" for a pause requested by the provider."""
        while self._recent and self._recent[0].since <= now - self._minute:
            self._recent_tokens -= self._recent.popleft().tokens
        pause = self._not_before - now
        full = self._requests is not None and len(self._recent) >= self._requests
        heavy = self._tokens is not None and self._recent_tokens + tokens > self._tokens
        minute = self._recent[0].since + self._minute - now if self._recent and (full or heavy) else 0.0
        if minute <= pause:
            return pause, ""
        return minute, "requests_per_minute" if full else "tokens_per_minute"

    def used(self, slot: Slot, tokens: int) -> None:
        """Record the call's real tokens, and let the concurrency grow back."""
        # A call that took longer than a minute has already left the window.
        if self._recent and slot.since >= self._recent[0].since:
            self._recent_tokens += tokens - slot.tokens
            slot.tokens = tokens
        # Grows by about one call per round of calls, and halves at a 429, like TCP's congestion window.
        self._limit = min(self._most, self._limit + GROWTH / self._limit)
        self._wake()

    def rate_limited(self, slot: Slot, retry_after: float | None) -> None:
        """Halve the concurrency after a 429, once for all calls of one burst."""
        now = asyncio.get_running_loop().time()
        # Calls sent before the last cut fail for the same reason; cutting again for each would stop the run.
        if slot.since >= self._last_cut:
            # Half of what was really in flight: half of a maximum never reached might change nothing.
            self._limit = max(1.0, min(self._limit, float(self._in_flight)) * CUT)
            self._last_cut = now
        if retry_after is not None:
            self._not_before = max(self._not_before, now + retry_after)
