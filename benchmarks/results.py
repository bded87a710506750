"""Summarise and report ten thousand episodes: seconds and memory, beside the targets.

python benchmarks/results.py [--episodes 10000] [--steps 30]
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from balrog_rag.config.frozen import config_digest
from balrog_rag.contracts.data import GameSpec, Passage, Reply, Seeds, Usage
from balrog_rag.episode.journal import Completion, End, Header, Lookup, Start, Step
from balrog_rag.episode.spec import EpisodeSpec, PlayerSpec
from balrog_rag.results import run_folder

TASK = "nle/NetHackChallenge-v0"
ENCODE = msgspec.json.Encoder().encode
REASONING = "The corridor leads east and nothing is in sight, so I go on exploring. " * 4


def write_run(run: Path, agent: str, episodes: int, steps: int) -> int:
    """Write a run folder of journals as a retrieval agent writes them; return their size in bytes."""
    settings = {"name": agent, "retrieval": {"enabled": True}}
    config = {"env": {"tasks": [TASK], "episodes": episodes}, "agent": settings, "model": {"name": "m"}}
    run_folder.write_json(run / "config.json", {"digest": config_digest(config), "config": config})
    return sum(write_journal(run, config, number, steps) for number in range(episodes))


def write_journal(run: Path, config: dict, number: int, steps: int) -> int:
    """Write one episode: a query, a search, a summary and an answer at every step."""
    name = f"{TASK}/{number:02d}"
    player = PlayerSpec(config["agent"], config["model"], {})
    spec = EpisodeSpec(name, GameSpec("nle", "NetHackChallenge-v0", Seeds(number, number)), player)
    lines: list = [
        Header(1, spec, spec.digest, config_digest(config), {"balrog_rag": "0"}),
        Start("0" * 32, {"depth": 1, "experience_level": 1, "hp": 14, "max_hp": 14}),
    ]
    for n in range(steps):
        lines += step_lines(n, number)
    lines.append(End("died" if number % 3 else "steps", steps, {"death": "killed by a jackal"}, 30.0))
    data = b"".join(ENCODE(line) + b"\n" for line in lines)
    path = run_folder.journal_path(run, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return len(data)


def step_lines(n: int, number: int) -> list:
    """The journal lines of a step of the paper's agent."""
    passages = tuple(
        Passage(f"p{n % 9}-{k}", "Newt", "" if n > 8 else "A newt bites. " * 60, 0.5) for k in range(3)
    )
    moved = {"turn": n + 2, "x": n % 79, "score": n}
    if n == 10 + number % 40:
        moved["experience_level"] = 2
    if n == 20 + number % 70:
        moved["depth"] = 2
    return [
        Completion(n, "query", "0" * 32, Reply("fight newt", usage=Usage(1500, 8), cost=0.0002, latency=0.4)),
        Lookup(n, f"fight newt {n % 7}", 3, passages, 0.004),
        Completion(
            n, "summary", "0" * 32, Reply("Newts are weak. " * 20, usage=Usage(2500, 90), cost=0.0004)
        ),
        Completion(n, "act", "0" * 32, Reply(REASONING, usage=Usage(5200, 70), cost=0.0008, latency=0.9)),
        Step(n, "east", "east", "0" * 32, numbers=moved, notes={"read": "strict", "lookup": "fresh"}),
    ]


COMMANDS = {
    "summarise, journals only": ["-m", "balrog_rag.results", "rebuild"],
    "report": ["-m", "balrog_rag.report"],
}


def measured(words: list[str]) -> tuple[float, float]:
    """Seconds and peak MiB of one command with its children."""
    began = time.perf_counter()
    script = (
        "import resource, subprocess, sys\n"
        "code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, file=sys.stderr)\n"
        "sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, sys.executable, *words], capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr)
    return time.perf_counter() - began, float(done.stderr.split()[-1])


def main() -> None:
    """Write two runs, time both commands, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=10_000, help="of both runs together")
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        runs = [Path(place) / name for name in ("plain", "better")]
        size = sum(write_run(run, run.name, options.episodes // 2, options.steps) for run in runs)
        print(f"{options.episodes:,} episodes of {options.steps} steps, {size / 2**20:,.0f} MiB of journals")
        print(f"{'':32}{'seconds':>10}{'MiB':>10}")
        total = 0.0
        for name, words in COMMANDS.items():
            more = ["--out", f"{place}/report"] if "report" in name else []
            seconds, memory = measured([*words, *map(str, runs), *more])
            total += seconds
            print(f"{name:32}{seconds:>10.1f}{memory:>10.0f}")
        print(f"{'together':32}{total:>10.1f}")
        print(f"{'target':32}{20.0:>10.1f}{1024:>10}")


if __name__ == "__main__":
    main()
