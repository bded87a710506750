"""The journal of an episode that begins at a state: the recorded entries up to it, under a new header."""

import msgspec

from balrog_rag.banks.stored_bank import BankState
from balrog_rag.config.frozen import config_digest, plain
from balrog_rag.contracts.errors import JournalError
from balrog_rag.episode.journal import SPARSE, Event, Header, Recording, Start, Step
from balrog_rag.episode.journal_writer import Writer
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results import run_folder
from balrog_rag.run.plan import PlannedRun
from balrog_rag.run.provenance import versions


def write_prefix(recording: Recording, state: BankState, spec: EpisodeSpec, run: PlannedRun) -> None:
    """Write the journal of one episode of an arm."""
    assert recording.header is not None  # checked when it was read
    version = max(recording.header.v, SPARSE)  # copied entries have the fields of their version
    header = Header(version, spec, spec.digest, config_digest(plain(run.config)), versions(run.kinds))
    with Writer(run_folder.journal_path(run.folder, spec.episode)) as writer:
        writer.append(header)
        for entry in entries_until(recording, state):
            writer.append(entry)


def entries_until(recording: Recording, state: BankState) -> list[Event]:
    """Return the entries before a state; a burst that contains it is cut there."""
    kept: list[Event] = []
    steps = 0
    for entry in recording.before_end().entries:
        if steps >= state.at and not isinstance(entry, Start):
            break
        if isinstance(entry, Step):
            if steps + entry.count > state.at:
                kept.append(_cut(entry, state))
                break
            steps += entry.count
        kept.append(entry)
    return kept


def _cut(burst: Step, state: BankState) -> Step:
    """Return the first key presses of a burst, with what a replay showed after them."""
    if state.cut is None or state.cut.n != burst.n:
        raise JournalError(f"{state.journal}: the bank lacks step {burst.n} cut at {state.at}; make it again")
    return msgspec.structs.replace(state.cut, pressed=burst.pressed[: state.at - burst.n])
