"""Replay to the states of a bank and compare them with what was recorded."""

from balrog_rag.banks.moments import ReplayableJournal
from balrog_rag.banks.stored_bank import BankState, StoredBank
from balrog_rag.contracts.errors import BalrogError, ReplayError


def check(stored: StoredBank) -> list[str]:
    """Return a line for each state that cannot be reached exactly."""
    wrong = []
    for state in stored.bank.states:
        try:
            replay_to(stored, state)
        except BalrogError as error:
            wrong.append(str(error))
    return wrong


def replay_to(stored: StoredBank, state: BankState) -> None:
    """Replay to a state; raise an error if the game or its journal differs."""
    path = stored.journal_of(state)
    episode = ReplayableJournal(path, stored.recording(state))
    refuse_other(stored, state, episode)
    played = episode.replay(until=state.at)
    played.close()
    if dict(played.last.observation.numbers) != dict(state.numbers):
        raise ReplayError(f"{path}: step {state.at}: the replay's numbers differ from the bank's")
    if state.cut is not None and played.last.observation.digest != state.cut.obs:
        raise ReplayError(f"{path}: step {state.at}: the replay shows something else than the bank")


def refuse_other(stored: StoredBank, state: BankState, episode: ReplayableJournal) -> None:
    """Refuse a state that its journal does not have."""
    if episode.spec.episode != state.episode or not 0 <= state.at <= episode.last:
        raise ReplayError(
            f"{stored.folder}: no step {state.at} of {state.episode} in {episode.path}; make the bank again"
        )
