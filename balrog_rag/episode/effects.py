"""The two handles of an agent to the outside world, with the journal between them and the agent.

Every effect is either taken from the tape (what an earlier attempt journaled, in order) or asked for
live and journaled before the agent sees it. Which of the two an agent cannot tell.
"""

import time
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import msgspec

from balrog_rag.contracts.behaviour import Meter, Model, Retriever, Watcher
from balrog_rag.contracts.data import AnswerFormat, Message, Passage, Purpose, Reply, Request, digest
from balrog_rag.contracts.errors import LimitReached, PluginError, ReplayError
from balrog_rag.contracts.events import Answered, Asked, Searched
from balrog_rag.episode.journal import Completion, End, Entry, Lookup, Recording, Start, Step, impossible
from balrog_rag.episode.outcome import RESUMABLE

E = TypeVar("E", Start, Completion, Lookup, Step, End)
Fit = Callable[[Sequence[Message]], tuple[Sequence[Message], int]]
"""Makes a prompt fit its model: the messages kept, and how many old turns were left out."""


class TapeEnd(Exception):
    """A replay that may not go live has come to the end of what was recorded."""


class Stopped(Exception):
    """The user asked to stop: the episode is left as journaled, to be gone on with later."""


class Book(Protocol):
    """Where new entries go: the journal file, here or on another machine."""

    def append(self, entry: Entry) -> None:
        """Add an entry behind those before it."""
        ...

    async def settle(self) -> None:
        """Return when all that was appended is safe."""
        ...


class Tape:
    """The journal of an episode in play: what is recorded is read first, what is new is appended."""

    def __init__(self, recording: Recording, writer: Book | None) -> None:
        """Without a writer the tape may only be replayed."""
        self._entries = recording.entries
        self._next = 0
        self._writer = writer
        self._texts: dict[str, str] = {}

    @property
    def replaying(self) -> bool:
        """Whether recorded entries are left."""
        return self._next < len(self._entries)

    def take(self, kind: type[E], where: str) -> E | None:
        """The next recorded entry, which must be of this kind; None where the record has ended."""
        if not self.replaying:
            if self._writer is None:
                raise TapeEnd
            return None
        entry = self._entries[self._next]
        if isinstance(entry, End) and kind is Completion and entry.outcome in RESUMABLE:
            raise LimitReached(entry.outcome)  # here a cap had cut the episode
        if not isinstance(entry, kind):
            raise ReplayError(
                f"{where}: the journal has {_name(entry)} where {kind.__name__.lower()} is asked for; "
                "agent, prompts or versions differ from those that wrote it"
            )
        self._next += 1
        if not self.replaying:
            self._entries, self._next = (), 0  # a long record is let go of once it is played
        return entry

    def upcoming_actions(self, most: int) -> list[str]:
        """The actions given in the next recorded steps, so that a game can run ahead of a replay."""
        actions: list[str] = []
        at = self._next
        while at < len(self._entries) and len(actions) < most:
            entry = self._entries[at]
            if isinstance(entry, Step):
                if entry.pressed:
                    break  # from here on a program plays by itself
                actions.append(entry.action)
            at += 1
        return actions

    def upcoming_burst(self) -> int:
        """How many presses the next recorded step holds; 0 where it is not a program's, or not recorded."""
        for entry in self._entries[self._next : self._next + 1]:
            if isinstance(entry, Step):
                return len(entry.pressed)
        return 0

    def write(self, entry: Entry) -> None:
        """Append a new entry."""
        if self._writer is None:
            raise TapeEnd
        self._writer.append(entry)

    async def settle(self) -> None:
        """Return when all new entries are safe."""
        if self._writer is not None:
            await self._writer.settle()

    def shorten(self, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Passages without the texts that this journal already holds."""
        short = []
        for passage in passages:
            known = self._texts.get(passage.id)
            short.append(msgspec.structs.replace(passage, text="") if known == passage.text else passage)
            self._texts[passage.id] = passage.text
        return tuple(short)

    def restore(self, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """The same with every text in its place."""
        full = []
        for passage in passages:
            if passage.text:
                self._texts[passage.id] = passage.text
                full.append(passage)
            else:
                full.append(msgspec.structs.replace(passage, text=self._texts.get(passage.id, "")))
        return tuple(full)


def _name(entry: Entry) -> str:
    return type(entry).__name__.lower()


class Clock:
    """Which step of which episode is being decided; shared by the handles of one episode."""

    def __init__(self, episode: str, stopping: Callable[[], bool]) -> None:
        """`stopping` is asked before anything new is begun."""
        self.episode = episode
        self.step = 0
        self._stopping = stopping

    def check(self) -> None:
        """Raise Stopped where the user wants to stop."""
        if self._stopping():
            raise Stopped

    def where(self) -> str:
        """For error texts."""
        return f"{self.episode}: step {self.step}"


class JournaledLLM:
    """The model handle: fits the prompt, keeps the caps, journals the answer."""

    def __init__(
        self, model: Model | None, tape: Tape, meter: Meter, clock: Clock, fit: Fit, watcher: Watcher
    ) -> None:
        """`model` may be None where the tape is only replayed."""
        self._model, self._tape, self._meter = model, tape, meter
        self._clock, self._fit, self._watcher = clock, fit, watcher

    async def complete(
        self, messages: Sequence[Message], purpose: Purpose = "act", answer: AnswerFormat | None = None
    ) -> Reply:
        """Ask the model, or the tape."""
        kept, trimmed = self._fit(messages)
        request = Request(tuple(kept), purpose, answer)
        self._watcher.see(Asked(self._clock.episode, self._clock.step, request))
        recorded = self._tape.take(Completion, self._clock.where())
        if recorded is not None:
            self._verify(recorded, request)
            reply = recorded.reply
        else:
            reply = await self._ask(request, trimmed)
        self._meter.charge(reply, purpose)
        self._watcher.see(Answered(self._clock.episode, self._clock.step, purpose, reply, recorded is None))
        return reply

    def _verify(self, recorded: Completion, request: Request) -> None:
        if recorded.request != request.digest or recorded.purpose != request.purpose:
            raise ReplayError(
                f"{self._clock.where()}: the {request.purpose} prompt is not the one that was answered "
                f"(digest {request.digest}, journal {recorded.request} for {recorded.purpose}); "
                "agent, prompts or versions differ from those that wrote it"
            )

    async def _ask(self, request: Request, trimmed: int) -> Reply:
        self._clock.check()
        self._meter.admit()
        assert self._model is not None
        reply = await self._model.complete(request)
        if what := impossible(reply):
            raise PluginError(f"{self._clock.where()}: model {self._model.name} gave {what}")
        if trimmed:
            reply = msgspec.structs.replace(reply, trimmed=trimmed + reply.trimmed)
        self._tape.write(Completion(self._clock.step, request.purpose, request.digest, reply))
        await self._tape.settle()
        return reply


class JournaledKnowledge:
    """The knowledge handle: journals what a search found."""

    def __init__(self, retriever: Retriever | None, tape: Tape, clock: Clock, watcher: Watcher) -> None:
        """`retriever` may be None where the tape is only replayed or knowledge is off."""
        self._retriever, self._tape, self._clock, self._watcher = retriever, tape, clock, watcher

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """Look up, live or on the tape."""
        recorded = self._tape.take(Lookup, self._clock.where())
        if recorded is not None:
            if (digest(recorded.query), recorded.k) != (digest(query), k):
                raise ReplayError(
                    f"{self._clock.where()}: the search {query!r} (k={k}) is not the journal's "
                    f"{recorded.query!r} (k={recorded.k})"
                )
            passages = self._tape.restore(recorded.passages)
        else:
            passages = await self._look_up(query, k)
        self._watcher.see(Searched(self._clock.episode, self._clock.step, query, passages))
        return passages

    async def _look_up(self, query: str, k: int) -> tuple[Passage, ...]:
        self._clock.check()
        begun = time.monotonic()
        found = tuple(await self._retriever.search(query, k)) if self._retriever is not None else ()
        latency = time.monotonic() - begun
        self._tape.write(Lookup(self._clock.step, query, k, self._tape.shorten(found), latency))
        await self._tape.settle()
        return found
