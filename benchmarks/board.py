"""Replay recorded games of env=nethackers in the environment of the board's own package.

    python benchmarks/board.py RUN... [--clock]

Needs the package (`pip install 'balrog_rag[autoascend]'`). The package leaves its games to the wall clock;
here the clock is pinned as in ours, unless --clock is given.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path

from nethackers.arena.environment import EnvironmentMetrics, make_environment
from nethackers.arena.seeds import trajectory_spec
from nle import nethack

from balrog_rag.envs.nethack.clock import pin_clock
from balrog_rag.episode import journal
from balrog_rag.results.run_folder import journals
from balrog_rag.results.tally import read_episode

INDEX = {int(action): place for place, action in enumerate(nethack.ACTIONS)}
STEPS, STANDSTILL = 1_000_000, 10_000


def pressed_there(
    identity: str, number: int, keys: Iterable[int], clock: bool
) -> tuple[EnvironmentMetrics, bool]:
    """The package's results of a game, and whether it was over with the last key."""
    environment = make_environment(STEPS, STANDSTILL, identity)
    trajectory = trajectory_spec("public", "local", number)
    if not clock:
        pin_clock(environment._env.nethack, trajectory.core_seed)
    environment.reset(trajectory)
    over = False
    for key in keys:
        if over:
            break
        _, _, *ends = environment.step(INDEX[key])
        over = any(ends)
    found = environment.metrics()
    environment.close()
    return found, over


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--clock", action="store_true", help="leave the wall clock to the games")
    args = parser.parse_args()
    games = equal = 0
    for path in (path for run in args.runs for path in journals(run)):
        episode = read_episode(path)
        if episode is None or episode.env != "nethackers":
            continue
        keys = [int(key) for step in journal.read(path).steps for key in step.pressed]
        theirs, over = pressed_there(episode.task, episode.game.seeds.core, keys, args.clock)
        there = (theirs.progress, theirs.milestone, theirs.turns)
        here = (episode.progression, episode.highest, episode.last["turn"])
        games, equal = games + 1, equal + (over and here == there)
        if here != there:
            print(f"{episode.name}: here {here}, there {there}")
    print(f"{games} games, {equal} of them with equal progression, achievement and turns")


if __name__ == "__main__":
    main()
