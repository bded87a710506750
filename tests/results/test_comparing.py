"""Which episodes are compared: common tasks, finished games, withheld verdicts, families of tests."""

from math import inf, isnan, nan

import msgspec
import pytest

from balrog_rag.cli import report
from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.episode.journal import End, Step
from balrog_rag.results.arms import Arm, departures, load_arms, names, run_folders
from balrog_rag.results.comparing import (
    WITHHELD,
    against_baseline,
    all_comparable,
    comparable,
    compared,
    compared_statistics,
    duel,
    few,
    one_arm,
    refuse_disjoint_tasks,
)
from balrog_rag.results.run_folder import write_json
from balrog_rag.results.runs import load
from tests.results.conftest import NETHACK

ROOM = "MiniHack-Room-5x5-v0"


@pytest.mark.parametrize("wanted", [nan, inf, 0.0, -5.0, 1e-200])
def test_a_difference_that_nothing_can_detect_is_refused(arm, wanted, tmp_path):
    paths = [run.folder for name in "ab" for run in arm(name, {0: 1, 1: 2}).runs]
    with pytest.raises(ConfigError, match=r"^--detect .*: expected a number of at least 0\.000001; pass"):
        compared(paths, "progression", wanted)
    words = [str(paths[0]), "--detect", str(wanted), "--out", str(tmp_path / "out")]
    assert report.main(words) == ConfigError.exit_code
    assert not (tmp_path / "out").exists()


@pytest.fixture
def arm(new_run):
    """An arm of a separate agent: levels by game, `open_` games that are unfinished, and the plan's size."""

    def made(name, levels, open_=(), planned=0, partial=False, **settings):
        run = new_run(name, agent=name, planned=planned, **settings)
        for number, level in levels.items():
            run.nethack(number, [{"experience_level": level}])
        for number in open_:
            path = run.journal(run.nethack(number, [{}]))
            path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
        return load_arms([run.path], partial=partial)[0]

    return made


def seeds(episodes):
    return sorted(episode.game.seeds.core for episode in episodes)


def test_complete_arms_are_compared_whole_whatever_games_they_share(arm):
    ours, theirs = arm("a", {0: 1, 1: 1}), arm("b", {1: 2, 2: 2, 3: 2})
    assert list(map(seeds, comparable(ours, theirs))) == [[0, 1], [1, 2, 3]]


@pytest.mark.parametrize(
    ("open_", "planned", "kept"),
    [
        ((2,), 0, [[0, 1], [0, 1]]),  # the game that is open here is left out of the other arm, too
        ((), 3, [[0, 1], [0, 1]]),
        ((9,), 0, [[0, 1], [0, 1]]),
    ],
)
def test_beside_a_partial_arm_only_games_count_that_both_have_finished(arm, open_, planned, kept):
    ours = arm("a", {0: 1, 1: 1}, open_=open_, planned=planned)
    theirs = arm("b", {0: 2, 1: 2, 2: 2})
    assert ours.partial
    assert not theirs.partial
    assert list(map(seeds, comparable(ours, theirs))) == kept
    assert list(map(seeds, comparable(theirs, ours))) == kept[::-1]


def test_a_game_that_is_open_in_any_run_of_an_arm_is_left_out_though_another_run_finished_it(new_run):
    ours = [new_run(f"a{place}", agent="a") for place in range(2)]
    for place, run in enumerate(ours):
        run.nethack(0, [{"gold": place}], seed=5)
        run.nethack(1, [{"gold": place}], seed=6)
    path = ours[1].journal(f"{NETHACK}/01")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    theirs = new_run("b", agent="b")
    for number, seed in enumerate((5, 6)):
        theirs.nethack(number, [{}], seed=seed)
    arms = load_arms([run.path for run in ours]) + load_arms([theirs.path])
    assert list(map(seeds, all_comparable(arms))) == [[5, 5], [5]]


@pytest.mark.parametrize("allowed", [False, True])
def test_conclusions_from_a_part_are_drawn_only_where_they_are_asked_for(arm, allowed):
    ours = arm("a", {n: 1 + n % 2 for n in range(6)}, open_=(6,), partial=allowed)
    theirs = arm("b", {n: 2 + n % 2 for n in range(7)}, partial=allowed)
    found = duel(ours, theirs)
    assert found.whole.made == allowed
    assert found.sentence.endswith(f"no verdict: {WITHHELD.format('balrog-rag resume RUN')}.") == (
        not allowed
    )
    assert (found.environments != {}) == (found.tasks != {}) == allowed
    assert against_baseline([ours, theirs], theirs)[0].made == allowed
    if allowed:
        assert (found.whole.our_count, found.whole.their_count) == (6, 6)


def test_an_open_arm_without_any_finished_episode_is_withheld_and_not_an_error(arm):
    ours, theirs = arm("a", {}, open_=(0,)), arm("b", {0: 1})
    refuse_disjoint_tasks([ours, theirs])
    assert not duel(ours, theirs).whole.made


def test_environments_that_only_one_arm_played_have_no_verdict_of_their_own(new_run):
    ours, theirs = (new_run(name, agent=name) for name in "ab")
    for run in (ours, theirs):
        run.nethack(0, [{}])
    ours.minihack(ROOM, 0, True)
    theirs.minihack("MiniHack-River-v0", 0, True)
    ours.write("babyai/T/00", [End("failed", 0)])
    theirs.write("crafter/default/00", [End("steps", 0)])
    found = duel(*(load_arms([run.path])[0] for run in (ours, theirs)))
    assert list(found.environments) == ["nle", "minihack"]
    assert list(found.tasks) == [NETHACK]


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ([], ""),
        (["b", "a"], "a, b"),
        (["c", "b", "a"], "a, b and 1 more"),
        (list("edcba"), "a, b and 3 more"),
    ],
)
def test_some_names_stand_for_many(tasks, said):
    assert few(tasks) == said


def test_arms_share_a_task_or_are_refused(new_run):
    runs = [new_run(name, agent=name) for name in "abc"]
    for number in range(3):
        runs[0].minihack(f"MiniHack-{number}-v0", 0, True)
    runs[1].minihack("MiniHack-2-v0", 0, True)
    runs[2].nethack(0, [{}])
    a, b, c = (load_arms([run.path])[0] for run in runs)
    refuse_disjoint_tasks([a, b])
    with pytest.raises(ConfigError, match=r"a and c share no task.*MiniHack-1-v0 and 1 more against nle/"):
        refuse_disjoint_tasks([a, c])


def test_a_folder_that_holds_one_arm_is_named_after_the_folder(new_run, tmp_path):
    for place in range(2):
        new_run(f"top/run{place}", agent="cot").nethack(0, [{}], seed=place)
    assert one_arm(tmp_path / "top").name == "top"
    new_run("top/other", agent="naive").nethack(0, [{}])
    with pytest.raises(
        ConfigError, match=r"contains 2 arms, which differ in agent.name; pass the folder of one"
    ):
        one_arm(tmp_path / "top")


@pytest.mark.parametrize(
    ("measure", "problem"),
    [
        ("achievements", "2 of 2 journals of a do not contain it; it needs the line that NetHack logs"),
        ("dept", r"unknown measure; did you mean depth\?"),
    ],
)
def test_a_measure_that_journals_lack_is_not_compared_as_zero(arm, tmp_path, measure, problem):
    arm("a", {0: 1, 1: 1}), arm("b", {0: 1, 1: 2})
    with pytest.raises(ConfigError, match=problem):
        compared([tmp_path / "a", tmp_path / "b"], measure, None)


def test_the_difference_is_ours_minus_theirs_in_every_measure(arm, tmp_path):
    arm("a", dict.fromkeys(range(6), 3)), arm("b", {n: 1 + n % 2 for n in range(6)})
    for measure in ("progression", "experience"):
        _, ahead = compared([tmp_path / "a", tmp_path / "b"], measure, None)
        _, behind = compared([tmp_path / "b", tmp_path / "a"], measure, None)
        assert ahead.whole.difference > 0
        assert behind.whole.difference == -ahead.whole.difference
    _, costs = compared([tmp_path / "a", tmp_path / "b"], "dollars", None)
    assert costs.whole.difference == 0


def test_a_family_is_as_large_as_the_arms_that_are_compared_with_the_baseline(arm):
    levels = {n: 1 + n % 2 for n in range(8)}
    arms = [
        arm(name, {n: level + ahead for n, level in levels.items()})
        for name, ahead in (("a", 0), ("b", 1), ("c", 2))
    ]
    found = against_baseline(arms, arms[0])
    assert [(each.ours, each.theirs, each.family) for each in found] == [("b", "a", 2), ("c", "a", 2)]
    assert all(each.adjusted >= each.test.p for each in found)
    assert against_baseline(arms[:1], arms[0]) == []


def test_without_statistics_of_the_user_there_are_no_rows_of_them(arm):
    assert compared_statistics(arm("a", {0: 1}), arm("b", {0: 2})) == []
    assert compared_statistics(arm("c", {0: 1}, open_=(1,)), arm("d", {0: 2})) == []


def test_versions_of_packages_that_differ_are_noted(arm, tmp_path):
    arm("a", {0: 1}), arm("b", {0: 1})
    for name, version in (("a", "1.26.4"), ("b", "2.1.0")):
        attempts = [{"versions": {"numpy": version, "nle": "1.2.0"}}]
        write_json(tmp_path / name / "run.json", {"attempts": attempts})
    _, found = compared([tmp_path / "a", tmp_path / "b"], "progression", None)
    assert found.different_packages == ["numpy 1.26.4 against 2.1.0"]


@pytest.mark.parametrize(
    ("runs", "named"),
    [
        ([("one", {}), ("two", {"style": "short"})], ["one", "two"]),
        ([("x/r", {"style": "long"}), ("y/r", {"style": "short"})],
         ["robust_star scripted style=long", "robust_star scripted style=short"]),
        ([("x/r", {"agent": "cot"}), ("y/r", {"agent": "naive"})], ["cot scripted", "naive scripted"]),
    ],
)  # fmt: skip
def test_arms_are_named_by_their_folders_or_by_what_tells_them_apart(new_run, tmp_path, runs, named):
    paths = []
    for name, settings in runs:
        run = new_run(name, **settings)
        run.nethack(0, [{}])
        paths.append(run.path)
    assert [each.plain for each in load_arms(paths)] == named


def test_arms_whose_telling_settings_are_left_out_of_the_name_are_numbered(tmp_path, builder):
    builder.nethack(0, [{}])
    run = load(builder.path)
    settings = [{"agent": {"name": "cot", "a": place, "b": place, "c": place, "d": d}, "model": {"name": "m"}}
                for place, d in ((1, 1), (1, 2), (2, 2))]  # fmt: skip
    arms = [Arm("", [run], each) for each in settings]
    assert names(arms) == ["cot m a=1 b=1 c=1 #1", "cot m a=1 b=1 c=1 #2", "cot m a=2 b=2 c=2"]


def test_marks_say_forked_and_partial_together(arm):
    ours = arm("a", {0: 1}, open_=(1,))
    assert ours.name == "a (partial: 1 of 2)"
    ours.runs[0].episodes[0].forked = "cot / m to step 3"
    assert ours.marked("x") == "x (forked, partial: 1 of 2)"
    assert ours.withheld
    assert not msgspec.structs.replace(ours, allowed=True).withheld


def test_departures_from_an_experiment_are_told_once_for_all_arms_that_share_them(arm):
    arms = [arm(name, {0: 1}) for name in "abc"]
    for each, departed in zip(arms, (["env.episodes=3"], ["env.episodes=3"], []), strict=True):
        each.runs[0].config["run"] = {"experiment": "mine", "departures": departed}
    assert departures(arms) == ["a, b: experiment mine with env.episodes=3"]


def test_a_folder_of_runs_without_any_is_an_error_and_other_files_in_it_do_no_harm(builder, tmp_path):
    (tmp_path / "notes.txt").touch()
    (tmp_path / "empty").mkdir()
    assert run_folders(tmp_path) == [builder.path]
    with pytest.raises(RunFolderError, match="neither a run folder nor a folder of run folders"):
        run_folders(tmp_path / "empty")
    with pytest.raises(RunFolderError, match="neither a run folder"):
        run_folders(tmp_path / "notes.txt")


def test_an_episode_of_no_steps_is_an_episode(new_run):
    """Games that a cap ended before the first step, in both arms: equal, and no division by nothing."""
    runs = [new_run(name, agent=name) for name in "ab"]
    for run in runs:
        for number in range(4):
            run.write(f"{NETHACK}/{number:02d}", [End("tokens", 0)])
    a, b = (load_arms([run.path])[0] for run in runs)
    found = duel(a, b).whole
    assert (found.difference, found.our_count) == (0, 4)
    assert not isnan(found.test.p)


def test_a_step_apart_makes_two_arms_comparable_in_steps(new_run, tmp_path):
    for name, count in (("a", 2), ("b", 5)):
        run = new_run(name, agent=name)
        for number in range(6):
            lines = [Step(n, "north", "north", "o") for n in range(count + number % 2)]
            run.write(f"{NETHACK}/{number:02d}", [*lines, End("died", len(lines))])
    _, found = compared([tmp_path / "b", tmp_path / "a"], "steps", None)
    assert (found.whole.difference, found.whole.unit) == (3.0, "steps")
