"""The words of the contracts: messages and replies, passages, observations, decisions, game specs.

Plain immutable data without behaviour beyond hashing and joining text. Everything that crosses a
process border or reaches a journal is one of these.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal

import msgspec

Role = Literal["system", "user", "assistant"]
Purpose = Literal["act", "query", "summary", "rerank", "other"]


def digest(text: str | bytes) -> str:
    """The short content hash used everywhere in journals (128 bits, hexadecimal)."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return blake2b(data, digest_size=16).hexdigest()


class Message(msgspec.Struct, frozen=True, dict=True):
    """One turn of a prompt. `stable` marks the end of a head worth caching at the provider."""

    role: Role
    text: str
    images: tuple[bytes, ...] = ()
    stable: bool = False

    @cached_property
    def digest(self) -> str:
        """Hash of role, words and pictures; cached, since a history shows the same turn many times."""
        pictures = "".join(digest(image) for image in self.images)
        return digest(f"{self.role}\n{pictures}\n{self.text}")


class AnswerFormat(msgspec.Struct, frozen=True):
    """The shape an answer must have; models that can constrain decoding use it, others ignore it."""

    choices: tuple[str, ...]
    before: str = ""
    after: str = ""
    reasoning: bool = False


class Request(msgspec.Struct, frozen=True, dict=True):
    """One question to a model: the messages, what it is for, and the shape its answer should have."""

    messages: tuple[Message, ...]
    purpose: Purpose = "act"
    answer: AnswerFormat | None = None

    @cached_property
    def digest(self) -> str:
        """Hash of what is asked, from the digests of its messages."""
        return digest(self.purpose + "\n" + "\n".join(message.digest for message in self.messages))


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens of one call as the provider counts them; `cached` and `reasoning` are parts of the others."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model's answer and what it cost; an empty or refused answer is an answer too."""

    text: str
    reasoning: str = ""
    finish: str = "stop"
    usage: Usage = Usage()
    cost: float | None = None
    latency: float = 0.0
    attempts: int = 1
    model: str = ""
    trimmed: int = 0
    """How many old turns were left out so that the prompt fits."""


class Passage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A piece of the knowledge base as a search returns it."""

    id: str
    title: str
    text: str
    score: float = 0.0
    url: str = ""
    source: str = ""
    licence: str = ""


class Stats(msgspec.Struct, frozen=True, array_like=True):
    """The numbers of NetHack's bottom lines, by the game's own meaning of each."""

    x: int = 0
    y: int = 0
    hp: int = 0
    max_hp: int = 0
    depth: int = 0
    branch: int = 0
    level: int = 0
    """Level number within the branch (`depth` counts from the surface)."""
    experience_level: int = 0
    experience: int = 0
    turn: int = 0
    score: int = 0
    gold: int = 0
    energy: int = 0
    max_energy: int = 0
    armor_class: int = 0
    hunger: int = 0
    encumbrance: int = 0
    condition: int = 0
    alignment: int = 0


class Observation(msgspec.Struct, frozen=True, dict=True):
    """What an agent sees of one moment of the game, as text parts ready for a prompt."""

    message: str
    language: str
    cursor: str
    map: str
    inventory: str
    statistics: str
    stats: Stats
    digest: str
    """Hash of the raw screen, glyphs and inventory this was made from."""
    layout: str = "hybrid"
    notice: str = ""
    """What the harness tells the agent about its last answer, e.g. that it was no valid action."""
    image: bytes | None = None

    @cached_property
    def long_term(self) -> str:
        """The part that stays in the history."""
        parts = [("message", self.message), ("language observation", self.language), ("cursor", self.cursor)]
        if self.layout == "hybrid":
            parts.append(("map", self.map))
        return self.notice + _sections(parts)

    @cached_property
    def short_term(self) -> str:
        """The part shown for the newest moment only."""
        if self.layout == "hybrid":
            return _sections([("inventory", self.inventory)])
        return _sections([("statistics", self.statistics), ("inventory", self.inventory)])


def _sections(parts: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"{name}:\n{text}\n" for name, text in parts)


class Transition(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one action led to. `ended` names how the game ended, by `episode.outcome.Outcome`'s values."""

    observation: Observation
    reward: float = 0.0
    keys: int = 1
    """Key presses this took, skipped `--More--` included."""
    ended: str = ""
    end: Mapping[str, Any] = {}
    """Facts of the end: NetHack's own words for the death, its xlogfile line, achievements."""
    instead: str = ""
    """The action taken in place of the accepted one asked for, where the game could not take that one now."""


class Turn(msgspec.Struct, frozen=True):
    """An action and what it led to."""

    action: str
    transition: Transition


class TaskView(msgspec.Struct, frozen=True):
    """What an agent is told of its task before the first observation."""

    env: str
    task: str
    goal: str
    actions: Mapping[str, str]
    """Every advertised action with its description, in the order shown."""
    accepted: frozenset[str]
    """Every answer the environment takes: the advertised ones, letters, numbers, prompt keys."""
    default_action: str


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an agent wants done: `action` is checked by the play loop, `answer` is what the model said."""

    action: str
    answer: str = ""
    reasoning: str = ""
    notes: Mapping[str, Any] = {}
    """Small facts for the record: how the answer was read, whether retrieval was used."""


class Seeds(msgspec.Struct, frozen=True):
    """NetHack's own seeds: the game's dice, the display's dice, and the level generator's if kept apart."""

    core: int
    disp: int
    lgen: int | None = None


class GameSpec(msgspec.Struct, frozen=True):
    """Everything that decides a game: same spec, same actions, same observations."""

    env: str
    """Registered environment: nle, minihack, or a plug-in's."""
    task: str
    seeds: Seeds
    character: str = "@"
    actions: str = "full"
    layout: str = "hybrid"
    skip_more: bool = True
    max_steps: int = 100_000
    """Key presses after which the game is ended."""
    no_progress: int = 150
    autopickup: bool | None = None
    options: Mapping[str, Any] = {}
