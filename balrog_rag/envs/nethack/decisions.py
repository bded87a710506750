"""Which answer of a finished game was the fatal one, by the class of its end.

A moment is what an agent saw, and the action is its answer to it. The fatal answer is the last one that
NetHack's rules leave open: the one to the question about praying, eating or climbing, or the one before the
blow, the faint or the fall.
"""

import re
from collections.abc import Mapping, Sequence

from balrog_rag.contracts.data import Observation
from balrog_rag.envs.nethack.causes import LEFT
from balrog_rag.envs.nethack.concerns import in_mortal_need, is_open
from balrog_rag.envs.nethack.conditions import CONDITIONS, HUNGER
from balrog_rag.envs.nethack.questions import NEXT_PRAYER

_OVER = re.compile(
    r"Do you want your possessions identified|You die\.\.\.|DYWYPI|You made the top ten"
    r"|Points +Name"
)
_QUESTIONS = {
    LEFT: r"Still climb\?",
    "overeating": r"eat it\?|want to eat\?|eat one\?|[Cc]ontinue eating|[Ss]top eating",
    "corpse": r"eat it\?|want to eat\?|eat one\?",
    "prayer": r"sure you want to pray",
    "own spell or wand": r"[Ii]n what direction|want to zap|which spell|break",
}
"""The question whose answer kills."""
_RESULTS = {
    "prayer": r"You begin praying",
    "hunger": r"[Yy]ou faint|You die from|starv",
    "floating eye": r"frozen by",
    "drowning or lava": r"drown|You fall into the (?:water|lava)|burn to (?:a crisp|death)",
    "petrification": r"turn to stone|Touching .* was a fatal mistake|You have become a statue",
    "gas spore": r"explosion|explodes",
}
"""What the game says when the fatal answer takes effect: the answer was given one moment before."""
_SICK = 1 << CONDITIONS.index("FoodPois")
_SICKNESS = r"was tainted|deathly sick|feel (?:very )?sick"


def decision(cause: str, moments: Sequence[Observation], last: str) -> int | None:
    """Return the index of the moment whose answer was fatal; None if it was given before the first moment.

    `moments` precede the end; `last` is the text that followed the last of them.
    """
    said = [moment.text("message") for moment in moments]
    alive = _alive(said)
    results = [*said[1:], last][:alive]
    questions = said[:alive]
    if cause == "corpse":
        until = _before_sickness(moments[:alive])
        return _latest(_QUESTIONS[cause], questions[:until])
    found = _latest(_RESULTS[cause], results) if cause in _RESULTS else None
    if found is None and cause in _QUESTIONS:
        found = _latest(_QUESTIONS[cause], questions)
    return found if found is not None else (alive - 1 if alive else None)


def _alive(said: Sequence[str]) -> int:
    """How many moments precede the screens that follow a death."""
    return next((place for place, text in enumerate(said) if _OVER.search(text)), len(said))


def _before_sickness(moments: Sequence[Observation]) -> int:
    """How many moments precede the sickness; all of them if none is on record."""
    for place, moment in enumerate(moments):
        if moment.numbers.get("condition", 0) & _SICK or re.search(_SICKNESS, moment.text("message")):
            return place
    return len(moments)


def _latest(pattern: str, texts: Sequence[str]) -> int | None:
    return next((place for place in reversed(range(len(texts))) if re.search(pattern, texts[place])), None)


_NEVER = re.compile(
    r"Still climb\?|Really attack|break your wand|really sure you want to break|hard time getting"
)
_EATING = re.compile(r"Continue eating\?|eat it\?")
_PRAYER_HEARD = 100
"""Turn from which a first prayer in major trouble is heard: the timeout begins at 300 and may be 200."""


def right_answer(seen: Observation, done: Mapping[str, int]) -> str:
    """The answer to an open yes/no question, where NetHack's rules determine one for an ordinary game.

    A question about a corpse depends on its age, which the screen does not show, so it has none.
    """
    message, numbers = seen.text("message").strip(), seen.numbers
    if not is_open(message) or "[yn" not in message:
        return ""
    if _NEVER.search(message):
        return "n"
    if _EATING.search(message):
        return "n" if HUNGER[min(numbers.get("hunger", 1), len(HUNGER) - 1)] == "Satiated" else ""
    if "sure you want to pray" in message and {"hp", "max_hp", "turn"} <= numbers.keys():
        last = done.get("prayer")
        heard = numbers["turn"] > _PRAYER_HEARD if last is None else numbers["turn"] - last > NEXT_PRAYER
        return "y" if heard and in_mortal_need(numbers) else "n"
    return ""
