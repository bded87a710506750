"""A fixed rule for env=decisions: the floor that a model has to beat.

balrog-rag run agent=examples/decision_rule.py:Rule env=decisions env.actions=plan

It reads the same text as a model and asks none.
"""

import re
from typing import Any

from balrog_rag.contracts.data import Decision, Observation, TaskView

HP = re.compile(r"^HP: (-?\d+)/(\d+)", re.MULTILINE)
HUNGER = re.compile(r"^Hunger: (Hungry|Weak|Fainting)", re.MULTILINE)
PRAYED = re.compile(r"You prayed (\d+) turns ago")
NEAR = re.compile(r", 1 step ", re.MULTILINE)


class Rule:
    """Prays, eats, fights or flees by the numbers on the screen."""

    def __init__(self, config: Any, view: TaskView, llm: Any, knowledge: Any) -> None:
        """Only the task is used."""
        self._goal = view.goal
        self._tried: set[str] = set()

    async def act(self, observation: Observation) -> Decision:
        """Return the first action that applies; prayer and meals are tried once."""
        return Decision(self._chosen("\n".join(part.text for part in observation.parts)))

    def _chosen(self, now: str) -> str:
        hp, most = map(int, found.groups()) if (found := HP.search(now)) else (1, 1)
        hunger, prayed = HUNGER.search(now), PRAYED.search(now)
        may_pray = prayed is None or int(prayed[1]) > 900
        if (
            may_pray
            and (hp * 7 < most or hp <= 5 or (hunger and hunger[1] != "Hungry"))
            and self._once("pray")
        ):
            return "pray"
        if hunger and self._once("eat"):
            return "eat"
        if NEAR.search(now.partition("close monsters")[2] or now):
            return "strike" if hp * 2 >= most else "retreat"
        if "staircase" in self._goal or "deeper level" in self._goal:
            return "dig_down" if self._once("dig_down") else "down"
        return "rest 10"

    def _once(self, action: str) -> bool:
        """Whether it has not been tried yet; it is from now on."""
        new = action not in self._tried
        self._tried.add(action)
        return new

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Remember nothing of what others played."""
