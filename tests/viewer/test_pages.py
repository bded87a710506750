"""A page contains exactly what a replay shows: every screen, prompt, answer, passage and action."""

import asyncio
import base64
import re
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from balrog_rag.contracts.events import Answered, Asked, Searched, Stepped
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.envs.nethack.screen_signals import key_name
from balrog_rag.episode import journal as journals
from balrog_rag.episode.journal import Lookup
from balrog_rag.results.asked_again import AskedAgain, Counterfactual, keep
from balrog_rag.results.run_folder import journals as journals_of
from balrog_rag.run.replay import replay
from balrog_rag.viewer import bundle
from balrog_rag.viewer.listing import listed
from balrog_rag.viewer.marks import Curves, Mark, Marker
from balrog_rag.viewer.packing import CHUNK, PackedScreen, changes, packed, unpacked
from tests.support import command, evaluate, numbers
from tests.viewer.support import HOSTILE, documents


class Watched:
    """Records the events."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def see(self, event: Any) -> None:
        self.events.append(event)


@pytest.fixture(scope="module")
def page(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("page") / "told.html"
    assert bundle.write(listed([runs / "told"]), out) == []
    return out


@pytest.fixture(scope="module")
def found(page: Path) -> dict[str, Any]:
    return documents(page)


@pytest.fixture(scope="module")
def watched(runs: Path) -> list[Any]:
    """The first episode's events, from a replay."""
    watcher = Watched()
    asyncio.run(replay(journals_of(runs / "told")[0], watcher))
    return watcher.events


def chunks(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [found[f"0/{place}"] for place in range(sum(name.startswith("0/") for name in found) - 1)]


def looks(found: dict[str, Any]) -> list[list[str]]:
    """Every screen as the page reconstructs it: the first of a chunk, and the changes."""
    made = []
    for chunk in chunks(found):
        rows: list[str] = []
        for change, *_ in chunk["screens"]:
            if isinstance(change, dict):
                rows = change["rows"]
            else:
                rows = list(rows)
                for row, start, dropped, text, *_ in change:
                    rows[row] = rows[row][:start] + text + rows[row][start + dropped :]
            made.append(rows)
    return made


def test_every_screen_is_the_games(found: dict[str, Any], watched: list[Any]) -> None:
    steps = [event for event in watched if isinstance(event, Stepped)]
    seen = looks(found)
    assert len(seen) == len(steps) + 1 > CHUNK  # several chunks
    for rows, step in zip(seen[1:], steps, strict=True):
        assert "\n".join(rows[1:]) + "\n" == step.after.observation.text("map")


def test_colours_and_cursor_are_the_terminals(found: dict[str, Any]) -> None:
    first, cursor, picture = found["0/0"]["screens"][0]
    assert picture is None
    assert {len(row) for row in first["colours"]} == {len(row) for row in first["rows"]} == {80}
    assert first["rows"][cursor[0]][cursor[1]] == "@"
    assert first["colours"][cursor[0]][cursor[1]] == "f"  # white, as a terminal shows the player
    assert set("".join(first["colours"])) > {"7"}


def test_every_prompt_answer_and_passage_is_the_one_of_the_replay(
    found: dict[str, Any], watched: list[Any]
) -> None:
    tables: dict[str, list[Any]] = {"messages": [], "passages": []}
    said = []
    for chunk in chunks(found):
        for name, table in tables.items():
            table += chunk[name]
        said += [each for step in chunk["steps"] for each in step.get("said", [])]
    calls = [each for each in said if "ask" in each]
    asked = [event for event in watched if isinstance(event, Asked)]
    for call, event in zip(calls, asked, strict=True):
        numbers, number = [], 0
        for by in call["ask"]:
            numbers.append(number := number + by)
        prompt = [tuple(tables["messages"][each][:2]) for each in numbers]
        assert prompt == [(message.role, message.text) for message in event.request.messages]
        assert call["for"] == event.request.purpose
    answers = [event.reply.text for event in watched if isinstance(event, Answered)]
    assert [call.get("text", "") for call in calls] == answers
    searches = [event for event in watched if isinstance(event, Searched)]
    for search, event in zip([each for each in said if "query" in each], searches, strict=True):
        texts = [tables["passages"][number][2] for number, _ in search["found"]]
        assert (search["query"], texts) == (event.query, [passage.text for passage in event.passages])


def test_the_head_says_where_each_text_is(found: dict[str, Any]) -> None:
    for name, firsts in found["0/head"]["firsts"].items():
        sizes = [len(chunk[name]) for chunk in chunks(found)]
        assert firsts == [sum(sizes[:place]) for place in range(len(sizes))]


def test_actions_marks_and_costs(found: dict[str, Any], watched: list[Any]) -> None:
    head = found["0/head"]
    steps = [event for event in watched if isinstance(event, Stepped)]
    names = head["actions"]["names"]
    assert [names[place] for place in head["actions"]["of"]] == [step.taken for step in steps]
    invalid = [mark[0] for mark in head["marks"] if mark[1] == "invalid"]
    assert invalid == [step.step for step in steps if step.taken != step.decision.action] != []
    assert head["marks"][-1][0] == len(steps)
    assert sum(head["spent"]["input"]) == sum(
        event.reply.usage.input for event in watched if isinstance(event, Answered)
    )
    assert {len(curve["values"]) for curve in head["curves"]} == {len(steps) + 1}


def test_health_is_drawn_on_a_fixed_scale() -> None:
    """15 of 18 hit points are not drawn like death; a game's own numbers have no scale but their own."""
    curves = Curves(kind_of("nle"))
    for hit_points in (18, 15):
        curves.see({"hp": hit_points, "max_hp": 18, "depth": 1, "turn": hit_points}, 0.0)
    found = {curve["name"]: curve for curve in curves.document()}
    assert found["health"]["values"] == [100, 83]
    assert found["health"]["range"] == [0, 100]
    assert [name for name, curve in found.items() if "range" in curve] == ["progression", "health"]


def test_a_page_may_run_its_own_script_and_nothing_else(page: Path) -> None:
    text = page.read_text("ascii", "surrogateescape")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    for tag, name in (("<script>", "script"), ("<style>", "style")):
        (body,) = re.findall(f"{tag}(.*?)</{name}>", page.read_text("utf-8"), re.DOTALL)
        digest = base64.b64encode(sha256(body.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert "connect-src 'none'" in policy
    assert "default-src 'none'" in policy
    assert HOSTILE not in text
    assert not re.search(r"""(?:src|href)=["']?https?:|type=["']module|\bimport\(|\bfetch\("http""", text)


def test_broken_texts_survive_packing() -> None:
    texts = ["\ud800 alone", "</script>", "\x00\x1b[31m", "x" * 1_000_000, "\u202e"]
    data = packed({"texts": texts})
    assert unpacked(data) == {"texts": texts}
    assert len(data) < 10_000
    assert unpacked(packed({"a": [float("nan"), 1.5, (float("inf"),)]})) == {"a": [None, 1.5, [None]]}


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (["abc", "def"], ["abc", "dxf"]),
        (["aaaa"], ["aaa"]),
        (["aaa"], ["aaaa"]),
        (["", "b"], ["b", ""]),
        (["one"], ["one", "two"]),
    ],
)
def test_a_screen_is_made_of_the_one_before(before: list[str], now: list[str]) -> None:
    made = changes(PackedScreen(before), PackedScreen(now))
    if made and made[0][0] == -1:
        assert made[0][3] == now
        return
    rows = list(before)
    for row, start, dropped, text in made:
        rows[row] = rows[row][:start] + text + rows[row][start + dropped :]
    assert rows == now


def test_presses_of_a_program_are_moments_of_their_own(runs: Path, tmp_path: Path) -> None:
    bundle.write(listed([runs / "plain"]), tmp_path / "plain.html")
    found = documents(tmp_path / "plain.html")
    recording = journals.read(journals_of(runs / "plain")[0])
    assert len(recording.steps) < recording.count == found["0/head"]["steps"] == 20
    assert len(looks(found)) == 21
    assert [step["do"] for step in found["0/0"]["steps"]] == [
        str(press) for step in recording.steps for press in step.pressed
    ]


def test_a_damaged_journal_is_told_of_and_a_cut_one_shown_as_far_as_it_goes(
    runs: Path, tmp_path: Path
) -> None:
    path = journals_of(runs / "told")[0]
    cut = tmp_path / "cut.journal.jsonl"
    cut.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:40]))
    done = command("balrog_rag", "view", str(cut), "--out", "cut.html", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    head = documents(tmp_path / "cut.html")["0/head"]
    assert 5 < head["steps"] < 40
    assert (head["outcome"], head["done"]) == ("", True)
    bad = tmp_path / "bad.journal.jsonl"
    bad.write_bytes(path.read_bytes().replace(b'"north"', b'"soutx"'))
    done = command("balrog_rag", "view", str(bad), "--out", "bad.html", cwd=tmp_path)
    assert done.returncode != 0
    assert "was changed" in done.stderr
    assert not (tmp_path / "bad.html").exists()


def test_where_retrieval_changed_the_action_is_listed_with_what_was_found(runs: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(runs / "told", tmp_path / "told"))
    journal = journals.read(journals_of(run)[0])
    searched = next(entry for entry in journal.entries if isinstance(entry, Lookup) and entry.passages)
    name, step = journal.header.spec.episode, searched.step
    keep(
        run,
        Counterfactual(
            (AskedAgain(name, step, "north", "east", "north"), AskedAgain(name, 0, "x", "x", "x"))
        ),
    )
    bundle.write(listed([run]), tmp_path / "page.html")
    (told,) = documents(tmp_path / "page.html")["run"]["retrieval"]
    changed, same = told["asked"]
    assert (changed["key"], changed["step"], changed["without"]) == (name, step, "east")
    assert [passage[0] for passage in changed["passages"]] == [each.title for each in searched.passages]
    assert same["passages"] == []  # nothing to blame
    assert told["sentence"].startswith("without reference text the action differs at 1 of 2 steps")


def test_a_programs_presses_are_called_by_their_keys(tmp_path: Path) -> None:
    """As they can be typed, not by the codes that the journal holds; a prayer among them is a mark."""
    words = ("agent=delver", "limits.steps=40", "env.episodes=1", f"run.folder={tmp_path}", "run.name=bot")
    done = evaluate(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (path,) = journals_of(tmp_path / "bot")
    steps = [entry for entry in journals.entries_of(path) if isinstance(entry, journals.Step)]
    pressed = [press for step in steps for press in step.pressed]
    assert len(pressed) == 40
    assert any(isinstance(press, int) for press in pressed)
    bundle.write(listed([path]), tmp_path / "bot.html")
    actions = documents(tmp_path / "bot.html")["0/head"]["actions"]
    shown = [actions["names"][each] for each in actions["of"]]
    assert shown == [key_name(press) if isinstance(press, int) else press for press in pressed]
    prayer = Mark(7, "deed", "M-p, the key for prayer")
    kind = kind_of("nle")
    assert list(Marker(kind).press(7, kind.hints.signals.press(0x80 | ord("p")))) == [prayer]
    assert list(Marker(kind).press(7, kind.hints.signals.press(ord("p")))) == []


def test_what_is_only_counted_is_not_marked_as_a_new_height() -> None:
    """Score and turns rise at almost every step; depth is a height."""
    marker = Marker(kind_of("nle"))
    before = numbers(depth=1, experience_level=1, hp=12, max_hp=12, turn=1, score=0)
    after = numbers(depth=2, experience_level=1, hp=12, max_hp=12, turn=50, score=500)
    assert list(marker.moment(0, before, None, 0.0)) == []
    marks = [mark.words for mark in marker.moment(1, after, None, 0.0) if mark.kind == "height"]
    assert marks == ["deepest dungeon level: 2"]


@pytest.mark.parametrize(
    ("hp", "marked"),
    [(10, False), (5, True), (8, False)],  # of 12, from 11: a small loss counts only in danger
)
def test_a_small_loss_of_health_is_marked_only_in_danger(hp: int, marked: bool) -> None:
    marker = Marker(kind_of("nle"))
    lost_from = 6 if hp == 5 else 11
    list(marker.moment(0, numbers(depth=1, hp=lost_from, max_hp=18, turn=1), None, 0.0))
    marks = marker.moment(1, numbers(depth=1, hp=hp, max_hp=18, turn=2), None, 0.0)
    assert any(mark.kind == "hurt" for mark in marks) is marked


@pytest.mark.slow
def test_tiles_are_added_only_where_they_are_asked_for(
    runs: Path, found: dict[str, Any], tmp_path: Path
) -> None:
    assert {picture for _, _, picture in found["0/0"]["screens"]} == {None}
    bundle.write(listed([runs / "told"])[:1], tmp_path / "tiles.html", tiles=True)
    with_tiles = documents(tmp_path / "tiles.html")["0/0"]
    plain = [[change, cursor] for change, cursor, _ in found["0/0"]["screens"]]
    assert [[change, cursor] for change, cursor, _ in with_tiles["screens"]] == plain
    numbers = {picture for _, _, picture in with_tiles["screens"]}
    assert numbers == set(range(len(with_tiles["pictures"])))
    assert len(numbers) > 1
    assert all(base64.b64decode(each).startswith(b"\x89PNG") for each in with_tiles["pictures"])
