"""A person at the terminal: each line is a call, as a client's calls are."""

import asyncio
import os
import selectors
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TextIO

from balrog_rag.agents.client_calls import written_call
from balrog_rag.clients.client_run import ClientRun
from balrog_rag.clients.client_tools import ClientCalls
from balrog_rag.clients.exchange import ClientExchange, ClientGone
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.run.run import RunOutcome
from balrog_rag.util.terminal_safe import terminal_safe

PERSON = "person"
LEAVE = "left; the game is kept"
HELP = """/observe    show the newest observation again
/search W   look W up (with agent.retrieval.enabled=true)
/pause      stop the clock until the next line
/leave      stop here; resume later at the same step
/give_up    end the game with the progression made so far
/rules      show the rules again"""


class Left(Exception):
    """The person leaves; the game is kept."""


def call_of(line: str) -> str | None:
    """Return the call that a line means; None for a line that is only for the terminal."""
    line = line.strip()
    if not line.startswith("/"):
        actions = [part.strip() for part in line.split(",")]
        return written_call("act", {"action": actions[0] if len(actions) == 1 else actions})
    word, _, rest = line[1:].partition(" ")
    if word in ("observe", "give_up"):
        return written_call(word)
    return written_call("search", {"query": rest}) if word == "search" and rest.strip() else None


def refuse_untypable(source: TextIO | None) -> None:
    """Refuse an input that cannot be waited for: a file, /dev/null, or none."""
    try:
        if source is not None:
            with selectors.DefaultSelector() as selector:
                selector.register(source, selectors.EVENT_READ)
            return
    except (OSError, ValueError):
        pass
    raise ConfigError(
        "agent=human: standard input is neither a terminal nor a pipe; run it in a terminal, or "
        "`balrog-rag play --browser`"
    )


class TypedLines:
    """Lines typed at the terminal, read without blocking the game."""

    def __init__(self, source: TextIO) -> None:
        self._file = source.fileno()
        self._rest = b""
        self._found: asyncio.Queue[str | None] = asyncio.Queue()

    @asynccontextmanager
    async def open(self) -> AsyncIterator["TypedLines"]:
        """Read while the body runs."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._file, self._read)
        try:
            yield self
        finally:
            loop.remove_reader(self._file)

    def _read(self) -> None:
        try:
            data = os.read(self._file, 65536)
        except OSError:  # the terminal was closed
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._file)
            self._found.put_nowait(None)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._found.put_nowait(line.decode("utf-8", "replace").rstrip("\r"))

    async def next(self) -> str:
        """Return the next line; raise Left at the end of the input."""
        line = await self._found.get()
        if line is None:
            raise Left
        return line


class TerminalPlayer:
    """Plays a run's games with a person."""

    def __init__(self, clients: ClientRun, lines: TypedLines, out: TextIO) -> None:
        self._clients, self._lines, self._out = clients, lines, out

    async def play(self) -> None:
        """Play game after game, until there is none or the person leaves."""
        while (game := self._clients.next_game(PERSON)) is not None:
            text = await game.question()
            self._say(f"{game.instruction}\n\nEpisode {game.episode}, step {game.step}. /help lists more.\n")
            await self._one(game, text)
        self._say(ClientCalls(self._clients).scores())

    async def _one(self, game: ClientExchange, text: str) -> None:
        while True:
            self._say(text)
            if game.over:
                return
            text = await game.call(await self._call(game))

    async def _call(self, game: ClientExchange) -> str:
        """Return the next call, after what the terminal does by itself."""
        while True:
            print("> ", end="", file=self._out, flush=True)
            line = (await self._lines.next()).strip()
            game.resume()
            word = line.partition(" ")[0]
            if word == "/leave":
                raise Left
            if word == "/pause":
                game.pause()
                self._say("paused; press Enter to go on")
            elif word == "/rules":
                self._say(game.instruction)
            elif line and (call := call_of(line)) is not None:
                return call
            elif line:
                self._say(HELP)

    def _say(self, text: str) -> None:
        print(terminal_safe(text), file=self._out, flush=True)


async def at_the_terminal(clients: ClientRun) -> RunOutcome:
    """Let a person play the run at the terminal."""
    out = sys.stdout
    async with TypedLines(sys.stdin).open() as lines:
        play = asyncio.create_task(clients.play())
        person = asyncio.create_task(TerminalPlayer(clients, lines, out).play())
        try:
            await asyncio.wait([play, person], return_when=asyncio.FIRST_COMPLETED)
            if person.done() and isinstance(person.exception(), Left):
                print(LEAVE, file=out, flush=True)
                clients.stop(signal.SIGINT, "/leave")
            elif person.done() and (error := person.exception()) and not isinstance(error, ClientGone):
                raise error
            outcome = await play
            if outcome.tally.complete:
                await asyncio.wait([person])  # the scores are still to be read
            return outcome
        finally:
            for task in (play, person):
                task.cancel()
            await asyncio.gather(play, person, return_exceptions=True)
