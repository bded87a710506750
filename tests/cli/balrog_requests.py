"""What the agents of a user's BALROG checkout send; run by `test_users_checkout` in a process of its own.

The checkout's evaluator, agents, instructions, demonstrations and its conversion of messages are used as they
are. The model and the games are replaced by ones that answer with what standard input holds.
"""

import ast
import json
import logging
import sys
import tempfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any


def main() -> None:
    given = json.load(sys.stdin)
    sys.path.insert(0, given["checkout"])
    logging.disable()
    replace_libraries(given)
    from balrog import client
    from balrog.agents import AgentFactory
    from balrog.evaluator import Evaluator
    from omegaconf import OmegaConf

    config = OmegaConf.load(f"{given['checkout']}/balrog/config/config.yaml")
    config.agent.type = given["agent"]
    config.envs.env_kwargs.seed = 1
    config.eval.icl_dataset = given["records"]
    asked: list[Any] = []
    answers = iter(given["answers"])
    converter = SimpleNamespace(alternate_roles=False)

    def generate(messages):
        asked.append(client.OpenAIWrapper.convert_messages(converter, messages))
        return client.LLMResponse("", next(answers), "", 0, 0, "")

    sys.modules["balrog.agents"].create_llm_client = lambda config: lambda: SimpleNamespace(generate=generate)
    agent = AgentFactory(config).create_agent()
    with tempfile.TemporaryDirectory() as folder:
        Evaluator(given["env"], config, original_cwd="/", output_dir=folder).run_episode(given["task"], agent)
    json.dump(asked, sys.stdout)


def replace_libraries(given) -> None:
    """Replace providers' libraries and the games themselves with empty modules."""
    module("google", genai=None).__path__ = []
    module("google.genai", types=None)
    module("anthropic", Anthropic=None)
    module("openai", OpenAI=None)
    games = Path(given["checkout"], "balrog/environments")
    module("balrog.environments", make_env=lambda *_: Environment(given)).__path__ = [str(games)]
    module("balrog.environments.babyai_text.clean_lang_wrapper", BabyAITextCleanLangWrapper=None)
    module("balrog.environments.babaisai.base", BabaIsAIWrapper=None)
    actions = crafter_actions(games / "crafter/env.py")
    module("balrog.environments.crafter.env", ACTIONS=actions, CrafterLanguageWrapper=None)
    module("balrog.environments.nle.auto_more", AutoMore=None)
    module("balrog.environments.nle.base", NLELanguageWrapper=None)
    factory = SimpleNamespace(count={given["task"]: 1})
    module("balrog.environments.textworld.base", TextWorldFactory=lambda **_: factory)
    for name in ("nle", "nle.language_wrapper", "nle.language_wrapper.wrappers"):
        module(name).__path__ = []
    keys = SimpleNamespace(all_nle_action_map={name: [name] for name in given["listed"]})
    module("nle.language_wrapper.wrappers.nle_language_wrapper", NLELanguageWrapper=keys)


def crafter_actions(path: Path) -> list[str]:
    """The list of actions, whose module needs the game."""
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="ACTIONS")], value=value):
                return ast.literal_eval(value)
    raise LookupError(path)


def module(name: str, **content) -> ModuleType:
    sys.modules[name] = made = ModuleType(name)
    made.__dict__.update(content)
    return made


class Environment:
    """Shows the given observations, whatever is done."""

    def __init__(self, given) -> None:
        self.given, self.failed_candidates = given, []
        self.max_steps = len(given["answers"])
        self.left = iter(given["observations"])

    def reset(self, seed=None):
        return self.next(), {}

    def step(self, action):
        return self.next(), 0.0, False, False, {}

    def next(self):
        long, short = next(self.left)
        shown = {"text": {"long_term_context": long, "short_term_context": short}, "image": None}
        return shown | {"mission": self.given["mission"]}

    def get_instruction_prompt(self, instructions=None):
        from balrog.environments.env_wrapper import EnvWrapper

        game = SimpleNamespace(actions=self.given["listed"])
        wrapped = SimpleNamespace(env_name=self.given["env"], task_name=self.given["task"], env=game)
        return EnvWrapper.get_instruction_prompt(wrapped, instructions=instructions)

    def check_action_validity(self, action):
        return action if action in self.given["accepted"] else self.given["default"]

    def get_stats(self):
        return {"progression": 0.0}


if __name__ == "__main__":
    main()
