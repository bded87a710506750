"""An episode as turns: the calls of a model, the searches and the action of each step, collected by a replay.

Exporters that show an episode as a conversation are built on this: what a model was asked first, then its
answers, searches and actions as tool calls, and the observations as their results.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from balrog_rag.contracts.data import Message, Observation, Reply, Request
from balrog_rag.contracts.events import Answered, Asked, Ended, Event, Searched, Started, Stepped

SEARCH, ACT = "search", "act"
"""Names of the harness's own tools in exported conversations."""
TOOLS = (ACT, SEARCH)
DESCRIPTIONS = {
    ACT: "Take an action in the game, or press keys, as a program does.",
    SEARCH: "Search the knowledge base.",
}


class AnsweredRequest(msgspec.Struct, frozen=True):
    """One call of a model."""

    request: Request
    reply: Reply


class Turn(msgspec.Struct):
    """One step of an episode; the last one has no action if a limit ended the episode before it."""

    number: int
    stepped: Stepped | None = None
    order: list[AnsweredRequest | Searched] = []
    """Calls and searches as they happened."""


class Turns:
    """A watcher that collects the turns of one episode."""

    def __init__(self) -> None:
        self.first: Observation | None = None
        self.turns: list[Turn] = []
        self.end: Ended | None = None
        self._asked: Request | None = None
        self._turn = Turn(0)

    def see(self, event: Event) -> None:
        """Process an event; a step of the game completes a turn."""
        match event:
            case Started():
                self.first = event.observation
            case Asked():
                self._asked = event.request
            case Answered() if self._asked is not None:
                self._turn.order.append(AnsweredRequest(self._asked, event.reply))
            case Searched():
                self._turn.order.append(event)
            case Stepped():
                self._turn.number, self._turn.stepped = event.step, event
                self._complete()
            case Ended():
                self.end = event
                if self._turn.order:  # answered, but a limit ended the episode before the action
                    self._turn.number = event.steps
                    self._complete()

    def _complete(self) -> None:
        self.turns.append(self._turn)
        self._turn = Turn(0)


class ToolUse(msgspec.Struct, frozen=True):
    """A tool call in a conversation."""

    id: str
    name: str
    arguments: Mapping[str, Any]


class ChatLine(msgspec.Struct, frozen=True):
    """One message of an exported conversation."""

    role: str
    text: str
    reasoning: str = ""
    model: str = ""
    uses: tuple[ToolUse, ...] = ()
    answers: str = ""
    """The id of the tool call whose result this is."""
    tool: str = ""


def conversation(found: Turns) -> Iterator[ChatLine]:
    """Yield an episode as a conversation: instruction, first observation, then every turn.

    Prompts repeat what came before and are left out: each message appears once.
    """
    yield from (ChatLine(message.role, message.text) for message in _instruction(found))
    if found.first is not None:
        yield ChatLine("user", found.first.screen)
    for turn in found.turns:
        yield from _turn_lines(turn)


def _instruction(found: Turns) -> list[Message]:
    done = (each for turn in found.turns for each in turn.order)
    asked = (each.request for each in done if isinstance(each, AnsweredRequest))
    first = next((request for request in asked if request.purpose == "act"), None)
    # In BALROG's layout the instruction is a message of the user, before the newest observation.
    return list(first.messages[:1]) if first is not None and len(first.messages) > 1 else []


def _turn_lines(turn: Turn) -> Iterator[ChatLine]:
    last = max(
        (place for place, each in enumerate(turn.order) if isinstance(each, AnsweredRequest)), default=-1
    )
    for place, each in enumerate(turn.order):
        if isinstance(each, Searched):
            use = ToolUse(f"search-{turn.number}-{place}", SEARCH, {"query": each.query})
            yield ChatLine("assistant", "", uses=(use,))
            text = "\n\n".join(f"{passage.title}\n{passage.text}" for passage in each.passages)
            yield ChatLine("tool", text, answers=use.id, tool=SEARCH)
        else:
            uses = _action(turn) if place == last else ()
            yield ChatLine("assistant", each.reply.text, each.reply.reasoning, each.reply.model, uses)
    if turn.stepped is None:
        return
    if last < 0:  # a program decided
        yield ChatLine("assistant", "", uses=_action(turn))
    yield ChatLine("tool", turn.stepped.after.observation.screen, answers=f"step-{turn.number}", tool=ACT)


def _action(turn: Turn) -> tuple[ToolUse, ...]:
    if turn.stepped is None:
        return ()
    pressed = turn.stepped.after.pressed
    arguments: dict[str, Any] = {"pressed": list(pressed)} if pressed else {"action": turn.stepped.taken}
    return (ToolUse(f"step-{turn.number}", ACT, arguments),)
