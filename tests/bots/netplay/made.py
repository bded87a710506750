"""Levels written for tests, as MiniHack's level descriptions, played with skills through the whole host."""

from typing import Any

from balrog_rag.contracts.data import GameSpec, Seeds, Transition
from balrog_rag.workers.host import HostedGame
from tests.bots.skills.made import HEAD
from tests.bots.skills.made import ROOM as BARE_ROOM

ROOM = (
    BARE_ROOM
    + """NON_DIGGABLE:(0,0,10,4)
BRANCH:(1,1,1,1),(0,0,0,0)
"""
)
HOUSE = """MAP
-----------
|....|....|
|....+....|
|....|....|
-----------
ENDMAP
REGION:(0,0,10,4),lit,"ordinary"
NON_DIGGABLE:(0,0,10,4)
DOOR:{door},(5,2)
BRANCH:(1,1,1,1),(0,0,0,0)
"""


class Played:
    """A game on such a level, and the result of its last action."""

    def __init__(self, spec: GameSpec) -> None:
        self.game = HostedGame(spec)
        self.last: Transition = self.game.start

    def do(self, action: str) -> str:
        """Take an action; return why it stopped."""
        assert self.game.view.takes(action), action
        self.last = self.game.step(action)
        return self.last.stopped

    def part(self, name: str) -> str:
        return self.last.observation.text(name)

    def number(self, name: str) -> int:
        return self.last.observation.numbers[name]

    @property
    def here(self) -> tuple[int, int]:
        return self.number("x"), self.number("y")

    def at(self, word: str) -> tuple[int, int]:
        """The position of something according to the description."""
        lines = [
            line
            for part in ("rooms", "close monsters", "distant monsters")
            for line in self.part(part).splitlines()
        ]
        line = next(line for line in lines if word in line and "(" in line)
        x, y = line[line.index("(") + 1 : line.index(")")].split(", ")
        return int(x), int(y)


def made(
    description: str,
    character: str = "sam-hum-law-fem",
    seed: int = 1,
    programs: tuple[str, ...] = (),
    **options: Any,
) -> Played:
    """Start a game on the level of this description; it is closed when the test process ends."""
    chosen = {
        "actions": "skills",
        "character": character,
        "des_file": HEAD + description,
        "autopickup": False,
        "no_progress": 0,
        "more_skills": True,
        **options,
    }
    return Played(
        GameSpec("minihack", "MiniHack-Skill-Custom-v0", Seeds(seed, seed), 10**6, chosen, programs)
    )
