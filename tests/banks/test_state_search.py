"""States are found where their condition first holds, also within a program's burst, and replay exactly."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from balrog_rag.banks import stored_bank
from balrog_rag.banks.expression import Expression
from balrog_rag.banks.moments import ReplayableJournal
from balrog_rag.banks.publishing import publish
from balrog_rag.banks.state_checks import check
from balrog_rag.banks.state_lines import lines
from balrog_rag.banks.state_search import made, search
from balrog_rag.contracts.errors import BalrogError, ConfigError, JournalError, ReplayError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.results.run_folder import journal_path
from balrog_rag.run.episode_runner import EpisodePlayer
from tests.conftest import Specs
from tests.support import edit_journal

Player = Callable[..., EpisodePlayer]


@pytest.fixture
def delved(specs: Specs, player: Player, tmp_path: Path) -> Path:
    """The journal of a program's episode: some bursts of many presses."""
    (spec,) = specs("agent=delver", "env.tasks=[nle/NetHackChallenge-v0]", steps=250)
    asyncio.run(player()(spec))
    return journal_path(tmp_path / "run", spec.episode)


def test_a_state_lies_at_the_press_at_which_the_condition_first_holds(delved: Path, tmp_path: Path) -> None:
    found = search(delved, Expression("turn >= 60"), 0, tmp_path / "banks" / "b")
    (state,) = found.states
    episode = ReplayableJournal(delved)
    assert any(step.n < state.at < step.n + step.count for step in episode.recording.steps)
    assert state.cut is not None
    turns = {}
    for at in (state.at - 1, state.at):
        played = episode.replay(until=at)
        turns[at] = played.numbers["turn"]
        assert played.steps == at
        played.close()
    assert turns[state.at - 1] < 60 <= turns[state.at] == state.numbers["turn"]


def test_it_is_that_of_a_search_press_by_press(delved: Path, tmp_path: Path) -> None:
    """The same numbers are seen as by somebody who replays to every press separately."""
    seen = []
    ReplayableJournal(delved).replay(30, lambda at, moment: seen.append((at, dict(moment.numbers)))).close()
    assert [at for at, _ in seen] == list(range(31))
    for at in (0, 7, 30):
        played = ReplayableJournal(delved).replay(until=at)
        assert dict(played.last.observation.numbers) == seen[at][1]
        played.close()


def test_further_states_are_so_many_presses_apart(delved: Path, tmp_path: Path) -> None:
    found = search(delved, Expression("turn > 0"), 60, tmp_path / "banks" / "b")
    assert [state.at for state in found.states] == [0, 60, 120, 180, 240]


def test_screens_and_actions_can_be_asked_for(delved: Path, tmp_path: Path) -> None:
    places = tmp_path / "banks" / "b"
    (state,) = search(delved, Expression('step > 20 and shows("st:")'), 0, places).states
    assert state.at == 21
    pressed = [key for step in ReplayableJournal(delved).recording.steps for key in step.pressed]
    key = max(set(pressed), key=pressed.count)
    name = kind_of("nle").hints.signals.press(key)
    (state,) = search(delved, Expression(f'did("{name}") == 3'), 0, places).states
    assert pressed[: state.at].count(key) == 3
    assert pressed[state.at - 1] == key


def test_a_bank_is_written_listed_and_checked(delved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "banks" / "early"
    found, problems = made([delved], Expression("turn >= 60"), 0, folder)
    stored_bank.write(folder, found)
    stored = stored_bank.read(tmp_path / "banks", "early")
    assert (stored.bank, problems) == (found, [])
    assert [each.name for each in stored_bank.folders(tmp_path / "banks")] == ["early"]
    assert "turn 60" in "\n".join(lines(stored, 5))
    assert check(stored) == []
    with pytest.raises(BalrogError, match="a bank is there already"):
        stored_bank.write(folder, found)
    with pytest.raises(ConfigError, match="not a bank"):
        stored_bank.read(tmp_path / "banks", "late")


def test_a_published_bank_needs_no_run(delved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "banks" / "early"
    found, _ = made([delved], Expression("turn >= 60"), 0, folder)
    stored_bank.write(folder, found)
    assert publish(stored_bank.read_folder(folder), tmp_path / "out" / "early") == 1
    delved.unlink()
    assert check(stored_bank.read(tmp_path / "out", "early")) == []


def test_a_changed_journal_is_refused(delved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "banks" / "early"
    found, _ = made([delved], Expression("turn >= 60"), 0, folder)
    stored_bank.write(folder, found)
    edit_journal(delved, "step", lambda step: step.update(action="elsewhere"))
    (wrong,) = check(stored_bank.read_folder(folder))
    assert "was changed since bank early was made" in wrong


def test_a_bank_that_claims_another_state_fails_its_check(delved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "banks" / "early"
    found, _ = made([delved], Expression("turn >= 60"), 0, folder)
    (state,) = found.states
    forged = msgspec.structs.replace(state, numbers={**state.numbers, "hp": 999})
    stored_bank.write(folder, msgspec.structs.replace(found, states=(forged,)))
    (wrong,) = check(stored_bank.read_folder(folder))
    assert "numbers differ" in wrong


def test_what_holds_nowhere_or_is_unknown_is_refused(delved: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds at no moment"):
        made([delved], Expression("turn > 1000000"), 0, tmp_path / "b")
    with pytest.raises(ConfigError, match="unknown name 'trun'"):
        made([delved], Expression("trun < 5"), 0, tmp_path / "b")
    with pytest.raises(JournalError, match="cannot be read"):
        search(tmp_path / "none.journal.jsonl", Expression("turn > 1"), 0, tmp_path / "b")


def test_an_agent_is_cut_between_its_steps(specs: Specs, player: Player, tmp_path: Path) -> None:
    (spec,) = specs("agent=naive", "env=corridor", steps=12)
    asyncio.run(player()(spec))
    path = journal_path(tmp_path / "run", spec.episode)
    (state,) = search(path, Expression("step == 5"), 0, tmp_path / "b").states
    assert (state.at, state.cut) == (5, None)


def test_what_comes_after_the_state_is_replayed_only_if_it_can_matter(
    specs: Specs, player: Player, tmp_path: Path
) -> None:
    """A name that is unknown where the state was found may be that of a later event."""
    (spec,) = specs("agent=naive", "env=corridor", steps=12)
    asyncio.run(player()(spec))
    path = journal_path(tmp_path / "run", spec.episode)
    edit_journal(path, "step", lambda step: step.update(obs="0" * len(step["obs"])), at=-1)
    (state,) = search(path, Expression("step == 5"), 0, tmp_path / "b").states
    assert state.at == 5
    for where, every in (("step == 5", 1000), ("step == 5 or later", 0)):
        with pytest.raises(ReplayError, match="the replay shows something else"):
            search(path, Expression(where), every, tmp_path / "b")
