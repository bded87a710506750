"""Import, select and stream recordings: what nle.dataset does, and one line for each of its pitfalls."""

import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import nle
import numpy as np
import pytest
from nle import dataset as nld

from balrog_rag.contracts.errors import ConfigError, DatasetError
from balrog_rag.dataset.database import dataset as database
from balrog_rag.dataset.database import datasets, files, games, save
from balrog_rag.dataset.importing import import_folder
from balrog_rag.dataset.layouts import is_cut
from balrog_rag.dataset.selecting import achievement_bit, bounds
from balrog_rag.dataset.streaming import frames, playable, stream
from balrog_rag.envs.nethack.held_progression import ACHIEVEMENTS
from tests.dataset.support import dataset, older

ALTORG = Path(nle.__file__).parent / "tests" / "altorg"


def told(capsys) -> str:
    out = capsys.readouterr()
    assert out.err.count("\n") <= 1, out.err
    return out.err + out.out


def test_what_is_brought_in_is_what_nle_brings_in(root, db, tmp_path):
    theirs = str(tmp_path / "theirs.db")
    nld.db.create(theirs)
    nld.add_nledata_directory(str(root), "bot", theirs)
    assert games(db, "bot") == games(Path(theirs), "bot")
    assert len(games(db, "bot")) == 6


def test_alt_orgs_layout_is_known(tmp_path, capsys):
    words = ("import", ALTORG, "--name", "people", "--db", tmp_path / "t.db")
    assert dataset(*words, "--keep-cut") == 0  # the files of this folder are not real
    assert "people: 7 games" in told(capsys)  # as nle's own test of it counts


@pytest.mark.parametrize("version", [1, 2])
def test_older_recordings_are_brought_in_and_read_frame_by_frame(root, db, tmp_path, capsys, version):
    """The same real games in older versions and their layouts: the same frames, the same keys if any."""
    old = tmp_path / "old"
    for log in sorted(root.glob("*/*.xlogfile")):
        home = old / ("Agent" if version == 1 else log.parent.name)
        home.mkdir(parents=True, exist_ok=True)
        newest = log.with_name(f"{log.stem}.0.ttyrec3.bz2")
        line = log.read_text()
        if version == 2:
            older(newest, 2, home / f"{log.stem}.0")
            (home / log.name).write_text(line.replace(newest.name, newest.name.replace("ttyrec3", "ttyrec2")))
            continue
        day = 60 * 60 * 24 * int(log.parent.name[-1])  # alt.org names a game's parts by when they were begun
        begun = datetime.fromtimestamp(day, UTC)
        older(newest, 1, home / begun.strftime("%Y-%m-%d.%H_%M_%S"))
        times = re.sub(r"starttime=\d+\tendtime=\d+", f"starttime={day}\tendtime={day + 60}", line)
        turns = re.sub(r"turns=\d+", "turns=99", times)  # nle leaves out whoever quit at once
        with (old / "xlogfile.1").open("a") as file:
            file.write(turns)
        (old / "blacklist.txt").touch()
    assert dataset("import", old, "--db", db) == 0
    assert "old: 6 games" in told(capsys)
    assert database(db, "old").version == version
    for number, game in enumerate(row["gameid"] for row in games(db, "old")):
        mine = [{**frame} for _, frame in frames(db, "old", game)]
        newest = [{**frame} for _, frame in frames(db, "bot", games(db, "bot")[number]["gameid"])]
        assert len(mine) == len(newest) > 10
        for name in ("tty_chars", "tty_colors", "tty_cursor", *(["keypresses"] if version == 2 else [])):
            assert all(np.array_equal(a[name], b[name]) for a, b in zip(mine, newest, strict=True)), name
        assert ("keypresses" in mine[0], "scores" in mine[0]) == (version == 2, False)


@pytest.mark.parametrize("inside", ["nle_data", "nld-aa-taster/nle_data", "dir/nld-aa/nle_data"])
def test_unpacked_archives_are_known(root, tmp_path, capsys, inside):
    shutil.copytree(root, tmp_path / "unpacked" / inside)
    assert dataset("import", tmp_path / "unpacked", "--db", tmp_path / "t.db") == 0
    assert "6 games" in told(capsys)


@pytest.mark.parametrize(
    ("folder", "says"),
    [
        ("game0", "the folder above it"),
        ("..", "contains no recordings"),
        ("nowhere", "no such folder"),
    ],
)
def test_the_wrong_folder_is_told(root, tmp_path, capsys, folder, says):
    (tmp_path / "empty").mkdir()
    path = tmp_path / "empty" if folder == ".." else root / folder
    assert dataset("import", path, "--db", tmp_path / "t.db") == 1
    assert says in told(capsys)
    assert not (tmp_path / "t.db").exists()


def test_a_folder_too_high_is_told(root, tmp_path, capsys):
    shutil.move(root, tmp_path / "high" / "bot")
    assert dataset("import", tmp_path / "high", "--db", tmp_path / "t.db") == 1
    assert f"pass {tmp_path / 'high' / 'bot'}" in told(capsys)


def test_a_log_without_recordings_is_named(root, tmp_path, capsys):
    (root / "game1/nle.1.0.ttyrec3.bz2").unlink()
    assert dataset("import", root, "--db", tmp_path / "t.db") == 1
    assert "game1/nle.1.xlogfile: its recordings" in told(capsys)


def test_recordings_without_a_line_are_counted(root, tmp_path, capsys):
    (root / "game1/nle.1.xlogfile").write_text("")
    assert dataset("import", root, "--db", tmp_path / "t.db") == 0
    assert "note: 1 recording left out" in (said := told(capsys))
    assert "5 games" in said


@pytest.mark.parametrize("keep", [[], ["--keep-cut"]])
def test_a_recording_that_is_cut_short_is_named(root, tmp_path, capsys, keep):
    path = root / "game2/nle.2.0.ttyrec3.bz2"
    path.write_bytes(path.read_bytes()[:-200])
    assert is_cut(path)
    assert dataset("import", root, "--db", tmp_path / "t.db", *keep) == 0
    said = told(capsys)
    assert f"cut short: {path}" in said
    assert ("6 games" if keep else "5 games") in said
    (listed,) = datasets(tmp_path / "t.db")
    with stream(tmp_path / "t.db", listed.name, 5, 512, 0) as batches:
        seen = {game for batch in batches for game in batch["gameids"].ravel().tolist() if game}
    assert len(playable(tmp_path / "t.db", listed.name)) == (6 if keep else 5)
    assert len(seen) == 5  # the file is a single block, so that nothing is left of the one that is cut


def test_a_subset_of_kept_games_can_be_read_and_what_is_cut_later_is_refused(root, tmp_path):
    path, other = (root / f"game{n}/nle.{n}.0.ttyrec3.bz2" for n in (2, 3))
    db = tmp_path / "t.db"
    path.write_bytes(path.read_bytes()[:-200])
    name = import_folder(root, db, "all", keep_cut=True).name
    save(db, "some", name, list(files(db, name))[:3])
    assert len(playable(db, "some")) == 3
    other.write_bytes(other.read_bytes()[:-200])
    with pytest.raises(DatasetError, match=r"1 recording cut short; .*--keep-cut"):
        playable(db, name)


def test_an_import_without_games_is_an_error_and_leaves_nothing(root, tmp_path, capsys):
    for line in root.rglob("*.xlogfile"):
        line.write_text("")
    assert dataset("import", root, "--db", tmp_path / "t.db") == 1
    assert "no games to import (" in told(capsys)
    assert not (tmp_path / "t.db").exists()


def test_every_recording_of_nle_itself_is_whole():
    whole = list(ALTORG.parent.glob("*.bz2"))
    assert len(whole) > 5
    assert not [path for path in whole if is_cut(path)]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["import", "{root}"], "has a dataset of that name"),
        (["info", "bott"], "no such dataset in {db}; did you mean bot?"),
        (["stream", "bot", "--batch", "7"], "a batch of 7 needs as many games, and there are 6"),
        (["frames", "bot", "99"], "bot: has no game 99; its games are 1 to 6"),
        (["select", "bot", "--sql", "no such"], "--sql no such"),
        (["select", "bot", "--score", "many"], "--score many: not a range"),
        (["select", "bot", "--achieved", "everything"], "--achieved everything: matches no (or several)"),
        (["move", "bot", "/"], "the recordings of bot are not there"),
        (["download", "nld", "--to", "{root}"], "nld: no such archive"),
    ],
)
def test_mistakes_are_one_line(root, db, capsys, words, says):
    capsys.readouterr()
    words = [word.format(root=root) for word in words]
    assert dataset(*words, "--db", db) in (1, 2)
    assert says.format(db=db) in told(capsys)


def test_a_moved_folder_is_found_again(root, db, tmp_path, capsys):
    shutil.move(root, tmp_path / "elsewhere")
    capsys.readouterr()
    assert dataset("stream", "bot", "--batch", 2, "--db", db) == 1
    assert "balrog-rag dataset move bot FOLDER" in told(capsys)
    assert dataset("move", "bot", tmp_path / "elsewhere", "--db", db) == 0
    assert dataset("stream", "bot", "--batch", 2, "--db", db) == 0


def test_no_database_and_no_database_at_all(tmp_path, capsys):
    assert dataset("list", "--db", tmp_path / "none.db") == 1
    assert "no database here" in told(capsys)
    (tmp_path / "text.db").write_text("a text" * 500)
    assert dataset("list", "--db", tmp_path / "text.db") == 1
    assert "cannot be used as a database" in told(capsys)


def test_select_keeps_what_it_has_chosen(db, capsys):
    every = games(db, "bot")
    turns = sorted(row["turns"] for row in every)
    capsys.readouterr()
    assert dataset("select", "bot", "--turns", f"{turns[3]}..", "--as", "long", "--json", "--db", db) == 0
    lines = capsys.readouterr().out.splitlines()
    found = [json.loads(line)["gameid"] for line in lines if line.startswith("{")]
    assert found == [row["gameid"] for row in every if row["turns"] >= turns[3]]
    assert [row["gameid"] for row in games(db, "long")] == found
    role = every[0]["role"]
    capsys.readouterr()
    dataset("select", "bot", "--role", role.upper(), "--death", "quit", "--sql", "points >= 0", "--db", db)
    assert f"{sum(row['role'] == role for row in every)} game" in told(capsys)


def test_frames_are_printed_with_their_keys(db, capsys):
    capsys.readouterr()
    assert dataset("frames", "bot", 1, "--from", 1, "--to", 2, "--db", db) == 0
    said = told(capsys)
    assert "--- frame 1, pressed L, score 0" in said
    assert "Dlvl:1" in said
    assert "frame 3" not in said


@pytest.mark.parametrize("threads", [0, 2])
def test_streams_are_nles_own(db, root, threads):
    with stream(db, "bot", 2, 16, threads) as batches:
        ours = [{key: values.copy() for key, values in batch.items()} for batch in batches]
    dataset = nld.TtyrecDataset("bot", batch_size=2, seq_length=16, dbfilename=str(db), shuffle=False)
    theirs = [{key: values.copy() for key, values in batch.items()} for batch in dataset]
    assert len(ours) == len(theirs) > 2
    assert all(np.array_equal(a[key], b[key]) for a, b in zip(ours, theirs, strict=True) for key in b)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("100..2000", [(">=", 100), ("<=", 2000)]),
        ("100..", [(">=", 100)]),
        ("..2000", [("<=", 2000)]),
        ("7", [("=", 7)]),
    ],
)
def test_both_ends_of_a_range_belong_to_it(text, meant):
    assert bounds("score", text) == meant


def test_an_achievement_is_named_by_a_piece_of_its_name_that_fits_no_other():
    assert achievement_bit("luckstone") == 1 << ACHIEVEMENTS.index(
        next(name for name in ACHIEVEMENTS if "luckstone" in name.lower())
    )
    with pytest.raises(ConfigError, match="--achieved e: "):
        achievement_bit("e")  # a letter that many names hold
