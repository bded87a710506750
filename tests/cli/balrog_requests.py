"""What the agents of a user's BALROG checkout ask; run by `test_users_checkout` in a process of its own.

The checkout's evaluator plays. The model's client and the games are replaced by ones that answer with what
standard input holds.
"""

import json
import logging
import sys
import tempfile
from collections import namedtuple
from types import ModuleType, SimpleNamespace

LLMResponse = namedtuple(
    "LLMResponse", "model_id completion stop_reason input_tokens output_tokens reasoning"
)


def main() -> None:
    given = json.load(sys.stdin)
    sys.path.insert(0, given["checkout"])
    logging.disable()
    asked: list[list[tuple[str, str]]] = []
    answers = iter(given["answers"])

    def generate(messages):
        asked.append([(message.role, message.content) for message in messages])
        return LLMResponse("", next(answers), "", 0, 0, "")

    module(
        "balrog.client",
        LLMClientWrapper=object,
        create_llm_client=lambda config: lambda: SimpleNamespace(generate=generate),
    )
    module("balrog.environments", make_env=lambda *_: Environment(given))
    from balrog.agents import AgentFactory
    from balrog.evaluator import Evaluator
    from omegaconf import OmegaConf

    config = OmegaConf.load(f"{given['checkout']}/balrog/config/config.yaml")
    config.agent.type = given["agent"]
    config.envs.env_kwargs.seed = 1
    agent = AgentFactory(config).create_agent()
    with tempfile.TemporaryDirectory() as folder:
        evaluator = Evaluator("textworld", config, output_dir=folder)
        evaluator.dataset.load_in_context_learning_episodes = lambda number, task, agent: show(given, agent)
        evaluator.run_episode(given["task"], agent)
    json.dump(asked, sys.stdout)


def show(given, agent) -> None:
    """A demonstration as BALROG's dataset loads it."""
    for seen, action in given["demonstration"]:
        agent.update_icl_observation({"text": {"long_term_context": seen}})
        if action:
            agent.update_icl_action(action)
    agent.wrap_episode()


def module(name: str, **content) -> None:
    sys.modules[name] = made = ModuleType(name)
    made.__dict__.update(content)


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
        return {"text": {"long_term_context": long, "short_term_context": short}, "image": None}

    def get_instruction_prompt(self, instructions=None):
        return self.given["instruction"]

    def check_action_validity(self, action):
        return action if action in self.given["accepted"] else self.given["default"]

    def get_stats(self):
        return {"progression": 0.0}


if __name__ == "__main__":
    main()
