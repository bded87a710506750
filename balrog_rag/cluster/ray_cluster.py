"""Calls to Ray itself: join or start a cluster, list its nodes, and start an actor on each."""

import os
import secrets
from pathlib import Path
from typing import Any, TextIO

import msgspec

from balrog_rag.cluster.ray_node import Node
from balrog_rag.config.frozen import plain
from balrog_rag.config.schema import RunnerConfig
from balrog_rag.contracts.errors import EnvironmentFailure, RunFolderError
from balrog_rag.util.files import text_file

OBJECT_STORE_BYTES = 256 << 20
"""Ray's memory for messages, in a cluster started for this run."""


def said_by_ray(run: Path) -> TextIO:
    """Open the log for Ray's own prints, which would otherwise mix with results on stdout."""
    path = run / "ray.log"
    try:
        return text_file(path, "a")
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be written ({error.strerror})") from error


def connect(address: str | None) -> None:
    """Join the cluster at an address, or start one on this machine."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is None:  # the run's own token: nobody else can submit work, and no file is left behind
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    import ray  # reads these variables when it is imported

    local = {} if address else {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES}
    try:
        ray.init(address or "local", log_to_driver=False, logging_level="ERROR", **local)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        reason = " ".join(str(error).split())[:300]
        raise EnvironmentFailure(f"runner.address={address}: no Ray cluster there: {reason}") from error


def disconnect() -> None:
    """Leave the cluster."""
    import ray

    ray.shutdown()


def nodes_alive() -> list[tuple[str, int]]:
    """Return the nodes that have cores, and how many."""
    import ray

    return [
        (node["NodeID"], int(node["Resources"]["CPU"]))
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
    ]


def make_node(node: str, cores: int, runner: RunnerConfig) -> Any:
    """Start the actor that plays on a node, with as many cores as it has workers."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    workers = min(runner.workers or cores, cores)
    settings = {**plain(runner), "workers": workers}
    there = NodeAffinitySchedulingStrategy(node, soft=False)
    actor = ray.remote(Node).options(num_cpus=workers, scheduling_strategy=there, max_restarts=0)
    return actor.remote(msgspec.json.encode(settings))
