"""Which games each agent plays, as agents and kinds of game declare it, and the files needed for that."""

from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgspec
import pytest

from balrog_rag import agents
from balrog_rag.agents.demonstrations import Demonstration, DemonstrationTurn, write
from balrog_rag.bots.nethack.guests.program_folder import autoascend_folder
from balrog_rag.cli import learn
from balrog_rag.cli.main import main
from balrog_rag.config.compose import compose
from balrog_rag.config.schema import Config
from balrog_rag.contracts import registry
from balrog_rag.contracts.data import GameSpec
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import EnvironmentKind, check_game, kind_of
from balrog_rag.contracts.option_schema import literals
from balrog_rag.run.plan import game_spec

WALKER = Path(__file__).parents[1] / "data" / "guests" / "walker"


SEEDS = ["env.seeding=list", "env.seeds=[0,1,2]"]
"""The board NetHackers takes a list of its games only; the other kinds of game take any seeds."""


def games_of(option: str) -> list[str]:
    """Overrides that select one game of each kind that the agent plays and this machine has."""
    agent = compose([f"agent={option}"]).agent.name
    games = [game for kind in registry.environments.names() if (game := _game(agent, kind_of(kind)))]
    tasks = ",".join(f"{game.env}/{game.task}" for game in games)
    options = [
        f"env.options.{game.env}.actions={game.options['actions']}"
        for game in games
        if "actions" in game.options
    ]
    return [f"env.tasks=[{tasks}]", *options, *SEEDS]


def _game(agent: str, kind: EnvironmentKind) -> GameSpec | None:
    games = (_ready(kind.name, actions) for actions in _action_sets(kind))
    return next((game for game in games if game and not agents.refusal(agent, game)), None)


def _action_sets(kind: EnvironmentKind) -> list[str]:
    fields = {field.name: field.type for field in msgspec.structs.fields(kind.options)}
    return literals(fields["actions"]) if "actions" in fields else [""]


@cache
def _ready(env: str, actions: str) -> GameSpec | None:
    """The first game of the kind whose files and libraries are installed."""
    config, options = _default(), {env: {"actions": actions}} if actions else {}
    for task in kind_of(env).sampling.listed or kind_of(env).tasks():
        chosen = replace(config.env, tasks=[f"{env}/{task}"], options=options)
        game = game_spec(replace(config, env=chosen), f"{env}/{task}", 0)
        try:
            check_game(game)
        except ConfigError:
            continue
        return game
    return None


@cache
def _default() -> Config:
    return compose(["model=scripted", *SEEDS])


def needed(agent: str, folder: Path) -> list[str]:
    """Overrides that select the agent and its files; skips if its extra is missing."""
    if agent == "autoascend":
        _skip_without_autoascend()
    if agent == "checkpoint":
        return ["agent=checkpoint", f"agent.options.path={_checkpoint(folder)}"]
    if agent == "few_shot":
        path = folder / "demonstration.json"
        write(
            path, Demonstration("nle/NetHackChallenge-v0", "a test", (DemonstrationTurn("A newt.", "north"),))
        )
        return ["agent=few_shot", f"agent.demonstrations=[{path}]", "agent.demonstrations_of=any"]
    if agent == "own_class":
        file = folder / "own.py"
        file.write_text("from balrog_rag.agents.naive import Naive\n\nclass Mine(Naive):\n    pass\n")
        return [f"agent={file}:Mine"]
    if agent == "policy":
        file = folder / "mine.py"
        file.write_text("def act(seen):\n    return int(seen['blstats'][20]) % 8\n")
        return [f"agent={file}:act"]
    return [f"agent={agent}", *([f"agent.options.path={WALKER}"] if agent == "program" else [])]


def _skip_without_autoascend() -> None:
    try:
        autoascend_folder()
    except ConfigError as error:
        pytest.skip(str(error))


def _checkpoint(folder: Path) -> Path:
    """A checkpoint trained on two short games."""
    if find_spec("torch") is None or find_spec("safetensors") is None:
        pytest.skip("the extra [learn] (torch, safetensors) is not installed")
    game = ["env.tasks=[nle/NetHackChallenge-v0]", "env.episodes=2", "limits.steps=20", "runner.workers=1"]
    assert main(["agent=naive", "model=scripted", *game, f"run.folder={folder}", "run.name=taught"]) == 0
    sizes = ["--batch", "2", "--length", "8", "--frames", "60", "--threads", "1"]
    assert learn.main(["bc", "--from", str(folder / "taught"), "--out", str(folder / "clone"), *sizes]) == 0
    return folder / "clone"
