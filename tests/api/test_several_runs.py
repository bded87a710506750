"""Sweeps and forks from Python."""

import asyncio
import csv
from pathlib import Path

import pytest

import balrog_rag
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.episode import journal

SHORT = ("model=scripted", "env=corridor", "env.episodes=1", "limits.steps=4", "runner.log=none")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[balrog_rag.Run]:
    return balrog_rag.sweep(
        *SHORT, agent=["naive", "robust_cot"], folder=tmp_path_factory.mktemp("several") / "sweep"
    )


def test_a_sweep_plays_every_combination(runs: list[balrog_rag.Run]) -> None:
    assert [run.config["agent"]["name"] for run in runs] == ["naive", "robust_cot"]
    assert [(run.complete, run.troubles) for run in runs] == [(True, [])] * 2
    with (runs[0].folder.parent / "sweep.csv").open() as file:
        assert [row["ended"] for row in csv.DictReader(file)] == ["1", "1"]
    assert set(balrog_rag.load(*runs)["agent"]) == {"naive", "robust_cot"}


def test_a_sweep_is_resumed_in_a_notebook(runs: list[balrog_rag.Run]) -> None:
    path = runs[1].journal()
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))  # without its end
    assert not runs[1].complete
    again = asyncio.run(balrog_rag.asweep(f"resume={runs[0].folder.parent}"))
    assert [run.folder for run in again] == [run.folder for run in runs]
    assert runs[1].complete


def test_a_wrong_sweep_begins_nothing(runs: list[balrog_rag.Run], tmp_path: Path) -> None:
    for words, keywords, said in (
        (("agent=naive",), {"agent": ["cot"]}, "agent: given as an override and as a keyword"),
        (("-m",), {}, "-m: a command-line flag"),
        (("hydra/launcher=ray",), {}, "only for the command balrog-rag sweep"),
        ((), {"agent": []}, "agent: an empty list"),
        ((), {"agent": ["naive", "niave"]}, "did you mean"),
    ):
        with pytest.raises(ConfigError, match=said):
            balrog_rag.sweep(*SHORT, *words, folder=tmp_path / "sweep", **keywords)  # type: ignore[arg-type]
    assert not (tmp_path / "sweep").exists()
    with pytest.raises(ConfigError, match="not a sweep"):
        balrog_rag.sweep(f"resume={runs[0].folder}")

    async def notebook() -> None:
        balrog_rag.sweep(*SHORT)

    with pytest.raises(ConfigError, match=r"await balrog_rag\.asweep"):
        asyncio.run(notebook())


def test_a_fork_keeps_the_steps_before_it(runs: list[balrog_rag.Run], tmp_path: Path) -> None:
    forked = runs[0].fork(2, "agent=robust_cot", folder=tmp_path / "forked")
    before, after = runs[0].steps(), forked.steps()
    assert list(after["taken"][:2]) == list(before["taken"][:2])
    assert (len(after), forked.complete, forked.verify()) == (4, True, [])
    header = journal.read(forked.journal()).header
    assert header is not None
    assert [(fork.at, fork.player.agent["name"]) for fork in header.spec.forks] == [(2, "robust_cot")]
    again = asyncio.run(runs[0].afork(1, folder=tmp_path / "again"))
    assert (len(again.steps()), again.complete) == (4, True)


@pytest.mark.parametrize(
    ("at", "words", "said"),
    [
        (5, (), "fork at step 5: the journal has 4 steps"),
        (-1, (), "fork at step -1: the journal has 4 steps"),
        (1, ("env.episodes=2",), r"env\.episodes: a fork cannot change the game"),
        (1, ("--trust",), "a command-line flag"),
    ],
)
def test_a_wrong_fork_makes_no_folder(
    runs: list[balrog_rag.Run], tmp_path: Path, at: int, words: tuple[str, ...], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        runs[0].fork(at, *words, folder=tmp_path / "forked")
    assert not (tmp_path / "forked").exists()
