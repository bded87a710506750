"""Tests of the statistics: exact where possible, correct where simulated, and never overconfident."""

import numpy as np
import pytest
from scipy import stats

from balrog_rag.results.scoring import measures_of
from balrog_rag.results.statistics import design, permutation, prospects
from balrog_rag.results.statistics.differences import agreeing, difference, paired_difference
from balrog_rag.results.statistics.estimate import Interval, smooth_means
from balrog_rag.results.statistics.interval import average_interval, from_draws, mean_interval, unseen
from balrog_rag.results.statistics.order import independent_order
from balrog_rag.results.statistics.permutation import Stratum
from balrog_rag.results.statistics.sentence import p_text
from balrog_rag.results.statistics.sequential import look, spending
from balrog_rag.results.statistics.units import Bounds, Score
from balrog_rag.results.statistics.verdict import adjust, compare

PAPER = [1.85, 2.08, 2.08, 1.85, 0]
BASELINE = [2.08, 1.85, 0, 0, 1.85]
LUMPS = {
    # progression in percent with its frequency: like BALROG's published episodes, like the paper's
    # best agent's, and like the strongest models'
    "published": {0: 60, 1.539: 6, 1.754: 5, 1.848: 13, 2.081: 9, 2.122: 2, 2.416: 2, 2.648: 1,
                  2.911: 1, 4.846: 1},
    "paper": {0: 20, 1.539: 10, 1.754: 10, 1.848: 25, 2.081: 25, 2.122: 3, 2.416: 3, 2.648: 2,
              3.543: 1, 4.846: 1},
    "strong": {0: 3, 1.848: 8, 2.081: 10, 2.416: 10, 2.911: 10, 3.689: 12, 5.076: 12, 6.958: 8, 7.454: 8,
               9.771: 6, 11.705: 5, 12.559: 4, 17.91: 3, 25.48: 1},
}  # fmt: skip


def lump(kind):
    values, counts = np.array(list(LUMPS[kind]), float), np.array(list(LUMPS[kind].values()), float)
    return values, counts / counts.sum()


def scores(values, task="T", first=0, env="nle"):
    return [Score(float(value), env, task, f"g{first + n}") for n, value in enumerate(values)]


def loose(values, task="T", env="nle"):
    return [Score(float(value), env, task) for value in values]


def unpaired(a, b, **more):
    return permutation.stratified([permutation.Stratum(a, b, 1 / len(a), 1 / len(b))], **more)


def test_the_papers_best_agent_against_the_published_baseline():
    verdict = compare(loose(PAPER), loose(BASELINE))
    assert round(verdict.test.p, 2) == 0.69
    assert verdict.test.method == "exact permutation"
    assert verdict.sentence.startswith(
        "undecided: +0.42 points (-2.56 to +3.11), p = 0.69, n = 5 and 5; this design detects "
    )
    # by the paper arm's own spread and the usual normal formula, as it is often quoted
    z = stats.norm.isf(0.025) + stats.norm.isf(0.2)
    assert round(z * np.std(PAPER, ddof=1) * np.sqrt(2 / 5), 1) == 1.6


def welchs_t(x, y, axis):
    error = np.sqrt(x.var(axis, ddof=1) / x.shape[axis] + y.var(axis, ddof=1) / y.shape[axis])
    return np.round(abs(x.mean(axis) - y.mean(axis)) / error, 9)


@pytest.mark.parametrize("seed", range(12))
def test_unpaired_p_is_scipys_of_welchs_t(seed):
    dice = np.random.default_rng(seed)
    a, b = dice.choice([0, 1.5, 2.1, 4.8], 6), dice.choice([0, 1.5, 2.1, 4.8], 7) + dice.choice([0, 2])
    if seed % 2:
        a, b = dice.normal(0, 3, 4), dice.normal(1, 1, 9)
    with np.errstate(divide="ignore"):
        exact = stats.permutation_test(
            (a, b), welchs_t, alternative="greater", n_resamples=np.inf, vectorized=True
        )
    assert unpaired(a, b).p == pytest.approx(exact.pvalue, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_arms_of_one_size_have_the_p_of_the_bare_difference(seed):
    """Where both arms are as large, Welch's t orders relabellings as the difference does."""
    a, b = np.random.default_rng(seed).exponential(2, (2, 6))
    bare = stats.permutation_test(
        (a, b), lambda x, y, axis: abs(x.mean(axis) - y.mean(axis)),
        alternative="greater", n_resamples=np.inf, vectorized=True,
    )  # fmt: skip
    assert unpaired(a, b).p == pytest.approx(bare.pvalue, abs=1e-12)


def test_a_small_uneven_arm_beside_a_large_steady_one_is_no_difference():
    """Their means may well be the same; the bare difference's p would be 0.0024."""
    made = compare(loose([0, 0, 0, 6.958, 6.958]), loose([1.2, 1.6] * 50))
    assert made.word == "undecided"
    assert 0.4 < made.test.p < 0.7
    assert made.interval.low < 0 < made.interval.high


@pytest.mark.parametrize("seed", range(6))
def test_paired_p_is_scipys(seed):
    gaps = np.random.default_rng(seed).normal(0.5, 1, 9)
    exact = stats.permutation_test(
        (gaps,), lambda x, axis: x.mean(axis), permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    assert permutation.paired(gaps).p == pytest.approx(exact.pvalue, abs=1e-12)


def test_random_relabelling_comes_close_to_the_exact_p():
    dice = np.random.default_rng(1)
    a, b = dice.normal(0, 1, 9), dice.normal(0.8, 1, 9)
    exact = unpaired(a, b)
    halves = [permutation.Stratum(a, b, 0.5 / 9, 0.5 / 9), permutation.Stratum(a, b, 0.5 / 9, 0.5 / 9)]
    assert exact.method == "exact permutation"
    assert permutation.stratified(halves).method == "Monte-Carlo permutation within strata"
    big = unpaired(np.tile(a, 3), np.tile(b, 3))
    assert big.method == "Monte-Carlo permutation"
    assert big.p < exact.p


def test_labels_are_exchanged_only_within_a_task():
    # one task is easy, the other hard; within each the arms are equal, but the mix of tasks is not
    ours = loose([100] * 8, "easy", "minihack") + loose([0, 0], "hard", "minihack")
    theirs = loose([100] * 2, "easy", "minihack") + loose([0] * 8, "hard", "minihack")
    assert compare(ours, theirs).test.p == 1.0


def test_an_average_over_environments_counts_each_the_same():
    dice = np.random.default_rng(9)
    ours = scores(dice.normal(2, 1, 20)) + scores(dice.normal(50, 10, 5), env="minihack")
    theirs = scores(dice.normal(1, 1, 20)) + scores(dice.normal(40, 10, 5), env="minihack")
    for verdict in (compare(ours, theirs), compare(loosened(ours), loosened(theirs))):
        by_hand = np.mean([mean_of(ours, env) - mean_of(theirs, env) for env in ("nle", "minihack")])
        assert verdict.difference == pytest.approx(by_hand)
        assert verdict.interval.low < verdict.difference < verdict.interval.high
    pairs = compare(ours, theirs)
    gaps = np.array([mine.value - yours.value for mine, yours in zip(ours, theirs, strict=True)])
    variance = (gaps[:20].var(ddof=1) / 20 + gaps[20:].var(ddof=1) / 5) / 4
    assert pairs.paired == 25
    assert pairs.spread == pytest.approx(np.sqrt(25 * variance))
    assert pairs.detectable == prospects.detects_paired(pairs.spread, 25, 25).gap


def mean_of(arm, env):
    return np.mean([score.value for score in arm if score.env == env])


def loosened(arm):
    return [Score(score.value, score.env, score.task) for score in arm]


def test_holm_by_hand():
    assert permutation.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert permutation.holm([]) == []


@pytest.mark.parametrize(("spread", "count"), [(1.0, 5), (2.5, 20), (0.9, 76)])
def test_what_is_detectable_is_detected_in_four_of_five_cases(spread, count):
    gap = design.detectable(spread, count, count)
    assert design.power(gap, spread, count, count) == pytest.approx(0.8, abs=1e-3)


def test_power_is_what_simulated_tests_reach():
    dice = np.random.default_rng(0)
    gap = design.detectable(1.0, 10, 10)
    found = sum(
        stats.ttest_ind(dice.normal(gap, 1, 10), dice.normal(0, 1, 10)).pvalue <= 0.05 for _ in range(2000)
    )
    assert found / 2000 == pytest.approx(0.8, abs=0.03)


def test_pairs_are_used_where_games_are_shared():
    dice = np.random.default_rng(3)
    game = dice.normal(5, 3, 30)
    verdict = compare(scores(game + dice.normal(0.5, 0.3, 30)), scores(game))
    assert verdict.paired == 30
    assert verdict.clear
    assert "n = 30 pairs" in verdict.sentence
    apart = compare(scores(game + dice.normal(0.5, 0.3, 30)), scores(game, first=100))
    assert (apart.paired, apart.clear) == (0, False)


def test_a_game_played_often_counts_once():
    def arm(seed, first):
        games = enumerate(np.random.default_rng(seed).normal(3, 2, 6))
        return [Score(float(value), "nle", "T", f"g{first + n}") for n, value in games for _ in range(50)]

    # six games an arm, each result there fifty times: taken for 300 independent episodes noise looks certain
    ours, theirs = arm(0, 0), arm(3, 100)
    taken_apart = unpaired(*(np.array([s.value for s in each]) for each in (ours, theirs)))
    assert taken_apart.p < 0.001
    assert compare(ours, theirs).test.p > 0.05


def test_episodes_of_one_game_are_compared_with_a_warning():
    verdict = compare(
        [Score(v, "nle", "T", "73") for v in PAPER], [Score(v, "nle", "T", "73") for v in BASELINE]
    )
    assert round(verdict.test.p, 2) == 0.69
    assert verdict.notes == ("an arm plays one game only: results do not generalize to others",)


@pytest.mark.parametrize(
    ("ours", "theirs", "begins"),
    [
        ([], [], "no verdict"),
        ([1.0], [], "no verdict"),
        (
            [1.0],
            [2.0],
            "undecided: -1.00 points (-8.36 to +8.07), p = 1.00, n = 1 and 1; too few episodes to",
        ),
        (
            [0.0] * 3,
            [9.0] * 3,
            "undecided: -9.00 points (-49.54 to +41.65), p = 0.10, n = 3 and 3; too few episodes to detect",
        ),
        ([0.0] * 5, [0.0] * 5, "undecided: +0.00 points (-0.76 to +0.76), p = 1.00"),
        (
            [0.0] * 8,
            [*range(1, 9)],
            "lower more often: scores higher in 0% of comparisons, p = 0.00016, means -4.50 ",
        ),
        (
            [0.0] * 5,
            [90.0, 10, 40, 2, 70],
            "lower more often: scores higher in 0% of comparisons, p = 0.0079, "
            "means -42.40 points (too few episodes to tell), p = 0.0079, n = 5 and 5; means not claimed: ",
        ),
        ([5.0, 6, 5, 6, 5, 6], [0.0, 1, 0, 1, 0, 1], "higher: +5.00 points (+"),
        ([0.0, 1, 0, 1, 0, 1], [5.0, 6, 5, 6, 5, 6], "lower: -5.00 points (-"),
    ],
)
def test_every_comparison_ends_in_a_sentence(ours, theirs, begins):
    assert compare(loose(ours), loose(theirs)).sentence.startswith(begins)


def test_a_family_of_comparisons_is_adjusted():
    strong = compare(loose([5.0, 6, 5, 6, 5]), loose([0.0, 1, 0, 1, 0]))
    weak = compare(loose(PAPER), loose(BASELINE))
    first, second = adjust([strong, weak])
    assert first.adjusted == pytest.approx(2 * strong.test.p)
    assert "after Holm over 2" in first.sentence
    assert second.p == pytest.approx(weak.test.p)
    nothing = compare(loose([1.0, 2]), [])
    assert [one.adjusted for one in adjust([strong, nothing, weak])] == [
        first.adjusted, nothing.adjusted, second.adjusted,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.69047, "p = 0.69"),
        (0.0312, "p = 0.031"),
        (0.00794, "p = 0.0079"),
        (1e-6, "p < 0.0001"),
        (1, "p = 1.00"),
    ],
)
def test_p_is_written_with_two_digits(p, text):
    assert p_text(p) == text


def test_large_samples_use_scipys_bca():
    values, shares = lump("strong")
    drawn = np.random.default_rng(0).choice(values, 150, p=shares)
    found = mean_interval(loose(drawn), Bounds())
    theirs = stats.bootstrap((drawn,), np.mean, n_resamples=9999, method="BCa", rng=1).confidence_interval
    assert found.method == "BCa bootstrap"
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.1)


def test_solved_or_not_gets_jeffreys_interval():
    found = mean_interval(loose([100] * 3 + [0] * 17, env="minihack"), Bounds(binary=True))
    assert (found.low, found.high) == pytest.approx(100 * stats.beta(3.5, 17.5).ppf([0.025, 0.975]), abs=1.0)


def test_nothing_but_zeros_still_leaves_room_above():
    found = mean_interval(loose([0] * 5), Bounds())
    assert found.low == 0
    assert 0.5 < found.high < 1.5


def test_an_interval_holds_what_was_seen():
    for drawn in ([100] * 4, [0] * 4, [100, 0, 0]):
        found = mean_interval(loose(drawn, env="minihack"), Bounds(binary=True))
        assert found.low <= np.mean(drawn) <= found.high
    apart = compare(loose([0.0] * 3), loose([100.0] * 3), bounds={"nle": Bounds(binary=True)})
    assert apart.interval.low == apart.difference == -100


def test_intervals_do_not_depend_on_when_they_are_made():
    assert mean_interval(loose(PAPER), Bounds()) == mean_interval(loose(PAPER), Bounds())


SOLVED = Bounds(binary=True)


def in_games(values, plays=1, task="T", env="nle"):
    """Every value a game of its own, played so often."""
    return [s for n, v in enumerate(values) for s in [Score(float(v), env, task, f"g{n}")] * plays]


def test_pairs_of_solved_or_not_get_newcombes_square_and_add():
    # by hand: Jeffreys' limits of 6 and 2 in 10, both solved 2 times; ad - bc = 2 * 4 - 4 * 0 = 8, less n / 2
    ours, theirs = np.array([100.0] * 6 + [0] * 4), np.array([100.0] * 2 + [0] * 8)
    (low, high), (low2, high2) = (100 * stats.beta(k + 0.5, 10.5 - k).ppf([0.025, 0.975]) for k in (6, 2))
    phi = (8 - 5) / np.sqrt(6 * 4 * 2 * 8)
    below, above = (
        np.sqrt(a * a - 2 * phi * a * b + b * b) for a, b in ((60 - low, high2 - 20), (high - 60, 20 - low2))
    )
    made = paired_difference(ours, theirs, SOLVED)
    assert made.reach(0.05) == pytest.approx((below, above), abs=1.0)


@pytest.mark.parametrize("first", [0, 100])
@pytest.mark.parametrize(("bounds", "least", "most"), [(SOLVED, 15, 30), (Bounds(), 0.2, 1.0)])
def test_equal_scores_leave_room_for_what_was_not_seen(bounds, least, most, first):
    # the same games or others: ten zeros an arm say no more of the difference than of each mean
    made = compare(scores([0] * 10), scores([0] * 10, first=first), bounds={"nle": bounds}).interval
    assert least < made.high < most
    assert made.low == -made.high


@pytest.mark.parametrize(
    "noise",
    [
        pytest.param(0.0, id="equal"),  # and yet numpy's deviation of six of them is not 0
        pytest.param(1e-14, id="means of the same plays in another order"),
    ],
)
def test_rounding_is_no_variation(noise):
    same = np.full(6, 1.5392269075361171)
    made, plain = paired_difference(same + noise * np.arange(1, 7), same, Bounds()), np.full(6, 1.5)
    usual = paired_difference(plain, plain, Bounds()).interval
    assert made.interval.high == pytest.approx(usual.high, rel=0.1)
    assert made.interval.low == pytest.approx(usual.low, rel=0.1)


def test_a_cost_that_is_higher_by_the_same_in_each_pair_is_not_certain_for_that():
    ours, theirs = np.array([0.1, 0.2, 0.3]) + 0.7, np.array([0.1, 0.2, 0.3]) + 0.6
    assert 0 < np.ptp(ours - theirs) < 1e-15
    made = paired_difference(ours, theirs, Bounds(most=float("inf"), rise=0.0, counted=True))
    exact = paired_difference(np.array([5.0, 6.0, 7.0]), np.array([4.0, 5.0, 6.0]), Bounds(counted=True))
    assert made.method == exact.method == "MOVER"


def test_an_interval_is_stretched_to_zero_where_the_test_says_and_never_cut():
    assert agreeing(Interval(1.0, 2.0), False) == Interval(0.0, 2.0)
    assert agreeing(Interval(-1.0, 2.0), True) == Interval(-1.0, 2.0)


@pytest.mark.parametrize("design_of", ["pairs", "arms", "games", "solved"])
def test_verdict_and_interval_never_contradict_each_other(design_of):
    dice = np.random.default_rng(4)
    clear = 0
    for n in range(24):
        ours, theirs = dice.exponential([[2], [8]], (2, (8, 16, 30)[n % 3]))
        if design_of == "solved":
            ours, theirs = 100.0 * (dice.random((2, 8)) < [[0.2], [0.8]])
        arms = scores(ours), scores(theirs, first=0 if design_of in ("pairs", "solved") else 50)
        if design_of == "games":
            arms = tuple(
                [Score(v, "nle", "T", f"g{n % 2}") for n, v in enumerate(arm)] for arm in (ours, theirs)
            )
        made = compare(*arms, bounds={"nle": SOLVED if design_of == "solved" else Bounds()})
        clear += made.clear
        assert made.clear != (made.interval.low <= 0 <= made.interval.high)
        assert made.interval.low <= made.difference <= made.interval.high
    assert 3 < clear < 24


def test_plays_within_games_have_an_interval_of_the_same_design():
    # games differ far more than plays of one: known games leave only the plays' spread
    dice = np.random.default_rng(5)
    games = np.repeat([1.0, 5, 10, 20, 40], 4)
    arms = [in_games(games[::4], 4) for _ in "AB"]
    arms = [[Score(s.value + dice.normal(0, 0.5), *("nle", "T", s.game)) for s in arm] for arm in arms]
    made = compare(*arms)
    assert made.notes == ("labels are exchanged within each of 5 games: results do not generalize to others",)
    assert "n = 20 and 20 in 5 games" in made.sentence
    loose_width = np.ptp(
        [
            (
                i := difference([tuple(np.array([s.value for s in arm]) for arm in arms)], Bounds()).interval
            ).low,
            i.high,
        ]
    )
    assert made.interval.high - made.interval.low < loose_width / 2


@pytest.mark.parametrize("count", [2, 3])
def test_designs_that_cannot_reach_their_bar_say_so(count):
    made = compare(loose(np.arange(count)), loose(np.arange(count) + 50.0))
    assert made.detectable == np.inf
    assert (
        "; too few episodes to detect any difference; 5 episodes an arm would detect 50.0." in made.sentence
    )


def test_at_least_four_an_arm_and_six_pairs():
    assert max(design.detectable(1, 4, 4), design.detectable_paired(1, 6)) < np.inf
    assert (design.detectable(1, 3, 3), design.detectable_paired(1, 5)) == (np.inf, np.inf)
    # the claim holds for the test itself
    dice = np.random.default_rng(6)
    assert np.mean([unpaired(dice.normal(9, 1, 4), dice.normal(0, 1, 4)).p <= 0.05 for _ in range(50)]) > 0.9
    assert unpaired(np.arange(3.0), np.arange(3.0) + 50).p == pytest.approx(permutation.least_p([(3, 3)]))


def test_the_design_figures_are_those_of_the_familys_first_bar():
    made = compare(loose(PAPER), loose(BASELINE))
    many = adjust([made] * 5)[0]
    assert many.detectable > made.detectable
    assert many.needed > made.needed
    assert many.detectable == pytest.approx(
        made.detectable * (stats.norm.isf(0.005) + 0.8416) / (1.96 + 0.8416), rel=1e-3
    )


def test_a_large_family_can_still_find_differences():
    # 46 rows are 1,035 pairs: one in 20,000 relabellings, times 1,035, would never be below 0.05
    dice = np.random.default_rng(7)
    ours, theirs = dice.normal(50, 1, 20), dice.normal(0, 1, 20)
    assert 1035 * unpaired(ours, theirs).p > 0.05
    assert 1035 * unpaired(ours, theirs, family=1035).p < 0.05
    assert 1035 * permutation.paired(ours - theirs, family=1035).p < 0.05


def test_superiority_is_within_tasks():
    # equal in both environments, but one arm played the easy one more often
    ours = loose([0] * 5) + loose([100] * 40, "M", "minihack")
    theirs = loose([0] * 40) + loose([100] * 5, "M", "minihack")
    assert compare(ours, theirs).superiority == 0.5
    assert compare(loose([2, 3]) + loose([0] * 9, "M", "minihack"), loose([1]) + loose([1], "M", "minihack")
                   ).superiority == 0.5  # fmt: skip


def test_the_sentence_counts_what_was_tested():
    dice = np.random.default_rng(8)
    often, once = in_games(dice.normal(3, 1, 5), 20), in_games(dice.normal(3, 1, 5))
    made = compare(often, once)
    assert "n = 5 and 5 games (100 and 5 episodes)" in made.sentence
    assert "games an arm would detect" in compare(often, in_games([2, 3, 1, 2, 3])).sentence
    pairs = compare(in_games(dice.normal(3, 1, 8), 3), in_games(dice.normal(3, 1, 8)))
    assert "n = 8 pairs of games (24 and 8 episodes)" in pairs.sentence


def test_the_means_shown_are_of_what_was_compared():
    solved = in_games([100, 100, 100, 100, 0, 100], task="easy", env="minihack")
    made = compare(
        solved + in_games([0] * 6, task="hard", env="minihack"),
        in_games([100, 0, 100, 0, 0, 0], task="easy", env="minihack"),
    )
    assert made.our_mean - made.their_mean == pytest.approx(made.difference) == pytest.approx(50)
    assert (made.our_count, made.their_count) == (6, 6)


def test_mean_and_interval_are_of_the_same_estimate_where_games_repeat_unevenly():
    often, once = in_games([0], 10), [Score(10.0, "nle", "T", "other")]
    made = mean_interval(often + once, Bounds())
    assert made.low < 10 / 11 < made.high
    assert made.low < 0.5
    # played evenly the mean over episodes is the mean over games, and so is its interval
    values = [0, 1.5, 1.5, 2, 5, 7]
    assert mean_interval(in_games(values, 3), Bounds()) == mean_interval(in_games(values), Bounds())


def test_many_uneven_games_have_the_intervals_of_a_ratio():
    dice = np.random.default_rng(9)
    plays = dice.integers(1, 6, 300)
    value = dice.normal(2, 1, 300) + 2 * plays
    arm = [
        Score(v, "nle", "T", f"g{n}")
        for n, (v, k) in enumerate(zip(value, plays, strict=True))
        for _ in range(k)
    ]
    made = mean_interval(arm, Bounds())
    ratio = np.average(value, weights=plays)
    error = np.std(plays * (value - ratio), ddof=1) / plays.mean() / np.sqrt(300)
    assert (made.low, made.high) == pytest.approx(
        (ratio - 1.96 * error, ratio + 1.96 * error), abs=0.15 * error
    )


def test_counts_have_students_t():
    turns = np.random.default_rng(10).normal(1000, 50, 12)
    made = mean_interval(loose(turns), Bounds(most=np.inf, rise=0.0, counted=True))
    assert (made.low, made.high) == pytest.approx(stats.t(11, turns.mean(), stats.sem(turns)).interval(0.95))
    assert all(measure.bounds.counted == (measure.name in COUNTED) for measure in measures_of(["nle"]))


COUNTED = {"score", "turns", "steps", "tokens", "dollars", "seconds"}


def test_an_average_is_as_wide_as_its_parts_say():
    parts = [[100] * 3 + [0] * 7, [100] * 5 + [0] * 5]
    groups = [loose(part, env=str(n)) for n, part in enumerate(parts)]
    whole = average_interval(groups, [SOLVED, SOLVED])
    singles = [mean_interval(group, SOLVED) for group in groups]
    assert 40 - whole.low == pytest.approx(np.hypot(30 - singles[0].low, 50 - singles[1].low) / 2)
    assert whole.high - 40 == pytest.approx(np.hypot(singles[0].high - 30, singles[1].high - 50) / 2)


def test_equal_looks_in_time_spend_no_more_than_told():
    given = 0.0
    before = None
    for count in (20, 40, 60, 80, 100):
        before = look(0.5, count, 100, before)
        given += before.allowed
    assert given == pytest.approx(0.05)


def covered(kind, count, repeats, method, seed=0):
    """How often, in percent, the interval of the mean holds the truth."""
    values, shares = lump(kind)
    truth = float(values @ shares)
    dice = np.random.default_rng(seed)
    hits = 0
    for _ in range(repeats):
        drawn = dice.choice(values, count, p=shares)
        if method == "smooth":
            found = from_draws(
                smooth_means(drawn, *unseen(drawn, Bounds()), dice, 1500), drawn.mean()
            ).interval
        else:
            found = mean_interval(loose(drawn), Bounds(), method=method, seed=int(dice.integers(2**31)))
        hits += found.low <= truth <= found.high
    return 100 * hits / repeats


@pytest.mark.parametrize("kind", LUMPS)
def test_coverage_on_lumpy_progression(kind):
    # 2,000 repeats: the simulation itself is good to about one point
    assert covered(kind, 20, 2000, "smooth") == pytest.approx(95, abs=2.5)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", [10, 15, 20, 50, 99])
@pytest.mark.parametrize("kind", LUMPS)
def test_coverage_is_within_one_and_a_half_points(kind, count):
    assert covered(kind, count, 10_000, "smooth") == pytest.approx(95, abs=1.5)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", [100, 200])
@pytest.mark.parametrize("kind", LUMPS)
def test_coverage_of_the_bootstrap_for_large_samples(kind, count):
    assert covered(kind, count, 3000, "bca") == pytest.approx(95, abs=1.5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", LUMPS)
def test_five_episodes_are_covered_better_than_by_the_bootstrap_alone(kind):
    ours, theirs = covered(kind, 5, 4000, "smooth"), covered(kind, 5, 1000, "bca")
    assert ours > theirs - 2
    assert ours > 88


@pytest.mark.slow
def test_a_difference_that_is_not_there_is_rarely_found():
    values, shares = lump("paper")
    dice = np.random.default_rng(2)
    found = inside = 0
    for _ in range(600):
        a, b = dice.choice(values, (2, 5), p=shares)
        found += unpaired(a, b).p <= 0.05
        made = difference([(a, b)], Bounds()).interval
        inside += made.low <= 0 <= made.high
    assert found / 600 <= 0.065
    assert inside / 600 >= 0.93


PAIRED_TRUTHS = [(0.05, 0.15), (0.1, 0.0), (0.3, 0.5), ("paper", "published"), ("published", "published")]


def drawn_arm(kind, shares):
    if isinstance(kind, float):
        return 100.0 * (shares > 1 - kind)
    values, weights = lump(kind)
    return values[np.minimum(np.searchsorted(np.cumsum(weights), shares), len(values) - 1)]


def truth_of(kind):
    return 100 * kind if isinstance(kind, float) else float(np.dot(*lump(kind)))


def difference_covered(kinds, count, alike, repeats):
    """How often, in percent, a verdict's interval holds the truth; other games where `alike` is None."""
    dice, hits = np.random.default_rng(11), 0
    bounds = {"nle": Bounds(binary=isinstance(kinds[0], float))}
    for _ in range(repeats):
        shares = stats.norm.cdf(dice.multivariate_normal([0, 0], [[1, alike or 0], [alike or 0, 1]], count))
        ours, theirs = (drawn_arm(kind, shares[:, side]) for side, kind in enumerate(kinds))
        made = compare(
            scores(ours), scores(theirs, first=100 if alike is None else 0), bounds=bounds
        ).interval
        hits += made.low - 1e-9 <= truth_of(kinds[0]) - truth_of(kinds[1]) <= made.high + 1e-9
    return 100 * hits / repeats


@pytest.mark.parametrize("alike", [None, 0.5])
def test_differences_of_solved_or_not_are_covered(alike):
    # 300 repeats: good to about two and a half points
    assert difference_covered((0.05, 0.15), 8, alike, 300) >= 92.5


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("alike", [None, 0.0, 0.5])
@pytest.mark.parametrize("count", [8, 10, 20])
@pytest.mark.parametrize("kinds", PAIRED_TRUTHS, ids=lambda kinds: f"{kinds[0]}-{kinds[1]}")
def test_coverage_of_differences(kinds, count, alike):
    # too wide is honest, too short is not; the lowest are pairs of strongly alike solved-or-not scores
    assert difference_covered(kinds, count, alike, 500) >= 89


def test_spending_adds_up_to_alpha():
    assert spending(1.0) == pytest.approx(0.05)
    assert spending(0.0) == 0.0
    assert spending(0.25) < 0.0001 < spending(0.5) < 0.01


@pytest.mark.slow
def test_looking_often_finds_no_more_than_one_in_twenty():
    dice = np.random.default_rng(7)
    values, shares = lump("published")
    wrong = naive = 0
    for _ in range(300):
        a, b = dice.choice(values, (2, 50), p=shares)
        before, clear, once = None, False, False
        for count in (10, 20, 30, 40, 50):
            p = unpaired(a[:count], b[:count]).p
            before = look(p, count, 50, before)
            clear, once = clear or before.clear, once or p <= 0.05
        wrong, naive = wrong + clear, naive + once
    assert wrong / 300 <= 0.06
    assert naive > wrong


def test_a_clear_difference_stops_early():
    first = look(0.00001, 25, 50)
    assert (first.clear, first.stop, first.share) == (True, True, 0.5)
    assert look(0.04, 25, 50).stop is False
    last = look(0.04, 50, 50, look(0.3, 25, 50))
    assert last.stop
    assert last.spent == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("short", "long", "claimed"),
    [
        (
            [30.0 + n for n in range(5)],
            range(20),
            False,
        ),  # five draws on one side of a median: one case in sixteen
        ([30.0 + n for n in range(6)], range(20), True),
        ([30.0 + n for n in range(5)] + [1.0], range(20), False),
        ([30.0 + n for n in range(5)], range(10), True),  # twice as many is not lopsided
        ([30.0 + n for n in range(10)] + [1.0], range(30), True),
    ],
)
def test_few_draws_against_many_must_lie_on_one_side_of_their_median(short, long, claimed):
    ours, theirs = np.array(short, float), np.array(list(long), float)
    for first, second in ((ours, theirs), (theirs, ours)):
        found = independent_order([Stratum(first, second, 1 / len(first), 1 / len(second))])
        assert (found.p <= 0.05) is claimed
