"""Did retrieval change the action? A sample of steps is asked again without it, and again with it.

The second answer is the control: a model that samples its answers changes its action by chance anyway.
"""

import random
from collections.abc import Sequence
from pathlib import Path

import msgspec

from balrog_rag.contracts.data import Reply
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.episode import journal
from balrog_rag.results import run_folder
from balrog_rag.results.episodes import IN_THE_PROMPT
from balrog_rag.results.runs import LoadedRun
from balrog_rag.results.statistics.interval import mean_interval
from balrog_rag.results.statistics.units import Bounds, Score
from balrog_rag.util.bounded_decoding import decoded_json
from balrog_rag.util.described_types import described_at_import
from balrog_rag.util.files import read_file

FILE = "counterfactual.json"


class StepCost(msgspec.Struct, frozen=True):
    """Cost of a step's calls; `dollars` only if every price is known."""

    tokens: int = 0
    dollars: float | None = 0.0
    seconds: float = 0.0

    def plus(self, reply: Reply) -> "StepCost":
        """Add the cost of one more answer."""
        return StepCost(
            self.tokens + reply.usage.input + reply.usage.output,
            None if self.dollars is None or reply.cost is None else self.dollars + reply.cost,
            self.seconds + reply.latency,
        )

    def less(self, other: "StepCost") -> "StepCost":
        """The difference between two costs."""
        unpriced = self.dollars is None or other.dollars is None
        dollars = None if unpriced else (self.dollars or 0.0) - (other.dollars or 0.0)
        return StepCost(self.tokens - other.tokens, dollars, self.seconds - other.seconds)


class AskedAgain(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step: the recorded action, and those when asked without and again with reference text."""

    episode: str
    step: int
    action: str
    without: str
    again: str
    more: StepCost | None = None
    """Additional cost of asking with reference text over asking without; None in older records."""

    @property
    def line(self) -> str:
        """The step in one line."""
        return (
            f"{self.episode} step {self.step}: {self.action}; without reference text {self.without}, "
            f"asked again {self.again}"
        )

    @property
    def differs(self) -> bool:
        """Whether at least one of the two answers differs from the recorded one."""
        return self.without != self.action or self.again != self.action


@described_at_import
class Counterfactual(msgspec.Struct, frozen=True):
    """counterfactual.json."""

    asked: tuple[AskedAgain, ...]

    @property
    def sentence(self) -> str:
        """The result of the sample in words."""
        changed = [one.without != one.action for one in self.asked]
        noise = [one.again != one.action for one in self.asked]
        return (
            f"without reference text the action differs at {_share(changed)}; "
            f"asked again with it, it differs at {_share(noise)}."
        )


def _share(hits: Sequence[bool]) -> str:
    found = mean_interval([Score(100.0 * hit) for hit in hits], Bounds(binary=True))
    percent = 100 * sum(hits) / len(hits)
    return f"{sum(hits)} of {len(hits)} steps ({percent:.0f} %, {found.low:.0f} to {found.high:.0f})"


def sample(run: LoadedRun, count: int, seed: int) -> list[tuple[Path, int]]:
    """Draw steps whose prompt contained reference text at random from all episodes: journal and step."""
    places = [
        (path, step.n)
        for episode in run.episodes
        for path in [run.journal(episode.name)]
        for step in journal.read(path).steps
        if step.notes.get("lookup") in IN_THE_PROMPT
    ]
    if not places:
        raise ConfigError(
            f"{run.folder}: no prompt contained reference text; use a run with agent.retrieval.enabled=true"
        )
    return sorted(random.Random(seed).sample(places, min(count, len(places))))


def keep(run: Path, made: Counterfactual) -> None:
    """Store the result for reports."""
    run_folder.write_json(run / FILE, made)


def kept(run: Path) -> Counterfactual | None:
    """Load an earlier result; None if there is none, or none that can be used."""
    try:
        found = decoded_json(read_file(run / FILE), Counterfactual)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return found if found.asked else None
