"""Play a game and print the digest of every observation: `python determinism.py ENV TASK SEED STEPS`."""

import asyncio
import json
import random
import sys

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.envs.nethack.game_end import read_symbol
from balrog_rag.workers.inline import InlineGame

WORDS = [
    "north",
    "south",
    "east",
    "west",
    "northeast",
    "southeast",
    "southwest",
    "northwest",
    "search",
    "pickup",
    "open",
    "kick",
    "eat",
    "apply",
    "down",
    "20",
    "s",
    "esc",
    "y",
    "f",
    "more",
]


async def main(env: str, task: str, seed: int, steps: int) -> None:
    import ctypes

    seeds = Seeds(seed, seed + 1, seed + 2)
    spec = GameSpec(env, task, seeds, max_steps=10**6, options={"no_progress": 0})
    game = InlineGame(spec)
    birthday = read_symbol(game._hosted._environment.inner._engine._game, "ubirthday", ctypes.c_long).value
    dice = random.Random(seed)
    words = [word for word in WORDS if word in game.view.accepted]
    digests, ends = [game.start.observation.digest], []
    while len(digests) <= steps:
        (transition,) = await game.play([dice.choice(words)])
        digests.append(transition.observation.digest)
        if transition.ended:
            ends.append(transition.end)
            await game.close()
            game = InlineGame(spec)
    await game.close()
    print(json.dumps({"digests": digests, "ends": ends, "birthday": birthday}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
