"""BALROG's naive agent, which answers with the action only."""

from balrog_rag.agents.answers import WHOLE
from balrog_rag.agents.base import BaseAgent


class Naive(BaseAgent):
    """The whole answer is the action."""

    style, order = WHOLE, "answer_naive"
