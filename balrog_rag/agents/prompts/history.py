"""The episode so far as turns of a prompt: observations, actions and their reasons.

A turn is rendered once, and its message reused at every later step, so that hashing and comparing a prompt
costs almost nothing.
"""

from collections import deque
from collections.abc import Iterable

from balrog_rag.agents.prompts import Prompts
from balrog_rag.agents.prompts.prompt import Prompt
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.contracts.data import AnswerFormat, Message, Observation, Reply
from balrog_rag.contracts.kinds import EnvironmentSignals


class SeenObservation:
    """An observation in the history."""

    def __init__(self, observation: Observation) -> None:
        self.observation = observation
        self._past = observation
        self.results: tuple[str, ...] = ()
        """The tool calls whose results it brings."""
        self._messages: dict[tuple[bool, bool], Message] = {}

    def current(self, text: bool = True, image: bool = False, keep_empty: bool = True) -> str:
        """Return its text while it is the newest; `keep_empty` keeps the line of one without text."""
        lines = ["Current Observation:", *filter(None, [self.observation.short_term])]
        if text and (keep_empty or self.observation.long_term):
            lines.append(self.observation.long_term)
        return "\n".join([*lines, *_picture_line(image)])

    def past_as(self, shown: Observation) -> None:
        """Set how it is shown once it is past, e.g. without its map."""
        self._past = shown

    def past(self, text: bool = True, image: bool = False) -> Message:
        """Return its message in the history."""
        message = self._messages.get((text, image))
        if message is None:
            message = self._messages[text, image] = self._render(text, image)
        return message

    def _render(self, text: bool, image: bool) -> Message:
        lines = ["Observation:", *([self._past.long_term] if text else []), *_picture_line(image)]
        pictures = self._past.pictures if image else ()
        return Message("user", "\n".join(lines), pictures, results=self.results)


class TakenAction:
    """An action in the history: alone, or with the whole answer that led to it."""

    def __init__(self, action: str, answer: str, called: Message | None = None) -> None:
        """`called` is an answer with tool calls, which is sent back as it came."""
        self.bare = called or Message("assistant", action)
        self.reasoned = Message("assistant", f"Previous plan:\n{answer}") if answer else None


class History:
    """The window of turns that a prompt shows, kept as in BALROG or dropped in blocks."""

    def __init__(self, config: AgentConfig, prompts: Prompts, signals: EnvironmentSignals) -> None:
        """`prompts` has the replacement for an omitted map; `signals` finds that map."""
        self._signals = signals
        self._texts, self._images = config.max_text_history, config.max_image_history
        self._reasons = config.max_cot_history if config.remember_cot else 0
        self._turns = max(self._texts, self._images, 1)
        self._block = config.history.block if config.history.window == "blocks" else 0
        self._trim = config.observation.map == "trimmed"
        self._past_maps = config.observation.past_maps
        self._keep_empty = config.observation.keep_empty
        self._no_map = prompts.fixed("unchanged_map" if self._past_maps == "changed" else "past_map")
        self._events: deque[SeenObservation | TakenAction] = deque(
            maxlen=None if self._block else 2 * self._turns
        )
        self._newest: SeenObservation | None = None
        self._open: tuple[str, ...] = ()
        """The tool calls whose results no prompt has brought yet."""

    def see(self, observation: Observation) -> None:
        """Add the newest observation."""
        seen = SeenObservation(self._signals.trimmed(observation) if self._trim else observation)
        if self._newest is not None and self._map_goes(self._newest, seen):
            self._newest.past_as(self._signals.without_map(self._newest.observation, self._no_map))
        self._newest = seen
        self._events.append(seen)
        if self._block and self._observations() > self._turns:
            self._drop_block()

    def do(self, action: str, answer: str = "") -> None:
        """Add an action decided elsewhere, which may be the next call of an answer."""
        if self._newest is not None and len(self._open) > 1:
            # The next call of the same answer: only the result of the one before is new.
            self._newest.results, self._open = self._open[:1], self._open[1:]
        else:
            self.answered(action, answer)

    def answered(self, action: str, answer: str = "") -> None:
        """Add the agent's answer; an empty action is not recorded, as in BALROG."""
        self._settle()
        if action:
            self._events.append(TakenAction(action, answer if self._reasons else ""))

    def called(self, reply: Reply) -> None:
        """Add an answer with tool calls; their results are the observations that follow."""
        self._settle()
        place = reply.reasoning_in
        thought = reply.reasoning if place else ""
        said = Message("assistant", reply.text, (), False, thought, place, reply.calls, reply.native)
        self._events.append(TakenAction("", "", said))
        self._open = tuple(call.id for call in reply.calls)

    def _settle(self) -> None:
        """Let the newest observation bring the results that are still open."""
        if self._newest is not None and self._open:
            self._newest.results, self._open = self._open, ()

    def prompt(self, head: tuple[Message, ...], order: str, answer: AnswerFormat | None) -> Prompt:
        """Return the question about the newest observation."""
        question = Prompt(head, self.past(), self.current(), order, answer, self.picture())
        question.results = self._open
        return question

    def current(self) -> str:
        """Return the newest observation as text."""
        assert self._newest is not None, "see() comes first"
        return self._newest.current(self._texts > 0, bool(self.picture()), self._keep_empty)

    def picture(self) -> tuple[bytes, ...]:
        """Return the newest observation's image, if images are shown."""
        return self._newest.observation.pictures if self._newest and self._images else ()

    def past(self) -> list[Message]:
        """Return all turns before the newest observation, oldest first."""
        reasons, texts, images = self._reasons, self._texts - 1, self._images - len(self.picture())
        messages: list[Message] = []
        for event in _backwards_from(self._events, self._newest):
            if isinstance(event, TakenAction):
                reasoned = event.reasoned if reasons > 0 else None
                reasons -= reasoned is not None
                messages.append(reasoned or event.bare)
            else:  # unrecorded answers leave more observations in the window than texts to show
                image = images > 0 and bool(event.observation.pictures)
                messages.append(event.past(texts > 0, image))
                texts, images = texts - 1, images - image
        messages.reverse()
        return messages

    def _map_goes(self, last: SeenObservation, now: SeenObservation) -> bool:
        """Whether an observation loses its map once it is past."""
        if self._past_maps == "changed":
            return self._signals.map(last.observation) == self._signals.map(now.observation)
        return self._past_maps == "none"

    def _observations(self) -> int:
        return sum(isinstance(event, SeenObservation) for event in self._events)

    def _drop_block(self) -> None:
        """Drop the oldest turns together, so that the prompt prefix then stays unchanged for a while."""
        keep = max(self._turns - self._block, 0) + 1
        while self._observations() > keep or isinstance(self._events[0], TakenAction):
            self._events.popleft()


def _picture_line(image: bool) -> list[str]:
    return ["Image observation provided."] if image else []


def _backwards_from(
    events: deque[SeenObservation | TakenAction], newest: SeenObservation | None
) -> Iterable[SeenObservation | TakenAction]:
    backwards = reversed(events)
    for event in backwards:
        if event is newest:
            break
    return backwards
