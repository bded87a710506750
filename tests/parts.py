"""Run a long test suite in parts, for example one per day."""

import argparse
import re
from typing import NamedTuple, Self

from balrog_rag.contracts.data import digest


class Part(NamedTuple):
    """Part number `number` of `of`, counted from 1.

    The part of a test depends on its name only, so that a new test does not move others to another day.
    """

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse a part written as K/N."""
        found = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", text)
        if found is None or int(found[1]) > int(found[2]):
            raise argparse.ArgumentTypeError(f"expected K/N with 1 <= K <= N, got {text!r}")
        return cls(int(found[1]), int(found[2]))

    def __contains__(self, name: object) -> bool:
        """Whether the test with that name is in this part."""
        return int(digest(str(name)), 16) % self.of == self.number - 1
