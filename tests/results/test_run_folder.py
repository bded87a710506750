"""Names are converted to paths in one place, and nothing in an untrusted folder leads outside."""

import os
from pathlib import Path

import pytest

from balrog_rag.config.frozen import config_digest
from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.results import run_folder
from balrog_rag.results.run_folder import (
    create,
    episode_stem,
    forked_specs,
    frozen_config,
    home_of,
    is_episode,
    is_journal,
    is_part,
    journal_path,
    journals,
    locked,
    made,
    one_journal,
    recording_path,
    refuse_links,
    refuse_names,
    write_bytes,
    write_json,
    write_new_json,
)
from balrog_rag.results.runs import load

CONFIG = {"env": {"tasks": []}}


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("nle/NetHackChallenge-v0/00", True),
        ("babyai/BabyAI-MixedTrainLocal-v0/goto/7", True),
        ("ünï/цель-v0/123456789", True),
        ("nle/Task/1234567890", False),
        ("nle/Task/-1", False),
        ("nle/Task/٣", False),
        ("nle/00", False),
        ("nle//00", False),
        ("/nle/Task/00", False),
        ("nle/../00", False),
        ("nle/.hidden/00", False),
        ("nle/a\\b/00", False),
        ("nle/a\nb/00", False),
        ("nle/a\x00b/00", False),
        ("nle/a\x7fb/00", False),
        (f"nle/{'x' * 200}/00", True),
        (f"nle/{'x' * 201}/00", False),
        ("nle/Task/00\n", False),
        ("", False),
    ],
)
def test_what_is_an_episodes_name(tmp_path, name, good):
    assert is_episode(name) == good
    if good:
        assert journal_path(tmp_path, name).is_relative_to(tmp_path)
        return
    with pytest.raises(RunFolderError, match="not an episode name; expected env/task/number"):
        journal_path(tmp_path, name)


@pytest.mark.parametrize(
    ("name", "good"), [("a", True), ("a b", True), (".a", False), ("a/b", False), ("", False)]
)
def test_what_is_one_part_of_a_path(name, good):
    assert is_part(name) == good


def test_an_episodes_files_lie_in_the_folders_of_its_task():
    run = Path("r")
    assert episode_stem(run, "nle/NetHackChallenge-v0/03") == Path(
        "r/nle/NetHackChallenge-v0/NetHackChallenge-v0_run_03"
    )
    assert journal_path(run, "babyai/A-v0/goto/12") == Path(
        "r/babyai/A-v0/goto/A-v0/goto_run_12.journal.jsonl"
    )


def test_only_kinds_of_game_that_record_have_a_recording():
    found = recording_path(Path("r"), "nle/NetHackChallenge-v0/07")
    assert found == Path("r/nld/nle_NetHackChallenge-v0_07/nle.7.0.ttyrec3.bz2")
    assert recording_path(Path("r"), "babyai/A-v0/goto/07") is None


def test_journals_are_found_at_any_depth_below_an_environment_in_order(tmp_path):
    names = ["nle/T/01", "babyai/A-v0/goto/00", "nle/T/00"]
    for name in names:
        journal_path(tmp_path, name).parent.mkdir(parents=True, exist_ok=True)
        journal_path(tmp_path, name).touch()
    (tmp_path / "x_run_00.journal.jsonl").touch()  # of no environment
    (tmp_path / "nle/T/notes.journal.jsonl").touch()
    assert journals(tmp_path) == [journal_path(tmp_path, name) for name in sorted(names)]


@pytest.mark.parametrize(
    ("name", "content", "good"),
    [
        ("a.journal.jsonl", b"", True),
        ("copy.txt", b'{"t":"header","v":3}', True),
        ("copy.txt", b'{"t":"step"}', False),
        ("copy.txt", b'{"t":"heade', False),
        ("a.json", b"", False),
    ],
)
def test_a_journal_is_known_by_its_name_or_its_first_bytes(tmp_path, name, content, good):
    path = tmp_path / name
    path.write_bytes(content)
    assert is_journal(path) == good
    if good:
        assert one_journal(path) == path
        return
    with pytest.raises(RunFolderError, match="not a journal; pass a run folder"):
        one_journal(path)


def test_a_folder_stands_for_its_only_journal(builder):
    with pytest.raises(RunFolderError, match="contains no journal; pass"):
        one_journal(builder.path)
    builder.nethack(0, [{}])
    assert one_journal(builder.path) == builder.journal("nle/NetHackChallenge-v0/00")
    builder.nethack(1, [{}])
    with pytest.raises(ConfigError, match=r"contains 2 journals; pass one, e.g. .*_run_00.journal.jsonl"):
        one_journal(builder.path)
    assert not is_journal(builder.path)
    assert one_journal(builder.path / "nowhere") == builder.path / "nowhere"


def test_the_run_that_a_journal_belongs_to_has_a_configuration_above_it(builder, tmp_path):
    builder.nethack(0, [{}])
    path = builder.journal("nle/NetHackChallenge-v0/00")
    assert home_of(path) == builder.path.resolve()
    deep = tmp_path / "run" / "babyai/A-v0/goto/A-v0/goto_run_12.journal.jsonl"
    assert home_of(deep) == builder.path.resolve()
    (builder.path / "config.json").rename(path.parent / "config.json")  # beside the journal, not above
    assert home_of(path) is None


def test_a_run_folder_is_made_once(tmp_path):
    create(tmp_path / "run", CONFIG)
    assert frozen_config(tmp_path / "run").config == CONFIG
    with pytest.raises(RunFolderError, match=r"not empty; resume it with balrog-rag resume .*run, or choose"):
        create(tmp_path / "run", CONFIG)


@pytest.mark.parametrize(
    ("found", "may"), [(None, True), (".config.json.1.tmp", True), ("notes.txt", False), (".lock", False)]
)
def test_only_an_empty_folder_or_drafts_of_a_killed_process_are_built_upon(tmp_path, found, may):
    run = tmp_path / "run"
    if found:
        run.mkdir()
        (run / found).touch()
    assert made(run, CONFIG) == may
    assert (run / "config.json").exists() == may


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderError, match=r"cannot be created \(.*\); set run.folder"):
        create(tmp_path / "file/run", CONFIG)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "not a run folder"),
        (b"{", "not a frozen configuration"),
        (b"\xff\xfe", "not a frozen configuration"),
        (b"[]", "not a frozen configuration"),
        (b'{"digest": "x"}', "not a frozen configuration"),
        (b'{"digest": "x", "config": {"a": 1}}', "digest mismatch"),
    ],
)
def test_a_configuration_that_is_missing_damaged_or_edited_is_one_clear_error(tmp_path, content, problem):
    if content is not None:
        (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(RunFolderError, match=problem):
        frozen_config(tmp_path)


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"env": []}, "env"),
        ({"env": {"tasks": "nle/T"}}, "env.tasks"),
        ({"env": {"tasks": [5]}}, "env.tasks[0]"),
        ({"env": {"tasks": [], "episodes": "5"}}, "env.episodes"),
        ({"agent": "cot"}, "agent"),
        ({"model": None}, "model"),
        ({"limits": {"episode": 5}}, "limits.episode"),
        ({"limits": {"episode": {"tokens": [5]}}}, "limits.episode[...]"),
        ({"run": 1}, "run"),
        ({"anything": {"else": 1}}, None),
    ],
)
def test_a_configuration_of_another_shape_is_refused_however_good_its_digest(tmp_path, config, place):
    write_json(tmp_path / "config.json", {"digest": config_digest(config), "config": config})
    if place is None:
        assert load(tmp_path).episodes == []
        return
    with pytest.raises(RunFolderError, match="not a frozen configuration") as raised:
        load(tmp_path)
    assert f"`$.{place}`" in str(raised.value)


def test_a_configuration_that_is_a_folder_is_not_called_missing(tmp_path):
    (tmp_path / "config.json").mkdir()
    with pytest.raises(RunFolderError, match=r"config.json: cannot be read"):
        frozen_config(tmp_path)


def test_the_digest_covers_every_value(tmp_path):
    write_json(
        tmp_path / "config.json", {"digest": config_digest(CONFIG), "config": {"env": {"tasks": ["x"]}}}
    )
    with pytest.raises(RunFolderError, match="changed by hand"):
        frozen_config(tmp_path)


@pytest.mark.parametrize("content", [b"{", b'[{"episode": 1}]', b"\xff"])
def test_specs_of_a_fork_that_cannot_be_read_are_not_taken_for_none(tmp_path, content):
    assert forked_specs(tmp_path) == []
    (tmp_path / run_folder.FORKED).write_bytes(content)
    with pytest.raises(RunFolderError, match=r"forked.json: cannot be read"):
        forked_specs(tmp_path)


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["nle/T/00", "nle/T/00"], "contains an episode twice"),
        (["nle/T/00", "../T/00"], "'../T/00' is not an episode name"),
        (["nle/T/00", "nle/T/0"], None),
        ([], None),
    ],
)
def test_a_list_of_episodes_has_each_name_once(tmp_path, names, problem):
    if problem is None:
        refuse_names(tmp_path, names)
        return
    with pytest.raises(RunFolderError, match=problem):
        refuse_names(tmp_path, names)


def test_a_run_is_played_by_one_process_at_a_time(tmp_path):
    with (
        locked(tmp_path),
        pytest.raises(RunFolderError, match="another process is playing"),
        locked(tmp_path),
    ):
        pass
    with locked(tmp_path):
        assert (tmp_path / ".lock").exists()


def test_the_lock_is_given_up_when_the_body_fails(tmp_path):
    with pytest.raises(ValueError, match="stop"), locked(tmp_path):
        raise ValueError("stop")
    with locked(tmp_path):
        pass


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "folder"])
def test_nothing_is_written_to_a_folder_from_which_links_lead_out(tmp_path, kind):
    run = tmp_path / "run"
    (run / "nle").mkdir(parents=True)
    place = run / "nle" / "x"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to(tmp_path if kind == "link" else tmp_path / "nowhere")
    if kind == "folder":
        refuse_links(run)
        return
    what = "neither a file nor a folder" if kind == "pipe" else "a link"
    with pytest.raises(RunFolderError, match=f"x: is {what}; remove it before"):
        refuse_links(run)
    with pytest.raises(RunFolderError), locked(run):
        pass
    assert not (run / ".lock").exists()


def test_a_file_is_written_whole_or_not_at_all_and_leaves_no_draft(tmp_path):
    write_bytes(tmp_path / "new/deep/a", b"1")
    write_bytes(tmp_path / "new/deep/a", b"2")
    (tmp_path / "new/folder").mkdir()
    with pytest.raises(RunFolderError, match=r"folder: cannot be written"):
        write_bytes(tmp_path / "new/folder", b"3")
    with pytest.raises(RunFolderError, match=r"a/b: cannot be written"):
        write_bytes(tmp_path / "new/deep/a/b", b"4")
    assert (tmp_path / "new/deep/a").read_bytes() == b"2"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "deep", "folder", "new"]


def test_a_new_file_never_replaces_one_even_of_the_same_content(tmp_path):
    path = tmp_path / "a.json"
    assert write_new_json(path, {"a": 1})
    assert not write_new_json(path, {"a": 2})
    assert path.read_bytes() == b'{\n    "a": 1\n}\n'
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


def test_a_new_file_does_not_follow_a_link_that_waits_in_its_place(tmp_path):
    (tmp_path / "a.json").symlink_to(tmp_path / "elsewhere")
    assert not write_new_json(tmp_path / "a.json", {})
    assert not (tmp_path / "elsewhere").exists()


def test_file_systems_without_hard_links_keep_the_promise(tmp_path, monkeypatch):
    def no_links(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    assert write_new_json(tmp_path / "a.json", 1)
    assert not write_new_json(tmp_path / "a.json", 2)
    assert (tmp_path / "a.json").read_bytes() == b"1\n"
