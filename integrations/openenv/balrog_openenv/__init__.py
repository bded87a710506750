"""The games of balrog_rag for OpenEnv, and its agents behind OpenEnv's capture proxy.

models.py        what a client sends and receives: named actions, observations as text
tasks.py         splits and their games
environment.py   one game as an OpenEnv environment
app.py           the server: `python -m balrog_openenv.app`
session.py       an agent of balrog_rag that plays by itself while OpenEnv captures its calls
"""

from balrog_openenv.environment import BalrogEnvironment
from balrog_openenv.models import BalrogAction, BalrogObservation, BalrogState
from balrog_openenv.session import AgentSession, AgentSessionFactory

__all__ = [
    "AgentSession",
    "AgentSessionFactory",
    "BalrogAction",
    "BalrogEnvironment",
    "BalrogObservation",
    "BalrogState",
]
