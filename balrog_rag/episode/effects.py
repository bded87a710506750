"""The two handles of an agent to the outside world, with the journal between them and the agent.

Every effect is either taken from the journal (what an earlier attempt wrote, in order) or asked for
live and journaled before the agent sees it. Which of the two an agent cannot tell.
"""

import time
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import msgspec

from balrog_rag.contracts.behaviour import Meter, Model, Retriever, Watcher
from balrog_rag.contracts.data import AnswerFormat, Burst, Message, Passage, Purpose, Reply, Request, digest
from balrog_rag.contracts.errors import BalrogError, LimitReached, PluginError, ReplayError
from balrog_rag.contracts.events import Answered, Asked, Searched
from balrog_rag.episode.journal import Completion, End, Entry, Lookup, Recording, Start, Step, impossible
from balrog_rag.episode.outcome import PLAYER_LOST, RESUMABLE
from balrog_rag.util.blame import blame_of
from balrog_rag.util.surrogates import cleaned

E = TypeVar("E", Start, Completion, Lookup, Step, End)
Fit = Callable[[Sequence[Message]], tuple[Sequence[Message], int]]
"""Makes a prompt fit its model: the messages kept, and how many old turns were left out."""


class EndOfJournal(Exception):
    """A replay that may not go live has come to the end of what was recorded."""


class Stopped(Exception):
    """The user asked to stop: the episode is left as journaled, to be gone on with later."""


class JournalSink(Protocol):
    """Where new entries go: the journal file, here or on another machine."""

    def append(self, entry: Entry) -> None:
        """Add an entry behind those before it."""
        ...

    async def settle(self) -> None:
        """Return when all that was appended is safe."""
        ...


class JournalCursor:
    """The journal of an episode in play: what is recorded is read first, what is new is appended."""

    def __init__(self, recording: Recording, writer: JournalSink | None) -> None:
        """Without a writer the journal may only be replayed."""
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
                raise EndOfJournal
            return None
        entry = self._entries[self._next]
        if isinstance(entry, End) and kind is Completion and entry.outcome in RESUMABLE:
            raise LimitReached(entry.outcome, entry.of_run)  # here a cap had cut the episode
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

    def upcoming_burst(self) -> Burst | None:
        """What the next recorded step holds of a program's presses; None where it is not recorded."""
        step, end = (*self._entries[self._next : self._next + 2], None, None)[:2]
        if not isinstance(step, Step):
            return None
        lost = end.outcome if isinstance(end, End) and end.outcome in PLAYER_LOST else ""
        burst = Burst(len(step.pressed), step.pressed, lost, step.stopped)
        return burst if step.pressed or lost else None

    def write(self, entry: Entry) -> None:
        """Append a new entry."""
        if self._writer is None:
            raise EndOfJournal
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


class StepCursor:
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
        self,
        model: Model | None,
        cursor: JournalCursor,
        meter: Meter,
        at: StepCursor,
        fit: Fit,
        watcher: Watcher,
    ) -> None:
        """`model` may be None where the journal is only replayed."""
        self._model, self._cursor, self._meter = model, cursor, meter
        self._at, self._fit, self._watcher = at, fit, watcher

    async def complete(
        self, messages: Sequence[Message], purpose: Purpose = "act", answer: AnswerFormat | None = None
    ) -> Reply:
        """Ask the model, or take its journaled answer."""
        kept, trimmed = self._fit(messages)
        request = Request(tuple(kept), purpose, answer)
        self._watcher.see(Asked(self._at.episode, self._at.step, request))
        recorded = self._cursor.take(Completion, self._at.where())
        if recorded is not None:
            self._verify(recorded, request)
            reply = recorded.reply
        else:
            reply = await self._ask(request, trimmed)
        self._meter.charge(reply, purpose)
        self._watcher.see(Answered(self._at.episode, self._at.step, purpose, reply, recorded is None))
        return reply

    def _verify(self, recorded: Completion, request: Request) -> None:
        if recorded.request != request.digest or recorded.purpose != request.purpose:
            raise ReplayError(
                f"{self._at.where()}: the {request.purpose} prompt is not the one that was answered "
                f"(digest {request.digest}, journal {recorded.request} for {recorded.purpose}); "
                "agent, prompts or versions differ from those that wrote it"
            )

    async def _ask(self, request: Request, trimmed: int) -> Reply:
        self._at.check()
        self._meter.admit()
        assert self._model is not None
        reply = self._checked(await self._answer(self._model, request), self._model)
        if trimmed:
            reply = msgspec.structs.replace(reply, trimmed=trimmed + reply.trimmed)
        self._cursor.write(Completion(self._at.step, request.purpose, request.digest, reply))
        await self._cursor.settle()
        return reply

    async def _answer(self, model: Model, request: Request) -> Reply:
        try:
            return await model.complete(request)
        except (BalrogError, LimitReached, Stopped):
            raise
        except Exception as error:  # the model may be anybody's
            line, trace = blame_of(error)
            raise PluginError(f"{self._at.where()}: model {model.name} raised {line}", trace) from error

    def _checked(self, reply: Reply, model: Model) -> Reply:
        """An answer that a journal can hold: lone surrogates are replaced, wrong types refused."""
        where = f"{self._at.where()}: model {model.name}"
        if not isinstance(reply, Reply):
            raise PluginError(f"{where} returned {reply!r:.60}; return a balrog_rag Reply from complete()")
        try:
            reply = msgspec.convert(cleaned(msgspec.to_builtins(reply)), Reply)
        except (msgspec.ValidationError, TypeError) as error:
            raise PluginError(f"{where} returned a Reply that cannot be journaled: {error}") from error
        if what := impossible(reply):
            raise PluginError(f"{where} gave {what}")
        return reply


class JournaledKnowledge:
    """The knowledge handle: journals what a search found."""

    def __init__(
        self, retriever: Retriever | None, cursor: JournalCursor, at: StepCursor, watcher: Watcher
    ) -> None:
        """`retriever` may be None where the journal is only replayed or knowledge is off."""
        self._retriever, self._cursor, self._at, self._watcher = retriever, cursor, at, watcher

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """Look up, live or in the journal."""
        recorded = self._cursor.take(Lookup, self._at.where())
        if recorded is not None:
            if (digest(recorded.query), recorded.k) != (digest(query), k):
                raise ReplayError(
                    f"{self._at.where()}: the search {query!r} (k={k}) is not the journal's "
                    f"{recorded.query!r} (k={recorded.k})"
                )
            passages = self._cursor.restore(recorded.passages)
        else:
            passages = await self._look_up(query, k)
        self._watcher.see(Searched(self._at.episode, self._at.step, query, passages))
        return passages

    async def _found(self, query: str, k: int) -> tuple[Passage, ...]:
        if self._retriever is None:
            return ()
        try:
            return tuple(await self._retriever.search(query, k))
        except (BalrogError, Stopped):
            raise
        except Exception as error:  # the retriever may be anybody's
            line, trace = blame_of(error)
            raise PluginError(f"{self._at.where()}: the search {query!r:.60} raised {line}", trace) from error

    async def _look_up(self, query: str, k: int) -> tuple[Passage, ...]:
        self._at.check()
        begun = time.monotonic()
        found = await self._found(query, k)
        latency = time.monotonic() - begun
        self._cursor.write(Lookup(self._at.step, query, k, self._cursor.shorten(found), latency))
        await self._cursor.settle()
        return found
