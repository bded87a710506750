"""Episodes of BALROG's leaderboard: a CSV of answers and observations, and a JSON record of totals.

They contain neither prompts, nor the costs of single calls, nor the first screen; the page says so.
"""

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from balrog_rag.contracts.data import Decision, Observation, Part, Transition
from balrog_rag.contracts.errors import RunFolderError
from balrog_rag.contracts.events import Ended, Started, Stepped
from balrog_rag.contracts.kinds import EnvironmentKind, Numbers, kind_of
from balrog_rag.contracts.outcome import Outcome
from balrog_rag.contracts.registry import environments
from balrog_rag.results.environment_titles import environment_title
from balrog_rag.util.bounded_decoding import decoded_json
from balrog_rag.util.files import LARGE, read_file
from balrog_rag.viewer.collector import Collector
from balrog_rag.viewer.painted_games import PaintedMoment

FIELDS = ("Step", "Action", "Reasoning", "Observation", "Reward", "Done")
ESCAPE = "˘"
UNSEEN = "(The record starts with the observation after the first action.)"
WITHOUT = "BALROG's record does not contain prompts; tokens are totals of the whole episode."
FIRST_ROWS = 50
"""Rows that are searched for numbers; without any, the episode has no curves."""
LARGEST = 1 << 24
"""Maximum characters of one observation."""


class UnknownProgress:
    """Progression that is known only at the end of the record."""

    value = 0.0
    reached = ""

    def milestones(self) -> dict[str, list[str]]:
        """None."""
        return {}

    def see(self, numbers: Numbers, reward: float, ended: str) -> None:
        """Ignore the step: progression cannot be derived from text."""


def plain_kind(name: str) -> EnvironmentKind:
    """A kind with the name of ours for episodes of which only the text is known."""
    return EnvironmentKind(
        name=name,
        title=environment_title(name),
        tasks=tuple,
        make=lambda spec, ttyrec: None,
        progress=lambda game: UnknownProgress(),
    )


def text_kind(name: str, numbers: Numbers) -> EnvironmentKind:
    """The kind of episodes whose texts contain these numbers, with its signals and measures."""
    plain = plain_kind(name)
    if not numbers:
        return plain
    known = kind_of(name)
    measures = tuple(each for each in known.scoring.measures if each.number in numbers)
    return replace(
        plain,
        scoring=replace(plain.scoring, measures=measures),
        hints=replace(plain.hints, signals=known.hints.signals),
        display=replace(known.display, blank=lambda seen: not seen),
    )


def numbers_of(env: str, text: str) -> Numbers:
    """The numbers that an observation's text contains, if the kind can read them."""
    read = kind_of(env).retrospect.read_logged if env in environments.names() else None
    seen = None if read is None else read(text)
    return {} if seen is None else seen.numbers


class PublishedEpisode:
    """One such episode in the form that the page reads."""

    def __init__(self, path: Path, env: str) -> None:
        """Read the record beside the CSV."""
        self._path, self._env = path, env
        self.record = record_of(path)
        # The first screen is not recorded: its curves begin with the first numbers that are.
        self._numbers = self._first_numbers()
        self.collector = Collector(
            text_kind(env, self._numbers), UnknownProgress(), lambda: [PaintedMoment(None, self._numbers)]
        )
        self.done = False
        self.failure = ""

    def _first_numbers(self) -> Numbers:
        """Numbers of the first text that has any."""
        try:
            texts = (row["Observation"] for row in islice(rows(self._path), FIRST_ROWS))
            return next(filter(None, (numbers_of(self._env, text) for text in texts)), {})
        except (OSError, csv.Error, KeyError):
            return {}  # `run` says why

    def run(self, waits: Callable[[float], bool] | None = None) -> None:
        """Read the whole CSV; it never grows."""
        collector = self.collector
        collector.see(Started("", observed(UNSEEN)))
        steps = 0
        try:
            for row in rows(self._path):
                self._numbers = numbers_of(self._env, row["Observation"])
                collector.see(
                    Stepped(
                        "", steps, Decision(row["Action"], reasoning=row["Reasoning"]), row["Action"],
                        Transition(observed(row["Observation"]), reward=number(row["Reward"])),
                    )
                )  # fmt: skip
                steps += 1
            collector.see(Ended("", published_outcome(self.record, self._env), steps, how_of(self.record)))
        except (OSError, csv.Error, KeyError) as error:
            self.failure = f"{self._path}: reading stopped ({error})"
        self.done = True

    @property
    def settled(self) -> bool:
        """Whether all of it has been read."""
        return self.done

    def head(self) -> dict[str, Any]:
        """The document that a page reads first."""
        settings = {name: self.record.get(name) for name in ("agent", "client")}
        players = [{"from": 0, "agent": settings["agent"], "model": settings["client"], "knowledge": None}]
        head = self.collector.head()
        head["curves"] = [curve for curve in head["curves"] if curve["name"] != "progression"]
        about = {"seeds": [self.record.get("seed")], "settled": self.done, "done": self.done}
        about |= {"failure": self.failure}
        return {"name": self._path.stem, "players": players, "without": WITHOUT, **about, **head}


def observed(text: str) -> Observation:
    """Convert a text to an observation."""
    return Observation((Part("observation", text, heading=False),))


def rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file of BALROG."""
    csv.field_size_limit(LARGEST)
    text = read_file(path, LARGE).decode("utf-8", "replace").replace("\0", "")
    for row in csv.DictReader(io.StringIO(text, newline=""), escapechar=ESCAPE):
        yield {name: row[name] or "" for name in FIELDS}


def record_of(path: Path) -> dict[str, Any]:
    """Read the record beside a CSV; empty if there is none."""
    beside = path.with_suffix(".json")
    if not beside.exists():
        return {}
    try:
        return decoded_json(read_file(beside), dict[str, Any])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{beside}: not an episode record ({error})") from error


def number(text: str) -> float:
    """Parse a reward."""
    try:
        return float(text)
    except ValueError:
        return 0.0


DEATH = "DEATH: "
"""What BALROG's description of a death begins with."""


def published_outcome(record: dict[str, Any], env: str) -> str:
    """The outcome, as far as a record tells: a death, a solved task, or only that it ended."""
    if not record.get("done"):
        return "not ended"
    if str(record.get("end_reason")).startswith(DEATH):
        return str(Outcome.DIED)
    binary = env in environments.names() and kind_of(env).scoring.solved_or_not
    if record.get("progression") == 1:
        return str(Outcome.SOLVED)
    return "not solved" if binary and record.get("progression") == 0 else "ended"


def how_of(record: dict[str, Any]) -> str:
    """The description of its end, if there is one; a bare number describes nothing."""
    reason = record.get("end_reason")
    return reason.removeprefix(DEATH) if isinstance(reason, str) else ""


def row(record: dict[str, Any], name: str, env: str) -> dict[str, Any]:
    """The episode's row in the list."""
    agent, client = _part(record, "agent"), _part(record, "client")
    progression, failed = record.get("progression"), record.get("failed_candidates")
    sums = [record.get(name) for name in ("input_tokens", "output_tokens")]
    tokens = [each for each in sums if isinstance(each, int)]
    found = {
        "name": name,
        "kind": plain_kind(env).title,
        "task": str(record.get("task", "")),
        "state": "ended",
        "outcome": published_outcome(record, env),
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
    """Name, environment and file of every episode in a submission folder."""
    found = [(each.relative_to(path), each) for each in sorted(path.glob("*/**/*_run_*.csv"))]
    return [(str(inside.with_suffix("")), inside.parts[0], each) for inside, each in found]
