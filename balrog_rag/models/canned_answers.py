"""Made-up answers that fit a question: deterministic, without a model or randomness.

Shared by the scripted model, which knows the requested format, and by the loopback test server, which
reads it from the prompt.
"""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from string import ascii_lowercase

from balrog_rag.contracts.data import Action, AnswerFormat, Parameter, Purpose, ToolCall, digest
from balrog_rag.contracts.tool_calls import tool_name

LISTED = re.compile(r"^\s*[-*]?\s*([^\s:][^:\n]{0,24}?)\s*: \S", re.MULTILINE)
ESCAPE = "ESC"
"""The word chosen as often as all letters together, because it leaves most prompts of a game."""
LARGEST = 60
"""The largest number chosen if the parameter has no upper bound."""
JSON = '"thoughts": {"'
"""Text by which a prompt for a JSON answer is recognised."""
TAGGED = AnswerFormat((), "<|ACTION|>", "<|END|>")
LABELLED = AnswerFormat((), "ACTION: ", "", reasoning=True)
THOUGHT = "I have looked at the map and the message. This is what to try next."
QUERY = "Query: how to find the stairs down"
SUMMARY = "The stairs down look like >. Search for hidden doors where a room has no exit."


def pick(digest_of_question: str, choices: tuple[str, ...], seed: int = 0) -> str:
    """Choose by hash of the question and the seed."""
    # Not hash(), which differs between processes: a prompt must get the same answer in all of them.
    return choices[int(digest(f"{seed} {digest_of_question}"), 16) % len(choices)]


def compose(question: str, form: AnswerFormat, seed: int = 0) -> str:
    """Return an answer in that format to the question with that digest."""
    if form.thoughts:
        return json_answer(question, form, seed)
    thought = f"{THOUGHT}\n" if form.reasoning else ""
    return f"{thought}{form.before}{pick(question, form.choices, seed)}{form.after}"


def json_answer(question: str, form: AnswerFormat, seed: int = 0) -> str:
    """Return the answer as a JSON object of thoughts and a skill with its arguments."""
    calls = {call.name: call.parameters for call in form.calls}
    names = (*form.choices, *calls)
    name = pick(question, (*names, *form.choices[:1] * len(names)), seed)  # half are the first choice
    skill: dict[str, int | str] = {"name": name}
    for parameter in calls.get(name, ()):
        skill[parameter.name] = argument(f"{question} {parameter.name}", parameter, seed)
    return json.dumps({"thoughts": dict.fromkeys(form.thoughts, THOUGHT), "skill": skill})


def tool_call(question: str, tools: Sequence[Action], seed: int = 0) -> ToolCall:
    """Return a made-up call of one of the tools, which every other time is the first one."""
    drawn = pick(question, (*(each.name for each in tools), *[tools[0].name] * len(tools)), seed)
    tool = next(each for each in tools if each.name == drawn)
    given = {each.name: argument(f"{question} {each.name}", each, seed) for each in tool.parameters}
    return ToolCall(f"call_{digest(question)[:12]}", tool_name(tool.name), json.dumps(given))


def argument(question: str, parameter: Parameter, seed: int) -> int | str:
    """Return a made-up argument of the right kind."""
    if parameter.choices:
        return pick(question, parameter.choices, seed)
    if parameter.kind == "integer":
        low = parameter.least or 0
        high = LARGEST if parameter.most is None else parameter.most
        return low + int(digest(f"{seed} {question}"), 16) % (high - low + 1)
    return pick(question, (*ascii_lowercase, *[ESCAPE] * len(ascii_lowercase)), seed)


def for_purpose(purpose: Purpose) -> str:
    """Return the fixed answer to a question that does not ask for an action."""
    return {"query": QUERY, "summary": SUMMARY, "rerank": "1"}.get(purpose, THOUGHT)


@lru_cache(maxsize=64)  # the instruction is the same in all prompts of a task
def listed_actions(text: str) -> tuple[str, ...]:
    """Return the actions that a prompt lists: the longest unbroken run of 'name: description' lines."""
    best: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        names = LISTED.findall(block)
        if len(names) > len(best):
            best = names
    return tuple(best) or ("wait",)


def read_format(texts: tuple[str, ...]) -> AnswerFormat | Purpose:
    """Detect what the last message of a prompt asks for: an action in some format, a query, a summary."""
    last = texts[-1]
    actions = listed_actions(texts[0])
    if JSON in last:
        plain = tuple(name for name in listed_actions(last) if "<" not in name and "[" not in name)
        return AnswerFormat(plain, thoughts=("observations", "reasoning", "speak"))
    if "<|ACTION|>" in last:
        lowered = last.lower()  # a pattern that ignores case takes fifty times as long
        thinks = "think first" in lowered or "first think" in lowered
        return AnswerFormat(actions, TAGGED.before, TAGGED.after, thinks)
    if "ACTION:" in last:
        return AnswerFormat(actions, LABELLED.before, "", True)
    if re.search(r"\bquery\b", last[-1500:], re.IGNORECASE):
        return "query"
    if re.search(r"\bsummar", last[-3000:], re.IGNORECASE):
        return "summary"
    return AnswerFormat(actions)


def for_prompt(texts: tuple[str, ...], seed: int = 0) -> str:
    """Return an answer to a prompt of which only the text is known."""
    wanted = read_format(texts)
    if isinstance(wanted, str):
        return for_purpose(wanted)
    return compose(digest("\n\n".join(texts)), wanted, seed)
