"""The delver without some of its knowledge, move by move: what `agent=reader` plays with."""

from balrog_rag.bots.nethack.delver.switches import listed
from balrog_rag.contracts.data import Parameter
from balrog_rag.contracts.programs import Begin, Program, ProgramKind
from balrog_rag.envs.nethack import WHOLE

KEPT = (
    *("dig", "prayer", "elbereth"),  # parts of the last two are withheld
    *("collecting", "shopping", "murder"),  # what to fetch
    *("listening", "seeking", "burrowing", "near_stairs"),  # where to go
    *("larder", "rearm"),  # parts of eating and of wielding, which are withheld
    "training",  # due once or twice in a game, when the game itself says so
)
"""Switches that stay on: the plan of the game, which no passage about one moment states."""

WITHHELD = tuple(each for each in listed() if each.name not in KEPT)
"""The rules that are followed only while they are shown."""


def make(begin: Begin) -> Program:
    """Create the program of one call."""
    from balrog_rag.bots.nethack.reader.reading_program import follow_rules  # loaded with the first game

    return follow_rules(begin)


FOLLOW_RULES = ProgramKind(
    name="follow_rules",
    make=make,
    says="let a fixed player make one move by these of its rules",
    parameters=(Parameter("rules", "text"),),
    games=WHOLE,
    switches=WITHHELD,
    interruptible=False,
)
