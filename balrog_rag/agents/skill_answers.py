"""Answers that are one JSON object, thoughts and a skill, validated against the task's skills."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from balrog_rag.contracts.data import Action, Call, Parameter, TaskView
from balrog_rag.contracts.registry import nearest
from balrog_rag.contracts.surrogates import cleaned

THOUGHTS = ("observations", "reasoning", "speak")
LONGEST = 20_000
"""Longest answer that is parsed, in characters."""
FENCE = "```"
_KEYS = {" ": "SPACE", "\r": "ENTER", "\n": "ENTER", "\x1b": "ESC"}
"""Single characters that need a name, because a call cannot contain them."""
_LONGEST_NAME = 40


class WrongAnswer(Exception):
    """An answer without a usable skill; the message is one line for the model."""


class Skill(NamedTuple):
    """A chosen skill with its arguments by name, and the remark in its `speak` field."""

    name: str
    arguments: Mapping[str, int | str]
    speak: str

    @property
    def text(self) -> str:
        """The call as the game accepts it."""
        return " ".join([self.name, *map(str, self.arguments.values())])


def read_skill(text: str, skills: Sequence[Action]) -> Skill:
    """Parse the skill that an answer chooses, with or without a code fence; else raise WrongAnswer."""
    answer = _object(unfenced(text))
    _fields(answer, "the answer", ("thoughts", "skill"))
    thoughts, chosen = answer["thoughts"], answer["skill"]
    if not isinstance(thoughts, dict):
        raise WrongAnswer("thoughts must be a JSON object")
    _fields(thoughts, "thoughts", THOUGHTS)
    for name in THOUGHTS:
        if not isinstance(thoughts[name], str):
            raise WrongAnswer(f"thoughts.{name} must be a text")
    if not isinstance(chosen, dict):
        raise WrongAnswer("skill must be a JSON object")
    return skill_of(chosen, skills, thoughts["speak"])


def read_fenced_call(text: str, view: TaskView) -> Call | None:
    """Return the call that an answer in a code fence consists of, written as text or as a JSON object."""
    if not fenced(text) or not view.programs:
        return None
    inside = unfenced(text)
    if not inside.startswith("{"):
        return view.call(inside)
    try:
        answer = _object(inside)
        chosen = answer.get("skill", answer)
        return view.call(skill_of(chosen, view.programs, "").text) if isinstance(chosen, dict) else None
    except WrongAnswer:
        return None


def fenced(text: str) -> bool:
    """Whether the whole answer is in one code fence."""
    text = text.strip()
    return text.startswith(FENCE) and text.endswith(FENCE) and "\n" in text and text.count(FENCE) == 2


def unfenced(text: str) -> str:
    """Remove the code fence around an answer."""
    text = text.strip()
    return text.partition("\n")[2].removesuffix(FENCE).strip() if fenced(text) else text


def _object(text: str) -> dict[str, Any]:
    """Parse an answer as a JSON object."""
    text = text.strip()
    if not text:
        raise WrongAnswer("the answer is empty")
    if len(text) > LONGEST:
        raise WrongAnswer(f"the answer has {len(text):,} characters; no more than {LONGEST:,} are read")
    if text.startswith(FENCE):
        raise WrongAnswer("the answer has an incomplete code fence or several; write the JSON object alone")
    if not text.startswith("{"):
        raise WrongAnswer("the answer is no JSON object; it must begin with { and hold nothing else")
    try:
        answer = cleaned(json.loads(text))
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            raise WrongAnswer("the answer goes on after its JSON object; write one object alone") from error
        raise WrongAnswer(f"the answer is no correct JSON: {error.msg} at character {error.pos}") from error
    except (RecursionError, ValueError) as error:
        raise WrongAnswer(
            "the answer is no correct JSON: it is nested too deeply or holds too long a number"
        ) from error
    assert isinstance(answer, dict)
    return answer


def _fields(value: Mapping[str, Any], what: str, names: Sequence[str]) -> None:
    for name in names:
        if name not in value:
            raise WrongAnswer(f"{what} has no {name!r}")
    for name in value:
        if name not in names:
            raise WrongAnswer(f"{what} has {name[:_LONGEST_NAME]!r}, which is not asked for")


def skill_of(chosen: Mapping[str, Any], skills: Sequence[Action], speak: str) -> Skill:
    """Return the skill of a JSON object with its name and arguments; else raise WrongAnswer."""
    name = chosen.get("name")
    if not isinstance(name, str):
        raise WrongAnswer("skill has no name, or one that is no text")
    known = {skill.name: skill for skill in skills}
    if name not in known:
        short = name[:_LONGEST_NAME]
        raise WrongAnswer(f"there is no skill {short!r}{nearest(short, known)}")
    parameters = {parameter.name: parameter for parameter in known[name].parameters}
    given = {key: value for key, value in chosen.items() if key != "name" and value is not None}
    for key in given:
        if key not in parameters:
            takes = f"takes {', '.join(parameters)}" if parameters else "takes nothing"
            raise WrongAnswer(f"{name} has no parameter {key[:_LONGEST_NAME]!r}; it {takes}")
    arguments: dict[str, int | str] = {}
    for key, parameter in parameters.items():
        if key in given:
            arguments[key] = _argument(name, parameter, given[key])
        elif not parameter.optional or any(later in given for later in _after(parameters, key)):
            raise WrongAnswer(f"{name} needs {key}")
    return Skill(name, arguments, speak)


def _after(parameters: Mapping[str, Parameter], key: str) -> list[str]:
    names = list(parameters)
    return names[names.index(key) + 1 :]


def _argument(name: str, parameter: Parameter, value: Any) -> int | str:
    """Return an argument of the right kind."""
    if parameter.kind == "integer":
        if not isinstance(value, int) or isinstance(value, bool) or parameter.read(str(value)) is None:
            raise WrongAnswer(f"{name}: {parameter.name} must be a whole number{_range(parameter)}")
        return value
    if isinstance(value, bool) and parameter.choices:
        value = str(value).lower()
    if not isinstance(value, str):
        raise WrongAnswer(f"{name}: {parameter.name} must be a text")
    if parameter.kind == "code":
        if parameter.read(value) is None:
            raise WrongAnswer(
                f"{name}: {parameter.name} must be a program of at most {parameter.most} characters"
            )
        return value
    words = " ".join(_KEYS.get(value, value).split())
    if parameter.read(words) is None or (parameter.kind == "word" and " " in words):
        wanted = f"one of {', '.join(parameter.choices)}" if parameter.choices else "one word"
        raise WrongAnswer(
            f"{name}: {parameter.name} must be {wanted if parameter.kind == 'word' else 'a text'}"
        )
    return words


def _range(parameter: Parameter) -> str:
    low = "" if parameter.least is None else f" from {parameter.least}"
    return low if parameter.most is None else f"{low} up to {parameter.most}"
