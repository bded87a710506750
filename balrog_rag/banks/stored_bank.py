"""A bank on disk: references to states of recorded episodes.

BANK/bank.json    the condition, and for each state: a journal, the number of key presses, a digest
BANK/journals/    only in a published bank: copies of the journals
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from balrog_rag.banks import BANKS
from balrog_rag.contracts.data import digest
from balrog_rag.contracts.errors import ConfigError, JournalError, RunFolderError
from balrog_rag.contracts.registry import nearest
from balrog_rag.episode import journal
from balrog_rag.episode.journal import Recording, Step
from balrog_rag.results import run_folder
from balrog_rag.util.bounded_decoding import decoded_json
from balrog_rag.util.files import LARGE, read_file
from balrog_rag.util.shell_commands import command
from balrog_rag.util.terminal_safe import one_line

MANIFEST = "bank.json"
VERSION = 1
MOST_STATES = 100_000
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]{0,99}")


class BankState(msgspec.Struct, frozen=True, omit_defaults=True):
    """A moment of a recorded episode."""

    journal: str
    """Its path, relative to the bank."""
    episode: str
    at: int
    """Steps before it, counting every key press of a program, as `fork --at` does."""
    prefix: str
    """Digest of the journal up to the entry that contains the moment."""
    numbers: Mapping[str, int]
    """The game's numbers at the moment."""
    cut: Step | None = None
    """If the moment lies within a burst: the burst cut there, without its keys, which are in the journal."""


class Bank(msgspec.Struct, frozen=True):
    """bank.json."""

    v: int
    where: str
    every: int
    """Steps between two states of an episode; 0: only the first."""
    scanned: int
    """Episodes that were searched."""
    states: tuple[BankState, ...]


class StoredBank(msgspec.Struct, frozen=True):
    """A bank and its folder."""

    folder: Path
    bank: Bank

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    def command(self, verb: str, *words: str) -> str:
        """Return the command `balrog-rag bank VERB` for this bank."""
        elsewhere = () if self.folder.parent == BANKS else ("--banks", self.folder.parent)
        return command("bank", verb, self.name, *words, *elsewhere)

    def journal_of(self, state: BankState) -> Path:
        """Return the path of a state's journal."""
        return Path(os.path.normpath(self.folder / state.journal))

    def recording(self, state: BankState) -> Recording:
        """Read a state's journal; refuse one whose beginning has changed since the bank was made."""
        path = self.journal_of(state)
        try:
            data = read_file(path, LARGE)
        except OSError as error:
            raise JournalError(
                f"{path}: cannot be read ({error.strerror}); bank {self.name} refers to it: restore it, "
                "or make the bank again"
            ) from error
        found = journal.parse(data, path)
        if prefix_digest(data, found, state.at) != state.prefix:
            raise JournalError(
                f"{path}: was changed since bank {self.name} was made (its digest differs); restore it, "
                "or make the bank again"
            )
        return found


def prefix_digest(data: bytes, recording: Recording, at: int) -> str:
    """Return the digest of a journal up to the entry that contains the moment `at`."""
    steps, behind = 0, recording.ends[0] if recording.ends else 0
    for entry, end in zip(recording.entries, recording.ends[1:], strict=True):
        if isinstance(entry, Step):
            if steps >= at:
                break
            steps += entry.count
        behind = end
        if isinstance(entry, Step) and steps >= at:
            break
    return digest(data[:behind])


def checked_name(option: str, name: str) -> str:
    """Refuse a name that is not a plain folder name; `option` is where it was given."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{option} {one_line(name)!r:.80}: use letters, digits and . _ + -, at most 100")
    return name


def write(folder: Path, bank: Bank) -> None:
    """Write a new bank."""
    if not run_folder.write_new_json(folder / MANIFEST, bank):
        raise _taken(folder)


def refuse_taken(folder: Path) -> None:
    """Reject a folder that has a bank or anything else in it."""
    if (folder / MANIFEST).exists():
        raise _taken(folder)
    if folder.is_dir() and any(folder.iterdir()):
        raise RunFolderError(f"{folder}: not empty; name a new folder")


def _taken(folder: Path) -> RunFolderError:
    return RunFolderError(f"{folder}: a bank is there already; choose another name, or remove the folder")


def read(banks: Path, name: str) -> StoredBank:
    """Read a bank by its name; raise ConfigError if there is none."""
    folder = banks / checked_name("NAME", name)
    if not (folder / MANIFEST).is_file():
        known = [each.name for each in folders(banks)]
        raise ConfigError(f"{folder}: not a bank{nearest(name, known)}; `balrog-rag bank list` lists them")
    return read_folder(folder)


def read_folder(folder: Path) -> StoredBank:
    """Read the bank in a folder."""
    path = folder / MANIFEST
    try:
        bank = decoded_json(read_file(path), Bank)
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be read ({error.strerror})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{path}: not a bank ({error}); make it again") from error
    if bank.v != VERSION:
        raise RunFolderError(f"{path}: bank version {bank.v}, this program reads {VERSION}; make it again")
    if len(bank.states) > MOST_STATES:
        raise RunFolderError(f"{path}: {len(bank.states):,} states; a bank can have at most {MOST_STATES:,}")
    run_folder.refuse_names(path, list(dict.fromkeys(state.episode for state in bank.states)))
    return StoredBank(folder, bank)


def folders(banks: Path) -> Iterator[Path]:
    """Return the folders of all banks in a folder, by name."""
    return (path.parent for path in sorted(banks.glob(f"*/{MANIFEST}")))
