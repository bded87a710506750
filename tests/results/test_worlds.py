"""Games that share a world are one draw: in intervals, in tests, and in plans."""

import numpy as np
import pytest

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.results.episodes import Episode
from balrog_rag.results.scoring import outlook
from balrog_rag.results.scoring import scores as scores_of
from balrog_rag.results.statistics.interval import mean_interval
from balrog_rag.results.statistics.units import Bounds, Score
from balrog_rag.results.statistics.verdict import compare

WORLDS, TASKS = 15, 12


def arm(dice, first=0, world=True, spread=4.0):
    """A score for each task in each world; a world's games have equal scores."""
    level = 25 + spread * dice.normal(size=WORLDS)
    return [
        Score(float(value), "board", f"task{task}", f"{first + n}/{task}", str(first + n) if world else "")
        for n in range(WORLDS)
        for task, value in enumerate(level[n] + dice.exponential(6, TASKS) - 6)
    ]


def false_verdicts(shared, world, repeats=60):
    dice = np.random.default_rng(5)
    arms = ((arm(dice, 0, world), arm(dice, 0 if shared else 100, world)) for _ in range(repeats))
    return sum(compare(*pair, bounds={"board": Bounds()}, plan=False).clear for pair in arms) / repeats


@pytest.mark.parametrize("shared", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_false_verdicts_are_rare_where_games_share_worlds(shared):
    assert false_verdicts(shared, world=True) <= 0.06
    assert false_verdicts(shared, world=False, repeats=12) > 0.2


def test_the_interval_of_a_mean_resamples_worlds():
    dice = np.random.default_rng(3)
    held = {True: 0, False: 0}
    for _ in range(120):
        played = arm(dice)
        for world in held:
            taken = played if world else [Score(s.value, s.env, s.task, s.game) for s in played]
            found = mean_interval(taken, Bounds())
            held[world] += found.low <= 25 <= found.high
    assert held[True] / 120 >= 0.93
    assert held[False] / 120 < 0.75


def test_a_sentence_counts_worlds():
    dice = np.random.default_rng(1)
    made = compare(arm(dice), arm(dice), bounds={"board": Bounds()})
    assert f"n = {WORLDS} pairs of worlds (180 and 180 episodes)" in made.sentence
    apart = compare(arm(dice), arm(dice, 100), bounds={"board": Bounds()})
    assert f"n = {WORLDS} and {WORLDS} worlds (180 and 180 episodes)" in apart.sentence


def episode(number, identity, progression=0.25):
    game = GameSpec("nethackers", identity, Seeds(number, number, None))
    return Episode(f"nethackers/{identity}/{number:02}", game, {}, {}, {}, "", "", progression=progression)


def test_the_sexes_of_an_identity_and_all_identities_share_a_numbered_world_of_nethackers():
    identities = kind_of("nethackers").sampling.listed[:6]
    played = [episode(n, name, 0.2 + n / 100) for n in range(5) for name in identities]
    assert len({score.game for score in scores_of(played)}) == len(played)
    assert {score.world for score in scores_of(played)} == {"0", "1", "2", "3", "4"}
    assert outlook(played).startswith("5 worlds: 22.00 % (")
    one_task = [each for each in played if each.task == identities[0]]
    assert outlook(one_task).startswith("5 episodes: ")
    one_world = [each for each in played if each.game.seeds.core == 0]
    assert outlook(one_world).endswith("All of them share one world: results do not generalize to others.")
