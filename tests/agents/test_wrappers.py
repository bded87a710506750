"""Batches and their checks, the notebook, and loop detection, alone and combined."""

import asyncio
from itertools import cycle

import pytest

from balrog_rag.agents import build
from balrog_rag.contracts.data import Decision, GameSpec, Observation, Request, Seeds
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.workers.inline import InlineGames
from tests.agents.support import VIEW, Guide, Script, agent_config, made, moment, perform

PLAN = "<|ACTION|>north<|END|><|ACTION|>far east<|END|><|ACTION|>search<|END|>"
BATCH = "agent.batch.size=3"


def actions(decisions: list[Decision]) -> list[str]:
    return [decision.action for decision in decisions]


# --- several actions in one answer ---


def test_a_plan_is_carried_out_without_asking_again() -> None:
    script = Script(act=PLAN)
    agent = made(agent_config("robust_cot", BATCH), VIEW, script)
    decisions = perform(agent, [moment(turn) for turn in range(4)])
    assert actions(decisions) == ["north", "far east", "search", "north"]
    assert [decision.notes["batch"] for decision in decisions] == [3, "queued", "queued", 3]
    assert len(script.requests) == 2


def test_planned_actions_stand_in_the_history_like_others() -> None:
    script = Script(act=PLAN)
    perform(made(agent_config("robust_cot", BATCH), VIEW, script), [moment(turn) for turn in range(4)])
    spoken = [message.text for message in script.requests[-1].messages if message.role == "assistant"]
    assert spoken == ["north", "far east", "search"]


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (moment(2, hp=9), "hit points fell"),
        (moment(2, message="You hear bells."), "there is a message"),
        (moment(2, language="newt near east\njackal far west"), "jackal came into view"),
        (moment(2, notice="Your last answer was none.\n"), "the last action was not valid"),
        (moment(1), "nothing changed"),
    ],
)
def test_the_guard_stops_a_plan_at_any_sign_of_danger(now: Observation, reason: str) -> None:
    script = Script(act=PLAN)
    decisions = perform(made(agent_config("robust_cot", BATCH), VIEW, script), [moment(1), now])
    assert actions(decisions) == ["north", "north"]
    assert f"because {reason}. Left out: far east, search." in script.last()


@pytest.mark.parametrize(
    "now",
    [
        moment(2),
        moment(2, language="newt adjacent east"),
        moment(2, language=""),
        moment(2, language="newt near east\nvertical wall far west\ntame kitten near north"),
    ],
)
def test_the_guard_lets_a_plan_go_on_where_nothing_new_shows(now: Observation) -> None:
    decisions = perform(made(agent_config("robust_cot", BATCH), VIEW, Script(act=PLAN)), [moment(1), now])
    assert actions(decisions) == ["north", "far east"]


def test_a_weak_character_plans_nothing() -> None:
    script = Script(act=PLAN)
    agent = made(agent_config("robust_cot", BATCH, "agent.batch.low=0.5"), VIEW, script)
    assert actions(perform(agent, [moment(1, hp=4), moment(2, hp=4)])) == ["north", "north"]
    assert "up to 3 actions" not in script.last()


def test_a_plan_ends_before_what_is_no_action_and_at_its_bound() -> None:
    broken = "<|ACTION|>north<|END|><|ACTION|>dance<|END|><|ACTION|>search<|END|>"
    assert (
        perform(made(agent_config("robust_cot", BATCH), VIEW, Script(act=broken)), [moment()])[0].notes[
            "batch"
        ]
        == 1
    )
    config = agent_config("robust_cot", "agent.batch.size=2")
    assert perform(made(config, VIEW, Script(act=PLAN)), [moment()])[0].notes["batch"] == 2


def test_an_invalid_first_action_plans_nothing() -> None:
    script = Script(act="<|ACTION|>dance<|END|><|ACTION|>north<|END|>")
    decisions = perform(made(agent_config("robust_cot", BATCH), VIEW, script), [moment(1), moment(2)])
    assert actions(decisions) == ["dance", "dance"]


@pytest.mark.parametrize(
    ("option", "answer"), [("naive", "north\nsearch"), ("cot", "Go.\nACTION: north, search")]
)
def test_untagged_agents_plan_too(option: str, answer: str) -> None:
    agent = made(agent_config(option, BATCH), VIEW, Script(act=answer))
    decisions = perform(agent, [moment(1), moment(2)])
    assert [decision.action for decision in decisions][1:] == ["search"]


def test_a_plan_does_not_survive_anothers_decision() -> None:
    agent = made(agent_config("robust_cot", BATCH), VIEW, Script(act=PLAN))
    perform(agent, [moment(1)])
    agent.recall(moment(2), Decision("search"))
    assert actions(perform(agent, [moment(3)])) == ["north"]


# --- the notebook ---


def test_what_is_noted_is_read_back() -> None:
    script = Script(act="<|NOTE|>stairs in the west<|END|> <|ACTION|>north<|END|>")
    agent = made(agent_config("robust_cot", "agent.notebook.enabled=true"), VIEW, script)
    decisions = perform(agent, [moment(7), moment(8)])
    assert actions(decisions) == ["north", "north"]
    assert decisions[0].notes["notes"] == 1
    assert "Your notebook is empty." in script.requests[0].messages[-1].text
    assert "- turn 7: stairs in the west" in script.requests[1].messages[-1].text


def test_a_notebook_is_bounded_and_forgets_the_oldest() -> None:
    script = Script(
        act=lambda request: f"<|NOTE|>note {len(script.requests)} {'x' * 99}<|END|><|ACTION|>north<|END|>"
    )
    config = agent_config(
        "robust_cot", "agent.notebook.enabled=true", "agent.notebook.lines=2", "agent.notebook.chars=10"
    )
    perform(made(config, VIEW, script), [moment(turn) for turn in range(4)])
    assert "as you wrote it:\n- turn 1: note 2 xxx\n- turn 2: note 3 xxx\n\nCurrent" in script.last()


def test_a_note_is_never_read_as_the_action() -> None:
    script = Script(act="<|NOTE|>next time <|ACTION|>search<|END|>\nnorth")
    agent = made(agent_config("robust_naive", "agent.notebook.enabled=true"), VIEW, script)
    assert actions(perform(agent, [moment()])) == ["north"]


def test_notes_of_an_earlier_player_are_kept() -> None:
    script = Script(act="<|ACTION|>north<|END|>")
    agent = made(agent_config("robust_cot", "agent.notebook.enabled=true"), VIEW, script)
    agent.recall(moment(3), Decision("north", "<|NOTE|>a shop<|END|><|ACTION|>north<|END|>"))
    perform(agent, [moment(4)])
    assert "- turn 3: a shop" in script.last()


# --- loops ---


def repeating(*moments: Observation, times: int = 3) -> list[bool]:
    script = Script(act="<|ACTION|>north<|END|>")
    config = agent_config("robust_cot", "agent.loops.enabled=true", f"agent.loops.repeats={times}")
    perform(made(config, VIEW, script), moments)
    return ["You are repeating yourself" in request.messages[-1].text for request in script.requests]


def test_the_same_answer_to_the_same_screen_is_a_loop() -> None:
    assert repeating(*[moment(1)] * 5) == [False, False, False, True, True]


def test_the_turn_counter_does_not_make_a_screen_another() -> None:
    assert repeating(*[moment(turn) for turn in range(5)]) == [False, False, False, True, True]


def test_another_screen_is_no_loop() -> None:
    assert not any(repeating(*[moment(turn, screen="." * turn + "@") for turn in range(6)]))


def test_a_loop_of_several_screens_is_one() -> None:
    screens = [moment(1, screen="@.."), moment(1, screen=".@.")] * 4
    assert repeating(*screens) == [False] * 6 + [True, True]


async def pick_up(enabled: bool, steps: int) -> tuple[list[str], str]:
    """The paper's failure on a real game: a player who ticks and unticks the things of a menu for ever.

    This one leaves the menu by "more" as soon as it is told that it repeats itself, as a model may.
    """
    ticks = cycle("ab")

    def answer(request: Request) -> str:
        newest = request.messages[-1].text
        action = "more" if "You are repeating yourself" in newest else next(ticks)
        return f"<|ACTION|>{action}<|END|>"

    game = await InlineGames().open(
        GameSpec("nle", "NetHackChallenge-v0", Seeds(3, 3), options={"character": "mon-hum-neu-mal"})
    )
    *_, menu = await game.play(["drop", "d", "drop", "e", "pickup"])
    config = agent_config("robust_cot", f"agent.loops.enabled={str(enabled).lower()}")
    agent = build(config, game.view, Script(act=answer), Guide())
    observation, taken = menu.observation, []
    while observation.text("message").startswith("Pick up what?") and len(taken) < steps:
        decision = await agent.act(observation)
        taken.append(decision.action)
        observation = (await game.play([decision.action]))[0].observation
    await game.close()
    return taken, observation.text("message")


def test_the_pickup_loop_never_ends_by_itself() -> None:
    taken, message = asyncio.run(pick_up(enabled=False, steps=60))
    assert len(taken) == 60
    assert message.startswith("Pick up what?")


def test_the_pickup_loop_ends_where_the_agent_is_told() -> None:
    taken, message = asyncio.run(pick_up(enabled=True, steps=60))
    assert taken == ["a", "b"] * 6 + ["more"], "four screens, each seen three times"
    assert not message.startswith("Pick up what?")


# --- together ---


def test_all_wrappers_at_once() -> None:
    script = Script(act=f"<|NOTE|>n<|END|>{PLAN}", query="Query: newt", summary="Newts are harmless.")
    config = agent_config(
        "robust_star_rag",
        BATCH,
        "agent.notebook.enabled=true",
        "agent.loops.enabled=true",
        "agent.loops.repeats=2",
    )
    decisions = perform(made(config, VIEW, script), [moment(turn) for turn in range(7)])
    assert actions(decisions) == ["north", "far east", "search"] * 2 + ["north"]
    assert [request.purpose for request in script.requests] == ["query", "summary", "act"] * 3
    assert decisions[0].notes == {"read": "strict", "notes": 1, "lookup": "fresh", "batch": 3}
    assert "You are repeating yourself" in script.last()


@pytest.mark.parametrize("switch", ["retrieval.enabled=true", "loops.enabled=true", "batch.size=2"])
def test_an_agent_that_cannot_be_wrapped_is_refused(switch: str) -> None:
    section = switch.split(".")[0]
    with pytest.raises(ConfigError, match=f"agent.{section}: dummy is a program, so no wrapper fits"):
        made(agent_config("dummy", f"agent.{switch}"), VIEW, Script())
