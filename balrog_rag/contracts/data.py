"""The words of the contracts: messages and replies, passages, observations, decisions, game specs.

Plain immutable data without behaviour beyond hashing and joining text. Everything that crosses a
process border or reaches a journal is one of these.
"""

from collections.abc import Iterable, Mapping
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
    calls: "tuple[Action, ...]" = ()
    """Choices that take arguments."""
    thoughts: tuple[str, ...] = ()
    """Where there are some, the answer is one JSON object: these thoughts by name, then a skill by its
    name with its arguments by theirs."""


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
    version: str = ""
    """The version of the game that it speaks of, where that is known."""
    asked: str = ""
    """Other ways to ask for it: searched along, and not shown."""


Shown = Literal["history", "now", "never"]
"""Whether a part of an observation stays in the history, stands in the newest prompt only, or in none."""


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """One named piece of an observation's text."""

    name: str
    text: str
    shown: Shown = "history"
    heading: bool = True
    """Whether its name stands over it in a prompt."""


class Observation(msgspec.Struct, frozen=True, dict=True, omit_defaults=True):
    """What an agent sees of one moment of a game: named parts of text, numbers, perhaps pictures."""

    parts: tuple[Part, ...]
    numbers: Mapping[str, int] = {}
    """What the game counts, by names of its own; the journal keeps those that move."""
    digest: str = ""
    """Hash of everything this was made from."""
    notice: str = ""
    """What the harness tells the agent about its last answer, e.g. that it was no valid action."""
    pictures: tuple[bytes, ...] = ()

    @cached_property
    def long_term(self) -> str:
        """The parts that stay in the history."""
        return self.notice + _joined(part for part in self.parts if part.shown == "history")

    @cached_property
    def short_term(self) -> str:
        """The parts shown for the newest moment only."""
        return _joined(part for part in self.parts if part.shown == "now")

    @property
    def screen(self) -> str:
        """What a person is shown of the moment: message and map, or all parts where there is no map."""
        if seen := self.text("map"):
            return f"{self.text('message')}\n{seen}"
        return "\n".join(part.text for part in self.parts if part.shown != "never" and part.text)

    def text(self, name: str) -> str:
        """The part of that name; empty where there is none."""
        return next((part.text for part in self.parts if part.name == name), "")

    def with_text(self, name: str, text: str) -> "Observation":
        """The same moment with another text for one of its parts."""
        replace = msgspec.structs.replace
        changed = (replace(part, text=text) if part.name == name else part for part in self.parts)
        return replace(self, parts=tuple(changed))


def _joined(parts: Iterable[Part]) -> str:
    return "\n".join(f"{part.name}:\n{part.text}\n" if part.heading else part.text for part in parts)


class Rise(msgspec.Struct, frozen=True, omit_defaults=True):
    """One press of a program at which the progression rose: what it was worth, and the numbers after it."""

    reward: float = 0.0
    numbers: Mapping[str, int] = {}


class Transition(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one action led to. `ended` names how the game ended, by `episode.outcome.Outcome`'s values."""

    observation: Observation
    reward: float = 0.0
    keys: int = 1
    """Key presses this took, skipped pages included."""
    ended: str = ""
    end: Mapping[str, Any] = {}
    """Facts of the end: the game's own words for it, its log line, achievements."""
    instead: str = ""
    """The action taken in place of the one asked for, where the game could not take that one now."""
    stopped: str = ""
    """Why the program behind the action stopped; empty for a plain action."""
    pressed: tuple[int | str, ...] = ()
    """What a program that plays the episode pressed in this burst."""
    rises: tuple[Rise, ...] = ()
    """The presses within this step at which the progression rose."""
    by_press: bool = False
    """Whether `reward` is the sum over several presses. It then counts by `rises` alone: a sum is worth more
    or less than any single press, and the rules of the games are about single presses."""

    @property
    def count(self) -> int:
        """How many steps this is: one decision, or each press of a program that plays the episode."""
        return len(self.pressed) or 1


class Parameter(msgspec.Struct, frozen=True, omit_defaults=True):
    """An argument of an action."""

    name: str
    kind: Literal["integer", "word", "text"] = "integer"
    """A whole number, one word, or all that is left of the answer."""
    says: str = ""
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()
    """The words it may be; empty: any."""
    optional: bool = False

    def read(self, text: str) -> int | str | None:
        """The argument that a text is; None where it is none."""
        if self.kind != "integer":
            return text if text and (not self.choices or text in self.choices) else None
        if len(text) > LONGEST_NUMBER or not text.removeprefix("-").isdecimal():
            return None
        number = int(text)
        low, high = self.least, self.most
        return None if (low is not None and number < low) or (high is not None and number > high) else number


LONGEST_NUMBER = 18
"""Characters of a number that an answer may hold as an argument."""


class Action(msgspec.Struct, frozen=True, omit_defaults=True):
    """An action that is a program with a name and perhaps arguments."""

    name: str
    says: str = ""
    parameters: tuple[Parameter, ...] = ()

    @property
    def form(self) -> str:
        """How it is written: `rest <turns>`; what may be left out stands as `[turns]`."""
        return " ".join(
            [
                self.name,
                *(f"[{each.name}]" if each.optional else f"<{each.name}>" for each in self.parameters),
            ]
        )

    def call(self, text: str) -> "Call | None":
        """The call that a text is; None where it is another, or its arguments are wrong."""
        if text != self.name and not text.startswith(f"{self.name} "):
            return None
        words = text[len(self.name) :].split()
        arguments: list[int | str] = []
        for place, parameter in enumerate(self.parameters):
            word = " ".join(words[place:]) if parameter.kind == "text" else "".join(words[place : place + 1])
            if not word and parameter.optional:
                break
            value = parameter.read(word)
            if value is None:
                return None
            arguments.append(value)
        rest = self.parameters[-1].kind == "text" if self.parameters else False
        return None if len(words) > len(self.parameters) and not rest else Call(self.name, tuple(arguments))


class Call(msgspec.Struct, frozen=True):
    """An action with its arguments."""

    name: str
    arguments: tuple[int | str, ...] = ()

    @property
    def text(self) -> str:
        """As an answer says it: `rest 40`."""
        return " ".join(map(str, [self.name, *self.arguments]))


class TaskView(msgspec.Struct, frozen=True, dict=True, omit_defaults=True):
    """What an agent is told of its task before the first observation."""

    env: str
    task: str
    goal: str
    actions: Mapping[str, str]
    """Every advertised action with its description, in the order shown; programs as `rest <turns>`."""
    accepted: frozenset[str]
    """Every plain answer the environment takes: the advertised ones, letters, numbers, prompt keys."""
    default_action: str
    programs: tuple[Action, ...] = ()
    """Actions with a program behind them."""
    anything: bool = False
    """Whether every text is an action."""

    def takes(self, text: str) -> bool:
        """Whether a text is an action of this task."""
        return text in self.accepted or self.anything or self.call(text) is not None

    def call(self, text: str) -> Call | None:
        """The program's call that a text is, if it is one."""
        if not self.programs:
            return None
        return next((call for each in self.programs if (call := each.call(text)) is not None), None)

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """The advertised actions that need no argument."""
        forms = {each.form for each in self.programs if each.parameters}
        return tuple(name for name in self.actions if name not in forms)

    def offering(self, programs: "Iterable[Action]") -> "TaskView":
        """The same task with these programs among its actions."""
        offered = tuple(programs)
        actions = {**self.actions, **{each.form: each.says for each in offered}}
        return msgspec.structs.replace(self, actions=actions, programs=offered)


class ProgramPlayer(msgspec.Struct, frozen=True):
    """A program that plays the episode, as a worker is told of it."""

    name: str
    options: Mapping[str, Any]
    seed: int
    since: int = 0
    """The step from which on it plays."""


class Burst(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a journal holds of a program's next presses, to be repeated exactly."""

    presses: int
    keys: tuple[int | str, ...] = ()
    """The presses themselves, where the program that made them is not to be run."""
    ended: str = ""
    """How the program's own failure ended the episode behind them; empty where none did."""
    stopped: str = ""


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an agent wants done: `action` is checked by the play loop, `answer` is what the model said."""

    action: str
    answer: str = ""
    reasoning: str = ""
    notes: Mapping[str, Any] = {}
    """Small facts for the record: how the answer was read, whether retrieval was used."""
    player: ProgramPlayer | None = None
    """Set where a program plays on by itself for a while."""


class Seeds(msgspec.Struct, frozen=True):
    """The game's dice; a kind that keeps dice of the display or of levels apart takes the others, too."""

    core: int
    disp: int
    lgen: int | None = None


class GameSpec(msgspec.Struct, frozen=True):
    """Everything that decides a game: same spec, same actions, same observations."""

    env: str
    """Registered kind of game."""
    task: str
    seeds: Seeds
    max_steps: int = 100_000
    """After how many of the game's own steps, such as key presses, it is ended."""
    options: Mapping[str, Any] = {}
    """Complete, as the kind's own schema has them."""
    programs: tuple[str, ...] = ()
    """Programs offered as actions."""


CONNECTION_KEYS = {
    "model": (
        *("base_url", "api_key_env", "connect_timeout", "timeout", "retry", "price", "price_table"),
        *("concurrency", "requests_per_minute", "tokens_per_minute", "max_answer_bytes"),
    ),
    "knowledge": ("folder", "threads"),
}
"""Settings of a player that say where a service is, how patiently it is asked and what it costs.

They are no part of an episode's identity: a run goes on although its server has moved.
"""
