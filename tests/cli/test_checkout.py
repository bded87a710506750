"""The prompts of a BALROG checkout, letter for letter: a made one, in its layouts, with texts of our own."""

import asyncio
import importlib.util
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from balrog_rag.agents import resolve
from balrog_rag.agents.prompts import Prompts
from balrog_rag.cli.checkout import read
from balrog_rag.cli.prompts import main
from balrog_rag.config.compose import compose
from balrog_rag.contracts.data import Request, TaskView
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.events import Asked, Event
from balrog_rag.run.watchers import NullWatcher
from tests.agents.support import VIEW, Script, agent_config, made, moment, perform

ACTIONS = """ACTIONS = {
    "north": "a step up",
    "far east": "run {{fast}} to the \\"right\\"",
    "zap": "wave it {# at them #} {% now %}",
    "6": "six",
}
"""
NLE = (
    ACTIONS
    + '''

def get_instruction_prompt(task=None):
    """It has words here, too."""
    action_strings = ";\\n".join(f"{action} -> {description}" for action, description in ACTIONS.items())
    instruction_prompt = f"""
Here is a made game with {{braces}} in it. You can do:

{action_strings}.

Mind [d or ?*] and "quotes".
{{# no comment #}}

START!
""".strip()

    return instruction_prompt
'''
)
MINIHACK = (
    ACTIONS
    + '''

def get_available_actions(env):
    return {name: ACTIONS[name] for name in env.names if name in ACTIONS}


def get_instruction_prompt(env, task="Some"):
    if "corridor" in task.lower():
        goal = "Walk {{through}}."
    elif "quest" in task.lower():
        goal = "Ask around."
    else:
        goal = "Do well."

    available_actions = get_available_actions(env)
    action_strings = ",\\n".join(f"{one}: {two}" for one, two in available_actions.items())
    instruction_prompt = f"""
A made small game:

{action_strings}
{goal}
START!
""".strip()

    return instruction_prompt
'''
)
LATER = '''
def get_instruction_prompt(env, task=None):
    action_strings = ", ".join(f"{one}: {two}" for one, two in env.action_str_desc_map.items())
    instruction_prompt = f"""
The same, later: {action_strings}

START!
""".strip()

    return instruction_prompt
'''
CRAFTER = '''
from .env import ACTIONS

TABLE = {"north": "up the hill", "zap": "make light", "dig": "not here"}


def get_instruction_prompt(task=None):
    lines = "\\n".join(f"{action}: {TABLE[action]}" for action in ACTIONS)
    return f"""Made craft.
{lines}
START!"""
'''
BABYAI = (
    ACTIONS
    + """
def get_instruction_prompt(env, mission="x"):
    text = f"Your errand is to {mission}."
    return text
"""
)
TEXTWORLD = """
said = dict(
    first="\\n    Look for {{it}}.\\n    ",
    second="   Cook it.",
)


def get_instruction_prompt(env, task=None):
    text = said[task].strip()

    return text
"""
EVALUATOR = """
class Evaluator:
    def run_episode(self, task):
        obs["long"] = (
            f"\\n\\nThat was not one of them. Played: {action}\\n\\nSeen:\\n" + obs["long"]
            if action != response
            else obs["long"]
        )
"""
AGENT = '''
class Agent:
    def act(self, obs, prev_action=None):
        """Acts."""
        messages = ["x"]
        {name} = """
Say {{% one %}} word, {{{{ as it is }}}}:

<|ACTION|>WORD<|END|>
        """.strip()
        return messages, {name}
'''
FEW_SHOT = """
class FewShot:
    def wrap_episode(self):
        shown = [Message(role="user", content=f"== showing {len(self.icl_episodes) + 1} ==")]
        for event in self.icl_events:
            content = "Saw:" + event["text"]
            shown.append(Message(role="user", content=content))
        shown.append(Message(role="user", content=f"== shown {len(self.icl_episodes) + 1} =="))

    def get_icl_prompt(self):
        first = Message(role="user", content=self.prompt_builder.system_prompt.replace("START", "Look first"))
        last = Message(role="user", content="== you now ==")
        return [first, last]
"""
FILES = {
    "environments/nle/__init__.py": NLE,
    "environments/minihack/__init__.py": MINIHACK,
    "environments/crafter/__init__.py": CRAFTER,
    "environments/babyai_text/__init__.py": BABYAI,
    "environments/babaisai/__init__.py": "def get_instruction_prompt(env): return make(env)",
    "environments/textworld/__init__.py": TEXTWORLD,
    "evaluator.py": EVALUATOR,
    "agents/naive.py": AGENT.format(name="naive_instruction"),
    "agents/chain_of_thought.py": AGENT.format(name="cot_instructions"),
    "agents/robust_naive.py": AGENT.format(name="naive_instruction"),
    "agents/robust_cot.py": "class Agent: pass",
    "agents/few_shot.py": FEW_SHOT,
}
WORD = "Say {% one %} word, {{ as it is }}:\n\n<|ACTION|>WORD<|END|>"


def checkout(top: Path, **others: str) -> Path:
    for name, text in {**FILES, **others}.items():
        path = top / "balrog" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return top


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("made_checkout", path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def brought(tmp_path: Path, capsys: pytest.CaptureFixture[str], **others: str) -> tuple[str, str]:
    """The override that plays with a test checkout's prompts, and the output of the import."""
    out = tmp_path / "it's words"
    assert main(["import", str(checkout(tmp_path / "made", **others)), "--out", str(out)]) == 0
    return f"agent.prompts=@{out}", capsys.readouterr().out


def first_prompt(word: str, view: TaskView, agent: str = "naive") -> list[str]:
    """The texts of the first question."""
    script = Script(act="north")
    prompts = compose([word, "model=scripted"]).agent.prompts
    config = resolve(replace(agent_config(agent), prompts=prompts))
    perform(made(config, view, script), [moment(1)])
    return [message.text for message in script.requests[0].messages]


def test_the_instruction_is_the_checkouts_to_the_letter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    word, _ = brought(tmp_path, capsys)
    theirs = module(tmp_path / "made/balrog/environments/nle/__init__.py").get_instruction_prompt()
    instruction, newest = first_prompt(word, VIEW)
    assert instruction == theirs
    assert "{braces}" in theirs
    assert newest.endswith(f"\n\n{WORD}")


@pytest.mark.parametrize(
    "task", ["MiniHack-Corridor-R3-v0", "MiniHack-Quest-Easy-v0", "MiniHack-MazeWalk-9x9-v0"]
)
def test_goals_and_actions_of_a_task_are_the_checkouts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], task: str
) -> None:
    word, _ = brought(tmp_path, capsys)
    names = ["zap", "north", "kick"]
    view = TaskView("minihack", task, "Our goal.", dict.fromkeys(names, "ours"), frozenset(names), "north")
    theirs = module(tmp_path / "made/balrog/environments/minihack/__init__.py")
    assert first_prompt(word, view)[0] == theirs.get_instruction_prompt(SimpleNamespace(names=names), task)


def test_the_later_layout_is_read_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = 'NLE_ACTIONS_TO_DESCR = {"search": "look hard", "north": "up", "dig": "down"}'
    others = {"environments/nle/__init__.py": LATER, "environments/nle/base.py": base}
    word, _ = brought(tmp_path, capsys, **others)
    assert first_prompt(word, VIEW)[0] == "The same, later: north: up, search: look hard\n\nSTART!"


def test_other_games_are_read_as_far_as_they_are_alike(tmp_path: Path) -> None:
    found = read(checkout(tmp_path), ["nle", "crafter", "babyai", "babaisai", "textworld"])
    prompts, actions = Prompts(found.prompts), {"zap": "", "north": "", "kick": ""}
    crafter = prompts.render("instruction_crafter", actions=actions, closing="Go!")
    assert crafter == "Made craft.\nzap: make light\nnorth: up the hill\nGo!"
    assert prompts.render("instruction_babyai", goal="go there") == "Your errand is to go there."
    assert found.left_out["instruction_babaisai"] == "unsupported expression: make(env)"
    assert prompts.render("instruction_textworld", task="first") == "Look for {{it}}."
    assert prompts.render("instruction_textworld", task="second") == "Cook it."
    with pytest.raises(ConfigError, match="instruction_of_this_task"):
        prompts.render("instruction_textworld", task="third")
    assert found.left_out["answer_robust_cot"] == "has no function act"


def test_the_notice_after_an_invalid_answer_is_the_checkouts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], specs: Callable, player: Callable
) -> None:
    word, _ = brought(tmp_path, capsys)
    asked: list[Request] = []

    class Requests(NullWatcher):
        def see(self, event: Event) -> None:
            if isinstance(event, Asked):
                asked.append(event.request)

    tasks = "env.tasks=[babyai/BabyAI-MixedTrainLocal-v0/goto]"
    (spec,) = specs(tasks, word, "agent=naive", "model.options.answers=[fly]", steps=2)
    asyncio.run(player(watcher=Requests())(spec))
    newest = asked[1].messages[-1].text
    before = "Current Observation:\n\n\nThat was not one of them. Played: go forward\n\nSeen:\n"
    assert newest.startswith(before)
    assert newest.removeprefix(before).strip()


def test_few_shot_says_what_the_checkout_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    word, _ = brought(tmp_path, capsys)
    demonstration = Path(__file__).parents[1] / "agents/golden/demonstration.json"
    prompts = compose([word, "model=scripted"]).agent.prompts
    config = replace(agent_config("few_shot", f"agent.demonstrations=[{demonstration}]"), prompts=prompts)
    script = Script(act="north")
    perform(made(resolve(config), VIEW, script), [moment(1)])
    texts = [message.text for message in script.requests[0].messages]
    assert texts[0].endswith("\n\nLook first!")
    assert (texts[1], *texts[-3:-1]) == ("== showing 1 ==", "== shown 1 ==", "== you now ==")
    assert texts[2].startswith("Saw:")


def test_nothing_of_a_checkout_is_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trap = f"open({str(tmp_path / 'ran')!r}, 'w').close()\n"
    brought(tmp_path, capsys, **{name: trap + text for name, text in FILES.items()})
    assert not (tmp_path / "ran").exists()


def test_no_checkout_and_a_broken_one_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "not a BALROG checkout" in capsys.readouterr().err
    _, said = brought(
        tmp_path, capsys, **{"environments/nle/__init__.py": "def (", "agents/naive.py": "(" * 9999}
    )
    assert "skipped: instruction_nle: " in said
    assert "cannot be read as Python" in said
    assert all(line.count("\n") == 0 for line in said.splitlines())


def test_a_folder_without_prompts_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"contains no prompt files \(NAME\.j2\)"):
        compose([f"agent.prompts=@{tmp_path}"])


def test_an_instruction_without_a_place_for_the_papers_rules_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    word, _ = brought(tmp_path, capsys)
    config = compose([word, "agent=robust_star", "model=scripted"]).agent
    with pytest.raises(
        ConfigError, match=r"agent\.prompts\.instruction_nle has no place for its text; add {{ advice }}"
    ):
        resolve(config)
    resolve(replace(config, system="balrog"))
