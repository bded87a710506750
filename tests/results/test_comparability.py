"""Runs under different conditions are neither pooled nor ranked together; every output says what differs."""

import msgspec
import pytest

from balrog_rag.cli.compare import main as compare
from balrog_rag.cli.leaderboard import main as leaderboard
from balrog_rag.cli.report import main as report
from balrog_rag.results import run_folder
from balrog_rag.results.arms import load_arms
from tests.support import evaluate

CHARACTER = "env.options.nle.character"


def limits(steps=None, **caps):
    return {"steps": steps, "episode": {"dollars": None, "tokens": None, "seconds": None, **caps}}


@pytest.fixture
def play(new_run):
    """Creates a run whose games reach these levels."""

    def made(name, levels=(1, 2, 3), character="@", **settings):
        run = new_run(f"runs/{name}", **settings)
        for number, level in enumerate(levels):
            run.nethack(number, [{"experience_level": level}], character=character)
        return run.path

    return made


@pytest.mark.parametrize(
    ("ours", "theirs", "told"),
    [
        ({"limits": limits(100)}, {"limits": limits(200)}, "limits.steps 100 against 200"),
        (
            {"limits": limits(dollars=0.5)},
            {"limits": limits()},
            "limits.episode.dollars 0.5 against null",
        ),
        ({"character": "val-hum-neu-fem"}, {}, f"{CHARACTER} val-hum-neu-fem against @"),
    ],
)
def test_compare_and_report_say_which_conditions_differ(play, tmp_path, capsys, ours, theirs, told):
    pair = [str(play("a", agent="naive", **ours)), str(play("b", agent="cot", **theirs))]
    said = f"different conditions may explain a difference: {told}"
    assert compare(pair) == 0
    assert f"note: {said}." in capsys.readouterr().out.replace("\n", " ")
    assert report([*pair[::-1], "--out", str(tmp_path / "out"), "--formats", "md"]) == 0
    assert said in (tmp_path / "out/report.md").read_text().replace("\\", "")


def test_runs_that_differ_in_an_episodes_cap_alone_are_two_arms(play, capsys):
    pair = [play("capped", limits=limits(tokens=5)), play("free", limits=limits())]
    assert len(load_arms(pair)) == 2
    assert compare([str(path) for path in pair]) == 0
    said = capsys.readouterr().out
    assert "limits.episode.tokens" in said
    assert "the settings do not differ" not in said


def test_a_cap_that_a_resumed_run_changed_is_part_of_the_arm(play):
    paths = [play(name, limits=limits(tokens=5)) for name in ("stopped", "raised", "kept")]
    for path, caps in zip(paths, (None, 9, 5), strict=True):
        attempts = [{"started": "2026-01-01", "caps": {"tokens": cap}} for cap in (5, caps)]
        run_folder.write_json(path / "run.json", {"attempts": attempts})
    arms = {arm.name: arm.settings["limits"]["episode"]["tokens"] for arm in load_arms(paths)}
    assert arms == {"stopped": "5, then null", "raised": "5, then 9", "kept": 5}


def test_how_a_game_is_shown_is_no_condition(play, capsys):
    assert compare([str(play("a", agent="naive")), str(play("b", agent="cot"))]) == 0
    assert "different conditions" not in capsys.readouterr().out


def build(top, *words):
    assert leaderboard(["build", str(top / "runs"), "--out", str(top / "out"), *words]) == 0
    rows = msgspec.json.decode((top / "out/leaderboard.json").read_bytes())
    return [(row["name"], row["rank"], row["group"]) for row in rows if row["own"]]


def test_a_leaderboard_ranks_other_characters_apart(play, tmp_path, capsys):
    play("weak", [1, 2] * 10, agent="naive")
    play("strong", [8, 9] * 10, agent="cot")
    play("valkyrie", [12, 13] * 10, agent="robust_cot", character="val-hum-neu-fem")
    assert build(tmp_path) == [
        ("strong", "1", f"{CHARACTER}=@"),
        ("weak", "2", f"{CHARACTER}=@"),
        ("valkyrie", "1", f"{CHARACTER}=val-hum-neu-fem"),
    ]
    assert f"ranked apart from the others: valkyrie ({CHARACTER}=val-hum-neu-fem)" in capsys.readouterr().out
    page = (tmp_path / "out/leaderboard.html").read_text()
    assert page.index("Ranked by NetHack, env") < page.index("Published elsewhere, by NetHack")


def test_an_average_over_one_environment_is_not_ranked_among_averages_over_two(new_run, tmp_path):
    for name, agent, envs in (("one", "naive", 1), ("two", "cot", 2), ("both", "robust_cot", 2)):
        run = new_run(f"runs/{name}", agent=agent)
        for number in range(6):
            run.nethack(number, [{"experience_level": 2 + number}])
            if envs == 2:
                run.minihack("MiniHack-Room-5x5-v0", number, solved=number % 2 == 0)
    both = "nle (1 task) and minihack (1 task)"
    rows = build(tmp_path, "--by", "average")
    assert [(name, group) for name, _, group in rows] == [
        ("both", both),
        ("two", both),
        ("one", "nle/NetHackChallenge-v0"),
    ]


@pytest.mark.slow
def test_a_real_resume_notes_its_caps(tmp_path):
    words = ["agent=random", "env.tasks=[nle/NetHackChallenge-v0]", "env.episodes=1", "limits.steps=3"]
    assert evaluate(*words, "limits.episode.tokens=5", "run.name=a", cwd=tmp_path).returncode == 0
    run = tmp_path / "results/a"
    assert evaluate(f"resume={run}", "limits.episode.tokens=9", cwd=tmp_path).returncode == 0
    (arm,) = load_arms([run])
    assert arm.settings["limits"]["episode"] == {"dollars": None, "tokens": "5, then 9", "seconds": None}


def test_append_only_agents_are_an_arm_and_a_row_of_their_own(play, tmp_path, capsys):
    plain = play("plain", [1, 2] * 10, agent="naive", history={"window": "slide"})
    append = play("append", [2, 3] * 10, agent="naive", history={"window": "append"})
    assert [len(arm.runs) for arm in load_arms([plain, append])] == [1, 1]
    assert compare([str(plain), str(append)]) == 0
    assert "agent.history.window" in capsys.readouterr().out
    assert sorted(name for name, _, _ in build(tmp_path)) == ["append", "plain"]
    rows = msgspec.json.decode((tmp_path / "out/leaderboard.json").read_bytes())
    assert {row["agent"] for row in rows if row["own"]} == {"naive_rag", "naive_append_rag"}
