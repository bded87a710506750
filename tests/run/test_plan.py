"""The order in which a run's episodes begin."""

from balrog_rag.config.compose import compose
from balrog_rag.run.plan import plan
from balrog_rag.run.services import player_spec


def order(*words: str) -> list[str]:
    config = compose(["model=scripted", "agent=naive", *words])
    return [spec.episode for spec in plan(config, player_spec(config))]


def test_tasks_take_turns() -> None:
    begun = order("env=minihack", "env.episodes=3")
    tasks = len({name.rpartition("/")[0] for name in begun})
    assert tasks > 1
    for turn in range(3):
        assert {name[-2:] for name in begun[turn * tasks : (turn + 1) * tasks]} == {f"{turn:02d}"}


def test_long_games_begin_before_much_shorter_ones() -> None:
    two = "env.tasks=[minihack/MiniHack-Corridor-R3-v0,nle/NetHackChallenge-v0]"
    begun = order(two, "env.episodes=2")
    assert [name.partition("/")[0] for name in begun] == ["nle", "nle", "minihack", "minihack"]
    capped = order(two, "env.episodes=2", "limits.steps=20")
    assert [name.partition("/")[0] for name in capped] == ["minihack", "nle", "minihack", "nle"]
