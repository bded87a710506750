"""The states of a bank as lines of text."""

from collections.abc import Iterator

from balrog_rag.banks.stored_bank import BankState, StoredBank
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.util.wording import many


def lines(stored: StoredBank, most: int) -> Iterator[str]:
    """Yield what a bank is, and a line for each of its first states."""
    bank = stored.bank
    count, journals = many(len(bank.states), "states"), {state.journal for state in bank.states}
    yield f"{stored.name}: {bank.where}"
    how = f"at least {bank.every:,} steps apart" if bank.every else "the first of each episode"
    yield f"{count} of {len(journals)} among {many(bank.scanned, 'episodes')}, {how}"
    for number, state in enumerate(bank.states[:most]):
        where = stored.journal_of(state)
        yield f"{number:>6}  {state.episode}  step {state.at:,}  {headline(state)}  {where}"
    if len(bank.states) > most:
        yield f"        and {len(bank.states) - most:,} more; --states {len(bank.states)} lists all"


def headline(state: BankState) -> str:
    """Describe a state by the game's own line of numbers."""
    kind = kind_of(state.episode.partition("/")[0])
    said = [kind.hints.signals.time(state.numbers), kind.display.headline(state.numbers)]
    return "  ".join(part for part in said if part) or ", ".join(
        f"{k} {v}" for k, v in list(state.numbers.items())[:4]
    )
