"""An episode's dialogues as training samples: one per segment, with the answers to train on marked."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from balrog_rag.contracts.data import Message, Purpose, Reply, Request, digest
from balrog_rag.contracts.events import Answered, Asked, Event, Started, Stepped
from balrog_rag.episode.segments import OF_DIALOGUE, continues


class SampledAnswer(msgspec.Struct):
    """One answer of a dialogue."""

    step: int
    place: int
    """Its index among the messages of the sample."""
    purpose: Purpose
    question: str
    """Digest of the prompt that it answers."""
    text: str
    trained: bool
    """Whether it is to be learned."""

    @property
    def digest(self) -> str:
        """Digest of prompt and answer, equal for the same answer to the same prompt."""
        return digest(f"{self.question}\n{self.text}")


class Sample(msgspec.Struct):
    """One segment: the messages of its last prompt and the answer to that, each message once."""

    segment: int
    """Its number in the episode, from 1."""
    messages: tuple[Message, ...]
    decisions: list[SampledAnswer]

    @property
    def trained(self) -> list[int]:
        """The indices of the messages to learn."""
        return [decision.place for decision in self.decisions if decision.trained]


class SampleCollector:
    """A watcher that hands on each segment of an episode as soon as it is complete."""

    def __init__(self, give: Callable[[Sample], None]) -> None:
        """`give` is called with every segment; `finish` must be called at the end."""
        self._give = give
        self._segments = 0
        self._request: Request | None = None
        self._reply: Reply | None = None
        self._decisions: list[SampledAnswer] = []
        self._step: list[SampledAnswer] = []

    def see(self, event: Event) -> None:
        """Process an event."""
        match event:
            case Started():
                self._step = []
            case Asked() if event.request.purpose in OF_DIALOGUE:
                self._ask(event.request)
            case Answered() if event.purpose in OF_DIALOGUE:
                self._answer(event)
            case Stepped():
                if event.taken != event.decision.action:
                    # The game refused the answer, which is then no example to learn from.
                    for decision in self._step:
                        decision.trained = False
                self._step = []

    def finish(self) -> None:
        """Hand on the last segment."""
        if self._request is not None and self._reply is not None and self._decisions:
            self._segments += 1
            messages = (*self._request.messages, answer_of(self._reply))
            self._give(Sample(self._segments, messages, self._decisions))
        self._request, self._reply, self._decisions = None, None, []

    def _ask(self, request: Request) -> None:
        before, reply = self._request, self._reply
        if before is None or reply is None or not continues(request.messages, before.messages, reply):
            self.finish()
        self._request, self._reply = request, None

    def _answer(self, event: Answered) -> None:
        assert self._request is not None
        self._reply = event.reply
        request = self._request
        # A provider that dropped turns answered another prompt than the one recorded.
        learned = not event.reply.trimmed and bool(event.reply.text or event.reply.calls)
        decision = SampledAnswer(
            event.step, len(request.messages), event.purpose, request.digest, event.reply.text, learned
        )
        self._decisions.append(decision)
        self._step.append(decision)


def answer_of(reply: Reply) -> Message:
    """Return an answer as the message that an append-only dialogue keeps."""
    thought = reply.reasoning if reply.reasoning_in else ""
    place = reply.reasoning_in
    return Message("assistant", reply.text, (), False, thought, place, reply.calls, reply.native)


def as_chat(messages: Sequence[Message], trained: Sequence[int] | None = None) -> Iterator[dict[str, object]]:
    """Return messages as trainers read them; with `trained`, answers have a weight of 1 or 0."""
    for place, message in enumerate(messages):
        said: dict[str, object] = {"role": message.role, "content": message.text}
        if message.reasoning:
            said["reasoning_content"] = message.reasoning
        if message.calls:
            said["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in message.calls
            ]
        if message.results:
            said |= {"role": "tool", "tool_call_id": message.results[-1]}
        if trained is not None and message.role == "assistant":
            said["weight"] = int(place in trained)
        yield said
