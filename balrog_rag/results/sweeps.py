"""The part of sweep.json that results need: the sweep's overrides, and its runs in order."""

from pathlib import Path
from typing import Annotated

import msgspec

from balrog_rag.util.bounded_decoding import decoded_json
from balrog_rag.util.described_types import described_at_import
from balrog_rag.util.files import read_file

LONGEST_TITLE = 500


class _Run(msgspec.Struct):
    name: str


@described_at_import
class Sweep(msgspec.Struct):
    """sweep.json."""

    words: list[str] = []
    runs: list[_Run] = []
    title: Annotated[str, msgspec.Meta(max_length=LONGEST_TITLE)] = ""
    """Title of the experiment; empty in sweeps of earlier versions, or without an experiment."""
    baseline: str = ""
    """Name of the run with which the others are compared; empty as above."""

    @property
    def experiment(self) -> str:
        """The experiment selected by the overrides; empty if there is none."""
        said = [word.partition("=")[2] for word in self.words if word.lstrip("+").startswith("experiment=")]
        return said[-1] if said else ""


def read(path: Path) -> Sweep:
    """Read the sweep of a folder; an empty one if it is not a sweep."""
    try:
        return decoded_json(read_file(path / "sweep.json"), Sweep)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return Sweep()
