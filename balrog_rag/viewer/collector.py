"""Convert the events of one episode into the chunks of a page."""

from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from balrog_rag.contracts.data import GameSpec, Message, Observation, Passage, Transition, digest
from balrog_rag.contracts.events import Answered, Asked, Ended, Event, Searched, Started, Stepped
from balrog_rag.contracts.kinds import EnvironmentKind, Progress, follow, value_of
from balrog_rag.contracts.painting import ColouredText
from balrog_rag.contracts.tool_calls import calls_text
from balrog_rag.viewer.drawn_moments import DrawnLookups, RepeatedScreens, VisitedSquares, inventory_of
from balrog_rag.viewer.marks import Curves, Mark, Marker
from balrog_rag.viewer.packing import (
    CHUNK,
    NumberedValues,
    PackedScreen,
    changes,
    packed,
    screen_of,
    steps_between,
)
from balrog_rag.viewer.painted_games import PaintedMoment
from balrog_rag.viewer.traces import Actions, EpisodeTrace, PassageSets, drawn_points

SPENT = ("step", "purpose", "input", "output", "cached", "reasoning", "dollars", "seconds")
"""Columns of the costs of calls."""

TABLES = ("messages", "passages", "pictures", "inventories")
"""Tables of texts and images that many moments share."""

BASE_SIZE, STEP_SIZE = 100_000, 1_000
"""Approximate memory in bytes of an episode and of a step, besides chunks: curves, costs, digests."""


class Collector:
    """An episode in the form that the page reads.

    Position p is the moment before step p and the decision made there; the last position is the end.
    Events arrive in one thread; `head` and `chunk` may be called in another.
    """

    def __init__(
        self,
        kind: EnvironmentKind,
        progress: Progress,
        moments: Callable[[], list[PaintedMoment]],
        search_seconds: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """`moments` yields the moments of each step in turn; `search_seconds` that of the last search."""
        self._moments, self._search_seconds = moments, search_seconds
        self._kind, self._progress = kind, progress
        self._marker, self._curves = Marker(kind), Curves(kind)
        self._tables = {name: NumberedValues() for name in TABLES}
        self._closed: list[bytes] = []
        self._packed = 0
        self._open = _Chunk(0)
        self._screen = PackedScreen(())
        self._last: Mapping[str, int] = {}
        self._said: list[dict[str, Any]] = []
        self._spent: list[tuple[Any, ...]] = []
        self._actions: list[str] = []
        self._marks: list[Mark] = []
        self._end: Ended | None = None
        self._passages, self._decisions = PassageSets(), 0
        self._loops, self._squares, self._lookups = RepeatedScreens(), VisitedSquares(kind), DrawnLookups()
        self._lock = Lock()

    def see(self, event: Event) -> None:
        """Process one event."""
        with self._lock:
            match event:
                case Started():
                    (seen,) = self._moments()
                    self._moment(seen, event.observation)
                case Asked():
                    self._said.append({"for": event.request.purpose, "ask": self._prompt(event)})
                case Answered():
                    self._answered(event)
                case Searched():
                    self._searched(event)
                case Stepped():
                    self._stepped(event)
                case Ended():
                    self._ended(event)

    @property
    def size(self) -> int:
        """Approximate memory used, in bytes."""
        return BASE_SIZE + STEP_SIZE * len(self._actions) + self._packed

    @property
    def begun(self) -> bool:
        """Whether the first moment has arrived."""
        return bool(self._closed or self._open.screens)

    @property
    def count(self) -> int:
        """Number of steps so far."""
        return len(self._actions)

    def head(self) -> dict[str, Any]:
        """The document that a page reads first: marks, curves, costs, and where each text is."""
        with self._lock:
            names = list(dict.fromkeys(self._actions))
            numbers = {name: place for place, name in enumerate(names)}
            return {
                "chunk": CHUNK,
                "steps": len(self._actions),
                "actions": {"names": names, "of": [numbers[action] for action in self._actions]},
                "marks": [list(mark) for mark in self._marks],
                "curves": self._curves.document(),
                "constant": self._curves.constant(),
                "loops": self._loops.document(len(self._actions)),
                "squares": self._squares.document(),
                "lookups": self._lookups.document(),
                "clock": self._curves.clock(),
                "spent": {name: [row[place] for row in self._spent] for place, name in enumerate(SPENT)},
                "firsts": {name: list(table.firsts) for name, table in self._tables.items()},
                "outcome": self._end.outcome if self._end else "",
                "how": self._end.how if self._end else "",
            }

    def closed(self, number: int) -> bytes | None:
        """A packed chunk that is complete, without waiting for a step that is being added."""
        return self._closed[number] if 0 <= number < len(self._closed) else None

    def chunk(self, number: int) -> bytes | None:
        """A packed chunk; the open one as far as it goes; None if it does not exist."""
        with self._lock:
            if 0 <= number < len(self._closed):
                return self._closed[number]
            return packed(self._written(), 1) if number == len(self._closed) else None

    @property
    def chunks(self) -> int:
        """Number of chunks, including the open one."""
        return len(self._closed) + 1

    def trace(self, game: GameSpec, names: dict[str, int]) -> EpisodeTrace:
        """The trace so far; `names` is the table of actions and grows."""
        with self._lock:
            actions = Actions(names)
            for action in self._actions:
                actions.add(action)
            points = drawn_points(self._curves, range(len(self._curves.health)))
            return EpisodeTrace(game, points, actions.of, Counter(self._passages.steps), self._decisions)

    def _prompt(self, event: Asked) -> list[int]:
        # A prompt mostly consists of known messages, and long windows make this the busiest line of a replay.
        messages, known = event.request.messages, self._tables["messages"].numbers.get
        numbers = [known(message.digest, -1) for message in messages]
        for place in [place for place, number in enumerate(numbers) if number < 0]:
            numbers[place] = self._message(messages[place])
        return steps_between(numbers)

    def _message(self, message: Message) -> int:
        table = self._tables["messages"]
        pictures = [self._picture(image) for image in message.images]
        shown = "\n".join(filter(None, (message.text, calls_text(message.calls))))
        return table.number(message.digest, [message.role, shown, *([pictures] if pictures else [])])

    def _picture(self, image: bytes) -> int:
        return self._tables["pictures"].number(digest(image), b64encode(image).decode())

    def _answered(self, event: Answered) -> None:
        reply, used = event.reply, event.reply.usage
        said = self._said[-1] if self._said else {}
        facts = {
            "text": reply.text,
            "calls": [[call.name, call.arguments] for call in reply.calls],
            "fingerprint": reply.fingerprint,
            "thought": reply.reasoning,
            "finish": "" if reply.finish == "stop" else reply.finish,
            "model": reply.model,
            "tries": reply.attempts if reply.attempts > 1 else 0,
            "trimmed": reply.trimmed,
            "tokens": [used.input, used.output, used.cached, used.reasoning],
        }
        said |= {name: value for name, value in facts.items() if value}
        said |= {"cost": reply.cost, "seconds": round(reply.latency, 3)}
        self._spend(
            event.step, event.purpose, (used.input, used.output, used.cached, used.reasoning, reply.cost),
            reply.latency,
        )  # fmt: skip

    def _spend(self, step: int, purpose: str, figures: Sequence[Any], seconds: float) -> None:
        self._spent.append((step, purpose, *figures, round(seconds, 3)))

    def _searched(self, event: Searched) -> None:
        self._passages.searched(event.passages)
        numbers = [self._passage(passage) for passage in event.passages]
        found = [[n, round(passage.score, 4)] for n, passage in zip(numbers, event.passages, strict=True)]
        self._lookups.see(self.count, numbers, event.passages)
        seconds = self._search_seconds()
        self._said.append({"query": event.query, "found": found, "seconds": round(seconds, 4)})
        self._spend(event.step, "search", (0, 0, 0, 0, 0.0), seconds)

    def _passage(self, passage: Passage) -> int:
        made = [passage.id, passage.title, passage.text, passage.url, passage.source, passage.licence]
        return self._tables["passages"].number((passage.id, passage.text), made)

    def _stepped(self, event: Stepped) -> None:
        decision, after, at = event.decision, event.after, event.step
        self._passages.stepped(decision.notes)
        self._decisions += 1
        moments = self._moments()
        made: dict[str, Any] = {"said": self._said} if self._said else {}
        self._said = []
        if decision.player is not None:
            made["player"] = decision.player.name
        elif decision.action != event.taken:
            made["asked"] = decision.action
        facts = {
            "reasoning": "" if made.get("said") else decision.reasoning,  # the answer itself is shown
            "notes": dict(decision.notes),
            "reward": after.reward,
            "stopped": after.stopped,
        }
        made |= {name: value for name, value in facts.items() if value}
        made |= {"keys": after.keys} if after.keys != after.count else {}
        self._marks += self._marker.decision(at, decision, event.taken)
        presses = [self._kind.hints.signals.press(press) for press in after.pressed]
        for place, action in enumerate(presses or [event.taken]):
            if presses:
                self._marks += self._marker.press(self.count, action)
            self._step(action, made if place == 0 else {})
            last = place == after.count - 1
            self._progress_sees(moments[place], after if last else None)
            self._moment(moments[place], after.observation if last else None)

    def _step(self, action: str, made: dict[str, Any]) -> None:
        self._actions.append(action)
        self._open.steps.append({"do": action, **made})

    def _moment(self, seen: PaintedMoment, observation: Observation | None) -> None:
        """Record how a moment looks; the first of a chunk closes the previous chunk."""
        at = self.count
        if at and at % CHUNK == 0:
            self._close()
        if not at:
            self._progress_sees(seen)
        screen, chunk = self._shown(seen, observation), self._open
        if chunk.screens:
            chunk.screens.append([changes(self._screen, screen), screen.cursor, screen.picture])
        else:
            chunk.screens.append([screen.whole, screen.cursor, screen.picture])
        self._screen = screen
        chunk.lines.append(
            "" if self._kind.display.blank(seen.numbers) else self._kind.display.headline(seen.numbers)
        )
        chunk.messages.append("" if observation is None else self._kind.hints.signals.message(observation))
        chunk.carried.append(-1 if observation is None else self._carried(observation))
        if observation is not None:
            self._loops.see(at, self._kind.hints.signals.screen(observation))
        self._squares.see({} if self._kind.display.blank(seen.numbers) else seen.numbers)
        progress = value_of(self._progress, self._kind)
        self._curves.see(seen.numbers, progress)
        self._marks += self._marker.moment(at, seen.numbers, observation, progress)

    def _carried(self, observation: Observation) -> int:
        """The number of the inventory's text; -1 if the game shows none."""
        text = inventory_of(observation)
        return self._tables["inventories"].number(text, text) if text else -1

    def _progress_sees(self, seen: PaintedMoment, after: Transition | None = None) -> None:
        if not self._kind.display.blank(seen.numbers):
            self._last = seen.numbers
            if after is None:
                self._progress.see(seen.numbers, 0.0, "")
            else:
                follow(self._progress, after, seen.numbers)

    def _shown(self, seen: PaintedMoment, observation: Observation | None) -> PackedScreen:
        painting = seen.painting
        if isinstance(painting, ColouredText):
            tiles = None if seen.tiles is None else self._picture(seen.tiles)
            return screen_of(painting)._replace(picture=tiles)
        text = observation.screen.split("\n") if observation is not None else self._screen.rows
        pictures = observation.pictures if observation is not None else ()
        image = painting or next(iter(pictures), None)
        return PackedScreen(text, picture=None if image is None else self._picture(image))

    def _ended(self, event: Ended) -> None:
        self._end = event
        self._progress.see(self._last, 0.0, event.outcome)  # some games are scored by their outcome only
        self._curves.last(value_of(self._progress, self._kind))
        self._marks.append(self._marker.end(self.count, event.outcome, event.words))

    def _close(self) -> None:
        self._closed.append(packed(self._written()))
        self._packed += len(self._closed[-1])
        self._open = _Chunk(self.count)
        for table in self._tables.values():
            table.close_chunk()

    def _written(self) -> dict[str, Any]:
        made = self._open.document()
        if self._said:
            made["open"] = list(self._said)
        return made | {name: list(table.new) for name, table in self._tables.items()}


class _Chunk:
    """The chunk that is being written."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.screens: list[Any] = []
        self.lines: list[str] = []
        self.messages: list[str] = []
        self.carried: list[int] = []
        self.steps: list[dict[str, Any]] = []

    def document(self) -> dict[str, Any]:
        """The chunk's content so far."""
        parts: dict[str, list[Any]] = {"screens": self.screens, "lines": self.lines, "steps": self.steps}
        parts |= {"heard": self.messages, "carried": self.carried}
        return {"at": self.at} | {name: list(part) for name, part in parts.items()}
