"""Measures that reward survival: read from journals, also old ones, reported, and used for ranking."""

import json

import pytest

from balrog_rag.cli.compare import main as compare
from balrog_rag.cli.leaderboard import main as leaderboard
from balrog_rag.cli.results import main as results
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.envs.nethack.progression import table
from balrog_rag.episode.journal import SPARSE, End, Step
from balrog_rag.results.episodes import Episode
from balrog_rag.results.report.curves import height_curve, survival_curve
from balrog_rag.results.runs import load
from tests.results.conftest import NETHACK
from tests.support import rechained

FALL = [{"depth": 12, "turn": 200}, {"depth": 25, "turn": 300}, {"turn": 350}]
WALK = [{"depth": 3, "turn": 400}, {"depth": 4, "turn": 900}, {"depth": 2, "turn": 1000}, {"turn": 4000}]


@pytest.fixture
def arms(new_run):
    """One arm that falls to its death, and one that walks; four games each."""
    diver = new_run("diver", agent="diver")
    walker = new_run("walker", agent="walker")
    for number in range(4):
        diver.nethack(number, FALL)
        walker.nethack(number, WALK)
    return diver.path, walker.path


def test_a_journal_tells_what_was_held(arms):
    diver, walker = (load(path).episodes[0] for path in arms)
    assert diver.percent > 40 > walker.percent
    assert (diver.followed["held"], walker.followed["held"]) == (0.0, pytest.approx(100 * table()["Dlvl:4"]))
    assert diver.course == [(1, 1), (200, 12), (300, 25), (350, 25)]


def test_the_board_is_ordered_by_any_measure(arms, tmp_path, capsys):
    def order(by):
        assert leaderboard(["build", *map(str, arms), "--by", by, "--out", str(tmp_path / by)]) == 0
        rows = json.loads((tmp_path / by / "leaderboard.json").read_text())
        return [row["agent"] for row in rows if row["own"]]

    assert order("nle") == order("depth") == ["diver_rag", "walker_rag"]
    assert order("held") == order("turns") == ["walker_rag", "diver_rag"]
    page = (tmp_path / "held" / "leaderboard.md").read_text()
    assert "progression held (--by held)" in page
    assert leaderboard(["build", *map(str, arms), "--by", "hold", "--out", str(tmp_path / "x")]) == 2
    assert "--by hold" in capsys.readouterr().err


def test_rebuild_says_where_an_old_journal_lacks_what_is_needed(new_run, capsys):
    """A burst of an old journal may hide a way up and down again; achievements need NetHack's log line."""
    run = new_run("old")
    steps = [
        Step(0, "bot", "bot", "o", numbers={"depth": 9, "turn": 300}, pressed=(1, 2)),
        Step(2, "bot", "bot", "o", numbers={"turn": 400}, pressed=(1, 2, 3)),
    ]
    run.write(f"{NETHACK}/00", [*steps, End("died", 5, {"death": "killed by a newt"})])
    assert load(run.path).episodes[0].followed == {"held": 0.0, "achievements": None}
    path = run.journal(f"{NETHACK}/00")

    path.write_bytes(rechained(path.read_bytes().replace(b'"v":3', b'"v":%d' % SPARSE, 1)))
    assert load(run.path).episodes[0].followed == {"held": None, "achievements": None}
    assert results(["rebuild", str(run.path)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "progression held: unknown for 1 of 1 journal; it needs every change of level" in told
    assert compare([str(run.path), str(run.path), "--measure", "held"]) == 2


def test_curves_over_the_games_own_time(arms):
    episodes = load(arms[0]).episodes
    timeline = kind_of("nle").display.timeline
    assert survival_curve(episodes, timeline)[-1] == (350.0, 0.0)
    first = Episode(*(getattr(episodes[0], name) for name in Episode.__struct_fields__))
    first.outcome = "steps"  # seen up to turn 350, and alive
    first.course = [(1, 1), (200, 12)]
    curve = survival_curve([first, *episodes[1:]], timeline)
    assert curve[1] == (350.0, pytest.approx(100 * 2 / 3))
    assert height_curve(load(arms[1]).episodes)[-1] == (4000.0, 4.0)
