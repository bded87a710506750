"""An append-only history: every message stays as it was sent, so that each prompt begins with the one before.

Trainers and prompt caches can then use a whole segment as one sequence. A segment ends only where the next
prompt would exceed its limit: the oldest turns are dropped and the next segment begins.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from balrog_rag.agents.prompts.prompt import Prompt
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.contracts.data import AnswerFormat, Message, Observation, Reply
from balrog_rag.contracts.kinds import EnvironmentSignals
from balrog_rag.util.tokens import count_message

KEPT = 0.5
"""The share of the limit that a new segment begins with; more would soon reach the limit again."""
MOST_SCALE = 2.0


class Conversation:
    """The messages of the present segment."""

    def __init__(self, config: AgentConfig, signals: EnvironmentSignals) -> None:
        """`config.max_prompt_tokens` is the limit; None: there is none."""
        self._signals = signals
        self._trim = config.observation.map == "trimmed"
        self._images = config.max_image_history > 0
        self._limit = config.max_prompt_tokens
        self._scale = 1.0
        """How many of the provider's tokens are one of ours; the limit is in the provider's."""
        self.head: tuple[Message, ...] = ()
        self.turns: list[Message] = []
        self.segment = 1
        self.asked: Message | None = None
        """The newest question, as it was sent."""
        self._ended = False
        self._now: Observation | None = None
        """The newest observation until it has been sent."""
        self._open: tuple[str, ...] = ()
        """The tool calls whose results have not been sent."""

    def see(self, observation: Observation) -> None:
        """Take the newest observation."""
        self._now = self._signals.trimmed(observation) if self._trim else observation

    def do(self, action: str, answer: str = "") -> None:
        """Add a turn decided elsewhere; an answer that was requested here has been kept already."""
        if self._now is None:
            return
        if len(self._open) > 1:
            # The next call of the same answer: only the result of the one before is new.
            self.turns.append(self._observed(self._open[:1]))
            self._now, self._open = None, self._open[1:]
        else:
            self._append(self._observed(self._open), Message("assistant", answer or action))

    def prompt(self, head: tuple[Message, ...], order: str, answer: AnswerFormat | None) -> "AppendedPrompt":
        """Return the question about the newest observation."""
        assert self._now is not None, "see() comes first"
        self.head = head
        seen = self._observed()
        return AppendedPrompt(head, [], seen.text, "", answer, seen.images, conversation=self, reminder=order)

    def keep(self, reply: Reply) -> None:
        """Append the question that was sent and its answer."""
        assert self.asked is not None, "the question comes first"
        if reply.trimmed:
            # The provider refused the length and answered a shorter prompt, which is what continues.
            del self.turns[: reply.trimmed]
            self._ended = True
        elif self._limit is not None and reply.usage.input:
            self._scale = min(max(reply.usage.input / self._size(self.asked), 1.0), MOST_SCALE)
        thought = reply.reasoning if reply.reasoning_in else ""
        place = reply.reasoning_in
        said = Message("assistant", reply.text, (), False, thought, place, reply.calls, reply.native)
        self._append(self.asked, said)

    def make_room(self, question: Message) -> None:
        """Drop the oldest turns if the prompt would exceed its limit, which begins a new segment."""
        if self._ended:
            self.segment, self._ended = self.segment + 1, False
        excess = self._excess(question, 1.0)
        if excess <= 0:
            return
        dropped, excess = 0, self._excess(question, KEPT)
        # A question comes first: providers refuse a dialogue that begins with an answer.
        while dropped < len(self.turns) and (excess > 0 or self.turns[dropped].role == "assistant"):
            excess -= count_message(self.turns[dropped])
            dropped += 1
        if dropped:
            del self.turns[:dropped]
            self.segment += 1

    def holds(self, text: str) -> bool:
        """Whether a message of this segment has this text in it."""
        return any(text in turn.text for turn in self.turns)

    def _excess(self, question: Message, share: float) -> float:
        """Return how many tokens the prompt has beyond that share of its limit."""
        return -1.0 if self._limit is None else self._size(question) - share * self._limit / self._scale

    def _size(self, question: Message) -> int:
        return sum(map(count_message, (*self.head, *self.turns, question)))

    @property
    def open(self) -> tuple[str, ...]:
        """The tool calls whose results the next question brings."""
        return self._open

    def _observed(self, results: tuple[str, ...] = ()) -> Message:
        assert self._now is not None
        seen = self._now
        images = seen.pictures if self._images else ()
        lines = ["Observation:", seen.short_term, seen.long_term]
        lines += ["Image observation provided."] if images else []
        return Message("user", "\n".join(filter(None, lines)).rstrip("\n"), images, results=results)

    def _append(self, question: Message, answer: Message) -> None:
        self.turns += (question, answer)
        self._now, self._open = None, tuple(call.id for call in answer.calls)


@dataclass(kw_only=True)
class AppendedPrompt(Prompt):
    """A question that becomes part of the conversation as soon as it is answered."""

    conversation: Conversation
    reminder: str
    """The answer format; the instruction has it, so only a second question about one moment repeats it."""
    closing: Sequence[str] = ()
    """What ends this question."""
    said: bool = False
    """Whether the observation has been sent in an earlier question."""

    def messages(self) -> list[Message]:
        """Return the turns to send; may begin a new segment."""
        conversation = self.conversation
        conversation.make_room(self._question(self.order))
        # What wrappers add to the order is a standing instruction, sent once per segment.
        order = "" if conversation.holds(self.order.strip()) else self.order
        conversation.asked = self._question(order)
        return [*self.head, *conversation.turns, conversation.asked]

    def asking(self, order: str) -> Prompt:
        """Return the same prompt with another question."""
        return replace(self, order="", closing=(order,), more=[], answer=None)

    def answered(self, question: Prompt, reply: Reply) -> None:
        """Append the question and its answer; what follows it does not repeat what it said."""
        self.conversation.keep(reply)
        self.said, self.images, self.closing = True, (), (self.reminder,)
        self.before, self.after = [], []
        if question is self:
            self.more = []

    def shows(self, text: str) -> bool:
        """Whether an earlier message of the segment has this text."""
        return self.conversation.holds(text)

    def _question(self, order: str) -> Message:
        now = [] if self.said else [self.now]
        words = [*self.before, *now, *self.after, order.strip(), *self.closing, *self.more]
        text = "\n\n".join(filter(None, words))
        return Message("user", text, self.images, results=self.conversation.open)
