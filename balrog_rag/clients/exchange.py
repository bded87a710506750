"""One episode between the play loop, which asks, and a player outside, whose calls are the answers."""

import asyncio
import time

from balrog_rag.contracts.data import Reply, Request, Usage
from balrog_rag.contracts.events import Event, Stepped
from balrog_rag.episode.effects import Stopped


class ClientGone(Exception):
    """The run is stopping, or the episode failed; the message is one line for the player."""


class ClientExchange:
    """The model of one episode: its answers are the calls of the player who has claimed it.

    The play loop waits in `complete`, the player's side in `call`. Calls are taken one at a time, in order.
    """

    def __init__(self, episode: str, model: str) -> None:
        self.episode, self.name = episode, model
        self.holder: str | None = None
        """Who plays it: a client's name, "" for a client without one; None: nobody."""
        self.instruction = self.text = self.closing = ""
        """The newest question: the instruction, the observation; and what is said at the end."""
        self.step = 0
        self.last_call = time.monotonic()
        self.over = False
        self._failure = ""
        self._claimed, self._turn, self._order = asyncio.Event(), asyncio.Event(), asyncio.Lock()
        self._answer: asyncio.Future[Reply] | None = None
        self._asked_at = self._paused_at = 0.0

    @property
    def playable(self) -> bool:
        """Whether it is neither over nor failed."""
        return not self.over and not self._failure

    # --- the play loop's side ---

    async def claimed(self) -> None:
        """Return once a player wants to play the episode; raise Stopped if the run stops first."""
        await self._claimed.wait()
        if self._failure:
            raise Stopped

    async def complete(self, request: Request) -> Reply:
        """Ask the player, and wait for the next call."""
        if self._failure:
            raise Stopped
        self.instruction, self.text = request.messages[0].text, request.messages[-1].text
        self._answer = asyncio.get_running_loop().create_future()
        self._asked_at, self._paused_at = time.monotonic(), 0.0
        self._turn.set()
        try:
            return await self._answer
        finally:
            self._answer = None

    async def close(self) -> None:
        """Do nothing: the session ends the exchange."""

    def see(self, event: Event) -> None:
        """Follow the episode's steps."""
        if isinstance(event, Stepped):
            self.step = event.step + event.after.count

    def end(self, closing: str) -> None:
        """Tell the player that the episode is over."""
        self.over, self.closing = True, closing
        self._turn.set()

    def fail(self, why: str) -> None:
        """End all waiting: the run is stopping, or the episode failed."""
        self._failure = self._failure or why
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(Stopped())
        self._claimed.set()
        self._turn.set()

    # --- the player's side ---

    async def question(self) -> str:
        """Claim the episode, and return the newest observation once the play loop asks."""
        self._claimed.set()
        await self._asked()
        return self.closing if self.over else self.text

    async def call(self, text: str, usage: Usage | None = None, dollars: float | None = None) -> str:
        """Answer the newest question with a call; return the next question, or the end."""
        async with self._order:
            await self._asked()
            if self.over:
                return self.closing
            assert self._answer is not None
            self.last_call = time.monotonic()
            self.resume()
            reply = Reply(text, usage=usage or Usage(), cost=dollars, latency=self.last_call - self._asked_at)
            self._turn.clear()
            self._answer.set_result(reply)
            await self._asked()
            return self.closing if self.over else self.text

    def pause(self) -> None:
        """Stop the clock of this decision."""
        self._paused_at = self._paused_at or time.monotonic()

    def resume(self) -> None:
        """Let the clock of this decision run on, without the pause."""
        if self._paused_at:
            self._asked_at += time.monotonic() - self._paused_at
            self._paused_at = 0.0

    async def _asked(self) -> None:
        await self._turn.wait()
        if self._failure and not self.over:
            raise ClientGone(self._failure)
