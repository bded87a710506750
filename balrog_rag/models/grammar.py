"""The format of an answer as a GBNF grammar, so that even a very small model follows it."""

import json
from functools import lru_cache

from balrog_rag.contracts.data import Action, AnswerFormat, Parameter

ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})
BEGUN, BETWEEN = '{"thoughts": {', '}, "skill": {'
KEYS = ('"ESC"', '"SPACE"', '"ENTER"')
"""Words that stand for a single key."""
THOUGHT_CHARACTERS = 240
"""Characters of all thoughts of an answer together, so that its tokens suffice for the rest."""
LINE = "[A-Za-z] [A-Za-z ,'-]{9,80}"
"""The rule if there are no choices: a short line of words."""


@lru_cache(maxsize=256)
def grammar(form: AnswerFormat) -> str:
    """Return the grammar of a choice alone, or of the whole answer if it may start with a thought."""
    if form.tools:
        return f"root ::= {' | '.join(map(tool, form.tools))}\n"
    if form.thoughts:
        return json_grammar(form)
    choices = " | ".join([*map(literal, form.choices), *map(called, form.calls)]) or LINE
    if not form.reasoning:
        return f"root ::= choice\nchoice ::= {choices}\n"
    thought = f"thought ::= [A-Za-z0-9 ,.'-]{{0,{THOUGHT_CHARACTERS}}}\n"
    return (
        f'root ::= thought "\\n" {literal(form.before)} choice {literal(form.after)}\n'
        f"{thought}choice ::= {choices}\n"
    )


def json_grammar(form: AnswerFormat) -> str:
    """Return the grammar of a JSON object: thoughts by name, then a skill with its arguments."""
    named = [f"{literal(json.dumps(name))} {literal(': ')} text" for name in form.thoughts]
    thoughts = f" {literal(', ')} ".join(named)
    skills = " | ".join(map(json_skill, (*map(Action, form.choices), *form.calls)))
    most = THOUGHT_CHARACTERS // len(form.thoughts)
    return (
        f"root ::= {literal(BEGUN)} {thoughts} {literal(BETWEEN)} skill {literal('}}')}\n"
        f'text ::= "\\"" [A-Za-z0-9 ,.\'-]{{0,{most}}} "\\""\n'
        f"skill ::= {skills}\n"
    )


def tool(action: Action) -> str:
    """Return a call of a tool as a JSON object: its name, then its arguments."""
    return f"{literal('{')} {json_skill(action)} {literal('}')}"


def json_skill(action: Action) -> str:
    """Return a skill by name with its arguments; the optional ones are all present or all absent."""
    needed = [json_argument(each) for each in action.parameters if not each.optional]
    others = [json_argument(each) for each in action.parameters if each.optional]
    name = literal(f'"name": {json.dumps(action.name)}')
    return " ".join([name, *needed, *([f"({' '.join(others)})?"] if others else [])])


def json_argument(parameter: Parameter) -> str:
    """Return a parameter's name and allowed values."""
    quote = literal('"')
    if parameter.choices:
        value = f"({' | '.join(literal(json.dumps(choice)) for choice in parameter.choices)})"
    elif parameter.kind == "integer":
        value = "[0-9]{1,2}"
    elif parameter.kind == "word":
        value = f"({quote} [A-Za-z0-9.,<>:;*?$_/-] {quote} | {' | '.join(map(literal, KEYS))})"
    else:
        value = f"{quote} [A-Za-z] [A-Za-z0-9 ,'-]{{0,40}} {quote}"
    return f"{literal(f', {json.dumps(parameter.name)}: ')} {value}"


def called(action: Action) -> str:
    """Return a call with its arguments."""
    return " ".join([literal(action.name), *(f'" " {argument(each)}' for each in action.parameters)])


def argument(parameter: Parameter) -> str:
    """Return the allowed values of an argument."""
    if parameter.choices:
        return f"({' | '.join(map(literal, parameter.choices))})"
    if parameter.kind == "integer":
        return "[0-9]{1,4}"
    return "[A-Za-z]{1,30}" if parameter.kind == "word" else f"({LINE})"


def literal(text: str) -> str:
    """Quote a text as a GBNF string."""
    return f'"{text.translate(ESCAPES)}"'
