"""Steps per second through Gymnasium: our vector environment beside Gymnasium's own, in one run.

python benchmarks/gym.py [--task nle/NetHackChallenge-v0] [--games 16] [--steps 300] [--repeat 3]

Every way plays the same games with the same random actions. CPU counts this process and those it started.
"""

import argparse
import resource
import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

import gymnasium
import numpy as np
from rich.console import Console
from rich.table import Table

import balrog_rag.gym


class Speed(NamedTuple):
    """Wall-clock and processor seconds per step of one game."""

    wall: float
    cpu: float
    begin: float


WAYS: dict[str, dict] = {
    "ours: GameVectorEnv": {},
    "AsyncVectorEnv, pipes": {
        "vectorization_mode": "async",
        "vector_kwargs": {"shared_memory": False},
    },
    "AsyncVectorEnv, shared memory": {"vectorization_mode": "async"},
    "SyncVectorEnv": {"vectorization_mode": "sync"},
}


def cpu() -> float:
    """Processor seconds of this process and of all that it has waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def measure(make: Callable[[], gymnasium.vector.VectorEnv], steps: int) -> Speed:
    used, begun = cpu(), time.perf_counter()
    envs = make()
    envs.reset(seed=1)
    ready = time.perf_counter()
    draw = np.random.default_rng(1)
    for _ in range(steps):
        envs.step(draw.integers(envs.single_action_space.n, size=envs.num_envs))
    played = time.perf_counter()
    envs.close()
    count = steps * envs.num_envs
    return Speed((played - ready) / count, (cpu() - used) / count, ready - begun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--task", default="nle/NetHackChallenge-v0")
    parser.add_argument("--games", type=int, default=16)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    env_id = balrog_rag.gym.task_id(*given.task.split("/", 1))
    table = Table(
        *("observation", "way", "steps a second", "us a step, wall", "CPU, with start", "s to first reset"),
        title=f"{given.task}: {given.games} games, {given.steps} steps each, median of {given.repeat}",
    )
    for observation in ("text", "arrays", "both"):
        found: dict[str, list[Speed]] = {way: [] for way in WAYS}
        for _ in range(given.repeat):  # in turns, so that a busy moment of the machine hits all ways
            for way, settings in WAYS.items():

                def make(observation=observation, settings=settings):
                    return gymnasium.make_vec(env_id, given.games, observation=observation, **settings)

                found[way].append(measure(make, given.steps))
        for way, speeds in found.items():
            wall, used, begin = (median(column) for column in zip(*speeds, strict=True))
            table.add_row(
                *(observation, way, f"{1 / wall:,.0f}", f"{wall * 1e6:,.0f}"),
                *(f"{used * 1e6:,.0f}", f"{begin:.1f}"),
            )
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
