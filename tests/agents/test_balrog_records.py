"""BALROG's records displayed as by its own code; they are written here with NumPy, as BALROG writes them."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from balrog_rag.agents.demonstration_files import listed, load
from balrog_rag.cli.prompts import main
from balrog_rag.contracts.errors import ConfigError
from tests.util.test_plain_pickle import MALICIOUS, Calls, array

GOTO = "babyai/BabyAI-MixedTrainLocal-v0/goto"


def record(path: Path, actions: list, over: int | None = None, **more: np.ndarray) -> Path:
    """The record of an episode; `over` is the entry that ended it, not always the last one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [
        {"long_term_context": f"saw {n}", "short_term_context": f"has {n}"} for n in range(len(actions) + 1)
    ]
    ends = np.array([n == over for n in range(len(texts))])
    arrays = {
        "text": array(texts),
        "action": np.array([actions[0], *actions]),
        "reward": np.zeros(len(texts)),
        "terminated": ends,
        "truncated": np.zeros(len(texts), bool),
        **more,
    }
    np.savez_compressed(path, **arrays)
    return path


def test_a_record_is_shown_as_balrog_shows_it(tmp_path: Path) -> None:
    path = record(
        tmp_path / f"records/{GOTO}/20241201T225823-seed13-rew1.00-len2.npz", ["go forward", "turn left"], 2
    )
    (found,) = load([str(path)], None)
    assert (found.task, found.seed) == (GOTO, 13)
    assert [(turn.observation, turn.action) for turn in found.turns] == [
        ("saw 0", "go forward"),
        ("saw 1", "turn left"),
    ]
    assert found.last == "saw 2"


def test_a_record_ends_with_the_step_that_ended_its_game(tmp_path: Path) -> None:
    path = record(tmp_path / f"{GOTO}/seed1.npz", ["go forward", "pickup", "toggle"], over=2)
    (found,) = load([str(path)], None)
    assert ([turn.action for turn in found.turns], found.last) == (["go forward", "pickup"], "saw 2")


def test_pictures_and_other_arrays_are_not_looked_at(tmp_path: Path) -> None:
    made = tmp_path / "made"
    picture = array([Calls(Path.touch, made)] * 2)
    (found,) = load([str(record(tmp_path / f"{GOTO}/seed1.npz", ["pickup"], image=picture))], None)
    assert found.last == "saw 1"
    assert not made.exists()


def test_actions_kept_as_objects_are_read_as_text(tmp_path: Path) -> None:
    actions = array([np.str_("noop"), np.str_("pickup")])
    (found,) = load([str(record(tmp_path / f"{GOTO}/a.npz", ["x"], action=actions))], None)
    assert (found.turns[0].action, found.seed) == ("pickup", None)


@pytest.mark.parametrize("name", ["a call of os.system", "recursion", "references that multiply"])
def test_a_malicious_record_is_one_line_and_does_nothing(name: str, tmp_path: Path) -> None:
    made = tmp_path / "made"
    pickled, said = MALICIOUS[name]
    folder = tmp_path / GOTO
    path = record(folder / "seed1.npz", ["pickup"])
    from zipfile import ZipFile

    from tests.util.test_plain_pickle import npy

    with ZipFile(path) as whole:
        kept = {each: whole.read(each) for each in whole.namelist()}
    kept["text.npy"] = npy(pickled.replace(b"{made}", str(made).encode()), "(2,)")
    with ZipFile(path, "w") as changed:
        for each, data in kept.items():
            changed.writestr(each, data)
    with pytest.raises(ConfigError, match=f"seed1.npz is not a record of BALROG: array 'text': .*{said}"):
        load([str(path)], None)
    assert not made.exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"text": array(["a", "b"])}, "an observation is not a dictionary"),
        ({"action": np.array(["a"])}, "2 observations, 1 actions, 2 ends"),
        ({"text": array([]), "action": np.array([]), "truncated": np.array([])}, "0 observations"),
    ],
)
def test_a_file_that_is_not_a_record_is_one_line(tmp_path: Path, more: dict, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load([str(record(tmp_path / f"{GOTO}/a.npz", ["x"], **more))], None)


def test_a_folder_stands_for_its_files_in_natural_order(tmp_path: Path) -> None:
    for number in (10, 9, 1):
        record(tmp_path / f"records/{GOTO}/more/seed{number}.npz", ["pickup"])
    record(tmp_path / "records/nle/NetHackChallenge-v0/seed2.npz", ["north"])
    (tmp_path / "records" / GOTO / "seed1.mp4").write_text("a film")
    found = listed([str(tmp_path / "records")])
    assert [(file.task, file.seed) for file in found] == [
        *((GOTO, number) for number in (1, 9, 10)),
        ("nle/NetHackChallenge-v0", 2),
    ]


def test_where_a_record_lies_is_part_of_what_a_run_is_held_to(tmp_path: Path) -> None:
    path = record(tmp_path / f"records/{GOTO}/seed1.npz", ["pickup"])
    folder, before = [str(tmp_path / "records")], listed([str(tmp_path / "records")])
    from balrog_rag.agents.demonstration_files import content_digest

    digest = content_digest(folder)
    assert listed(folder, digest) == before
    moved = path.parents[1] / "open" / path.name
    moved.parent.mkdir()
    shutil.move(path, moved)
    with pytest.raises(ConfigError, match="differ from the files that this run started with"):
        listed(folder, digest)


def test_a_record_in_no_folder_of_a_task_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="keep it in records/ENV/TASK"):
        listed([str(record(tmp_path / "a.npz", ["pickup"]))])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="empty has 0 demonstration files"):
        listed([str(tmp_path / "empty")])


def test_a_record_becomes_a_demonstration_file(tmp_path: Path) -> None:
    path = record(tmp_path / f"{GOTO}/seed13.npz", ["go forward", "pickup"])
    assert main(["demonstrate", str(path), str(tmp_path / "d.json"), "--steps", "1"]) == 0
    (made,) = load([str(tmp_path / "d.json")], None)
    assert (made.task, made.seed, made.last) == (GOTO, 13, "saw 1")
