"""The solver, which plays one game through balrog_rag's own loop, and the scorer.

The agent calls its model over HTTP as always. The server is this process, on loopback, and answers with
Inspect's model, so that calls are recorded, cached, limited and counted by Inspect.
"""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

import balrog_rag

RESULT = "balrog_rag"
"""The key of a rollout's result in the sample's store."""
ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


class RolloutFailed(Exception):
    """A rollout without a score; Inspect records it as the sample's error."""


@solver
def play(agent: str, overrides: list[str], max_steps: int | None) -> Solver:
    """Play the game that a sample's metadata names."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        async with model_server(state) as model:
            result = await balrog_rag.rollout(
                state.metadata["task"],
                seed=state.metadata["seed"],
                agent=agent,
                overrides=overrides,
                max_steps=max_steps,
                model=model,
            )
        if result.error is not None:
            raise RolloutFailed(result.error)
        state.store.set(
            RESULT,
            {
                "progression": result.progression,
                "outcome": result.outcome,
                "steps": result.steps,
                "journal": str(result.journal),
            },
        )
        state.completed = True
        return state

    return solve


@asynccontextmanager
async def model_server(state: TaskState) -> AsyncIterator[dict[str, Any]]:
    """Serve Inspect's model on loopback for one sample; yields what a rollout takes as its model."""
    secret = secrets.token_hex(16)

    async def complete(request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {secret}":
            return web.json_response({"error": {"message": "wrong key"}}, status=401)
        asked = await request.json()
        messages: list[ChatMessage] = [
            ROLES[each["role"]](content=each["content"]) for each in asked["messages"]
        ]
        config = GenerateConfig(temperature=asked.get("temperature"), max_tokens=asked.get("max_tokens"))
        output = await get_model().generate(messages, config=config)
        # The viewer of Inspect shows a sample's messages: each answer after the prompt that asked for it.
        state.messages.extend([messages[-1], output.message])
        state.output = output
        return web.json_response(chat_completion(output))

    application = web.Application(client_max_size=64 << 20)
    application.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        yield {"base_url": f"http://127.0.0.1:{port}/v1", "name": state.model.name, "api_key": secret}
    finally:
        await runner.cleanup()


def chat_completion(output: ModelOutput) -> dict[str, Any]:
    """Return an answer of Inspect's model in the shape of OpenAI's chat completions."""
    usage = output.usage
    counted = (
        {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens} if usage else None
    )
    finish = "length" if output.stop_reason in ("max_tokens", "model_length") else "stop"
    message = {"role": "assistant", "content": output.message.text}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    made = {"object": "chat.completion", "model": output.model, "choices": [choice]}
    return made | ({"usage": counted} if counted else {})


@scorer(metrics=[mean(), stderr()])
def progression() -> Scorer:
    """Score BALROG's progression, from 0 to 1."""

    async def score(state: TaskState, target: Target) -> Score:
        found = state.store.get(RESULT)
        explanation = f"{found['outcome']} after {found['steps']} steps"
        return Score(
            value=found["progression"], answer=found["outcome"], explanation=explanation, metadata=found
        )

    return score
