"""A reader's notes on steps, in a small JSON file beside the run that others can load."""

from pathlib import Path

import msgspec

from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.results import run_folder
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
    at: str = ""
    """When, as the browser says it."""


class NoteChange(msgspec.Struct, frozen=True):
    """A note to add, or to remove."""

    key: str
    """The episode, as the page calls it."""
    step: int
    text: str
    at: str = ""
    remove: bool = False


def kept_notes(run: Path) -> list[Note]:
    """The notes beside a run; none where there is no file of them."""
    path = run / FILE
    try:
        return msgspec.json.decode(read_file(path), type=list[Note])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{path}: holds no notes that can be read ({error}); move it away") from error


def change_notes(run: Path, episode: str, change: NoteChange) -> None:
    """Add a note to the file, or take it out."""
    note = Note(episode, change.step, change.text, change.at)
    notes = [each for each in kept_notes(run) if each != note]
    if not change.remove:
        if not change.text.strip() or len(change.text) > LONGEST or len(notes) >= MOST or change.step < 0:
            raise ConfigError(f"a note has 1 to {LONGEST:,} characters, and a run at most {MOST:,} notes")
        notes.append(note)
    run_folder.write_json(run / FILE, sorted(notes, key=lambda each: (each.episode, each.step, each.at)))
