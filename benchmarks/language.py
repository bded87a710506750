"""The time of a language observation: `python benchmarks/language.py`.

Prints the median and the 95th percentile in microseconds of each text and of all five together, over the
recorded states of the tests: those of real games, and the synthetic ones, whose maps are crowded.
"""

import json
import lzma
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np

from balrog_rag.envs.nethack import language

DATA = Path(__file__).parents[1] / "tests" / "data" / "language"
ROUNDS = 20

State = dict[str, Any]

TEXTS: dict[str, Callable[[State], str]] = {
    "text_glyphs": lambda s: language.text_glyphs(s["glyphs"], s["blstats"]),
    "text_message": lambda s: language.text_message(s["tty_chars"]),
    "text_blstats": lambda s: language.text_blstats(s["blstats"]),
    "text_inventory": lambda s: language.text_inventory(s["inv_strs"], s["inv_letters"]),
    "text_cursor": lambda s: language.text_cursor(s["glyphs"], s["blstats"], s["tty_cursor"]),
}


def whole(state: State) -> str:
    return "".join([text(state) for text in TEXTS.values()])


def states(kind: str) -> list[State]:
    """The recorded states of a kind, with separate arrays, as an environment returns them."""
    with np.load(DATA / "states.npz") as arrays, lzma.open(DATA / "expected.jsonl.xz", "rt") as lines:
        columns = dict(arrays)
        chosen = [i for i, line in enumerate(lines) if json.loads(line)["kind"].startswith(kind)]
    return [{name: column[i].copy() for name, column in columns.items()} for i in chosen]


def microseconds(text: Callable[[State], str], played: list[State]) -> np.ndarray:
    took = []
    for _ in range(ROUNDS):
        for state in played:
            start = perf_counter_ns()
            text(state)
            took.append(perf_counter_ns() - start)
    return np.array(took) / 1000


def main() -> None:
    for kind in ("real", "synthetic"):
        played = states(kind)
        whole(played[0])  # builds the tables
        print(f"{len(played)} {kind} states x {ROUNDS}    median µs    95% µs")
        for name, text in (*TEXTS.items(), ("whole observation", whole)):
            median, high = np.percentile(microseconds(text, played), (50, 95))
            print(f"  {name:24}{median:10.1f}{high:10.1f}")


if __name__ == "__main__":
    main()
