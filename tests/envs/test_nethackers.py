"""The board NetHackers: its games by our engine and by its own package, and its scores by both.

What needs the package (`pip install 'balrog_rag[autoascend]'`) is skipped where it is not.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from balrog_rag.config.compose import compose
from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import check_game, kind_of
from balrog_rag.envs.nethack.actions import ESC
from balrog_rag.envs.nethack.clock import pin_clock
from balrog_rag.envs.nethackers import board
from balrog_rag.envs.nethackers.game import make
from balrog_rag.envs.nethackers.standing import Standing, figures
from balrog_rag.episode import journal
from balrog_rag.episode.journal import End, Step
from balrog_rag.results.arms import load_arms
from balrog_rag.results.leaderboard.others import rules_sections
from balrog_rag.results.report.details import protocol_section
from balrog_rag.results.run_folder import journal_path
from balrog_rag.results.tally import read_episode
from balrog_rag.run.begin import planned
from balrog_rag.run.replay import verify
from tests.bots.test_guests import WALKER, guest
from tests.results.conftest import RunBuilder

MONK = "mon-hum-neu-mal"


def package(module: str) -> Any:
    """A module of the package nethackers."""
    return pytest.importorskip(module, reason="the extra [autoascend] (nethackers) is not installed")


def spec(identity: str = MONK, number: int = 0) -> GameSpec:
    kind = kind_of("nethackers")
    return GameSpec("nethackers", identity, Seeds(number, number), kind.max_steps(identity))


def theirs(identity: str, number: int):
    """A game in the package's own environment, with a pinned clock as in ours; begun."""
    environment = package("nethackers.arena.environment")
    seeds = package("nethackers.arena.seeds")
    made = environment.make_environment(1_000_000, 10_000, identity)
    trajectory = seeds.trajectory_spec("public", "local", number)
    pin_clock(made._env.nethack, trajectory.core_seed)
    made.reset(trajectory)
    return made


def keyed(game, keys: list[int]) -> list[int]:
    """Keys as the board's programs name them."""
    from nle import nethack

    return [list(map(int, nethack.ACTIONS)).index(key) for key in keys]


def test_its_figures_are_the_packages() -> None:
    objectives = package("nethackers.hub.objectives")
    progress = package("nethackers.arena.progress")
    seeds = package("nethackers.arena.seeds")
    assert objectives.IDENTITIES == board.IDENTITIES
    assert dict(board.worths()) == progress.ACHIEVEMENTS
    for identity in board.IDENTITIES:
        declared = objectives.CATALOG[identity]
        assert declared.batch == tuple((number, identity) for number in board.published())
        limits = board.declared()
        assert (declared.max_steps, declared.no_progress_timeout) == (
            limits.max_steps,
            limits.no_progress_timeout,
        )
    for number in (*board.published(), 1000):
        their = seeds.trajectory_spec("public", "local", number)
        assert board.dice(number) == (
            their.core_seed,
            their.display_seed,
            their.level_seed,
            their.bot_seed,
        )


def test_the_dice_of_a_published_game() -> None:
    assert board.dice(0) == (
        7595664395818056751, 2284828865422646151, 922769960031027999, 6228058556465019210,
    )  # fmt: skip


def test_env_nethackers_is_every_published_game() -> None:
    games = [episode.game for episode in planned(Path(), compose(["env=nethackers", "agent=delver"])).specs]
    assert len({(game.task, game.seeds.core) for game in games}) == len(games) == 73 * 15
    for game in games:
        check_game(game)
        assert game.seeds.core in board.published()


@pytest.mark.parametrize("number", [0, 3])
def test_a_game_is_the_packages_to_the_last_key(
    specs: Callable, player: Callable, tmp_path: Path, number: int
) -> None:
    """What the delver pressed here is pressed there: the same screens, the same score."""
    (episode,) = specs(
        f"env.tasks=[nethackers/{MONK}]",
        "env.seeding=list",
        f"env.seeds=[{number}]",
        "agent=delver",
        steps=None,
    )
    end = asyncio.run(player()(episode))
    path = journal_path(tmp_path / "run", episode.episode)
    keys = [key for step in journal.read(path).steps for key in step.pressed]
    read = read_episode(path)
    assert end.outcome == "died"
    assert all(isinstance(key, int) for key in keys)

    game, there = make(spec(number=number)), theirs(MONK, number)
    game.reset()
    over = False
    for ours, their in zip(keys, keyed(game, keys), strict=True):
        assert not over
        game.press(ours)
        seen, _, over, _ = there.step(their)
        if not over:
            for name in ("glyphs", "blstats", "tty_chars", "inv_strs", "misc"):
                assert np.array_equal(game.screen[name], seen[name]), name
    scored = there.metrics()
    assert over
    assert read.progression == scored.progress
    assert read.highest == scored.milestone
    assert read.last["turn"] == scored.turns
    assert read.ended_by.partition(", while ")[0] == scored.cause_of_death
    assert asyncio.run(verify(path)).complete
    game.close()
    there.close()


@pytest.mark.parametrize(
    ("before", "last"), [([], 5_000), ([ord("s")], 5_001), ([ESC, ord("s"), ESC], 5_002)]
)
def test_a_standstill_ends_a_game_where_the_package_ends_it(before: list[int], last: int) -> None:
    """The package says 10,000; NLE counts each key press twice."""
    game, there = make(spec()), theirs(MONK, 0)
    game.reset()
    ended, over, pressed = "", False, 0
    for key in (*before, *[ESC] * 6_000):
        ended = game.press(key).ended
        _, _, over, _ = there.step(keyed(game, [key])[0])
        pressed += 1
        assert bool(ended) == over
        if over:
            break
    assert (ended, pressed) == ("no_progress", last)
    assert there.metrics().progress == 0
    game.close()
    there.close()


def test_what_the_board_counts() -> None:
    """Quest homes by branch and level, the Astral Plane, ascension; drained levels stay counted."""
    standing, best = Standing(), board.nothing_yet()
    course = [
        ({"depth": 3, "experience_level": 6, "branch": 2, "level": 3}, "Xp:6"),
        ({"depth": 14, "experience_level": 4, "branch": 3, "level": 1}, "Home 1"),
        ({"depth": 20, "experience_level": 4, "branch": 3, "level": 7}, "Dlvl:20"),
        ({"depth": 18, "experience_level": 4, "branch": 3, "level": 5}, "Home 5"),
        ({"depth": 60, "experience_level": 4, "branch": 1, "level": 40}, "Home 5"),
        ({"depth": -1, "experience_level": 14, "branch": 7, "level": 5}, "Home 5"),
        ({"depth": -5, "experience_level": 14, "branch": 7, "level": 1}, "Astral Plane"),
    ]
    for numbers, reached in course:
        board.count(best, numbers)
        standing.see(best)
        assert (standing.reached, standing.value) == (reached, board.worths()[reached])
    standing.see(best, ended="ascended")
    assert (standing.reached, standing.value) == ("You ascend t", 1.0)


def test_it_is_counted_as_the_package_counts() -> None:
    progress = package("nethackers.arena.progress")
    luck = np.random.default_rng(1)
    for _ in range(200):
        standing, best, their = Standing(), board.nothing_yet(), progress.NetHackProgress()
        for _ in range(12):
            depth, level, branch, place = (
                int(luck.integers(low, high)) for low, high in ((-5, 55), (1, 31), (0, 8), (1, 9))
            )
            blstats = np.zeros(27, np.int64)
            blstats[[12, 18, 23, 24]] = depth, level, branch, place
            their.update({"blstats": blstats}, {})
            numbers = {"depth": depth, "experience_level": level, "branch": branch, "level": place}
            board.count(best, numbers)
            standing.see(best)
            assert (standing.value, standing.reached or None) == (
                their.progression,
                their.highest_achievement,
            )


def test_a_program_that_fails_scores_nothing(specs: Callable, player: Callable, tmp_path: Path) -> None:
    folder = guest(tmp_path / "guest", "raise KeyError('gold')")
    (episode,) = specs(
        f"env.tasks=[nethackers/{MONK}]", "env.seeding=list", "env.seeds=[0]",
        "agent=program", f"agent.options.path={folder}", steps=None,
    )  # fmt: skip
    end = asyncio.run(player()(episode))
    read = read_episode(journal_path(tmp_path / "run", episode.episode))
    assert (end.outcome, read.progression, read.highest) == ("crashed", 0.0, None)
    standing = Standing()
    standing.see({"best_depth": 9})
    assert standing.value > 0
    standing.see({"best_depth": 9}, ended="crashed")
    assert (standing.value, standing.reached) == (0.0, "")


@pytest.mark.slow
@pytest.mark.parametrize("misdeed", ["", "raise KeyError('gold')", "return 400"])
def test_a_program_plays_as_in_the_packages_own_runner(
    specs: Callable, player: Callable, tmp_path: Path, misdeed: str
) -> None:
    """The same dice for the program, too; its failures score nothing on either side."""
    trajectory = package("nethackers.arena.trajectory")
    models = package("nethackers.contracts.models")
    seeds = package("nethackers.arena.seeds")
    folder = guest(tmp_path / "guest", misdeed) if misdeed else WALKER
    (episode,) = specs(
        f"env.tasks=[nethackers/{MONK}]", "env.seeding=list", "env.seeds=[1]",
        "agent=program", f"agent.options.path={folder}", steps=None,
    )  # fmt: skip
    asyncio.run(player()(episode))
    ours = read_episode(journal_path(tmp_path / "run", episode.episode))
    their = trajectory.run_trajectory(
        folder, seeds.trajectory_spec("public", "local", 1), models.Objective(MONK), MONK
    )
    assert (ours.progression, ours.highest, ours.keys) == (their.progress, their.milestone, their.steps)
    assert (their.status == "completed") == (ours.outcome != "crashed") == (not misdeed)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["env.seeding=spread", "env.seeds=[]"], "the board numbers its games; write env.seeding=list"),
        (["env.max_steps.nethackers=500"], "the board ends a game after 1,000,000 key presses, not 500"),
        (["env.character=val-dwa-law-fem"], "env.character: no such option"),
        (["env.autopickup=true"], "env.autopickup: no such option"),
        (["env.no_progress=10"], "env.no_progress: no such option"),
        (["env.tasks=[nethackers/val-dwa-cha-fem]"], "unknown task 'val-dwa-cha-fem' of nethackers"),
    ],
)
def test_what_the_board_does_not_declare_is_refused(words: list[str], line: str) -> None:
    with pytest.raises(ConfigError, match=line.replace("(", r"\(")):
        planned(Path(), compose(["env=nethackers", "agent=delver", *words]))


def played(number: int, percent: float, identity: str = MONK, outcome: str = "died", keys: int = 10):
    return SimpleNamespace(game=spec(identity, number), percent=percent, outcome=outcome, keys=keys)


def test_its_figures_of_a_player() -> None:
    """The mean of identities' means, of those whose published games were all played to their end."""
    monk = [played(number, float(number)) for number in board.published()]
    assert figures([monk]) == ["1", "7.00"]
    assert figures([monk[:8], monk[8:]]) == ["1", "7.00"]
    assert figures([[*monk, played(1000, 100.0)]]) == ["1", "7.00"]
    val = [played(number, 3.0, "val-dwa-law-fem") for number in board.published()]
    assert figures([[*monk, *val]]) == ["2", "5.00"]
    untold = ["0", "unknown: needs 15 published games of an identity"]
    assert figures([monk[:14]]) == untold
    for outcome, keys in (("steps", 500), ("dollars", 10)):
        assert figures([[*monk[:14], played(14, 1.0, outcome=outcome, keys=keys)]]) == untold
    assert figures([[*monk[:14], played(14, 14.0, outcome="steps", keys=1_000_000)]]) == ["1", "7.00"]


def test_a_board_shows_each_identity_beside_the_published_figures(tmp_path: Path) -> None:
    """A game that failed counts 0 in the mean; an identity without all its games is not told."""
    run = RunBuilder(tmp_path / "run", agent="delver")
    for identity, games in ((MONK, 15), ("val-dwa-law-fem", 3)):
        for number in board.published()[:games]:
            outcome = "crashed" if number == 4 else "died"
            step = Step(0, "delver", "delver", "o", numbers={"best_depth": 6}, pressed=(106,))
            run.write(f"nethackers/{identity}/{number:02d}", [step, End(outcome, 1, {})])
    arms = load_arms([tmp_path / "run"])
    (section,) = rules_sections(arms)
    rows = [tuple(row) for row in section.tables[0].rows]
    in_report = protocol_section(arms)
    assert in_report.tables[-1] == section.tables[0]
    assert any("github.com/OlegPapulov/nethacker" in told for told in in_report.sentences)
    mean = f"{100 * board.worths()['Dlvl:6'] * 14 / 15:.2f}"
    assert {("run", "18", "1", mean), (f"run, {MONK}", "15", "1", mean)} <= set(rows)
    untold = "unknown: needs 15 published games of an identity"
    assert ("run, val-dwa-law-fem", "3", "0", untold) in rows
    assert ("AutoAscend, wiz-hum-cha-mal / none †", "15", "1", "6.24") in rows
