"""Count segments: within one, each prompt begins with the prompt before it and the answer to that.

A trainer can use a segment as one sequence of tokens. An append-only agent has one for as long as its prompts
fit; other agents begin one at every step.
"""

from collections.abc import Sequence

from balrog_rag.contracts.data import Message, Purpose, Reply
from balrog_rag.contracts.events import Answered, Asked, Event

OF_DIALOGUE: frozenset[Purpose] = frozenset({"act", "query"})
"""Purposes of the dialogue with the player; the others are separate questions, such as a summary of pages."""


class SegmentCounter:
    """A watcher that counts the segments of one episode."""

    def __init__(self) -> None:
        self.count = 0
        self.first_steps: list[int] = []
        """The step at which each segment begins."""
        self._asked: tuple[Message, ...] = ()
        self._reply: Reply | None = None

    def see(self, event: Event) -> None:
        """Compare a prompt with the one before."""
        match event:
            case Asked() if event.request.purpose in OF_DIALOGUE:
                messages = event.request.messages
                if self._reply is None or not continues(messages, self._asked, self._reply):
                    self.count += 1
                    self.first_steps.append(event.step)
                self._asked, self._reply = messages, None
            case Answered() if event.purpose in OF_DIALOGUE:
                self._reply = event.reply


def continues(messages: Sequence[Message], asked: Sequence[Message], reply: Reply) -> bool:
    """Whether a prompt begins with the prompt before it, followed by the reply to that."""
    behind = len(asked)
    if len(messages) <= behind:
        return False
    answer = messages[behind]
    return (answer.role, answer.text) == ("assistant", reply.text) and all(
        new is old or (new.role, new.text) == (old.role, old.text)
        for new, old in zip(messages, asked, strict=False)
    )
