"""Parse the action in a model's answer: strictly as BALROG does, or leniently by its clear meaning.

Only the model's own answer is parsed here, never a prompt: no text of the game or of the knowledge base
can become an action.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from balrog_rag.agents.skill_answers import read_fenced_call
from balrog_rag.contracts.data import AnswerFormat, Call, TaskView

UNREADABLE = "no action could be read from the answer"
"""Recorded in the history for an answer without an action; never a valid action."""

OPEN, CLOSE = "<|ACTION|>", "<|END|>"
LABEL = "ACTION:"


class Style(NamedTuple):
    """How an agent wants its answers written, and how it parses them strictly."""

    name: str
    before: str = ""
    after: str = ""
    reasoning: bool = False

    def candidate(self, text: str) -> str:
        """Return the action as BALROG's agent of this style parses it; the caller checks if it is valid."""
        return _STRICT[self.name](text.strip())

    def whole(self, text: str) -> str:
        """Return the same part of the answer unfiltered, which is where a call with arguments is found."""
        text = text.strip()
        if self.before == OPEN:
            return (_tagged(text) or [text])[0]
        return (text.split(LABEL)[-1] if self.name == "label" else text).strip()

    def several(self, text: str, view: TaskView) -> list[str]:
        """Return every action of an answer that may contain several, in order."""
        if view.programs and self.before != OPEN:
            found = re.split(r"[\n,;]", self.whole(text))
        else:
            found = _SEVERAL[self.name](text.strip())
        return [part for part in (each.strip() for each in found) if part]

    def first(self, text: str, view: TaskView) -> str:
        """Return the answer without the actions after its first."""
        parts = self.several(text, view)
        if self.before == OPEN or len(parts) < 2:
            return text
        reasoning, label, _ = text.rpartition(LABEL) if self.name == "label" else ("", "", text)
        return f"{reasoning}{label} {parts[0]}".strip()

    def bare(self) -> "Style":
        """Return the style of a single action extracted from such an answer."""
        return TAGS_OR_WHOLE if self.before == OPEN else WHOLE

    def answer(self, view: TaskView) -> AnswerFormat:
        """Return the format of such an answer, for models that can be constrained to one."""
        calls = tuple(each for each in view.programs if each.parameters)
        plain = () if view.anything else view.plain
        return AnswerFormat(plain, self.before, self.after, self.reasoning, calls)


def _letters(text: str) -> str:
    """Keep what BALROG's untagged agents keep of an answer: letters, spaces and colons, no digits."""
    return re.sub(r"[^a-zA-Z\s:]", "", text)


def _after_label(text: str) -> str:
    return _letters(text).split(LABEL)[-1].strip()


def _tagged(text: str) -> list[str]:
    return sections(text, OPEN)[0]


def sections(text: str, opening: str, closing: str = CLOSE) -> tuple[list[str], str]:
    """Return the text between pairs of tags, and the text without them; in linear time for any answer."""
    found, rest, end = [], [], 0
    while (start := text.find(opening, end)) >= 0 and (stop := text.find(closing, start)) >= 0:
        found.append(text[start + len(opening) : stop].strip())
        rest.append(text[end:start])
        end = stop + len(closing)
    return found, "".join([*rest, text[end:]])


def _split(text: str) -> list[str]:
    return re.split(r"[\n,;]", _letters_and_breaks(text))


def _letters_and_breaks(text: str) -> str:
    return re.sub(r"[^a-zA-Z\s:,;]", "", text)


_STRICT: dict[str, Callable[[str], str]] = {
    "whole": _letters,
    "label": _after_label,
    "tags_or_whole": lambda text: (_tagged(text) or [text])[0],
    "tags": lambda text: (_tagged(text) or [UNREADABLE])[0],
    "tags_or_letters": lambda text: (_tagged(text) or [_letters(text).strip()])[0],
}
_SEVERAL: dict[str, Callable[[str], list[str]]] = {
    "whole": _split,
    "label": lambda text: _split(text.split(LABEL)[-1]),
    "tags_or_whole": lambda text: _tagged(text) or [text],
    "tags": _tagged,
    "tags_or_letters": _tagged,
}

WHOLE = Style("whole")
"""The whole answer is the action (naive, few_shot)."""
AFTER_LABEL = Style("label", before=f"{LABEL} ", reasoning=True)
"""The text after the last ACTION: is the action (cot)."""
TAGS_OR_WHOLE = Style("tags_or_whole", OPEN, CLOSE)
"""The text in the first pair of tags, or the whole answer if there is none (robust_naive)."""
TAGS = Style("tags", OPEN, CLOSE, reasoning=True)
"""The text in the first pair of tags, nothing else (robust_cot, robust_star)."""
TAGS_OR_LETTERS = Style("tags_or_letters", OPEN, CLOSE, reasoning=True)
"""The text in the first pair of tags, or the letters of the whole answer (the paper's robust_cot_rag)."""


class Reading(NamedTuple):
    """A parsed answer: the action, and whether lenient parsing was needed to find it."""

    action: str
    how: str
    """strict; lenient: only lenient parsing finds an action; none: neither finds one."""
    call: Call | None = None
    """The call that the action is, where it is one."""

    @classmethod
    def of(cls, action: str | Call, how: str) -> "Reading":
        """Return the reading of an action of the task."""
        return cls(action, how) if isinstance(action, str) else cls(action.text, how, action)


def read(text: str, style: Style, view: TaskView, lenient: bool) -> Reading:
    """Parse the answer's action. Both ways of parsing are tried, so that both can be counted."""
    candidate = style.candidate(text)
    if candidate in view.accepted:
        return Reading(candidate, "strict")
    if (call := view.call(style.whole(text))) is not None:
        return Reading.of(call, "strict")
    if view.call(candidate) is not None:
        # An argument that does not fit, such as a number out of range, was dropped with the other digits:
        # the rest must not be taken as a call with fewer arguments.
        candidate = style.whole(text)
    if (call := read_fenced_call(style.whole(text), view)) is not None:
        return Reading.of(call, "lenient")
    if view.anything:
        return Reading(candidate, "strict")
    # Meaning is computed even if it is not used, so that runs can report what lenient parsing would change.
    meant = meaning(text, style, view)
    if meant is None:
        return Reading(candidate, "none")
    return Reading.of(meant, "lenient") if lenient else Reading(candidate, "lenient")


_READ_BACK = 2000
"""Characters at the end of an answer that are searched for its meaning."""


def meaning(text: str, style: Style, view: TaskView) -> str | Call | None:
    """Return the one action that an answer clearly means; None if it means none or several."""
    known = _by_folded(view.accepted)
    text = text[-_READ_BACK:]
    before: list[str] = []
    for places in _places(text, style):
        if places in ([], before):  # means as little as before
            continue
        before = places
        read_as = (_plain(place, known) or _called(place, view) for place in places)
        meant = {action for action in read_as if action}
        if meant:
            return meant.pop() if len(meant) == 1 else None
    return None


def _places(text: str, style: Style) -> Iterable[list[str]]:
    """Yield the places where an answer may name its action, the most reliable first."""
    yield re.findall(r"<\s*\|?\s*action\s*\|?\s*>(.*?)(?:<|$)", text, re.DOTALL | re.IGNORECASE)[-1:]
    yield re.findall(r"\baction(?:\s+is)?\W*:\W*([^\n]+)", text, re.IGNORECASE)[-1:]
    yield re.findall(r"\\boxed\{([^}]*)\}", text)
    yield re.findall(r"^(.*?)<\|?END", text, re.DOTALL)[:1]
    yield [text]
    lines = [line for line in text.splitlines() if line.strip()]
    yield lines[-1:] if style.reasoning else lines[:1]


_WRAPPING = " \t\r\n\"'`*_.,;:!?()[]{}<>|\\“”‘’"
_LEAD = re.compile(
    r"^(?:(?:i\s+(?:will|would|should|choose\s+to|choose|want\s+to|am\s+going\s+to)|i'll|let's|let\s+me|my|the|next)\s+)*"
    r"(?:(?:action|command|answer|output|choice|move)\s*(?:is|:|=)\s*)?"
    r"(?:(?:move|moving|go|going|walk|head|step|travel|run|press|type|key|use|do|perform|take|select|choose|the)\s+)*"
    r"(?:(?:action|command|key|letter|option|to\s+the)\s+)?",
    re.IGNORECASE,
)
_TRAIL = re.compile(
    r"(?:[.,;:!?\n(]|\s[-–—]\s|\s(?:because|since|so|as|to|in\s+order|and\s+then|due)\s).*$",
    re.DOTALL | re.IGNORECASE,
)


def _plain(text: str, known: Mapping[str, str | None]) -> str | None:
    """Return the action of a short text after removing what models commonly put around it."""
    bare = text.strip(_WRAPPING)
    cut = _TRAIL.sub("", bare).strip(_WRAPPING)
    led = _LEAD.sub("", cut, count=1)
    for attempt in dict.fromkeys((text.strip(), bare, cut, led.strip(_WRAPPING))):
        action = _look_up(attempt, known)
        if action:
            return action
    return _verb(led.casefold(), known)


def _called(text: str, view: TaskView) -> Call | None:
    """Return the call in a short text after removing what models commonly put around it."""
    bare = text.strip(_WRAPPING)
    if not view.programs:
        return None
    for attempt in (bare, bare.casefold(), _LEAD.sub("", bare, count=1).strip(_WRAPPING)):
        if (call := view.call(attempt)) is not None:
            return call
    return None


_COMPASS = frozenset(
    f"{way}{side}" for way in ("north", "south", "") for side in ("east", "west", "") if way + side
)
_LONGEST_PHRASE = 7


def _verb(phrase: str, known: Mapping[str, str | None]) -> str | None:
    """Return the action of a phrase such as "open northeast": its first word, if no other word is an action.

    The game asks for the rest, so that it can be answered next.
    """
    first, *rest = phrase.split()[: _LONGEST_PHRASE + 1] or [""]
    others = (known.get(word.strip(_WRAPPING)) for word in rest if len(word) > 1)
    action = (
        known.get(first) if len(first) > 1 and first not in _COMPASS and len(rest) < _LONGEST_PHRASE else None
    )
    return action if all(other is None or other in _COMPASS for other in others) else None


_GAPS = re.compile(r"[\s_-]+")


def _look_up(text: str, known: Mapping[str, str | None]) -> str | None:
    return known.get(text) or known.get(folded := text.casefold()) or known.get(_GAPS.sub(" ", folded))


@lru_cache(maxsize=64)
def _by_folded(accepted: frozenset[str]) -> dict[str, str | None]:
    """Map spellings to accepted actions; None where two letters differ only in case."""
    spelt: dict[str, str | None] = {}
    for action in sorted(accepted):
        folded = action.casefold()
        spelt[folded] = None if folded in spelt and len(action) == 1 else action
    return spelt | {action: action for action in accepted}
