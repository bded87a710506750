"""What an episode and its run may spend, and what they have spent: dollars, tokens and seconds, by purpose.

A cap is asked before a call and never after it, so the calls in flight are the most that can go beyond
it. Calls in flight count with the mean cost so far, so that many at once do not all slip under the cap.
"""

import time
from collections.abc import Callable
from typing import get_args

import msgspec

from balrog_rag.config.schema import CapConfig, LimitsConfig
from balrog_rag.contracts.data import Purpose, Reply
from balrog_rag.contracts.errors import ConfigError, LimitReached
from balrog_rag.models.prices import Prices
from balrog_rag.util.stopping import being_cancelled
from balrog_rag.util.wording import many, money, short_number

Clock = Callable[[], float]


def capped_in_dollars(limits: LimitsConfig) -> bool:
    """Whether any dollar cap is set."""
    return limits.run.dollars is not None or limits.episode.dollars is not None


class Spending(msgspec.Struct):
    """Calls and what they cost; `unpriced` of them have no known price and are in no dollar sum."""

    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    attempts: int = 0

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.input + self.output

    def add(self, other: "Spending", sign: int = 1) -> None:
        """Count that as well, or take it away again."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + sign * getattr(other, name))

    def in_words(self, cap: float | None = None) -> str:
        """`$0.12 of $5.00 for 30 calls, 40.0k tokens in, 900 out`."""
        of = f" of {money(cap)}" if cap is not None else ""
        tokens = f"{short_number(self.input)} tokens in, {short_number(self.output)} out"
        return f"{money(self.dollars, self.unpriced)}{of} for {many(self.calls, 'calls')}, {tokens}"

    @classmethod
    def of(cls, reply: Reply) -> "Spending":
        """What one reply cost."""
        usage = reply.usage
        unpriced = int(reply.cost is None)
        dollars = reply.cost or 0.0
        return cls(1, usage.input, usage.output, usage.cached, dollars, unpriced, reply.attempts)


class RunBudget:
    """The caps of a run and the meters of its episodes; one for a process."""

    def __init__(
        self, limits: LimitsConfig, clock: Clock = time.monotonic, prices: Prices | None = None
    ) -> None:
        """`prices` count for journaled answers whose price was not known when they came."""
        self._limits, self._clock = limits, clock
        self.prices = prices or Prices()
        self._begun = clock()
        self._meters: dict[str, EpisodeMeter] = {}
        self.total = Spending()
        self.by_purpose: dict[str, Spending] = {purpose: Spending() for purpose in get_args(Purpose)}
        self.in_flight = 0
        self.cut_off = 0
        """Calls whose answer was given up, since the run stopped at once."""

    def knows(self, episode: str) -> bool:
        """Whether the calls of this episode are counted."""
        return episode in self._meters

    def episode(self, name: str) -> "EpisodeMeter":
        """A fresh meter; where the episode is played again, what it had counted is taken back."""
        before = self._meters.get(name)
        if before is not None:
            before.forget()
        meter = self._meters[name] = EpisodeMeter(self, name, self._limits.episode, self._clock)
        return meter

    @property
    def seconds(self) -> float:
        """Wall time of this launch."""
        return self._clock() - self._begun

    def check(self) -> None:
        """Raise LimitReached where a cap of the run leaves no room for another call."""
        _check(self._limits.run, self.total, self.in_flight, self.seconds, of_run=True)

    @property
    def capped_in_dollars(self) -> bool:
        """Whether any dollar cap is set."""
        return capped_in_dollars(self._limits)


class EpisodeMeter:
    """Counts for one episode and, through it, for the run."""

    def __init__(self, run: RunBudget, name: str, cap: CapConfig, clock: Clock) -> None:
        self._run, self._name, self._cap, self._clock = run, name, cap, clock
        self._asked = False
        self._live_since: float | None = None
        self._replayed_seconds = 0.0
        self.total = Spending()
        self.by_purpose: dict[str, Spending] = {}

    @property
    def seconds(self) -> float:
        """Seconds of live play, and those that replayed calls had taken."""
        live = 0.0 if self._live_since is None else self._clock() - self._live_since
        return self._replayed_seconds + live

    def admit(self) -> None:
        """Raise LimitReached where a cap of the episode or the run leaves no room for another call."""
        self._answered()  # an asking that ended in an error is over
        if self._live_since is None:
            self._live_since = self._clock()
        _check(self._cap, self.total, 0, self.seconds, of_run=False)
        self._run.check()
        self._asked = True
        self._run.in_flight += 1

    def charge(self, reply: Reply, purpose: Purpose) -> None:
        """Count a call, live or replayed; a live one that no dollar cap can count is the last."""
        live = self._asked
        if not live:
            self._replayed_seconds += reply.latency
        self._answered()
        if reply.cost is None:
            reply = msgspec.structs.replace(reply, cost=self._run.prices.cost(reply.usage))
        self._count(Spending.of(reply), purpose, 1)
        if live and reply.cost is None and self._run.capped_in_dollars:
            raise unpriced(self._name, reply.model or "the model")

    def release(self) -> None:
        """The call that was admitted has no answer: it was not made, failed or was cut off."""
        self._run.cut_off += self._asked and being_cancelled()
        self._answered()

    def _answered(self) -> None:
        if self._asked:
            self._asked = False
            self._run.in_flight -= 1

    def _count(self, spent: Spending, purpose: str, sign: int) -> None:
        mine = self.by_purpose.setdefault(purpose, Spending())
        for sums in (self.total, mine, self._run.total, self._run.by_purpose[purpose]):
            sums.add(spent, sign)

    def forget(self) -> None:
        """Take back what this meter counted, since the episode is played again from its journal."""
        self._answered()
        for purpose, spent in list(self.by_purpose.items()):
            self._count(msgspec.structs.replace(spent), purpose, -1)


def unpriced(where: str, model: str) -> ConfigError:
    """What is said where a dollar cap cannot be kept."""
    return ConfigError(
        f"{where}: a dollar cap is set, but {model} has no known price; "
        "set model.price.input and model.price.output, or cap tokens instead"
    )


def _check(cap: CapConfig, spent: Spending, in_flight: int, seconds: float, *, of_run: bool) -> None:
    expected = 1 + in_flight / spent.calls if spent.calls else 1.0
    if cap.dollars is not None and spent.dollars * expected >= cap.dollars:
        raise LimitReached("dollars", of_run)
    if cap.tokens is not None and spent.tokens * expected >= cap.tokens:
        raise LimitReached("tokens", of_run)
    if cap.seconds is not None and seconds >= cap.seconds:
        raise LimitReached("seconds", of_run)
