"""Python's garbage collector during a run: what lives as long as the process is not gone through again."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG, MIDDLE, OLD = 20_000, 20, 20
"""New objects, and collections of the younger, before a generation is gone through; usual: 700, 10, 10."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect more rarely within: hundreds of episodes make many objects and hardly a cycle.

    With Python's own thresholds a fifth of a run's processor time went into collections, and each full one
    kept every episode waiting.
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
