"""Signals of a moment of NetHack: things in view, hit points, hunger, the map."""

import re
from collections.abc import Hashable, Mapping

from balrog_rag.contracts.data import GameSpec, Observation, TaskView
from balrog_rag.contracts.kinds import EnvironmentSignals, Numbers
from balrog_rag.contracts.signals import Concern
from balrog_rag.envs.nethack import concerns, questions, standing_concerns
from balrog_rag.envs.nethack.actions import MORE_SIGN, TURNS_PAGES, name_of
from balrog_rag.envs.nethack.options import nethack_options

_NOUNS = (
    *("dark area", "vertical wall", "horizontal wall", "northwest room corner", "northeast room corner"),
    *("southwest corner", "southeast corner", "cross wall", "t up wall", "t down wall", "t west wall"),
    *("t east wall", "doorway", "vertical open door", "horizontal open door", "vertical closed door"),
    *("horizontal closed door", "tree", "air floor", "cloud floor", "water floor"),
)
TERRAIN = frozenset((*_NOUNS, *(f"{noun}s" for noun in _NOUNS), "bars"))
"""Walls, floors and doors, one or several, which a language observation names at every step."""

PET = "tame "
"""How a pet's noun begins: neither news nor danger."""

PRAYER = "prayer"
_PRAYER_KEY = "M-p"

HUNGRY = 2
"""NetHack's hunger states that require food."""

STATUS_LINES = 2
"""NetHack's bottom lines, the last of every map; they can change when nothing else does."""

_MENU = re.compile(r"\((?:end|\d+ of \d+)\)")
_NOUN = re.compile(r"^(.+?) (?:very )?(?:far|near|adjacent)\b", re.MULTILINE)


BRANCHES = {1: " in Gehennom", 2: " in the Mines", 3: " of the Quest", 4: " of Sokoban", 5: " in Fort Ludios",
            6: " of Vlad's Tower", 7: " of the Planes"}  # fmt: skip
"""NetHack's dungeons other than the main one, by their numbers in dungeon.def."""


class NetHackSignals(EnvironmentSignals):
    """Extracts signals from the parts and numbers of NetHack's observations."""

    def message(self, seen: Observation) -> str:
        """The game's message line, as joined from several pages."""
        return seen.text("message")

    def things(self, seen: Observation) -> list[str]:
        """The nouns of a language observation other than terrain and pets, in its order."""
        nouns = _NOUN.findall(seen.text("language observation"))
        return [noun for noun in nouns if noun not in TERRAIN and not noun.startswith(PET)]

    def news(self, seen: Observation) -> str:
        """The message, unless it is routine."""
        return questions.news(self.message(seen))

    def states(self, seen: Observation) -> list[str]:
        """Hunger, ailments, low hit points, stairs that lead out of the dungeon."""
        return questions.states(seen.numbers, self.things(seen))

    def questions(self, seen: Observation) -> list[str]:
        """Queries on deadly states, messages and things in view."""
        return questions.questions(self.message(seen), self.things(seen), seen.numbers)

    def concerns(self, seen: Observation, done: Mapping[str, int]) -> list[Concern]:
        """The open question, deadly states, dangers close by, messages and things, nearest first."""
        sights = concerns.sights(seen.text("language observation"))
        inventory = seen.text("inventory")
        return concerns.concerns(
            concerns.Situation(self.message(seen), sights, seen.numbers, done.get(PRAYER), inventory, done)
        )

    def deeds(self, seen: Observation) -> Mapping[str, int]:
        """The turns of a prayer, of digging and of a kill."""
        turn, message = self.clock(seen.numbers), self.message(seen)
        if turn is None:
            return {}
        prayed = {PRAYER: turn} if "You begin praying" in message else {}
        return prayed | standing_concerns.deeds(message, turn)

    def truth(self, seen: Observation, done: Mapping[str, int]) -> list[str]:
        """The moment's queries, then whether a prayer is due, then what is wielded, worn and carried."""
        turn = self.clock(seen.numbers)
        prayer = [] if turn is None else [questions.prayer(turn, done.get(PRAYER))]
        carried = questions.carried(seen.text("inventory"))
        return list(dict.fromkeys([*self.questions(seen), *prayer, *carried]))

    def health(self, numbers: Numbers) -> float:
        """Hit points as a share of their maximum."""
        most = numbers.get("max_hp", 0)
        return numbers.get("hp", most) / most if most > 0 else 1.0

    def hurt(self, before: Numbers, now: Numbers) -> bool:
        """Whether hit points fell."""
        return "hp" in now and "hp" in before and now["hp"] < before["hp"]

    def ailments(self, before: Numbers, now: Numbers) -> list[str]:
        """Hunger, and the ailments on the bottom line."""
        hunger, condition = now.get("hunger", 0), now.get("condition", 0)
        signs = [
            ("hunger", hunger >= HUNGRY and hunger > before.get("hunger", 0)),
            ("a new ailment", bool(condition & ~before.get("condition", 0))),
        ]
        return [name for name, holds in signs if holds]

    def deed(self, action: str) -> str:
        """Prayers: an extra one can be deadly. A prompt may take the key for something else."""
        return {"pray": PRAYER, _PRAYER_KEY: f"{_PRAYER_KEY}, the key for prayer"}.get(action, "")

    def press(self, press: int | str) -> str:
        """The key that a program pressed, in words that can be typed."""
        return key_name(press) if isinstance(press, int) else press

    def answer(self, press: int | str, seen: Observation, game: GameSpec, view: TaskView) -> str | None:
        """The action with that key, or a letter if the game asks for one; "" for a page that turns itself."""
        if not isinstance(press, int):
            return super().answer(press, seen, game, view)
        if press in TURNS_PAGES and MORE_SIGN in self.message(seen) and nethack_options(game).skip_more:
            return ""
        return name_of(press, self._asks(seen), view.takes)

    def _asks(self, seen: Observation) -> bool:
        """Whether the game waits for an item, a text or a choice in a menu."""
        message, cursor = self.message(seen), seen.text("cursor").strip()
        # Questions keep the cursor on the message line, where it points at nothing on the map.
        on_message = not cursor or (cursor.startswith("(") and cursor.endswith("y=0)"))
        return (on_message and "direction" not in message) or bool(_MENU.search(message))

    def place(self, numbers: Numbers) -> Hashable:
        """The depth."""
        return numbers.get("depth")

    def square(self, numbers: Numbers) -> tuple[str, int, int] | None:
        """The hero's place on the terminal, whose first row is the message line."""
        if "x" not in numbers or "y" not in numbers:
            return None
        branch = BRANCHES.get(numbers.get("branch", 0), "")
        return f"{numbers.get('depth', '?')}{branch}", numbers["y"] + 1, numbers["x"]

    def time(self, numbers: Numbers) -> str:
        """The turn."""
        return f"turn {numbers['turn']}" if "turn" in numbers else ""

    def clock(self, numbers: Numbers) -> int | None:
        """The turn."""
        return numbers.get("turn")

    def screen(self, seen: Observation) -> Hashable:
        """The screen without the status lines, in which turns continue to count."""
        return self.message(seen), self.map(seen), seen.text("inventory")

    def trimmed(self, seen: Observation) -> Observation:
        """The same moment without spaces at the ends of map lines; every column keeps its position."""
        lines = seen.text("map").split("\n")
        return seen.with_text("map", "\n".join(line.rstrip() for line in lines))

    def without_map(self, seen: Observation, notice: str) -> Observation:
        """The moment with a notice instead of its map; the status lines are kept."""
        return seen.with_text("map", "\n".join([notice, *_lines(seen)[1:]]) + "\n")

    def map(self, seen: Observation) -> str:
        """The map without its status lines."""
        return _lines(seen)[0]


def key_name(key: int) -> str:
    """A key press in words that can be typed: j, ^D, M-p, ESC."""
    special = {27: "ESC", 13: "Enter", 32: "Space"}
    if key in special:
        return special[key]
    if key >= 128:
        return f"M-{key_name(key - 128)}"
    return f"^{chr(key + 64)}" if key < 32 else chr(key)


def _lines(seen: Observation) -> list[str]:
    return seen.text("map").removesuffix("\n").rsplit("\n", STATUS_LINES)
