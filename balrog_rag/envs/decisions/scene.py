"""What a moment of a game looks like to a judge: numbers, monsters and ground, read from NLE's arrays."""

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, NamedTuple

from numpy.typing import NDArray

from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import terrain as t

_X, _Y, _HP, _MAX_HP, _DEPTH, _XL, _TURN, _HUNGER, _BRANCH, _CONDITION = 0, 1, 10, 11, 12, 18, 20, 21, 23, 25
_QUESTION, _PAGE = 1, 4
_SICK = 0x8 | 0x10
"""Bits of the condition: food poisoning, illness."""
_HITS = 10
"""Key presses over which lost hit points are remembered."""
_PRAYING = b"You begin praying"
FOOD = 7
"""NetHack's class of food."""


class Seen(NamedTuple):
    """A monster in view that is not a pet."""

    name: str
    apart: int


@cache
def monster_name(species: int) -> str:
    """Return NetHack's name of a species."""
    from nle import nethack

    name: str = nethack.permonst(species).mname
    return name


class Scene:
    """The present moment; call `see` after every key press."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """`arrays` are NLE's, which every key press overwrites."""
        self._arrays = arrays
        self._hits: list[int] = []
        self._monsters: list[Seen] | None = None
        self.prayed: int | None = None
        """The turn of the last prayer."""
        self.see()

    def see(self) -> None:
        """Process the screen after a key press."""
        s: list[int] = self._arrays["blstats"].tolist()
        self.place = t.spot(s[_X], s[_Y])
        self.hp, self.max_hp, self.depth, self.branch = s[_HP], s[_MAX_HP], s[_DEPTH], s[_BRANCH]
        self.experience_level, self.turn, self.hunger = s[_XL], s[_TURN], s[_HUNGER]
        self.sick = bool(s[_CONDITION] & _SICK)
        self.message: bytes = self._arrays["message"].tobytes()
        if _PRAYING in self.message:
            self.prayed = self.turn
        self._hits = [*self._hits[1 - _HITS :], self.hp]
        self._monsters = None

    @property
    def takes_command(self) -> bool:
        """Whether a living hero is asked for a command, not for an answer."""
        return self.hp > 0 and not any(self._arrays["internal"][_QUESTION:_PAGE].tolist())

    @property
    def hurt(self) -> bool:
        """Whether hit points were lost within the last key presses."""
        return max(self._hits) > self.hp

    @property
    def monsters(self) -> list[Seen]:
        """The monsters in view that are not pets."""
        if self._monsters is None:
            table, glyphs = k.kinds(), self._arrays["glyphs"]
            self._monsters = []
            for place in table.creature[glyphs].reshape(-1).nonzero()[0].tolist():
                glyph = int(glyphs.flat[place])
                if place != self.place and table.shows[glyph] == k.MONSTER:
                    name = monster_name(table.species[glyph])
                    self._monsters.append(Seen(name, t.distance(place, self.place)))
        return self._monsters

    def near(self, names: Collection[str], within: int = t.WIDTH) -> bool:
        """Whether a monster of these names is in view and so near."""
        return any(each.name in names and each.apart <= within for each in self.monsters)

    @property
    def beside(self) -> int:
        """The number of monsters next to the hero."""
        return sum(each.apart == 1 for each in self.monsters)

    @property
    def carries_food(self) -> bool:
        """Whether the hero carries anything of the class of food."""
        return FOOD in self._arrays["inv_oclasses"].tolist()

    def carries(self, name: bytes) -> bool:
        """Whether a line of the inventory contains a name."""
        return name in self._arrays["inv_strs"].tobytes()

    def around(self) -> list[int]:
        """Return the glyphs of the squares next to the hero."""
        glyphs = self._arrays["glyphs"].reshape(-1)
        return [int(glyphs[place]) for place in t.NEAR[self.place]]

    def squares(self, codes: Collection[int]) -> list[int]:
        """Return the squares in view with this ground, not counting those that something covers."""
        table = k.kinds().terrain
        flat = self._arrays["glyphs"].reshape(-1).tolist()
        return [place for place, glyph in enumerate(flat) if table[glyph] in codes]
