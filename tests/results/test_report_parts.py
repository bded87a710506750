"""A report's tables for unusual arms: nothing played, all equal, unknown, cut off, hostile."""

import csv
from math import nan

import pytest

from balrog_rag.contracts.errors import ConfigError, RunFolderError
from balrog_rag.contracts.statistics import Statistic
from balrog_rag.episode.journal import End, Step
from balrog_rag.results.arms import load_arms
from balrog_rag.results.asked_again import AskedAgain, Counterfactual, keep
from balrog_rag.results.episodes import Calls
from balrog_rag.results.report import content, figures, forest, html, panels, score_tables, style
from balrog_rag.results.report.against_dollars import dollars_figure
from balrog_rag.results.report.details import (
    MOST_KILLERS,
    cost_section,
    ends_section,
    preventable_sentence,
    protocol_section,
    retrieval_section,
)
from balrog_rag.results.report.document import (
    SIGNS,
    FigureCell,
    Link,
    ReportPage,
    Section,
    Table,
    VerdictBox,
    plain_cell,
)
from balrog_rag.results.report.episode_pages import EpisodePages
from balrog_rag.results.report.markdown import markdown
from balrog_rag.results.report.origins import (
    MOST_ROWS,
    episodes_section,
    provenance_section,
    settings_section,
)
from balrog_rag.results.report.write import pick, write_report
from balrog_rag.results.run_folder import write_json
from balrog_rag.util.palette import COLOURS
from tests.results.conftest import NETHACK


@pytest.fixture
def arm(new_run):
    """An arm that reached these levels in games with these seeds, with `more` added by hand."""

    def made(name, levels=(1, 2, 1, 2), more=None, cost=0.001, partial=False, **settings):
        run = new_run(name, agent=name, **settings)
        for number, level in enumerate(levels):
            run.nethack(number, [{"experience_level": level}], cost=cost)
        if more:
            more(run)
        return load_arms([run.path], partial=partial)[0]

    return made


def unfinished(run):
    path = run.journal(run.nethack(50, [{}]))
    path.write_bytes(path.read_bytes()[:-9])


def rooms(*solved, task="MiniHack-Room-5x5-v0"):
    def more(run):
        for number, one in enumerate(solved):
            run.minihack(task, number, one)

    return more


def rows(section, place=0):
    return {row[0]: row[1:] for row in section.tables[place].rows}


def column(section, heading, place=0):
    """A column of a table by arm, each cell as plain text."""
    table = section.tables[place]
    at = table.headings.index(heading)
    return {row[0]: plain_cell(row[at]) for row in table.rows}


def test_scores_have_a_row_for_each_arm_that_played_the_environment(arm):
    arms = [arm("a"), arm("b", levels=(), more=rooms(True, False))]
    section = score_tables.scores_section(arms, [])
    assert [(table.headings[0], [row[0] for row in table.rows]) for table in section.tables] == [
        *[("nle", ["a"])] * 2,
        *[("minihack", ["b"])] * 2,
    ]
    assert column(section, "n") == {"a": "4"}
    assert column(section, "highest experience level")["a"].startswith("1.50 [")
    assert column(section, "SE", 2) == {"b": "35.36"}


def test_a_measure_that_no_arm_has_is_one_sentence_instead_of_a_column(arm):
    section = score_tables.scores_section([arm("a"), arm("b")], [])
    assert "achievements in NetHack's own log" not in section.tables[0].headings
    assert section.tables[0].note.startswith("Unknown for all episodes: achievements in NetHack's own log.")


@pytest.mark.parametrize(("levels", "cell"), [((2,), "1.00"), ((2, 2, 2), "1.00 all alike")])
def test_a_measure_without_spread_has_no_interval_and_a_single_episode_is_not_called_alike(arm, levels, cell):
    section = score_tables.scores_section([arm("a", levels=levels)], [])
    assert column(section, "agent steps", 1) == {"a": cell}
    assert ("A value without an interval" in section.tables[1].note) == ("alike" in cell)


def test_an_incomplete_arm_has_means_of_what_ended_and_no_more(arm):
    section = score_tables.scores_section([arm("a", more=unfinished)], [])
    assert next(iter(column(section, "progression, %").values())).endswith(" of ended episodes")
    assert [*column(section, "SE").values()] == ["–"]
    asked = score_tables.scores_section([arm("b", more=unfinished, partial=True)], [])
    assert "[" in next(iter(column(asked, "progression, %").values()))


def test_tasks_have_their_own_table_only_if_there_are_several(arm):
    def two(run):
        rooms(True, False)(run)
        rooms(True, task="MiniHack-River-v0")(run)

    section = score_tables.scores_section(
        [arm("a", levels=(), more=two), arm("b", levels=(), more=rooms(True))], []
    )
    assert column(section, "MiniHack-River-v0", 2) == {"a": "100.0 ± 0.0, n = 1", "b": "none"}
    assert column(section, "MiniHack-Room-5x5-v0", 2) == {
        "a": "50.0 ± 35.4, n = 2",
        "b": "100.0 ± 0.0, n = 1",
    }
    alone = score_tables.scores_section([arm("c", levels=(), more=rooms(True))], [])
    assert len(alone.tables) == 2


@pytest.mark.parametrize(
    ("figure", "cell"),
    [(nan, "unknown"), (1.234, "1.23"), (-1234.5, "-1,234"), (999.994, "999.99"), (0.0, "0.00")],
)
def test_a_statistic_of_the_user_is_one_figure_or_unknown(arm, figure, cell):
    one = Statistic(name="x", episodes=lambda episodes: figure)
    assert score_tables._across(arm("a"), "nle", one) == cell
    assert score_tables._across(arm("b", more=unfinished), "nle", one) == "–"


def test_verdicts_are_by_environment_too_where_there_are_several(arm):
    arms = [arm("a", more=rooms(False, False, False, True)), arm("b", more=rooms(True, True, True, False))]
    found = content.judge(arms, arms[0])
    table = content.verdict_table(found)
    assert [row[:2] for row in table.rows] == [["b", "average"], ["b", "nle"], ["b", "minihack"]]
    assert table.headings[0] == "against a"
    assert "Test: exact sign flips and exact permutation." in table.caption
    single = content.verdict_table(content.judge([arm("c"), arm("d")], arm("e")))
    assert "test" not in single.filled().headings, "one test for all rows is named in the caption"
    assert [row[1] for row in single.rows] == ["nle", "nle"]


def test_a_note_on_all_arms_is_written_once(arm):
    limited = {"limits": {"steps": 3}}
    arms = [arm("a"), arm("b", **limited), arm("c", **limited), arm("d")]
    said = content.verdict_section(content.judge(arms, arms[0])).sentences
    notes = [sentence for sentence in said if sentence.startswith("Note on ")]
    assert [note.partition(":")[0] for note in notes if "limits.steps" in note] == ["Note on b, c"]
    alike = content.verdict_section(content.judge(arms[:3], arms[0])).sentences
    assert [note.partition(":")[0] for note in alike if "limits.steps" in note] == ["Note on all of these"]


def test_arms_without_any_episode_are_named_and_have_no_verdict(arm):
    arms = [arm("a"), arm("b", levels=())]
    found = content.judge(arms, arms[0])
    section = content.verdict_section(found)
    assert section.tables[-1].rows[-1][:3] == ["b", "", "no finished episode, no verdict."]
    assert [verdict.word for verdict in section.boxes] == ["no verdict"]
    assert not any(verdict.made for verdict in found.verdicts)
    assert len(section.tables) == 1


def test_costs_are_told_by_purpose_and_unknown_prices_are_marked(arm):
    (table,) = cost_section([arm("a", levels=(1,)), arm("b", levels=(1,), cost=None)]).tables
    assert [row[1] for row in table.rows] == ["all", "act", "query", "summary"] * 2
    assert [row[6] for row in table.rows if row[1] == "all"] == ["0.00", "0.00+?"]
    assert cost_section([]).tables == []


def test_ends_killers_and_causes_are_counted_in_one_row_for_each_arm(arm):
    def deaths(run):
        for number in range(MOST_KILLERS + 3):
            run.nethack(number, [{}], death=f"killed by a monster{number:02d}")

    killed = arm("a", levels=(), more=deaths)
    (row,) = ends_section([killed], killed, []).tables[0].rows
    assert row[1:3] == [f"{MOST_KILLERS + 3}", f"died {MOST_KILLERS + 3}"]
    assert row[3].endswith(f"monster{MOST_KILLERS - 1} 1 and 3 others")
    solved = arm("b", levels=(), more=rooms(True))
    table = ends_section([solved], solved, []).tables[0]
    assert table.filled().headings == ["arm", "n", "ended by"], "no column of empty cells"


def test_preventable_ends_are_not_compared_from_a_part_or_of_kinds_without_them(arm):
    whole, part = arm("a"), arm("b", more=unfinished)
    assert preventable_sentence(whole, part) == preventable_sentence(part, whole) == ""
    without = arm("c", levels=(), more=lambda run: run.write("babyai/T/00", [End("failed", 0)]))
    assert preventable_sentence(without, whole) == ""
    assert preventable_sentence(whole, arm("d")).startswith("a against d, preventable ends: ")


def test_other_protocols_have_rows_of_the_arms_that_played_their_kind(arm):
    section = protocol_section([arm("a"), arm("b", levels=(), more=rooms(True))])
    assert [row[0] for row in section.tables[0].rows] == ["a"]
    assert protocol_section([arm("c", levels=(), more=rooms(True))]).tables == []


def test_retrievals_section_has_what_was_asked_again_and_a_record_without_content_does_no_harm(arm):
    ours = arm("a")
    keep(ours.runs[0].folder, Counterfactual((AskedAgain("e", 1, "x", "y", "x"),)))
    assert [line.partition(":")[0] for line in retrieval_section([ours], []).sentences] == ["a"]
    keep(ours.runs[0].folder, Counterfactual(()))
    assert retrieval_section([ours], []).sentences == []


@pytest.mark.parametrize(("cost", "cell"), [(0.001, "67%"), (0.0, "free"), (None, "unknown")])
def test_retrievals_share_of_the_dollars_is_unknown_where_a_price_is(arm, cost, cell):
    (row,) = retrieval_section([arm("a", cost=cost)], []).tables[0].rows
    assert row[8] == cell


def test_settings_have_a_section_only_where_arms_differ(arm):
    assert settings_section([arm("a")]).tables == []
    (table,) = settings_section([arm("b"), arm("c")]).tables
    assert table.rows == [["agent.name", "b", "c"]]


def test_everything_that_a_run_leaves_out_is_named(arm):
    def spoilt(run):
        unfinished(run)
        run.write(f"{NETHACK}/60", [Step(0, "north", "north", "o"), End("tokens", 1, of_run=True)])
        run.journal(run.nethack(61, [{}])).write_bytes(b"[]\n")

    ours = arm("a", more=spoilt, planned=80)
    said = provenance_section([ours]).sentences
    assert [line.partition(" ")[0] for line in said] == ["Left", "Unfinished", "Cut", "Missing"]
    assert said[1:3] == [
        "Unfinished in a: 1 episode.",
        "Cut off in a by a cap of the run: 1 episode.",
    ]
    assert said[3] == "Missing from a: 73 of 80 episodes."
    assert provenance_section([arm("b")]).sentences == []


def test_versions_are_listed_once_for_the_runs_that_share_them_and_differences_are_named(arm):
    arms = [arm(name) for name in "abc"]
    for each, version in zip(arms, ("1", "1", "2"), strict=True):
        write_json(each.runs[0].folder / "run.json", {"attempts": [{"versions": {"numpy": version}}]})
    section = provenance_section(arms)
    assert section.tables[1].rows == [["a, b", "numpy 1"], ["c", "numpy 2"]]
    assert section.sentences == ["Package versions of a and c differ: numpy 1 against 2."]


def test_links_lead_from_the_report_to_pages_that_exist(arm, tmp_path):
    ours = arm("a b", levels=(1,))
    (run,) = ours.runs
    assert (
        EpisodePages(tmp_path).of(run.folder)
        == EpisodePages(tmp_path).episode(run.folder, f"{NETHACK}/00")
        == ""
    )
    (run.folder / "view.html").mkdir()
    assert EpisodePages(tmp_path).of(run.folder) == ""
    (run.folder / "view.html").rmdir()
    (run.folder / "view.html").touch()
    assert EpisodePages(tmp_path / "out").of(run.folder) == "../a%20b/view.html"
    (row,) = episodes_section([ours], EpisodePages(tmp_path)).tables[0].rows
    page = f"a%20b/view.html#episode={NETHACK}/00"
    assert row[1] == Link(NETHACK.partition("/")[2] + "/00", page)
    assert row[-2] == Link("died", f"{page}&step={ours.episodes[0].steps}"), "a death leads to its step"


def test_a_list_of_episodes_is_bounded_and_says_so(arm, tmp_path):
    ours = arm("a", levels=(1,))
    ours.runs[0].episodes *= MOST_ROWS + 1
    (table,) = episodes_section([ours], EpisodePages(tmp_path)).tables
    assert len(table.rows) == MOST_ROWS
    assert "The first 1,000 of 1,001 are listed; episodes.csv contains all." in table.note
    ours.runs[0].episodes.pop()
    assert "are listed" not in episodes_section([ours], EpisodePages(tmp_path)).tables[0].note
    assert episodes_section([arm("b", levels=())], EpisodePages(tmp_path)).tables == []


@pytest.mark.parametrize("name", [None, "b", "b (partial: 4 of 5)"])
def test_a_baseline_is_named_with_or_without_its_marks_and_is_the_first_unnamed(arm, name):
    arms = [arm("a"), arm("b", more=unfinished)]
    assert pick(arms, name) is arms[0 if name is None else 1]
    with pytest.raises(ConfigError, match="no runs to report on"):
        pick([], name)


def test_only_the_asked_for_files_are_written(arm, tmp_path):
    arms = [arm("a"), arm("b")]
    write_report(arms, tmp_path / "out", "T", kinds=["csv"])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["episodes.csv", "verdicts.csv"]
    with (tmp_path / "out/verdicts.csv").open() as file:
        (verdict,) = csv.DictReader(file)
    assert (verdict["arm"], verdict["baseline"], verdict["episodes"]) == ("b", "a", "4")
    write_report(arms[:1], tmp_path / "one", "T", kinds=["csv"])
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["episodes.csv"]


def test_a_report_that_cannot_be_written_is_one_clear_error(arm, tmp_path):
    (tmp_path / "out").touch()
    with pytest.raises(RunFolderError, match="cannot be written"):
        write_report([arm("a")], tmp_path / "out", "T", kinds=["csv"])


def test_figures_are_drawn_of_what_there_is(arm):
    assert figures.draw_all([]) == figures.draw_all([arm("a", levels=())]) == {}
    found = set(figures.draw_all([arm("b", levels=(), more=rooms(True), cost=None)]))
    assert found == {"scores", "progress_over_steps", "outcomes"}, "no time, no price, no retrieval"


def test_an_arm_of_unknown_price_or_cut_off_is_not_drawn_against_dollars(arm):
    def names(*arms):
        figure = dollars_figure(arms)
        return figure and [line.get_label() for line in figure.axes[0].lines if line.get_label()[0] != "_"]

    priced, free = arm("a"), arm("b", cost=0.0)
    assert names(priced, free, arm("c", cost=None), arm("d", more=unfinished)) == ["a", "b"]
    assert names(free) is None
    assert names(arm("e", cost=None)) is None


def test_bars_show_a_bounded_number_of_episodes(arm):
    ours = arm("a", levels=(1,))
    for count, most in ((1, 1), (figures.POINTS, figures.POINTS), (figures.POINTS * 2 - 1, figures.POINTS)):
        ours.runs[0].episodes = [ours.runs[0].episodes[0]] * count
        (axis, *_) = figures.scores_figure([ours]).axes
        drawn = max(len(line.get_xdata()) for line in axis.lines)
        assert drawn <= most
        assert drawn * 2 >= min(count, most)


@pytest.mark.parametrize("look", [style.hatch, style.mark, style.filling])
def test_arms_beyond_the_number_of_colours_look_otherwise(look):
    count = len(COLOURS)
    assert [style.colour(place) for place in range(count)] == [
        style.colour(place + count) for place in range(count)
    ]
    looks = [(style.colour(place), look(place)) for place in range(2 * count)]
    assert len(set(looks)) == 2 * count


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("short", "short"),
        ("x" * 34, "x" * 34),
        ("a" * 20 + " " + "b" * 20, "a" * 20 + " \n" + "b" * 20),
        ("x" * 40, "x" * 34 + "\n" + "x" * 6),
        ("", ""),
    ],
)
def test_a_label_breaks_between_words_where_it_can(name, label):
    assert style.label(name) == label


def test_a_page_of_hostile_titles_is_text_in_both_formats():
    table = Table(["a|b", "n"], [[Link("<x>", "y.html"), "1"]], "note <b>", [True])
    page = ReportPage("<script>", [Section("*s*", ["_w_ \x1b[31m"], [table])])
    told = markdown(page, {})
    assert told.startswith(
        "# \\<script\\>\n\n## \\*s\\*\n\n\\_w\\_ ·\\[31m\n\n| a\\|b | n |\n| :--- | ---: |\n"
    )
    assert "| **[\\<x\\>](<y.html>)** | **1** |" in told
    shown = html.html(page, {})
    assert "<h1>&lt;script&gt;</h1>" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("figure", "title"),
    [("survival", "Survival and depth over game time"), ("my_own_figure", "My own figure")],
)
def test_figures_of_others_are_titled_by_their_names(figure, title):
    assert html.title_of(figure) == title


def test_only_the_body_of_a_figure_takes_the_pages_colours():
    svg = b'<svg style="fill: #ffffff"><defs><style/></defs><g style="fill: #ffffff; stroke: #0072b2"/></svg>'
    made = html.in_page_colours(svg).decode()
    head, _, rest = made.partition("<defs>")
    assert "fill: #ffffff" in head
    assert 'style="fill: var(--paper); stroke: #0072b2"' in rest


def test_text_is_aligned_left_and_numbers_right():
    cells = [
        ("3.21", True), ("+0.4", True), ("1,234", True), ("12%", True), ("–", True), ("1.2M", True),
        (FigureCell("2.0", "[1, 3]"), True), ("exact sign flips", False), ("4a9e1186b861", False),
        ("2026-11-26", False), ("step limit 8, died 2", False), ("free", True),
    ]  # fmt: skip
    table = Table(["name", *["x"] * len(cells)], [["a", *[cell for cell, _ in cells]]])
    assert table.numeric == [False, *[number for _, number in cells]]


def test_a_column_of_empty_cells_is_left_out_but_never_the_names():
    table = Table(["a", "b", "c"], [["", "", "1"], ["", FigureCell(""), ""]], caption="C")
    assert (table.filled().headings, table.filled().rows) == (["a", "c"], [["", "1"], ["", ""]])
    assert table.filled().caption == "C"


def test_every_claim_has_its_own_look_in_words_and_sign():
    boxes = [VerdictBox("a against b", word, f"{word}: +1 points") for word in (*SIGNS, "no verdict")]
    assert len({box.look for box in boxes}) == len({box.sign for box in boxes}) == 6
    shown = html.html(ReportPage("t", [Section("s", boxes=boxes)]), {})
    for box in boxes:
        assert f'class="verdict {box.look}"' in shown
        assert f"{box.sign}</span>a against b: <strong>{box.word}</strong>: +1 points" in shown
        assert f".{box.look}" in shown.partition("</style>")[0], "the look is in the style sheet"


def test_the_forest_has_the_arm_and_its_parts_or_as_many_as_fit(arm, monkeypatch):
    arms = [arm("a", more=rooms(False, False)), arm("b", more=rooms(True, True))]
    found = content.judge(arms, arms[0])
    drawn = forest.forest_rows(found.verdicts, found.parts)
    assert [(row.name, row.depth) for row in drawn] == [("b", 0), ("nle", 1), ("minihack", 1)]
    figure = forest.forest_figure(drawn, "a")
    said = [text.get_text() for text in figure.axes[0].texts]
    assert [each.partition("  ")[0] for each in said] == ["+50.00", "+0.00", "+100.00"]
    assert "too few episodes to tell" in said[2], "an interval wider than the scale is not drawn as one"
    monkeypatch.setattr(forest, "MOST_ROWS", 2)
    assert [row.name for row in forest.forest_rows(found.verdicts, found.parts)] == ["b"]
    assert forest.forest_figure(forest.forest_rows([], []), "a") is None


def test_names_at_curves_do_not_collide_and_stay_near_their_ends():
    assert panels.spread([0.5, 0.5, 0.5], 0.1) == pytest.approx([0.4, 0.5, 0.6])
    assert panels.spread([0.9, 0.1], 0.1) == [0.9, 0.1]
    assert panels.spread([], 0.1) == []
    assert panels.lifted([-0.1, 0.5, 0.0], 0.1) == pytest.approx([0.0, 0.5, 0.1])  # none below the axis


def test_what_cannot_be_planned_is_one_sentence(arm):
    table = content.design_table([arm("a", levels=(1, 1)), arm("b", levels=(2, 2)), arm("c", levels=())])
    assert [row[0] for row in table.rows] == ["c"], "rows of dashes are left out"
    assert table.note == content.UNPLANNED.format("a on nle; b on nle")


@pytest.mark.parametrize(("length", "wordy"), [(60, False), (61, True)])
def test_a_column_is_text_from_its_longest_cell_on(length, wordy):
    table = Table(["a", "b"], [["x", "1"], [Link("y" * 99, "z"), "z" * length]])
    assert table.wordy == [False, wordy]


def test_answers_that_were_cut_or_empty_are_counted_in_the_costs(arm):
    ours = arm("a", levels=(1,))
    ours.runs[0].episodes[0].calls = {"act": Calls(3, repeats=4, empty=1, cut=2, trimmed=3)}
    assert cost_section([ours]).tables[0].rows[0][-1] == "4 / 1 / 2 / 3"
