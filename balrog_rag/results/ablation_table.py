"""The table of an ablation: what each tactic is worth, in pairs where pairing helps."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from balrog_rag.results.episodes import Episode
from balrog_rag.results.runs import LoadedRun
from balrog_rag.results.scoring import bounds_by_env, scores
from balrog_rag.results.statistics.pairing import Pairs, match
from balrog_rag.results.statistics.pairing_gain import Pairing, pairings
from balrog_rag.results.statistics.sentence import between, p_text, signed
from balrog_rag.results.statistics.units import shared_worlds
from balrog_rag.results.statistics.verdict import Comparison, adjust, compare


class AblationRow(NamedTuple):
    """One tactic switched off, against the program with all of them."""

    tactic: str
    phase: str
    verdict: Comparison
    """Without the tactic minus with it: negative if the tactic helps."""
    pairing: Pairing | None
    """None if the games of the arms cannot be paired."""

    @property
    def cells(self) -> list[str]:
        """The row as text."""
        made, how = self.verdict, "independent"
        if self.pairing is not None:
            how = f"{'paired' if made.paired else 'independent'}, correlation {self.pairing.correlation:+.2f}"
        interval = between(made)
        p = p_text(made.p).removeprefix("p ").removeprefix("= ")
        return [self.tactic, self.phase, f"{made.our_mean:.2f}", signed(made.difference, made), interval, p,
                made.word, how]  # fmt: skip


COLUMNS = ("off", "phase", "progression %", "difference", "95 % interval", "p (Holm)", "verdict", "games")


def ablation_rows(baseline: LoadedRun, arms: Sequence[tuple[str, str, LoadedRun]]) -> list[AblationRow]:
    """Compare every arm, given as tactic, phase and run, with the baseline."""
    made = [_compared(run.episodes, baseline.episodes, name, len(arms)) for name, _, run in arms]
    family = adjust([verdict for verdict, _ in made])
    return [
        AblationRow(name, phase, verdict, pairing)
        for (name, phase, _), verdict, (_, pairing) in zip(arms, family, made, strict=True)
    ]


def _compared(
    ours: Sequence[Episode], theirs: Sequence[Episode], name: str, family: int
) -> tuple[Comparison, Pairing | None]:
    mine, yours = list(scores(ours)), list(scores(theirs))
    bounds = bounds_by_env(sorted({score.env for score in mine}))
    matched = match(mine, yours)
    gains = pairings(matched, bounds) if isinstance(matched, Pairs) else []
    pairing = gains[0] if len(gains) == 1 else None
    # Arms in the same games diverge soon, and then pairs gain nothing over independent arms.
    if pairing is not None and pairing.gain <= 1 and not (shared_worlds(mine) or shared_worlds(yours)):
        mine, yours = ([msgspec.structs.replace(each, game="") for each in arm] for arm in (mine, yours))
    return compare(mine, yours, (name, "baseline"), bounds=bounds, family=family, plan=False), pairing
