"""The games of balrog_rag as a taskset and a harness of verifiers.

taskset.py   which games: tasks and seeds of a split; rewards and metrics
harness.py   plays one game against verifiers' interception with an agent of balrog_rag
env.py       both, with the runtime that they need: no container
"""

from balrog_verifiers.env import BalrogEnv, BalrogEnvConfig
from balrog_verifiers.harness import BalrogHarness, BalrogHarnessConfig
from balrog_verifiers.taskset import BalrogData, BalrogTask, BalrogTaskset, BalrogTasksetConfig

__all__ = [
    "BalrogData",
    "BalrogEnv",
    "BalrogEnvConfig",
    "BalrogHarness",
    "BalrogHarnessConfig",
    "BalrogTask",
    "BalrogTaskset",
    "BalrogTasksetConfig",
]
