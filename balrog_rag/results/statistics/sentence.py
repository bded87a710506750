"""The verdict sentence of a comparison."""

from math import floor, isfinite, isinf, log10

from balrog_rag.results.statistics.comparison_figures import ComparisonFigures
from balrog_rag.results.statistics.differences import EASILY_MISSED
from balrog_rag.results.statistics.units import ALPHA

TOO_FEW = "too few {} to detect any difference"
SHOWN = 5
"""Number of earlier looks that are listed."""
NOT_TO_TELL = "too few {} to tell"
NOT_SEEN = "means not claimed: {}, which allows for unseen scores, includes zero"
NOT_CLAIMED = "means not claimed: {}"
RARE = f"with {EASILY_MISSED} or fewer in an arm a rare score far beyond those seen would undo this"


def sentence(made: ComparisonFigures) -> str:
    """Which arm is higher, by how much, how surely, and what such a design could have shown.

    It starts with the claim: `higher` or `lower` for the difference of means, `higher more often` or
    `lower more often` for the order alone, `undecided` for neither.
    """
    if not made.made:
        return f"no verdict: {made.why or 'the arms share no task with scored episodes'}."
    if made.clear or not made.more_often:
        parts = [f"{made.word}: {amounts(made)}", _means_p(made)]
        parts += [f"{_order_claim(made)} ({_order_p(made)})"] if made.more_often else []
    else:
        parts = [f"{made.word}: {_beaten(made)}", _order_p(made), f"means {amounts(made)}", _means_p(made)]
    parts.append(_counts(made))
    return "; ".join([", ".join(parts), *_caveats(made), *_looks(made), *_design_words(made)]) + "."


def _means_p(made: ComparisonFigures) -> str:
    said = p_text(made.test.p)
    if made.adjusted is not None and made.family > 1:
        said += f" ({p_text(made.adjusted)} after Holm over {made.family})"
    return said


def _order_p(made: ComparisonFigures) -> str:
    said = p_text(made.order.p)
    if made.order_settled is not None and made.family > 1:
        said += f" ({p_text(made.order_settled)} after Holm over {made.family})"
    return said


def _order_claim(made: ComparisonFigures) -> str:
    """The claim about the order, in addition to that about means."""
    link = "and" if (made.order.superiority > 0.5) == (made.difference > 0) else "but"
    return f"{link} {made.order_word}: {_beaten(made)}"


def _beaten(made: ComparisonFigures) -> str:
    share = f"{made.order.superiority:.0%}"
    return f"scores higher in {share} of {'pairs' if made.paired else 'comparisons'}"


def amounts(made: ComparisonFigures) -> str:
    """The difference with its interval."""
    said = f"{signed(made.difference, made)} {made.unit}".rstrip()
    return said + (f" ({between(made)})" if made.interval.known else "")


def between(made: ComparisonFigures) -> str:
    """The interval in words; '–' if there is none."""
    if not made.interval.known:
        return "–"
    if tells_nothing(made):
        return NOT_TO_TELL.format(made.things)
    low, high = max(made.interval.low, -made.scale), min(made.interval.high, made.scale)
    return f"{signed(low, made)} to {signed(high, made)}"


def tells_nothing(made: ComparisonFigures) -> bool:
    """Whether the interval is as wide as the scale of scores, so that its ends say nothing."""
    return not made.clear and made.interval.high - made.interval.low >= made.scale


def signed(value: float, made: ComparisonFigures) -> str:
    """A difference with two decimals, or more if it is small."""
    ends = [abs(end) for end in (made.difference, made.interval.low, made.interval.high) if isfinite(end)]
    size = max(ends, default=0.0)
    return f"{value:+.{min(12, max(2, 1 - floor(log10(size)))) if size else 2}f}"


def _caveats(made: ComparisonFigures) -> list[str]:
    """Reasons that prevent a claim, or may invalidate it."""
    if made.clear:
        warned = [f"warning: {made.warned}"] if made.warned else []
        return [*warned, *([RARE] if made.few else [])]
    if made.held and made.p <= ALPHA:
        return [NOT_CLAIMED.format(made.held)]
    if made.refused and made.doubt > ALPHA:
        return [NOT_SEEN.format("the interval" if made.family == 1 else "an interval as strict as Holm's")]
    return []


def _looks(made: ComparisonFigures) -> list[str]:
    """The number of earlier looks, each of which may find a false difference."""
    if not made.earlier:
        return []
    shown = ", ".join(f"{count:,}" for count in made.earlier[-SHOWN:])
    words = f"look {len(made.earlier) + 1} at these arms (earlier: at {shown} {made.things})"
    return [f"{words}, so a claim is wrong in more than 5 % of cases: plan looks with --planned"]


def _counts(made: ComparisonFigures) -> str:
    """The number of draws tested, and of episodes if that is larger."""
    played = f" ({made.our_count} and {made.their_count} {made.things})" if _repeats(made) else ""
    if made.paired:
        return f"n = {made.paired} pairs{f' of {made.drawn}' if played else ''}{played}"
    games = f" {made.drawn}" if played else ""
    where = f" in {'one game' if made.within == 1 else f'{made.within} games'}" if made.within else ""
    return f"n = {made.our_draws} and {made.their_draws}{games}{where}{played}"


def _repeats(made: ComparisonFigures) -> bool:
    return (made.our_draws, made.their_draws) != (made.our_count, made.their_count)


def _design_words(made: ComparisonFigures) -> list[str]:
    least = made.detectable
    if isinf(made.reference.gap) and not made.blind:
        return ["too little spread to estimate what this design detects"]
    if made.blind or least > made.scale or isinf(least):
        words = [] if made.claimed else [TOO_FEW.format(made.things)]
    else:
        words = [f"this design detects {short(least)}{made.detects.condition}"]
    if made.clear or made.wanted == 0 or made.needed is None or made.needed <= _fewest(made):
        return words
    who = "pairs" if made.paired else f"{made.drawn} an arm" if _repeats(made) else f"{made.things} an arm"
    said = f"{made.needed:,} {who} would detect {short(made.wanted)}"
    return [*words, f"{said}{made.reference.condition}"]


def _fewest(made: ComparisonFigures) -> int:
    return min(made.our_draws, made.their_draws)


def short(value: float) -> str:
    """Format with one decimal, or two significant digits below one."""
    return f"{value:.1f}" if abs(value) >= 0.1 else f"{value:.2g}"


def p_text(p: float) -> str:
    """Format p with two significant digits and without false zeros."""
    if p < 0.0001:
        return "p < 0.0001"
    return f"p = {p:.2f}" if p >= 0.095 else f"p = {float(f'{p:.2g}'):g}"
