"""An agent that keeps a plan: it reads its plan at every step, and may write a new one before it acts."""

import re
from typing import ClassVar

from balrog_rag.agents.answers import AFTER_LABEL
from balrog_rag.agents.base import BaseAgent
from balrog_rag.agents.prompts.prompt import Prompt
from balrog_rag.contracts.data import Decision, Observation, Reply

ORDER = """
If your plan should change, write the new one on one line, as PLAN: <plan>
Then write the action to take now, as ACTION: <action>
"""


class Planner(BaseAgent):
    """Shows its plan after the newest observation; what follows ACTION: is what it does."""

    style, order = AFTER_LABEL, "answer_planner"
    own_prompts: ClassVar = {"answer_planner": ORDER, "plan": "Your plan: {{ plan }}"}
    plan = "none yet"

    async def ask(self, observation: Observation) -> Prompt:
        """The usual question, with the plan."""
        prompt = await super().ask(observation)
        prompt.after.append(self.prompts.render("plan", plan=self.plan))
        return prompt

    def read(self, reply: Reply) -> Decision:
        """The usual answer, and the plan in it."""
        if found := re.search(r"PLAN: *(\S.*)", reply.text):
            self.plan = found.group(1)[:500]
        return super().read(reply)
