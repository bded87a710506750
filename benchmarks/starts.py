"""The first steps of many games of NetHack: `python benchmarks/starts.py [--seeds 20000] [--from 0]`.

Each seed's game is started and played with random actions for a few steps. Printed are the number of games
that began, the time of a start, and every seed whose game cannot begin, fails, or begins with a question.
"""

import argparse
import random
import time

from msgspec.structs import replace

from balrog_rag.config.compose import compose
from balrog_rag.contracts.data import Seeds
from balrog_rag.contracts.errors import BalrogError
from balrog_rag.envs.nethack.game import make
from balrog_rag.run.plan import plan
from balrog_rag.run.services import player_spec

MOST = 2**31
ASKING = slice(1, 4)


def play(spec, seed, steps):
    """The problem in the first steps of a seed's game, if any, and the seconds of its start."""
    begun = time.perf_counter()
    try:
        game = make(spec)
    except BalrogError as error:
        return f"cannot be made: {error}", 0.0
    try:
        game.reset()
        took = time.perf_counter() - begun
        wrong = "begins with a question" if any(game.screen["internal"][ASKING]) else ""
        dice, actions = random.Random(seed), list(game.view.actions)
        for _ in range(steps):
            action = dice.choice(actions)
            if action in game.view.accepted and game.step(action).ended:
                break
        return wrong, took
    except BalrogError as error:
        return str(error), time.perf_counter() - begun
    finally:
        game.close()


def main():
    """Print the findings."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20_000)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--steps", type=int, default=20)
    chosen = parser.parse_args()
    config = compose(["model=scripted", "env.episodes=1"])
    game = plan(config, player_spec(config))[0].game
    begun, starts, found = time.perf_counter(), 0.0, 0
    for number in range(chosen.first, chosen.first + chosen.seeds):
        dice = random.Random(number)
        core, disp = dice.randrange(MOST), dice.randrange(MOST)
        wrong, took = play(replace(game, seeds=Seeds(core, disp)), number, chosen.steps)
        starts += took
        if wrong:
            found += 1
            print(f"seed {number} (core {core}, disp {disp}): {wrong}", flush=True)
    whole = time.perf_counter() - begun
    print(f"{chosen.seeds} games of {chosen.steps} steps, {found} with something wrong, {whole:.0f} s")
    print(f"a start: {starts / chosen.seeds * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
