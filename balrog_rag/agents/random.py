"""The random player: any advertised action that the game accepts, uniformly."""

from random import Random

from balrog_rag.contracts.programs import Begin, Program, ProgramKind


def play(begin: Begin) -> Program:
    """Choose at random, whatever the game shows."""
    actions = tuple(action for action in begin.view.plain if action in begin.view.accepted)
    rng = Random(begin.seed)
    while True:
        yield rng.choice(actions)


RANDOM = ProgramKind(name="random", make=play, plays=True, unlisted_keys=False)
