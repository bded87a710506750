"""`limits.until=verdict`: runs play in blocks and stop when their comparison with the baseline is decided."""

import csv
from pathlib import Path

import msgspec
import pytest

from balrog_rag.cli import verbs
from balrog_rag.results.planned_looks import FILE, LOOKS, RecordedLook
from balrog_rag.run.begin import checked_run, composed
from balrog_rag.run.verdict_design import blocks

GOTO = "env.tasks=[babyai/BabyAI-MixedTrainLocal-v0/goto]"
SHORT = (GOTO, "limits.steps=30", "runner.log=none", "runner.workers=1", "limits.until=verdict")


def looks(run: Path) -> list[RecordedLook]:
    return msgspec.json.decode((run / FILE).read_bytes(), type=list[RecordedLook])


def table(folder: Path) -> dict[str, str]:
    with (folder / "sweep.csv").open() as file:
        return {row["run"]: row["ended"] for row in csv.DictReader(file)}


def test_blocks_have_equal_shares_of_every_task() -> None:
    words = [
        "env.tasks=[minihack/MiniHack-Corridor-R3-v0, minihack/MiniHack-Corridor-R2-v0]",
        "env.episodes=10",
    ]
    specs = checked_run(composed(["agent=random", *words])).specs
    made = list(blocks(specs))
    assert sorted(spec.episode for block in made for spec in block) == sorted(spec.episode for spec in specs)
    assert [len(block) for block in made] == [4, 6, 4, 6]


@pytest.mark.slow
def test_a_decided_arm_stops_and_an_undecided_one_plays_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("agent=dummy,scripted,random", *SHORT, "env.episodes=32", "run.name=s")
    assert verbs.main(["sweep", *words]) == 0
    ended = table(Path("results/s"))
    assert ended == {"agent=dummy": "32", "agent=scripted": "16", "agent=random": "32"}
    found = looks(Path("results/s/agent=scripted"))
    assert [look.decided for look in found] == [False, True]
    assert found[1].p <= found[1].allowed < 0.05 / 2  # two comparisons share the 5 %
    assert [look.decided for look in looks(Path("results/s/agent=random"))] == [False] * LOOKS
    said = capsys.readouterr().err
    assert "agent=scripted: note: decided at look 2 of 4, after 16 of 32 episodes; higher: +" in said
    assert "agent=random: note: undecided at look 4 of 4, after 32 of 32 episodes" in said
    assert verbs.main(["resume", "results/s"]) == 0  # finds the same, and plays nothing
    assert table(Path("results/s")) == ended
    assert looks(Path("results/s/agent=scripted")) == found
    the_decided_comparison_is_reported_without_partial(Path("results/s"), found[1], capsys)


def the_decided_comparison_is_reported_without_partial(
    sweep: Path, stop: RecordedLook, capsys: pytest.CaptureFixture[str]
) -> None:
    """The comparison that the design made, and no other one of the stopped run."""
    capsys.readouterr()
    assert verbs.main(["report", str(sweep), "--out", str(sweep / "report"), "--formats", "md"]) == 0
    told = " ".join((sweep / "report/report.md").read_text().replace("**", "").split())
    assert f"higher: {stop.sentence.partition(': ')[2].partition(' ')[0]}" in told
    assert "was stopped by this verdict, at look 2 of 4, after 16 of 32 episodes" in told
    baseline, scripted, random = (sweep / f"agent={name}" for name in ("dummy", "scripted", "random"))
    assert verbs.main(["compare", str(baseline), str(scripted)]) == 0
    assert "lower: -" in capsys.readouterr().out
    for words in ([str(scripted), str(random)], [str(scripted), str(baseline), "--measure", "steps"]):
        assert verbs.main(["compare", *words]) == 0
        assert "resume RUN limits.until=plan, or pass --partial" in " ".join(capsys.readouterr().out.split())
    (scripted / FILE).write_text((scripted / FILE).read_text().replace('"decided": true', '"decided": false'))
    assert verbs.main(["compare", str(scripted), str(baseline)]) == 0
    assert "no verdict" in capsys.readouterr().out


@pytest.mark.slow
def test_a_single_run_is_compared_with_a_finished_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The baseline ends at once when nothing is left to compare; resumed without the design, it plays on."""
    monkeypatch.chdir(tmp_path)
    base = ("agent=scripted", *SHORT[:-1], "env.episodes=24", "run.name=base")
    assert verbs.main(["run", *base]) == 0
    mine = ("agent=dummy", *SHORT, "limits.against=results/base", "env.episodes=24", "run.name=mine")
    assert verbs.main(["run", *mine]) == 0
    assert [look.episodes for look in looks(Path("results/mine"))] == [6, 12]
    assert "decided at look 2 of 4" in capsys.readouterr().err
    assert verbs.main(["compare", "results/mine", "results/base"]) == 0
    assert "mine (partial: 12 of 24) was stopped by this verdict" in " ".join(capsys.readouterr().out.split())
    assert verbs.main(["resume", "results/mine", "limits.until=plan", "limits.against=null"]) == 0
    assert len(list(Path("results/mine").rglob("*.journal.jsonl"))) == 24


def test_an_unfinished_baseline_is_refused_with_the_command_that_finishes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("agent=dummy", *SHORT[:-1], "env.episodes=4", "limits.steps=2")
    assert verbs.main(["run", *words, "run.name=base"]) == 0
    base = Path("results/base").rename("results/my base")
    cut = min(base.rglob("*.journal.jsonl"))
    cut.write_bytes(b"".join(cut.read_bytes().splitlines(keepends=True)[:-1]))
    capsys.readouterr()
    assert verbs.main(["run", *words, SHORT[-1], f"limits.against={base}"]) != 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("finish it with `balrog-rag resume 'results/my base'`")


def test_a_failing_arm_stops_the_looks_but_not_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An episode without a score leaves a sample of those that did not fail."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "class Fails:\n"
        "    asks_model = False\n"
        "    def __init__(self, config, view, llm, knowledge): pass\n"
        "    async def act(self, observation): raise KeyError('north')\n"
    )
    words = ("agent=dummy,mine.py:Fails", *SHORT, "env.episodes=4", "limits.steps=2", "run.name=s")
    assert verbs.main(["sweep", *words]) == 1
    assert sorted(table(Path("results/s")).values()) == ["0", "4"]
    assert not list(Path("results/s").rglob(FILE))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "agent=random", *SHORT], "nothing to compare with; add limits.against=RUN"),
        (["run", *SHORT[:-1], "agent=random", "limits.against=a"], "only used with limits.until=verdict"),
        (["run", *SHORT, "agent=random", "limits.against=none"], "limits.against=none: not a run folder"),
        (["sweep", *SHORT, "agent=dummy,random", "env.episodes=3"], "plan at least 4 per task"),
        (["sweep", *SHORT, "agent=random", "env.episodes=4,5"], "the runs play different games"),
    ],
)
def test_what_cannot_be_decided_is_refused_before_play(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert verbs.main(words) != 0
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert not Path("results").exists()
