"""Floors: the actions and skills of a game without a model, and what a report says a model adds to them."""

from pathlib import Path

import pytest

from balrog_rag.agents import build, needs
from balrog_rag.cli.verbs import main
from balrog_rag.contracts.data import Action, Observation, Parameter, Part
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results.experiments import find
from tests.agents.support import VIEW, Guide, Script, agent_config, moment, perform

SKILLS = VIEW.offering(
    (
        Action("explore_level", "explore"),
        Action("dive", "go down", (Parameter("level", least=2, most=60),)),
        Action("pray", "pray"),
        Action("run_code", "code", (Parameter("code", "code"),)),
    )
)


def floor(name: str, *overrides: str):  # type: ignore[no-untyped-def]
    return build(agent_config(name, *overrides), SKILLS, Script(), Guide())


def test_a_floor_asks_no_model() -> None:
    assert not needs(agent_config("floor_rule")).model


def test_random_choices_are_valid_varied_and_repeatable() -> None:
    moments = [moment(turn) for turn in range(200)]
    first, again = (perform(floor("floor_random"), moments) for _ in range(2))
    assert [each.action for each in first] == [each.action for each in again]
    assert all(SKILLS.takes(each.action) for each in first)
    assert not any(each.action.startswith("run_code") for each in first)
    assert len({each.action.partition(" ")[0] for each in first}) >= 6


def test_the_rule_prays_dives_and_leaves_out_what_failed() -> None:
    agent = floor("floor_rule")
    healthy, hurt = moment(1), moment(900, hp=2)
    failed = moment(3, notice="Your last action, dive 40, stopped: failed: no way.\n\n")
    actions = [each.action for each in perform(agent, [healthy, hurt, healthy, failed, healthy])]
    assert actions == ["dive 40", "pray", "dive 40", "explore_level", "explore_level"]


def test_the_rule_leaves_out_what_took_no_game_time() -> None:
    """`fetch_digger` is done at once when a digging tool is carried."""
    actions = [each.action for each in perform(floor("floor_rule"), [moment(1), moment(1), moment(20)])]
    assert actions == ["dive 40", "explore_level", "explore_level"]


def test_the_rule_attacks_enemies_and_goes_to_stairs_by_their_positions() -> None:
    view = SKILLS.offering(
        tuple(Action(name, name, (Parameter("x"), Parameter("y"))) for name in ("melee_attack", "down"))
    )
    seen = moment(1)
    rooms = Part("rooms", "It contains:\n- stairs down at (8, 4), reachable in 2 steps")
    near = Part(
        "close monsters", "- tame kitten at (5, 5)\n- shopkeeper at (5, 4)\n- newt at (3, 5), 2 steps"
    )
    found = Observation((*seen.parts, rooms, near), seen.numbers)
    quiet = Observation((*moment(2).parts, rooms), moment(2).numbers)
    agent = build(agent_config("floor_rule"), view, Script(), Guide())
    assert [each.action for each in perform(agent, [found, quiet])] == ["melee_attack 3 5", "down 8 4"]


def test_a_floor_acts_by_code() -> None:
    (decision,) = perform(floor("floor_rule", "+agent.options.code=true"), [moment()])
    assert decision.action == "run_code print(dive(40))"


def test_its_options_are_checked() -> None:
    with pytest.raises(ConfigError, match=r"agent\.options of floor_rule"):
        floor("floor_rule", "+agent.options.speed=3")


def test_the_earlier_name_of_the_experiment_still_works() -> None:
    now, before = find("skills_and_knowledge"), find("skills_and_retrieval")
    assert now == before
    assert now is not None
    assert now.column("code") == ["code", "code_retrieval"]


@pytest.mark.slow
def test_the_report_says_what_the_model_adds(tmp_path: Path) -> None:
    bounds = ["env.episodes=2", "limits.steps=2", "runner.log=none", "runner.workers=1", "model=scripted"]
    for agent in ("floor_random", "floor_rule", "robust_cot"):
        where = [f"run.folder={tmp_path}", f"run.name={agent}", "env=nethack", f"agent={agent}"]
        assert main(["run", "+experiment=skills_and_knowledge", *where, *bounds]) == 0
    sweeps = [str(tmp_path / agent) for agent in ("floor_random", "floor_rule", "robust_cot")]
    assert main(["report", *sweeps, "--out", str(tmp_path / "report")]) == 0
    written = (tmp_path / "report" / "report.md").read_text()
    assert "What the model adds" in written
    assert 'The actions "plan" alone reach' in written
