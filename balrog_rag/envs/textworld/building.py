"""Build missing games of TextWorld, several at a time, each in a separate process."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from balrog_rag.contracts.errors import BalrogError, ConfigError
from balrog_rag.envs.textworld.games import TASKS, find, games, games_folder
from balrog_rag.util.extras import require

Name = tuple[str, str]
"""A task, and the name of one of its games."""


def missing(folder: Path | None = None, tasks: Iterable[str] = TASKS) -> list[Name]:
    """The games that are missing."""
    place = folder or games_folder()
    return [(task, name) for task in tasks for name in games(task) if find(place, task, name) is None]


def build(
    names: Sequence[Name],
    workers: int = 0,
    source: Path | None = None,
    folder: Path | None = None,
    done: Callable[[int], None] = lambda count: None,
) -> None:
    """Build games; `done` is called after each. An interrupted build continues where it stopped.

    `source` is a folder of BALROG's games; building from their descriptions is faster than from seeds.
    """
    require("textworld", "textworld", "env=textworld")
    _check_source(names, source)
    place = folder or games_folder()
    processes: set[subprocess.Popen[bytes]] = set()
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        work = [pool.submit(_build_one, name, place, source, processes) for name in names]
        try:
            for built in as_completed(work):
                built.result()
                done(1)
        except BaseException:  # above all on Ctrl-C: no process continues without us
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(processes):
                process.kill()
            raise


def _check_source(names: Sequence[Name], source: Path | None) -> None:
    for task, name in names if source else ():
        description = Path(source or "", task, f"{name}.json")
        if not description.is_file():
            raise ConfigError(f"{source}: contains no {task}/{name}.json; pass BALROG's folder tw_games")


def _build_one(
    name: Name, folder: Path, source: Path | None, processes: set["subprocess.Popen[bytes]"]
) -> None:
    command = [sys.executable, "-m", "balrog_rag.envs.textworld.making", *name, str(folder)]
    if source is not None:
        command.append(str(source))
    root = str(Path(__file__).resolve().parents[3])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"},
    )
    processes.add(process)
    try:
        _, said = process.communicate()
    finally:
        processes.discard(process)
    if process.returncode:
        lines = said.decode("utf-8", "replace").strip().splitlines() or [
            f"ended with code {process.returncode}"
        ]
        raise BalrogError(f"textworld/{'/'.join(name)}: cannot be built ({lines[-1].strip()})")
