"""The random player: any advertised action that the game takes, all equally often."""

from random import Random

from balrog_rag.contracts.programs import Begin, Program, ProgramKind


def play(begin: Begin) -> Program:
    """Choose by dice of its own, whatever the game shows."""
    actions = tuple(action for action in begin.view.plain if action in begin.view.accepted)
    dice = Random(begin.seed)
    while True:
        yield dice.choice(actions)


RANDOM = ProgramKind(name="random", make=play, plays=True)
