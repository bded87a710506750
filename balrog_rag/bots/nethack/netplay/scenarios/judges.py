"""Whether a scenario is solved, judged by the game alone: keys, questions, inventory, map and messages."""

import re
from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from balrog_rag.bots.nethack.netplay.scenarios.levels import Made
from balrog_rag.envs.nethack.world import glyph_kinds as k
from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.items import Item
from balrog_rag.envs.nethack.world.level import Place
from balrog_rag.envs.nethack.world.tracker import Tracker


class BeforeKey(NamedTuple):
    """The game just before a key, and that key."""

    key: int
    command: int
    """The command that it belongs to: the last key pressed without an open question."""
    question: str
    place: int
    level: Place
    items: Mapping[str, Item]
    """The inventory, by letter."""

    def names(self, question: str) -> Item | None:
        """The item that this key names in answer to such a question."""
        return self.items.get(chr(self.key)) if question in self.question else None


class Judge:
    """Follows one game."""

    names: ClassVar[tuple[str, ...]] = ()
    """The sub-goals; the scenario is solved when all are reached."""

    def __init__(self, made: Made, tracker: Tracker) -> None:
        """Start with the first screen of the game."""
        self.made, self.tracker = made, tracker
        self.first = carried(tracker)
        """The inventory at the start."""
        self.reached: set[str] = set()
        self._command = 0

    @property
    def solved(self) -> bool:
        """Whether the scenario is solved now."""
        return bool(self.names) and self.reached.issuperset(self.names)

    @property
    def subgoals(self) -> int:
        """The number of sub-goals reached."""
        return len(self.reached.intersection(self.names))

    def before(self, key: int) -> BeforeKey:
        """Record the moment before a key."""
        player = self.tracker.player
        screen = player.screen
        if not (screen.asks or screen.asks_text or screen.menu or screen.more):
            self._command = key
        return BeforeKey(
            key, self._command, screen.question, player.here, player.world.place, carried(self.tracker)
        )

    def after(self, moment: BeforeKey) -> None:
        """Process the effect of the key."""

    def look(self) -> None:
        """Process the moment as the player is about to see it."""


def carried(tracker: Tracker) -> dict[str, Item]:
    """The inventory, by letter."""
    return {item.letter: item for item in tracker.player.world.items}


def lying(tracker: Tracker) -> dict[int, str]:
    """Known objects on the level: symbols of classes, by square; statues and boulders excluded."""
    table = k.kinds()
    objects = tracker.player.level.objects
    return {
        place: table.symbol[glyph] if table.shows[glyph] == k.OBJECT else "%"
        for place, glyph in objects.items()
        if table.shows[glyph] != k.STATUE and table.symbol[glyph] != "`"
    }


class Drinking(Judge):
    """Whether the player has drunk: from a fountain, a potion."""

    def __init__(self, made: Made, tracker: Tracker) -> None:
        super().__init__(made, tracker)
        self._potion: Item | None = None

    def after(self, moment: BeforeKey) -> None:
        """Detect it: a fountain's question is answered with yes; a potion that was named is gone."""
        if "Drink from the fountain" in moment.question and moment.key == keys.YES:
            self.reached.add("fountain")
        if moment.command != keys.QUAFF:
            self._potion = None
        named = moment.names("What do you want to drink")
        if named is not None and "potion" in named.name:
            self._potion = named
        if self._potion is not None:
            left = carried(self.tracker).get(self._potion.letter)
            if left is None or left.number < self._potion.number or "potion" not in left.name:
                self.reached.add("potion")


class Alternative(Drinking):
    """Drink from a fountain or drink a potion."""

    names = ("drink",)

    def after(self, moment: BeforeKey) -> None:
        """Either is sufficient."""
        super().after(moment)
        if self.reached & {"fountain", "potion"}:
            self.reached.add("drink")


class Conditional(Drinking):
    """There is no fountain, so drink a potion; having seen all rooms first is counted in addition."""

    names = ("potion",)

    def __init__(self, made: Made, tracker: Tracker) -> None:
        super().__init__(made, tracker)
        self._seen: set[int] = set()
        self.looked_first = False

    def after(self, moment: BeforeKey) -> None:
        """Record the rooms that were entered before the potion was drunk."""
        here = self.tracker.player.here
        self._seen |= {room for room in range(len(self.made.rooms)) if here in self.made.squares(room)}
        if "potion" not in self.reached:
            self.looked_first = len(self._seen) == len(self.made.rooms)
        super().after(moment)


class Unordered(Drinking):
    """Drink from the fountain, open both doors, kill the grid bug."""

    names = ("fountain", "north door", "south door", "grid bug")
    _DOORS: ClassVar = {"north door": (6, 1), "south door": (6, 7)}
    _OPEN = t.OPEN_DOORS | {t.DOORWAY}

    def after(self, moment: BeforeKey) -> None:
        """Check that doors are open or gone, and the message about the bug's death."""
        super().after(moment)
        ground = self.tracker.player.level.terrain
        for name, square in self._DOORS.items():
            if ground[self.made.square(*square)] in self._OPEN:
                self.reached.add(name)
        if re.search(r"You (kill|destroy) (the |poor )*grid bug", self.tracker.player.world.message):
            self.reached.add("grid bug")


class Bag(Judge):
    """All objects of the room are in the bag."""

    names = ("nothing lies about", "all in the bag")
    _THINGS = 4
    _COUNT = re.compile(r"containing (\d+) items?")

    def look(self) -> None:
        """Check the current state: an item put back on the floor is not in the bag."""
        self.reached.clear()
        items = carried(self.tracker)
        bags = [item for item in items.values() if "bag" in item.name and item.letter not in self.first]
        if not bags:
            return
        if not lying(self.tracker):
            self.reached.add("nothing lies about")
        holds = sum(int(found[1]) for bag in bags if (found := self._COUNT.search(bag.text)))
        loose = [letter for letter in items if letter not in self.first and items[letter] not in bags]
        if holds >= self._THINGS and not loose:
            self.reached.add("all in the bag")


class Multipickup(Judge):
    """Nothing lies in the room any more."""

    names = ("nothing lies about",)

    def look(self) -> None:
        """Check the current state."""
        self.reached.clear()
        if not lying(self.tracker):
            self.reached.add("nothing lies about")


class Wand(Judge):
    """A wand was zapped at the statue."""

    names = ("hit",)
    _WAYS: ClassVar = {ord(key): way for way, key in t.HEADINGS.items()}
    _FIZZLED = ("Nothing happens", "nothing happens", "You wrest")

    def after(self, moment: BeforeKey) -> None:
        """Check that the direction leads from the player straight to the statue."""
        asked = moment.command == keys.ZAP and "In what direction" in moment.question
        if not asked or moment.key not in self._WAYS:
            return
        if any(word in self.tracker.player.world.message for word in self._FIZZLED):
            return
        statue = self.made.square(6, 3)
        if moment.place != statue and t.heading(moment.place, statue) == moment.key:
            self.reached.add("hit")


class Ordered(Judge):
    """Both wands were picked up, then the scroll, which was read and identified a wand."""

    names = ("both wands first", "read", "identified")

    def __init__(self, made: Made, tracker: Tracker) -> None:
        super().__init__(made, tracker)
        self._wands: dict[str, str] = {}
        self._scroll = ""
        self._too_early = False

    def after(self, moment: BeforeKey) -> None:
        """Track the inventory."""
        items = carried(self.tracker)
        new = {letter: item for letter, item in items.items() if letter not in self.first}
        for letter, item in new.items():
            if "wand" in item.name:
                self._wands.setdefault(letter, item.text)
            if "Scroll of identify" in item.text and not self._scroll:
                self._scroll = letter
                self._too_early = len(self._wands) < 2
        if self._scroll and not self._too_early:
            self.reached.add("both wands first")
        named = moment.names("What do you want to read") if moment.command == keys.READ else None
        if named is not None and named.letter == self._scroll:
            self.reached.add("read")
        changed = [letter for letter, text in self._wands.items() if self._identified(text, new.get(letter))]
        if changed and "read" in self.reached:
            self.reached.add("identified")

    @staticmethod
    def _identified(before: str, now: Item | None) -> bool:
        return now is not None and "wand of" in now.text and "wand of" not in before


class Carry(Judge):
    """Plate mail and iron ball were dropped in the room with the statue, and stay there."""

    names = ("plate mail", "iron ball")
    _DROPPED = re.compile(r"You drop ([^.]*)\.")

    def after(self, moment: BeforeKey) -> None:
        """Track items: dropped in the last room, or carried."""
        message = self.tracker.player.world.message
        there = self.tracker.player.here in self.made.squares(2)
        dropped = " ".join(self._DROPPED.findall(message))
        texts = [item.text for item in carried(self.tracker).values()]
        for name in self.names:
            if any(name in text for text in texts):
                self.reached.discard(name)
            elif name in dropped and there:
                self.reached.add(name)


class Leaving(Judge):
    """The player has been outside of the room in which the game began."""

    def __init__(self, made: Made, tracker: Tracker) -> None:
        super().__init__(made, tracker)
        here, rooms = tracker.player.here, range(len(made.rooms))
        self.begun = next(room for room in rooms if here in made.squares(room))


class Boulder(Leaving):
    """Find the other room: stand in it."""

    names = ("other room",)

    def after(self, moment: BeforeKey) -> None:
        """Record the player's position."""
        player = self.tracker.player
        if player.here in self.made.squares(1 - self.begun) and player.world.place == moment.level:
            self.reached.add("other room")


class Escape(Leaving):
    """Be outside the room without having used a staircase."""

    names = ("outside",)

    def __init__(self, made: Made, tracker: Tracker) -> None:
        super().__init__(made, tracker)
        self._home = tracker.player.world.place
        self._by_stairs = False

    def after(self, moment: BeforeKey) -> None:
        """Record the player's position, and how it was reached."""
        player = self.tracker.player
        elsewhere = player.world.place != self._home
        if player.world.place != moment.level and moment.command == moment.key in (keys.UP, keys.DOWN):
            self._by_stairs = True
        outside = elsewhere or player.here not in self.made.squares(self.begun)
        if outside and not self._by_stairs and not player.screen.more:
            self.reached.add("outside")
