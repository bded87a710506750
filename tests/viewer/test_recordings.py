"""Recordings of a terminal in the pages, compared with the same run's journal."""

from pathlib import Path
from typing import Any

import nle
import pytest

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.errors import DatasetError
from balrog_rag.dataset.recordings import NO_KEY, frames_of
from balrog_rag.results.run_folder import journals as journals_of
from balrog_rag.viewer import bundle
from balrog_rag.viewer.listing import listed
from balrog_rag.viewer.rebuilding import RebuiltEpisode
from balrog_rag.viewer.recorded import RecordedEpisode
from balrog_rag.viewer.screen_recording import moments
from tests.dataset.support import older, press
from tests.support import command, evaluate
from tests.viewer.support import documents


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run that was recorded."""
    top = tmp_path_factory.mktemp("recorded")
    done = evaluate(
        "agent=random", "limits.steps=60", "env.episodes=1", "env.no_progress=0", "run.ttyrec=true",
        f"run.folder={top}", "run.name=short", cwd=top,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return top / "short"


def shown(source: RebuiltEpisode | RecordedEpisode) -> list[Any]:
    """Each moment: its screen in colours, and its cursor."""
    source.run()
    assert source.failure == ""
    found = moments(source.collector, 0, source.collector.count)
    return [(one.screen.rows, one.screen.colours, one.screen.cursor) for one in found]


def test_a_recording_shows_every_screen_of_its_journal_in_turn(run: Path) -> None:
    (recording,) = listed([run / "nld"])
    frames = iter(shown(RecordedEpisode(recording.path)))
    wanted = shown(RebuiltEpisode(journals_of(run)[0]))
    assert len({str(screen) for screen in wanted}) > 10
    assert all(screen in frames for screen in wanted)  # `in` reads on from where the one before was found


def test_figures_read_from_the_screens_are_the_games_own(run: Path, tmp_path: Path) -> None:
    bundle.write(listed([journals_of(run)[0], run / "nld"]), tmp_path / "page.html")
    found = documents(tmp_path / "page.html")
    own, recorded = (
        [
            line
            for name, part in found.items()
            if name.startswith(f"{place}/")
            for line in part.get("lines", ())
        ]
        for place in (0, 1)
    )
    frames = iter(recorded)
    assert all(line in frames for line in dict.fromkeys(own))
    head = found["1/head"]
    assert head["without"].startswith("A recording of this version contains screens, keys, times and scores:")
    assert "progression" not in [curve["name"] for curve in head["curves"]]
    assert head["clock"][-1] == found["0/head"]["clock"][-1]
    assert head["marks"][-1][1] == "end"
    assert "was pressed last" in head["how"]
    assert head["versions"]["turns"] == head["clock"][-1]


def test_a_recording_that_is_cut_is_shown_as_far_as_it_goes(run: Path, tmp_path: Path) -> None:
    (whole,) = listed([run / "nld"])
    data = whole.path.read_bytes()
    (tmp_path / "cut.0.ttyrec3.bz2").write_bytes(data[: len(data) - 20])
    done = command("balrog_rag", "view", "cut.0.ttyrec3.bz2", "--out", "x.html", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "cut.0.ttyrec3.bz2: truncated" in done.stdout
    assert "truncated" in documents(tmp_path / "x.html")["0/head"]["failure"]


def test_a_step_is_the_key_that_was_pressed(tmp_path: Path) -> None:
    path = tmp_path / "nle.0.0.ttyrec3.bz2"
    spec = GameSpec("nle", "NetHackChallenge-v0", Seeds(1, 1), 100, {"no_progress": 0})
    press(spec, ["far east", "search", "i", "esc", "pray"], path)
    recorded = RecordedEpisode(path)
    recorded.run()
    found = list(moments(recorded.collector, 0, recorded.collector.count))
    head = recorded.head()
    keys = [head["actions"]["names"][place] for place in head["actions"]["of"]]
    assert [key for key in keys if key != "Enter"][:5] == ["L", "s", "i", "ESC", "M-p"]
    opened = keys.index("i")
    pages = ["Weapons" in "".join(one.screen.rows) for one in found[opened : opened + 3]]
    assert pages == [False, True, False]
    assert [keys.index("M-p"), "deed", "M-p, the key for prayer"] in head["marks"]


@pytest.mark.parametrize("version", [1, 2])
def test_older_recordings_show_the_same_frames(run: Path, tmp_path: Path, version: int) -> None:
    """A real game written as the older versions hold it: each frame and each key is that of the newest."""
    (newest,) = listed([run / "nld"])
    path = older(newest.path, version, tmp_path / "nle.0")
    wanted, found = list(frames_of(newest.path)), list(frames_of(path))
    assert [frame.painting for frame in found] == [frame.painting for frame in wanted]
    assert len({frame.painting.text for frame in found}) > 10
    keys = [frame.key for frame in wanted]
    assert [frame.key for frame in found] == (keys if version == 2 else [NO_KEY] * len(keys))
    plain = [{name: value for name, value in each.numbers.items() if name != "score"} for each in wanted]
    assert [dict(frame.numbers) for frame in found] == plain
    (shown_as,) = listed([tmp_path])
    assert shown_as.key == "nle.0"
    recorded = RecordedEpisode(shown_as.path)
    assert shown(recorded) == shown(RecordedEpisode(newest.path))
    head = recorded.head()
    assert "score" not in [curve["name"] for curve in head["curves"]]
    assert ("no key" in head["without"], "was pressed last" in head["how"]) == (version == 1, version == 2)


def test_people_s_recordings_are_read_as_nle_reads_them() -> None:
    """Games of alt.org that nle brings for its own tests, one in another alphabet of lines and corners."""
    theirs = Path(nle.__file__).parent / "tests"
    for name in ("2012-02-16.21_09_51", "2017-07-28.18_44_17"):
        rows = list(frames_of(theirs / f"{name}.ttyrec.bz2"))[9].painting.rows()[0]  # the tenth
        wanted = (theirs / f"{name}.frame.10.txt").read_text().splitlines()
        assert [row.rstrip() for row in rows] == [line.rstrip() for line in wanted[: len(rows)]]
    recorded = RecordedEpisode(theirs / "nle.2734875.0.ttyrec2.bz2")
    recorded.run()
    assert recorded.failure == ""
    assert recorded.collector.count == 163


def test_recordings_of_unknown_versions_are_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "game.ttyrec4.bz2"
    path.touch()
    with pytest.raises(DatasetError, match="ttyrec4 is unknown; versions 1 to 3 can be read"):
        listed([path])
