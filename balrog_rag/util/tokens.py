"""Estimate token counts by a fixed rule, the same on every machine and for every model."""

import re
from functools import lru_cache

from balrog_rag.contracts.data import Message
from balrog_rag.contracts.tool_calls import calls_text

CHARACTERS_PER_TOKEN = 3.0
TOKENS_PER_MESSAGE = 6
TOKENS_PER_IMAGE = 1600
RUN_OF_SPACES = re.compile(r" {3,}")


@lru_cache(maxsize=4096)
def count_text(text: str) -> int:
    """Estimate the tokens of a text; a run of spaces, frequent in maps, counts as one token."""
    return round(len(RUN_OF_SPACES.sub("   ", text)) / CHARACTERS_PER_TOKEN)


def count_message(message: Message) -> int:
    """Estimate the tokens of one turn, including reasoning and pictures."""
    words = count_text(message.text) + (count_text(message.reasoning) if message.reasoning else 0)
    if message.calls:
        words += count_text(message.native) if message.native else count_text(calls_text(message.calls))
    return words + TOKENS_PER_MESSAGE + TOKENS_PER_IMAGE * len(message.images)
