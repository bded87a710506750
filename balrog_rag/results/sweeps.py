"""A sweep's own file, as far as results read it: what it was asked for, and its runs in order."""

from pathlib import Path

import msgspec

from balrog_rag.util.files import read_file


class _Run(msgspec.Struct):
    name: str


class Sweep(msgspec.Struct):
    """sweep.json."""

    words: list[str] = []
    runs: list[_Run] = []

    @property
    def experiment(self) -> str:
        """The experiment that its words name; empty where they name none."""
        said = [word.partition("=")[2] for word in self.words if word.lstrip("+").startswith("experiment=")]
        return said[-1] if said else ""


def read(path: Path) -> Sweep:
    """The sweep whose folder this is; an empty one where it is none."""
    try:
        return msgspec.json.decode(read_file(path / "sweep.json"), type=Sweep)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return Sweep()
