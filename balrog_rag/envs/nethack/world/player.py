"""A player: it presses keys and keeps everything it knows of the game."""

import re
from collections import Counter
from collections.abc import Container, Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from numpy.typing import NDArray

from balrog_rag.envs.nethack.world import keys
from balrog_rag.envs.nethack.world import terrain as t
from balrog_rag.envs.nethack.world.known_world import Body, Monster, World
from balrog_rag.envs.nethack.world.level import Level, Place
from balrog_rag.envs.nethack.world.refusals import Refusal
from balrog_rag.envs.nethack.world.screen import Screen

Skill: TypeAlias = Generator[int, Any, str]
"""Presses keys, and returns the reason why it stopped."""
Keys: TypeAlias = Generator[int, Any, None]

_HELD = re.compile(
    r"You cannot escape from (?:the )?(.+?)!|(?:The )?(\w[^.!?]*?) (?:grabs|swings itself around) you!"
)
_WELDED = re.compile(r"(?:is welded|welds itself) to your (hands?)")
_PAGES = 60
"""Maximum number of pages turned after one key."""
_ANSWERS = 12
MAIN, MINES, SOKOBAN = 0, 2, 4
BRANCHES = {
    "the Dungeons of Doom": MAIN,
    "in Gehennom": 1,
    "the Gnomish Mines": MINES,
    "the Quest": 3,
    "in Sokoban": SOKOBAN,
    "Fort Ludios": 5,
    "Vlad's Tower": 6,
    "in the endgame": 7,
}
"""The branches by their names in `You are in ..., on level 3.`"""
_LUCK_LOST = {
    "rumble of distant thunder": 1,  # our pet died by our hand (mon.c:2474 and 2509)
    "You murderer!": 2,
    "looking glass shatters": 2,
    "mirror shatters": 2,
}
"""By what the game says, points of luck that we lose."""
_LUCK_RETURNS = 600
"""Luck changes by one towards nought every so many turns of the game (timeout.c:492)."""
_PATIENCE = 60
"""Key presses without game time after which an action that takes time is forced."""


@dataclass
class Pit:
    """A pit being dug."""

    level: Level
    place: int
    deep: bool = False
    """Whether it is a pit already."""
    guarded: bool = False
    """Whether Elbereth was read here, and nothing since may have erased it."""
    writings: int = 0
    hp: int = 0


class Player:
    """The object passed to every skill: it presses keys and knows the world as seen so far."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """`arrays` are NLE's for the first screen; every press returns such arrays."""
        self.world = World()
        self.screen = Screen(arrays)
        self.heard: list[str] = []
        """Messages since the last command began."""
        self.refusals: Counter[Refusal] = Counter()
        """How often the game rejected an action, or an effort was in vain."""
        self.prayed: int | None = None
        """The turn of the last prayer."""
        self.unlucky = False
        """Whether we did something that gods punish."""
        self.luckless = 0
        """The turn up to which our luck is bad, so that no prayer is heard (pray.c:1822)."""
        self.pit: Pit | None = None
        """The pit dug last."""
        self.thrown: set[str] = set()
        """Names of thrown items that may be picked up again."""
        self.spells: dict[str, str] = {}
        """Known spells, with the letters to cast them."""
        self.wands: dict[str, str] = {}
        """What engraving told of wands that the game does not name, by their names."""
        self.cursed_hands = False
        """Whether a cursed item in both hands prevents writing."""
        self.welded = False
        """Whether a cursed weapon prevents wielding a tool; a god frees both hands, but not a single one."""
        self.holder = ""
        """The kind of monster that holds us, or did; its grip, a step away or a blow at another showed it."""
        self.feverish = False
        """Whether lycanthropy will turn us into a were-creature."""
        self.trained = False
        """Whether the game has said that a skill can be advanced."""
        self.minds_form = False
        """Whether `changed` is kept up to date."""
        self.changed = False
        """Whether we have turned into a were-creature, which has no hands."""
        self.shed: tuple[Place, int] | None = None
        """Where our weapon and armour fell off as we turned into one: level, square."""
        self.bare_hands = True
        """Whether we write with a finger; the key for it is not among BALROG's."""
        self.unknown: Container[str] = ()
        """Names of common knowledge that this player does without."""
        self.standstill = 0
        """Key presses since the game's clock last moved."""
        self.alignment = self.race = self.role = ""
        """Our own role, race and alignment, if they have been looked up."""
        self._see()

    @property
    def body(self) -> Body:
        """The numbers of the bottom lines."""
        return self.world.body

    @property
    def level(self) -> Level:
        """The level of the player."""
        return self.world.level

    @property
    def here(self) -> int:
        """The square of the player."""
        return self.world.body.place

    @property
    def pit_here(self) -> Pit | None:
        """The pit that was begun here, if any."""
        pit = self.pit
        return pit if pit is not None and pit.level is self.level and pit.place == self.here else None

    def said(self, *words: str) -> bool:
        """Whether any message since the last command began contains one of these words."""
        return any(word in message for message in self.heard for word in words)

    def press(self, key: int) -> Keys:
        """Press one key and turn the pages that follow; ask where we are, if that is a new level."""
        yield from self._press_through(key)
        waits = self.screen.asks or self.screen.asks_text or self.screen.menu or self.screen.more
        if self.world.unsure and not waits and not self.world.over:
            yield from self._locate()

    def _press_through(self, key: int) -> Keys:
        yield from self._press(key)
        for _ in range(_PAGES):
            if not self.screen.more:
                return
            yield from self._press(keys.ENTER)

    def _locate(self) -> Keys:
        """Read the name of the dungeon's branch, which takes no game time."""
        yield from self._press_through(keys.ATTRIBUTES)
        told = " ".join(" ".join(self.screen.lines()).split())
        for _ in range(_ANSWERS):
            if not (self.screen.asks or self.screen.asks_text or self.screen.menu):
                break
            yield from self._press_through(keys.ESC)
        self.world.settle(next((number for name, number in BRANCHES.items() if name in told), 0), self.screen)

    def command(self, *pressed: int) -> Keys:
        """Press the keys of one command; an unexpected question is answered with ESC."""
        yield from self.begin()
        for key in pressed:
            yield from self.press(key)
        yield from self.close()

    def begin(self) -> Keys:
        """Begin a command: clear the messages and close everything that is open."""
        yield from self.close()
        if self.standstill > _PATIENCE:
            yield from self.press(keys.ESC)
            yield from self.press(keys.SEARCH)
        self.heard.clear()

    def close(self) -> Keys:
        """Close every open question and menu."""
        for _ in range(_ANSWERS):
            if not (self.screen.asks or self.screen.asks_text or self.screen.menu):
                return
            yield from self.press(keys.ESC)

    def ask(self, key: int, *replies: tuple[str, str]) -> Generator[int, Any, bool]:
        """Give a command and answer its questions, each with the first reply whose words it contains.

        Return true if there was a question and every question had a reply.
        """
        yield from self.begin()
        yield from self.press(key)
        return (yield from self.answer(*replies))

    def answer(self, *replies: tuple[str, str]) -> Generator[int, Any, bool]:
        """Answer all open questions."""
        answered = False
        for _ in range(_ANSWERS):
            question = self.screen.question
            if not question:
                break
            reply = next((reply for words, reply in replies if words in question), None)
            if reply is None:
                self.heard.append(question)
                yield from self.close()
                return False
            answered = True
            yield from self._reply(reply)
        return answered

    def _reply(self, reply: str) -> Keys:
        line = self.screen.asks_text
        for letter in reply:
            yield from self.press(ord(letter))
        if line:
            yield from self.press(keys.ENTER)

    def _press(self, key: int) -> Keys:
        turn = self.body.turn
        arrays = yield key
        if arrays is not self.screen.arrays:
            self.screen = Screen(arrays)
        self._see()
        self.standstill = 0 if self.body.turn != turn else self.standstill + 1

    def _see(self) -> None:
        self.world.see(self.screen)
        if self.world.message:
            self.heard.append(self.world.message)
            self._note_state(self.world.message)

    def _note_state(self, message: str) -> None:
        """Record messages about our health and skills."""
        if "You feel more confident in your" in message or "you could be more dangerous" in message:
            self.trained = True
        lost = sum(points for words, points in _LUCK_LOST.items() if words in message)
        if lost:
            begun = max(self.luckless, self.body.turn) // _LUCK_RETURNS
            self.luckless = (begun + lost) * _LUCK_RETURNS
        if "no free hand to write" in message:
            self.cursed_hands = True
        if welded := _WELDED.search(message):
            self.welded, self.cursed_hands = True, self.cursed_hands or welded[1] == "hands"
        if held := _HELD.search(message):
            self.holder = held[1] or held[2]
        if "You get released" in message or "You pull free" in message:
            self.holder = ""
        if "You feel feverish" in message:
            self.feverish = True
        if "You feel purified" in message:
            self.feverish = False
        if self.minds_form and "You turn into a" in message:
            self.changed, self.shed = True, (self.level.place, self.here)
        if "You return to" in message:
            self.changed = False
        if "guilty about losing your pet" in message:
            self.unlucky = True  # it died as we swapped with it, and gods are angry (hack.c:1884)

    def hostiles(self, within: int = t.WIDTH) -> list[Monster]:
        """Enemies in sight, the nearest first."""
        here = self.here
        near = [m for m in self.world.monsters if m.hostile and t.distance(m.place, here) <= within]
        return sorted(near, key=lambda monster: (t.distance(monster.place, here), monster.place))

    def holds(self, monster: Monster) -> bool:
        """Whether a monster next to us is of the kind that holds us."""
        return monster.species is not None and monster.species.name == self.holder

    def friends(self) -> set[int]:
        """Squares of who would be wronged by a missile or an explosion: pets and peaceful ones."""
        return {monster.place for monster in self.world.monsters if not monster.hostile}
