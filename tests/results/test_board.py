"""The leaderboard's rows: who is ranked with whom, by which measure, beside which published figures."""

from math import nan

import pytest

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.episode.journal import End, Step
from balrog_rag.results.arms import load_arms
from balrog_rag.results.leaderboard import published as published_file
from balrog_rag.results.leaderboard.board_columns import (
    SIX,
    ColumnScore,
    heading_of,
    own_columns,
    quoted_columns,
    quoted_ranks,
)
from balrog_rag.results.leaderboard.board_groups import apart, groups
from balrog_rag.results.leaderboard.board_page import (
    AVERAGE,
    OWN_NOTE,
    QUOTED,
    BoardRow,
    RowOrder,
    board_table,
    build,
    lacking,
    measured,
    measures_section,
    orders,
    own_entry,
    own_measures,
    page,
    ranked_sections,
    reference_entry,
    ways,
    with_columns,
)
from balrog_rag.results.leaderboard.others import rules_table
from balrog_rag.results.leaderboard.published import Reference, published
from balrog_rag.results.report.document import Link, plain_cell
from balrog_rag.results.report.episode_pages import EpisodePages
from balrog_rag.results.run_folder import write_json
from tests.results.conftest import NETHACK

NLE = RowOrder("nle")


@pytest.fixture
def arm(new_run):
    """An arm of a separate agent that reached these experience levels; further games are added by hand."""

    def made(name, levels=(1, 2), rooms=(), more=None, **settings):
        run = new_run(name, agent=name, **settings)
        for number, level in enumerate(levels):
            run.nethack(number, [{"experience_level": level}])
        for number, solved in enumerate(rooms):
            run.minihack("MiniHack-Room-5x5-v0", number, solved)
        if more:
            more(run)
        return load_arms([run.path])[0]

    return made


def test_arms_of_the_same_tasks_and_conditions_are_one_group_and_need_no_title(arm):
    (group,) = groups([arm("a"), arm("b")])
    assert ([each.name for each in group.arms], group.title) == (["a", "b"], "")
    assert group.tasks == {("nle", "NetHackChallenge-v0")}
    assert groups([]) == []


def test_groups_are_titled_by_what_differs_and_the_largest_is_first(arm):
    limits = {"steps": 9, "episode": {"tokens": 5}}
    arms = [arm("a", limits={**limits, "steps": 7}), arm("b", limits=limits), arm("c", limits=limits)]
    assert [([each.name for each in group.arms], group.title) for group in groups(arms)] == [
        (["b", "c"], "limits.steps=9"),
        (["a"], "limits.steps=7"),
    ]


def test_groups_by_one_environment_do_not_depend_on_the_others_that_were_played(arm):
    arms = [arm("a", rooms=[True]), arm("b")]
    assert [group.title for group in groups(arms)] == ["nle (1 task) and minihack (1 task)", NETHACK]
    (group,) = groups(arms, "nle")
    assert len(group.arms) == 2


def test_an_environment_with_many_tasks_is_named_by_some_of_them(arm):
    def more(run):
        for place in range(3):
            run.minihack(f"MiniHack-{place}-v0", 0, True)

    titles = [group.title for group in groups([arm("a", levels=(), more=more), arm("b")])]
    assert titles == ["minihack/MiniHack-0-v0, minihack/MiniHack-1-v0 and 1 more", NETHACK]


def test_a_board_may_be_ordered_by_environment_average_or_any_measure(arm):
    found = orders([arm("a", rooms=[True])])
    assert list(found)[:3] == ["nle", "minihack", AVERAGE]
    assert {"held", "depth", "turns"} < set(found)
    assert (found["nle"].name, found["nle"].title) == ("nle", "nle")
    assert (found["held"].name, found["held"].title) == ("held", "progression held (nle)")
    assert "steps" not in found, "costs are of every game and no criterion"
    assert [each.name for each in own_measures("babyai")] == []


def test_rows_are_ranked_within_their_group_best_first_and_unranked_rows_follow(arm):
    arms = [arm("a", [1, 2] * 6), arm("b", [5, 6] * 6), arm("c", [3, 3], limits={"steps": 3})]
    entries = build(arms, NLE)
    own = [(entry.name, entry.rank, entry.group) for entry in entries if entry.own]
    # the runs of another version had no such limit: they are a group, and have a title, all the same
    assert own == [
        ("b", "1", "limits.steps=none"),
        ("a", "2", "limits.steps=none"),
        ("c", "1", "limits.steps=3"),
    ]
    quoted = [entry for entry in entries if not entry.own]
    assert [entry.own for entry in entries] == [True] * 3 + [False] * len(quoted)
    assert all(entry.rank for entry in quoted), "each is ranked, among the published rows"
    assert [entry.sort for entry in quoted] == sorted((entry.sort for entry in quoted), reverse=True)


def test_a_board_by_a_measure_quotes_nobody_and_leaves_out_who_lacks_it(arm):
    held, achieved = (orders([arm("a")])[name] for name in ("held", "achievements"))
    assert [entry.name for entry in build([arm("a")], held)] == ["a"]
    assert lacking(arm("a"), achieved) == 2
    assert build([arm("a")], achieved) == []


def test_an_arm_that_did_not_play_the_environment_has_no_row(arm):
    arms = [arm("a"), arm("b", levels=(), rooms=[True, False])]
    assert [entry.name for entry in build(arms, RowOrder("minihack")) if entry.own] == ["b"]
    assert [entry.name for entry in build(arms, RowOrder("babyai")) if entry.own] == []


def test_what_a_row_says(arm, tmp_path):
    ours = arm("a", [1, 2], rooms=[True, False, False, False])
    for folder, started in ((ours.runs[0].folder, "2026-11-21T09:00:00Z"),):
        write_json(folder / "run.json", {"attempts": [{"started": started}]})
    entry = own_entry(ours, "1 to 3", RowOrder(AVERAGE))
    assert (entry.rank, entry.agent, entry.model, entry.date) == ("1 to 3", "a_rag", "scripted", "2026-11-21")
    assert entry.figures["minihack"].startswith("25.00 [")
    assert entry.figures["minihack"].endswith(" n=4")
    assert entry.sort == pytest.approx((25.0 + float(entry.figures["nle"].split()[0])) / 2, abs=0.01)
    assert entry.dollars == "0.001"  # 2 games of 3 calls at 0.001 over 6 episodes
    assert own_entry(ours, "1", RowOrder("minihack")).sort == 25.0
    assert (entry.verified, entry.answered_by) == ("no", "")


def test_money_of_unknown_price_is_marked_and_programs_have_no_model(arm):
    def more(run):
        run.nethack(7, [{}], cost=None)

    assert own_entry(arm("a", more=more), "1", NLE).dollars.endswith("+?")

    def pressed(run):
        run.write(f"{NETHACK}/00", [Step(0, "north", "north", "o"), End("died", 1)])

    entry = own_entry(arm("b", levels=(), more=pressed), "1", NLE)
    assert (entry.model, entry.dollars) == ("no model", "0.000")


@pytest.mark.parametrize(
    ("by", "row", "sort"),
    [
        ("nle", {"scored": {"nle": (1.5, 0.25, 5)}}, 1.5),
        ("minihack", {"scored": {"nle": (1.5, 0.25, 5)}}, None),
        (AVERAGE, {"scored": {"nle": (1.5, 0.25, 5)}}, None),
        (AVERAGE, {"average": (30.0, 1.0)}, 30.0),
        ("nle", {"average": (30.0, 1.0)}, None),
        ("nle", {"scored": {"nle": (0.0, 0.0, 5)}}, 0.0),
    ],
)
def test_a_published_row_is_quoted_where_it_has_the_figure(by, row, sort):
    made = Reference("m", "agent", "2025", "paper", note="said so", **row)
    entry = reference_entry(made, by, quoted_columns([made])[0])
    if sort is None:
        assert entry is None
        return
    assert (entry.sort, entry.own, entry.rank) == (sort, False, "1")
    assert entry.verified == "published: paper (said so)"
    assert all("SE" in figure for figure in entry.figures.values())


def test_the_column_that_orders_is_first_and_those_of_no_registered_kind_are_last(arm):
    ours = arm("a", rooms=[True, True])
    by = RowOrder("minihack")
    (own,) = (entry for entry in with_columns(build([ours], by), [ours], by) if entry.own)
    quoted = Reference("m", "x", "d", "s", scored={"chess": (1, 1, 1)})
    entries = [own, reference_entry(quoted, "chess", quoted_columns([quoted])[0])]
    table = board_table(entries, "minihack", {}, "note")
    average = "average of NetHack, MiniHack"
    assert table.headings[:6] == ["agent / model", "rank", "MiniHack", average, "NetHack", "chess"]
    assert [plain_cell(cell) for cell in table.rows[1][2:6]] == [
        "",
        "",
        "",
        "1.00 ± 1.00 SE, n = 1, rank 1 of 1",
    ]


def test_headings_and_groups_are_worded_for_people():
    assert heading_of(SIX) == SIX
    assert heading_of("average of nle, minihack, babyai") == "average of 3 environments"
    assert heading_of("chess") == "chess"
    mixed = "nle (1 task) and minihack (2 tasks), env.options.nle.character=@, limits.steps=3000"
    words = ("env.options.nle.character=@, at most 3,000 steps", "nle (1 task) and minihack (2 tasks)")
    assert apart(mixed) == words
    assert apart("limits.steps=null") == ("limits.steps=null", "")
    assert apart("nle/NetHackChallenge-v0") == ("", "nle/NetHackChallenge-v0")
    assert apart("") == ("", "")


def test_two_averages_of_as_many_environments_keep_their_names():
    scores = [
        {f"average of {names}": ColumnScore(1.0, 0.0, 2.0)}
        for names in ("nle, babyai, crafter", "nle, babyai, minihack")
    ]
    rows = [
        BoardRow(str(n), "1", "a", "m", {}, 1.0, "", "", "", columns=each) for n, each in enumerate(scores)
    ]
    assert board_table(rows, "average of nle, babyai, crafter", {}, "").headings[2:4] == [
        "average of nle, babyai, crafter",
        "average of nle, babyai, minihack",
    ]


def test_every_column_ranks_only_what_was_played_alike_and_an_average_only_equal_sets(arm):
    both = [arm("a", [1, 2] * 6, rooms=[True] * 6), arm("b", [5, 6] * 6, rooms=[True] * 6)]
    arms = [*both, arm("c", [1, 2] * 6), arm("d", [3, 3], limits={"steps": 3})]
    found = own_columns(arms)
    ranked = {name: {column: score.rank for column, score in row.items()} for name, row in found.items()}
    average = "average of nle, minihack"
    assert ranked["a"] == {"nle": "2 to 3 of 3", "minihack": "1 to 2 of 2", average: "2 of 2"}
    assert ranked["b"][average] == "1 of 2"
    assert ranked["c"] == {"nle": "2 to 3 of 3"}, "a run on one environment has no average"
    assert ranked["d"] == {"nle": ""}, "alone under its conditions"
    by = RowOrder(AVERAGE)
    entries = [entry for entry in with_columns(build(arms, by), arms, by) if entry.own]
    assert {entry.name: entry.columns for entry in entries} == found, "ranks that are known are the same"
    firsts = {entry.name: entry.first for entry in entries}
    assert firsts == {"a": average, "b": average, "c": "nle", "d": "nle"}


def test_published_rows_are_ranked_by_what_is_published():
    far = [(60.0, 2.0, 0), (20.0, 2.0, 0), (21.0, 2.0, 0), (0.0, 0.0, 5)]
    assert [rank.text for rank in quoted_ranks(far)] == ["1", "2 to 3", "2 to 3", "4"]
    assert [rank.text for rank in quoted_ranks([(0.0, 0.0, 5), (0.3, 0.0, 5)])] == ["1 to 2", "1 to 2"]
    assert [rank.text for rank in quoted_ranks([(8.0, 2.7, 2), (0.5, 0.4, 2)])] == ["1 to 2", "1 to 2"], "few"
    known = quoted_columns(published().rows)
    best = max(known, key=lambda row: row[SIX].mean if SIX in row else 0.0)
    assert best[SIX].rank.startswith("1 ")


def test_a_score_has_a_bar_on_the_scale_and_its_interval():
    cell = ColumnScore(25.0, 10.0, 120.0, 4, rank="1 to 2 of 2").cell()
    assert cell.bar == (0.1, 0.25, 1.0)
    assert cell.plain == "25.00 [10.00, 120.00], n = 4, rank 1–2 of 2"
    alone = ColumnScore(0.0, nan, nan).cell()
    assert (alone.plain, alone.bar) == ("0.00", (0.0, 0.0, 0.0))


def test_names_link_to_the_first_page_among_their_runs(new_run, tmp_path):
    for place in range(3):
        run = new_run(f"runs/r{place}", agent="a")
        run.nethack(0, [{}], seed=place)
        if place:
            (run.path / "view.html").touch()
    arms = load_arms([tmp_path / "runs"])
    assert ways(arms, EpisodePages(tmp_path / "out")) == {"a scripted": "../runs/r1/view.html"}
    entries = build(arms, NLE)
    (section,) = ranked_sections(entries, arms, NLE, EpisodePages(tmp_path / "out"), [])
    assert section.tables[0].rows[0][0] == Link("a_rag / scripted (a scripted)", "../runs/r1/view.html")


def test_notes_are_on_the_first_table_only_and_several_groups_are_explained(arm, tmp_path):
    arms = [arm("a"), arm("b", limits={"steps": 3})]
    sections = ranked_sections(build(arms, NLE), arms, NLE, EpisodePages(tmp_path), ["a note."])
    assert [len(section.sentences) for section in sections] == [2, 0]
    assert sections[0].sentences[0].startswith("Rows are ranked only among rows that played the same tasks")
    assert [section.tables[0].note for section in sections] == [OWN_NOTE, ""]
    (alone,) = ranked_sections(build(arms[:1], NLE), arms[:1], NLE, EpisodePages(tmp_path), ["a note."])
    assert alone.sentences == ["a note."]


def test_a_board_without_rows_is_a_page_all_the_same(tmp_path):
    made = page([], [], NLE, "Board", EpisodePages(tmp_path), ["nobody"])
    assert [section.title for section in made.sections] == ["Ranked by NetHack", "Sources"]
    assert made.sections[0].tables[0].rows == []
    quoted = page(build([], NLE), [], NLE, "Board", EpisodePages(tmp_path))
    assert [section.tables[0].note for section in quoted.sections if "elsewhere" in section.title] == [QUOTED]


def test_a_measure_is_shown_with_its_interval_or_as_unknown(arm):
    episodes = arm("a", [2, 3, 2, 4]).episodes
    found = {each.name: measured(episodes, each) for each in own_measures("nle")}
    assert found["experience"].startswith("2.75 [")
    assert found["achievements"] == "unknown for 4 of 4"
    assert measures_section([arm("b", levels=(), rooms=[True])]).tables == []
    (table,) = measures_section([arm("c"), arm("d", rooms=[True])]).tables
    assert [row[0] for row in table.rows] == ["c", "d"]


def test_others_measures_have_a_row_for_each_arm_and_each_published_figure(arm):
    rules = next(rules for rules in kind_of("nle").scoring.rules if rules.published)
    table = rules_table([arm("a", [1, 2, 3]), arm("b", levels=(), rooms=[True])], "nle", rules)
    known = published().measured[rules.published]
    assert [row[0] for row in table.rows][:1] == ["a"]
    assert len(table.rows) == 1 + len(known)
    assert all(len(row) == len(table.headings) for row in table.rows)


@pytest.mark.parametrize(
    "text", ["rows: [", "sources: {}\nrows: [{name: x}]", "sources: {}\nrows: [{nam: x}]"]
)
def test_a_file_of_published_results_that_cannot_be_read_is_one_clear_error(tmp_path, monkeypatch, text):
    monkeypatch.setattr(published_file, "data", lambda name: tmp_path)
    (tmp_path / "published.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"published.yaml: cannot be read"):
        published.__wrapped__()
