"""Journals recorded by an earlier version: every agent, wrapper and kind of play must still do the same.

They were played with the scripted model. A change that means to alter a prompt or a screen records them anew.
"""

import asyncio
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import plain
from balrog_rag.config.schema import Config
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.option_schema import resolved_options
from balrog_rag.episode import journal
from balrog_rag.episode.effects import JournalCursor
from balrog_rag.episode.journal_writer import Writer
from balrog_rag.episode.play import EpisodeContext, play
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.run.replay import ReplayServices, Unmetered, verify
from balrog_rag.run.watchers import NullWatcher
from balrog_rag.workers.inline import InlineGames

RECORDED = sorted((Path(__file__).parents[1] / "data" / "recorded").glob("*.jsonl.gz"))
DEMONSTRATION = Path(__file__).parents[1] / "data" / "recorded" / "demonstration.json"
THEN = {path.stem: path.read_text() for path in (DEMONSTRATION.parent / "prompts").glob("*.j2")}
"""Prompts of that version whose wording has changed since."""

OPTIONS = ("character", "actions", "layout", "skip_more", "no_progress", "autopickup")
"""Fields of a game's spec that have become options of its kind."""


def completed(old: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Settings of that version, completed with the defaults of newer keys."""
    found = {**now, **old}
    for name, value in old.items():
        if isinstance(value, dict) and isinstance(now.get(name), dict) and now[name]:
            found[name] = completed(value, now[name])
    return found


def as_written_now(lines: list[bytes], tmp_path: Path) -> bytes:
    """The journal as the current version would have written it: the same header in today's fields."""
    header: dict[str, Any] = json.loads(lines[0])
    game = header["spec"]["game"]
    old = {name: game.pop(name) for name in OPTIONS}
    given = {name: value for name, value in {**old, **game["options"]}.items() if value is not None}
    game["options"] = resolved_options(kind_of(game["env"]), given, [])
    game["programs"] = []
    for part in (header["spec"], *header["spec"]["forks"]):
        part["player"] = player = part.pop("cast")
        if player["agent"]["demonstrations"]:
            player["agent"]["demonstrations"] = [str(DEMONSTRATION)]
        player["agent"]["prompts"] = {**THEN, **player["agent"].get("prompts", {})}
        agent = player["agent"]["name"]
        for section in ("agent", "model", "knowledge"):
            player[section] = completed(player[section], plain(getattr(defaults(agent), section)))
    read = journal.decode(json.dumps(header).encode())
    assert isinstance(read, journal.Header)
    header["spec_digest"] = read.spec.digest
    return b"\n".join([json.dumps(header).encode(), *map(with_todays_names, lines[1:]), b""])


def with_todays_names(line: bytes) -> bytes:
    """An entry with today's names."""
    entry = json.loads(line)
    if "stats" in entry:
        entry["numbers"] = entry.pop("stats")
    return json.dumps(entry).encode()


@cache
def defaults(agent: str) -> Config:
    """The current default configuration of an agent."""
    return compose([f"agent={agent}", "model=scripted"])


PROGRAMS = ("nle_random", "mh_random", "nle_dummy")
"""Recorded with one press per line, when these players were policies; programs now journal bursts."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_presses_what_it_pressed_before(name: str, tmp_path: Path) -> None:
    (path,) = (path for path in RECORDED if path.name.startswith(f"{name}."))
    lines = gzip.decompress(path.read_bytes()).splitlines()
    header = journal.decode(as_written_now(lines, tmp_path).splitlines()[0])
    assert isinstance(header, journal.Header)
    fresh = asyncio.run(played(header.spec, tmp_path / "fresh.jsonl"))
    old = [json.loads(line) for line in lines if b'"t":"step"' in line]
    assert [press for step in fresh.steps for press in step.pressed] == [step["taken"] for step in old]
    for step in fresh.steps:
        last = old[step.n + step.count - 1]
        assert (step.obs, step.n + step.count - 1) == (last["obs"], last["n"])
    assert fresh.end is not None
    assert (fresh.end.outcome, fresh.end.steps) == (json.loads(lines[-1])["outcome"], len(old))


async def played(spec: EpisodeSpec, path: Path) -> journal.Recording:
    """The episode played again."""
    game = await InlineGames().open(spec.game)
    with Writer(path) as writer:
        writer.append(journal.Header(journal.VERSION, spec, spec.digest, "", {}))
        cursor = JournalCursor(journal.Recording(None), writer)
        await play(EpisodeContext(spec, game, cursor, ReplayServices(), Unmetered(), NullWatcher()))
    await game.close()
    return journal.read(path)


@pytest.mark.parametrize(
    "path",
    [path for path in RECORDED if not path.name.startswith(PROGRAMS)],
    ids=lambda path: path.name.partition(".")[0],
)
def test_a_recorded_journal_replays_equal(path: Path, tmp_path: Path) -> None:
    lines = gzip.decompress(path.read_bytes()).splitlines()
    file = tmp_path / "00.journal.jsonl"
    file.write_bytes(as_written_now(lines, tmp_path))
    verdict = asyncio.run(verify(file))
    assert (verdict.steps, verdict.complete) == (json.loads(lines[-1])["steps"], True)
