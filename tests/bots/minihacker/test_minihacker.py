"""The player of MiniHack in real games: mazes, passages, fights, lava, boulders."""

import pytest

from balrog_rag.bots.nethack.minihacker.hero import actions_by_key
from balrog_rag.contracts.data import ProgramPlayer
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.programs import program_of
from balrog_rag.workers.host import HostedGame
from tests.bots.minihacker.made import level
from tests.envs.support import minihack

PLAYER = ProgramPlayer("minihacker", {}, 0)


def played(task: str, seed: int, **options: str) -> tuple[HostedGame, str, list[str]]:
    """A whole game: the game, how it ended, and the actions taken."""
    game, pressed = HostedGame(minihack(task, seed, **options)), list[str]()
    ended = ""
    while not ended:
        done = game.run(PLAYER, 100)
        ended = done.ended
        pressed += map(str, done.pressed)
    game.close()
    return game, ended, pressed


@pytest.mark.parametrize("actions", ["full", "balrog"])
@pytest.mark.parametrize(
    ("task", "seed"),
    [
        ("MazeWalk-9x9", 1100),
        ("MazeWalk-15x15", 1100),
        ("Corridor-R3", 1000),
        ("CorridorBattle-Dark", 1001),
        ("Quest-Medium", 1004),
    ],
)
def test_games_are_solved_with_the_tasks_own_actions(task: str, seed: int, actions: str) -> None:
    games = [played(task, number, actions=actions) for number in range(seed, seed + 3)]
    assert sum(ended == "solved" for _, ended, _ in games) >= 2
    for game, _, pressed in games:
        assert set(pressed) <= set(game.view.accepted)
        assert len(pressed) <= 100


def test_a_pile_is_kicked_apart_and_lava_frozen() -> None:
    _, ended, pressed = played("Quest-Easy", 1004)
    assert ended == "solved"
    assert pressed.count("pickup") >= 3
    assert {"kick", "zap"} <= set(pressed) or {"kick", "apply"} <= set(pressed)


def test_two_plays_of_a_game_press_the_same() -> None:
    assert played("Quest-Medium", 1102)[2] == played("Quest-Medium", 1102)[2]


def test_boulders_are_pushed_onto_fountains(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("BALROG_RAG_CACHE", str(tmp_path))
    folder = tmp_path / "boxoban" / "hard"
    folder.mkdir(parents=True)
    (folder / "000.txt").write_text("".join(f"; {number}\n{level(number, 25)}\n" for number in range(3)))
    _, ended, pressed = played("MiniHack-Boxoban-Hard-v0", 1)
    assert ended == "solved"
    assert set(pressed) <= {"north", "south", "east", "west"}


def test_only_accepted_actions_have_a_key() -> None:
    game = HostedGame(minihack("MazeWalk-9x9", 1, actions="balrog"))
    assert sorted(map(chr, actions_by_key(game.view))) == sorted("hjklyubn")
    game.close()


def test_it_plays_minihack_only() -> None:
    from balrog_rag.agents import refusal
    from tests.envs.support import nethack

    assert "plays minihack only" in refusal("minihacker", nethack())
    assert not refusal("minihacker", minihack("MazeWalk-9x9"))


@pytest.mark.parametrize("agent", ["minihacker", "best"])
def test_options_are_refused(agent: str) -> None:
    with pytest.raises(ConfigError, match=f"agent.options.x: agent={agent} takes no options"):
        program_of(agent).check({"x": 1})
