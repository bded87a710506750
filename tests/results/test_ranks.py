"""Ranks of a board: narrow if scores allow it, and correct for shared games and worlds."""

import numpy as np
import pytest

from balrog_rag.results.leaderboard.ranks import ranks
from balrog_rag.results.statistics.all_pairs import adjusted_p
from balrog_rag.results.statistics.units import Score


def texts(rows):
    return [rank.text for rank in ranks(rows)]


def board(seed, count=25):
    """Six rows that play an increasing share of their games like a strong model."""
    rng = np.random.default_rng(seed)
    weak = [0.0, 0.0, 0.0, 1.8, 1.8, 2.1]
    strong = [1.8, 2.1, 2.9, 3.7, 5.1, 7.0, 9.8, 12.6, 17.9]
    return [
        [Score(rng.choice(strong if rng.random() < share else weak), "nle", "T") for _ in range(count)]
        for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    ]


def test_twenty_five_episodes_narrow_the_ranks_of_six_rows():
    found = [ranks(board(seed)) for seed in range(4)]
    assert np.mean([rank.last - rank.first + 1 for placed in found for rank in placed]) < 4.9
    for placed in found:
        assert all(rank.first <= 6 - place <= rank.last for place, rank in enumerate(placed))


def test_five_episodes_tell_six_rows_apart_no_further_than_relabellings_can():
    assert set(texts(board(1, count=5))) == {"1 to 6"}


def test_rows_in_the_same_games_are_compared_game_by_game():
    hard = np.random.default_rng(3).exponential(5, 20)
    noise = np.random.default_rng(4).normal(0, 0.1, (3, 20))
    same, other = (
        [
            [Score(hard[game] + 0.4 * row + noise[row, game], "nle", "T", f"{name * row}{game}")
             for game in range(20)]
            for row in range(3)
        ]
        for name in ("", "own")
    )  # fmt: skip
    assert texts(same) == ["3", "2", "1"]
    assert texts(other) == ["1 to 3"] * 3


@pytest.mark.parametrize("worlds", [True, False])
def test_games_of_one_world_count_once(worlds):
    """Ten tasks that end alike in each of seven worlds are seven draws, not seventy."""
    draws = np.random.default_rng(5).exponential(4, (2, 7)) + np.array([[0.0], [2.5]])
    rows = [
        [Score(value, "nethackers", f"T{task}", f"{row}/{world}/{task}", f"{row}/{world}" if worlds else "")
         for world, value in enumerate(draws[row]) for task in range(10)]
        for row in range(2)
    ]  # fmt: skip
    ((_, p),) = adjusted_p(rows).items()
    assert (p > 0.1) == worlds


def test_rows_that_share_no_game_are_not_told_apart():
    rows = [[Score(float(row), "nle", f"T{row}") for _ in range(20)] for row in range(2)]
    assert texts(rows) == ["1 to 2", "1 to 2"]
    assert texts([[], rows[0]]) == ["1 to 2", "1 to 2"]
    assert texts(rows[:1]) == ["1"]
