"""How an episode can end. A limit is an outcome like any other: the episode is scored."""

from enum import StrEnum


class Outcome(StrEnum):
    """How the episode ended, as one word in its record."""

    DIED = "died"
    """The player was killed."""
    ASCENDED = "ascended"
    """The game was won."""
    ESCAPED = "escaped"
    """The player left the game's world before winning."""
    QUIT = "quit"
    """The player quit or saved the game."""
    SOLVED = "solved"
    """The task was completed."""
    FAILED = "failed"
    """The task ended without being completed, with the player alive."""
    STEPS = "steps"
    """The limit on steps or key presses."""
    NO_PROGRESS = "no_progress"
    """Too many key presses during which no game time passed."""
    CRASHED = "crashed"
    """The program that played failed, so it had no further action."""
    TIMED_OUT = "timed_out"
    """The program that played exceeded its time for one action."""
    GIVEN_UP = "given_up"
    """The player gave up, or never finished the game."""
    TOKENS = "tokens"
    """The episode's or the run's cap on tokens."""
    DOLLARS = "dollars"
    """The cap on dollars."""
    SECONDS = "seconds"
    """The cap on wall time."""


IN_WORDS: dict[str, str] = {
    Outcome.STEPS: "step limit",
    Outcome.NO_PROGRESS: "no game time passed",
    Outcome.TIMED_OUT: "timed out",
    Outcome.GIVEN_UP: "given up",
    Outcome.TOKENS: "token cap",
    Outcome.DOLLARS: "dollar cap",
    Outcome.SECONDS: "time cap",
}
"""Longer wording for outcomes that are unclear as a single word."""


def in_words(outcome: str) -> str:
    """Return the outcome as a terminal shows it."""
    return IN_WORDS.get(outcome, outcome)


PLAYER_LOST = frozenset({Outcome.CRASHED, Outcome.TIMED_OUT})
"""Ends caused by the program that played; a replay takes them from the journal, as they may not recur."""
RESUMABLE = frozenset({Outcome.TOKENS, Outcome.DOLLARS, Outcome.SECONDS})
"""Caps that a later attempt may raise: the episode is scored, and continues when resumed."""
