"""The shape of an answer as a GBNF grammar, so that even a very small model answers in it."""

from functools import lru_cache

from balrog_rag.contracts.data import AnswerFormat

ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})
THOUGHT_CHARACTERS = 240
LINE = "[A-Za-z] [A-Za-z ,'-]{9,80}"
"""What stands where there are no choices: a short line of words."""


@lru_cache(maxsize=256)
def grammar(form: AnswerFormat) -> str:
    """The grammar of a choice alone, or of the whole answer where it may begin with a thought."""
    choices = " | ".join(literal(choice) for choice in form.choices) or LINE
    if not form.reasoning:
        return f"root ::= choice\nchoice ::= {choices}\n"
    thought = f"thought ::= [A-Za-z0-9 ,.'-]{{0,{THOUGHT_CHARACTERS}}}\n"
    return (
        f'root ::= thought "\\n" {literal(form.before)} choice {literal(form.after)}\n'
        f"{thought}choice ::= {choices}\n"
    )


def literal(text: str) -> str:
    """A text as a GBNF string."""
    return f'"{text.translate(ESCAPES)}"'
