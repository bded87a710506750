"""What a client sends and receives."""

from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field


class BalrogAction(Action):
    """One step."""

    action: str = Field(
        max_length=1000, description="An action by its name, as in the observation's `actions`"
    )


class BalrogObservation(Observation):
    """One moment of a game. `reward` is the progression gained by the step; a game's rewards add up to it."""

    text: str = Field(description="What a player sees now")
    goal: str = Field(default="", description="What the game is about; with the first observation only")
    actions: dict[str, str] = Field(
        default_factory=dict, description="Actions and their meanings; with the first observation only"
    )
    progression: float = Field(default=0.0, description="BALROG's progression so far, from 0 to 1")
    ended: str = Field(default="", description="Why the game ended; empty while it is in play")
    invalid: bool = Field(
        default=False, description="The action did not exist, so the task's default action was taken"
    )


class BalrogState(State):
    """The game in play."""

    task: str = ""
    seed: int = 0
    progression: float = 0.0
    ended: str = ""
