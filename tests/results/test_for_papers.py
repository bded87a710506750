"""What a report offers for papers: pooled lines, the methods paragraph, LaTeX tables, citations."""

from math import sqrt

import numpy as np
import pytest
from msgspec.structs import replace

from balrog_rag.cli.report import main
from balrog_rag.results.arms import load_arms
from balrog_rag.results.comparing import duel
from balrog_rag.results.report import content
from balrog_rag.results.report.document import FigureCell, ReportPage, Section, Table
from balrog_rag.results.report.latex import bibtex, latex, tex_text
from balrog_rag.results.report.methods import methods_section
from balrog_rag.results.report.pooled_lines import _ahead, error_of, over_models, pooled_boxes
from balrog_rag.results.run_folder import write_json
from balrog_rag.results.statistics.order import TOO_FEW
from balrog_rag.results.statistics.pooled import PooledEffect, between_variance, pooled

TASKS = ("MiniHack-Room-5x5-v0", "MiniHack-River-v0", "MiniHack-Corridor-R3-v0")


@pytest.fixture
def arm(new_run):
    """An arm that solves this many of ten games of each task, and plays a game in which a model is asked."""

    def made(name, solved, model="scripted", tasks=TASKS):
        run = new_run(f"{name}-{model}", agent=name, model=model)
        run.nethack(0, [{"experience_level": 2}])
        for task in tasks:
            for number in range(10):
                run.minihack(task, number, number < solved)
        return load_arms([run.path])[0]

    return made


def test_equal_effects_are_pooled_by_their_precision():
    found = pooled([4.0, 4.0, 4.0], [1.0, 2.0, 3.0])
    assert (found.mean, found.spread, found.word) == (pytest.approx(4.0), 0.0, "higher")
    usual = 1 / sqrt(1 + 1 / 4 + 1 / 9)
    assert found.high - found.mean == pytest.approx(4.302653 * usual), (
        "never narrower than without correction"
    )
    typical = 3 / (1 + 1 / 4 + 1 / 9)
    assert found.next_high - found.mean == pytest.approx(4.302653 * sqrt(typical / 2 + usual**2)), (
        "equal estimates do not show that the true effects are equal"
    )
    assert found.mean - found.next_low == pytest.approx(found.next_high - found.mean)


def test_effects_that_differ_widen_both_intervals_and_are_no_claim():
    found = pooled([0.0, 10.0, 20.0, 30.0], [1.0] * 4)
    assert found.word == "undecided"
    assert found.spread == pytest.approx(np.std([0, 10, 20, 30], ddof=1), rel=0.01)
    assert found.next_low < found.low < 0 < found.mean == 15 < found.high < found.next_high
    assert pooled([20.0, 21.0, 22.0, 19.0], [1.0] * 4).word == "higher"
    assert pooled([-20.0, -21.0, -22.0, -19.0], [1.0] * 4).word == "lower"


def test_too_few_effects_are_not_pooled_and_an_error_of_zero_is_not_certainty():
    assert pooled([1.0, 2.0], [1.0, 1.0]) is None
    unknown, largest = pooled([5.0, 1.0, 2.0], [0.0, 1.0, 4.0]), pooled([5.0, 1.0, 2.0], [4.0, 1.0, 4.0])
    assert unknown == largest
    assert pooled([1.0, 2.0, 3.0], [0.0] * 3).mean == pytest.approx(2.0)


def test_the_variance_between_tasks_makes_q_its_expectation():
    values, variances = np.array([1.0, 5.0, 9.0, 2.0]), np.array([1.0, 2.0, 0.5, 1.0])
    weights = 1 / (variances + between_variance(values, variances))
    mean = np.average(values, weights=weights)
    assert float((weights * (values - mean) ** 2).sum()) == pytest.approx(3.0, abs=1e-6)


def test_three_tasks_or_three_models_have_a_pooled_line(arm):
    arms = [arm("plain", 1), arm("rag", 9)]
    found = content.judge(arms, arms[0])
    (line,) = pooled_boxes(found.verdicts, found.parts, arms)
    assert line.about.endswith("rag-scripted against plain-scripted, over 3 tasks")
    assert line.sentence.startswith("higher: +80.00 points (95 % interval +")
    section = content.verdict_section(found)
    assert line in section.boxes
    single = [arm("one", 1, tasks=TASKS[:2]), arm("two", 9, tasks=TASKS[:2])]
    judged = content.judge(single, single[0])
    assert pooled_boxes(judged.verdicts, judged.parts, single) == []
    models = [arm(name, solved, f"m{place}") for place in range(3) for name, solved in (("a", 2), ("b", 8))]
    (over,) = over_models(models)
    assert over.about.endswith("the same with other models, over 3 models")
    assert "+30.00 points" in over.sentence, "the average over both environments"
    assert over_models(models[:4]) == [None], "two models are too few"


@pytest.mark.parametrize(
    ("reach", "said"),
    [
        (20.0, "95 % prediction for another of these tasks: +50.00 to +90.00"),
        (40.0, "95 % prediction for another of these tasks: +30.00 to +100.00"),
        (50.0, "too few tasks to tell what another of them may have"),
    ],
)
def test_a_prediction_as_wide_as_the_scale_is_not_given_as_numbers(reach, said):
    found = PooledEffect(3, 70.0, 60.0, 80.0, 70.0 - reach, 70.0 + reach, 5.0)
    assert _ahead(found, "tasks", 100.0) == said


def test_the_error_of_a_difference_is_that_of_its_test(arm):
    made = duel(arm("b", 7), arm("a", 3)).whole
    assert error_of(made) == pytest.approx(made.spread / sqrt(made.paired))


def test_the_methods_name_models_dates_versions_seeds_limits_and_tests(arm):
    arms = [arm("plain", 1), arm("rag", 9)]
    for each in arms:
        attempt = {"started": "2026-11-20T08:00:00Z", "versions": {"balrog_rag": "0.2.0", "numpy": "2.1"}}
        write_json(each.runs[0].folder / "run.json", {"attempts": [attempt]})
    found = content.judge(arms, arms[0])
    (said,) = methods_section(arms, found.verdicts).sentences
    for words in (
        "2 arms (plain-scripted and rag-scripted) played nle (1 task) and minihack (3 tasks), "
        "31 episodes each.",
        "Models: scripted (temperature 1.0",
        "Game seeds were derived from run seed 0 (seeding: spread), which gave 31 different games.",
        "Runs were started on 2026-11-20. Versions: balrog_rag 0.2.0, numpy 2.1.",
        f"was compared with plain-scripted by {found.verdicts[0].test.method}",
    ):
        assert words in said
    assert methods_section([], []).sentences == []


def test_the_methods_say_in_which_limits_arms_differ(arm):
    arms = [arm("plain", 1), arm("rag", 9), arm("more", 3)]
    for each, steps in zip(arms, (4, 4, None), strict=True):
        each.runs[0].config["limits"] = {"steps": steps, "until": "plan"}
    (said,) = methods_section(arms, []).sentences
    names = [each.name for each in arms]
    assert f" Limits of steps differed: 4 in {names[0]} and {names[1]}; no limit in {names[2]}." in said
    assert "until" not in said


def test_the_methods_name_no_test_that_was_not_made(arm):
    arms = [arm("plain", 1), arm("rag", 9)]
    verdicts = content.judge(arms, arms[0]).verdicts
    assert "which arm scores higher more often by" in methods_section(arms, verdicts).sentences[0]
    few = [replace(each, order=replace(each.order, method=TOO_FEW)) for each in verdicts]
    (said,) = methods_section(arms, few).sentences
    assert "more often" not in said
    assert "draws" not in said


def test_tables_are_written_in_booktabs_with_captions_and_without_live_signs():
    table = Table(["a_b", "n & m"], [["50 %", FigureCell("1.0", "[0, 2]")]], caption="C {x}", note="N")
    written = latex(ReportPage("t", [Section("Scores", tables=[table]), Section("Costs", tables=[table])]))
    assert written.count(r"\begin{tabular}{lr}") == 1, "only what papers show"
    assert r"\caption{C \{x\} N}" in written
    assert "a\\_b & n \\& m \\\\\n\\midrule\n50 \\% & 1.0 [0, 2] \\\\\n\\bottomrule" in written
    assert tex_text("\\input{/etc/passwd}$x$\n~^#") == (
        r"\textbackslash{}input\{/etc/passwd\}\$x\$ \textasciitilde{}\textasciicircum{}\#"
    )


def test_what_to_cite_is_what_was_played(arm, tmp_path):
    assert bibtex(["minihack", "unknown"]).count("@") == 3
    run = arm("plain", 1).runs[0].folder
    assert main([str(run), "--out", str(tmp_path / "out"), "--formats", "tex"]) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["references.bib", "tables.tex"]
    assert "@inproceedings{minihack," in (tmp_path / "out/references.bib").read_text()
