"""A comparison as the one sentence that a reader needs."""

from math import floor, isfinite, isinf, log10
from typing import TYPE_CHECKING

from balrog_rag.results.statistics.differences import FEW

if TYPE_CHECKING:
    from balrog_rag.results.statistics.comparison import Comparison

TOO_FEW = "so few can detect no difference at all"
NOT_SEEN = "the test knows only the scores seen, and {}, which allows for others, holds zero"
FLAT = "an arm hardly varies, so this design detects no difference"
RARE = f"with {FEW} or fewer in an arm a rare score far beyond those seen would undo this"


def sentence(made: "Comparison") -> str:
    """Which arm is higher, by how much, how surely, and what such a design could have shown."""
    if not made.made:
        return f"no verdict: {made.why or 'the arms share no task with scored episodes'}."
    parts = [f"{made.word}: {amounts(made)}", p_text(made.test.p)]
    if made.adjusted is not None and made.family > 1:
        parts[-1] += f" ({p_text(made.adjusted)} after Holm over {made.family})"
    parts.append(_counts(made))
    return "; ".join([", ".join(parts), *_caveats(made), _design_words(made)])


def amounts(made: "Comparison") -> str:
    """The difference, with its interval where that matters."""
    said = f"{signed(made.difference, made)} {made.unit}".rstrip()
    shown = (made.clear or made.undecided) and made.interval.known
    return said + (f" ({between(made)})" if shown else "")


def between(made: "Comparison") -> str:
    """The interval in words; '–' where there is none."""
    if not made.interval.known:
        return "–"
    return f"{signed(made.interval.low, made)} to {signed(made.interval.high, made)}"


def signed(value: float, made: "Comparison") -> str:
    """A difference with two decimals, or as many as its size needs."""
    ends = [abs(end) for end in (made.difference, made.interval.low, made.interval.high) if isfinite(end)]
    size = max(ends, default=0.0)
    return f"{value:+.{min(12, max(2, 1 - floor(log10(size)))) if size else 2}f}"


def _caveats(made: "Comparison") -> list[str]:
    """What keeps the verdict from being one, or may undo it."""
    if made.undecided:
        return [NOT_SEEN.format("the interval" if made.family == 1 else "an interval as strict as Holm's")]
    return [RARE] if made.clear and made.few else []


def _counts(made: "Comparison") -> str:
    """How many draws were tested, and in how many episodes, where these are more."""
    played = f" ({made.our_count} and {made.their_count} {made.things})" if _repeats(made) else ""
    if made.paired:
        return f"n = {made.paired} pairs{f' of {made.drawn}' if played else ''}{played}"
    games = f" {made.drawn}" if played else ""
    where = f" in {'one game' if made.within == 1 else f'{made.within} games'}" if made.within else ""
    return f"n = {made.our_draws} and {made.their_draws}{games}{where}{played}"


def _repeats(made: "Comparison") -> bool:
    return (made.our_draws, made.their_draws) != (made.our_count, made.their_count)


def _design_words(made: "Comparison") -> str:
    if made.blind and not made.spread:
        return TOO_FEW + "."
    if not made.spread:
        return "too little spread seen to say what this design detects."
    if isinf(made.wider) and not made.blind:
        return FLAT + "."
    least = made.detectable
    words = f"this design detects {short(least)}" if isfinite(least) else TOO_FEW
    if made.clear or made.wanted == 0:
        return words + "."
    who = "pairs" if made.paired else f"{made.drawn} an arm" if _repeats(made) else f"{made.things} an arm"
    if made.needed is None:
        return words + f"; no feasible number of {who} would detect {short(made.wanted)}."
    return words + f"; {made.needed:,} {who} would detect {short(made.wanted)}."


def short(value: float) -> str:
    """One decimal, or two digits of a number that is smaller."""
    return f"{value:.1f}" if abs(value) >= 0.1 else f"{value:.2g}"


def p_text(p: float) -> str:
    """p as a reader wants it: two digits, and no false zeros."""
    if p < 0.0001:
        return "p < 0.0001"
    return f"p = {p:.2f}" if p >= 0.095 else f"p = {float(f'{p:.2g}'):g}"
