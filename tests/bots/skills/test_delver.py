"""The player without a model on games of NetHack itself."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from balrog_rag.bots.nethack.delver import delver
from balrog_rag.envs.nethack.game import NetHackEngine
from balrog_rag.episode import journal
from balrog_rag.results.run_folder import journal_path
from balrog_rag.run.replay import verify
from tests.envs.support import nethack

DIGGER = ("env.tasks=[nle/NetHackChallenge-v0]", "agent=delver", "env.character=arc-dwa-law-mal")


def keys_of(seed: int, character: str, limit: int) -> tuple[list[int], int]:
    """The keys of a game's first presses, and the deepest level."""
    engine = NetHackEngine(nethack(seed, character), None)
    engine.start()
    program = delver(engine.arrays)
    pressed, deepest = [next(program)], 1
    while len(pressed) < limit and not engine.press(pressed[-1]).ended:
        deepest = max(deepest, int(engine.arrays["blstats"][12]))
        pressed.append(program.send(engine.arrays))
    engine.close()
    return pressed, deepest


def test_a_game_is_a_function_of_its_seed():
    first, second = (keys_of(5, "val-hum-neu-fem", 1500)[0] for _ in range(2))
    assert first == second
    assert first != keys_of(6, "val-hum-neu-fem", 1500)[0]


def test_an_archeologist_digs_deep():
    depths = [keys_of(seed, "arc-dwa-law-mal", 2000)[1] for seed in range(3)]
    assert max(depths) > 10


def test_a_game_cut_in_the_middle_goes_on_as_it_was(specs: Callable, player: Callable, tmp_path: Path):
    (spec,) = specs(*DIGGER, steps=None)
    end = asyncio.run(player()(spec))
    path = journal_path(tmp_path / "run", spec.episode)
    whole, lines = journal.read(path).steps, path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[: len(lines) // 2], lines[len(lines) // 2][:40]]))
    again = asyncio.run(player()(spec))
    assert (again.outcome, again.steps, again.facts) == (end.outcome, end.steps, end.facts)
    assert journal.read(path).steps == whole


@pytest.mark.slow
def test_fifty_games_are_played_to_their_ends_and_replayed(specs: Callable, player: Callable, tmp_path: Path):
    for spec in specs(DIGGER[0], "agent=delver", episodes=50, steps=None):
        end = asyncio.run(player()(spec))
        assert end.outcome in ("died", "steps", "no_progress", "escaped")
        assert asyncio.run(verify(journal_path(tmp_path / "run", spec.episode))).complete
