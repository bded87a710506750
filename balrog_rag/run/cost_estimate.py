"""What a run will cost, estimated from the first prompts of real games.

The games and the agent are the run's own; a stand-in answers in place of the model, and its searches find
placeholders of the usual length. No key is needed, and nothing is fetched, indexed or written.
"""

from collections.abc import Sequence

import msgspec

from balrog_rag import agents
from balrog_rag.config.agent_schema import OWN_LOOPS
from balrog_rag.config.schema import Config
from balrog_rag.contracts.behaviour import Model, Retriever
from balrog_rag.contracts.data import Passage, Purpose, Reply, Request, Usage
from balrog_rag.contracts.events import Asked, Event
from balrog_rag.episode.effects import JournalCursor
from balrog_rag.episode.journal import Entry, Recording
from balrog_rag.episode.play import EpisodeContext, play
from balrog_rag.episode.spec import EpisodeSpec, PlayerSpec
from balrog_rag.models import canned_answers
from balrog_rag.models.calls import call_of
from balrog_rag.models.prices import Answer, Card, Prices
from balrog_rag.models.token_counts import count_messages
from balrog_rag.run.plan import PlannedRun, steps_of
from balrog_rag.run.services import LiveServices
from balrog_rag.util.tokens import CHARACTERS_PER_TOKEN
from balrog_rag.workers.inline import InlineGames

ANSWER = 100
"""Tokens of an answer. A model that reasons at length writes more, up to `model.max_tokens`."""
FULL = 8
"""Decisions whose prompts have full length: the last ones of a sample, and all after it."""
MOST_HISTORY = 100
"""Observations of a history that a sample fills; a longer history is underestimated."""
PAGE_TOKENS = 1000
"""Length of a passage if pages are not cut."""


class Usages(msgspec.Struct, frozen=True):
    """What one call of each decision costs on average, and how many decisions and calls there are."""

    decisions: float = 0.0
    calls: float = 0.0
    input: float = 0.0

    def __add__(self, other: "Usages") -> "Usages":
        return Usages(self.decisions + other.decisions, self.calls + other.calls, self.input + other.input)

    def __mul__(self, times: float) -> "Usages":
        return Usages(self.decisions * times, self.calls * times, self.input * times)


class CostEstimate(msgspec.Struct, frozen=True):
    """The estimated cost of a run if every game lasts to its limit."""

    episodes: int
    most_steps: int
    """The longest game's limit."""
    used: Usages
    dollars: float | None
    """None if the model's price is unknown."""
    most_dollars: float | None
    """The same if every answer is as long as `model.max_tokens` allows; None if that is not set."""
    hundred_dollars: float | None
    """A hundred steps of the first game, since most games end before their limit."""


async def estimated(run: PlannedRun) -> CostEstimate | None:
    """Play the beginning of one game of each kind; None if the player asks no model here."""
    config = run.config
    if config.agent.name in OWN_LOOPS or not agents.asks_model(config.agent) or not run.specs:
        return None
    first = {spec.game.env: spec for spec in reversed(run.specs)}
    samples = {env: await _sampled(spec, config) for env, spec in first.items()}
    used = Usages()
    for spec in run.specs:
        used += samples[spec.game.env].of_steps(steps_of(spec))
    card = _card(config)
    most = config.model.max_tokens
    return CostEstimate(
        len(run.specs),
        max(map(steps_of, run.specs)),
        used,
        _dollars(card, used, ANSWER),
        None if most is None else _dollars(card, used, most),
        _dollars(card, samples[run.specs[0].game.env].of_steps(100), ANSWER),
    )


class _Sample(msgspec.Struct):
    """The prompts of the first steps of a game."""

    asked: list[tuple[int, int]]
    """Step and estimated tokens of each prompt."""
    steps: int

    def of_steps(self, steps: int) -> Usages:
        """Extrapolate to that many steps: later prompts are as long as the last ones of the sample."""
        decided = sorted({step for step, _ in self.asked})
        if not decided or not self.steps:
            return Usages()
        seen = self._between(0, min(steps, self.steps))
        if steps <= self.steps:
            return seen
        last = decided[-FULL:]
        later = (steps - self.steps) * len(decided) / self.steps
        return seen + self._between(last[0], self.steps) * (later / len(last))

    def _between(self, begin: int, end: int) -> Usages:
        asked = [(step, tokens) for step, tokens in self.asked if begin <= step < end]
        decisions = len({step for step, _ in asked})
        return Usages(decisions, len(asked), sum(tokens for _, tokens in asked))


async def _sampled(spec: EpisodeSpec, config: Config) -> _Sample:
    history = min(config.agent.max_text_history, MOST_HISTORY)
    short = msgspec.structs.replace(spec, steps=min(steps_of(spec), history + FULL))
    game = await InlineGames().open(short.game)
    counted = _Counter()
    try:
        cursor = JournalCursor(Recording(None), _Discarded())
        end = await play(EpisodeContext(short, game, cursor, _StandIns(config), _NoCaps(), counted))
    finally:
        await game.close()
    return _Sample(counted.asked, end.steps)


class _Counter:
    """Notes the length of every prompt."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def see(self, event: Event) -> None:
        """Count the tokens of a prompt."""
        if isinstance(event, Asked):
            self.asked.append((event.step, count_messages(event.request.messages)))


class _Discarded:
    """A journal that is not kept."""

    def append(self, entry: Entry) -> None:
        """Forget the entry."""

    async def settle(self) -> None:
        """Return at once."""


class _NoCaps:
    """A meter that never ends an episode."""

    def admit(self) -> None:
        """Allow every call."""

    def charge(self, reply: Reply, purpose: Purpose) -> None:
        """Count nothing: the prompts are counted as they are sent."""


class _StandIns(LiveServices):
    """Services that answer without a model and find placeholders."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self._config = config

    def model(self, player: PlayerSpec) -> Model | None:
        """Return the stand-in for the model."""
        return _StandIn()

    def retriever(self, player: PlayerSpec) -> Retriever | None:
        """Return the stand-in for the knowledge base."""
        return _Placeholders(self._config.knowledge.tokens or PAGE_TOKENS)


class _StandIn:
    """Answers in the format that is asked for, with another query each time, so that none is reused."""

    name = "estimate"

    def __init__(self) -> None:
        self._asked = 0

    async def complete(self, request: Request) -> Reply:
        """Answer."""
        self._asked += 1
        return Reply(self._text(request), usage=Usage(count_messages(request.messages), ANSWER))

    def _text(self, request: Request) -> str:
        if request.answer is not None and (request.answer.choices or request.answer.thoughts):
            return canned_answers.compose(request.digest, request.answer)
        if request.purpose == "act":
            return canned_answers.for_prompt(tuple(message.text for message in request.messages))
        text = canned_answers.for_purpose(request.purpose)
        return f"{text} {self._asked}" if request.purpose == "query" else text

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


class _Placeholders:
    """Finds passages of a given length."""

    name = "estimate"

    def __init__(self, tokens: int) -> None:
        word = "passage "
        self._text = word * int(tokens * CHARACTERS_PER_TOKEN / len(word))

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """Return `k` placeholders."""
        return [Passage(str(number), f"Passage {number}", self._text, score=1.0) for number in range(k)]

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


def _card(config: Config) -> Card:
    """What is known of the model's price, without its key."""
    if config.model.backend == "litellm":
        return call_of(config.model).open()
    return Card(Prices.of_config(config.model))


def _dollars(card: Card, used: Usages, answer: int) -> float | None:
    """The price of the calls, each of average length; None if it is unknown before an answer."""
    if not used.calls or not card.prices.known:
        return None
    usage = Usage(round(used.input / used.calls), answer)
    price = card.cost(Answer(Reply("", usage=usage)))
    return None if price is None else price * used.calls
