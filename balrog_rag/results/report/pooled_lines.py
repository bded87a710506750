"""One line per arm over several tasks, and per setting over several models: does it help in general?"""

from collections.abc import Mapping, Sequence
from math import sqrt

from balrog_rag.config.frozen import tree_digest
from balrog_rag.results.arms import Arm
from balrog_rag.results.comparing import duel
from balrog_rag.results.report.document import VerdictBox
from balrog_rag.results.statistics.comparison import Comparison
from balrog_rag.results.statistics.pooled import PooledEffect, pooled

METHOD = (
    "Pooled lines are random-effects means (Paule and Mandel's variance, Hartung and Knapp's interval), for "
    "the tasks or models seen as draws of their kind; the 95 % prediction interval is for one more of them. "
    "Three effects say next to nothing about another: in simulations their prediction interval is 2.2 to 3.4 "
    "times as wide as the true effects differ, that of eight 1.3 to 1.8 times."
)


def pooled_boxes(
    verdicts: Sequence[Comparison], parts: Sequence[Mapping[str, Comparison]], arms: Sequence[Arm]
) -> list[VerdictBox]:
    """Every line that has at least three effects."""
    found = [over_tasks(*pair) for pair in zip(verdicts, parts, strict=True)]
    return [box for box in (*found, *over_models(arms)) if box is not None]


def over_tasks(whole: Comparison, parts: Mapping[str, Comparison]) -> VerdictBox | None:
    """The effect of an arm over its tasks."""
    tasks = [made for name, made in parts.items() if "/" in name and made.made]
    return _box(f"{whole.ours} against {whole.theirs}", "tasks", tasks)


def over_models(arms: Sequence[Arm]) -> list[VerdictBox | None]:
    """The effect of each change of other settings over the models that were played with and without it."""
    by_rest: dict[str, dict[str, Arm]] = {}
    for arm in arms:
        if arm.episodes and not arm.withheld:
            rest = {name: value for name, value in arm.settings.items() if name != "model"}
            model = tree_digest(arm.settings.get("model") or {})
            by_rest.setdefault(tree_digest(rest), {})[model] = arm
    base, *others = by_rest.values() if by_rest else [{}]
    boxes = []
    for other in others:
        shared = [model for model in base if model in other]
        if len(shared) > 1:
            made = [duel(other[model], base[model]).whole for model in shared]
            about = f"{other[shared[0]].name} against {base[shared[0]].name} and the same with other models"
            boxes.append(_box(about, "models", [each for each in made if each.made]))
    return boxes


def error_of(made: Comparison) -> float:
    """The standard error of a difference; 0 if its spread is not known."""
    if made.paired:
        return made.spread / sqrt(made.paired)
    return made.spread * sqrt(1 / made.our_draws + 1 / made.their_draws)


def _box(about: str, things: str, effects: Sequence[Comparison]) -> VerdictBox | None:
    found = pooled([made.difference for made in effects], [error_of(made) for made in effects])
    if found is None:
        return None
    scale = max(made.scale for made in effects)
    if found.high - found.low >= scale:
        said = f"{found.word}: {found.mean:+.2f} points (too few {things} to tell)"
    else:
        said = (
            f"{found.word}: {found.mean:+.2f} points (95 % interval {found.low:+.2f} to {found.high:+.2f}; "
            f"{_ahead(found, things, scale)})"
        )
    return VerdictBox(f"{about}, over {found.count} {things}", found.word, f"{said}.")


def _ahead(found: PooledEffect, things: str, scale: float) -> str:
    """The prediction interval in words; its ends say nothing where it is as wide as the scale of scores."""
    if found.next_high - found.next_low >= scale:
        return f"too few {things} to tell what another of them may have"
    low, high = max(found.next_low, -scale), min(found.next_high, scale)
    return f"95 % prediction for another of these {things}: {low:+.2f} to {high:+.2f}"
