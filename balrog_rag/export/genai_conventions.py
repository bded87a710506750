"""Names and attributes of OpenTelemetry's GenAI conventions 0.1.0, for finished runs and for live ones."""

from typing import Any

import msgspec

from balrog_rag.contracts.data import Message, Reply, Request
from balrog_rag.contracts.events import Searched, Stepped
from balrog_rag.export.turns import ACT

Attributes = dict[str, Any]
EVALUATION = "gen_ai.evaluation.result"
"""The name of the event with an episode's score."""


class PlayerNames(msgspec.Struct, frozen=True):
    """An agent and its model, as spans name them."""

    agent: str
    model: str
    """Empty for a player that asks no model."""

    @property
    def provider(self) -> str:
        """The model's provider; a player without a model is a program of this package."""
        if not self.model:
            return "balrog_rag"
        return self.model.partition("/")[0] if "/" in self.model else "unknown"


def agent_attributes(player: PlayerNames, episode: str, conversation: str) -> Attributes:
    """Return the attributes of an episode's span when it begins."""
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": player.agent,
        "gen_ai.conversation.id": conversation,
        "balrog_rag.episode": episode,
    } | model_attributes(player)


def model_attributes(player: PlayerNames) -> Attributes:
    """Return the attributes that name a player's model."""
    found: Attributes = {"gen_ai.provider.name": player.provider}
    return found | ({"gen_ai.request.model": player.model} if player.model else {})


def score_attributes(progression: float, outcome: str) -> Attributes:
    """Return an episode's score, 0 to 1, as attributes of its evaluation event."""
    return {
        "gen_ai.evaluation.name": "progression",
        "gen_ai.evaluation.score.value": progression,
        "gen_ai.evaluation.explanation": outcome,
    }


def chat_attributes(
    player: PlayerNames, reply: Reply, purpose: str, request: Request | None = None
) -> Attributes:
    """Return the attributes of a model call; with `request`, also the prompt and the answer."""
    used = reply.usage
    found: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": player.provider,
        "gen_ai.request.model": player.model,
        "gen_ai.response.model": reply.model or player.model,
        "gen_ai.response.finish_reasons": [reply.finish],
        "gen_ai.usage.input_tokens": used.input,
        "gen_ai.usage.output_tokens": used.output,
        "gen_ai.usage.cache_read.input_tokens": used.cached,
        "gen_ai.usage.reasoning.output_tokens": used.reasoning,
        "balrog_rag.purpose": purpose,
    }
    if reply.cost is not None:
        found["balrog_rag.cost_usd"] = reply.cost
    if request is not None:
        found["gen_ai.input.messages"] = _text([_part(message) for message in request.messages])
        found["gen_ai.output.messages"] = _text([_part(Message("assistant", reply.text))])
    return found


def retrieval_attributes(search: Searched) -> Attributes:
    """Return the attributes of a search."""
    return {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.provider.name": "balrog_rag",
        "gen_ai.retrieval.top_k": len(search.passages),
        "gen_ai.retrieval.query.text": search.query,
        "balrog_rag.passages": [passage.id for passage in search.passages],
    }


def action_attributes(step: Stepped) -> Attributes:
    """Return the attributes of an action."""
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": ACT,
        "gen_ai.tool.call.id": f"step-{step.step}",
        "balrog_rag.action": step.taken,
        "balrog_rag.reward": step.after.reward,
    }


def _part(message: Message) -> dict[str, Any]:
    return {"role": message.role, "parts": [{"type": "text", "content": message.text}]}


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
