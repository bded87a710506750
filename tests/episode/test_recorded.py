"""Journals recorded by an earlier version: every agent, wrapper and kind of play must still do the same.

They were played with the scripted model. A change that means to alter a prompt or a screen records them anew.
"""

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from balrog_rag.contracts.kinds import kind_of, settled
from balrog_rag.episode import journal
from balrog_rag.run.replay import verify

RECORDED = sorted((Path(__file__).parents[1] / "data" / "recorded").glob("*.jsonl.gz"))
DEMONSTRATION = Path(__file__).parents[1] / "data" / "recorded" / "demonstration.json"

OPTIONS = ("character", "actions", "layout", "skip_more", "no_progress", "autopickup")
"""Fields of a game's spec that have become options of its kind."""


def as_written_now(lines: list[bytes], tmp_path: Path) -> bytes:
    """The journal as today's version would have written it: its header says the same in today's fields."""
    header: dict[str, Any] = json.loads(lines[0])
    game = header["spec"]["game"]
    old = {name: game.pop(name) for name in OPTIONS}
    given = {name: value for name, value in {**old, **game["options"]}.items() if value is not None}
    game["options"] = settled(kind_of(game["env"]), given, [])
    if header["spec"]["cast"]["agent"]["demonstrations"]:
        header["spec"]["cast"]["agent"]["demonstrations"] = [str(DEMONSTRATION)]
    read = journal.decode(json.dumps(header).encode())
    assert isinstance(read, journal.Header)
    header["spec_digest"] = read.spec.digest
    return b"\n".join([json.dumps(header).encode(), *map(with_todays_names, lines[1:]), b""])


def with_todays_names(line: bytes) -> bytes:
    """An entry with the names that have changed since."""
    entry = json.loads(line)
    if "stats" in entry:
        entry["numbers"] = entry.pop("stats")
    return json.dumps(entry).encode()


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.partition(".")[0])
def test_a_recorded_journal_replays_equal(path: Path, tmp_path: Path) -> None:
    lines = gzip.decompress(path.read_bytes()).splitlines()
    file = tmp_path / "00.journal.jsonl"
    file.write_bytes(as_written_now(lines, tmp_path))
    verdict = asyncio.run(verify(file))
    assert (verdict.steps, verdict.complete) == (json.loads(lines[-1])["steps"], True)
