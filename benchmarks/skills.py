"""The computing time of NetPlay's skills: per key on well-known levels, and per description.

    python benchmarks/skills.py [--games 10] [--seed 0] [--calls 60]

Only our own code is timed: a skill's choice of a key and the tracker's processing of the result, not
NetHack's step. Seconds are processor time, so that other load does not matter.
"""

import argparse
import time
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from balrog_rag.bots.nethack.netplay.skills import skills
from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.contracts.programs import Begin, ProgramFailed
from balrog_rag.envs.nethack.engine import NLEGame
from balrog_rag.envs.nethack.game import make
from balrog_rag.envs.nethack.world import describe
from balrog_rag.envs.nethack.world.tracker import Tracker

FULL = 350
"""Number of known squares from which a level counts as well known."""
SKILLS = {kind.name: kind for kind in skills(others=True)}
MOST_PRESSES = 400


class Timed:
    """A function whose calls are timed."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.seconds = 0.0

    def __call__(self, *arguments: Any) -> Any:
        begun = time.thread_time()
        found = self.function(*arguments)
        self.seconds += time.thread_time() - begun
        return found


def call(game: NLEGame, look: Timed, name: str, **arguments: int) -> list[float]:
    """Play one skill; return the seconds of each of its keys."""
    kind = SKILLS[name]
    program, seconds, screen = kind.make(Begin(game.screen, arguments, game.view, 0, {})), [], None
    for _ in range(MOST_PRESSES):
        look.seconds, begun = 0.0, time.thread_time()
        try:
            key = program.send(screen)
        except (StopIteration, ProgramFailed):
            break
        thought = time.thread_time() - begun
        if game.press(key).ended:
            raise EOFError
        seconds.append(thought + look.seconds)
        if game.event():
            break
        screen = game.screen
    program.close()
    return seconds


def squares(tracker: Tracker) -> int:
    """The number of known squares of the level."""
    return sum(code >= 0 for code in tracker.player.level.terrain)


def play(seed: int, calls: int) -> tuple[list[float], list[float], list[int]]:
    """Seconds per key, seconds per description, and the number of known squares at each."""
    options = {"actions": "skills", "character": "val-hum-neu-fem", "no_progress": 0}
    game = make(GameSpec("nle", "NetHackChallenge-v0", Seeds(seed, seed), 10**6, options))
    game.reset()
    tracker = game.screen.tracker  # type: ignore[attr-defined]
    tracker.see = look = Timed(tracker.see)
    dice, keys, told, known = Random(seed), [], [], []
    try:
        for _ in range(calls):
            full, rooms = squares(tracker) >= FULL, len(tracker.rooms.kinds)
            if tracker.player.screen.question:
                game.press(27)
            name = dice.choice(["explore_level", "go_to"])
            number = {"room_id": dice.randrange(rooms)} if name == "go_to" and rooms else {}
            thought = call(game, look, name if number or name == "explore_level" else "rest", **number)
            if full:
                keys += thought
                begun = time.thread_time()
                describe.parts(tracker)
                told.append(time.thread_time() - begun)
                known.append(squares(tracker))
    except EOFError:
        pass
    game.close()
    return keys, told, known


def line(what: str, seconds: list[float]) -> str:
    """Median and percentiles in milliseconds."""
    middle, high = np.percentile(seconds, [50, 99]) * 1000
    n, most = len(seconds), 1000 * max(seconds)
    return f"{what}: n {n}, median {middle:.2f} ms, p99 {high:.2f} ms, most {most:.2f} ms"


def main() -> None:
    """Print medians and percentiles."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--calls", type=int, default=60)
    options = parser.parse_args()
    played = [play(options.seed + number, options.calls) for number in range(options.games)]
    keys, told, known = ([each for game in played for each in game[part]] for part in range(3))
    print(line("key", keys))
    print(line("description", told))
    print(f"squares known: median {np.median(known):.0f}, most {max(known)}")


if __name__ == "__main__":
    main()
