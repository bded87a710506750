"""The player without a model on games of NetHack itself."""

from balrog_rag.envs.nethack.delver import delver
from balrog_rag.envs.nethack.nethack import NetHackEngine
from tests.envs.support import nethack


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
