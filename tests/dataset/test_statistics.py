"""Tables of games: of datasets and runs, side by side."""

from pathlib import Path

from balrog_rag.cli.main import main
from balrog_rag.cli.verbs import main as balrog_rag
from balrog_rag.dataset.box_plots import figures
from balrog_rag.dataset.database import games
from balrog_rag.dataset.recorded_statistics import (
    Games,
    bits_table,
    causes_table,
    numbers_table,
    papers_columns,
    places_table,
    sections,
)
from balrog_rag.dataset.sets import of_arms, of_dataset
from balrog_rag.results.arms import load_arms
from tests.dataset.support import dataset


def row(**fields: object) -> dict[str, object]:
    usual = {"points": 10, "turns": 100, "maxlvl": 1, "role": "Val", "death": "quit", "achieve": "0x0"}
    return {**usual, "conduct": "0x0", "deathdnum": 0, "deathlev": 1, "name": "Agent", **fields}


def cells(table: object) -> dict[str, list[str]]:
    return {line[0]: line[1:] for line in table.rows}


def test_numbers_are_those_of_the_rows():
    mine = Games("mine", [row(points=10), row(points=20), row(points=90, turns=-1)], 384, [1, 2, 7])
    found = cells(numbers_table([mine, Games("none", [])]))
    assert found["episodes"] == ["3", "0"]
    assert (found["mean score"], found["median score"]) == (["40", "–"], ["20", "–"])
    assert found["mean game turns"] == ["100", "–"]
    assert (found["transitions"], found["compression"]) == (["10", "–"], ["100", "–"])


def test_achievements_and_conducts_are_read_by_their_bits():
    mine = Games("mine", [row(achieve="0x400", conduct="0x801"), row(achieve="0x100"), row(), row()])
    found = cells(bits_table([mine]))
    assert (found["completed Sokoban"], found["ascended"], found["killed Medusa"]) == (
        ["25.00"],
        ["25.00"],
        ["0.00"],
    )
    assert (found["foodless"], found["genocideless"], found["vegan"]) == (["25.00"], ["25.00"], ["0.00"])


def test_the_papers_columns_stand_beside_ours():
    """Tables 1 and 5; every row that the paper tells is one of ours, and each bit has its share."""
    mine, paper = Games("mine", [row(achieve="0x400"), row()]), papers_columns()
    table = numbers_table([mine], paper)
    assert table.headings == ["", "mine", "NLD-AA (paper)", "NLD-NAO (paper)"]
    found = cells(table)
    assert found["median score"] == ["10", "5,422", "836"]
    assert found["median deepest level"] == ["1", "–", "–"]
    assert all(set(column.numbers) <= set(found) for column in paper)
    shares = cells(bits_table([mine], paper))
    assert shares["completed Sokoban"] == ["50.00", "0.17", "5.93"]
    assert shares["ascended"] == ["0.00", "0.00", "1.46"]
    assert shares["genocideless"] == ["0.00", "100.00", "96.90"]
    assert "Tables 1 and 5" in table.note


def test_every_role_has_its_boxes(db):
    """From recorded games: a row a role with the number of games of each set, a box for each that has any."""
    bot = of_dataset(db, "bot")
    role = bot.rows[0]["role"]
    other = Games("other", [row(role=role, points=points) for points in (1, 2, 90_000)])
    drawn = figures([bot, other])["box_plots_by_role"]
    panels = drawn.axes
    assert [axes.get_xlabel() for axes in panels] == ["score", "game turns", "deepest level"]
    names = [label.get_text() for label in panels[0].get_yticklabels()]
    count = sum(line["role"] == role for line in bot.rows)
    assert f"{role} ({count}, 3)" in names
    boxes = len({line["role"] for line in bot.rows}) + 1
    assert [len(axes.patches) for axes in panels] == [boxes] * 3
    low, high = panels[0].get_xlim()
    assert low == 0
    assert high > 90_000


def test_games_end_in_branches_by_nethacks_own_numbers():
    """Vlad's Tower is 6 and the Elemental Planes are 7; the paper's list says otherwise."""
    ends = [
        row(deathdnum=6),
        row(deathdnum=7, deathlev=-2),
        row(deathlev=5),
        row(deathlev=6),
        row(deathdnum=-1),
    ]
    found = cells(places_table([Games("mine", ends)]))
    assert list(found) == [
        "the Dungeons of Doom, levels 1 to 5",
        "the Dungeons of Doom, levels 6 to 10",
        "Vlad's Tower",
        "the Elemental Planes",
        "not known",
    ]


def test_causes_are_counted_without_what_the_dead_was_doing():
    deaths = (
        "killed by a newt, while praying",
        "killed by a newt while fainted",
        "killed by a newt called X",
        "quit",
    )
    found = cells(causes_table([Games("mine", [row(death=death) for death in deaths])]))
    assert found == {"killed by a newt": ["3 (75%)"], "quit": ["1 (25%)"]}


def test_a_run_is_such_a_set_and_stands_beside_a_dataset(db, tmp_path, capsys):
    words = ["agent=random", "env.tasks=[nle/NetHackChallenge-v0]", "env.episodes=2", "limits.steps=30"]
    assert main([*words, f"run.folder={tmp_path}", "run.name=run", "run.csv=false", "run.ttyrec=true"]) == 0
    (mine,) = of_arms(load_arms([tmp_path / "run"]))
    told = games(tmp_path / "run/nld/ttyrecs.db", "run")
    fields = ("points", "turns", "maxlvl", "deathlev")
    assert [[line[field] for field in fields] for line in mine.rows] == [
        [line[field] for field in fields] for line in told
    ]
    beside = of_dataset(db, "bot", frames=True)
    assert all(section.tables for section in sections([mine, beside]))
    assert len(beside.lengths) == 6
    assert min(beside.lengths) > 10
    out = tmp_path / "report"
    words = ["report", str(tmp_path / "run"), "--beside", "bot", "--db", str(db), "--out", str(out)]
    assert balrog_rag([*words, "--formats", "html,md,png"]) == 0
    page = (out / "report.md").read_text()
    assert "Achievements and conducts" in page
    assert "(figures/box_plots_of_score.png)" in page
    capsys.readouterr()
    assert dataset("stats", "bot", Path(tmp_path / "run"), "--db", db, "--out", tmp_path / "stats") == 0
    assert "mean score" in capsys.readouterr().out
    assert "NLD-NAO (paper)" in (tmp_path / "stats/games.html").read_text()
    assert (tmp_path / "stats/figures/box_plots_by_role.png").is_file()
