"""Runs and sweeps started at the same moment: each has its own folder."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from balrog_rag.config.compose import compose
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.results import run_folder
from balrog_rag.run import sweep_plan
from balrog_rag.run.begin import checked_run
from balrog_rag.run.new_folder import make_folder

AT_ONCE = 8


def together(work: Callable[[int], object]) -> list[object]:
    """The results of threads that start together; our own errors are results, too."""
    gate = Barrier(AT_ONCE)

    def one(number: int) -> object:
        gate.wait()
        try:
            return work(number)
        except RunFolderError as error:
            return str(error)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, range(AT_ONCE)))


@pytest.fixture
def one_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "strftime", lambda *_: "2024-02-29_23-59-59")


@pytest.mark.usefixtures("one_second")
def test_runs_without_a_name_have_a_folder_each(tmp_path: Path) -> None:
    words = ["agent=random", "env=corridor", "env.episodes=1", f"run.folder={tmp_path}"]
    configs = [compose([*words, f"run.seed={number}"]) for number in range(AT_ONCE)]
    together(lambda number: make_folder(checked_run(configs[number])))
    made = sorted(tmp_path.iterdir())
    assert [each.name for each in made][:2] == ["2024-02-29_23-59-59_random", "2024-02-29_23-59-59_random-2"]
    seeds = [run_folder.frozen_config(each).config["run"]["seed"] for each in made]
    assert sorted(seeds) == list(range(AT_ONCE))


def test_of_runs_of_one_name_one_is_begun(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    config = compose(["agent=random", "env=corridor", f"run.folder={tmp_path}", "run.name=r"])
    said = together(lambda _: str(make_folder(checked_run(config)).folder))
    assert said.count(str(tmp_path / "r")) == 1
    assert sum("not empty; resume it with balrog-rag resume " in str(each) for each in said) == AT_ONCE - 1
    assert not [path.name for path in (tmp_path / "r").iterdir() if path.name.endswith(run_folder.DRAFT)]


@pytest.mark.usefixtures("one_second")
def test_sweeps_have_a_folder_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second is begun while the first is still being planned."""
    words = ["agent=random,dummy", "env=corridor", "env.episodes=1", f"run.folder={tmp_path}"]
    planned, begun = sweep_plan.planned, []

    def slowly(folder, config, *, label):
        if not begun:
            begun.append(True)
            sweep_plan.new_sweep(words)
        return planned(folder, config, label=label)

    monkeypatch.setattr(sweep_plan, "planned", slowly)
    sweep_plan.new_sweep(words)
    made = sorted(tmp_path.iterdir())
    assert [each.name for each in made] == ["2024-02-29_23-59-59_sweep", "2024-02-29_23-59-59_sweep-2"]
    for each in made:
        assert [json.loads(run.read_text())["config"]["run"]["folder"] for run in each.glob("*/config.json")]
