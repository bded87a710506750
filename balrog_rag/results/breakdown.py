"""What episodes were made of: how they ended, what killed them, what calls and look-ups were for."""

import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from balrog_rag.contracts.kinds import kind_of
from balrog_rag.results.episodes import ENDED_BY_ITSELF, Calls, Episode, Lookups
from balrog_rag.results.statistics.censored import CensoredGame
from balrog_rag.results.statistics.shares import Shares, compare_censored

_KILLED = re.compile(r"^killed by (?:an? |the )?", re.IGNORECASE)


def outcome_counts(episodes: Sequence[Episode]) -> list[tuple[str, int]]:
    """How episodes ended, most frequent first."""
    return _ranked(Counter(episode.outcome for episode in episodes))


def killer_counts(episodes: Sequence[Episode]) -> list[tuple[str, int]]:
    """What killed them, most frequent first, in the game's words without circumstances."""
    return _ranked(
        Counter(killer(str(death)) for episode in episodes if (death := episode.facts.get("death")))
    )


def cause_counts(episodes: Sequence[Episode]) -> list[tuple[str, int]]:
    """Of which class their ends were, most frequent first."""
    return _ranked(Counter(cause for episode in episodes if (cause := episode.cause)))


def preventable_against(ours: Sequence[Episode], theirs: Sequence[Episode]) -> Shares | None:
    """The shares of ends that a paragraph would have prevented, of the episodes of kinds that know such ends.

    A game that was cut off is not counted as saved: it counts only as long as it lasted. None where an arm
    has no such episode.
    """
    mine, yours = (
        [_lasted(episode) for episode in arm if kind_of(episode.env).retrospect.preventable]
        for arm in (ours, theirs)
    )
    return compare_censored(mine, yours) if mine and yours else None


def _lasted(episode: Episode) -> CensoredGame:
    """How long the hero lived in the game's own time, or in steps where the kind has none."""
    clock = kind_of(episode.env).display.timeline
    time = episode.most.get(clock.clock, episode.steps) if clock else episode.steps
    return CensoredGame(time, episode.preventable, episode.outcome not in ENDED_BY_ITSELF)


def killer(death: str) -> str:
    """'killed by an invisible jackal, while fainted' as 'jackal'."""
    return _KILLED.sub("", death.partition(", while ")[0]).removeprefix("invisible ").strip()


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def calls_by_purpose(episodes: Sequence[Episode]) -> dict[str, Calls]:
    """All model calls summed by what they were for."""
    summed: dict[str, Calls] = {}
    for episode in episodes:
        for purpose, calls in episode.calls.items():
            summed.setdefault(purpose, Calls()).add(calls)
    return dict(sorted(summed.items()))


class RetrievalShare(msgspec.Struct, frozen=True):
    """Retrieval's part in a run."""

    steps: int
    """Steps of all episodes."""
    lookups: Lookups
    call_share: float
    """Of all model calls, those made for retrieval alone: not those whose prompts it made longer."""
    token_share: float
    dollar_share: float | None
    """None where no price is known, or nothing was paid."""
    free: bool = False
    """Every call has a known price, and it is nothing."""

    @property
    def asked(self) -> float:
        """Share of steps with a search."""
        return self.lookups.steps / self.steps if self.steps else 0.0

    @property
    def hit(self) -> float:
        """Share of searches that found anything."""
        return self.lookups.hits / self.lookups.count if self.lookups.count else 0.0

    @property
    def used(self) -> float:
        """Share of steps whose prompt held reference material."""
        return self.lookups.used / self.steps if self.steps else 0.0

    @property
    def different(self) -> float:
        """Share of searches with a query that the episode had not asked before."""
        return self.lookups.queries / self.lookups.count if self.lookups.count else 0.0


def never_searched(episodes: Sequence[Episode]) -> str:
    """Warn that retrieval was on and nothing was ever searched, with the reasons; empty otherwise."""
    on = [episode for episode in episodes if (episode.agent.get("retrieval") or {}).get("enabled")]
    steps = sum(episode.steps for episode in on)
    if not steps or any(episode.lookups.count for episode in on):
        return ""
    lookups = Lookups()
    for episode in on:
        lookups.add(episode.lookups)
    due, reasons = (
        sum(lookups.ends.values()),
        ", ".join(f"{word} {n}" for word, n in _ranked(Counter(lookups.ends))),
    )
    why = (
        f"{due:,} of {due:,} look-ups had no query to search for ({reasons})"
        if due
        else f"no step of {steps:,} asked for it"
    )
    return f"retrieval never searched: {why}; these are scores without retrieval"


def retrieval_share(episodes: Sequence[Episode]) -> RetrievalShare | None:
    """What retrieval did in these episodes; None where nothing was looked up."""
    lookups = Lookups()
    for episode in episodes:
        lookups.add(episode.lookups)
    if not lookups.count and not lookups.ends:
        return None
    whole, serving = Calls(), Calls()
    for purpose, calls in calls_by_purpose(episodes).items():
        whole.add(calls)
        if purpose in ("query", "summary", "rerank"):
            serving.add(calls)
    for episode in episodes:
        serving.add(episode.asked_again)
    tokens = whole.input + whole.output
    return RetrievalShare(
        sum(episode.steps for episode in episodes),
        lookups,
        serving.count / whole.count if whole.count else 0.0,
        (serving.input + serving.output) / tokens if tokens else 0.0,
        serving.dollars / whole.dollars if whole.dollars else None,
        free=not whole.dollars and not whole.unpriced,
    )
