"""Held progression: a level counts if the hero survives there, comes back up, or holds a deeper one."""

import pytest

from balrog_rag.envs.nethack.held_progression import AchievementCount, HeldProgression
from balrog_rag.envs.nethack.progression import table


def held(*moments: tuple[int, int], level: int = 1, gap: bool = False) -> float | None:
    """The held progression after these depths and turns."""
    counted = HeldProgression()
    for depth, turn in [(1, 1), *moments]:
        counted.see({"depth": depth, "turn": turn, "experience_level": level}, gap)
    return counted.result({})


def worth(achievement: str) -> float:
    return pytest.approx(100 * table()[achievement])


def test_a_fall_to_ones_death_is_worth_nothing():
    """BALROG pays 46.6 % for it."""
    assert held((10, 300), (20, 500), (25, 700), (25, 790)) == 0.0


def test_a_level_is_held_after_five_hundred_turns_of_life():
    assert held((5, 300), (5, 799)) == 0.0
    assert held((5, 300), (5, 800)) == worth("Dlvl:5")
    assert held((5, 300), (9, 700), (9, 800)) == worth("Dlvl:5")


def test_a_level_is_held_by_coming_back_up_from_it():
    assert held((5, 300), (4, 310), (4, 320)) == worth("Dlvl:5")
    assert held((5, 300), (9, 310), (8, 320)) == worth("Dlvl:9")


def test_a_deeper_level_that_is_held_holds_all_above_it():
    assert held((6, 300), (7, 310), (7, 810)) == worth("Dlvl:7")


def test_experience_counts_as_it_is():
    assert held((12, 300), (12, 310), level=8) == worth("Xp:8")


def test_the_zeros_of_a_game_that_is_over_say_nothing():
    assert held((5, 300), (0, 0)) == 0.0


def test_what_was_not_recorded_is_not_guessed():
    """Levels may have been left upwards and come back to between two entries of an old journal."""
    assert held((9, 300), (9, 400), gap=True) is None
    assert held((9, 300), (9, 900), gap=True) == worth("Dlvl:9")
    assert held((1, 300), gap=True) == 0.0


def test_achievements_are_those_of_the_log_without_the_two_of_every_short_game():
    named = ["completed Sokoban", "killed Medusa", "was blind all game", "wore no armor all game"]
    assert AchievementCount().result({"xlogfile_from": "game", "achievements": named}) == 2.0
    assert AchievementCount().result({"xlogfile_from": "stats", "achievements": []}) is None
