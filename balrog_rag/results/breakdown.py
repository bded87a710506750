"""Breakdown of episodes: how they ended, causes of death, and the purposes of calls and look-ups."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from balrog_rag.contracts.kinds import kind_of
from balrog_rag.results.coded_values import Coded, summed
from balrog_rag.results.episode_arrays import EpisodeArrays, arrays_of
from balrog_rag.results.episodes import ENDED_BY_ITSELF, Calls, Episode, Lookups, as_sequence
from balrog_rag.results.statistics.censored import CensoredGame
from balrog_rag.results.statistics.shares import Shares, compare_censored

_KILLED = re.compile(r"^killed by (?:an? |the )?", re.IGNORECASE)


def outcome_counts(episodes: Sequence[Episode]) -> list[tuple[str, int]]:
    """Count outcomes, most frequent first."""
    return _ranked(arrays_of(episodes).coded("outcome"))


def killer_counts(episodes: Sequence[Episode]) -> list[tuple[str, int]]:
    """Count killers, most frequent first, in the game's words without circumstances."""
    deaths = arrays_of(episodes).mapped(lambda facts: facts.get("death"), "facts")
    return _ranked(deaths.mapped(lambda death: killer(str(death)) if death else None))


def cause_counts(episodes: Sequence[Episode]) -> list[tuple[str, int]]:
    """Count classes of ends, most frequent first."""
    return _ranked(arrays_of(episodes).cause.mapped(lambda cause: cause or None))


def preventable_against(ours: Sequence[Episode], theirs: Sequence[Episode]) -> Shares | None:
    """Compare the shares of preventable ends over episodes of kinds that define them.

    A game that was cut off does not count as saved: it only counts for as long as it lasted. None if an arm
    has no such episode.
    """
    mine, yours = (_lasted(arrays_of(arm)) for arm in (ours, theirs))
    return compare_censored(mine, yours) if mine and yours else None


def _lasted(arrays: EpisodeArrays) -> list[CensoredGame]:
    """How long the hero lived in game time, or in steps if the kind has no clock."""
    cut = arrays.coded("outcome").mapped(lambda outcome: outcome not in ENDED_BY_ITSELF).array()
    concerned, times = np.zeros(len(arrays), dtype=bool), arrays.numbers("steps")
    for env, _ in arrays.env.counted():
        kind, mine = kind_of(env), arrays.env.mapped(env.__eq__).array().astype(bool)
        concerned |= mine & bool(kind.retrospect.preventable)
        if clock := kind.display.timeline:
            values, there = arrays.inner("most", clock.clock)
            times = np.where(mine & there, values, times)
    columns = times, arrays.preventable.array(), cut
    return [
        CensoredGame(*game) for game in zip(*(column[concerned].tolist() for column in columns), strict=True)
    ]


def killer(death: str) -> str:
    """Extract the killer: 'killed by an invisible jackal, while fainted' gives 'jackal'."""
    return _KILLED.sub("", death.partition(", while ")[0]).removeprefix("invisible ").strip()


def _ranked(values: Coded) -> list[tuple[str, int]]:
    """How often each value occurs, most frequent first; None does not count."""
    counts: Counter[str] = Counter()
    for value, count in values.counted():
        if value is not None:
            counts[value] += count
    return ranked(counts)


def ranked(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Counts, the largest first."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def calls_by_purpose(episodes: Sequence[Episode]) -> dict[str, Calls]:
    """Sum all model calls by purpose."""
    arrays = arrays_of(episodes)
    return {
        purpose: Calls(*(summed(arrays.calls(field, purpose)) for field in Calls.__struct_fields__))
        for purpose in arrays.purposes
        if arrays.inner("calls", purpose, "count")[1].any()
    }


class RetrievalShare(msgspec.Struct, frozen=True):
    """How much retrieval was used in a run, and its share of the costs."""

    steps: int
    """Steps of all episodes."""
    lookups: Lookups
    call_share: float
    """Share of model calls made for retrieval only, excluding calls whose prompts became longer."""
    token_share: float
    dollar_share: float | None
    """None if no price is known, or if nothing was paid."""
    free: bool = False
    """Whether every call has a known price of zero."""

    @property
    def asked(self) -> float:
        """Share of steps with a search."""
        return self.lookups.steps / self.steps if self.steps else 0.0

    @property
    def hit(self) -> float:
        """Share of searches with results."""
        return self.lookups.hits / self.lookups.count if self.lookups.count else 0.0

    @property
    def used(self) -> float:
        """Share of steps whose prompt contained reference material."""
        return self.lookups.used / self.steps if self.steps else 0.0

    @property
    def different(self) -> float:
        """Share of searches with a query that was new in the episode."""
        return self.lookups.queries / self.lookups.count if self.lookups.count else 0.0


def never_searched(episodes: Sequence[Episode]) -> str:
    """Warn, with reasons, if retrieval was on but never searched; otherwise empty."""
    enabled = arrays_of(episodes).mapped(_retrieves, "agent").array().astype(bool)
    if not enabled.any():
        return ""
    on = as_sequence(episodes).take(enabled.nonzero()[0])
    steps, lookups = summed(on.arrays.numbers("steps")), _lookups(on.arrays)
    if not steps or lookups.count:
        return ""
    due, reasons = (
        sum(lookups.ends.values()),
        ", ".join(f"{word} {n}" for word, n in ranked(lookups.ends)),
    )
    why = (
        f"{due:,} of {due:,} look-ups had no query to search for ({reasons})"
        if due
        else f"no step of {steps:,} asked for it"
    )
    return f"retrieval never searched: {why}; these are scores without retrieval"


def _retrieves(agent: Mapping[str, Any]) -> bool:
    return bool((agent.get("retrieval") or {}).get("enabled"))


def _lookups(arrays: EpisodeArrays) -> Lookups:
    """All look-ups added up."""
    counts = {name: summed(arrays.lookups(name)) for name in Lookups.__struct_fields__ if name != "ends"}
    words = sorted({path[1] for path in arrays.names("lookups") if path[0] == "ends"})
    ends = {word: summed(arrays.figures("lookups", "ends", word)) for word in words}
    return Lookups(**counts, ends={word: steps for word, steps in ends.items() if steps})


def retrieval_share(episodes: Sequence[Episode]) -> RetrievalShare | None:
    """Summarise retrieval in these episodes; None if there were no look-ups."""
    arrays = arrays_of(episodes)
    if not arrays.lookups("count").any() and not any(name[0] == "ends" for name in arrays.names("lookups")):
        return None
    lookups = _lookups(arrays)
    whole, serving = Calls(), Calls()
    for purpose, calls in calls_by_purpose(episodes).items():
        whole.add(calls)
        if purpose in ("query", "summary", "rerank"):
            serving.add(calls)
    for field in Calls.__struct_fields__:
        again, before = arrays.figures("asked_again", field), getattr(serving, field)
        if isinstance(before, float):  # added one by one, as sums of floats depend on it
            setattr(serving, field, summed(np.concatenate([[before], again.astype(float)])))
        else:
            setattr(serving, field, before + summed(again))
    tokens = whole.input + whole.output
    return RetrievalShare(
        summed(arrays.numbers("steps")),
        lookups,
        serving.count / whole.count if whole.count else 0.0,
        (serving.input + serving.output) / tokens if tokens else 0.0,
        serving.dollars / whole.dollars if whole.dollars else None,
        free=not whole.dollars and not whole.unpriced,
    )
