"""Tune Python's garbage collector for runs: long-lived objects are not scanned again and again."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG, MIDDLE, OLD = 20_000, 20, 20
"""Thresholds of the three generations: new objects, then collections of the younger; default 700, 10, 10."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect less often inside the block: hundreds of episodes create many objects and hardly any cycles.

    With Python's default thresholds, collections took a fifth of a run's processor time, and each full one
    paused every episode.
    """
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
