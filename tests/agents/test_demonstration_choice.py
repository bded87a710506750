"""Every episode gets demonstrations of its own task, drawn with its game's seed as in BALROG."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from balrog_rag.agents import resolve
from balrog_rag.agents.demonstration_choice import for_game
from balrog_rag.agents.demonstration_files import load
from balrog_rag.agents.demonstrations import Demonstration, DemonstrationTurn, write
from balrog_rag.cli.prompts import main
from balrog_rag.config.agent_schema import AgentConfig
from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import plain, thaw
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.results.run_folder import journal_path
from balrog_rag.run.begin import planned
from tests.agents.support import agent_config

NETHACK = ("nle", "NetHackChallenge-v0")
GOTO = ("babyai", "BabyAI-MixedTrainLocal-v0/goto")
TASKS = [
    "nle/NetHackChallenge-v0",
    "babyai/BabyAI-MixedTrainLocal-v0/goto",
    "babyai/BabyAI-MixedTrainLocal-v0/open",
    "babaisai/env/goto_win",
    "babaisai/env/make_win",
    "babaisai/env/two_room-goto_win",
]


def demonstration(folder: Path, task: str, seed: int | None = None) -> str:
    path = folder / f"{task.replace('/', '_')}_{seed}.json"
    folder.mkdir(exist_ok=True)
    turns = (DemonstrationTurn(f"saw {task} {seed}", "north"),)
    write(path, Demonstration(task, "a test", turns, "the end", seed))
    return str(path)


def few_shot(*paths: str, more: tuple[str, ...] = ("agent.icl_episodes=null",)) -> AgentConfig:
    return resolve(agent_config("few_shot", f"agent.demonstrations=[{','.join(paths)}]", *more))


def shown(config: AgentConfig, env: str, task: str, seed: int = 1) -> list[str]:
    """The demonstrations that an episode declares."""
    chosen = for_game(config, env, task, seed)
    return [each.task for each in load(chosen.demonstrations, chosen.demonstrations_digest)]


def test_each_task_has_its_own_demonstrations(tmp_path: Path) -> None:
    config = few_shot(*(demonstration(tmp_path, task) for task in TASKS))
    assert shown(config, *NETHACK) == ["nle/NetHackChallenge-v0"]
    assert shown(config, *GOTO) == ["babyai/BabyAI-MixedTrainLocal-v0/goto"]
    assert (
        shown(
            few_shot(*config.demonstrations, more=("agent.demonstrations_of=any", "agent.icl_episodes=null")),
            *NETHACK,
        )
        == TASKS
    )


def test_one_for_a_whole_environment_is_for_all_of_its_tasks(tmp_path: Path) -> None:
    config = few_shot(*(demonstration(tmp_path, task) for task in ("babyai", "nle/recording")))
    assert shown(config, *GOTO) == ["babyai"]
    assert shown(config, *NETHACK) == ["nle/recording"]


def test_as_many_as_asked_for_are_drawn_with_the_games_seed(tmp_path: Path) -> None:
    """Evenly, in random order, the same ones again for the same seed."""
    paths = [demonstration(tmp_path, TASKS[1], seed) for seed in range(5)]
    config = few_shot(*paths, more=("agent.icl_episodes=2",))
    seeds = range(1000, 2000)
    drawn = [tuple(for_game(config, *GOTO, seed).demonstrations) for seed in seeds]
    assert drawn == [tuple(for_game(config, *GOTO, seed).demonstrations) for seed in seeds]
    assert all(len({*pair}) == 2 for pair in drawn)
    # 1,000 draws among 20 ordered pairs: 50 of each, with a standard deviation of 7.
    counted = Counter(drawn)
    assert len(counted) == 20
    assert all(15 < count < 85 for count in counted.values())


def test_baba_is_ai_is_shown_another_task(tmp_path: Path) -> None:
    """A demonstration of the same task would show its solution."""
    config = few_shot(*(demonstration(tmp_path, task) for task in TASKS))
    seen = {tuple(shown(config, "babaisai", "env/goto_win", seed)) for seed in range(30)}
    assert seen == {("babaisai/env/make_win",), ("babaisai/env/two_room-goto_win",)}
    (alone,) = [demonstration(tmp_path, "babaisai/env/goto_win")]
    with pytest.raises(ConfigError, match=r"none shows another task of babaisai than env/goto_win; add one"):
        shown(few_shot(alone), "babaisai", "env/goto_win")


def test_the_game_being_played_is_not_shown(tmp_path: Path) -> None:
    """TextWorld has 25 games of a task; BALROG shows the next file, from the last on the first one here."""
    task = "textworld/coin_collector"
    paths = [demonstration(tmp_path, task, seed) for seed in (3, 4, 5)]
    config = few_shot(*paths)

    def seeds(seed: int) -> list[int | None]:
        chosen = for_game(config, "textworld", "coin_collector", seed)
        return [each.seed for each in load(chosen.demonstrations, None)]

    assert seeds(7) == [3, 4, 5]
    assert seeds(4) == seeds(29) == [3, 5, 5]
    assert seeds(5) == [3, 4, 3]
    with pytest.raises(ConfigError, match="only demonstration of textworld/coin_collector shows the game"):
        for_game(few_shot(paths[0]), "textworld", "coin_collector", 28)


def test_specs_of_earlier_versions_are_shown_every_file(tmp_path: Path) -> None:
    """They have neither key, and their prompts stay as they were."""
    config = plain(few_shot(*(demonstration(tmp_path, task) for task in TASKS)))
    del config["demonstrations_of"], config["icl_episodes"]
    earlier = thaw(config, AgentConfig)
    assert for_game(earlier, *NETHACK, 1) is earlier


def test_changed_files_are_refused_though_they_are_of_another_task(tmp_path: Path) -> None:
    config = few_shot(*(demonstration(tmp_path, task) for task in TASKS))
    write(Path(config.demonstrations[1]), Demonstration(TASKS[1], "changed", ()))
    with pytest.raises(ConfigError, match="differ from the files that this run started with"):
        for_game(config, *NETHACK, 1)


def test_a_run_with_a_task_that_no_file_shows_does_not_begin(tmp_path: Path) -> None:
    folder = tmp_path / "demonstrations"
    demonstration(folder, TASKS[0])
    words = ["agent=few_shot", "model=scripted", f"agent.demonstrations=[{folder}]", "env.episodes=1"]
    assert len(planned(Path(), compose([*words, f"env.tasks=[{TASKS[0]}]"])).specs) == 1
    with pytest.raises(
        ConfigError, match=r"none shows babyai/.*goto, only nle/NetHackChallenge-v0; .*demonstrations_of=any"
    ):
        planned(Path(), compose([*words, f"env.tasks=[{TASKS[0]},{TASKS[1]}]"]))


@pytest.mark.parametrize("task", TASKS[:2])
def test_the_prompt_of_each_game_begins_with_a_demonstration_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], task: str
) -> None:
    folder = tmp_path / "demonstrations"
    for each in TASKS:
        demonstration(folder, each)
    words = ["agent=few_shot", "model=scripted", f"env.tasks=[{task}]", f"agent.demonstrations=[{folder}]"]
    assert main(["show", *words]) == 0
    printed = capsys.readouterr().out
    assert [each for each in TASKS if f"saw {each} " in printed] == [task]


def test_an_interrupted_episode_goes_on_with_the_demonstrations_that_it_began_with(
    tmp_path: Path, specs: Callable, player: Callable
) -> None:
    """A journal whose prompts had another demonstration would be refused."""
    folder = tmp_path / "demonstrations"
    for seed in range(100, 120):
        demonstration(folder, TASKS[1], seed)
    words = ["agent=few_shot", f"env.tasks=[{TASKS[1]}]", f"agent.demonstrations=[{folder}]"]
    for spec in specs(*words, episodes=3, steps=3):
        asyncio.run(player()(spec))
        path = journal_path(tmp_path / "run", spec.episode)
        whole = path.read_bytes()
        path.write_bytes(b"".join(whole.splitlines(keepends=True)[:-3]))
        assert asyncio.run(player()(spec)).steps == 3
