"""The learning curve: loss and accuracy by frames, as a table and a figure beside the weights."""

import csv
from pathlib import Path
from statistics import fmean

from balrog_rag.dataset.learn.checkpoint import About

TABLE, FIGURE = "curve.csv", "curve.png"
HEADINGS = ("step", "frames", "loss", "accuracy")
RECENT = 50
"""Number of newest steps over which displayed figures are averaged."""


class Curve:
    """The rows of all steps so far."""

    def __init__(self, folder: Path, steps: int) -> None:
        """Rows after `steps` are dropped: they belong to an attempt that was not saved."""
        self.rows: list[tuple[float, ...]] = []
        if (folder / TABLE).exists():
            found = csv.reader((folder / TABLE).read_text().splitlines()[1:])
            self.rows = [row for line in found if (row := tuple(map(float, line)))[0] <= steps]

    def add(self, about: About, loss: float, right: float) -> None:
        """Add a step's row."""
        self.rows.append((about.steps, about.frames, round(loss, 4), round(right, 4)))

    def write(self, folder: Path) -> None:
        """Write the table of all rows so far."""
        lines = [HEADINGS, *((int(step), int(frames), *rest) for step, frames, *rest in self.rows)]
        (folder / TABLE).write_text("".join(",".join(map(str, line)) + "\n" for line in lines))

    def draw(self, folder: Path) -> None:
        """Draw the figure with moving averages."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 3), layout="constrained")
        for axes, place in zip(figure.subplots(1, 2), (2, 3), strict=True):
            means = [self._recent(end, place) for end in range(1, len(self.rows) + 1)]
            axes.plot([row[1] for row in self.rows], means)
            axes.set(xlabel="frames", ylabel=HEADINGS[place])
        figure.savefig(folder / FIGURE, dpi=120)

    @property
    def last(self) -> tuple[float, float]:
        """Mean loss and accuracy of the newest steps."""
        return self._recent(len(self.rows), 2), self._recent(len(self.rows), 3)

    def _recent(self, end: int, place: int) -> float:
        return fmean([row[place] for row in self.rows[max(0, end - RECENT) : end]] or [0.0])
