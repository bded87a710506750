"""One question to the model, in parts, so that wrappers can add to it."""

from dataclasses import dataclass, field, replace

from balrog_rag.contracts.data import AnswerFormat, Message, Reply


@dataclass
class Prompt:
    """Instruction, past turns, the newest observation, and the question about it."""

    head: tuple[Message, ...]
    past: list[Message]
    now: str
    order: str
    """The required answer format, in words."""
    answer: AnswerFormat | None
    images: tuple[bytes, ...] = ()
    guide: list[str] = field(default_factory=list)
    """Added to the instruction."""
    before: list[str] = field(default_factory=list)
    """Added before the newest observation."""
    after: list[str] = field(default_factory=list)
    """Added between the newest observation and the order."""
    more: list[str] = field(default_factory=list)
    """Added to the order."""
    results: tuple[str, ...] = ()
    """The tool calls whose results the newest observation brings."""

    def messages(self) -> list[Message]:
        """Return the turns to send."""
        words = "\n\n".join([*self.before, self.now, *self.after, self.order, *self.more])
        return [*self._head(), *self.past, Message("user", words, self.images, results=self.results)]

    def asking(self, order: str) -> "Prompt":
        """Return the same prompt with another question."""
        return replace(self, order=order, more=[], answer=None)

    def answered(self, question: "Prompt", reply: Reply) -> None:
        """Take note of an answer to this prompt, or to another question about it (`asking`)."""

    def shows(self, text: str) -> bool:
        """Whether the history already shows this text."""
        return False

    def _head(self) -> tuple[Message, ...]:
        if not self.guide:
            return self.head
        first = self.head[0]
        return (Message(first.role, "\n\n".join([first.text, *self.guide])), *self.head[1:])
