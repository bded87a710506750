"""Every agent's exact prompts for a recorded part of a real game, kept as text that a person has read.

After a deliberate change of prompts: `python -m tests.agents.record`, then read the diff.
"""

import asyncio

import msgspec
import pytest

from balrog_rag.contracts.data import GameSpec, Request
from tests.agents.support import (
    GOLDEN,
    NEWT,
    STAIRS,
    Guide,
    Recorded,
    Script,
    agent_config,
    made,
    perform,
    recorded,
)

WINDOW = ["agent.max_text_history=4"]
DEMONSTRATION = f"agent.demonstrations=[{GOLDEN}/demonstration.json]"
SWITCHES = {
    "naive": ("nle", "naive", []),
    "cot": ("nle", "cot", []),
    "robust_naive": ("nle", "robust_naive", []),
    "robust_cot": ("nle", "robust_cot", []),
    "robust_star": ("nle", "robust_star", []),
    "few_shot": ("nle", "few_shot", [DEMONSTRATION]),
    "naive_rag": ("nle", "naive_rag", []),
    "cot_rag": ("nle", "cot_rag", []),
    "robust_rag": ("nle", "robust_rag", []),
    "robust_star_rag": ("nle", "robust_star_rag", []),
    "paper_naive_rag": ("nle", "paper_naive_rag", []),
    "paper_robust_naive_rag": ("nle", "paper_robust_naive_rag", []),
    "paper_cot_rag": ("nle", "paper_cot_rag", []),
    "paper_robust_cot_rag": ("nle", "paper_robust_cot_rag", []),
    "paper_robust_star": ("nle", "paper_robust_star", []),
    "paper_robust_star_rag": ("nle", "paper_robust_star_rag", []),
    "minihack_naive": ("minihack", "naive", []),
    "minihack_robust_star_rag": ("minihack", "robust_star_rag", []),
    "everything_else": (
        "nle",
        "robust_star_rag",
        [
            "agent.instruction_role=system",
            "agent.history.window=blocks",
            "agent.history.block=2",
            "agent.observation.map=trimmed",
            "agent.observation.past_maps=changed",
            "agent.retrieval.query=model_memory",
            "agent.retrieval.place=before",
            "agent.batch.size=4",
            "agent.notebook.enabled=true",
            "agent.loops.enabled=true",
            "agent.loops.repeats=2",
        ],
    ),
}
INSTRUCTIONS = {
    "instruction_nle": "naive",
    "instruction_nle_improved": "robust_star",
    "instruction_nle_paper": "paper_robust_star",
    "instruction_minihack": "minihack_naive",
}
SNAPSHOTS = [*INSTRUCTIONS, *SWITCHES]
ANSWERS = [
    "I go on.\n<|ACTION|>{}<|END|>\nACTION: {}",
    "Query: how to use stairs",
    "Present state: calm.\n- Go down.",
]


def asked(name: str) -> list[Request]:
    """The agent's questions at the last recorded moment."""
    game, option, overrides = SWITCHES[name]
    story = recorded(game)
    script = Script(query=ANSWERS[1], summary=ANSWERS[2])
    agent = made(agent_config(option, *WINDOW, *overrides), story.view, script, Guide(NEWT, STAIRS))
    for moment, action in zip(story.moments, [*story.actions, story.actions[-1]], strict=True):
        plain = option in ("naive", "naive_rag", "paper_naive_rag", "few_shot")
        script.answers["act"] = action if plain else ANSWERS[0].format(action, action)
        before = len(script.requests)
        perform(agent, [moment])
    return script.requests[before:]


def snapshot(name: str) -> str:
    """The prompts as one readable text; an instruction in a file of its own is only named."""
    if name in INSTRUCTIONS:
        return asked(INSTRUCTIONS[name])[-1].messages[0].text + "\n"
    known = {(GOLDEN / f"{each}.txt").read_text().rstrip("\n"): each for each in INSTRUCTIONS}
    parts = []
    for request in asked(name):
        parts.append(f"########## {request.purpose} ##########")
        for message in request.messages:
            text = f"[{known[message.text]}.txt]" if message.text in known else message.text
            parts.append(f"===== {message.role}{' (stable)' if message.stable else ''} =====\n{text}")
    return "\n".join(parts) + "\n"


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_prompts_are_those_that_were_read(name: str) -> None:
    assert snapshot(name) == (GOLDEN / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", ["nle", "minihack"])
def test_the_recorded_games_are_real(name: str) -> None:
    from balrog_rag.workers.inline import InlineGames

    async def again(story: Recorded) -> list[str]:
        game = await InlineGames().open(msgspec.convert(story.game, GameSpec))
        transitions = [game.start, *await game.play(story.actions)]
        await game.close()
        return [transition.observation.digest for transition in transitions]

    story = recorded(name)
    assert asyncio.run(again(story)) == [moment.digest for moment in story.moments]


def test_a_step_of_the_default_agent_is_three_calls_in_this_order() -> None:
    assert [request.purpose for request in asked("robust_star_rag")] == ["query", "summary", "act"]
