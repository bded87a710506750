"""A player of MiniHack without a model: it explores, fights, crosses lava, and solves Boxoban by search."""

from balrog_rag.contracts.programs import Begin, Program, ProgramKind


def make(begin: Begin) -> Program:
    """Create the player as a program; it presses only keys that the task's actions have."""
    from balrog_rag.bots.nethack.minihacker.play_level import play  # loaded with the first game

    return play(begin.screen, begin.view)


MINIHACKER = ProgramKind(name="minihacker", make=make, games=("minihack",), plays=True)
