"""Fit a prompt to its limit: the oldest turns of the history go first, always the same ones."""

from collections.abc import Sequence

from balrog_rag.contracts.data import Message
from balrog_rag.models.token_counts import count_message, most_tokens

CUT_STEP = 0.75
"""The fraction of a too long prompt that is tried next."""


def fit(messages: Sequence[Message], limit: int | None) -> tuple[tuple[Message, ...], int]:
    """Return the messages within that many tokens, and how many were dropped.

    The head (up to the last message marked `stable`, else the first message) and the newest message
    always stay, so a prompt may still be too long.
    """
    everything = tuple(messages)
    # A cheap upper bound first: counting tokens exactly for every prompt showed in the run's CPU time.
    if limit is None or most_tokens(everything) <= limit:
        return everything, 0
    sizes = [count_message(message) for message in everything]
    excess = sum(sizes) - limit
    start, end = head_length(everything), len(everything) - 1
    trimmed = 0
    while excess > 0 and start + trimmed < end:
        excess -= sizes[start + trimmed]
        trimmed += 1
    trimmed += _answers_without_question(everything[start + trimmed : end], trimmed)
    return cut(everything, trimmed), trimmed


def shorter(asked: Sequence[Message], sent: Sequence[Message]) -> tuple[tuple[Message, ...], int] | None:
    """Return what to send after `sent` was too long after all; None if nothing is left to cut."""
    kept, trimmed = fit(asked, int(sum(map(count_message, sent)) * CUT_STEP))
    return (kept, trimmed) if len(kept) < len(sent) else None


def cut(messages: Sequence[Message], trimmed: int) -> tuple[Message, ...]:
    """Return the prompt as it was sent, given the number of dropped turns."""
    start = head_length(messages)
    return (*messages[:start], *messages[start + trimmed :])


def head_length(messages: Sequence[Message]) -> int:
    """Return the number of messages at the start that are never dropped."""
    marked = [place for place, message in enumerate(messages[:-1]) if message.stable]
    return marked[-1] + 1 if marked else min(1, len(messages))


def _answers_without_question(rest: Sequence[Message], trimmed: int) -> int:
    """Count the answers left at the front of a cut history, where providers expect a user's turn."""
    if not trimmed:
        return 0
    return next((place for place, message in enumerate(rest) if message.role != "assistant"), len(rest))
