"""TextWorld's answers as BALROG's games gave them.

BALROG's coin collector and treasure hunter are compiled for Glulx, which TextWorld plays no more. The same
games compiled for the Z-machine say the same, but for a status line, the centring of the last page and its
prompt.
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
"""Characters of a line that the interpreter reads; it warns of more."""


def without_goal(feedback: str, objective: str) -> str:
    """What was said, without the goal that the first page tells; BALROG does not show it."""
    return feedback.split(objective)[-1].strip()


def as_glulx(text: str, over: bool) -> str:
    """A page of the Z-machine as Glulx shows it."""
    return _HEADLINE.sub(_centred, _STATUS.sub("\n>" if over else "", text))


def _centred(match: re.Match[str]) -> str:
    headline = match[1]
    return " " * ((_GLULX_COLUMNS - len(headline)) // 2 - 1) + headline


def safe_command(command: str) -> str:
    """One line that the interpreter can read, and that reads or writes no file.

    A command that would is replaced by one that no game knows, so that the game itself refuses it.
    """
    line = " ".join(command.split()).encode("ascii", "replace").decode()[:_LONGEST]
    return _NO_VERB if _KEEPS_A_FILE.search(line) else line
