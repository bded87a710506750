"""Plot a measurement: three scores of each index, side by side.

Times are left out: they depend on the machine, while the scores are the same everywhere.
"""

from collections.abc import Sequence
from pathlib import Path

from balrog_rag.contracts.errors import KnowledgeError
from balrog_rag.knowledge.metrics import QuestionOutcome
from balrog_rag.util.palette import COLOURS, HATCHES, SETTINGS

SHOWN = ("recall@1", "share@5", "recall@5")


def plot(outcomes: Sequence[QuestionOutcome], split: str, path: Path) -> None:
    """Draw a .png or .svg file, with the best index at the top."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    ordered = sorted(outcomes, key=lambda outcome: outcome.scores["recall@5"])
    with rc_context(SETTINGS):
        figure = Figure(figsize=(8, 0.55 * len(ordered) + 1.2), layout="constrained")
        axes = figure.subplots()
        for number, name in enumerate(SHOWN):  # the first bar is the topmost of its three, as in the legend
            places = [row + 0.27 * (1 - number) for row in range(len(ordered))]
            lengths = [outcome.scores[name] for outcome in ordered]
            axes.barh(places, lengths, height=0.25, label=name, color=COLOURS[number], hatch=HATCHES[number],
                      edgecolor="#333333", linewidth=0.6)  # fmt: skip
        axes.set_yticks(range(len(ordered)), [outcome.index for outcome in ordered])
        axes.set_xlim(0, 1)
        axes.grid(axis="y", visible=False)
        axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(SHOWN))
        first = outcomes[0]
        which = "all" if split == "all" else f"{split} split,"
        figure.suptitle(f"retrieval on {first.corpus}, {which} {first.queries} queries", fontsize=10)
        undated = {"Date": None} if path.suffix == ".svg" else {}
        try:
            figure.savefig(path, dpi=160, metadata=undated)
        except OSError as error:
            raise KnowledgeError(f"cannot write the plot {path}: {error}; choose another --plot") from error
