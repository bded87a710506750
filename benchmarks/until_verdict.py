"""How often limits.until=verdict claims a difference between equal distributions, over all its looks.

    python benchmarks/coverage.py --until [--repeats 1000]

Both arms are drawn from one population. They are compared after each quarter of the plan by the boundaries
that a run uses, and play stops at the first claim. In brackets: the same looks at 5 % each.
"""

import false_verdicts
import numpy as np

from balrog_rag.results.planned_looks import LOOKS
from balrog_rag.results.statistics import permutation, verdict
from balrog_rag.results.statistics.sequential import PlannedLook, look
from balrog_rag.results.statistics.units import Floats

POPULATIONS = ("published", "lognormal", "mostly zero")
PLANS = (20, 40)
MOST, SLACK = 6.0, 3.0
"""Percent of false verdicts, and the standard errors that a simulated share may be above it."""


def stopped_at(ours: Floats, theirs: Floats, paired: bool) -> tuple[int | None, bool]:
    """The look at which a run stops, if it does, and whether looks at 5 % would have claimed anything."""
    before: PlannedLook | None = None
    stop, naive = None, False
    for number in range(1, LOOKS + 1):
        count = len(ours) * number // LOOKS
        made = false_verdicts.judged(ours[:count], theirs[:count], paired)
        before = look(made.claim_p, number, LOOKS, before)
        stop = number if stop is None and before.clear else stop
        naive = naive or made.claimed
    return stop, naive


def table(repeats: int) -> bool:
    """Print the shares; whether none is too high."""
    # 999 relabellings are fine enough for the second look's level of 0.0056; a run has 19,999.
    permutation.RANDOM, permutation.EXACT_UP_TO, verdict.DRAWS = 999, 2_000, 1_000
    bar = MOST + SLACK * 100 * (0.05 * 0.95 / repeats) ** 0.5
    good = True
    print(
        f"false verdicts in percent over {LOOKS} looks (looks at 5 % each), {repeats} repeats; goal: {MOST}"
    )
    print(f"{'':20}" + "".join(f"{f'{plan} {kind}':>18}" for kind in ("pairs", "arms") for plan in PLANS))
    for name in POPULATIONS:
        cells = []
        for paired in (True, False):
            for plan in PLANS:
                dice = np.random.default_rng(plan)
                if paired:
                    arms = false_verdicts.alike((name, name), dice, (repeats, plan))
                else:
                    arms = [false_verdicts.drawn(name, dice, (repeats, plan)) for _ in range(2)]
                found = [stopped_at(a, b, paired) for a, b in zip(*arms, strict=True)]
                wrong = 100 * float(np.mean([stop is not None for stop, _ in found]))
                cells.append((wrong, 100 * float(np.mean([naive for _, naive in found]))))
        worst = max(wrong for wrong, _ in cells)
        good = good and worst <= bar
        said = "".join(f"{f'{wrong:.1f} ({naive:.1f})':>18}" for wrong, naive in cells)
        print(f"{name:20}{said}" + ("  <- too many" if worst > bar else ""), flush=True)
    return good
