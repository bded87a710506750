"""Make a game of TextWorld: `python -m balrog_rag.envs.textworld.making TASK NAME FOLDER [BALROG'S FOLDER]`.

It is made from its seeds, or from the description beside BALROG's own game, which is much faster. Each game
is made in a separate process: TextWorld keeps global state, and a search for a quest can take minutes.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from balrog_rag.envs.textworld.games import seeds

_COIN_LEVEL, _TREASURE_LEVEL = 220, 30
_RECIPE = {"recipe": 5, "take": 5, "go": 12, "open": True, "cook": True, "cut": True, "drop": False}


def make(task: str, name: str, folder: Path, source: Path | None = None) -> Path:
    """Make a game and put its two files into the folder atomically."""
    import textworld
    from textworld.generator import compile_game

    target = folder / task / f"{name}.z8"
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{name}-") as temporary:
        made = Path(temporary, target.name)
        options = textworld.GameOptions()
        options.path = str(made)
        _compile_unchecked()
        game = _described(source, task, name) if source else _drawn(task, name, options)
        compile_game(game, options)
        made.with_suffix(".json").replace(target.with_suffix(".json"))
        made.replace(target)
    return target


def _compile_unchecked() -> None:
    """Let Inform omit its run-time checks, with which a step takes about 1.6 times as long.

    They print a line if a game's own code is faulty, and change nothing else. TextWorld has no option for
    this.
    """
    from textworld.generator.inform7 import world2inform7

    def output(command: list[str], **settings: Any) -> bytes:
        if Path(command[0]).name == "inform6":
            command = [command[0], command[1].replace("S", "~S"), *command[2:]]
        made: bytes = subprocess.check_output(command, **settings)
        return made

    world2inform7.subprocess = SimpleNamespace(
        check_output=output, STDOUT=subprocess.STDOUT, CalledProcessError=subprocess.CalledProcessError
    )


def _described(source: Path, task: str, name: str) -> Any:
    from textworld.generator.game import Game

    return Game.load(str(source / task / f"{name}.json"))


def _drawn(task: str, name: str, options: Any) -> Any:
    """Generate a game with the settings of BALROG's games."""
    from textworld.challenges.tw_coin_collector import coin_collector
    from textworld.challenges.tw_cooking import cooking
    from textworld.challenges.tw_treasure_hunter import treasure_hunter

    options.seeds = dict(zip(("map", "objects", "quest", "grammar"), seeds()[task][name], strict=True))
    if task == "the_cooking_game":
        return cooking.make({**_RECIPE, "recipe_seed": 0, "split": "test"}, options)
    options.grammar.only_last_action = True
    if task == "coin_collector":
        return coin_collector.make({"level": _COIN_LEVEL}, options)
    return treasure_hunter.make({"level": _TREASURE_LEVEL}, options)


if __name__ == "__main__":
    task, name, folder, *source = sys.argv[1:]
    make(task, name, Path(folder), Path(source[0]) if source else None)
