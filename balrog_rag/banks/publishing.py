"""Copy a bank with its journals, for others: the digests in its manifest prove that they are unchanged."""

import os
from pathlib import Path

import msgspec

from balrog_rag.banks.stored_bank import StoredBank, write
from balrog_rag.results import run_folder
from balrog_rag.util.files import LARGE, read_file

JOURNALS = "journals"


def publish(stored: StoredBank, out: Path) -> int:
    """Write a bank that refers to copies beside it; return the number of journals."""
    copies: dict[Path, str] = {}
    states = []
    for state in stored.bank.states:
        path = stored.journal_of(state)
        if path not in copies:
            stored.recording(state)  # refuses a journal that has changed
            copies[path] = os.path.join(JOURNALS, f"{len(copies):05d}.journal.jsonl")
            run_folder.write_bytes(out / copies[path], read_file(path, LARGE))
        states.append(msgspec.structs.replace(state, journal=copies[path]))
    write(out, msgspec.structs.replace(stored.bank, states=tuple(states)))
    return len(copies)
