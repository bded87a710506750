"""Processor time of `--help`, of the first configuration of a process, and of those after it.

python benchmarks/configuration.py [--repeat 20]
"""

import argparse
import resource
import subprocess
import sys
import time
from statistics import median

from balrog_rag.config.compose import compose


def started(*words: str) -> float:
    """Processor seconds of a Python process with these arguments."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def composed(*words: str) -> float:
    """Processor seconds to compose these overrides."""
    begun = time.process_time()
    compose(list(words))
    return time.process_time() - begun


def main() -> None:
    """Print all figures in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=20)
    repeat = range(parser.parse_args().repeat)
    compose(["model=scripted"])  # imports Hydra
    figures = {
        "python -c pass": median(started("-c", "pass") for _ in repeat),
        "run --help": median(started("-m", "balrog_rag.eval", "--help") for _ in repeat),
        "run agent=naive --help": median(
            started("-m", "balrog_rag.eval", "agent=naive", "--help") for _ in repeat
        ),
        "a new choice of presets": median(
            composed(f"agent={agent}", "model=scripted") for agent in ("naive", "cot", "robust_cot", "dummy")
        ),
        "the same presets, other values": median(
            composed("agent=naive", "model=scripted", f"limits.steps={steps + 1}") for steps in repeat
        ),
    }
    for name, seconds in figures.items():
        print(f"{name:<32} {seconds * 1000:7.1f} ms")


if __name__ == "__main__":
    main()
