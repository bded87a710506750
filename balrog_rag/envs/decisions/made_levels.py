"""Levels that are described, not reached by play, with the squares that are their goal."""

from typing import NamedTuple

from balrog_rag.envs.nethack.world import terrain as t

STATES = 30
"""Games of each made situation: the level with so many seeds."""
_WIDTH, _HEIGHT = 78, 20
_HEAD = "MAZE: \"mylevel\",' '\nFLAGS: noteleport,hardfloor{flags}\nGEOMETRY:center,center\n"


class MadeLevel(NamedTuple):
    """A level, the characters that play it in turn, and the squares that count as its goal."""

    map: str
    contents: str
    goal: tuple[int, int, int, int]
    """Left, top, right, bottom, in columns and rows of the map."""
    characters: tuple[str, ...]
    flags: str = ""
    pits: frozenset[int] = frozenset((t.PIT,))

    @property
    def description(self) -> str:
        """The level for MiniHack."""
        return f"{_HEAD.format(flags=self.flags)}MAP\n{self.map.strip(chr(10))}\nENDMAP\n{self.contents}"

    def inside(self, place: int) -> bool:
        """Whether a square of the screen belongs to the goal."""
        lines = self.map.strip("\n").splitlines()
        # NetHack puts a centred map at an odd column and row.
        left = (2 + (_WIDTH - 2 - max(map(len, lines))) // 2 | 1) - 1
        top = 2 + (_HEIGHT - 2 - len(lines)) // 2 | 1
        x, y = place % t.WIDTH - left, place // t.WIDTH - top
        return self.goal[0] <= x <= self.goal[2] and self.goal[1] <= y <= self.goal[3]


_FIGHTERS = ("val-hum-neu-fem", "sam-hum-law-mal", "bar-orc-cha-mal", "cav-gno-neu-fem", "val-dwa-law-fem")

SHOP = MadeLevel(
    """
--------------------
|........|.........|
|........|.........|
|........+.........|
|........|.........|
|........|.........|
--------------------
""",
    """REGION:(1,1,8,5),lit,"ordinary"
REGION:(10,1,18,5),lit,"tool shop"
DOOR:open,(9,3)
BRANCH:(5,2,8,4),(0,0,0,0)
""",
    (11, 1, 18, 5),
    ("arc-hum-law-mal", "arc-gno-neu-fem", "arc-dwa-law-mal", "arc-hum-neu-fem", "arc-dwa-law-fem"),
)
DRAWBRIDGE = MadeLevel(
    """
}}}}}}}}}}}}}
}}---------}}
}}|.......|}}
}}|.......|}}
}}|.......|}}
}}---------}}
}}}}}}}}}}}}}
.............
.............
.............
""",
    """REGION:(0,0,12,9),lit,"ordinary"
DRAWBRIDGE:(6,6),north,closed
BRANCH:(6,8,6,8),(0,0,0,0)
OBJECT:('/',"opening"),(6,8),name:"opening"
OBJECT:('/',"striking"),(6,8),name:"striking"
""",
    (3, 2, 9, 4),
    _FIGHTERS,
)
SOKOBAN = MadeLevel(
    """
---------------
|.....--------|
|.....|      ||
|............||
|.....--------|
|.....|       |
---------------
""",
    """REGION:(0,0,14,6),lit,"ordinary"
STAIR:(12,3),down
TRAP:"pit",(8,3)
OBJECT:('`',"boulder"),(4,2)
BRANCH:(1,1,3,2),(0,0,0,0)
""",
    (12, 3, 12, 3),
    _FIGHTERS,
    ",premapped",
)
FALLING_ROCKS = MadeLevel(
    """
------
|....----------
|.............|
|....----------
------
""",
    """REGION:(0,0,14,4),lit,"ordinary"
STAIR:(13,2),down
TRAP:"falling rock",(6,2)
TRAP:"falling rock",(7,2)
TRAP:"falling rock",(9,2)
TRAP:"falling rock",(10,2)
OBJECT:('[',"dwarvish iron helm"),(3,2),uncursed,0
BRANCH:(3,2,3,2),(0,0,0,0)
""",
    (13, 2, 13, 2),
    ("wiz-hum-neu-fem", "hea-gno-neu-mal", "tou-hum-neu-fem", "arc-hum-law-mal", "rog-hum-cha-fem"),
)
