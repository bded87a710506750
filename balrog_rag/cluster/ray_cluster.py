"""What is asked of Ray itself: a cluster to join or to make, its nodes, and an actor on each."""

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
"""Ray's memory for messages, in a cluster made for this run alone."""


def said_by_ray(run: Path) -> TextIO:
    """Where Ray's own prints go: it writes to stdout, which belongs to results and JSON lines."""
    path = run / "ray.log"
    try:
        return text_file(path, "a")
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be written ({error.strerror})") from error


def connect(address: str | None) -> None:
    """Join the cluster at an address; without one, make a cluster of this machine alone."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is None:  # a token of this run's own: nobody else's work runs here, and no file is left
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
    """The nodes that have cores, and how many."""
    import ray

    return [
        (node["NodeID"], int(node["Resources"]["CPU"]))
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
    ]


def make_node(node: str, cores: int, runner: RunnerConfig) -> Any:
    """The actor that plays on a node, with as many cores as it has workers."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    workers = min(runner.workers or cores, cores)
    settings = {**plain(runner), "workers": workers}
    there = NodeAffinitySchedulingStrategy(node, soft=False)
    actor = ray.remote(Node).options(num_cpus=workers, scheduling_strategy=there, max_restarts=0)
    return actor.remote(msgspec.json.encode(settings))
