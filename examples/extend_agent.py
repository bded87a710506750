"""An agent with prompts of its own: it writes a note at every step and reads it back at the next one.

python examples/extend_agent.py [KEY=VALUE ...]       model=openai model.name=... plays with a real model
"""

import re
import sys
from typing import ClassVar

import balrog_rag
from balrog_rag.agents.answers import AFTER_LABEL
from balrog_rag.agents.base import BaseAgent
from balrog_rag.agents.prompts.prompt import Prompt
from balrog_rag.contracts.data import Decision, Observation, Reply

ORDER = """
Write one sentence to remember, as NOTE: <sentence>
Then write the action to take now, as ACTION: <action>
"""


@balrog_rag.register.agent("noting")
class Noting(BaseAgent):
    """Shows its last note below the newest observation; the text after ACTION: is the action."""

    style, order = AFTER_LABEL, "answer_noting"
    own_prompts: ClassVar = {"answer_noting": ORDER, "note": "Your note: {{ note }}"}
    note = "none yet"

    async def ask(self, observation: Observation) -> Prompt:
        """The usual prompt, and the note."""
        prompt = await super().ask(observation)
        prompt.after.append(self.prompts.render("note", note=self.note))
        return prompt

    def read(self, reply: Reply) -> Decision:
        """The usual action, and the note before it."""
        if found := re.search(r"NOTE: *(\S.*?) *(?:ACTION:|$)", reply.text, re.MULTILINE):
            self.note = found[1][:500]
        return super().read(reply)


def main(*overrides: str) -> None:
    """Play two short episodes in a corridor and print the last prompt."""
    answers = 'model.options.answers=["NOTE: it is dark. ACTION: east"]'
    short = ("limits.steps=5", "env.episodes=2", "model=scripted", answers)
    words = {word.partition("=")[0]: word for word in (*short, *overrides)}  # the last one of a key counts
    run = balrog_rag.evaluate(*words.values(), agent="noting", env="corridor")
    print(run)
    asked = [event for event in run.events() if type(event).__name__ == "Asked"]
    print(asked[-1].request.messages[-1].text)


if __name__ == "__main__":
    main(*sys.argv[1:])
