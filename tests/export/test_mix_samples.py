"""The example that mixes samples: so many of each task, the same ones again with the same seed."""

import json
from pathlib import Path

import pytest

from examples.mix_samples import main


def exported(folder: Path) -> Path:
    """Eight samples of three tasks, one of them long."""
    path = folder / "sft.jsonl"
    episodes = [f"babyai/goto/{n:02}" for n in range(5)] + ["babyai/open/00", "baba/win/00", "baba/win/01"]
    lines = [{"episode": each, "messages": ["x" * (500 if each.endswith("04") else 1)]} for each in episodes]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return path


def mixed(folder: Path, *words: str) -> list[str]:
    main(["--out", str(folder / "mix.jsonl"), *words])
    return [json.loads(line)["episode"] for line in (folder / "mix.jsonl").read_text().splitlines()]


def test_so_many_of_each_task(tmp_path: Path) -> None:
    path = str(exported(tmp_path))
    words = ("--longest", "100", "--take", path, "3", "babyai/", "--take", path, "1", "baba/win,baba/lose")
    found = mixed(tmp_path, "--seed", "1", *words)
    assert found == mixed(tmp_path, "--seed", "1", *words)
    assert [each.rsplit("/", 1)[0] for each in found] == ["babyai/goto"] * 3 + ["babyai/open", "baba/win"]
    assert len(set(found)) == 5
    assert "babyai/goto/04" not in found  # too long
    assert any(mixed(tmp_path, "--seed", str(seed), *words) != found for seed in range(2, 6))


def test_a_file_without_such_a_task_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no sample of a task that begins with nle/"):
        mixed(tmp_path, "--take", str(exported(tmp_path)), "1", "nle/")
