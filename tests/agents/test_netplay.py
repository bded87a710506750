"""NetPlay's agent: its prompts and memory, how answers are parsed, and the responses to wrong ones."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from balrog_rag.agents.answers import WHOLE, read
from balrog_rag.agents.netplay import NO_SKILL, Memory, MemoryEntry
from balrog_rag.agents.skill_answers import LONGEST
from balrog_rag.config.compose import compose
from balrog_rag.contracts.behaviour import Agent
from balrog_rag.contracts.data import Decision, Observation, Request
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.models import build
from balrog_rag.models.grammar import grammar
from balrog_rag.run.begin import planned
from balrog_rag.util.tokens import count_text
from balrog_rag.workers.host import HostedGame
from tests.agents.support import VIEW, Guide, Script, agent_config, made, perform
from tests.envs.support import nethack
from tests.models.support import model_config

THOUGHTS = {"observations": "A room.", "reasoning": "It is small.", "speak": "I look around."}


def said(name: str, speak: str = THOUGHTS["speak"], **arguments: Any) -> str:
    """An answer that chooses this skill."""
    return json.dumps({"thoughts": {**THOUGHTS, "speak": speak}, "skill": {"name": name, **arguments}})


class Played:
    """A real game played by the agent, with a script instead of a model."""

    def __init__(
        self, *overrides: str, act: str | Callable[[Request], str] = "", agent: str = "netplay"
    ) -> None:
        self.game = HostedGame(nethack(5, actions="skills"))
        self.script, self.guide = Script(act), Guide()
        config = agent_config(agent, *overrides)
        self.agent: Agent = made(config, self.game.view, self.script, self.guide)
        self.seen: Observation = self.game.start.observation

    def step(self, answer: str) -> Decision:
        """Let the agent give this answer, and the game take it."""
        self.script.answers["act"] = answer
        (decision,) = perform(self.agent, [self.seen])
        taken = decision.action if self.game.view.takes(decision.action) else self.game.view.default_action
        done = self.game.step(taken)
        notice = f"Your last action, {taken}, stopped: {done.stopped}.\n\n" if done.stopped else ""
        self.seen = Observation(done.observation.parts, done.observation.numbers, notice=notice)
        return decision

    @property
    def asked(self) -> list[tuple[str, str]]:
        return [(turn.role, turn.text) for turn in self.script.requests[-1].messages]


def test_the_prompt_is_one_message_in_netplays_order_after_the_memory() -> None:
    game = Played()
    assert game.step(said("explore_level")).action == "explore_level"
    *memory, (role, text) = game.asked
    assert memory == [("user", game.game.view.goal), ("system", game.game.start.observation.text("message"))]
    assert role == "system"
    heads = re.findall(r"^# (.+)$", text, re.M)
    around = ["Agent information", "Rooms", "Close monsters", "Distant monsters", "Exploration status"]
    assert heads == [*around, "Inventory", "Stats", "Task", "Skills", "Answer"]
    assert "finish_task" not in text
    assert "melee_attack <x> <y>: " in text


def test_what_happened_and_what_was_said_is_remembered() -> None:
    game = Played()
    game.step(said("explore_level", speak="I explore first."))
    game.step(said("rest", count=2))
    roles = [role for role, _ in game.asked]
    assert roles == ["user", "system", "assistant", "system", "system"]
    assert game.asked[2][1] == "I explore first."
    assert game.asked[3][1].startswith("Your last action, explore_level, stopped: interrupted:")
    assert "appeared at" in game.asked[3][1]


def test_half_a_character_in_an_answer_is_replaced_where_the_next_prompt_has_it() -> None:
    """The answer is plain ASCII; only its JSON has the lone surrogate, which no request could contain."""
    game = Played()
    game.step(said("rest", speak="See \ud83d", count=2))
    game.step(said("rest", count=2))
    assert game.asked[2][1] == "See \N{REPLACEMENT CHARACTER}"


def test_the_memory_holds_so_many_tokens() -> None:
    memory = Memory(50)
    for number in range(40):
        memory.add(MemoryEntry("assistant", f"Thought number {number} of mine."))
    memory.add(MemoryEntry("system", "x" * 5000))
    (only,) = memory.messages()
    assert set(only.text) == {"x"}
    assert count_text(only.text) <= 50
    for number in range(40):
        memory.add(MemoryEntry("assistant", f"Thought number {number} of mine."))
    assert memory.messages()[-1].text == "Thought number 39 of mine."
    assert sum(count_text(each.text) for each in memory.messages()) <= 50


OBJECT = said("pray")
WRONG = {
    "empty": ("", "the answer is empty"),
    "prose": ("I should explore the level now.", "the answer is no JSON object; it must begin with {"),
    "half a fence": (f"```json\n{OBJECT}", "the answer has an incomplete code fence or several"),
    "two fences": (
        f"```json\n{OBJECT}\n```\n```json\n{OBJECT}\n```",
        "the answer has an incomplete code fence or several",
    ),
    "two objects": (
        f"{OBJECT}\n{OBJECT}",
        "the answer goes on after its JSON object; write one object alone",
    ),
    "too long": (
        said("pray", speak="a" * 50_000),
        f"the answer has 50,110 characters; no more than {LONGEST:,} are read",
    ),
    "cut": (OBJECT[:40], "the answer is no correct JSON: "),
    "a list": ("[1]", "the answer is no JSON object"),
    "deep": ('{"a":' * 3000, "the answer is no correct JSON: it is nested too deeply"),
    "no thoughts": ('{"skill": {"name": "pray"}}', "the answer has no 'thoughts'"),
    "a thought missing": ('{"thoughts": {"speak": "x"}, "skill": {}}', "thoughts has no 'observations'"),
    "a thought too many": (
        json.dumps({"thoughts": {**THOUGHTS, "plan": ""}, "skill": {"name": "pray"}}),
        "thoughts has 'plan', which is not asked for",
    ),
    "a thought is a number": (
        json.dumps({"thoughts": {**THOUGHTS, "speak": 5}, "skill": {"name": "pray"}}),
        "thoughts.speak must be a text",
    ),
    "skill is text": (json.dumps({"thoughts": THOUGHTS, "skill": "pray"}), "skill must be a JSON object"),
    "no name": (json.dumps({"thoughts": THOUGHTS, "skill": {}}), "skill has no name"),
    "unknown skill": (
        said("explore_levels"),
        "there is no skill 'explore_levels'; did you mean explore_level",
    ),
    "not offered": (said("finish_task"), "there is no skill 'finish_task'"),
    "wrong type": (said("move_to", x="5", y=3), "move_to: x must be a whole number"),
    "a truth is no number": (said("move_to", x=True, y=3), "move_to: x must be a whole number"),
    "missing argument": (said("move_to", x=5), "move_to needs y"),
    "null argument": (said("move_to", x=5, y=None), "move_to needs y"),
    "half a position": (said("pickup", y=5), "pickup needs x"),
    "too many arguments": (said("pray", to="Odin"), "pray has no parameter 'to'; it takes nothing"),
    "no such choice": (
        said("zap", item_letter="a", direction="up"),
        "zap: direction must be one of n, e, s, w",
    ),
    "a text of two words": (said("press_key", key="a b"), "press_key: key must be one word"),
    "too small": (said("rest", count=0), "rest: count must be a whole number from 1"),
    "an endless number": (said("rest", count=10**30), "rest: count must be a whole number from 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_is_one_line_to_the_model_and_one_try(name: str) -> None:
    answer, told = WRONG[name]
    game = Played()
    decision = game.step(answer)
    assert decision.action == NO_SKILL
    assert str(decision.notes["wrong"]).startswith(told)
    assert game.seen.numbers["turn"] == 1
    game.step(said("rest"))
    role, text = game.asked[-2]
    assert role == "system"
    assert f"Your last answer was not used: {decision.notes['wrong']}." in [
        text,
        *[each for _, each in game.asked[:-1]],
    ]
    assert "\n" not in str(decision.notes["wrong"])


def test_wrong_answers_end_the_game_after_ten() -> None:
    game = Played()
    for number in range(10):
        done = game.game.step(game.game.view.default_action)
        assert done.ended == ("no_progress" if number == 9 else "")


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        (("press_key", {"key": " "}), "press_key SPACE"),
        (("press_key", {"key": "\n"}), "press_key ENTER"),
        (("set_avoid_monster_flag", {"value": True}), "set_avoid_monster_flag true"),
        (("type_text", {"text": "n20s"}), "type_text n20s"),
        (("type_text", {"text": "\ud800"}), "type_text \N{REPLACEMENT CHARACTER}"),
        (("pickup", {"x": None, "y": None}), "pickup"),
        (("pickup", {"y": 3, "x": 4}), "pickup 4 3"),
    ],
)
def test_arguments_become_a_call(arguments: tuple[str, dict[str, Any]], call: str) -> None:
    name, given = arguments
    game = Played()
    assert game.step(said(name, **given)).action == call
    assert game.game.view.takes(call)


@pytest.mark.parametrize("answer", [f"```json\n{OBJECT}\n```", f"\n```\n{OBJECT}```\n"])
def test_a_code_fence_is_accepted_and_noted(answer: str) -> None:
    decision = Played().step(answer)
    assert (decision.action, decision.notes["read"]) == ("pray", "lenient")
    assert Played().step(OBJECT).notes["read"] == "strict"


@pytest.mark.parametrize("agent", ["naive", "cot", "robust_cot"])
@pytest.mark.parametrize(
    "answer",
    [
        "```\nrest 3\n```",
        '```json\n{"name": "rest", "count": 3}\n```',
        f"```json\n{said('rest', count=3)}\n```",
    ],
)
def test_other_agents_skills_may_be_fenced_too(agent: str, answer: str) -> None:
    wrapped = {"cot": f"ACTION: {answer}", "robust_cot": f"I rest.\n<|ACTION|>{answer}<|END|>"}
    game = Played(agent=agent)
    decision = game.step(wrapped.get(agent, answer))
    assert (decision.action, decision.notes["read"]) == ("rest 3", "lenient")
    assert game.seen.numbers["turn"] == 4


def test_the_instruction_for_skills_asks_for_answers_that_the_game_takes() -> None:
    game = Played(agent="cot")
    game.step("ACTION: drop")
    _, instruction = game.asked[0]
    assert "answer with the single letter" not in instruction
    assert 'take the action "more"' not in instruction
    assert not game.game.view.takes("d")
    for answer in re.findall('"(press_key .)"', instruction):
        assert game.game.view.takes(answer)
    assert game.seen.text("popup")
    assert game.step("ACTION: press_key d").action == "press_key d"
    assert not game.seen.text("popup")


def test_a_fenced_key_stays_invalid_where_keys_are_played() -> None:
    game = HostedGame(nethack(5))
    for answer in ("```\nsearch 3\n```", '```json\n{"name": "search"}\n```'):
        assert read(answer, WHOLE, game.view, lenient=False).how != "strict"
        assert not game.view.takes(read(answer, WHOLE, game.view, lenient=False).action)
    game.close()


def test_in_a_popup_only_keys_are_on_offer() -> None:
    game = Played()
    game.step(said("drop"))
    assert "popup" in {part.name for part in game.seen.parts}
    decision = game.step(said("pray"))
    assert str(decision.notes["wrong"]).startswith(
        "there is no skill 'pray'; valid names: press_key, type_text"
    )
    assert "Resolve this first" in game.asked[-1][1]
    assert "\npress_key <key>" in game.asked[-1][1]
    assert "\npray" not in game.asked[-1][1]
    assert game.script.requests[-1].answer.choices == ()
    game.step(said("press_key", key="ESC"))
    assert game.step(said("rest")).action == "rest"


def test_the_guided_one_has_the_guide() -> None:
    for agent, there in (("netplay", False), ("netplay_guided", True)):
        game = Played(agent=agent)
        game.step(said("rest"))
        assert ("Excalibur" in game.asked[-1][1]) is there


def test_a_censored_prompt_never_names_the_game() -> None:
    game = Played("agent.options={censored: true, task: Win NetHack.}")
    game.step(said("rest"))
    text = "\n".join(words for _, words in game.asked)
    assert "NetHack" not in text
    assert "Win CENSORED." in text


def test_look_up_searches_and_asks_again() -> None:
    answers = iter([said("look_up", query="floating eye"), said("look_up", query="grid bug"), said("rest")])
    game = Played("agent.options={look_up: true}", act=lambda request: next(answers))
    (decision,) = perform(game.agent, [game.seen])
    assert decision.action == "rest"
    assert decision.notes["looked_up"] == ["floating eye", "grid bug"]
    assert len(game.script.requests) == 3
    assert "found" in game.asked[-1][1]


def test_look_ups_have_an_end() -> None:
    game = Played("agent.options={look_up: true, look_ups: 2}")
    decision = game.step(said("look_up", query="floating eye"))
    assert decision.notes["wrong"] == "nothing more can be looked up now; choose another skill"
    assert len(game.script.requests) == 3


def test_wrappers_go_round_it() -> None:
    wrapped = ["retrieval", "notebook", "loops"]
    switches = [f"agent.{name}.enabled=true" for name in wrapped]
    game = Played(
        *switches, "agent.batch.size=3", "agent.retrieval.query=observation", "agent.retrieval.context=cut"
    )
    game.script.answers["query"] = "Query: newt"
    decision = game.step(f"<|NOTE|>A room<|END|> {said('rest')}")
    assert decision.action == "rest"
    assert game.guide.queries
    game.step(said("rest"))
    assert "A room" in game.asked[-1][1]


def test_it_needs_skills_and_knows_its_options() -> None:
    with pytest.raises(ConfigError, match=r"agent=netplay: plays by skills, .* add env.actions=skills"):
        made(agent_config("netplay"), VIEW, Script())
    with pytest.raises(ConfigError, match=r"agent=netplay: plays by skills, .* add env.actions=skills"):
        planned(Path(), compose(["agent=netplay", "env=corridor", "model=scripted"]))
    with pytest.raises(ConfigError, match=r"agent.options of netplay: .*`memroy`"):
        Played("agent.options={memroy: 5}")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_embedded_model_chooses_a_skill(seed: int) -> None:
    game = Played()
    game.step(said("rest"))
    model = build(model_config("local", seed=seed, timeout=3000, options={"slots": 1, "threads": 1}))
    reply = asyncio.run(model.complete(game.script.requests[-1]))
    assert reply.finish == "stop"
    assert game.agent.read(reply).notes["read"] == "strict"


def test_the_grammar_allows_every_skill_and_its_json() -> None:
    game = Played()
    game.step(said("rest"))
    text = grammar(game.script.requests[-1].answer)
    assert text.startswith('root ::= "{\\"thoughts\\": {"')
    for action in game.game.view.programs:
        assert f'\\"name\\": \\"{action.name}\\"' in text
