"""Every scenario solved with skills through the whole harness, and wrong endings that its judge rejects."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from balrog_rag.bots.nethack.netplay.scenarios.kind import LONG, TASKS
from balrog_rag.bots.nethack.netplay.scenarios.tasks import LONG as LONGEST
from balrog_rag.bots.nethack.netplay.scenarios.tasks import SCENARIOS, SHORT
from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import plain
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.envs.nethack.world.terrain import spot
from balrog_rag.episode import journal
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.results import run_folder
from balrog_rag.results.run_folder import journal_path
from balrog_rag.results.summary import write_all
from balrog_rag.run.plan import plan
from balrog_rag.run.replay import verify
from balrog_rag.run.services import player_spec, resolved
from tests.bots.netplay.scenarios import SEEDS, SOLVERS, Scene, carry, fight, seek, symbol

SEED = SEEDS[4]
"""With this seed nearly everything is solved quickly."""
OTHER_SEEDS = {"ordered": SEEDS[2], "carry": SEEDS[0], "guided_carry": SEEDS[0]}


def seed_of(task: str) -> int:
    return OTHER_SEEDS.get(task, SEED)


def solved(task: str) -> Scene:
    scene = Scene(task, seed_of(task))
    SOLVERS[task](scene)
    return scene


def test_the_sixteen_are_declared_alike() -> None:
    assert tuple(SCENARIOS) == TASKS == tuple(SOLVERS)
    assert sum(each.published for each in SCENARIOS.values()) == 52
    kind = kind_of("netplay")
    for task, scenario in SCENARIOS.items():
        assert kind.max_steps(task) == scenario.limit == (LONGEST if task in LONG else SHORT)


def answers(scene: Scene) -> list[str]:
    """The answers of a model that does the same."""
    said = []
    for action in [*scene.done, "finish_task"]:
        call = scene.game.view.call(action)
        arguments = dict(
            zip(names_of(scene, action.split()[0]), call.arguments if call else (), strict=False)
        )
        skill = {"name": action.split()[0], **arguments}
        said.append(
            json.dumps(
                {"thoughts": dict.fromkeys(("observations", "reasoning", "speak"), ""), "skill": skill}
            )
        )
    return said


def names_of(scene: Scene, skill: str) -> list[str]:
    return [
        parameter.name
        for each in scene.game.view.programs
        if each.name == skill
        for parameter in each.parameters
    ]


@pytest.mark.parametrize("task", TASKS)
def test_each_is_solved_through_the_whole_harness(task: str, player: Callable, tmp_path: Path) -> None:
    scene = solved(task)
    assert scene.solved
    run = tmp_path / "run"
    spec = planned(task, answers(scene), run)
    end = asyncio.run(player(digest=run_folder.frozen_config(run).digest)(spec))
    path = journal_path(run, spec.episode)
    assert end.outcome == "solved", [step.stopped for step in journal.read(path).steps]
    assert asyncio.run(verify(path)).complete
    summary = write_all(run)
    assert (summary.overall["average_progress"], summary.overall.get("partial")) == (100.0, None)
    (episode,) = summary.run.episodes
    assert (episode.progression, episode.last["finished"], episode.last["premature"]) == (1.0, 1, 0)
    assert episode.last["keys"] <= spec.game.max_steps


def planned(task: str, said: list[str], run: Path) -> EpisodeSpec:
    """The only episode of a run in this folder whose model gives these answers."""
    agent = "netplay_guided" if task.startswith("guided") else "netplay"
    words = [f"agent={agent}", "env=netplay_scenarios", f"env.tasks=[netplay/{task}]"]
    words += ["env.episodes=1", f"env.seeds=[{seed_of(task)}]", "env.no_progress_calls=0"]
    config = resolved(compose(["model=scripted", "model.options.order=sequence", *words]))
    config.model.options["answers"] = said
    run_folder.create(run, plain(config))
    (spec,) = plan(config, player_spec(config))
    return spec


MORE_WORDS = ("guided", "focused")
"""Prefixes of scenarios that share another's level and judge."""


def shared(task: str, *rest: object) -> object:
    """A parameter that is slow if the same is tested under another name."""
    return pytest.param(task, *rest, marks=[pytest.mark.slow] if task.startswith(MORE_WORDS) else [])


@pytest.mark.parametrize("task", [task for task in TASKS if task.startswith((*MORE_WORDS, "hint"))])
def test_those_with_more_instructions_begin_with_the_others_goal(task: str) -> None:
    assert SCENARIOS[task].goal.startswith(SCENARIOS[task.partition("_")[2]].goal)


@pytest.mark.parametrize("task", TASKS)
def test_finishing_at_once_is_premature(task: str) -> None:
    scene = Scene(task, SEED)
    assert scene.finish() == "failed"
    assert (scene.number("finished"), scene.number("premature"), scene.number("solved")) == (1, 1, 0)


def without_the_last_thing(scene: Scene) -> None:
    """One item is left on the floor."""
    while wanted := [place for place in scene.things() if symbol(scene, place) != "?"]:
        scene.take(wanted[0])
    put_in(scene)


def put_in(scene: Scene) -> None:
    scene.all(f"apply {scene.letter('bag')}", "press_key i", "press_key A", "press_key ENTER")
    if scene.part("popup"):
        scene.all("press_key A", "press_key ENTER")


def into_the_pack_alone(scene: Scene) -> None:
    """Everything was picked up, nothing is in the bag."""
    while scene.things():
        scene.take(scene.things()[0])


def one_of_the_pile(scene: Scene) -> None:
    scene.go(scene.things()[0])
    scene.all("pickup", "press_key a", "press_key ENTER", "rest 1")


def one_put_back(scene: Scene) -> None:
    SOLVERS["multipickup"](scene)
    new = [item.letter for item in scene.tracker.player.world.items][-1]
    scene.do(f"drop {new}")


def past_the_statue(scene: Scene) -> None:
    scene.take(scene.things()[0])
    scene.goto(5, 2)
    scene.do(f"zap {scene.letter('wand')} e")


def away_from_the_statue(scene: Scene) -> None:
    scene.take(scene.things()[0])
    scene.goto(5, 3)
    scene.do(f"zap {scene.letter('wand')} w")


def scroll_first(scene: Scene) -> None:
    for kind in "?//":
        scene.take(next(place for place in scene.things() if symbol(scene, place) == kind))
    scene.do(f"read {scene.letter('Scroll of identify')}")
    for _ in range(4):
        scene.close_menu()


def never_read(scene: Scene) -> None:
    for _ in range(3):
        if scene.things():
            scene.take(sorted(scene.things(), key=lambda place: place)[0])


def only_the_bug(scene: Scene) -> None:
    for _ in range(5):
        fight(scene)
        scene.do("rest 2")


def no_door(scene: Scene) -> None:
    only_the_bug(scene)
    scene.goto(2, 3)
    scene.all("drink", "press_key y", "press_key ESC")


def beside_the_fountain(scene: Scene) -> None:
    assert seek(scene, "fountain")
    x, y = scene.at("fountain")
    scene.all(f"move_to {x} {y}", f"move_to {x} {y}", "drink", "press_key n", "press_key ESC")


def potion_in_hand(scene: Scene) -> None:
    assert seek(scene, "potion at")
    x, y = scene.at("potion at")
    scene.take(spot(x, y))


def potion_put_down(scene: Scene) -> None:
    potion_in_hand(scene)
    scene.do(f"drop {scene.letter('potion')}")


def one_of_two(scene: Scene) -> None:
    carry(scene)
    scene.all("pickup", "press_key ,", "press_key ENTER")
    if scene.part("popup"):
        scene.do("press_key y")


def in_the_wrong_room(scene: Scene) -> None:
    for name in ("plate mail", "iron ball"):
        x, y = scene.at(name)
        scene.take(spot(x, y))
        if scene.part("popup"):
            scene.do("press_key y")
        scene.do(f"drop {scene.letter(name)}")


def boulder_seen(scene: Scene) -> None:
    scene.all(*["explore_level"] * 4)


def tools_in_hand(scene: Scene) -> None:
    for place in scene.things():
        scene.take(place)


def by_the_stairs(scene: Scene) -> None:
    """The stairs up of the first level lead out of the dungeon, which ends the game."""
    scene.do("up")
    if scene.part("popup"):
        scene.do("press_key y")


def wand_in_hand(scene: Scene) -> None:
    scene.take(scene.things()[0])
    scene.do("rest 1")


WRONG: dict[str, list[Callable[[Scene], None]]] = {
    "bag": [without_the_last_thing, into_the_pack_alone],
    "guided_bag": [without_the_last_thing, into_the_pack_alone],
    "multipickup": [one_of_the_pile, one_put_back],
    "wand": [past_the_statue, away_from_the_statue],
    "guided_wand": [past_the_statue, away_from_the_statue],
    "ordered": [scroll_first, never_read],
    "unordered": [only_the_bug, no_door],
    "alternative": [beside_the_fountain, potion_in_hand],
    "conditional": [potion_in_hand, potion_put_down],
    "carry": [one_of_two, in_the_wrong_room],
    "guided_carry": [one_of_two, in_the_wrong_room],
    "boulder": [boulder_seen, tools_in_hand],
    "focused_boulder": [boulder_seen, tools_in_hand],
    "guided_boulder": [boulder_seen, tools_in_hand],
    "escape": [by_the_stairs, wand_in_hand],
    "hint_escape": [by_the_stairs, wand_in_hand],
}


@pytest.mark.parametrize(("task", "way"), [shared(task, way) for task, ways in WRONG.items() for way in ways])
def test_wrong_endings_are_refused(task: str, way: Callable[[Scene], None]) -> None:
    scene = Scene(task, seed_of(task))
    way(scene)
    assert not scene.solved
    if not scene.last.ended:
        assert scene.finish() == "failed"
    assert scene.number("solved") == 0
    progress = kind_of("netplay").progress(scene.game._spec)
    progress.see(scene.last.observation.numbers, 0.0, scene.last.ended)
    assert progress.value == 0.0


def test_a_solved_scenario_needs_no_finish_task() -> None:
    scene = solved("wand")
    progress = kind_of("netplay").progress(scene.game._spec)
    numbers = scene.last.observation.numbers
    progress.see(numbers, 0.0, "")
    assert progress.value == 0.0
    progress.see(numbers, 0.0, "steps")
    assert progress.value == 1.0


def test_a_scenario_is_ended_by_its_key_presses() -> None:
    scene = Scene("bag", SEED)
    while not scene.last.ended:
        scene.do("rest 50")
    assert (scene.last.ended, scene.number("keys")) == ("steps", 200)


def test_scenarios_can_be_played_by_keys_alone() -> None:
    scene = Scene("alternative", SEED, actions="full")
    assert not scene.game.view.programs
    assert {"north", "quaff", "finish_task"} <= set(scene.game.view.actions)
    scene.all("north", "search")
    assert scene.finish() == "failed"
