"""A literal reader: fixed rules, each followed only while the prompt shows a passage that states it.

It measures what retrieval puts in front of a player at the moment of a decision. The prompt is made as for a
model, with `agent.retrieval` as configured, but no model reads it: a file names the passages that state each
rule, and a program plays on for one move with the rules that are shown.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from balrog_rag.agents.agent_options import options_as
from balrog_rag.agents.base import BaseAgent
from balrog_rag.agents.retrieval import Retrieval
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.contracts.behaviour import LLM, Knowledge
from balrog_rag.contracts.data import Call, Decision, GameSpec, Observation, TaskView
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.programs import program_of
from balrog_rag.util.files import read_file
from balrog_rag.util.paths import data
from balrog_rag.util.tokens import count_text
from balrog_rag.util.wording import joined_names

PROGRAM = "follow_rules"
"""The action that plays one move with the rules it names."""
ALL, NONE = "all", "none"
_OF_A_MODEL = ("model", "model_memory")
_LONGEST_FILE = 1_000_000


class ReaderOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options that agent.options may set."""

    rules: str | None = None
    """The file that names the passages of each rule; null: the one for the corpus `embedded`."""
    oracle: bool = False
    """Whether every rule counts as shown at every step, without look-ups."""
    passages: dict[str, list[str]] = {}
    """The content of that file; read when a run starts."""


def options_of(config: AgentConfig) -> ReaderOptions:
    """Parse agent.options."""
    return options_as(config, ReaderOptions)


class LiteralReader:
    """Plays by the rules that its prompt states."""

    handles: ClassVar[tuple[str, ...]] = ("retrieval",)
    """It looks things up itself, without asking a model."""
    programs: ClassVar[tuple[str, ...]] = (PROGRAM,)

    def __init__(self, config: AgentConfig, view: TaskView, llm: LLM, knowledge: Knowledge) -> None:
        """`view` is everything that the agent knows of its task before the first observation."""
        options = options_of(config)
        self._oracle = options.oracle
        self._rules: dict[str, list[str]] = {}
        for rule, ids in options.passages.items():
            for id_ in ids:
                self._rules.setdefault(id_, []).append(rule)
        self._page = BaseAgent(config, view, llm, knowledge)
        self._retrieval = (
            Retrieval(self._page, config.retrieval, llm, knowledge) if config.retrieval.enabled else None
        )
        self._sizes: dict[str, int] = {}

    @staticmethod
    def asks_model(config: AgentConfig) -> bool:
        """Return False, after refusing settings of retrieval that need a model."""
        retrieval = config.retrieval
        if not retrieval.enabled:
            return False
        if retrieval.query in _OF_A_MODEL or retrieval.when == "asked":
            key = "query" if retrieval.query in _OF_A_MODEL else "when"
            raise ConfigError(
                f"agent.retrieval.{key}={getattr(retrieval, key)}: agent=reader asks no model; use "
                "query=noticed and when=novelty"
            )
        if retrieval.context != "whole":
            raise ConfigError(
                f"agent.retrieval.context={retrieval.context}: agent=reader reads whole passages; use whole"
            )
        return False

    @staticmethod
    def settle(options: Mapping[str, Any]) -> dict[str, Any]:
        """Add the content of the file of rules, unless a run has read it already."""
        if options.get("passages"):
            return dict(options)
        named = options.get("rules")
        path = Path(str(named)).expanduser() if named is not None else data("wiki_index") / "rules.yaml"
        return {**options, "passages": read_rules(path)}

    @staticmethod
    def passages_named(options: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
        """Return the passages that must be in the corpus, by the rule that they state."""
        found: Mapping[str, Sequence[str]] = options.get("passages", {})
        return found

    @staticmethod
    def refuses(game: GameSpec) -> str:
        """Return why it cannot play a game; "" if it can."""
        games = program_of(PROGRAM).games
        return "" if game.env in games else f"plays {joined_names(games)} only, not {game.env}"

    async def act(self, observation: Observation) -> Decision:
        """Follow the rules that the prompt about this moment shows."""
        # The harness's remark on the last action is about this agent, not about the game.
        seen = msgspec.structs.replace(observation, notice="")
        shown, notes = await self._shown(seen)
        call = Call(PROGRAM, (ALL if self._oracle else " ".join(shown) or NONE,))
        self._page.history.do(call.text, call.text)
        return Decision(call.text, notes=notes, call=call)

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Add a turn that was decided elsewhere to the memory."""
        if self._retrieval is not None:
            self._retrieval.recall(observation, decision)
        else:
            self._page.recall(observation, decision)

    async def _shown(self, observation: Observation) -> tuple[list[str], dict[str, Any]]:
        """Return the rules that the prompt about a moment states, and notes on what it shows."""
        if self._retrieval is None:
            return [], {}
        prompt = await self._retrieval.ask(observation)
        showing = self._retrieval.showing
        # Only what is in the prompt counts, whatever the look-up returned.
        if not showing.text or not any(showing.text in message.text for message in prompt.messages()):
            return [], {}
        rules = sorted({rule for id_ in showing.ids for rule in self._rules.get(id_, ())})
        return rules, {"lookup": showing.how, "tokens": self._size(showing.text)}

    def _size(self, text: str) -> int:
        if text not in self._sizes:
            self._sizes.clear()
            self._sizes[text] = count_text(text)
        return self._sizes[text]


def read_rules(path: Path) -> dict[str, list[str]]:
    """Read which passages state each rule; refuse rules that the program does not have, and lacking ones."""
    try:
        found = msgspec.yaml.decode(read_file(path, _LONGEST_FILE), type=dict[str, list[str]])
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigError(
            f"agent.options.rules: cannot read {path} ({error}); give a YAML file of rules, each with a list "
            "of passages"
        ) from error
    known = {each.name for each in program_of(PROGRAM).switches}
    for name in (*found, *known):
        if name not in known or not found.get(name):
            what = "not a rule of this player" if name not in known else "no passage"
            raise ConfigError(f"{path}: {name}: {what}; list passages for each of {', '.join(sorted(known))}")
    return found
