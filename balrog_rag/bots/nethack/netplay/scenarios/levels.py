"""The scenarios' levels as MiniHack's level descriptions, and their rooms' positions on the screen."""

from typing import NamedTuple

from balrog_rag.envs.nethack.world.terrain import spot

_HEAD = """MAZE: "mylevel",' '
GEOMETRY:center,center
"""
_MAZE_WIDTH, _MAZE_HEIGHT = 78, 20


class Box(NamedTuple):
    """The inside of a room, in columns and rows of the description's map."""

    left: int
    top: int
    right: int
    bottom: int


class Made(NamedTuple):
    """A level: its description, and the insides of its rooms."""

    text: str
    map: str
    rooms: tuple[Box, ...]

    def squares(self, room: int) -> frozenset[int]:
        """The squares of a room on the screen."""
        box, (x, y) = self.rooms[room], self._corner()
        return frozenset(
            spot(x + column, y + row)
            for column in range(box.left, box.right + 1)
            for row in range(box.top, box.bottom + 1)
        )

    def square(self, column: int, row: int) -> int:
        """Convert a square of the description's map to one of the screen."""
        x, y = self._corner()
        return spot(x + column, y + row)

    def _corner(self) -> tuple[int, int]:
        """Where NetHack puts the map's first character: centred, at an odd column and row."""
        lines = self.map.splitlines()
        column = 2 + (_MAZE_WIDTH - 2 - max(map(len, lines))) // 2
        row = 2 + (_MAZE_HEIGHT - 2 - len(lines)) // 2
        return (column | 1) - 1, row | 1


def made(plan: str, rooms: tuple[Box, ...], contents: str) -> Made:
    """Make a level of this map with lit rooms."""
    plan = plan.strip("\n") + "\n"
    lit = "".join(f'REGION:({",".join(map(str, box))}),lit,"ordinary"\n' for box in rooms)
    return Made(f"{_HEAD}MAP\n{plan}ENDMAP\n{lit}{contents}", plan, rooms)


def _start(box: Box) -> str:
    """The player begins anywhere in a room."""
    return f"BRANCH:({','.join(map(str, box))}),(0,0,0,0)\n"


_HALL = """
-------------
|...........|
|...........|
|...........|
|...........|
|...........|
-------------
"""
_HALL_BOX = Box(1, 1, 11, 5)

BAG = made(
    _HALL,
    (_HALL_BOX,),
    _start(_HALL_BOX)
    + """OBJECT:('(',"bag of holding"),random,uncursed
OBJECT:')',random
OBJECT:'!',random
OBJECT:'?',random
OBJECT:'%',random
""",
)
MULTIPICKUP = made(
    _HALL,
    (_HALL_BOX,),
    _start(Box(1, 1, 4, 5))
    + """OBJECT:'!',(8,3)
OBJECT:'?',(8,3)
IF [75%] { OBJECT:')',(8,3) }
IF [50%] { OBJECT:'[',(8,3) }
IF [25%] { OBJECT:'=',(8,3) }
""",
)
WAND = made(
    _HALL,
    (_HALL_BOX,),
    _start(_HALL_BOX)
    + """$wand = object: { ('/',"striking"), ('/',"slow monster"), ('/',"sleep"), ('/',"opening") }
SHUFFLE: $wand
OBJECT:$wand[0],random
OBJECT:('`',"statue"),(6,3)
""",
)
ORDERED = made(
    _HALL,
    (_HALL_BOX,),
    _start(_HALL_BOX)
    + """OBJECT:'/',random
OBJECT:'/',random
OBJECT:('?',"identify"),random,uncursed,name:"Scroll of identify"
""",
)
UNORDERED = made(
    """
      #
------.------
|...........|
|...........|
|...........|
|...........|
|...........|
------.------
      #
""".replace(".-", "+-"),
    (Box(1, 2, 11, 6),),
    _start(Box(1, 4, 11, 4))
    + """DOOR:locked,(6,1)
DOOR:closed,(6,7)
FOUNTAIN:(2,3)
OBJECT:('(',"lock pick"),(9,5)
MONSTER:('x',"grid bug"),(10,3),hostile
""",
)
_THREE = """
-------   -------   -------
|.....|   |.....|   |.....|
|.....+###+.....+###+.....|
|.....|   |.....|   |.....|
-------   -------   -------
"""
_THREE_BOXES = (Box(1, 1, 5, 3), Box(11, 1, 15, 3), Box(21, 1, 25, 3))
_FOUR_DOORS = "".join(f"DOOR:closed,({column},2)\n" for column in (6, 10, 16, 20))
_POTION = """$place = { (2,1), (13,1), (23,1) }
SHUFFLE: $place
OBJECT:('!',"full healing"),$place[0]
"""
CONDITIONAL = made(_THREE, _THREE_BOXES, _start(Box(11, 3, 15, 3)) + _FOUR_DOORS + _POTION)
ALTERNATIVE = made(
    _THREE,
    _THREE_BOXES,
    _start(Box(11, 3, 15, 3)) + _FOUR_DOORS + _POTION + "FOUNTAIN:$place[1]\n",
)
CARRY = made(
    _THREE,
    _THREE_BOXES,
    _start(_THREE_BOXES[0])
    + """DOOR:nodoor,(6,2)
DOOR:nodoor,(10,2)
DOOR:nodoor,(16,2)
DOOR:nodoor,(20,2)
$spot = { (1,1), (3,1), (5,1), (1,3), (3,3), (5,3) }
SHUFFLE: $spot
OBJECT:('[',"plate mail"),$spot[0]
OBJECT:('0',"heavy iron ball"),$spot[1]
OBJECT:('(',"bag of holding"),$spot[2],blessed
OBJECT:('=',"gain strength"),$spot[3],blessed
OBJECT:('/',"teleportation"),$spot[4],name:"Wand of teleportation"
OBJECT:('[',"cloak of invisibility"),$spot[5]
MONSTER:random,(13,1),hostile
MONSTER:random,(14,3),hostile
OBJECT:('`',"statue"),(23,2)
""",
)
_BENT = """
-------
|.....|
|.....+####
|.....|   #
-------   #
          #   -------
          #   |.....|
          ####+.....|
              |.....|
              -------
"""
_LEFT, _RIGHT = Box(1, 1, 5, 3), Box(15, 6, 19, 8)
BOULDER = made(
    _BENT,
    (_LEFT, _RIGHT),
    f"IF [50%] {{ {_start(_LEFT).strip()} }} ELSE {{ {_start(_RIGHT).strip()} }}"
    + """
DOOR:nodoor,(6,2)
DOOR:nodoor,(14,7)
OBJECT:('`',"boulder"),(10,4)
OBJECT:('`',"boulder"),(10,5)
OBJECT:('(',"pick-axe"),(3,1)
OBJECT:(')',"dwarvish mattock"),(4,3)
OBJECT:('/',"teleportation"),(16,6),name:"Wand of teleportation"
OBJECT:('/',"striking"),(18,8),name:"Wand of striking"
""",
)
_CELLS = """
-----     -----
|...|     |...|
|...|     |...|
|...|     |...|
-----     -----
"""
_CELL_BOXES = (Box(1, 1, 3, 3), Box(11, 1, 13, 3))


def _cell(left: int) -> str:
    return f"""OBJECT:('/',"digging"),({left},1),name:"Wand of digging"
OBJECT:('/',"polymorph"),({left + 2},1),name:"Wand of polymorph"
OBJECT:('/',"teleportation"),({left},3),name:"Wand of teleportation"
OBJECT:('=',"polymorph control"),({left + 2},3),uncursed,name:"Ring of polymorph control"
"""


_STARTS = "IF [50%] { BRANCH:(2,2,2,2),(0,0,0,0) } ELSE { BRANCH:(12,2,12,2),(0,0,0,0) }\n"
ESCAPE = made(_CELLS, _CELL_BOXES, _STARTS + _cell(1) + _cell(11))
HINT_ESCAPE = made(
    _CELLS,
    _CELL_BOXES,
    _STARTS
    + _cell(1)
    + _cell(11)
    + """OBJECT:('(',"pick-axe"),(3,2)
OBJECT:('(',"pick-axe"),(11,2)
IF [50%] {
ENGRAVING:(1,2),burn,"The walls to the east seem brittle and hollow"
ENGRAVING:(13,2),burn,"The walls to the west seem brittle and hollow"
} ELSE {
ENGRAVING:(1,2),burn,"A xorn can phase through walls"
ENGRAVING:(13,2),burn,"A xorn can phase through walls"
}
""",
)
