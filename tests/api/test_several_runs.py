"""Sweeps and forks from Python."""

import asyncio
import csv
from pathlib import Path

import pytest

import balrog_rag
from balrog_rag.contracts.errors import ConfigError

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
    journal = runs[1].journal()
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))  # without its end
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
