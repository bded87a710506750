"""How much memory `balrog-rag export` takes for a run, and for one with four times as many episodes.

    python -m benchmarks.export_memory

Each export is a process of its own; its greatest resident memory is printed. It is bounded by the longest
episode: what grows with the run are names and, for inspect, one summary per sample.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import balrog_rag

FORMATS = ("jsonl", "atif", "hf-traces", "otlp", "parquet", "inspect", "eee")
FEW, MANY = 10, 40
STEPS = 100


def played(place: Path, episodes: int) -> Path:
    """A run of an agent whose prompts grow."""
    words = ("agent=naive", "model=scripted", "env=corridor", "env.no_progress=0", "runner.log=none")
    caps = (f"env.episodes={episodes}", f"limits.steps={STEPS}")
    return balrog_rag.evaluate(*words, *caps, folder=place / f"run{episodes}").folder


def peak(run: Path, kind: str, out: Path) -> float:
    """Megabytes of the process that exports a run."""
    command = [sys.executable, "-m", "balrog_rag", "export", str(run), "--to", kind, "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, command
    return used.ru_maxrss / 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        few, many = (played(Path(place), episodes) for episodes in (FEW, MANY))
        print(f"{'format':<10} {FEW:>3} episodes {MANY:>3} episodes   ratio  (MB, greatest resident memory)")
        for kind in FORMATS:
            one, other = (peak(run, kind, Path(place) / f"{kind}-{run.name}") for run in (few, many))
            print(f"{kind:<10} {one:>12.0f} {other:>12.0f} {other / one:>7.2f}")


if __name__ == "__main__":
    main()
