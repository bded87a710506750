"""The two handles of an agent to the outside world, with the journal between them and the agent.

Every effect is either taken from the journal (what an earlier attempt wrote, in order) or requested
live and journaled before the agent sees it. The agent cannot tell which.
"""

import time
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar, get_args

import msgspec

from balrog_rag.contracts import validation
from balrog_rag.contracts.behaviour import Meter, Model, Retriever, Watcher
from balrog_rag.contracts.blame import blame_of
from balrog_rag.contracts.data import AnswerFormat, Burst, Message, Passage, Purpose, Reply, Request, digest
from balrog_rag.contracts.errors import BalrogError, LimitReached, PluginError, ReplayError
from balrog_rag.contracts.events import Answered, Asked, Searched
from balrog_rag.contracts.outcome import PLAYER_LOST, RESUMABLE
from balrog_rag.contracts.surrogates import cleaned
from balrog_rag.episode.journal import (
    Completion,
    End,
    Entry,
    Lookup,
    Recording,
    Start,
    Step,
    impossible_figure,
)

E = TypeVar("E", Start, Completion, Lookup, Step, End)
Fit = Callable[[Sequence[Message]], tuple[Sequence[Message], int]]
"""Trims a prompt to its model's limit: returns the messages kept and the number of old turns dropped."""


class EndOfJournal(Exception):
    """A replay that may not go live has reached the end of the journal."""


class Stopped(Exception):
    """The user asked to stop: the journal stays as it is, and the episode can be resumed."""


class JournalSink(Protocol):
    """Where new entries go: the journal file, on this machine or on another."""

    def append(self, entry: Entry) -> None:
        """Append an entry."""
        ...

    async def settle(self) -> None:
        """Return when all appended entries are safely stored."""
        ...


class JournalCursor:
    """The journal of a running episode: recorded entries are read first, then new ones are appended."""

    def __init__(self, recording: Recording, writer: JournalSink | None) -> None:
        """Pass `writer=None` for a replay that may not go live."""
        self._entries = recording.entries
        self._next = 0
        self.recorded = recording.count
        """Number of steps in the recording."""
        self._writer = writer
        self._texts: dict[str, str] = {}

    @property
    def replaying(self) -> bool:
        """Whether unread recorded entries remain."""
        return self._next < len(self._entries)

    def take(self, kind: type[E], where: str) -> E | None:
        """Return the next recorded entry, which must be of this kind; None after the last one."""
        if not self.replaying:
            if self._writer is None:
                raise EndOfJournal
            return None
        entry = self._entries[self._next]
        # A cap belongs to its run, not to the game, so it is not recomputed on replay: the recorded cap is
        # raised at the model call where it took effect.
        if isinstance(entry, End) and kind is Completion and entry.outcome in RESUMABLE:
            raise LimitReached(entry.outcome, entry.of_run)
        if not isinstance(entry, kind):
            raise ReplayError(
                f"{where}: the journal has {_name(entry)} where {kind.__name__.lower()} is asked for; "
                "agent, prompts or versions differ from those that wrote it"
            )
        self._next += 1
        if not self.replaying:
            self._entries, self._next = (), 0  # frees a long recording as soon as it has been replayed
        return entry

    @property
    def live(self) -> bool:
        """Whether new entries may be appended."""
        return self._writer is not None

    def upcoming_steps(self, most: int) -> list[Step]:
        """Return the next recorded steps, so that the game can run ahead of a replay."""
        steps: list[Step] = []
        at = self._next
        while at < len(self._entries) and len(steps) < most:
            entry = self._entries[at]
            if isinstance(entry, Step):
                if entry.pressed:
                    # The next player is a program: its steps are key presses, which are replayed as bursts.
                    break
                steps.append(entry)
            at += 1
        return steps

    def upcoming_burst(self) -> Burst | None:
        """Return the key presses of a program in the next recorded step; None if that step has none."""
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
        """Return when all new entries are safely stored."""
        if self._writer is not None:
            await self._writer.settle()

    def shorten(self, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Drop the texts of passages whose text this journal already contains."""
        short = []
        # The text is compared as well as the id: a rebuilt index may use an id for another text.
        for passage in passages:
            known = self._texts.get(passage.id)
            short.append(msgspec.structs.replace(passage, text="") if known == passage.text else passage)
            self._texts[passage.id] = passage.text
        return tuple(short)

    def restore(self, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Put the texts back that `shorten` dropped."""
        # Texts are remembered here too, so that entries appended after a resume can refer to them.
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
    """Episode name and current step, shared by the handles of one episode."""

    def __init__(self, episode: str, stopping: Callable[[], bool]) -> None:
        """`stopping` is called before any new work starts."""
        self.episode = episode
        self.step = 0
        self._stopping = stopping

    def check(self) -> None:
        """Raise Stopped if the user asked to stop."""
        if self._stopping():
            raise Stopped

    def where(self) -> str:
        """Return the position for error messages."""
        return f"{self.episode}: step {self.step}"


class JournaledLLM:
    """The model handle: trims the prompt, enforces the caps, journals the answer."""

    def __init__(
        self,
        model: Model | None,
        cursor: JournalCursor,
        meter: Meter,
        at: StepCursor,
        fit: Fit,
        watcher: Watcher,
    ) -> None:
        """`model` may be None if the journal is only replayed."""
        self._model, self._cursor, self._meter = model, cursor, meter
        self._at, self._fit, self._watcher = at, fit, watcher

    async def complete(
        self, messages: Sequence[Message], purpose: Purpose = "act", answer: AnswerFormat | None = None
    ) -> Reply:
        """Ask the model, or return its journaled answer."""
        kept, trimmed = self._fit(messages)
        request = checked_request(tuple(kept), purpose, answer)
        self._watcher.see(Asked(self._at.episode, self._at.step, request))
        recorded = self._cursor.take(Completion, self._at.where())
        if recorded is not None:
            self._verify(recorded, request)
            reply = recorded.reply
        else:
            reply = await self._ask(request, trimmed)
        # Recorded answers are charged too: an episode's caps count from its first step, not from the resume.
        self._meter.charge(reply, purpose)
        self._watcher.see(Answered(self._at.episode, self._at.step, purpose, reply, recorded is None))
        return reply

    def _verify(self, recorded: Completion, request: Request) -> None:
        if recorded.request != request.digest or recorded.purpose != request.purpose:
            raise ReplayError(
                f"{self._at.where()}: the {request.purpose} prompt differs from the one that was answered "
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
        # Journaled and stored before the agent sees it: a paid answer must survive a crash from here on.
        self._cursor.write(Completion(self._at.step, request.purpose, request.digest, reply))
        await self._cursor.settle()
        return reply

    async def _answer(self, model: Model, request: Request) -> Reply:
        try:
            return await model.complete(request)
        except (BalrogError, LimitReached, Stopped):
            raise
        except Exception as error:  # a model plug-in can raise anything
            line, trace = blame_of(error)
            raise PluginError(f"{self._at.where()}: model {model.name} raised {line}", trace) from error

    def _checked(self, reply: Reply, model: Model) -> Reply:
        """Return the answer in a form that can be journaled; refuse wrong types and impossible figures."""
        who = f"{self._at.where()}: model {model.name}"
        reply = validation.reply(reply, who, "complete()")
        if what := impossible_figure(reply):
            raise PluginError(f"{who} gave {what}; correct complete()")
        return reply


PURPOSES = get_args(Purpose)


def checked_request(messages: tuple[Message, ...], purpose: Purpose, answer: AnswerFormat | None) -> Request:
    """Return the question of an agent; refused before it is paid for if its answer could not be journaled."""
    for place, message in enumerate(messages):
        if not isinstance(message, Message) or not isinstance(message.text, str):
            raise TypeError(
                f"llm.complete(): messages[{place}] is {validation.shown(message)}; use a Message"
            )
    if purpose not in PURPOSES:
        known = ", ".join(PURPOSES)
        raise TypeError(f"llm.complete(): purpose is {validation.shown(purpose)}; use one of {known}")
    return Request(messages, purpose, answer)


class JournaledKnowledge:
    """The knowledge handle: journals search results."""

    def __init__(
        self, retriever: Retriever | None, cursor: JournalCursor, at: StepCursor, watcher: Watcher
    ) -> None:
        """`retriever` may be None if the journal is only replayed or knowledge is off."""
        self._retriever, self._cursor, self._at, self._watcher = retriever, cursor, at, watcher

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """Search, live or from the journal."""
        if not isinstance(query, str) or type(k) is not int:
            asked = f"{validation.shown(query)}, {validation.shown(k)}"
            raise TypeError(f"knowledge.search({asked}): use a text and an integer")
        query = cleaned(query)
        recorded = self._cursor.take(Lookup, self._at.where())
        if recorded is not None:
            if (digest(recorded.query), recorded.k) != (digest(query), k):
                raise ReplayError(
                    f"{self._at.where()}: the search {query!r} (k={k}) differs from the journal's "
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
            found = await self._retriever.search(query, k)
        except (BalrogError, Stopped):
            raise
        except Exception as error:  # a retriever plug-in can raise anything
            line, trace = blame_of(error)
            raise PluginError(f"{self._at.where()}: the search {query!r:.60} raised {line}", trace) from error
        who = f"{self._at.where()}: knowledge base {getattr(self._retriever, 'name', '')}"
        return validation.passages(found, who, "search()")

    async def _look_up(self, query: str, k: int) -> tuple[Passage, ...]:
        self._at.check()
        begun = time.monotonic()
        found = await self._found(query, k)
        latency = time.monotonic() - begun
        self._cursor.write(Lookup(self._at.step, query, k, self._cursor.shorten(found), latency))
        await self._cursor.settle()
        return found
