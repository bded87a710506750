"""A game of TextWorld in its interpreter: its text, its score, and its end.

Commands go directly to the interpreter. TextWorld's own wrappers describe the whole game anew at every step
and keep a model of its world for each game, which is not needed here.
"""

import re
from pathlib import Path

import msgspec

from balrog_rag.envs.textworld.frotz import FrotzGame

_SCORE = re.compile(r"<score>\n(.*)</score>", re.DOTALL)
_MOVES = re.compile(r"<moves>\n(.*)</moves>", re.DOTALL)
_REPORTS = ("moves", "score")
"""What the game appends to every page on request, in this order."""
_WON, _LOST = "*** The End ***", "*** You lost! ***"


class _Quest(msgspec.Struct):
    reward: int = 0
    desc: str | None = ""
    optional: bool = False


class Description(msgspec.Struct):
    """The contents of the file beside a game."""

    quests: list[_Quest]
    objective: str | None = None

    @property
    def goal(self) -> str:
        """The goal, as stated on the first page."""
        if self.objective is not None:
            return self.objective
        return "\nAND\n".join(quest.desc for quest in self.quests if quest.desc)

    @property
    def max_score(self) -> int:
        """The points of all quests."""
        return sum(quest.reward for quest in self.quests if not quest.optional or quest.reward > 0)


class Story:
    """One running game."""

    def __init__(self, path: Path) -> None:
        """`path`: the .z8 file, with its description beside it."""
        self._path = path
        self._machine: FrotzGame | None = None
        described = msgspec.json.decode(path.with_suffix(".json").read_bytes(), type=Description)
        self.goal, self.max_score = described.goal, described.max_score
        self.text, self.score = "", 0
        self.won = self.lost = False

    def reset(self) -> None:
        """Begin the game."""
        self.close()
        self._machine = FrotzGame(self._path)
        self.score = 0
        self._end(self._machine.first_page)
        for report in _REPORTS:
            self._take_score(self._machine.step(f"tw-extra-infos {report}"))

    def step(self, command: str) -> None:
        """Type a line."""
        assert self._machine is not None, "not begun"
        said = _MOVES.sub("", self._machine.step(command))
        self._take_score(said)
        self._end(_SCORE.sub("", said))

    def _take_score(self, said: str) -> None:
        if found := _SCORE.search(said):
            self.score = int(found[1].strip().partition("\n")[0])

    def _end(self, said: str) -> None:
        self.text, self.won, self.lost = said, _WON in said, _LOST in said

    def close(self) -> None:
        """Close the interpreter."""
        if self._machine is not None:
            self._machine.close()
            self._machine = None
