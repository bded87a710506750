"""The shape of an answer as a GBNF grammar, so that even a very small model answers in it."""

from functools import lru_cache

from balrog_rag.contracts.data import Action, AnswerFormat, Parameter

ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})
THOUGHT_CHARACTERS = 240
LINE = "[A-Za-z] [A-Za-z ,'-]{9,80}"
"""What stands where there are no choices: a short line of words."""


@lru_cache(maxsize=256)
def grammar(form: AnswerFormat) -> str:
    """The grammar of a choice alone, or of the whole answer where it may begin with a thought."""
    choices = " | ".join([*map(literal, form.choices), *map(called, form.calls)]) or LINE
    if not form.reasoning:
        return f"root ::= choice\nchoice ::= {choices}\n"
    thought = f"thought ::= [A-Za-z0-9 ,.'-]{{0,{THOUGHT_CHARACTERS}}}\n"
    return (
        f'root ::= thought "\\n" {literal(form.before)} choice {literal(form.after)}\n'
        f"{thought}choice ::= {choices}\n"
    )


def called(action: Action) -> str:
    """A call with its arguments."""
    return " ".join([literal(action.name), *(f'" " {argument(each)}' for each in action.parameters)])


def argument(parameter: Parameter) -> str:
    """What an argument may be."""
    if parameter.choices:
        return f"({' | '.join(map(literal, parameter.choices))})"
    if parameter.kind == "integer":
        return "[0-9]{1,4}"
    return "[A-Za-z]{1,30}" if parameter.kind == "word" else f"({LINE})"


def literal(text: str) -> str:
    """A text as a GBNF string."""
    return f'"{text.translate(ESCAPES)}"'
