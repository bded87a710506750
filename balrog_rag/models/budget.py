"""What an episode and its run may spend and have spent: dollars, tokens and seconds, by purpose.

A cap is checked before a call and never after it, so only calls in flight can exceed it. Each call in
flight is expected to cost the mean so far, or many concurrent calls would all pass under the cap.
"""

import time
from collections.abc import Callable, Iterable, Mapping
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
    """Calls and their cost; `unpriced` calls have no known price and are missing from `dollars`."""

    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    attempts: int = 0

    @property
    def tokens(self) -> int:
        """Input and output tokens."""
        return self.input + self.output

    def add(self, other: "Spending", sign: int = 1) -> None:
        """Add another spending, or subtract it with `sign=-1`."""
        # By name: a loop over the fields takes five times as long, for every answer and resumed episode.
        self.calls += sign * other.calls
        self.input += sign * other.input
        self.output += sign * other.output
        self.cached += sign * other.cached
        self.dollars += sign * other.dollars
        self.unpriced += sign * other.unpriced
        self.attempts += sign * other.attempts

    def in_words(self, cap: float | None = None) -> str:
        """Format as in `$0.12 of $5.00 for 30 calls, 40.0k tokens in, 900 out`."""
        of = f" of {money(cap)}" if cap is not None else ""
        tokens = f"{short_number(self.input)} tokens in, {short_number(self.output)} out"
        if self.calls and not self.tokens and self.unpriced:  # those of a person or of a client
            tokens = "tokens unknown"
        return f"{money(self.dollars, self.unpriced)}{of} for {many(self.calls, 'calls')}, {tokens}"

    @classmethod
    def of(cls, reply: Reply) -> "Spending":
        """Return what one reply cost."""
        usage = reply.usage
        unpriced = int(reply.cost is None)
        dollars = reply.cost or 0.0
        return cls(1, usage.input, usage.output, usage.cached, dollars, unpriced, reply.attempts)


class RunBudget:
    """The caps of a run and the meters of its episodes; one per process."""

    def __init__(
        self, limits: LimitsConfig, clock: Clock = time.monotonic, prices: Prices | None = None
    ) -> None:
        """`prices` apply to journaled answers whose price was unknown when they arrived."""
        self._limits, self._clock = limits, clock
        self.prices = prices or Prices()
        self._begun = clock()
        self._meters: dict[str, EpisodeMeter] = {}
        self._finished: set[str] = set()
        self.total = Spending()
        self.by_purpose: dict[str, Spending] = {purpose: Spending() for purpose in get_args(Purpose)}
        self.in_flight = 0
        self.cut_off = 0
        """Calls whose answer was abandoned because the run stopped at once."""

    def knows(self, episode: str) -> bool:
        """Whether the calls of this episode are counted."""
        return episode in self._meters or episode in self._finished

    def finished(self, names: Iterable[str], spent: Mapping[str, Spending]) -> None:
        """Count what episodes cost together that ended in an earlier attempt, by purpose."""
        self._finished.update(names)
        for purpose, each in spent.items():
            for sums in (self.total, self.by_purpose[purpose]):
                sums.add(each)

    def episode(self, name: str) -> "EpisodeMeter":
        """Return a new meter; if the episode is played again, its earlier counts are subtracted."""
        before = self._meters.get(name)
        # A replay after a lost worker charges the journaled answers again; they must not count twice.
        if before is not None:
            before.forget()
        meter = self._meters[name] = EpisodeMeter(self, name, self._limits.episode, self._clock)
        return meter

    @property
    def seconds(self) -> float:
        """Wall time since the start of this process's run."""
        return self._clock() - self._begun

    def check(self) -> None:
        """Raise LimitReached if a cap of the run leaves no room for another call."""
        _check(self._limits.run, self.total, self.in_flight, self.seconds, of_run=True)

    @property
    def capped_in_dollars(self) -> bool:
        """Whether any dollar cap is set."""
        return capped_in_dollars(self._limits)


class EpisodeMeter:
    """Counts spending for one episode and, through it, for the run."""

    def __init__(self, run: RunBudget, name: str, cap: CapConfig, clock: Clock) -> None:
        self._run, self._name, self._cap, self._clock = run, name, cap, clock
        self._asked = False
        self._live_since: float | None = None
        self._replayed_seconds = 0.0
        self.total = Spending()
        self.by_purpose: dict[str, Spending] = {}

    @property
    def seconds(self) -> float:
        """Seconds of live play, plus those that replayed calls had taken."""
        live = 0.0 if self._live_since is None else self._clock() - self._live_since
        return self._replayed_seconds + live

    def admit(self) -> None:
        """Raise LimitReached if a cap of the episode or the run leaves no room for another call."""
        self._answered()  # an earlier call that ended in an error is no longer in flight
        # Time counts from the first live call: replaying earlier steps must not use up the cap.
        if self._live_since is None:
            self._live_since = self._clock()
        _check(self._cap, self.total, 0, self.seconds, of_run=False)
        self._run.check()
        self._asked = True
        self._run.in_flight += 1

    def charge(self, reply: Reply, purpose: Purpose) -> None:
        """Count a call, live or replayed; raise after a live one whose price a dollar cap cannot count."""
        live = self._asked
        if not live:
            self._replayed_seconds += reply.latency
        self._answered()
        if reply.cost is None:
            reply = msgspec.structs.replace(reply, cost=self._run.prices.cost(reply.usage))
        # Counted before raising: the answer is paid for even if no cap can count it.
        self._count(Spending.of(reply), purpose, 1)
        if live and reply.cost is None and self._run.capped_in_dollars:
            raise unpriced(self._name, reply.model or "the model")

    def release(self) -> None:
        """Release a call that was admitted but has no answer: not made, failed, or cancelled."""
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
        """Subtract everything that this meter counted."""
        self._answered()
        # Copies: `_count` changes the very sums that are iterated over.
        for purpose, spent in list(self.by_purpose.items()):
            self._count(msgspec.structs.replace(spent), purpose, -1)


def unpriced(where: str, model: str) -> ConfigError:
    """Return the error for a dollar cap on a model without a known price."""
    return ConfigError(
        f"{where}: a dollar cap is set, but {model} has no known price; "
        "set model.price.input and model.price.output, or cap tokens instead"
    )


def _check(cap: CapConfig, spent: Spending, in_flight: int, seconds: float, *, of_run: bool) -> None:
    # Calls in flight are not counted yet; each is expected to cost as much as the mean call so far.
    expected = 1 + in_flight / spent.calls if spent.calls else 1.0
    if cap.dollars is not None and spent.dollars * expected >= cap.dollars:
        raise LimitReached("dollars", of_run)
    if cap.tokens is not None and spent.tokens * expected >= cap.tokens:
        raise LimitReached("tokens", of_run)
    if cap.seconds is not None and seconds >= cap.seconds:
        raise LimitReached("seconds", of_run)
