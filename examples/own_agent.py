"""An agent of one's own, defined here and played like any other.

python examples/own_agent.py [KEY=VALUE ...]       model=openai model.name=... plays it with a real model
"""

import sys
from typing import ClassVar

import balrog_rag
from balrog_rag.agents.answers import AFTER_LABEL
from balrog_rag.agents.base import BaseAgent
from balrog_rag.agents.prompts.prompt import Prompt
from balrog_rag.contracts.data import Observation


@balrog_rag.register.agent("counting")
class Counting(BaseAgent):
    """Tells the model at every step how often it has been asked."""

    style, order = AFTER_LABEL, "answer_counting"
    own_prompts: ClassVar = {
        "answer_counting": "Write the action to take now, as ACTION: <action>",
        "count": "This is decision number {{ number }}.",
    }
    number = 0

    async def ask(self, observation: Observation) -> Prompt:
        """The usual question, with the number."""
        self.number += 1
        prompt = await super().ask(observation)
        prompt.after.append(self.prompts.render("count", number=self.number))
        return prompt


def main(*words: str) -> None:
    """Play it in a short corridor, two episodes of twenty steps."""
    short = ("env=corridor", "env.episodes=2", "limits.steps=20")
    run = balrog_rag.evaluate("model=scripted", "agent=counting", *short, *words)
    print(run)
    print(run.episodes[["episode", "outcome", "steps", "progression_percent"]].to_string())


if __name__ == "__main__":
    main(*sys.argv[1:])
