"""The settings by which a run takes more of this machine, or runs more code, than the defaults would."""

from collections.abc import Iterator
from typing import Any

from balrog_rag.agents import Needs
from balrog_rag.config.compose import compose
from balrog_rag.config.schema import Config
from balrog_rag.run.plan import kinds_of, tasks_in
from balrog_rag.util.child_processes import available_cores


def demands(config: Config, needs: Needs) -> dict[str, Any]:
    """Return each such setting by its key; empty for a run within the defaults."""
    compared = _compared(config, needs)
    return {key: value for key, value, usual in compared if value is None or value > usual}


def _compared(config: Config, needs: Needs) -> Iterator[tuple[str, Any, Any]]:
    """Yield key, value and default of settings that cost processes, memory, disk or time; null: no limit."""
    usual, runner = compose([]), config.runner
    yield "runner.workers", runner.workers, available_cores()
    yield "runner.concurrency", runner.concurrency, usual.runner.concurrency
    yield "runner.worker_memory", runner.worker_memory, usual.runner.worker_memory
    yield "run.watch", config.run.watch, usual.run.watch  # any: the user's code would run
    tasks = tasks_in(config)
    if config.env.episodes is not None and tasks:
        yield "env.episodes", config.env.episodes, max(task.kind.sampling.episodes for task in tasks)
    for kind in kinds_of(tasks):
        if kind.name in config.env.max_steps:
            longest = max(kind.max_steps(task.name) for task in tasks if task.kind is kind)
            yield f"env.max_steps.{kind.name}", config.env.max_steps[kind.name], longest
    if needs.knowledge:
        yield "knowledge.threads", config.knowledge.threads, usual.knowledge.threads
    if needs.model and config.model.backend == "local":
        embedded = compose(["model=local"]).model
        for name, default in embedded.options.items():
            if isinstance(value := config.model.options.get(name), int):
                yield f"model.options.{name}", value, default
