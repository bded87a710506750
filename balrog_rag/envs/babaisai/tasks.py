"""BALROG's forty tasks; a task's name determines how its level is drawn."""

from typing import NamedTuple


class Task(NamedTuple):
    """The properties of a task's levels."""

    name: str

    @property
    def two_rooms(self) -> bool:
        """Whether a wall separates two rooms."""
        return self.name.startswith("two_room")

    @property
    def make_you(self) -> bool:
        """Whether another thing must be made YOU."""
        return "make_you" in self.name

    @property
    def make_wall_win(self) -> bool:
        """Whether the wall must be made the goal."""
        return "make_wall_win" in self.name

    @property
    def make_win(self) -> bool:
        """Whether the rule that names the goal is broken."""
        return "make_win" in self.name

    @property
    def wall_is_open(self) -> bool:
        """Whether the rule that makes the wall stop is broken."""
        return self.two_rooms and not (self.make_you or self.make_wall_win or "break_stop" in self.name)

    @property
    def goal_anywhere(self) -> bool:
        """Whether the goal may lie on either side of the wall."""
        return "maybe_break_stop" in self.name

    @property
    def second_thing(self) -> bool:
        """Whether there is a second thing on the board."""
        return self.make_you or self.make_wall_win or self.rival_goal or "distr_obj" in self.name

    @property
    def stray_block(self) -> bool:
        """Whether there is a block that no rule needs."""
        return self.rival_goal or "_rule" in self.name

    @property
    def stray_is_foreign(self) -> bool:
        """Whether the stray block names a thing that is not on the board."""
        return "irrelevant_rule" in self.name

    @property
    def rival_goal(self) -> bool:
        """Whether a second rule declares as goal a thing that is not on the board."""
        return "distr_win_rule" in self.name


TASKS = {
    f"env/{name}": Task(name)
    for name in (
        "make_win-distr_obj_rule",
        "goto_win-distr_obj_rule",
        "goto_win",
        "goto_win-distr_obj",
        "goto_win-distr_rule",
        "goto_win-distr_obj-irrelevant_rule",
        "make_win-distr_obj",
        "make_win-distr_rule",
        "make_win",
        "make_win-distr_obj-irrelevant_rule",
        "two_room-goto_win",
        "two_room-goto_win-distr_obj_rule",
        "two_room-goto_win-distr_rule",
        "two_room-goto_win-distr_obj",
        "two_room-goto_win-distr_obj-irrelevant_rule",
        "two_room-goto_win-distr_win_rule",
        "two_room-break_stop-goto_win-distr_obj_rule",
        "two_room-break_stop-goto_win-distr_obj",
        "two_room-break_stop-goto_win-distr_rule",
        "two_room-break_stop-goto_win-distr_obj-irrelevant_rule",
        "two_room-break_stop-goto_win",
        "two_room-maybe_break_stop-goto_win-distr_obj_rule",
        "two_room-maybe_break_stop-goto_win",
        "two_room-maybe_break_stop-goto_win-distr_obj",
        "two_room-maybe_break_stop-goto_win-distr_rule",
        "two_room-maybe_break_stop-goto_win-distr_obj-irrelevant_rule",
        "two_room-make_win-distr_obj_rule",
        "two_room-make_win-distr_rule",
        "two_room-make_win",
        "two_room-make_win-distr_obj-irrelevant_rule",
        "two_room-make_win-distr_obj",
        "two_room-make_win-distr_win_rule",
        "two_room-break_stop-make_win-distr_obj_rule",
        "two_room-break_stop-make_win-distr_rule",
        "two_room-break_stop-make_win",
        "two_room-break_stop-make_win-distr_obj-irrelevant_rule",
        "two_room-break_stop-make_win-distr_obj",
        "two_room-make_you",
        "two_room-make_you-make_win",
        "two_room-make_wall_win",
    )
}
"""By BALROG's names, in its order."""
