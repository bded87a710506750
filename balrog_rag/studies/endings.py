"""Deaths that knowledge prevents: would the agent have seen the helpful passage in time?

Recorded games are replayed moment by moment through the retrieval wrapper of agents, without a model: the
wrapper decides when to search, makes the query and shows the results. Counted is whether a passage that helps
against that class of end was in the prompt whose answer was fatal, whether one was shown early enough, and
what else was looked up.
"""

import asyncio
import gzip
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from balrog_rag.agents import build
from balrog_rag.agents.retrieval import LONGEST_WRITTEN, LookedUp, Retrieval
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.contracts.data import AnswerFormat, Message, Observation, Passage, Purpose, Reply, TaskView
from balrog_rag.contracts.errors import ConfigError, KnowledgeError, PluginError
from balrog_rag.contracts.kinds import EnvironmentKind, kind_of
from balrog_rag.knowledge.search import Searcher
from balrog_rag.util.files import read_file
from balrog_rag.util.tokens import count_text

_SPARE = 30
"""Passages examined beyond k if some are excluded."""
EARLY = 5
"""A passage counts as in time if it was shown at least this many steps before the end."""
WHENS = ("every", "interval", "novelty", "adaptive", "asked")
QUERIES = ("noticed", "observation", "short", "both")
"""Query methods that need no model."""


class EndingMoment(msgspec.Struct, frozen=True):
    """An action and the text that followed it."""

    step: int
    action: str
    observation: str


class EndedGame(msgspec.Struct, frozen=True):
    """The last moments of a game, its end, and the class of that end."""

    file: str
    end: str
    cause: str
    last: tuple[EndingMoment, ...]
    env: str = ""


class ObservedGame(NamedTuple):
    """A game with the observations of each moment except the last, which is the end itself."""

    game: EndedGame
    kind: EnvironmentKind
    moments: tuple[Observation, ...]
    decision: int | None
    """Index of the moment whose answer was fatal; None if it is not on record."""


class Case(msgspec.Struct, frozen=True):
    """The result of one policy for one game."""

    file: str
    end: str
    cause: str
    preventable: bool
    steps: int
    looked_up: int
    shown: int
    """Number of passages shown, with repetitions."""
    saving: str
    """The first helpful passage that was shown; empty if none was."""
    query: str
    """The query that found it."""
    before_end: int | None
    """How many steps before the end it was shown."""
    later: bool
    """Whether one was shown in time after the first moment of the record, where everything counts as new."""
    decision: int | None
    """The step of the record at which the fatal answer was given, counted from 0."""
    at_answer: bool
    """Whether one was in the very prompt that got the fatal answer."""
    at_decision: bool
    """Whether one was in that prompt or in the one before it, whose answer led to the question."""
    tokens: int
    """Tokens of reference text in all prompts."""
    false_alarms: int
    """Prompts with a passage that helps against another class of end."""

    @property
    def in_time(self) -> bool:
        """Whether it was shown early enough."""
        return self.before_end is not None and self.before_end >= EARLY


class LookupPolicy(msgspec.Struct, frozen=True):
    """One look-up policy, over all games."""

    when: str
    query: str
    games: int
    preventable: int
    shown_in_time: int
    shown_later: int
    """Number of these in which it was shown after the record's first moment."""
    at_decision: int
    """Number of preventable ends with one in the prompt of the fatal answer or in the one before."""
    at_answer: int
    """Number of these with one in the very prompt of the fatal answer."""
    steps: int
    looked_up: int
    looked_up_share: float
    passages_a_game: float
    tokens_a_step: float
    """Mean tokens of reference text in a prompt."""
    false_alarm_share: float
    """Share of prompts with a passage that helps against another class of end."""
    list: tuple[Case, ...]


def read_games(path: Path, env: str) -> list[EndedGame]:
    """Read the games of a file, one JSON object per line, optionally gzipped."""
    try:
        text = read_file(path)
        lines = gzip.decompress(text) if path.suffix == ".gz" else text
        games = msgspec.json.Decoder(EndedGame).decode_lines(lines)
    except OSError as error:
        raise KnowledgeError(f"cannot read the endings in {path}: {error.strerror or error}") from error
    except (EOFError, zlib.error, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise KnowledgeError(
            f"{path}: not a file of endings ({error}); each line has file, end, cause and last, a list of "
            "step, action and observation"
        ) from error
    if not games:
        raise KnowledgeError(f"{path}: contains no games")
    return [msgspec.structs.replace(game, env=game.env or env) for game in games]


class RecordedSearches:
    """The knowledge base with a cache over all games and policies, which records the queries."""

    def __init__(self, searcher: Searcher, without: Sequence[str] = ()) -> None:
        """Passages whose ids begin with a prefix in `without` are excluded, as if the corpus lacked them."""
        self._searcher, self._without = searcher, tuple(without)
        self._known: dict[tuple[str, int], Sequence[Passage]] = {}
        self.queries: list[str] = []

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """Return the best k passages."""
        self.queries.append(query)
        if (query, k) not in self._known:
            self._known[query, k] = self._found(query, k)
        return self._known[query, k]

    def _found(self, query: str, k: int) -> list[Passage]:
        spare = _SPARE if self._without else 0
        found = self._searcher.search([query], k + spare)[0]
        return [each for each in found if not each.id.startswith(self._without)][:k] if spare else found[:k]


def seen(game: EndedGame) -> ObservedGame:
    """Parse a game's moments once for all policies."""
    kind = kind_of(game.env)
    moments = tuple(_read(kind, moment.observation, game.file) for moment in game.last[:-1])
    return ObservedGame(game, kind, moments, _decided(kind, game, moments))


def _decided(kind: EnvironmentKind, game: EndedGame, moments: Sequence[Observation]) -> int | None:
    if not moments:
        return None
    found = kind.retrospect.decision(game.cause, moments, game.last[-1].observation)
    if found is not None and not 0 <= found < len(moments):
        raise PluginError(f"{kind.title}: retrospect.decision() returned {found} for {len(moments)} moments")
    return found


def measure(
    games: Sequence[ObservedGame],
    config: AgentConfig,
    found: RecordedSearches,
    saving: Mapping[str, Sequence[str]],
    walked: Callable[[int], None],
) -> LookupPolicy:
    """Replay every game under one policy; `walked` is called after each."""
    cases = tuple(asyncio.run(_all(games, config, found, saving, walked)))
    steps, looked_up = sum(case.steps for case in cases), sum(case.looked_up for case in cases)
    return LookupPolicy(
        when=config.retrieval.when,
        query=config.retrieval.query,
        games=len(cases),
        preventable=sum(case.preventable for case in cases),
        shown_in_time=sum(case.preventable and case.in_time for case in cases),
        shown_later=sum(case.preventable and case.later for case in cases),
        at_decision=sum(case.preventable and case.at_decision for case in cases),
        at_answer=sum(case.preventable and case.at_answer for case in cases),
        steps=steps,
        looked_up=looked_up,
        looked_up_share=looked_up / steps if steps else 0.0,
        passages_a_game=sum(case.shown for case in cases) / len(cases),
        tokens_a_step=sum(case.tokens for case in cases) / steps if steps else 0.0,
        false_alarm_share=sum(case.false_alarms for case in cases) / steps if steps else 0.0,
        list=cases,
    )


def policy_config(config: AgentConfig, when: str, query: str) -> AgentConfig:
    """The agent's settings with this policy; passages are shown whole, since no model can summarise them."""
    retrieval = replace(config.retrieval, enabled=True, when=when, query=query, context="whole")
    return replace(config, retrieval=retrieval)


async def _all(
    games: Sequence[ObservedGame],
    config: AgentConfig,
    found: RecordedSearches,
    saving: Mapping[str, Sequence[str]],
    walked: Callable[[int], None],
) -> list[Case]:
    cases = []
    for each in games:
        cases.append(await _walk(each, config, found, saving))
        walked(1)
    return cases


async def _walk(
    each: ObservedGame, config: AgentConfig, found: RecordedSearches, saving: Mapping[str, Sequence[str]]
) -> Case:
    """Replay one game: the wrapper runs at every moment except the last."""
    game, kind, answers = each.game, each.kind, _Answers()
    view = TaskView(game.env, game.cause, "", {"wait": ""}, frozenset(("wait",)), "wait", anything=True)
    agent = build(config, view, answers, found)
    assert isinstance(agent, Retrieval)
    made = _Tally(game.cause, saving, each.decision)
    for place, moment in enumerate(each.moments):
        found.queries.clear()
        answers.text = game.last[place + 1].action
        await agent.act(moment)
        made.take(_in_prompt(agent.showing, answers.prompt), found.queries, len(game.last) - 1 - place)
    return Case(
        game.file, game.end, game.cause, game.cause in kind.retrospect.preventable,
        made.steps, made.looked_up, made.shown, made.saving, made.query, made.before_end, made.later,
        each.decision, made.at_answer, made.at_decision, made.tokens, made.false_alarms,
    )  # fmt: skip


def _in_prompt(showing: LookedUp, prompt: str) -> LookedUp:
    """The result as far as the model could read it: nothing if its text is not in the prompt."""
    return showing if showing.text and showing.text in prompt else LookedUp(showing.how, showing.query)


class _Tally:
    """Counts the look-ups of one game, and when a helpful passage was in the prompt."""

    def __init__(self, cause: str, saving: Mapping[str, Sequence[str]], decision: int | None) -> None:
        self._wanted = frozenset(saving.get(cause, ()))
        self._others = frozenset(id_ for ids in saving.values() for id_ in ids) - self._wanted
        self._decision = decision
        self.steps = self.looked_up = self.shown = self.tokens = self.false_alarms = 0
        self.saving = self.query = ""
        self.before_end: int | None = None
        self.later = self.at_answer = self.at_decision = False

    def take(self, showing: LookedUp, queries: Sequence[str], before_end: int) -> None:
        """Count one moment."""
        place, self.steps = self.steps, self.steps + 1
        self.looked_up += bool(queries)
        self.shown += len(showing.ids) if queries else 0
        self.tokens += count_text(showing.text) if showing.text else 0
        self.false_alarms += not self._others.isdisjoint(showing.ids)
        first = next((each for each in showing.ids if each in self._wanted), "")
        if not first:
            return
        self.later |= self.steps > 1 and before_end >= EARLY
        self.at_answer |= place == self._decision
        self.at_decision |= self._decision is not None and self._decision - 1 <= place <= self._decision
        if self.before_end is None:
            self.saving, self.query, self.before_end = first, showing.query[:LONGEST_WRITTEN], before_end


def _read(kind: EnvironmentKind, text: str, file: str) -> Observation:
    if kind.retrospect.read_logged is None:
        raise ConfigError(f"{file}: {kind.title} has no reader of logged observations")
    if (seen := kind.retrospect.read_logged(text)) is None:
        raise ConfigError(f"{file}: {kind.title} cannot read an observation of this log; leave the file out")
    return seen


class _Answers:
    """Replaces the model: every answer is the recorded action."""

    text = ""
    prompt = ""
    """The text of the last request for an action."""

    async def complete(
        self, messages: Sequence[Message], purpose: Purpose = "act", answer: AnswerFormat | None = None
    ) -> Reply:
        """Return the recorded action."""
        if purpose == "act":
            self.prompt = "\n".join(message.text for message in messages)
        return Reply(self.text)
