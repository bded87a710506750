"""Which runs form one arm, what is never counted twice, and that a fork never hides who played."""

import shutil

import msgspec
import pytest

from balrog_rag.cli.compare import main as compare
from balrog_rag.cli.report import main as report
from balrog_rag.results import run_folder
from balrog_rag.results.arms import differences, load_arms
from balrog_rag.results.comparability import settings_of
from balrog_rag.results.runs import load
from tests.support import command, evaluate, rechained

SHORT = ["agent=naive", "env.tasks=[nle/NetHackChallenge-v0]", "env.episodes=1", "run.csv=false"]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Plays the same game under other settings, each in its own run folder."""
    top = tmp_path_factory.mktemp("played")

    def play(name, *words):
        if not (top / "results" / name).exists():
            done = evaluate(*SHORT, *words, f"run.name={name}", cwd=top)
            assert done.returncode == 0, done.stderr
        return top / "results" / name

    return play


@pytest.mark.parametrize(
    ("word", "arms"),
    [
        ("limits.steps=4", 2),
        ("agent.lenient=true", 2),
        ("knowledge.tokens=200", 2),
        ("limits.episode.tokens=100000", 2),
        ("run.seed=7", 1),
        ("env.episodes=2", 1),
        pytest.param("limits.run.dollars=5", 1, marks=pytest.mark.slow),
        ("model.base_url=http://127.0.0.1:9/v1", 1),
        pytest.param("model.concurrency=3", 1, marks=pytest.mark.slow),
        pytest.param("model.retry.attempts=2", 1, marks=pytest.mark.slow),
        pytest.param("knowledge.threads=1", 1, marks=pytest.mark.slow),
    ],
)
def test_what_makes_an_arm_is_who_played_what(played, word, arms):
    one, other = played("plain", "limits.steps=3"), played(word.partition("=")[0], "limits.steps=3", word)
    assert len(load_arms([one, other])) == arms
    assert (settings_of(load(one)) == settings_of(load(other))) == (arms == 1)


def test_a_policy_is_one_arm_whatever_model_it_does_not_ask(played):
    random = [
        played(f"random{place}", "agent=random", f"run.seed={place}", "limits.steps=3", *words)
        for place, words in enumerate(
            ([], ["model.name=other", "model.temperature=0.5", "knowledge.tokens=200"])
        )
    ]
    naive = [played("plain", "limits.steps=3"), played("run.seed", "limits.steps=3", "run.seed=7")]
    arms = load_arms([*random, *naive])
    assert [(arm.name, len(arm.runs)) for arm in arms] == [("random", 2), ("naive scripted", 2)]
    differing = dict(differences([arm.settings for arm in arms]))
    assert differing["model.name"] == ["no model", "scripted"]
    assert not [key for key in differing if key.startswith(("model.", "knowledge.")) and key != "model.name"]


def test_a_folder_named_twice_counts_once(builder, tmp_path):
    builder.nethack(0, [{}])
    (tmp_path / "link").symlink_to(builder.path)
    (arm,) = load_arms([builder.path, tmp_path, builder.path / "..", tmp_path / "link"])
    assert len(arm.episodes) == 1


def test_a_copied_run_is_no_second_sample(builder, tmp_path, capsys):
    builder.nethack(0, [{}])
    shutil.copytree(builder.path, tmp_path / "copy")
    assert report([str(builder.path), str(tmp_path / "copy"), "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert "is a copy of" in error
    assert error.count("\n") == 1


def test_the_same_game_played_again_is_a_second_sample(new_run):
    for name, reward in (("one", "north"), ("two", "south")):
        run = new_run(name)
        run.nethack(0, [{}])
        path = run.journal("nle/NetHackChallenge-v0/00")
        changed = path.read_bytes().replace(b'"taken":"north"', b'"taken":"%s"' % reward.encode())
        path.write_bytes(rechained(changed))
    (arm,) = load_arms([new_run("one").path, new_run("two").path])
    assert len(arm.episodes) == 2


def test_compare_says_what_is_not_there(new_run, capsys):
    whole, holey = new_run("whole", planned=5), new_run("holey", agent="cot", planned=5)
    for number in range(5):
        whole.nethack(number, [{}])
    for number in range(3):
        holey.nethack(number, [{}])
    holey.journal("nle/NetHackChallenge-v0/00").write_bytes(b"[]\n[]\n")
    path = holey.journal("nle/NetHackChallenge-v0/01")
    path.write_bytes(path.read_bytes()[:-9])
    assert compare([str(whole.path), str(holey.path)]) == 0
    said = capsys.readouterr().out
    assert (
        "note: holey: 1 unusable journal left out, 1 episode unfinished, 2 of 5 episodes missing."
    ) in said
    assert "note: whole" not in said


def test_what_lies_in_no_episodes_place_fills_no_hole(new_run):
    builder = new_run("run", planned=5)
    builder.nethack(0, [{}])
    for number in (7, 8, 9):  # copies of an episode, and one of another run
        shutil.copy(
            builder.journal("nle/NetHackChallenge-v0/00"),
            builder.journal(f"nle/NetHackChallenge-v0/{number:02d}"),
        )
    other = new_run("other", agent="cot")
    other.nethack(12, [{}])
    shutil.copy(other.journal("nle/NetHackChallenge-v0/12"), builder.journal("nle/NetHackChallenge-v0/12"))
    assert load(builder.path).caveat == ("run: 4 unusable journals left out, 4 of 5 episodes missing")


@pytest.fixture(scope="module")
def forked(played):
    """One of three games, continued from its third step by another agent."""
    run = played("parent", "limits.steps=6", "env.episodes=3")
    journal = run_folder.journal_path(run, "nle/NetHackChallenge-v0/01")
    done = command(
        "balrog_rag.episode",
        "fork",
        str(journal),
        "--at",
        "3",
        "--out",
        "fork",
        "agent=robust_cot",
        cwd=run.parent,
    )
    assert done.returncode == 0, done.stderr
    return run.parent / "fork"


def test_a_fork_is_its_last_players(forked):
    run = load(forked)
    (episode,) = run.episodes
    assert (episode.agent_name, episode.forked) == ("robust_cot", "naive / scripted to step 3")
    assert (run.planned, run.missing) == (1, 0)
    record = run_folder.episode_stem(forked, episode.name).with_suffix(".json")
    assert msgspec.json.decode(record.read_bytes())["agent"]["type"] == "robust_cot"


def test_a_fork_without_its_file_is_still_a_fork(forked, tmp_path):
    run = shutil.copytree(forked, tmp_path / "run")
    (run / run_folder.FORKED).unlink()
    assert load(run).is_fork


def test_a_fork_is_an_arm_of_its_own_and_marked(forked, played, tmp_path, capsys):
    alike = played("alike", "limits.steps=6", "agent=robust_cot", "env.episodes=3")
    assert [arm.name for arm in load_arms([alike, forked])] == ["alike", "fork (forked)"]
    assert compare([str(alike), str(forked)]) == 0
    said = capsys.readouterr().out
    assert "fork (forked) against" in said or "against fork (forked)" in said
    assert "note: fork: forked: another player decided its first steps." in said
    assert report([str(forked), "--out", str(tmp_path), "--formats", "md"]) == 0
    page = (tmp_path / "report.md").read_text()
    assert "decided by naive / scripted to step 3" in page
    assert "1 of 1" in page
