import subprocess
import sys

import gymnasium
import pytest

import balrog_rag
import balrog_rag.gym
from balrog_rag.contracts import registry
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import EnvironmentKind, Share
from tests.gym.support import CORRIDOR


def test_every_task_has_an_id_of_its_own() -> None:
    tasks = [task for kind in registry.environments.names() for task in balrog_rag.list_tasks(kind)]
    ids = balrog_rag.gym.register_tasks()
    assert len(set(ids)) == len(tasks) >= 300
    assert {gymnasium.spec(each).kwargs["task"] for each in ids} == set(tasks)


def test_ids_are_those_of_the_documentation() -> None:
    task_id = balrog_rag.gym.task_id
    assert task_id("nle", "NetHackChallenge-v0") == "balrog_rag/NetHackChallenge-v0"
    assert task_id("minihack", "MiniHack-Corridor-R3-v0") == CORRIDOR
    assert task_id("babaisai", "env/goto_win") == "balrog_rag/babaisai-env-goto_win"
    assert task_id("mine", "a task, with (marks)") == "balrog_rag/mine-a-task--with--marks-"


def test_an_id_can_name_the_module_to_import() -> None:
    """In a process that has imported nothing of ours; and our package alone does not import Gymnasium."""
    code = (
        "import sys, balrog_rag; balrog_rag.contracts.registry.environments.names(); "
        "print('gymnasium' in sys.modules); import gymnasium; "
        f"env = gymnasium.make('balrog_rag.gym:{CORRIDOR}'); "
        "print(env.reset(seed=1)[0][:9])"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.stdout.split("\n")[:2], done.stderr) == (["False", "inventory"], "")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("balrog_rag/MiniHack-Boxoban-Hard-v0", "envs fetch boxoban"),
        ("balrog_rag/MiniHack-LavaCrossingS11N5-v0", "cannot be played"),
        ("balrog_rag/textworld-coin_collector", "textworld"),
    ],
)
def test_a_task_that_lacks_something_says_so_when_made(
    name: str, says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("BALROG_RAG_CACHE", str(tmp_path))
    with pytest.raises(ConfigError, match=says) as caught:
        gymnasium.make(name)
    assert "\n" not in str(caught.value)


def broken() -> list[str]:
    raise OSError("no list of tasks")


def test_a_kind_without_tasks_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = EnvironmentKind(
        name="broken", title="", tasks=broken, make=lambda spec, file: None, progress=lambda game: Share()
    )
    monkeypatch.setitem(registry.environments._added, "broken", kind)
    with pytest.warns(UserWarning, match=r"no task of 'broken' is registered: .*no list of tasks"):
        assert CORRIDOR in balrog_rag.gym.register_tasks()


def test_two_tasks_with_one_id_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind of somebody else must not replace a task of the same name."""
    kind = EnvironmentKind(
        name="other",
        title="",
        tasks=lambda: ["NetHackChallenge-v0"],
        make=lambda spec, file: None,
        progress=lambda game: Share(),
    )
    monkeypatch.setitem(registry.environments._added, "other", kind)
    with pytest.warns(UserWarning, match="other/NetHackChallenge-v0 is not registered, because nle/NetHack"):
        balrog_rag.gym.register_tasks()
    assert gymnasium.spec("balrog_rag/NetHackChallenge-v0").kwargs["task"] == "nle/NetHackChallenge-v0"
