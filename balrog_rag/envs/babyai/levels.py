"""BabyAI's levels for BALROG's five tasks, drawn with Minigrid's random generator.

Which random numbers are drawn, and in which order, determines the level of a seed. Draws whose result is
unused here occur in BALROG's levels as well. They were derived from recordings of BALROG's games.
"""

from collections.abc import Sequence
from typing import Any

from minigrid.core.roomgrid import RoomGrid
from minigrid.envs.babyai.core.roomgrid_level import RejectSampling, RoomGridLevel
from minigrid.envs.babyai.core.verifier import (
    AfterInstr,
    BeforeInstr,
    GoToInstr,
    ObjDesc,
    OpenInstr,
    PickupInstr,
    PutNextInstr,
)

_NEVER_ASKED_FOR = frozenset({("yellow", "box"), ("red", "key"), ("green", "ball")})
"""Combinations that BALROG's levels reserve for tests of generalisation."""

_DOOR_COLORS = ("yellow", "green", "blue", "purple")
_SIDES = 4


class Level(RoomGridLevel):  # type: ignore[misc]
    """One room of 6 by 6 cells without distractors, or two if a door is to be opened."""

    def __init__(self, errand: str) -> None:
        """`errand` is a task's name without the level's."""
        self._errand = errand
        super().__init__(room_size=8, num_rows=1, num_cols=2 if errand == "open" else 1)

    def gen_mission(self) -> None:
        """Draw the objects and the mission."""
        self.instrs = self._open() if self._errand == "open" else self._handle()

    def gen_obs(self) -> dict[str, Any]:
        """Return nothing: observations are computed separately."""
        return {}

    def _gen_grid(self, width: int, height: int) -> None:
        """Draw until a level is valid. Minigrid's own loop prints every rejected one."""
        while True:
            RoomGrid._gen_grid(self, width, height)
            try:
                self.gen_mission()
                self.validate_instrs(self.instrs)
            except (RejectSampling, RecursionError):
                continue
            self.surface = self.mission = self.instrs.surface(self)
            return

    def _handle(self) -> Any:
        """A mission with one object, or with two."""
        self.place_agent()
        one = self._errand in ("goto", "pickup")
        things = self.add_distractors(num_distractors=1 if one else 2, all_unique=False)
        self.check_objs_reachable()
        first = second = self._rand_elem(things)
        if not one:
            second = self._other(things, first)
        in_order = self._errand == "pick_up_seq_go_to" and self._rand_int(0, 2) == 0
        if any((thing.color, thing.type) in _NEVER_ASKED_FOR for thing in (first, second)):
            raise RejectSampling
        return self._instruction(_named(first), _named(second), in_order)

    def _instruction(self, first: Any, second: Any, in_order: bool) -> Any:
        if self._errand == "goto":
            return GoToInstr(first)
        if self._errand == "pickup":
            return PickupInstr(first)
        if self._errand == "putnext":
            return PutNextInstr(first, second)
        if in_order:
            return BeforeInstr(PickupInstr(first), GoToInstr(second))
        return AfterInstr(GoToInstr(second), PickupInstr(first))

    def _other(self, things: Sequence[Any], first: Any) -> Any:
        """A thing other than the first; if all look alike, any."""
        alike = len({(thing.color, thing.type) for thing in things}) == 1
        while True:
            thing = self._rand_elem(things)
            if alike or thing is not first:
                return thing

    def _open(self) -> Any:
        """A locked door between two rooms; its key lies in the room where the agent is."""
        RoomGrid._gen_grid(self, self.width, self.height)  # BALROG draws the rooms twice
        color = self._rand_elem(_DOOR_COLORS)
        locked = self._lock_a_room(color)
        self.add_object(self._column_but(locked), 0, "key", color)
        while True:
            self.place_agent()
            if self.room_from_pos(*self.agent_pos) is not self.get_room(locked, 0):
                break
        return OpenInstr(ObjDesc("door", None if self._rand_bool() else color))

    def _lock_a_room(self, color: str) -> int:
        """Return the column of the room that is now behind a locked door."""
        while True:
            column, side = self._rand_int(0, self.num_cols), self._rand_int(0, _SIDES)
            if self.get_room(column, 0).neighbors[side] is not None:
                self.add_door(column, 0, side, color, locked=True)
                return int(column)

    def _column_but(self, locked: int) -> int:
        while True:
            column = self._rand_int(0, self.num_cols)
            if column != locked:
                return int(column)


def _named(thing: Any) -> Any:
    return ObjDesc(thing.type, thing.color)
