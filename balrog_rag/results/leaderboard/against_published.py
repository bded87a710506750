"""Verdicts on own arms against published rows whose single episodes are known."""

from collections.abc import Sequence

from balrog_rag.contracts.kinds import kind_of
from balrog_rag.results.arms import Arm
from balrog_rag.results.leaderboard.published import Reference, published
from balrog_rag.results.report.document import Cell, Section, Table
from balrog_rag.results.scoring import scores
from balrog_rag.results.statistics.units import Bounds, Score, independent
from balrog_rag.results.statistics.verdict import Comparison, adjust, compare


def against_section(arms: Sequence[Arm], env: str) -> Section:
    """Compare own arms with published rows whose single episodes are known for this environment."""
    rows: list[list[Cell]] = [
        [made.ours, made.theirs, made.sentence] for made in against_published(arms, env)
    ]
    if not rows:
        return Section("")
    headings = [f"{kind_of(env).title}: own arm", "published episodes of", "verdict"]
    return Section("Against published episodes", tables=[Table(headings, rows)])


def against_published(arms: Sequence[Arm], env: str) -> list[Comparison]:
    """Compare each complete own arm with each of those rows, as one family of tests."""
    known = [row for row in published().rows if row.episodes.get(env)]
    own = [arm for arm in arms if env in arm.by_env() and not arm.partial]
    pairs = [(arm, row) for arm in own for row in known]
    return adjust([_against(arm, row, env, len(pairs)) for arm, row in pairs])


def _against(arm: Arm, row: Reference, env: str, family: int) -> Comparison:
    names = (arm.name, f"{row.agent} / {row.name} †")
    return compare(_anonymous(arm, env), row.scores(env), names, bounds={env: Bounds()}, family=family)


def _anonymous(arm: Arm, env: str) -> list[Score]:
    """Scores without task names, which published episodes lack; each game counts once."""
    return [Score(score.value, env) for score in independent(scores(arm.by_env()[env]))]
