"""A benchmark harness for language-model agents in NetHack, with retrieval plug-ins.

    import balrog_rag

    game = balrog_rag.make("minihack/MiniHack-Corridor-R3-v0", seed=1)     play by hand
    run = balrog_rag.evaluate("agent=naive", "env=corridor")               play a run; aevaluate in a notebook
    runs = balrog_rag.sweep("agent=naive,cot", "env=corridor")             several runs; asweep in a notebook
    balrog_rag.Run(folder)                                                 look into a run
    balrog_rag.load(folder, ...); balrog_rag.steps(journal)                data frames
    for event in balrog_rag.events(journal): ...                           an episode, event by event
    balrog_rag.compare(a, b).sentence; balrog_rag.verdict(xs, ys)          is there a difference?
    run.report(other); run.view(); run.verify()                            pages and checks of a run
    balrog_rag.list_agents(); balrog_rag.list_tasks("minihack")            what can be played
    balrog_rag.search("floating eye", k=3)                                 the knowledge base
    await balrog_rag.rollout(task, model={...})                            one episode for a trainer
    balrog_rag.register.agent("mine")                                      what you define yourself
    balrog_rag.check("mine")                                               what is wrong with it

Each name is imported on first use, so `import balrog_rag` is fast. See docs/tutorials/python.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from balrog_rag.util.interpreter import refuse_wrong_python as _refuse_wrong_python

_refuse_wrong_python()  # before anything is imported that it may lack

from balrog_rag import builtins as _builtins  # declares the built-in plug-ins  # noqa: E402, F401

if TYPE_CHECKING:
    from balrog_rag.api.checking import check
    from balrog_rag.api.event_stream import events
    from balrog_rag.api.listing_plugins import list_agents, list_tasks
    from balrog_rag.api.manual_game import make
    from balrog_rag.api.registering import register
    from balrog_rag.api.run_api import Run, aevaluate, evaluate
    from balrog_rag.api.run_comparison import compare
    from balrog_rag.api.searching import search
    from balrog_rag.api.several_runs import asweep, sweep
    from balrog_rag.results.frames import episodes as load
    from balrog_rag.results.frames import steps
    from balrog_rag.results.statistics.values import verdict
    from balrog_rag.rollouts.rollout import rollout

__version__ = "0.2.0"
__all__ = [
    "Run", "aevaluate", "asweep", "check", "compare", "evaluate", "events", "list_agents", "list_tasks",
    "load", "make", "register", "rollout", "search", "steps", "sweep", "verdict",
]  # fmt: skip

_WHERE = {
    "Run": "api.run_api:Run",
    "aevaluate": "api.run_api:aevaluate",
    "asweep": "api.several_runs:asweep",
    "check": "api.checking:check",
    "compare": "api.run_comparison:compare",
    "evaluate": "api.run_api:evaluate",
    "events": "api.event_stream:events",
    "list_agents": "api.listing_plugins:list_agents",
    "list_tasks": "api.listing_plugins:list_tasks",
    "load": "results.frames:episodes",
    "make": "api.manual_game:make",
    "register": "api.registering:register",
    "rollout": "rollouts.rollout:rollout",
    "search": "api.searching:search",
    "steps": "results.frames:steps",
    "sweep": "api.several_runs:sweep",
    "verdict": "results.statistics.values:verdict",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for by name, the first time."""
    if name not in _WHERE:
        raise AttributeError(f"module 'balrog_rag' has no attribute {name!r}")
    module, _, attribute = _WHERE[name].partition(":")
    found = getattr(import_module(f"balrog_rag.{module}"), attribute)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """With the names that are not imported yet."""
    return sorted({*globals(), *__all__})
