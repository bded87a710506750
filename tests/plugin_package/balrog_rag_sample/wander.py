"""A program for balrog_rag: walk a number of steps, picking apples, until something happens."""

from balrog_rag.contracts.data import Parameter
from balrog_rag.contracts.programs import Begin, Program, ProgramFailed, ProgramKind

WAYS = ("north", "south", "east", "west")


def wander(begin: Begin) -> Program:
    """Its screens are observations, since the orchard offers programs nothing else."""
    way, steps = str(begin.arguments["way"]), int(begin.arguments["steps"])
    screen, picked = begin.screen, 0
    for _ in range(steps):
        before = screen.numbers["x"], screen.numbers["y"]
        screen = yield way
        if (screen.numbers["x"], screen.numbers["y"]) == before:
            raise ProgramFailed(f"a fence is in the way after {picked} apples")
        if "apple tree" in screen.text("place"):
            screen = yield "pick"
            picked += 1
    return f"walked {steps} steps {way} and picked {picked} apples"


WANDER = ProgramKind(
    name="wander",
    make=wander,
    says="walk one way, picking the apples you pass",
    parameters=(Parameter("way", "word", choices=WAYS), Parameter("steps", least=1, most=20)),
    games=("orchard",),
)
