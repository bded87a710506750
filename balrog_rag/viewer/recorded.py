"""Terminal recordings: screens, keys, times and scores, but no model input or output."""

from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from balrog_rag.contracts.data import Decision, Observation, Transition
from balrog_rag.contracts.errors import BalrogError
from balrog_rag.contracts.events import Ended, Started, Stepped
from balrog_rag.dataset.layouts import is_cut
from balrog_rag.dataset.recordings import (
    NO_KEY,
    Frame,
    frames_of,
    log_line,
    plain_name,
    recorded_kind,
    recordings_in,
    version_of,
)
from balrog_rag.viewer.collector import Collector
from balrog_rag.viewer.painted_games import PaintedMoment
from balrog_rag.viewer.published_episodes import UnknownProgress

HOLDS = {
    1: "screens and times: no key, no score, no prompt",
    2: "screens, keys and times: no score, no prompt",
    3: "screens, keys, times and scores: no prompt",
}
WITHOUT = "A recording of this version contains {}, no answer, no passages, no cost."
CUT = "truncated; showing the readable part"
OUTCOME = "end of the recording"
_UNREAD = Observation(())


class RecordedEpisode:
    """One recording in the form that the page reads."""

    def __init__(self, path: Path) -> None:
        """Prepare to read the recording."""
        self._path = path
        self._moments: deque[PaintedMoment] = deque()
        self.collector = Collector(recorded_kind(), UnknownProgress(), lambda: [self._moments.popleft()])
        self.done = False
        self.failure = ""

    def run(self, waits: Callable[[float], bool] | None = None) -> None:
        """Read the whole recording; it never grows."""
        try:
            self._read(frames_of(self._path))
            if is_cut(self._path):
                self.failure = f"{self._path}: {CUT}"
        except (BalrogError, OSError, RuntimeError) as error:
            self.failure = f"{self._path}: reading stopped ({error})"
        finally:
            self.done = True

    def _read(self, frames: Iterable[Frame]) -> None:
        """A key is the step from one frame to the next; the effect of the last key is not recorded."""
        see, key, steps = self.collector.see, "", -1
        for steps, frame in enumerate(frames):
            self._moments.append(PaintedMoment(frame.painting, frame.numbers))
            see(Stepped("", steps - 1, Decision(key), key, Transition(_UNREAD)) if steps else _begun())
            key = frame.key
        if steps < 0:
            self.failure = f"{self._path}: contains no frame"
            return
        how = "" if key == NO_KEY else f"{key} was pressed last; its effect is not recorded"
        see(Ended("", OUTCOME, steps, "; ".join(filter(None, [death_of(self._path), how]))))

    @property
    def settled(self) -> bool:
        """Whether all of it has been read."""
        return self.done

    def head(self) -> dict[str, Any]:
        """The document that a page reads first."""
        head = self.collector.head()
        head["curves"] = [curve for curve in head["curves"] if curve["name"] != "progression"]
        about = {"players": [], "versions": dict(log_line(self._path)), "without": without(self._path)}
        how_far = {"settled": self.done, "done": self.done, "failure": self.failure}
        return {"name": name_of(self._path), **about, **how_far, **head}


def _begun() -> Started:
    return Started("", _UNREAD)


def without(path: Path) -> str:
    """Describe what recordings of this version do not contain."""
    return WITHOUT.format(HOLDS[version_of(path) or 3])


def is_recording(path: Path) -> bool:
    """Whether a file is named like a recording; raises DatasetError if its version is unknown."""
    return version_of(path) is not None


def name_of(path: Path) -> str:
    """Return the file name without its extension."""
    return plain_name(path.name)


def death_of(path: Path) -> str:
    """How its game ended, from the log beside it; empty if there is none."""
    return str(log_line(path).get("death", ""))


def row(path: Path, name: str) -> dict[str, Any]:
    """The recording's row in the list."""
    return {
        "name": name,
        "kind": recorded_kind().title,
        "task": "recording",
        "state": "ended",
        "outcome": "recorded",
        "how": death_of(path),
    }


def recordings(folder: Path) -> list[tuple[str, Path]]:
    """Name and file of every recording in a folder, recursively."""
    return [(str(path.relative_to(folder)), path) for path in recordings_in(folder)]
