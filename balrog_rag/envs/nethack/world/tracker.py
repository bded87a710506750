"""Track a game: what happened since the last decision, and what interrupts a skill."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.level import Place
from balrog_rag.envs.nethack.world.names import NEWS, name_of
from balrog_rag.envs.nethack.world.popups import waits
from balrog_rag.envs.nethack.world.rooms import Rooms
from balrog_rag.envs.nethack.world.shared_player import GameMemory, SharedScreen
from balrog_rag.envs.nethack.world.tracked_player import SkillPlayer

MOST_TURNS = 100
"""Maximum number of turns of one skill."""
_REMEMBERED = 10
"""Turns for which a kind of thing that was in view is not reported again."""
_LOW = 0.4
"""The share of hit points below which health is low."""
_TERRAIN, _WITHOUT_MONSTERS = tuple(map(ord, "#te\r")), ord("c")
"""Keys that open the menu of maps, and select the map without monsters."""
_ESC, _CLOSING = 27, 3
_ATTRIBUTES = ("strength", "dexterity", "constitution", "intelligence", "wisdom", "charisma")
_FIRST_ATTRIBUTE = 3


class Happened(NamedTuple):
    """An event, in words."""

    kind: str
    """level, teleport, thing, health, attribute, room, merger or turns."""
    text: str
    stops: bool = False
    """Whether it interrupts a skill."""


class _Before(NamedTuple):
    """The state of the previous moment."""

    level: Place
    place: int
    hp: int
    max_hp: int
    attributes: tuple[int, ...]


class Tracker:
    """A game as NetPlay's skills know it, updated by every key."""

    def __init__(
        self,
        arrays: Mapping[str, NDArray[Any]],
        stop_for_things: bool = True,
        memory: GameMemory | None = None,
    ) -> None:
        """`arrays` are NLE's, which every key press overwrites; `memory` is for programs beside the skills.

        Without `stop_for_things` only monsters that come into view interrupt a skill.
        """
        self.stop_for_things = stop_for_things
        self.screen = TrackedScreen(arrays, self, memory or GameMemory(arrays))
        self.player = SkillPlayer(self.screen)
        self.avoiding = False
        """Whether paths avoid monsters."""
        self.prayed: int | None = None if memory is None else memory.prayed
        """The turn of the last prayer."""
        self.locked: set[tuple[Place, int]] = set()
        """Doors that were found locked."""
        self.happened: list[Happened] = []
        """Events since the last decision."""
        self.quiet = False
        """Whether the screen temporarily shows something other than the game."""
        self._rooms: dict[Place, Rooms] = {}
        self._last_seen: dict[int, int] = {}
        self._interrupts: list[Happened] = []
        self._begun: int | None = None
        self._before: _Before | None = None
        self._follow(first=True)

    @property
    def rooms(self) -> Rooms:
        """The rooms of the player's level."""
        return self._rooms.setdefault(self.player.world.place, Rooms())

    @property
    def turn(self) -> int:
        """The current turn."""
        return self.player.body.turn

    def see(self) -> None:
        """Process the screen after a key."""
        self.player.look()
        if not self.player.world.over:
            self._follow()

    def begin(self) -> None:
        """Begin a skill: earlier events do not interrupt it."""
        self._begun = self.turn
        self._interrupts.clear()

    def end(self) -> None:
        """End the skill."""
        self._begun = None

    def interrupt(self) -> str:
        """The reason to interrupt the running skill; empty if there is none."""
        text = " ".join(each.text for each in self._interrupts)
        self._interrupts.clear()
        return text

    def interrupted(self, kinds: Collection[str]) -> bool:
        """Whether an event of these kinds has happened since the last call."""
        happened = any(each.kind in kinds for each in self._interrupts)
        self._interrupts.clear()
        return happened

    def look_under(self, press: Callable[[int], Any]) -> None:
        """Look at the map without monsters to see what is under them; takes no game time."""
        if waits(self.player.screen) or self.player.world.swallowed:
            return
        self.quiet = True
        for key in _TERRAIN:
            press(key)
        if self.player.screen.menu:
            press(_WITHOUT_MONSTERS)
        for _ in range(_CLOSING):  # a page, and then a cursor on the map that no flag of the game indicates
            press(_ESC)
            self.player.look()
        self.quiet = False

    def take_events(self) -> list[Happened]:
        """Return the events since the last call, in words."""
        events, self.happened = self.happened, []
        return events

    def _follow(self, first: bool = False) -> None:
        world, body = self.player.world, self.player.body
        self._hear(world.message)
        if self.quiet or self.player.screen.more:  # on a page the map and the bottom lines may not agree
            return
        stats = self.player.screen.blstats.tolist()
        attributes = tuple(stats[_FIRST_ATTRIBUTE : _FIRST_ATTRIBUTE + len(_ATTRIBUTES)])
        before = self._before
        self._before = _Before(world.place, body.place, body.hp, body.max_hp, attributes)
        elsewhere = before is None or before.level != world.place
        found = [*self._things(silent=elsewhere), *self._new_rooms()]
        if before is not None:
            found = [*_changes(before, self._before), *found]
        if self._begun is not None and body.turn - self._begun >= MOST_TURNS:
            text = f"The skill has been running for {body.turn - self._begun} turns; time to think again."
            found.append(Happened("turns", text, stops=True))
            self._begun = None
        if not first:
            self.happened += found
            self._interrupts += [each for each in found if each.stops]

    def _hear(self, message: str) -> None:
        if "You begin praying" in message:
            self.prayed = self.turn
        level, here = self.player.world.place, self.player.here
        if "door is locked" in message and (door := self.player.tried) is not None:
            self.locked.add((level, door))
        elif "unlock" in message or ("lock" in message and "succeed" in message):
            self.locked -= {(level, near) for near in t.NEAR[here]}

    def _things(self, silent: bool) -> Iterable[Happened]:
        """What has come into view: monsters, things, and notable ground."""
        if self.player.world.swallowed:
            return
        glyphs = self.player.screen.glyphs.ravel()
        places = np.flatnonzero(_interesting()[glyphs])
        shown = glyphs[places]
        turn, here, known = self.turn, self.player.here, self._last_seen
        for place, glyph in zip(places.tolist(), shown.tolist(), strict=True):
            if place == here:
                continue
            last = known.get(glyph)
            known[glyph] = turn
            if not silent and (last is None or turn - last > _REMEMBERED):
                x, y = t.xy(place)
                name = name_of(glyph)
                article = "An" if name[:1] in "aeiou" else "A"
                stops = self.stop_for_things or bool(k.kinds().creature[glyph])
                yield Happened("thing", f"{article} {name} appeared at ({x}, {y}).", stops)

    def _new_rooms(self) -> Iterable[Happened]:
        rooms = self.rooms
        new, mergers = rooms.see(self.player.level)
        for number in new:
            kind = rooms.word(number).split()[0]
            yield Happened("room", f"Found a new {kind} with number {number}.")
        for merger in mergers:
            names = ", ".join(map(str, merger.numbers))
            yield Happened("merger", f"The places {names} are one and the same, now number {merger.number}.")


class TrackedScreen(SharedScreen):
    """NLE's arrays by name, with the tracker that follows them."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], tracker: Tracker, memory: GameMemory) -> None:
        """Wrap the arrays without copying them."""
        super().__init__(arrays, memory)
        self.tracker = tracker


def _changes(before: _Before, now: _Before) -> Iterable[Happened]:
    """Changes of the player."""
    if before.level != now.level:
        old, new = (f"({each.branch}, {each.level})" for each in (before.level, now.level))
        yield Happened("level", f"Changed dungeon level from {old} to {new}.", stops=True)
    elif t.distance(before.place, now.place) > 1:
        old, new = (f"({', '.join(map(str, t.xy(place)))})" for place in (before.place, now.place))
        yield Happened("teleport", f"Teleported from {old} to {new}.", stops=True)
    if now.hp < _LOW * before.max_hp <= before.hp:
        yield Happened("health", "Health is low.", stops=True)
    for name, old_value, new_value in zip(_ATTRIBUTES, before.attributes, now.attributes, strict=True):
        if old_value != new_value:
            verb = "Gained" if new_value > old_value else "Lost"
            yield Happened("attribute", f"{verb} {abs(new_value - old_value)} {name}.")


_INTERESTING: list[NDArray[np.bool_]] = []


def _interesting() -> NDArray[np.bool_]:
    """By glyph: whether it is reported when it comes into view."""
    if not _INTERESTING:
        table = k.kinds()
        news = (k.MONSTER, k.UNSEEN, k.OBJECT, k.CORPSE, k.STATUE)
        _INTERESTING.append(
            np.array(
                [
                    shows in news or (shows == k.TERRAIN and ground in NEWS)
                    for shows, ground in zip(table.shows, table.terrain, strict=True)
                ]
            )
        )
    return _INTERESTING[0]
