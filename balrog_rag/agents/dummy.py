"""BALROG's dummy: no model, always the same action."""

from typing import ClassVar

from balrog_rag.config.schema import AgentConfig
from balrog_rag.contracts.behaviour import LLM, Knowledge
from balrog_rag.contracts.data import Decision, Observation, TaskView


class Dummy:
    """Takes `options.action` at every step; the environment's default where that is no valid action."""

    asks_model: ClassVar[bool] = False

    def __init__(self, config: AgentConfig, view: TaskView, llm: LLM, knowledge: Knowledge) -> None:
        """Needs neither model nor knowledge."""
        self._decision = Decision(str(config.options.get("action", view.default_action)))

    async def act(self, observation: Observation) -> Decision:
        """The same as ever."""
        return self._decision

    def recall(self, observation: Observation, decision: Decision) -> None:
        """Remembers nothing."""
