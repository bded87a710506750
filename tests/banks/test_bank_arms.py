"""Arms begin at a bank's states, are journals like any other, and are compared in pairs."""

import asyncio
import shutil
from pathlib import Path

import pytest

from balrog_rag.banks import BANKS
from balrog_rag.banks.arm_comparison import chosen_measures, compared, horizon, loaded
from balrog_rag.banks.bank_arms import arms_of
from balrog_rag.banks.stored_bank import StoredBank, read
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.contracts.programs import Begin, Program, ProgramKind
from balrog_rag.episode import journal
from balrog_rag.results.run_folder import journals
from balrog_rag.results.statistics.pairing import Pairs, match
from balrog_rag.results.statistics.pairing_gain import Pairing, pairings
from balrog_rag.results.statistics.units import Bounds, Score
from balrog_rag.run.replay import verify
from tests.support import command, evaluate

GAMES = ("env.tasks=[nle/NetHackChallenge-v0]", "env.episodes=6", "limits.steps=200", "run.name=r")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of a program, a bank of its states, and two arms of that."""
    folder = tmp_path_factory.mktemp("bank")
    done = evaluate("agent=delver", *GAMES, cwd=folder)
    assert done.returncode == 0, done.stderr
    for words in (
        ("make", "results/r", "--where", "turn >= 40", "--name", "b"),
        ("play", "b", "--arms", "delver,random", "--steps", "60", "model=scripted", "runner.workers=1"),
    ):
        done = command("balrog_rag", "bank", *words, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def bank(played: Path) -> StoredBank:
    return read(played / "banks", "b")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ("make", "results/r", "--where", "turn >= 40", "--name", "../b"),
            "error: --name '../b': use",
        ),
        (("play", "b", "--arm", "../x=agent=cot"), "error: --arm '../x': use letters"),
        (("play", "b", "--arms", "../x"), "error: --arms '../x': use letters"),
        (("publish", "../b", "--out", "new"), "error: NAME '../b': use letters"),
        (("publish", "b", "--out", "results/r"), "error: --out results/r: is a run folder, whose files"),
        (("publish", "b", "--out", "results"), "error: results: not empty; name a new folder"),
        (
            ("publish", "b", "--out", "banks/b"),
            "error: banks/b: a bank is there already; choose",
        ),
    ],
)
def test_a_wrong_name_is_refused_with_the_option_that_has_it(
    played: Path, words: tuple[str, ...], expected: str
) -> None:
    done = command("balrog_rag", "bank", *words, cwd=played)
    assert (done.returncode != 0, done.stderr.count("\n")) == (True, 1)
    assert done.stderr.startswith(expected)


def test_the_command_for_the_next_step_names_the_folder_of_banks(bank: StoredBank) -> None:
    folder = bank.folder.parent
    assert bank.command("compare") == f"balrog-rag bank compare b --banks {folder}"
    usual = StoredBank(BANKS / "b", bank.bank)
    assert usual.command("play", "--arms", "a,b") == "balrog-rag bank play b --arms a,b"


def test_an_arm_plays_on_from_the_state_for_so_many_turns(bank: StoredBank) -> None:
    for arm in ("delver", "random"):
        paths = journals(bank.folder / "arms" / arm)
        assert len(paths) == len(bank.bank.states) == 6
        for state, path in zip(bank.bank.states, paths, strict=True):
            old, new = bank.recording(state), journal.read(path)
            assert new.header is not None
            assert [fork.at for fork in new.header.spec.forks] == [state.at]
            keys = [[key for step in made.steps for key in step.pressed] for made in (old, new)]
            assert keys[0][: state.at] == keys[1][: state.at]
            assert len(keys[1]) > state.at
            numbers = dict(state.numbers)
            steps = 0
            for step in new.steps:
                steps += step.count
                numbers |= step.numbers if steps > state.at else {}
            assert new.end is not None
            if new.end.outcome == "steps":
                assert state.numbers["turn"] + 60 <= numbers["turn"] < state.numbers["turn"] + 100


def test_an_arm_verifies_although_the_program_before_its_state_has_changed(
    bank: StoredBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    def halt(begin: Begin) -> Program:
        return "it has changed"
        yield

    changed = ProgramKind(name="delver", make=halt, plays=True)
    monkeypatch.setattr(registry.programs, "_added", {"delver": changed})
    path = journals(bank.folder / "arms" / "random")[0]
    assert asyncio.run(verify(path)).complete
    path = journals(bank.folder / "arms" / "delver")[0]
    with pytest.raises(BalrogError, match="it has changed"):
        asyncio.run(verify(path))


@pytest.mark.slow
def test_arms_verify_and_an_arm_that_exists_is_resumed(played: Path) -> None:
    done = command("balrog_rag", "verify", "banks/b/arms", cwd=played)
    assert (done.returncode, done.stdout.count("equal\t")) == (0, 12), done.stdout
    words = ("play", "b", "--arms", "delver", "--steps")
    before = [path.read_bytes() for path in journals(played / "banks" / "b" / "arms" / "delver")]
    done = command("balrog_rag", "bank", *words, "60", "model=scripted", "runner.workers=1", cwd=played)
    assert done.returncode == 0, done.stderr
    assert [path.read_bytes() for path in journals(played / "banks" / "b" / "arms" / "delver")] == before
    done = command("balrog_rag", "bank", *words, "61", "model=scripted", "runner.workers=1", cwd=played)
    assert "give this arm another name" in done.stderr


def test_arms_are_compared_in_pairs(bank: StoredBank, played: Path) -> None:
    arms = loaded(bank, ["delver", "random"])
    assert str(horizon(arms[0].forked[0])) == "60 turns"
    found = compared(arms, chosen_measures(arms, ""))
    assert [made.measure for _, made, _ in found] == ["progression", "survived"]
    assert all(made.paired == 6 for _, made, _ in found)
    done = command("balrog_rag", "bank", "compare", "b", cwd=played)
    assert "random against delver" in done.stdout, done.stderr


@pytest.mark.slow
def test_agents_that_ask_a_model_are_arms_too_and_are_not_mixed_with_turns(played: Path) -> None:
    """Their steps are counted, so their arm ended elsewhere than a program's."""
    shutil.copytree(played, folder := played.parent / "mixed")
    words = ("play", "b", "--arm", "careful=agent=cot model=scripted", "--steps", "60", "runner.workers=1")
    done = command("balrog_rag", "bank", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    stored = read(folder / "banks", "b")
    for state, path in zip(stored.bank.states, journals(stored.folder / "arms" / "careful"), strict=True):
        end = journal.read(path).end
        assert end is not None
        assert end.steps == state.at + 60 or end.outcome == "died"
    with pytest.raises(ConfigError, match=r"played differently far .*60 turns"):
        loaded(stored, [])
    assert [arm.name for arm in loaded(stored, ["random", "delver"])] == ["random", "delver"]


def test_overrides_of_the_game_and_doubtful_arms_are_refused(played: Path) -> None:
    done = command("balrog_rag", "bank", "play", "b", "--arms", "delver", "env.episodes=3", cwd=played)
    assert "env.episodes: the bank has the games" in done.stderr
    with pytest.raises(ConfigError, match="named twice"):
        arms_of("a,a", [], [])
    with pytest.raises(ConfigError, match="write NAME="):
        arms_of("", ["cot"], [])
    with pytest.raises(ConfigError, match="at least one agent"):
        arms_of("", [], ["model=openai"])


def test_the_gain_of_pairs_is_measured() -> None:
    """Arms that differ by a constant at every state are infinitely better compared in pairs; these nearly."""
    ours = [Score(float(place), "nle", "t", str(place)) for place in range(40)]
    theirs = [Score(score.value + (place % 2), "nle", "t", score.game) for place, score in enumerate(ours)]
    matched = match(ours, theirs)
    assert isinstance(matched, Pairs)
    (made,) = pairings(matched, {"nle": Bounds()})
    assert made.correlation > 0.99
    assert made.gain > 100
    shuffled = [Score(float(place * 17 % 40), "nle", "t", str(place)) for place in range(40)]
    matched = match(ours, shuffled)
    assert isinstance(matched, Pairs)
    (apart,) = pairings(matched, {"nle": Bounds()})
    assert apart.gain < 1.5
    assert "did not help" in str(Pairing(-0.2, 0.8))
