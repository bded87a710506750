"""Convert TextWorld's answers to those of BALROG's games.

BALROG's coin collector and treasure hunter are compiled for Glulx, which TextWorld no longer plays. The same
games compiled for the Z-machine differ in a status line, the centring of the last page and the prompt.
"""

import re

_STATUS = re.compile(r"\s*>\s{20,}-= .* =-\d+/\d+$")
_HEADLINE = re.compile(r"^ *(\*\*\* .* \*\*\*)$", re.MULTILINE)
_GLULX_COLUMNS = 80

_KEEPS_A_FILE = re.compile(
    r"(^|[.,;]|\bthen\b)\s*(save|restore|script|transcript|unscript|noscript|recording|replay)\b",
    re.IGNORECASE,
)
_NO_VERB = "nosuchverb"
_LONGEST = 197
"""Maximum line length that the interpreter reads; it warns about longer ones."""


def without_goal(feedback: str, objective: str) -> str:
    """The text without the goal on the first page, which BALROG does not show."""
    return feedback.split(objective)[-1].strip()


def as_glulx(text: str, over: bool) -> str:
    """Convert a page of the Z-machine to the form of Glulx."""
    return _HEADLINE.sub(_centred, _STATUS.sub("\n>" if over else "", text))


def _centred(match: re.Match[str]) -> str:
    headline = match[1]
    return " " * ((_GLULX_COLUMNS - len(headline)) // 2 - 1) + headline


def safe_command(command: str) -> str:
    """Return one line that the interpreter can read, and that reads or writes no file.

    A command that would is replaced by one that no game knows, so that the game itself rejects it.
    """
    line = " ".join(command.split()).encode("ascii", "replace").decode()[:_LONGEST]
    return _NO_VERB if _KEEPS_A_FILE.search(line) else line
