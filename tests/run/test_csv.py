"""BALROG's CSV of an episode: columns as in BALROG, texts harmless in spreadsheets."""

import asyncio
import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from balrog_rag.run.csv_log import COLUMNS, ESCAPE, CsvLog, cell
from balrog_rag.run.episode_runner import EpisodePlayer
from balrog_rag.util.spreadsheet import harmless
from tests.conftest import Specs

CLIPBOARD = "\x1b]52;c;cm0gLXJmIH4=\x07"
ANSWERS = [f"search{CLIPBOARD}", '=HYPERLINK("http://x.example";"open")', "+1", "-1", "@SUM(A1)", "search"]


def test_a_models_answer_does_nothing_where_the_file_is_opened(
    tmp_path: Path, specs: Specs, player: Callable[..., EpisodePlayer]
) -> None:
    answers = ",".join("'" + answer.replace("'", "\\'") + "'" for answer in ANSWERS)
    (spec,) = specs(
        "agent=naive", f"model.options.answers=[{answers}]", "model.options.order=sequence", steps=6
    )
    run = tmp_path / "run"
    with CsvLog(run) as log:
        asyncio.run(player(watcher=log, run=run)(spec))
    (path,) = run.rglob("*.csv")
    assert path.read_text().splitlines()[0] == ",".join(COLUMNS)
    rows = list(csv.DictReader(path.open(newline=""), escapechar="˘"))
    assert [row["Step"] for row in rows] == list("012345")
    assert [row["Action"][:10] for row in rows] == [
        *("search·]52", "'=HYPERLIN", "'+1", "'-1", "'@SUM(A1)", "search")
    ]
    assert not any(ord(sign) < 32 and sign != "\n" for row in rows for text in row.values() for sign in text)


@pytest.mark.parametrize("text", ["=1", " =1", "\n\t=1", "＝1", "\u3000＋1", "－1", "＠x", "\t1", "\r1"])
def test_a_formula_is_quoted_behind_blanks_and_in_full_width_signs(text: str) -> None:
    assert harmless(text).startswith("'")


def test_what_is_harmless_stays_as_it_is() -> None:
    for text in ("search", "message:\nYou see = here.\n", "", "1 - 2"):
        assert harmless(text) == text


@given(st.text() | st.text(f'a ,"\r\n{ESCAPE}'))
def test_cells_are_written_as_by_pythons_own_writer(text: str) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, escapechar=ESCAPE, quoting=csv.QUOTE_MINIMAL).writerow((0, text))
    assert f"0,{cell(text)}\r\n" == written.getvalue()
