"""A reader's notes on steps, stored in a small JSON file beside the run."""

from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.results import run_folder
from balrog_rag.util.bounded_decoding import decoded_json
from balrog_rag.util.files import read_file

FILE = "notes.json"
LONGEST = 10_000
"""Maximum characters per note."""
MOST = 10_000
"""Maximum notes per run."""


WHOLE = -1
"""The step of a note on a whole episode."""
LONGEST_LABEL = 100
"""Maximum characters per label."""


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """A note or a label on a step, or on a whole episode."""

    episode: str
    step: int
    text: str
    at: str = ""
    """When it was written, from the browser's clock."""
    label: str = ""
    """A word by which steps or episodes are counted."""


class NoteChange(msgspec.Struct, frozen=True):
    """A note to add or to remove."""

    key: str
    """The episode's name on the page."""
    step: int
    text: str
    at: str = ""
    label: str = ""
    remove: bool = False


def kept_notes(run: Path) -> list[Note]:
    """Return the notes beside a run; empty if there is no file."""
    path = run / FILE
    try:
        return decoded_json(read_file(path), list[Note])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{path}: cannot be read as notes ({error}); move it away") from error


def acceptable(change: NoteChange) -> bool:
    """Whether a note has a text or a label, and neither is too long."""
    said = bool(change.text.strip() or change.label.strip())
    short = len(change.text) <= LONGEST and len(change.label) <= LONGEST_LABEL
    return said and short and change.step >= WHOLE


def change_notes(run: Path, episode: str, change: NoteChange) -> None:
    """Add a note to the file, or remove it."""
    note = Note(episode, change.step, change.text, change.at, change.label)
    notes = [each for each in kept_notes(run) if each != note]
    if not change.remove:
        if not acceptable(change) or len(notes) >= MOST:
            raise ConfigError(
                f"note rejected: use 1 to {LONGEST:,} characters and at most {MOST:,} notes a run"
            )
        notes.append(note)
    run_folder.write_json(run / FILE, sorted(notes, key=lambda each: (each.episode, each.step, each.at)))
