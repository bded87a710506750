"""A reader's notes on steps, in a small JSON file beside the run that others can load."""

from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results import folder
from balrog_rag.util.files import read_file

FILE = "notes.json"
LONGEST = 10_000
"""Characters of a note."""
MOST = 10_000
"""Notes of a run."""


class Note(msgspec.Struct, frozen=True):
    """What somebody wrote about a step."""

    episode: str
    step: int
    text: str
    by: str = ""
    at: str = ""
    """When, as the browser says it."""


def kept_notes(run: Path) -> list[dict[str, object]]:
    """The notes beside a run; none where there is no sound file of them."""
    try:
        found = msgspec.json.decode(read_file(run / FILE), type=list[Note])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return []
    return [msgspec.to_builtins(note) for note in found]


def keep_notes(run: Path, data: bytes) -> None:
    """Write the notes that a page sends; refused where they are none, or too many."""
    try:
        notes = msgspec.json.decode(data, type=list[Note])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"these are no notes: {error}") from error
    if len(notes) > MOST or any(len(note.text) > LONGEST for note in notes):
        raise ConfigError(f"at most {MOST:,} notes of {LONGEST:,} characters are kept")
    folder.write_json(run / FILE, notes)
