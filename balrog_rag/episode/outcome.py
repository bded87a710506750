"""How an episode can end. Limits are outcomes like any other: the episode is scored."""

from enum import StrEnum


class Outcome(StrEnum):
    """The one word in a record that says how it ended."""

    DIED = "died"
    """The player was killed."""
    ASCENDED = "ascended"
    """The game was won."""
    ESCAPED = "escaped"
    """The player left the place of the game before it was won."""
    QUIT = "quit"
    """The player quit, or saved, the game."""
    SOLVED = "solved"
    """The task's aim was reached."""
    FAILED = "failed"
    """The task ended with its aim unreached, the player alive."""
    STEPS = "steps"
    """The limit on steps or key presses."""
    NO_PROGRESS = "no_progress"
    """Too many key presses without game time passing."""
    CRASHED = "crashed"
    """The program that played failed, and had no further action."""
    TIMED_OUT = "timed_out"
    """The program that played took too long for one action."""
    TOKENS = "tokens"
    """The episode's or the run's cap on tokens."""
    DOLLARS = "dollars"
    """The cap on dollars."""
    SECONDS = "seconds"
    """The cap on wall time."""


IN_WORDS: dict[str, str] = {
    Outcome.STEPS: "limit of steps",
    Outcome.NO_PROGRESS: "no progress",
    Outcome.TIMED_OUT: "timed out",
    Outcome.TOKENS: "cap on tokens",
    Outcome.DOLLARS: "cap on dollars",
    Outcome.SECONDS: "cap on seconds",
}
"""What a person reads in place of words that say too little alone."""


def in_words(outcome: str) -> str:
    """The outcome as a terminal shows it."""
    return IN_WORDS.get(outcome, outcome)


PLAYER_LOST = frozenset({Outcome.CRASHED, Outcome.TIMED_OUT})
"""Ends of a program that played: a replay takes them from the journal, since they need not come again."""
RESUMABLE = frozenset({Outcome.TOKENS, Outcome.DOLLARS, Outcome.SECONDS})
"""Caps that a later attempt may raise; such an end is scored, and gone on from when resumed."""
