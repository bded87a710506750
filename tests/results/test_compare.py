"""Two runs compared: settings, verdict, tasks, where pairs first differ."""

import pytest

from balrog_rag.cli.compare import main
from balrog_rag.episode.journal import End, Step
from balrog_rag.results.arms import load_arms
from balrog_rag.results.comparing import duel
from balrog_rag.results.divergence import partings
from balrog_rag.results.looks import LOOKS
from balrog_rag.results.run_seal import mark


@pytest.fixture
def pair(new_run):
    """Eight shared games, the second arm one experience level ahead in each."""
    runs = [new_run(name, agent=name) for name in ("plain", "ahead")]
    for number in range(8):
        runs[0].nethack(number, [{"experience_level": 1 + number % 2}])
        runs[1].nethack(number, [{"experience_level": 2 + number % 2}])
    return [run.path for run in runs]


def test_the_command_says_everything(pair, capsys):
    assert main([str(pair[1]), str(pair[0])]) == 0
    said = capsys.readouterr().out
    assert "settings that differ" in said
    assert "agent.name" in said
    assert "ahead against plain: higher: +1.04 points" in said
    assert "n = 8 pairs" in said
    assert "8 pairs, 8 identical from beginning to end" in said


def test_runs_that_share_nothing_are_no_empty_tables(new_run, capsys):
    runs = [new_run(name, agent=name) for name in ("here", "there")]
    runs[0].nethack(0)
    runs[1].minihack("MiniHack-Corridor-R3-v0", 0, True)
    assert main([str(run.path) for run in runs]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "error: here and there share no task, so nothing can be compared: nle/NetHackChallenge-v0 against "
        "minihack/MiniHack-Corridor-R3-v0\n"
    )


@pytest.mark.parametrize("columns", ["30", "40", "60"])
def test_numbers_stay_whole_on_a_narrow_terminal(pair, capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert main([str(pair[1]), str(pair[0])]) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("nle ")]
    assert row.split() == ["nle", "1.96", "0.92", "+1.04", "+0.77", "to", "+1.93", "0.0078", "8", "/", "8"]


def test_another_measure_may_be_compared(pair, capsys):
    assert main([str(pair[1]), str(pair[0]), "--measure", "experience"]) == 0
    assert "higher: +1.00 levels" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("planned", "told"), [("8", "stop: the verdict is clear"), ("16", "continue"), ("1000", "continue")]
)
def test_a_look_before_the_end_spends_little(pair, capsys, planned, told):
    assert main([str(pair[1]), str(pair[0]), "--planned", planned]) == 0
    assert f"; {told}." in capsys.readouterr().out


def told(capsys, runs):
    assert main([str(run.path) for run in runs]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_repeated_looks_are_counted_in_a_folder_of_ones_own(new_run, capsys):
    runs = [new_run(name, agent=name) for name in ("one", "two")]
    mark(runs[0].path)
    for number in range(12):
        for run, level in zip(runs, (1 + number % 3, 1 + number % 2), strict=True):
            run.nethack(number, [{"experience_level": level}])
        if number == 5:
            assert "look 2" not in told(capsys, runs) + told(capsys, runs)
        if number == 8:
            assert "look 2 at these arms (earlier: at 6 episodes), so a claim is" in told(capsys, runs)
    assert "look 3 at these arms (earlier: at 6, 9 episodes)" in told(capsys, runs)
    assert "look" not in told(capsys, runs[::-1])
    assert not (runs[1].path / LOOKS).exists()
    for broken in (b"{", b"[{}]", b"[" * 100_000):
        (runs[0].path / LOOKS).write_bytes(broken)
        assert "look" not in told(capsys, runs)


def test_each_task_has_its_own_verdict(new_run):
    runs = [new_run(name, agent=name) for name in ("plain", "better")]
    for number in range(10):
        for task, solved in (("MiniHack-Corridor-R3-v0", (0, 1)), ("MiniHack-MazeWalk-9x9-v0", (1, 1))):
            for run, one in zip(runs, solved, strict=True):
                run.minihack(task, number, bool(one))
    found = duel(*(load_arms([run.path])[0] for run in reversed(runs)))
    assert found.tasks["minihack/MiniHack-Corridor-R3-v0"].clear
    assert not found.tasks["minihack/MiniHack-MazeWalk-9x9-v0"].clear
    assert found.whole.difference == 50


@pytest.mark.parametrize(
    ("steps", "parting"),
    [
        (["north", "south", "east"], (None, "")),
        (["north", "west", "east"], (1, "action")),
        (["north", "south"], (2, "ended")),
        ([("north", "other screen"), "south", "east"], (0, "screen")),
    ],
)
def test_where_two_episodes_of_one_game_part(new_run, steps, parting):
    ours, theirs = new_run("ours"), new_run("theirs", agent="cot")
    for run, actions in ((ours, ["north", "south", "east"]), (theirs, steps)):
        pairs = [action if isinstance(action, tuple) else (action, "o") for action in actions]
        entries = [Step(n, action, action, screen) for n, (action, screen) in enumerate(pairs)]
        run.write("nle/NetHackChallenge-v0/00", [*entries, End("died", len(entries))])
    found, count = partings(load_arms([ours.path])[0], load_arms([theirs.path])[0])
    assert ([(one.step, one.difference) for one in found], count) == ([parting], 1)


def test_other_games_have_no_pairs(new_run, capsys):
    ours, theirs = new_run("ours"), new_run("theirs", agent="cot")
    ours.nethack(0, [{}], seed=1)
    theirs.nethack(0, [{}], seed=2)
    assert main([str(ours.path), str(theirs.path)]) == 0
    assert "the runs have no game in common" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["A", "nowhere"], "neither a run folder nor a folder of run folders"),
        (["A", "B", "--measure", "progresion"], "did you mean progression?"),
        (["A", "TOP"], "contains 2 arms, which differ in agent.name"),
        (["A", "B", "--planned", "-5"], "--planned -5: must be 1 or more"),
        (["A", "B", "--planned", "0"], "--planned 0: must be 1 or more"),
        (["A", "B", "--planned", "8", "--look", "0"], "--look 0: must be 1 or more"),
    ],
)
def test_a_mistake_is_one_line(pair, capsys, words, problem):
    places = {"A": str(pair[0]), "B": str(pair[1]), "TOP": str(pair[0].parent)}
    assert main([places.get(word, word) for word in words]) != 0
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1
