"""The call in a decision: used unchanged if the task has it, otherwise the decision's text is parsed."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from balrog_rag.contracts.data import Action, Call, Decision, Parameter, TaskView
from balrog_rag.episode import journal
from balrog_rag.results.run_folder import journal_path
from balrog_rag.run.services import LiveServices
from balrog_rag.workers.host import HostedGame
from tests.envs.support import nethack

ACTIONS = (
    Action("rest", parameters=(Parameter("turns", least=1, most=20, optional=True),)),
    Action("go", parameters=(Parameter("x"), Parameter("y"))),
    Action("face", parameters=(Parameter("way", "word", choices=("north", "south")),)),
    Action("say", parameters=(Parameter("words", "text"),)),
)
VIEW = TaskView("e", "t", "g", {}, frozenset({"north", "rest 7"}), "north").offering(ACTIONS)
VALUES = st.one_of(
    st.integers(-30, 30), st.integers(), st.sampled_from(["north", "a b", " a", "", "7", "é"]), st.text()
)


@given(st.sampled_from(["rest", "go", "face", "say", "fly"]), st.lists(VALUES, max_size=3).map(tuple))
def test_a_call_is_admitted_only_if_its_text_is_read_as_that_call(
    name: str, arguments: tuple[int | str, ...]
) -> None:
    call = Call(name, arguments)
    if VIEW.admits(call):
        assert VIEW.read(call.text) == call


@pytest.mark.parametrize("text", ["rest", "rest 20", "go 1 -2", "face south", "say it twice"])
def test_every_call_that_is_read_is_admitted(text: str) -> None:
    call = VIEW.read(text)
    assert isinstance(call, Call)
    assert VIEW.admits(call)


def test_a_game_takes_a_call_as_it_takes_its_text() -> None:
    spec = nethack(1, actions="skills")
    by_text, by_call = HostedGame(spec), HostedGame(spec)
    assert by_text.step("rest 3") == by_call.step(Call("rest", (3,)))
    by_text.close()
    by_call.close()


FORGED = (Call("rest", (10**9,)), Call("rest", (3,)), Call("west"))


@pytest.mark.parametrize("call", FORGED)
def test_an_agents_call_counts_only_as_what_its_action_says(call, specs, player, tmp_path) -> None:
    """Of what is not the call that the text says, or no call of the task, the journal must know nothing."""
    (spec,) = specs("env.tasks=[nle/NetHackChallenge-v0]", "env.actions=skills", "agent=naive", steps=1)

    class Forging(LiveServices):
        def agent(self, *_):
            class Agent:
                async def act(self, observation) -> Decision:
                    return Decision("rest 2", call=call)

            return Agent()

    asyncio.run(player(Forging())(spec))
    (step,) = journal.read(journal_path(tmp_path / "run", spec.episode)).steps
    assert (step.taken, step.valid) == ("rest 2", True)
