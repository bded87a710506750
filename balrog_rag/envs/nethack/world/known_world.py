"""Everything a player has seen of a game: levels, monsters, its own body and its inventory."""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.items import Item, read_item
from balrog_rag.envs.nethack.world.level import Level, Place
from balrog_rag.envs.nethack.world.screen import Screen
from balrog_rag.envs.nethack.world.species import Species, all_species

HUNGRY, WEAK, FAINTING = 2, 3, 4
"""States of hunger, as the bottom line numbers them."""
STONED, SLIMED, STRANGLED, FOOD_POISONED, ILL, BLIND, DEAF, STUNNED, CONFUSED, HALLUCINATING, LEVITATING = (
    1 << bit for bit in range(11)
)
"""Bits of the conditions."""
DAZED = STUNNED | CONFUSED | HALLUCINATING
"""Conditions in which a player may hit its own pet."""
DEADLY = STONED | SLIMED | STRANGLED | FOOD_POISONED | ILL

UNSURE = -1
"""The branch of a level for which nobody has asked yet."""
_REMEMBERED_TURNS = 40
_LARGEST_SHOP = 120
_STRIDE = 3
"""Squares that a monster may have moved between two looks and still be considered the same."""


@dataclass(slots=True)
class Monster:
    """A monster in sight, or one that was felt."""

    place: int
    species: Species | None
    """None if it was felt but not seen, or seen while hallucinating."""
    tame: bool
    peaceful: bool | None = None
    """Whether it is peaceful; None if unknown."""
    attacked: bool = False
    """Whether one of its kind next to us was seen to attack."""
    doubted: bool = False
    """Whether it was believed peaceful until something hurt us."""
    seen: int = 0
    """The turn in which it was last seen."""
    helpless: int = 0
    """The turn until which it probably sleeps; none if it was seen to move or to attack."""
    number: int = 0
    """A number for each monster met; unlike an object's address it is never reused."""

    @property
    def hostile(self) -> bool:
        """Whether to treat it as an enemy: neither tame nor known to be peaceful."""
        return not self.tame and not self.peaceful


@dataclass(slots=True)
class Body:
    """The numbers of the bottom lines."""

    place: int = 0
    hp: int = 0
    max_hp: int = 0
    depth: int = 0
    power: int = 0
    armor: int = 10
    level: int = 1
    turn: int = 0
    hunger: int = 1
    load: int = 0
    condition: int = 0
    gold: int = 0
    strength: int = 10
    score: int = 0

    def read(self, s: list[int]) -> None:
        """Parse NLE's bottom-line numbers."""
        self.place = t.spot(s[0], s[1])
        self.strength, self.hp, self.max_hp, self.depth = s[3], s[10], s[11], s[12]
        self.gold, self.power, self.armor, self.level = s[13], s[14], s[16], s[18]
        self.turn, self.hunger, self.load, self.condition = s[20], s[21], s[22], s[25]
        self.score = s[9]


_STAIRS_UNDER_THINGS = {
    "There is a staircase down here": t.STAIRS_DOWN,
    "There is a staircase up here": t.STAIRS_UP,
}
"""Messages about stairs that the map does not show because something lies on them."""
_CLOSED, _LEGIBLE = "Closed for inventory", 4
"""What is written before closed shops, and how many of its letters tell it from other texts."""
_READ = re.compile(r'You read: "(.*?)"')
_DIGGING = "crashing rock"
"""What is heard of a monster that digs: dig.c, mdig_tunnel()."""
_BLOWS = ("hits", "misses", "bites", "kicks", "stings", "butts")
_STROKE = re.compile(r" (?:swings|thrusts) (?!.* at )")
"""The stroke of a weapon at us. NetHack names who else is struck at: mhitm.c, mattackm()."""


def _says_closed(message: str) -> bool:
    """Whether an engraving says that a shop is closed; feet wear off letters, but not the spaces."""
    if _CLOSED in message:
        return True
    read = _READ.search(message)
    if read is None or len(read[1]) != len(_CLOSED):
        return False
    pairs = list(zip(read[1], _CLOSED, strict=True))
    legible = sum(left == written for left, written in pairs if written != " ")
    return legible >= _LEGIBLE and all(left == " " for left, written in pairs if written == " ")


def _attacked(message: str, monster: Monster) -> bool:
    """Whether a message says that such a monster attacked us, and not somebody else."""
    if monster.species is None:
        return False
    for said in message.split("  "):
        done = said.partition(monster.species.name)[2].removeprefix(" just")
        if _STROKE.match(done) or done.strip(" !.") in _BLOWS:
            return True
    return False


@dataclass
class World:
    """Everything seen so far, updated by every screen."""

    body: Body = field(default_factory=Body)
    levels: dict[Place, Level] = field(default_factory=dict)
    monsters: list[Monster] = field(default_factory=list)
    """Those shown now."""
    items: list[Item] = field(default_factory=list)
    message: str = ""
    swallowed: bool = False
    over: bool = False
    """Whether the game has ended."""
    _memory: dict[Place, list[Monster]] = field(default_factory=dict)
    _carried: bytes = b""
    asks: bool = False
    """Whether the branch of a new level is left open (`unsure`) until the game has been asked for it.

    Else its number is read, which no text of the game shows.
    """
    unsure: bool = False
    """Whether nobody has asked yet to which branch this level belongs."""
    _place: Place = field(default=Place(0, 0))
    _known: tuple[int, int, Place] | None = None
    _met: int = 0

    @property
    def level(self) -> Level:
        """The level of the player."""
        return self.levels[self._place]

    @property
    def place(self) -> Place:
        """The identity of that level."""
        return self._place

    def see(self, screen: Screen) -> None:
        """Process a screen."""
        stats = screen.blstats.tolist()
        if stats[11] <= 0:
            self.over = True
            return
        was = self.body.place
        self.body.read(stats)
        self.message = screen.message
        self._enter(self._entered(stats[12], was) if self.asks else Place(stats[23], stats[24]))
        self.level.depth = self.body.depth
        self._see_map(screen)
        self._read(self.message)
        self._see_items(screen)

    def _read(self, message: str) -> None:
        """Learn from messages about the current place."""
        level, here = self.level, self.body.place
        for words, stairs in _STAIRS_UNDER_THINGS.items():
            if words in message:
                level.set_terrain(here, stairs)
        for monster in self.monsters:
            if self._is_near(monster) and _attacked(message, monster):
                monster.attacked, monster.helpless = True, 0
                if monster.peaceful:
                    monster.peaceful = None  # mistaken for another monster, or it has changed
        if _DIGGING in message:
            level.dug = self.body.turn
        if _says_closed(message):
            level.forbid(near for near in t.NEAR[here] if level.terrain[near] in t.CLOSED_DOORS)
        elif "(for sale" in message:
            level.terrain[here] = level.terrain[here] if level.terrain[here] in t.INDOORS else t.FLOOR
            self._see_shop(here)

    def _entered(self, depth: int, left: int) -> Place:
        """The level of a screen, if we were on this square before; of a branch yet unknown, if need be."""
        if self._place.level == depth:
            return self._place
        link = self.level.links.get(left) if self._place in self.levels else None
        self.unsure = link is None or link.level != depth
        if link is not None and not self.unsure:
            return link
        self.levels.pop(Place(UNSURE, depth), None)
        return Place(UNSURE, depth)

    def settle(self, branch: int, screen: Screen) -> None:
        """Learn to which branch the present level belongs."""
        self.unsure = False
        place, new = Place(branch, self._place.level), self.levels.pop(self._place)
        self._memory[place] = self._memory.pop(self._place, []) + self._memory.get(place, [])
        if place not in self.levels:
            new.place = place
            self.levels[place] = new
        self._enter(place)
        self._see_map(screen)

    def _is_near(self, monster: Monster) -> bool:
        return t.distance(monster.place, self.body.place) == 1

    def _enter(self, place: Place) -> None:
        if place != self._place or place not in self.levels:
            self._place = place
            self.levels.setdefault(place, Level(place)).arrived = self.body.turn
            self.monsters = []
            self._known = None

    def _see_map(self, screen: Screen) -> None:
        glyphs = screen.glyphs.ravel()
        kinds = k.kinds()
        here = self.body.place
        self.swallowed = bool(kinds.swallowed[glyphs].any())
        if self.swallowed:
            self.monsters = []
            return
        changed = self.level.see(glyphs, self.body.turn)
        self.level.visit(here, blind=bool(self.body.condition & BLIND))
        now = (here, self.body.turn, self._place)
        if changed or now != self._known:
            self._known = now
            self._see_monsters(glyphs, kinds)

    def _see_monsters(self, glyphs: NDArray[Any], kinds: k.Kinds) -> None:
        places = np.flatnonzero(kinds.creature[glyphs]).tolist()
        memory = self._memory.setdefault(self._place, [])
        turn = self.body.turn
        old = [monster for monster in memory if turn - monster.seen <= _REMEMBERED_TURNS]
        self.monsters = []
        for place in places:
            if place == self.body.place:
                continue
            self.monsters.append(self._recognize(place, int(glyphs[place]), kinds, old))
            self.level.pet = turn if self.monsters[-1].tame else self.level.pet
            known = self.monsters[-1].species
            if known and known.shopkeeper:
                self._see_shop(place)
            self.level.watched |= bool(known and known.watchman)
        self._memory[self._place] = old + self.monsters

    def _see_shop(self, inside: int) -> None:
        """Mark the room of this square as a shop, so that no path leads through it, unless we are in it."""
        level = self.level
        if level.terrain[inside] not in t.INDOORS:
            return
        room = level.room(inside)
        if len(room) > _LARGEST_SHOP:
            return  # a shopkeeper outside of a shop
        if not room <= level.shop:  # nor was all of it seen at first
            level.shop |= room
            level.forbid(level.shop)
        if self.body.place in level.shop and level.forbidden & level.shop:
            level.allow(level.shop)

    def _recognize(self, place: int, glyph: int, kinds: k.Kinds, old: list[Monster]) -> Monster:
        """The monster shown at a square: a known one if one of its kind was near, else a new one."""
        number = kinds.species[glyph]
        felt = kinds.shows[glyph] == k.UNSEEN
        mistaken = felt or self.body.condition & HALLUCINATING
        species = None if mistaken or number < 0 else all_species()[number]
        tame, turn = kinds.shows[glyph] == k.PET, self.body.turn
        best = None
        for monster in old:
            if monster.species is species and monster.tame == tame:
                far = t.distance(place, monster.place)
                if far <= _STRIDE + (turn - monster.seen) and (best is None or far < best[0]):
                    best = far, monster
        if best is None:
            peaceful = True if species and species.always_peaceful else None
            self._met += 1
            return Monster(place, species, tame, peaceful, seen=turn, number=self._met)
        known = best[1]
        old.remove(known)
        if place != known.place:
            known.helpless = 0
        known.place, known.seen = place, turn
        return known

    def _see_items(self, screen: Screen) -> None:
        carried = screen.inv_strs.tobytes()
        if carried == self._carried:
            return
        self._carried = carried
        self.items = [
            read_item(chr(letter), line.tobytes().split(b"\0")[0].decode("latin-1"))
            for letter, line in zip(screen.inv_letters.tolist(), screen.inv_strs, strict=True)
            if letter
        ]

    def item(self, *names: str) -> Item | None:
        """The first carried item whose name contains one of these words, in their order."""
        for name in names:
            for item in self.items:
                if name in item.name:
                    return item
        return None

    def carried(self, letter: str) -> Item | None:
        """The item carried under a letter."""
        return next((item for item in self.items if item.letter == letter), None)

    def monster_at(self, place: int) -> Monster | None:
        """The monster shown at a square."""
        return next((monster for monster in self.monsters if monster.place == place), None)
