"""Shares of two arms: the exact test against its definition and against SciPy's, and its power."""

from itertools import product

import pytest
from scipy.stats import CensoredData, barnard_exact, fisher_exact, logrank

from balrog_rag.results.arms import load_arms
from balrog_rag.results.report.details import preventable_sentence
from balrog_rag.results.statistics.censored import CensoredGame, log_rank_p
from balrog_rag.results.statistics.shares import compare_censored, compare_shares, exact_p, fisher, power


def test_the_statistic_is_fishers() -> None:
    table = fisher(6, 9)
    for ours, theirs in product(range(7), range(10)):
        wanted = fisher_exact([[ours, 6 - ours], [theirs, 9 - theirs]])[1]
        assert table[ours, theirs] == pytest.approx(wanted)


def test_the_test_keeps_its_level_and_finds_more_than_fishers() -> None:
    assert exact_p(0, 5, 5, 5) == pytest.approx(2 * 0.5**10)
    for ours, theirs in ((3, 7), (1, 6), (5, 5)):
        rows = [[ours, 10 - ours], [theirs, 12 - theirs]]
        assert exact_p(ours, 10, theirs, 12) <= fisher_exact(rows)[1] + 1e-9
    for share in (0.05, 0.3, 0.5, 0.9):
        assert power(share, share, 12, 15) <= 0.05


def test_it_agrees_with_barnards_where_those_agree() -> None:
    assert exact_p(12, 40, 25, 40) == pytest.approx(barnard_exact([[12, 25], [28, 15]]).pvalue, abs=1e-3)


def test_forty_against_forty_detect_a_fall_from_63_to_31() -> None:
    assert power(0.31, 0.63, 40, 40) >= 0.8 > power(0.33, 0.63, 40, 40)
    found = compare_shares(12, 40, 25, 40)
    assert (found.p < 0.05, found.test) == (True, "Boschloo")
    assert found.sentence.startswith("12 of 40 (30%) against 25 of 40 (62%): distinguishable")
    assert compare_shares(0, 2, 0, 2).sentence.endswith("p = 1 (Boschloo's exact test).")
    assert compare_shares(1, 2, 1, 2).sentence.endswith("too few episodes to detect a fall from 50%.")


def test_thousands_of_episodes_are_quick() -> None:
    found = compare_shares(1000, 3000, 1200, 3000)
    assert (found.test, found.p < 1e-6, found.detects) == ("Fisher", True, 0.36)


def test_games_cut_off_by_a_lack_of_progress_are_not_counted_as_saved(new_run, tmp_path) -> None:
    for name, agent, count, outcome in (("still", "random", 4, "no_progress"), ("bold", "naive", 3, "died")):
        run = new_run(f"runs/{name}", agent=agent)
        for number in range(count):
            lived = [{}] * (3 if outcome == "died" else 1)
            run.nethack(number, lived, outcome=outcome, death="starved to death")
    arms = load_arms([tmp_path / "runs"])
    bold, still = sorted(arms, key=lambda arm: arm.name)
    assert preventable_sentence(still, bold).startswith(
        "still against bold, preventable ends: 0 of 4 (4 cut off) against 3 of 3 (0 cut off): "
        "not distinguishable, p = 1 (log-rank test"
    )


def test_games_cut_off_late_count_as_long_as_they_lasted() -> None:
    died = [CensoredGame(time, True, False) for time in range(1, 9)]
    late, early = ([CensoredGame(time, False, True)] * 8 for time in (100.0, 1.5))
    assert log_rank_p(late, died) < 0.01
    assert log_rank_p(early, died) > 0.2
    assert compare_censored(died, died).test == "Boschloo"


def test_the_log_rank_test_is_scipys_where_arms_are_large() -> None:
    """SciPy's is the normal approximation alone; labels are exchanged besides up to 200 games."""
    ours = [CensoredGame(float(n % 17 + 1), n % 3 == 0, n % 3 != 0) for n in range(150)]
    theirs = [CensoredGame(float(n % 23 + 2), n % 2 == 0, n % 2 != 0) for n in range(120)]
    sides = [
        CensoredData(uncensored=[g.time for g in arm if g.met], right=[g.time for g in arm if not g.met])
        for arm in (ours, theirs)
    ]
    assert log_rank_p(ours, theirs) == pytest.approx(logrank(*sides).pvalue, rel=1e-6)
    few = log_rank_p(ours[:6], theirs[:6])
    assert few >= 2 / 924
