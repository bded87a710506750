"""A study from its arms to a PDF: play, compare, and write a LaTeX table, a figure and a short paper.

python examples/paper_study.py [KEY=VALUE ...]

It plays bots, so it needs no key. For language models, change ARMS, e.g. to
{"with retrieval": ("agent=robust_star_rag", "model=openai"), ...}, and add limits.run.dollars=5.
Everything is written to study/. The paper is compiled if pdflatex is installed.
"""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import matplotlib
import pandas

matplotlib.use("Agg")

from matplotlib import pyplot

import balrog_rag

OUT = Path("study")
BASELINE = "random actions"
ARMS = {
    BASELINE: ("agent=random",),
    "digging bot": ("agent=delver",),
}
GAMES = ("env=nethack", "env.episodes=20", "limits.steps=1000", "run.seed=3")
"""The same for all arms: every arm plays the same games."""


def main(*words: str) -> None:
    """Play what has not been played, then write everything that the paper includes."""
    runs = {name: played(name, *arm, *GAMES, *words) for name, arm in ARMS.items()}
    runs[BASELINE].report(*[run for name, run in runs.items() if name != BASELINE], out=OUT / "report")
    (OUT / "table.tex").write_text(table(runs))
    draw(balrog_rag.load(*runs.values()), list(runs), OUT / "figure.pdf")
    (OUT / "paper.tex").write_text(paper(runs))
    print(f"{OUT}/: report/report.html, table.tex, figure.pdf, paper.tex{compiled()}")


def played(name: str, *words: str) -> balrog_rag.Run:
    """Play an arm, or resume it: nothing is played or paid twice."""
    folder = OUT / "runs" / name.replace(" ", "_")
    if folder.exists():
        return balrog_rag.evaluate(f"resume={folder}")
    return balrog_rag.evaluate(*words, folder=folder)


def table(runs: Mapping[str, balrog_rag.Run]) -> str:
    """Return one row per arm: episodes, mean progression, difference from the baseline with its interval."""
    rows = []
    for name, run in runs.items():
        progression = run.episodes["progression_percent"]
        cells = [tex(name), str(len(progression)), f"{progression.mean():.2f}", "", ""]
        if name != BASELINE:
            found = balrog_rag.compare(run, runs[BASELINE]).whole
            low, high = found.interval.low, found.interval.high
            cells[3:] = [f"${found.difference:+.2f}$ [{low:.2f}, {high:.2f}]", f"{found.test.p:.2g}"]
        rows.append(" & ".join(cells) + r" \\")
    head = r"arm & $n$ & progression (\%) & difference [95\,\% CI] & $p$ \\ \hline"
    return "\n".join([r"\begin{tabular}{lrrrr}", head, *rows, r"\end{tabular}", ""])


def draw(episodes: pandas.DataFrame, names: list[str], path: Path) -> None:
    """Draw every episode's progression as a point, arm by arm, with the mean as a line."""
    figure, axes = pyplot.subplots(figsize=(4.5, 2.5))
    for place, (_, arm) in enumerate(episodes.groupby("run", sort=False)):
        values = arm["progression_percent"].astype(float)
        axes.plot(values, [place] * len(values), "o", alpha=0.4)
        axes.plot([values.mean()] * 2, [place - 0.3, place + 0.3], "k")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_xlabel("progression (%)")
    figure.savefig(path, bbox_inches="tight", metadata={"CreationDate": None})
    pyplot.close(figure)


def paper(runs: Mapping[str, balrog_rag.Run]) -> str:
    """Return a paper that includes the table, the figure and the verdicts."""
    verdicts = [
        f"{name} against {BASELINE}: {balrog_rag.compare(run, runs[BASELINE]).sentence}"
        for name, run in runs.items()
        if name != BASELINE
    ]
    return "\n".join(
        [
            r"\documentclass{article}\usepackage{graphicx}\begin{document}",
            r"\section*{Results}",
            *(tex(verdict) + r"\par" for verdict in verdicts),
            r"\begin{center}\input{table.tex}\par\includegraphics{figure.pdf}\end{center}",
            r"\end{document}",
            "",
        ]
    )


def tex(text: str) -> str:
    """Escape what LaTeX would interpret."""
    return "".join(f"\\{sign}" if sign in "&%$#_{}" else sign for sign in text)


def compiled() -> str:
    """Compile the paper where LaTeX is installed."""
    if shutil.which("pdflatex") is None:
        return " (pdflatex is not installed, so paper.tex was not compiled)"
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"]
    subprocess.run(command, cwd=OUT, check=True, stdout=subprocess.DEVNULL, timeout=120)
    return ", paper.pdf"


if __name__ == "__main__":
    main(*sys.argv[1:])
