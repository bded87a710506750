"""The verdict on plain numbers, from Python and from two files."""

import re
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

import balrog_rag
from balrog_rag.cli.compare import main
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results.statistics import order, permutation, verdict
from balrog_rag.results.statistics.comparison import adjust

UNEVEN, STEADY = [0, 0, 0, 6.958, 6.958], [1.2, 1.6] * 50
PAPER, BASELINE = [1.85, 2.08, 2.08, 1.85, 0], [2.08, 1.85, 0, 0, 1.85]


def written(path, numbers, heading=None):
    lines = [heading] * (heading is not None) + [str(number) for number in numbers]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_known_cases():
    assert balrog_rag.verdict(UNEVEN, STEADY).word == "undecided"
    assert balrog_rag.verdict(UNEVEN, STEADY).test.p > 0.4
    assert balrog_rag.verdict([0] * 3, [9] * 3).sentence == (
        "undecided: -9.00 (-49.54 to +41.65), p = 0.10, n = 3 and 3; "
        "too few numbers to detect any difference."
    )
    paper = balrog_rag.verdict(PAPER, BASELINE)
    assert paper.sentence.startswith(
        "undecided: +0.42 (-2.56 to +3.11), p = 0.69, n = 5 and 5; this design detects "
    )
    assert paper.sentence.endswith("numbers an arm would detect 0.4.")


def by_hand(a, b, paired):
    """An independent p: every relabelling of Welch's t, or every flip of the signs."""
    if paired:
        kind, data = "samples", (np.subtract(a, b),)
        return stats.permutation_test(
            data, lambda x, axis: np.mean(x, axis), permutation_type=kind, n_resamples=np.inf, vectorized=True
        ).pvalue
    t = lambda x, y, axis: np.round(abs(stats.ttest_ind(x, y, axis=axis, equal_var=False).statistic), 9)  # noqa: E731
    return stats.permutation_test((a, b), t, alternative="greater", n_resamples=np.inf).pvalue


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_p_is_that_of_another_implementation(seed, paired):
    dice = np.random.default_rng(seed)
    sizes = (dice.integers(3, 7), dice.integers(3, 7))
    a, b = dice.exponential(3, sizes[0]), dice.normal(2, 1, sizes[0] if paired else sizes[1])
    made = balrog_rag.verdict(a, b, paired=paired)
    assert made.test.p == pytest.approx(by_hand(a, b, paired), abs=1e-9)
    assert made.difference == pytest.approx(a.mean() - b.mean())
    assert made.clear == (not made.interval.low <= 0 <= made.interval.high)


def test_the_order_of_numbers_matters_only_in_pairs():
    dice = np.random.default_rng(3)
    a, b = dice.normal(5, 2, (2, 40))
    mixed = dice.permutation(a)
    assert balrog_rag.verdict(a, b) == balrog_rag.verdict(mixed, b)
    assert balrog_rag.verdict(a, b, paired=True).test.p != balrog_rag.verdict(mixed, b, paired=True).test.p


@pytest.mark.parametrize("count", [1, 3, 5])
def test_fewer_than_six_pairs_are_pairs_that_can_detect_nothing(count):
    made = balrog_rag.verdict(np.arange(count), np.arange(count) + 90 + np.arange(count) ** 2, paired=True)
    assert made.paired == count
    assert made.test.p == pytest.approx(2.0 ** (1 - count))
    assert "too few numbers to detect any difference" in made.sentence


def test_solved_or_not_is_told_and_never_guessed():
    a, b = [1, 1, 1, 1, 1, 0], [0] * 6
    assert balrog_rag.verdict(a, b).word == "higher more often"
    assert balrog_rag.verdict(a, b, solved=True).word == "higher"
    assert "undo" not in balrog_rag.verdict(a, b, solved=True).sentence
    hundred = balrog_rag.verdict([100 * n for n in a], b, solved=True)
    assert hundred.difference == pytest.approx(100 * balrog_rag.verdict(a, b, solved=True).difference)
    for wrong in ([0, 2], [1, 100]):
        with pytest.raises(ConfigError, match="solved or not is 0 or 1"):
            balrog_rag.verdict(wrong, b, solved=True)


def test_a_larger_difference_of_the_same_arms_stays_one():
    a, b = np.array([5.0, 6, 5, 6, 5, 6]), np.array([0.0, 1, 0, 1, 0, 1])
    assert {balrog_rag.verdict(a + more, b).word for more in (0, 10, 1_000, 1e6)} == {"higher"}


@pytest.mark.parametrize(
    ("a", "b"), [([9] * 6, [0, 0, 0, 0, 0, 1]), ([1] * 21, [0] * 21), ([2] * 300, [0, 1] * 150)]
)
def test_an_arm_that_never_varies_decides_nothing_about_means(a, b):
    made = balrog_rag.verdict(a, b)
    assert made.word == "higher more often"
    assert made.sentence.startswith("higher more often: scores higher in 100% of comparisons, p ")
    assert "means not claimed: an arm that never varies decides nothing about means" in made.sentence
    assert "too little spread" in balrog_rag.verdict([3] * 9, [3] * 9).sentence
    assert balrog_rag.verdict([1] * 5, [0] * 5).word == "undecided"
    assert balrog_rag.verdict([1] * 21, [0] * 21, solved=True).word == "higher"


@pytest.mark.parametrize("count", [10, 58, 59])
def test_few_draws_have_a_caveat(count):
    a, b = np.random.default_rng(0).normal([[20], [0]], 1, (2, count))
    made = balrog_rag.verdict(a, b)
    assert made.word == "higher"
    assert ("a rare score far beyond those seen would undo this" in made.sentence) == (count <= 58)


@pytest.mark.parametrize("heading", [None, "score", '"a, b"'])
def test_files_have_the_same_sentence(tmp_path, capsys, heading):
    paths = [
        written(tmp_path / name, values, heading and heading.strip('"').replace(",", ""))
        for name, values in (("A.csv", PAPER), ("B.csv", BASELINE))
    ]
    for paired in (False, True):
        assert main(["--values", *paths, *["--paired"] * paired]) == 0
        said = balrog_rag.verdict(PAPER, BASELINE, paired=paired).sentence
        assert capsys.readouterr().out == f"{said}\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "A.csv: contains no number"),
        ("score\n", "contains no number"),
        ("1\ntwo\n3\n", "line 2: 'two' is not a number"),
        ("1\n\n3\n", "line 2: empty; write"),
        ("1\nNaN\n", "line 2: NaN is not finite"),
        ("NaN\n1\n", "line 1: NaN is not finite"),
        ("NA\n1\n", "line 1: 'NA' is not a number"),
        ("1\n-inf\n", "line 2: -inf is not finite"),
        ("1;2\n3;4\n", "line 1: '1;2' is not a number"),
        ("a,b\n3,4\n", "line 1: 2 columns; pass"),
        ("1e300\n", "A.csv, number 1: 1e+300 out of range; use finite numbers up to 1e+15"),
        ("\x00\x00", "line 1"),
    ],
)
def test_every_mistake_in_a_file_is_one_line(tmp_path, capsys, text, told):
    (tmp_path / "A.csv").write_text(text)
    assert main(["--values", str(tmp_path / "A.csv"), written(tmp_path / "B.csv", [1, 2])]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert told in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--values", "--paired"], "5 and 4 numbers cannot be paired"),
        (["--values", "--solved"], "solved or not is 0 or 1, or 0 or 100, but 1.85 is neither"),
        (["--values", "--detect", "3"], "--detect: only valid for runs"),
        (["--paired"], "--paired, --solved: only valid with --values"),
    ],
)
def test_every_mistake_on_the_command_line_is_one_line(tmp_path, capsys, words, told):
    paths = [written(tmp_path / "A.csv", PAPER), written(tmp_path / "B.csv", BASELINE[1:])]
    assert main([*paths, *words]) == 2
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1
    assert main(["--values", str(tmp_path), paths[0]]) == 2
    assert "cannot be read (Is a directory)" in capsys.readouterr().err


def test_the_package_is_light_until_it_is_asked():
    code = "import balrog_rag, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


LONG_TAIL = {
    "lognormal": lambda dice, size: dice.lognormal(-0.5, 1, size),
    "mostly zero": lambda dice, size: (dice.random(size) < 0.3) * dice.exponential(1 / 0.3, size),
    "one in five": lambda dice, size: dice.choice([2.08, 2.08, 2.12, 6.96, 20.61], size) / 6.77,
}
"""Has mean 1, like the steady arm."""
REPEATS = 300
MOST = 0.06 + 3 * (0.06 * 0.94 / REPEATS) ** 0.5
"""Six percent plus three standard errors for this number of repeats."""


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(permutation, "RANDOM", 999)
    monkeypatch.setattr(permutation, "EXACT_UP_TO", 2_000)
    monkeypatch.setattr(verdict, "DRAWS", 1_000)


def judged(a, b, games="", family=1):
    arms = [
        [verdict.Score(float(value), "nle", "T", games and f"{games}{n}") for n, value in enumerate(arm)]
        for arm in (a, b)
    ]
    return verdict.compare(*arms, family=family, plan=False)


@pytest.mark.parametrize(
    ("kind", "ours", "theirs"),
    [
        ("mostly zero", 5, 20),
        *(pytest.param(kind, 5, 20, marks=pytest.mark.slow) for kind in LONG_TAIL if kind != "mostly zero"),
        *(pytest.param(kind, 20, 100, marks=pytest.mark.slow) for kind in LONG_TAIL),
    ],
)
def test_false_verdicts_of_a_long_tail_against_a_steady_arm(quick, kind, ours, theirs):
    dice = np.random.default_rng(4)
    wrong = sum(
        judged(LONG_TAIL[kind](dice, ours), 1 + 0.14 * dice.choice([-1.0, 1.0], theirs)).clear
        for _ in range(REPEATS)
    )
    assert wrong / REPEATS <= MOST


@pytest.mark.parametrize("count", [8, 30])
def test_false_verdicts_of_pairs(quick, count):
    dice = np.random.default_rng(5)
    arms = [LONG_TAIL["mostly zero"](dice, (2, count)) for _ in range(REPEATS)]
    assert sum(judged(*pair, games="g").clear for pair in arms) / REPEATS <= MOST


@pytest.mark.slow
def test_false_verdicts_of_twelve_arms_by_holm(quick):
    dice, wrong = np.random.default_rng(6), 0
    for _ in range(REPEATS // 5):
        steady = 1 + 0.14 * dice.choice([-1.0, 1.0], 10)
        arms = [judged(LONG_TAIL["lognormal"](dice, 10), steady, family=11) for _ in range(11)]
        wrong += any(made.clear for made in adjust(arms))
    assert wrong / (REPEATS // 5) <= 0.06 + 3 * (0.06 * 0.94 / (REPEATS // 5)) ** 0.5


STARTS = ("higher: ", "lower: ", "higher more often: ", "lower more often: ", "undecided: ")


@pytest.mark.parametrize("seed", range(8))
def test_a_sentence_begins_with_its_claim(seed):
    dice = np.random.default_rng(seed)
    size = (5, 6, 12, 40)[seed % 4]
    made = balrog_rag.verdict(dice.exponential(1 + 4 * (seed % 3), size), dice.exponential(1, size))
    assert str(made) == made.sentence
    assert made.sentence.startswith(STARTS)
    before = made.sentence.partition(",")[0]
    if made.sentence.startswith("undecided"):
        assert not any(word in before for word in ("higher", "lower", "more often"))
    assert made.sentence.startswith(("higher: ", "lower: ")) == made.clear
    assert ("more often: scores higher" in made.sentence) == made.more_often


def test_both_claims_are_named():
    sentence = balrog_rag.verdict([5, 6, 5, 6, 5, 6], [0, 1, 0, 1, 0, 1]).sentence
    assert sentence.startswith("higher: +5.00 (+")
    assert ", and higher more often: scores higher in 100% of comparisons (p = 0.0022)" in sentence
    apart = balrog_rag.verdict([-9] * 9 + [-8] * 9 + [900, 950], [0, 1] * 60)
    assert apart.order_word == "lower more often"


def test_five_against_five_can_be_decided():
    made = balrog_rag.verdict([2.1, 3.7, 5.1, 7, 12.6], [0, 0, 1.5, 0, 1.8])
    assert made.sentence.startswith(
        "higher more often: scores higher in 100% of comparisons, p = 0.0079, means "
    )


def named(design):
    """Populations for which neither claim may be made too often."""
    normal = lambda spread: lambda dice, size: dice.normal(0, spread, size)  # noqa: E731
    lumps = lambda dice, size: dice.choice([0, 0, 0, 1.5, 1.8, 2.1, 4.8], size)  # noqa: E731
    zeros = lambda dice, size: (dice.random(size) < 0.3) * dice.exponential(1, size)  # noqa: E731
    flat = lambda dice, size: np.zeros(size)  # noqa: E731
    return {
        "normal": (normal(1), normal(1)), "lumps": (lumps, lumps), "zeros": (zeros, zeros),
        "spreads": (normal(1), normal(5)), "constant": (flat, normal(1)),
        "two values": (flat, lambda dice, size: dice.choice([-1.0, 1], size)),
    }[design]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("count", [5, 10, 20])
@pytest.mark.parametrize("design", ["normal", "lumps", "zeros"])
def test_equal_arms_are_rarely_told_apart_by_either_claim(quick, monkeypatch, design, count):
    monkeypatch.setattr(order, "RANDOM", 499)
    monkeypatch.setattr(order, "LEAST_RANDOM", 499)
    dice, (ours, theirs) = np.random.default_rng(8), named(design)
    made = [judged(ours(dice, count), theirs(dice, count)) for _ in range(60)]
    assert sum(one.claimed for one in made) / 60 <= 0.06 + 3 * (0.06 * 0.94 / 60) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("count", [5, 10, 30])
@pytest.mark.parametrize("design", ["spreads", "constant", "two values"])
def test_equal_chances_are_rarely_taken_for_an_order(design, count):
    dice, (ours, theirs) = np.random.default_rng(9), named(design)
    arms = ((ours(dice, count), theirs(dice, count)) for _ in range(400))
    found = [order.independent_order([permutation.Stratum(*pair, 1 / count, 1 / count)]).p for pair in arms]
    assert np.mean(np.array(found) <= 0.05) <= 0.06 + 2 * (0.06 * 0.94 / 400) ** 0.5


@pytest.mark.parametrize("seed", range(4))
def test_the_order_is_judged_as_by_scipys_statistic(seed):
    dice = np.random.default_rng(seed)
    a, b = dice.normal(0, 1, 6), dice.normal(1, 3, 7)
    made = balrog_rag.verdict(a, b).order

    def statistic(x, y, axis):
        return np.round(abs(stats.brunnermunzel(x, y, axis=axis).statistic), 9)

    with np.errstate(all="ignore"):
        exact = stats.permutation_test((a, b), statistic, alternative="greater", n_resamples=np.inf).pvalue
        asymptotic = stats.brunnermunzel(a, b).pvalue
    assert made.p == pytest.approx(max(exact, asymptotic), abs=1e-9)
    assert made.superiority == pytest.approx(np.mean(a[:, None] > b))


def test_pairs_have_the_sign_test():
    made = balrog_rag.verdict([2, 3, 4, 5, 6, 7, 8, 0], [1, 1, 1, 1, 1, 1, 1, 9], paired=True)
    assert made.order.p == pytest.approx(stats.binomtest(7, 8).pvalue)
    assert made.order.superiority == 7 / 8


def test_what_a_small_arm_could_easily_have_missed_decides_nothing_about_means():
    small, large = [0, 1.5, 2.1] * 8 + [1.5], [0, 1.5, 2.1] * 63 + [1.5] + [40] * 10
    why = verdict.withheld(np.array(small), np.array(large))
    assert why.startswith(
        "the larger arm has 10 scores beyond the smaller one's that 25 draws miss in 28% of cases"
    )
    assert verdict.withheld(np.array(large), np.array(small)) == why
    assert verdict.withheld(np.array(small) + 40, np.array(large)) == ""
    assert verdict.withheld(np.array([*small[1:], 41]), np.array(large)) == ""
    assert not balrog_rag.verdict(small, large).clear


def test_a_rare_share_against_its_constant_is_not_a_difference_of_means():
    dice = np.random.default_rng(7)
    arms = [(dice.random(25) < 0.02).astype(float) for _ in range(8)]
    assert not any(balrog_rag.verdict(arm, [0.02] * 200).clear for arm in arms)


def test_a_few_scores_that_carry_a_mean_are_pointed_out():
    made = verdict.dominated(np.array([1.0] * 38 + [90, 95]), np.array([1.0, 1.1] * 20))
    assert made.startswith("the 2 highest scores carry 100% of the difference")
    assert verdict.dominated(np.arange(40.0), np.arange(40.0) / 4) == ""


def test_where_most_scores_are_zero_the_promise_is_for_fewer_zeros():
    """Scores that are not zero may grow a hundredfold: too few of them are left to show it."""
    dice = np.random.default_rng(11)
    arms = [(dice.random(20) < 0.4) * dice.exponential(1, 20) for _ in "AB"]
    sentence = balrog_rag.verdict(*arms).sentence
    assert re.search(r"this design detects \S+ if fewer scores are zero; \S+ numbers an arm would", sentence)
    larger = [balrog_rag.verdict(100 * arms[0], arm).claimed for arm in arms]
    assert larger == [False, False]
    others = [arm[arm > 0] for arm in arms]
    assert re.search(r"this design detects \S+; ", balrog_rag.verdict(*others).sentence)


@pytest.mark.slow
@pytest.mark.parametrize("count", [10, 20])
def test_a_design_detects_what_it_promises(count):
    dice, found = np.random.default_rng(6), []
    for _ in range(12):
        a, b = dice.exponential(3, (2, count)) + 1
        promised = balrog_rag.verdict(a, b).detectable
        for _ in range(10):
            better, plain = (dice.exponential(3, (2, count)) + 1) * [[1 + promised / 4], [1]]
            found.append(balrog_rag.verdict(better, plain).claimed)
    assert np.mean(found) >= 0.75
