"""Agents that write the action between tags: BALROG's two and the paper's Robust*."""

from balrog_rag.agents.answers import TAGS, TAGS_OR_WHOLE
from balrog_rag.agents.base import BaseAgent


class RobustNaive(BaseAgent):
    """The action alone, between tags; an answer without tags is used whole."""

    style, order = TAGS_OR_WHOLE, "answer_robust_naive"


class RobustChainOfThought(BaseAgent):
    """Reasoning, then the action between tags."""

    style, order = TAGS, "answer_robust_cot"


class RobustStar(BaseAgent):
    """Reasoning, a check against the list of actions, and an example in the prompt."""

    style, order = TAGS, "answer_robust_star"
