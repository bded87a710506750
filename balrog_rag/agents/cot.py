"""BALROG's chain of thought: free reasoning, then the action after a label."""

from balrog_rag.agents.answers import AFTER_LABEL
from balrog_rag.agents.base import BaseAgent


class ChainOfThought(BaseAgent):
    """The text after the last ACTION: is the action; the newest reasoning stays in the history."""

    style, order = AFTER_LABEL, "answer_cot"
