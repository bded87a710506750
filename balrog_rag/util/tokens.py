"""Estimate token counts by a fixed rule, the same on every machine and for every model."""

import re
from functools import lru_cache

CHARACTERS_PER_TOKEN = 3.0
RUN_OF_SPACES = re.compile(r" {3,}")


@lru_cache(maxsize=4096)
def count_text(text: str) -> int:
    """Estimate the tokens of a text; a run of spaces, frequent in maps, counts as one token."""
    return round(len(RUN_OF_SPACES.sub("   ", text)) / CHARACTERS_PER_TOKEN)
