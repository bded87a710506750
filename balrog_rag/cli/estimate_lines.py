"""Estimated costs of runs as lines of text, for `--dry-run`."""

from collections.abc import Iterable, Sequence

from balrog_rag.run.cost_estimate import ANSWER, CostEstimate, estimated
from balrog_rag.run.plan import PlannedRun
from balrog_rag.util.wording import many, short_number


async def all_estimated(runs: Sequence[PlannedRun]) -> list[CostEstimate | None]:
    """CostEstimate each run."""
    return [await estimated(run) for run in runs]


def estimates(runs: Sequence[PlannedRun], found: Sequence[CostEstimate | None]) -> list[str]:
    """The estimate of each run that asks a model, their total, and what is assumed."""
    asking = [(run, one) for run, one in zip(runs, found, strict=True) if one is not None]
    if not asking:
        return []
    labels = [f"{run.label}: " if len(runs) > 1 else "" for run, _ in asking]
    lines = [label + in_words(one, _bounded(run)) for label, (run, one) in zip(labels, asking, strict=True)]
    together = _sum(one.dollars for _, one in asking)
    if len(asking) > 1 and together is not None:
        lines.append(f"estimate: {_dollars(together)} in total")
    run, one = asking[0]
    if len(asking) == 1 and not _bounded(run) and one.hundred_dollars is not None:
        lines.append(f"most games end earlier: {_dollars(one.hundred_dollars)} per 100 steps of a game")
    assumed = f"answers of {ANSWER} tokens are assumed"
    if longest := _sum(one.most_dollars for _, one in asking):
        assumed += f"; {_dollars(longest)} if every answer is as long as model.max_tokens allows"
    return [*lines, assumed]


def in_words(one: CostEstimate, bounded: bool) -> str:
    """Describe an estimate: `estimate: $0.12 (20 steps x 3 calls, 96k tokens in, 6k out)`."""
    used = one.used
    per_step = used.calls / used.decisions if used.decisions else 0.0
    counts = [
        *([many(one.episodes, "episodes")] if one.episodes > 1 else []),
        f"{'' if bounded else 'up to '}{many(one.most_steps, 'steps')}",
        f"{per_step:.3g} {'call' if per_step == 1 else 'calls'}",
    ]
    tokens = f"{short_number(used.input)} tokens in, {short_number(used.calls * ANSWER)} out"
    return f"estimate: {_dollars(one.dollars)} ({' x '.join(counts)}, {tokens})"


def _bounded(run: PlannedRun) -> bool:
    return run.config.limits.steps is not None


def _sum(parts: Iterable[float | None]) -> float | None:
    """The sum; None if one part is unknown."""
    known = list(parts)
    return None if None in known else sum(part for part in known if part is not None)


def _dollars(value: float | None) -> str:
    """Format dollars to the cent: an estimate is not more exact."""
    if value is None:
        return "price unknown"
    return f"${value:,.2f}" if value >= 0.005 or not value else "less than $0.01"
