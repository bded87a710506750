"""What is kept in a prompt from one step to the next."""

import asyncio

import pytest

from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.config.frozen import plain, thaw
from balrog_rag.contracts.behaviour import Agent
from balrog_rag.contracts.data import Decision, Message, Observation, Part, Request
from tests.agents.support import VIEW, Script, agent_config, made, moment, perform


def turns(request: Request) -> list[str]:
    """Each turn after the instruction by its role and, for observations, the turn of the game it shows."""
    names = []
    for message in request.messages[1:]:
        if message.role == "assistant":
            names.append(message.text.replace("\n", " "))
        else:
            shown = message.text.split(" T:")[1].split("\n")[0] if " T:" in message.text else "-"
            pictures = "".join(image.decode() for image in message.images)
            names.append(f"{'now' if message.text.startswith('Current') else 'obs'} {shown}{pictures}")
    return names


def prompts(option: str, steps: int, *overrides: str, act: str = "north", **more: bytes) -> list[Request]:
    script = Script(act=act)
    agent = made(agent_config(option, *overrides), VIEW, script)
    perform(
        agent, [moment(turn, image=f"[{turn}]".encode() if more else None) for turn in range(1, steps + 1)]
    )
    return script.requests


def test_balrogs_window_keeps_twice_as_many_events_as_observations() -> None:
    asked = prompts("naive", 4, "agent.max_text_history=3")
    assert turns(asked[0]) == ["now 1"]
    assert turns(asked[1]) == ["obs 1", "north", "now 2"]
    assert turns(asked[2]) == ["obs 1", "north", "obs 2", "north", "now 3"]
    # The oldest observation goes first, and the action it led to stays one step longer.
    assert turns(asked[3]) == ["north", "obs 2", "north", "obs 3", "north", "now 4"]


def test_a_full_window_of_the_default_has_as_many_turns_as_balrogs() -> None:
    assert len(prompts("naive", 20)[-1].messages) == 33


def test_an_observation_without_text_keeps_its_line_as_in_balrog() -> None:
    """Specs of earlier versions do not have the key, and their prompts stay as they were."""
    empty = Observation((Part("text", "", heading=False),))
    config = agent_config("naive")
    earlier = plain(config)
    del earlier["observation"]["keep_empty"]
    for each, kept in ((config, True), (thaw(earlier, AgentConfig), False)):
        script = Script(act="north")
        perform(made(each, VIEW, script), [empty, empty])
        _, past, _, now = (message.text for message in script.requests[1].messages)
        assert past == "Observation:\n"
        assert now.startswith("Current Observation:\n\n\n" if kept else "Current Observation:\n\nAnswer")


def test_only_the_newest_observation_shows_the_short_part() -> None:
    *_, last = prompts("naive", 3)
    assert [("a pick-axe" in each.text) for each in last.messages[1:]] == [False, False, False, False, True]
    assert last.messages[-1].text.startswith("Current Observation:\ninventory:\na: a pick-axe\n\nmessage:\n")
    assert last.messages[1].text.startswith("Observation:\nmessage:\n")


def test_blocks_drop_several_turns_at_once_and_then_only_grow() -> None:
    asked = prompts(
        "naive", 9, "agent.max_text_history=4", "agent.history.window=blocks", "agent.history.block=2"
    )
    observations = [sum(name != "north" for name in turns(each)) for each in asked]
    assert observations == [1, 2, 3, 4, 3, 4, 3, 4, 3]
    assert turns(asked[4]) == ["obs 3", "north", "obs 4", "north", "now 5"]
    # Between two drops everything but the newest observation is the same text as before.
    assert asked[5].messages[:-3] == asked[4].messages[:-1]


@pytest.mark.parametrize(
    ("kept", "shown"),
    [
        (0, ["north", "north", "north"]),
        (1, ["north", "north", "Previous plan: ACTION: north"]),
        (2, ["north", "Previous plan: ACTION: north", "Previous plan: ACTION: north"]),
    ],
)
def test_reasoning_stays_for_the_newest_actions(kept: int, shown: list[str]) -> None:
    last = prompts("cot", 4, f"agent.max_cot_history={kept}", act="ACTION: north")[-1]
    assert [name for name in turns(last) if "north" in name] == shown


def test_reasoning_is_forgotten_where_it_is_not_remembered() -> None:
    last = prompts("cot", 3, "agent.remember_cot=false", act="Because.\nACTION: north")[-1]
    assert "Because" not in "".join(message.text for message in last.messages)


def test_robust_agents_keep_the_bare_action() -> None:
    last = prompts("robust_cot", 3, act="Because.\n<|ACTION|>north<|END|>")[-1]
    assert turns(last) == ["obs 1", "north", "obs 2", "north", "now 3"]


def test_an_empty_answer_leaves_no_trace() -> None:
    assert turns(prompts("naive", 3, act="")[-1]) == ["obs 1", "obs 2", "now 3"]


@pytest.mark.parametrize("window", ["slide", "blocks"])
def test_no_more_texts_than_the_bound_after_empty_answers_either(window: str) -> None:
    words = ["agent.max_text_history=4", f"agent.history.window={window}", "agent.history.block=2"]
    for request in prompts("naive", 12, *words, act=""):
        assert sum(not name.endswith("-") for name in turns(request)) <= 4
    if window == "slide":  # BALROG's window keeps the places of those whose text it leaves out
        assert turns(request) == ["obs -", "obs -", "obs -", "obs -", "obs 9", "obs 10", "obs 11", "now 12"]
        assert request.messages[1].text == "Observation:"


def test_images_are_shown_for_the_newest_observations_only() -> None:
    last = prompts("naive", 4, "agent.max_image_history=2", image=b"x")[-1]
    assert turns(last) == ["obs 1", "north", "obs 2", "north", "obs 3[3]", "north", "now 4[4]"]
    assert "Image observation provided." in last.messages[-1].text


def test_images_may_reach_further_back_than_text() -> None:
    last = prompts("naive", 4, "agent.max_image_history=3", "agent.max_text_history=1", image=b"x")[-1]
    assert turns(last) == ["north", "obs -[2]", "north", "obs -[3]", "north", "now 4[4]"]


def test_no_images_by_default() -> None:
    assert turns(prompts("naive", 2, image=b"x")[-1]) == ["obs 1", "north", "now 2"]


def test_a_trimmed_map_keeps_its_columns() -> None:
    script = Script(act="north")
    agent = made(agent_config("naive", "agent.observation.map=trimmed"), VIEW, script)
    perform(agent, [moment(screen="   @.   \n        \n  |     ")])
    assert "map:\n   @.\n\n  |\nAgent the Digger" in script.last()


@pytest.mark.parametrize(
    ("maps", "kept"),
    [
        ("all", [True, True, True, True]),
        ("changed", [False, True, True, True]),
        ("none", [False, False, False, True]),
    ],
)
def test_past_maps_can_be_left_out(maps: str, kept: list[bool]) -> None:
    script = Script(act="north")
    agent = made(agent_config("naive", f"agent.observation.past_maps={maps}"), VIEW, script)
    perform(
        agent, [moment(turn, screen=screen) for turn, screen in enumerate(["@..", "@..", ".@.", "..@"], 1)]
    )
    observed = [message.text for message in script.requests[-1].messages[1::2]]
    assert [any(part in text for part in ("@..", ".@.", "..@")) for text in observed] == kept
    assert all(f"T:{turn}" in text for turn, text in enumerate(observed, 1)), "status lines always stay"


def test_the_notice_of_an_invalid_answer_stays_with_its_observation() -> None:
    script = Script(act="north")
    agent = made(agent_config("naive"), VIEW, script)
    perform(agent, [moment(1), moment(2, notice="That was none.\n\n"), moment(3)])
    assert script.requests[-1].messages[3].text.startswith("Observation:\nThat was none.\n\nmessage:")


def test_what_others_decided_is_remembered_like_ones_own() -> None:
    def last_prompt(agent: Agent, script: Script, own: int) -> tuple[Message, ...]:
        answer = "So.\nACTION: north"
        for turn in range(1, 5):
            if turn <= own:
                asyncio.run(agent.act(moment(turn)))
            else:
                agent.recall(moment(turn), Decision("north", answer))
        asyncio.run(agent.act(moment(5)))
        return script.requests[-1].messages

    seen = []
    for own in (4, 2, 0):
        script = Script(act="So.\nACTION: north")
        seen.append(last_prompt(made(agent_config("cot"), VIEW, script), script, own))
    assert seen[0] == seen[1] == seen[2]


def test_a_turn_is_rendered_once() -> None:
    asked = prompts("naive", 5)
    assert asked[-1].messages[1] is asked[-2].messages[1]


def test_the_instruction_may_be_the_systems() -> None:
    assert prompts("naive", 1)[0].messages[0].role == "user"
    assert prompts("naive", 1, "agent.instruction_role=system")[0].messages[0].role == "system"


@pytest.mark.parametrize(
    ("option", "before", "after", "reasoning"),
    [
        ("naive", "", "", False),
        ("cot", "ACTION: ", "", True),
        ("robust_naive", "<|ACTION|>", "<|END|>", False),
        ("robust_cot", "<|ACTION|>", "<|END|>", True),
        ("robust_star", "<|ACTION|>", "<|END|>", True),
    ],
)
def test_models_are_told_the_shape_of_the_answer(
    option: str, before: str, after: str, reasoning: bool
) -> None:
    answer = prompts(option, 1)[0].answer
    assert answer is not None
    assert (answer.before, answer.after, answer.reasoning) == (before, after, reasoning)
    assert answer.choices == tuple(VIEW.actions)
