"""Play a game by hand: one action per line, until the game or the input ends.

python examples/play_by_hand.py [ENV/TASK] [SEED]
"""

import sys

import balrog_rag
from balrog_rag.contracts.errors import ConfigError


def main(task: str = "minihack/MiniHack-Corridor-R3-v0", seed: str = "1") -> None:
    """Show the screen, read an action, take it."""
    with balrog_rag.make(task, seed=int(seed)) as game:
        print(game.view.goal, "Actions:", ", ".join(game.view.actions), sep="\n")
        while not game.ended:
            print(game)
            action = sys.stdin.readline().strip()
            if not action:
                break
            try:
                game.step(action)
            except ConfigError as mistake:  # unknown action: the game has not moved
                print(mistake)
        print(repr(game))


if __name__ == "__main__":
    main(*sys.argv[1:])
