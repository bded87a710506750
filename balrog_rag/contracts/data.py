"""The data of the contracts: messages and replies, passages, observations, decisions, game specs.

Plain immutable data without behaviour beyond hashing and joining text. Everything that crosses a
process boundary or reaches a journal is one of these.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal

import msgspec

from balrog_rag.contracts.action_calls import Action as Action
from balrog_rag.contracts.action_calls import Call as Call
from balrog_rag.contracts.action_calls import Parameter as Parameter
from balrog_rag.contracts.tool_calls import ToolCall as ToolCall
from balrog_rag.contracts.tool_calls import calls_text, tools_text

Role = Literal["system", "user", "assistant"]
Purpose = Literal["act", "query", "summary", "rerank", "other"]


def digest(text: str | bytes) -> str:
    """Return the short content hash used in journals (128 bits, hexadecimal)."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return blake2b(data, digest_size=16).hexdigest()


class Message(msgspec.Struct, frozen=True, dict=True):
    """One turn of a prompt. `stable` marks the end of a prefix worth caching at the provider."""

    role: Role
    text: str
    images: tuple[bytes, ...] = ()
    stable: bool = False
    reasoning: str = ""
    """The reasoning of an answer that is sent back with it."""
    reasoning_in: str = ""
    """Where the provider had put it, see `Reply.reasoning_in`; it is sent back in the same place."""
    calls: tuple[ToolCall, ...] = ()
    """The tool calls of an answer."""
    native: str = ""
    """That answer as its provider sent it, see `Reply.native`; it is sent back unchanged."""
    results: tuple[str, ...] = ()
    """The ids of the tool calls whose results this turn brings; its text is the result of the last one."""

    @cached_property
    def digest(self) -> str:
        """Hash of role, text, reasoning and pictures; cached, since prompts show the same turn many times."""
        pictures = "".join(digest(image) for image in self.images)
        thought = f"{self.reasoning_in}\n{self.reasoning}\n" if self.reasoning_in else ""
        return digest(f"{self.role}\n{pictures}\n{thought}{self._tool_use}{self.text}")

    @property
    def _tool_use(self) -> str:
        if not self.calls and not self.results:
            return ""
        ids = " ".join((*self.results, *(call.id for call in self.calls)))
        return f"{ids}\n{calls_text(self.calls)}\n{self.native}\n"


class AnswerFormat(msgspec.Struct, frozen=True):
    """The required format of an answer; models that can constrain decoding use it, others ignore it."""

    choices: tuple[str, ...]
    before: str = ""
    after: str = ""
    reasoning: bool = False
    calls: "tuple[Action, ...]" = ()
    """Choices that take arguments."""
    thoughts: tuple[str, ...] = ()
    """If set, the answer is one JSON object: these thoughts by name, then a skill by its name, with
    its arguments by theirs."""
    tools: "tuple[Action, ...]" = ()
    """If set, the answer is a native call of one of these tools."""
    several: bool = False
    """Whether more than one call is asked for."""


class Request(msgspec.Struct, frozen=True, dict=True):
    """One question to a model: the messages, their purpose, and the format of the answer."""

    messages: tuple[Message, ...]
    purpose: Purpose = "act"
    answer: AnswerFormat | None = None

    @cached_property
    def digest(self) -> str:
        """Hash of the question, from the digests of its messages, and from its tools if it offers any."""
        tools = tools_text(self.answer.tools) if self.answer is not None else ""
        messages = "\n".join(message.digest for message in self.messages)
        return digest(self.purpose + "\n" + messages + tools)


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens of one call as counted by the provider; `cached` and `reasoning` are parts of the others."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0

    @property
    def known(self) -> bool:
        """Whether tokens were reported: no call of a model is without any."""
        return self.input + self.output > 0


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model's answer and its cost; an empty or refused answer is an answer too."""

    text: str
    reasoning: str = ""
    finish: str = "stop"
    usage: Usage = Usage()
    cost: float | None = None
    latency: float = 0.0
    attempts: int = 1
    model: str = ""
    trimmed: int = 0
    """Number of old turns dropped so that the prompt fits."""
    reasoning_in: str = ""
    """Where the provider put the reasoning: the name of a field of its message, or the tag, such as <think>,
    before the text; "" if unknown."""
    calls: tuple[ToolCall, ...] = ()
    """The tools that it calls."""
    native: str = ""
    """An answer with calls as the provider sent it: the name of the protocol and the JSON of the turn, with
    reasoning, signatures and ids."""
    fingerprint: str = ""
    """What the provider says of the system behind the model, such as OpenAI's system_fingerprint."""


class Passage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A piece of the knowledge base as returned by a search."""

    id: str
    title: str
    text: str
    score: float = 0.0
    url: str = ""
    source: str = ""
    licence: str = ""
    version: str = ""
    """The version of the game that it describes, if known."""
    asked: str = ""
    """Other ways to ask for it: searched as well, but not shown."""


Shown = Literal["history", "now", "never"]
"""Whether a part of an observation stays in the history, appears in the newest prompt only, or never."""


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """One named piece of an observation's text."""

    name: str
    text: str
    shown: Shown = "history"
    heading: bool = True
    """Whether prompts print its name above it."""


class Observation(msgspec.Struct, frozen=True, dict=True, omit_defaults=True):
    """What an agent sees of one moment of a game: named parts of text, numbers, and optional pictures."""

    parts: tuple[Part, ...]
    numbers: Mapping[str, int] = {}
    """The game's counters by name; the journal records those that change."""
    digest: str = ""
    """Hash of everything that this was made from."""
    notice: str = ""
    """The harness's remark on the agent's last answer, e.g. that it was not a valid action."""
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
        """The moment as shown to people: message and map, or all parts if there is no map."""
        if seen := self.text("map"):
            return f"{self.text('message')}\n{seen}"
        return "\n".join(part.text for part in self.parts if part.shown != "never" and part.text)

    def text(self, name: str) -> str:
        """Return the part of that name; "" if there is none."""
        return next((part.text for part in self.parts if part.name == name), "")

    def with_text(self, name: str, text: str) -> "Observation":
        """Replace the text of one part."""
        replace = msgspec.structs.replace
        changed = (replace(part, text=text) if part.name == name else part for part in self.parts)
        return replace(self, parts=tuple(changed))


def _joined(parts: Iterable[Part]) -> str:
    return "\n".join(f"{part.name}:\n{part.text}\n" if part.heading else part.text for part in parts)


class Rise(msgspec.Struct, frozen=True, omit_defaults=True):
    """One press of a program at which the progression rose: its reward, and the numbers after it."""

    reward: float = 0.0
    numbers: Mapping[str, int] = {}


class Transition(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of one action. `ended` names how the game ended, as a value of `Outcome`."""

    observation: Observation
    reward: float = 0.0
    keys: int = 1
    """Key presses this took, including skipped pages."""
    ended: str = ""
    end: Mapping[str, Any] = {}
    """Facts of the end: the game's description, its log line, achievements."""
    instead: str = ""
    """The action taken instead of the requested one, if the game could not take that now."""
    stopped: str = ""
    """Why the program that ran the action stopped; "" for a plain action."""
    pressed: tuple[int | str, ...] = ()
    """Keys pressed in this burst by a program that plays the episode."""
    rises: tuple[Rise, ...] = ()
    """The presses within this step at which the progression rose."""
    commands: tuple[str, ...] | None = None
    """What code did in this step, its keys and skill calls; a replay repeats them and runs no code."""
    by_press: bool = False
    """Whether `reward` is the sum over several presses. Scoring then uses `rises` alone: the games' rules are
    about single presses, and a sum can score more or less than any of them."""

    @property
    def count(self) -> int:
        """Number of steps: one decision, or each press of a program that plays the episode."""
        return len(self.pressed) or 1


class TaskView(msgspec.Struct, frozen=True, dict=True, omit_defaults=True):
    """Describes a task to an agent before the first observation."""

    env: str
    task: str
    goal: str
    actions: Mapping[str, str]
    """Every advertised action with its description, in the order shown; programs as `rest <turns>`."""
    accepted: frozenset[str]
    """Every plain answer that the environment accepts: advertised actions, letters, numbers, prompt keys."""
    default_action: str
    programs: tuple[Action, ...] = ()
    """Actions that run a program."""
    anything: bool = False
    """Whether any text is an action."""

    def takes(self, text: str) -> bool:
        """Whether a text is an action of this task."""
        return self.read(text) is not None

    def read(self, text: str) -> "str | Call | None":
        """Parse a text as a plain action or a call; return None if it is neither."""
        if text in self.accepted:
            return text
        call = self.call(text)
        return text if call is None and self.anything else call

    def admits(self, call: Call) -> bool:
        """Whether this task has such a call, and no plain action is written like it."""
        return call.text not in self.accepted and any(each.admits(call) for each in self.programs)

    def call(self, text: str) -> Call | None:
        """Parse a program call; return None if the text is not one."""
        if not self.programs:
            return None
        return next((call for each in self.programs if (call := each.call(text)) is not None), None)

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """The advertised actions that need no argument."""
        forms = {each.form for each in self.programs if each.parameters}
        return tuple(name for name in self.actions if name not in forms)

    def offering(self, programs: "Iterable[Action]") -> "TaskView":
        """Return the task with these programs added to its actions."""
        offered = tuple(programs)
        actions = {**self.actions, **{each.form: each.says for each in offered}}
        return msgspec.structs.replace(self, actions=actions, programs=offered)


class ProgramPlayer(msgspec.Struct, frozen=True):
    """A program that plays the episode, as described to a worker."""

    name: str
    options: Mapping[str, Any]
    seed: int
    since: int = 0
    """The step from which it plays."""


class Burst(msgspec.Struct, frozen=True, omit_defaults=True):
    """A program's next key presses as recorded in a journal, to be repeated exactly."""

    presses: int
    keys: tuple[int | str, ...] = ()
    """The presses themselves, if the program that made them must not run."""
    ended: str = ""
    """The outcome if the program's failure ended the episode after them; else ""."""
    stopped: str = ""


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an agent decided: `action` is checked by the play loop, `answer` is the model's text."""

    action: str
    answer: str = ""
    reasoning: str = ""
    notes: Mapping[str, Any] = {}
    """Small facts for the record: how the answer was parsed, whether retrieval was used."""
    player: ProgramPlayer | None = None
    """Set if a program plays on by itself for a while."""
    call: Call | None = None
    """The call that `action` is, where the agent has already parsed the answer."""


class Seeds(msgspec.Struct, frozen=True):
    """The game's RNG seeds; a kind with separate generators for display or levels uses the others too."""

    core: int
    disp: int
    lgen: int | None = None


class GameSpec(msgspec.Struct, frozen=True):
    """Everything that determines a game: same spec, same actions, same observations."""

    env: str
    """Registered kind of game."""
    task: str
    seeds: Seeds
    max_steps: int = 100_000
    """Number of the game's own steps, such as key presses, after which it is ended."""
    options: Mapping[str, Any] = {}
    """Complete, with every option of the kind's schema."""
    programs: tuple[str, ...] = ()
    """Programs offered as actions."""
    version: int | msgspec.UnsetType = msgspec.UNSET
    """The task's version; omitted when encoded if it is the first: older digests stay the same."""

    def versioned(self, task: str) -> str:
        """The task's name with its version, unless that is the first: another version is another task."""
        return task if self.version is msgspec.UNSET else f"{task}@{self.version}"


CONNECTION_KEYS = {
    "model": (
        *("base_url", "api_key_env", "connect_timeout", "timeout", "retry", "price", "price_table"),
        *("concurrency", "requests_per_minute", "tokens_per_minute", "max_answer_bytes"),
    ),
    "knowledge": ("folder", "threads"),
}
"""Settings of a player that say how a service is reached, retried and priced.

They are not part of an episode's identity: a run can be resumed although its server has moved.
"""
