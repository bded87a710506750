"""Episodes as BALROG's board holds them: a CSV of answers and observations, and a record of sums.

There are no prompts in them, no costs of single calls, and no first screen; a page says so.
"""

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.data import Decision, Observation, Part, Transition
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.contracts.events import Ended, Started, Stepped
from balrog_rag.contracts.kinds import EnvironmentKind, Numbers, kind_of
from balrog_rag.contracts.registry import environments
from balrog_rag.util.files import LARGE, read_file
from balrog_rag.viewer.collector import Collector
from balrog_rag.viewer.painted_games import PaintedMoment

FIELDS = ("Step", "Action", "Reasoning", "Observation", "Reward", "Done")
ESCAPE = "˘"
UNSEEN = "(The record begins with the observation behind the first action.)"
WITHOUT = "BALROG's record holds no prompts, and tokens only as sums of the whole episode."
LARGEST = 1 << 24
"""Characters of one observation."""


class UnknownProgress:
    """Progression that a record tells of at its end only."""

    value = 0.0
    reached = ""

    def milestones(self) -> dict[str, list[str]]:
        """None."""
        return {}

    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        """Nothing follows from a text."""


def plain_kind(name: str) -> EnvironmentKind:
    """A kind that is called as ours, but of whose moments only the text is known."""
    title = kind_of(name).title if name in environments.names() else name
    return EnvironmentKind(
        name=name,
        title=title,
        tasks=tuple,
        make=lambda spec, ttyrec: None,
        progress=lambda game: UnknownProgress(),
    )


class PublishedEpisode:
    """One such episode, as a page reads it."""

    def __init__(self, path: Path, env: str) -> None:
        """Read the record beside the CSV."""
        self._path = path
        self.record = record_of(path)
        self.collector = Collector(plain_kind(env), UnknownProgress(), lambda: [PaintedMoment(None, {})])
        self.done = False
        self.failure = ""

    def run(self, waits: Callable[[float], bool] | None = None) -> None:
        """Read the CSV; nothing more will ever come."""
        collector = self.collector
        collector.see(Started("", observed(UNSEEN)))
        steps = 0
        try:
            for row in rows(self._path):
                collector.see(
                    Stepped(
                        "", steps, Decision(row["Action"], reasoning=row["Reasoning"]), row["Action"],
                        Transition(observed(row["Observation"]), reward=number(row["Reward"])),
                    )
                )  # fmt: skip
                steps += 1
            collector.see(Ended("", outcome_of(self.record), steps, how_of(self.record)))
        except (OSError, csv.Error, KeyError) as error:
            self.failure = f"{self._path}: cannot be read on ({error})"
        self.done = True

    @property
    def settled(self) -> bool:
        """Whether all of it is read."""
        return self.done

    def head(self) -> dict[str, Any]:
        """What a page reads first."""
        settings = {name: self.record.get(name) for name in ("agent", "client")}
        players = [{"from": 0, "agent": settings["agent"], "model": settings["client"], "knowledge": None}]
        head = self.collector.head()
        head["curves"] = [curve for curve in head["curves"] if curve["name"] != "progression"]
        about = {"seeds": [self.record.get("seed")], "settled": self.done, "done": self.done}
        about |= {"failure": self.failure}
        return {"name": self._path.stem, "players": players, "without": WITHOUT, **about, **head}


def observed(text: str) -> Observation:
    """A text as an observation."""
    return Observation((Part("observation", text, heading=False),))


def rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a CSV as BALROG writes it."""
    csv.field_size_limit(LARGEST)
    text = read_file(path, LARGE).decode("utf-8", "replace").replace("\0", "")
    for row in csv.DictReader(io.StringIO(text, newline=""), escapechar=ESCAPE):
        yield {name: row[name] or "" for name in FIELDS}


def record_of(path: Path) -> dict[str, Any]:
    """The record beside a CSV; empty where there is none."""
    beside = path.with_suffix(".json")
    if not beside.exists():
        return {}
    try:
        return msgspec.json.decode(read_file(beside), type=dict[str, Any])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{beside}: is no record of an episode ({error})") from error


def number(text: str) -> float:
    """A reward."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def outcome_of(record: dict[str, Any]) -> str:
    """All that a record says of it in one word."""
    return "ended" if record.get("done") else "not ended"


def how_of(record: dict[str, Any]) -> str:
    """The words of its end, where it has some."""
    return str(record.get("end_reason") or "")


def row(record: dict[str, Any], name: str, env: str) -> dict[str, Any]:
    """Its line in the list."""
    agent, client = _part(record, "agent"), _part(record, "client")
    progression, failed = record.get("progression"), record.get("failed_candidates")
    sums = [record.get(name) for name in ("input_tokens", "output_tokens")]
    tokens = [each for each in sums if isinstance(each, int)]
    found = {
        "name": name,
        "kind": plain_kind(env).title,
        "task": str(record.get("task", "")),
        "state": "ended",
        "outcome": outcome_of(record),
        "how": how_of(record),
        "progression": 100 * progression if isinstance(progression, int | float) else None,
        "steps": record.get("num_steps"),
        "tokens": sum(tokens) if tokens == sums else None,
        "invalid": len(failed) if isinstance(failed, list) else None,
        "agent": agent.get("type"),
        "model": client.get("model_id"),
    }
    return {name: value for name, value in found.items() if value is not None}


def _part(record: dict[str, Any], name: str) -> dict[str, Any]:
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def csvs(path: Path) -> list[tuple[str, str, Path]]:
    """Name, environment and file of every episode in a submission's folder."""
    found = [(each.relative_to(path), each) for each in sorted(path.glob("*/**/*_run_*.csv"))]
    return [(str(inside.with_suffix("")), inside.parts[0], each) for inside, each in found]
