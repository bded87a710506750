"""Making text of others safe to show a model: it may inform, but not look like a turn, a tag or a fence."""

import re
from functools import lru_cache

_MARKERS = re.compile(r"<(?=[|/!A-Za-z])|\|(?=>)|\[(?=/?INST\])")
_FENCES = re.compile(r"={6,}")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@lru_cache(maxsize=1024)
def neutralised(text: str) -> str:
    """The same words, with every tag, role marker and control character broken open.

    Cached, since the same passages are found again and again.
    """
    opened = _MARKERS.sub(lambda found: found.group() + " ", text)
    return _CONTROLS.sub("", _FENCES.sub("=====", opened))
