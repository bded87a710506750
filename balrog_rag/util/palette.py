"""Plot style: colours that colour-blind readers can tell apart, hatches that survive greyscale printing."""

from typing import Any

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
"""The Okabe-Ito palette."""
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++", "oo", "--")

SETTINGS: dict[str, Any] = {
    "font.size": 8,
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "svg.hashsalt": "balrog_rag",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "text.parse_math": False,
}
