"""Make others' text safe to show a model: it may inform, but must not look like a turn, tag or fence."""

import re
from functools import lru_cache

_MARKERS = re.compile(r"<(?=[|/!A-Za-z])|\|(?=>)|\[(?=/?INST\])")
_FENCES = re.compile(r"={6,}")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@lru_cache(maxsize=1024)
def neutralised(text: str) -> str:
    """Break every tag, role marker and control character in a text, keeping its words.

    Cached, since the same passages are found again and again.
    """
    opened = _MARKERS.sub(lambda found: found.group() + " ", text)
    return _CONTROLS.sub("", _FENCES.sub("=====", opened))
