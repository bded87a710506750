"""What is said of a game once it is over: its log line, its cause of death, others' figures for it."""

from types import SimpleNamespace

import numpy as np
import pytest

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.errors import EnvironmentFailure
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.envs.nethack.causes import LEFT, OTHER, PREVENTABLE, cause, cause_of_death
from balrog_rag.envs.nethack.clock import EARLIEST, time_of
from balrog_rag.envs.nethack.game_end import end_facts, parse_log_line, read_log, stand_in
from balrog_rag.envs.nethack.held_progression import ACHIEVEMENTS, HeldProgression
from balrog_rag.envs.nethack.kind import NETHACK, comparable, identity
from balrog_rag.envs.nethack.logged import numbers_in, read_logged
from balrog_rag.envs.nethack.options import nethack_options
from balrog_rag.envs.nethack.progression import Progression, table
from balrog_rag.envs.nethack.protocols import challenge_score, netplay_score, paper_score
from balrog_rag.envs.nethack.ttyrec import clear, finish, log_prefix
from tests.envs.support import nethack


@pytest.mark.parametrize(
    ("death", "name"),
    [
        ("starved to death", "hunger"),
        ("killed by a jackal, while fainted from lack of food", "hunger"),
        ("choked on a food ration", "overeating"),
        ("poisoned by a rotted newt corpse", "corpse"),
        ("killed by food poisoning", "corpse"),
        ("killed by the wrath of Anhur", "prayer"),
        ("killed by a newt, while praying", "prayer"),
        ("killed by a priest of Huhetotl", "prayer"),
        ("killed by a ghost of Agent", OTHER),
        ("killed by a gas spore's explosion", "gas spore"),
        ("killed by a newt, while frozen by a monster's gaze", "floating eye"),
        ("petrified by a cockatrice", "petrification"),
        ("turned to stone", "petrification"),
        ("drowned in a pool of water by a giant eel", "drowning or lava"),
        ("burned by molten lava", "drowning or lava"),
        ("shot himself with a death ray", "own spell or wand"),
        ("killed by an exploding wand", "own spell or wand"),
        ("killed by a wand", OTHER),
        ("killed by a soldier ant", OTHER),
        ("", OTHER),
    ],
)
def test_of_which_class_a_death_is(death, name):
    assert cause_of_death(death) == name
    assert (name in PREVENTABLE) == (name != OTHER)


@pytest.mark.parametrize(
    ("outcome", "facts", "name"),
    [
        ("escaped", {"death": "killed by a newt"}, LEFT),
        ("died", {}, OTHER),
        ("died", {"death": None}, OTHER),
        ("died", {"death": "starved to death"}, "hunger"),
        ("quit", {"death": "starved to death"}, ""),
        ("ascended", {}, ""),
    ],
)
def test_only_deaths_and_leaving_have_a_cause(outcome, facts, name):
    assert cause(outcome, facts) == name


LINE = (
    "points=77\tdeathlev=2\thp=0\tmaxhp=12\tdeath=killed by a newt\twhile=fainted\tturns=501\tachieve=0x800"
)


def test_a_log_line_has_numbers_where_nethack_writes_numbers_and_what_the_dead_was_doing():
    fields = parse_log_line(LINE + "\tttyrecname=x.ttyrec\tname=Agent=1")
    assert (fields["points"], fields["turns"], fields["hp"]) == (77, 501, 0)
    assert fields["death"] == "killed by a newt, while fainted"
    assert fields["name"] == "Agent=1", "a value may hold the sign"
    assert fields["achieve"] == "0x800"
    assert not {"while", "ttyrecname"} & set(fields)


@pytest.mark.parametrize(("content", "points"), [(None, None), ("", None), ("points=1\npoints=2\n", 2)])
def test_the_newest_line_of_a_log_counts(tmp_path, content, points):
    if content is not None:
        (tmp_path / "xlogfile").write_text(content)
    assert read_log(tmp_path / "xlogfile").get("points") == points


def live(**numbers):
    values = np.zeros(27, np.int64)
    for place, value in {9: 42, 10: 3, 11: 12, 12: 4, 20: 900, 23: 2}.items():
        values[place] = value
    return values


NO_LIBRARY = SimpleNamespace(dlpath="/nowhere/lib.so")


def test_without_a_log_line_the_facts_are_the_bottom_lines_and_say_so(tmp_path):
    facts = end_facts(NO_LIBRARY, tmp_path / "xlogfile", live(), "steps", pinned=True)
    assert facts["xlogfile_from"] == "stats"
    assert facts["xlogfile"] == stand_in(live()) == {
        "points": 42, "deathdnum": 2, "deathlev": 4, "hp": 3, "maxhp": 12, "turns": 900, "death": "aborted",
    }  # fmt: skip
    assert (facts["death"], facts["achievements"], facts["kills"]) == ("", [], {})


@pytest.mark.parametrize(("outcome", "death"), [("died", "killed by a newt, while fainted"), ("quit", "")])
def test_only_the_dead_have_a_death_and_bits_have_names(tmp_path, outcome, death):
    line = f"{LINE}\tconduct=0x3\tstarttime={EARLIEST}\tendtime={EARLIEST + 86400}"
    (tmp_path / "xlogfile").write_text(line + "\n")
    facts = end_facts(NO_LIBRARY, tmp_path / "xlogfile", live(), outcome, pinned=True)
    assert (facts["death"], facts["xlogfile_from"]) == (death, "game")
    assert facts["achievements"] == [ACHIEVEMENTS[11]] == ["killed Medusa"]
    assert facts["conducts"] == ["foodless", "vegan"]
    assert (facts["xlogfile"]["birthdate"], facts["xlogfile"]["deathdate"]) == (20000115, 20000116)


def test_a_replay_must_agree_on_all_but_the_machine_and_an_unpinned_clock():
    logged = {"uid": 0, "starttime": 5, "points": 7}
    pinned = comparable({"xlogfile": logged, "clock_pinned": True})
    assert pinned["xlogfile"] == {"starttime": 5, "points": 7}
    assert comparable({"xlogfile": logged})["xlogfile"] == {"points": 7}
    assert comparable({"death": "x"}) == {"death": "x"}
    assert comparable({"xlogfile": None}) == {"xlogfile": None}


@pytest.mark.parametrize(
    ("screen", "found"),
    [
        ("Dlvl:2 $:3 HP:3(16) Pw:2(2) AC:6 Xp:1/7 T:88 Hungry Burdened",
         {"depth": 2, "gold": 3, "hp": 3, "max_hp": 16, "experience": 7, "turn": 88}),
        ("Dlvl:2 $:3 HP:3(16) Pw:2(2) AC:6 Xp:1/7 Weak Stressed", {"hunger": 3, "encumbrance": 2}),
        ("Dlvl:2 $:0 HP:-3(16) Pw:2(2) AC:-6 Exp:10", {"hp": -3, "armor_class": -6, "experience_level": 10}),
        ("Dlvl:2 $:0 HP:9(16) Pw:2(2) AC:6 HD:4 Conf Blind", {"condition": 1 << 5 | 1 << 8, "hunger": 1}),
        ("no bottom lines here", {}),
        ("Dlvl:2 HP:9", {}),
    ],
)  # fmt: skip
def test_bottom_lines_are_read_back_from_a_logged_screen(screen, found):
    numbers = numbers_in(screen)
    assert {name: numbers.get(name) for name in found} == found
    assert bool(numbers) == bool(found)


def test_a_logged_text_is_cut_at_its_headings():
    bottom = "Dlvl:1 $:0 HP:9(9) Pw:1(1) AC:9 Xp:1/0 T:1"
    seen = read_logged(f"message:\nHello.\n\ninventory:\na: a dagger\n\nmap:\n  @\n{bottom}\n")
    assert (seen.text("message"), seen.text("inventory"), seen.numbers["turn"]) == (
        "Hello.",
        "a: a dagger",
        1,
    )
    assert read_logged("nothing at all").parts == ()


def episode(percent=0.0, score=0, depth=1, level=1, turn=0, outcome="died"):
    numbers = {"score": score, "depth": depth, "experience_level": level, "turn": turn}
    return SimpleNamespace(percent=percent, outcome=outcome, most=numbers, last=numbers)


@pytest.mark.parametrize(
    ("counts", "batches"), [([], 0), ([4], 0), ([5], 1), ([9], 1), ([5, 4, 5], 2), ([25], 3)]
)
def test_the_papers_score_is_of_whole_batches_of_five_within_a_run_and_of_three_at_most(counts, batches):
    found = paper_score([[episode(1.0)] * count for count in counts])
    assert (0 if found is None else len(found.batch_means)) == batches


def test_the_papers_score_is_the_best_batchs_and_the_fair_one_is_beside_it():
    found = paper_score(
        [[episode(value, depth=place + 1) for place, value in enumerate([1] * 5 + [2, 2, 2, 2, 7])]]
    )
    assert (found.mean, found.all_mean, found.max_depth) == (3.0, 2.0, 10)
    assert found.standard_error == pytest.approx(found.deviation / 5**0.5)
    assert found.deviation == 2.0, "of the population"


def test_the_challenge_counts_ascensions_then_the_median_then_the_mean():
    played = [episode(score=score, outcome="ascended" if score == 90 else "died") for score in (0, 0, 90)]
    found = challenge_score(played)
    assert (found.ascensions, found.median, found.mean) == (1, 0.0, 30.0)
    assert challenge_score([]) is netplay_score([]) is None


def test_netplays_figures_have_the_samples_deviation_and_one_episode_has_none():
    found = netplay_score([episode(depth=2), episode(depth=4)])
    assert (found.depth.mean, found.depth.deviation) == (3.0, pytest.approx(2**0.5))
    assert netplay_score([episode(depth=2)]).depth.deviation == 0.0


def test_a_number_that_a_journal_lacks_counts_as_nothing_in_others_figures():
    bare = SimpleNamespace(percent=0.0, outcome="died", most={}, last={})
    found = netplay_score([bare])
    assert {part.mean for part in (found.score, found.depth, found.experience_level, found.turns)} == {0.0}
    assert challenge_score([bare]).mean == 0.0
    assert (paper_score([[bare] * 5]).max_depth, paper_score([[bare] * 5]).max_experience_level) == (0, 0)


@pytest.mark.parametrize("rules", kind_of("nle").scoring.rules, ids=lambda rules: rules.title)
def test_figures_of_nothing_are_words_and_not_errors(rules):
    assert all(isinstance(cell, str) for cell in rules.figures([[]]))
    assert len(rules.figures([[episode(1.0)] * 5])) == len(rules.headings)


@pytest.mark.parametrize(
    ("reached", "value"), [("none", 0.0), ("Dlvl:2", table()["Dlvl:2"]), ("Xp:3", table()["Xp:3"])]
)
def test_published_achievements_are_worth_what_ours_are(reached, value):
    assert NETHACK.scoring.worth(reached) == value


def test_an_achievement_that_is_not_in_the_table_is_no_progress():
    made = Progression()
    made.see({"depth": 77, "experience_level": 99})
    assert (made.value, made.reached, made.dlvl_list, made.xplvl_list) == (0.0, "", [], [])


def test_a_level_is_held_from_its_five_hundredth_turn_on_and_not_a_turn_before():
    def held(turn):
        made = HeldProgression()
        for depth, now in ((1, 1), (9, 100), (9, turn)):
            made.see({"depth": depth, "turn": now, "experience_level": 1}, gap=False)
        return made.result({})

    assert held(599) < held(600) == pytest.approx(100 * max(table()[f"Dlvl:{n}"] for n in range(2, 10)))


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        (None, None),
        ("a/nle.3.0.ttyrec3.bz2", "a/nle.3."),
        ("a/run.ttyrec3.bz2", "a/run."),
        ("a/other", "a/other."),
    ],
)
def test_a_log_lies_beside_its_recording(name, prefix):
    assert log_prefix(name) == prefix


class _Game:
    """What `finish` asks of a game that is over already."""

    _pynethack = SimpleNamespace(done=lambda: True)


def test_every_recording_gets_a_line_however_its_game_ended(tmp_path):
    ttyrec = str(tmp_path / "deep/nle.0.0.ttyrec3.bz2")
    clear(ttyrec)
    assert {path.name for path in (tmp_path / "deep").iterdir()} == {"nle.0.logfile", "nle.0.record"}
    finish(_Game(), {"blstats": live(), "program_state": np.ones(4)}, ttyrec, None)
    (log,) = (tmp_path / "deep").iterdir()
    assert read_log(log)["points"] == 42
    assert "ttyrecname=nle.0.0.ttyrec3.bz2" in log.read_text()
    clear(ttyrec)
    assert not log.exists(), "a line of an earlier attempt would be taken for this one's"


def test_a_line_that_nethack_wrote_stays_and_is_readable_as_ascii(tmp_path):
    ttyrec = str(tmp_path / "nle.0.0.ttyrec3.bz2")
    clear(ttyrec)
    (tmp_path / "nle.0.xlogfile").write_bytes(b"points=5\tname=Ag\xe9nt\n")
    finish(_Game(), {"blstats": live(), "program_state": np.zeros(4)}, ttyrec, live())
    assert (tmp_path / "nle.0.xlogfile").read_bytes() == b"points=5\tname=Ag?nt\n"


def test_a_recording_that_cannot_be_written_is_one_clear_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentFailure, match="cannot be written"):
        clear(str(tmp_path / "file/nle.0.0.ttyrec3.bz2"))
    clear(None)
    finish(None, {}, None, None)


@pytest.mark.parametrize(
    ("seed", "day", "second"),
    [(0, 0, 0), (3599, 0, 3599), (3600, 1, 0), (3600 * 300, 0, 0), (2**31 - 1, 123, 847)],
)
def test_a_games_time_is_in_the_hour_after_noon_on_a_day_of_one_year(seed, day, second):
    assert time_of(seed) == EARLIEST + day * 86_400 + second


def test_a_game_is_its_seeds_and_its_character_however_it_is_shown():
    spec = nethack(3, layout="language", skip_more=False)
    assert identity(spec) == identity(nethack(3)) == "3/3/None/val-dwa-law-fem"
    assert identity(nethack(3, character="@")) != identity(spec)
    assert nethack_options(GameSpec("minihack", "T", Seeds(1, 1), 1, {"des_file": "x"})).layout == "hybrid"
