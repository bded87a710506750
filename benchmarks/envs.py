"""The cost of a step: bare NLE, our environment with its text, and games in worker processes.

python benchmarks/envs.py [--steps 3000] [--repeat 3]
"""

import argparse
import asyncio
import random
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from balrog_rag.contracts.data import GameSpec, Seeds
from balrog_rag.envs.nethack.actions import MORE, nethack_actions
from balrog_rag.envs.textworld.building import missing
from balrog_rag.workers.host import HostedGame
from balrog_rag.workers.inline import InlineGame
from balrog_rag.workers.pool import WorkerPool
from balrog_rag.workers.worker_process import WorkerProcess

WORDS = [
    *("north", "south", "east", "west", "northeast", "southwest", "far east", "far south"),
    "search",
    "kick",
]
GAMES = 64
AT_PAGE = 3


def spec(seed: int, task: str = "NetHackChallenge-v0", env: str = "nle", **rest) -> GameSpec:
    return GameSpec(env, task, Seeds(seed, seed), 10**9, {"no_progress": 0, **rest})


def words(steps: int) -> list[str]:
    dice = random.Random(1)
    return [dice.choice(WORDS) for _ in range(steps)]


def bare(steps: int) -> float:
    """CPU seconds per step of NLE's core with the arrays that an observation needs, pages turned."""
    game = InlineGame(spec(1))
    engine = game._hosted._environment._engine
    core, asking = engine._game, engine.arrays["internal"]
    keys = [nethack_actions("full").keys[word][0] for word in words(steps)]
    begun, taken = time.process_time(), 0
    for key in keys:
        _, done = core.step(key)
        while asking[AT_PAGE] and not done:
            _, done = core.step(MORE)
        taken += 1
        if done:
            break
    cost = (time.process_time() - begun) / taken
    asyncio.run(game.close())
    return cost


def gym_step(steps: int) -> float:
    """CPU seconds per step of NLE's own NetHackChallenge class."""
    from nle import nethack
    from nle.env.tasks import NetHackChallenge

    env = NetHackChallenge(character="@", fix_moon_phase=True)
    nethack.Nethack.set_initial_seeds(env.nethack, 1, 1, False, None)
    env.reset()
    places = {int(key): place for place, key in enumerate(env.actions)}
    keys = [places[nethack_actions("full").keys[word][0]] for word in words(steps)]
    begun, taken = time.process_time(), 0
    for key in keys:
        taken += 1
        if env.step(key)[2]:
            break
    cost = (time.process_time() - begun) / taken
    env.close()
    return cost


def ours(steps: int, made: GameSpec | None = None) -> float:
    """CPU seconds per step of our environment, including text, digest and joined pages."""
    game = InlineGame(made or spec(1))
    accepted = [word for word in words(steps) if word in game.view.accepted]
    begun = time.process_time()
    played = len(asyncio.run(game.play(accepted)))
    cost = (time.process_time() - begun) / played
    asyncio.run(game.close())
    return cost


def pooled(steps: int, burst: int, games: int, workers: int) -> float:
    """Wall-clock seconds per step of games in workers, played in parallel in bursts."""

    async def play(game) -> int:
        played, actions = 0, words(steps)
        for begin in range(0, steps, burst):
            transitions = await game.play(actions[begin : begin + burst])
            played += len(transitions)
            if transitions[-1].ended:
                break
        return played

    async def run() -> float:
        pool = WorkerPool(workers, 60)
        await pool.start()
        opened = await asyncio.gather(*(pool.open(spec(seed)) for seed in range(1, games + 1)))
        begun = time.perf_counter()
        played = sum(await asyncio.gather(*(play(game) for game in opened)))
        cost = (time.perf_counter() - begun) / played
        await pool.close()
        return cost

    return asyncio.run(run())


def first_game() -> float:
    """Wall-clock seconds from the start to a worker's first observation."""

    async def run() -> float:
        begun = time.perf_counter()
        pool = WorkerPool(1, 60)
        await pool.start()
        await pool.open(spec(1))
        took = time.perf_counter() - begun
        await pool.close()
        return took

    return asyncio.run(run())


def memory_per_game() -> float:
    """MiB that one more game costs a worker."""

    def resident(worker: WorkerProcess) -> int:
        return int(Path(f"/proc/{worker.pid}/statm").read_text().split()[1]) * 4096

    async def run() -> float:
        pool = WorkerPool(1, 60)
        await pool.start()
        await pool.open(spec(0))
        (worker,) = pool.workers
        before = resident(worker)
        for seed in range(1, GAMES + 1):
            await (await pool.open(spec(seed))).play(words(20))
        grown = resident(worker) - before
        await pool.close()
        return grown / GAMES / 2**20

    return asyncio.run(run())


SMALL = {
    "babyai": "BabyAI-MixedTrainLocal-v0/putnext",
    "babaisai": "env/two_room-make_you",
    "crafter": "default",
    "textworld": "coin_collector",
}


def small(env: str, steps: int) -> tuple[float, float]:
    """CPU seconds per step of a small game's engine, and of the harness up to the transition."""
    module = import_module(f"balrog_rag.envs.{env}.game")
    dice, costs = random.Random(1), [0.0, 0.0]
    actions = [dice.choice(list(module.ACTIONS)) for _ in range(steps)]
    engine = module.make(SMALL[env], 1)
    game = HostedGame(GameSpec(env, SMALL[env], Seeds(1, 1), 10**9))
    for place, (begin, step) in enumerate(((engine.reset, engine.step), (lambda: None, game.step))):
        begin()
        begun, taken = time.process_time(), 0
        for action in actions:
            taken += 1
            if step(action).ended:
                break
        costs[place] = (time.process_time() - begun) / taken
    engine.close()
    game.close()
    return costs[0], costs[1] - costs[0]


def measured(measure: Callable[[], float], repeat: int) -> float:
    return median(measure() for _ in range(repeat))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    steps, repeat = options.steps, options.repeat
    table = Table("what", "measured", "target", title=f"median of {repeat}, up to {steps} steps")

    def row(what: str, seconds: float, target: str = "") -> None:
        table.add_row(what, f"{seconds * 1e6:,.0f} us a step ({1 / seconds:,.0f}/s)", target)

    row("bare NLE core, CPU", measured(lambda: bare(steps), repeat))
    row("NLE's NetHackChallenge class, CPU", measured(lambda: gym_step(steps), repeat))
    row("ours with text, CPU", measured(lambda: ours(steps), repeat), "<= 120 us")
    quest = spec(1, "MiniHack-Quest-Hard-v0", "minihack")
    row("ours with text, MiniHack, CPU", measured(lambda: ours(steps, quest), repeat), "<= 200 us")
    image = spec(1, layout="image")
    row("ours with a picture, CPU", measured(lambda: ours(steps // 20, image), repeat))
    row("one worker, one step at a time, wall", measured(lambda: pooled(steps, 1, 1, 1), repeat))
    row("one worker, bursts of 64, wall", measured(lambda: pooled(steps, 64, 1, 1), repeat), "<= 200 us")
    row(
        "one worker, 32 games, one step at a time, wall",
        measured(lambda: pooled(steps // 8, 1, 32, 1), repeat),
    )
    row(
        "two workers, 32 games, one step at a time, wall",
        measured(lambda: pooled(steps // 8, 1, 32, 2), repeat),
    )
    for env in SMALL:
        if env == "textworld" and (find_spec("textworld") is None or missing(tasks=["coin_collector"])):
            continue
        costs = [small(env, steps) for _ in range(repeat)]
        row(f"{env}, its engine, CPU", median(bare for bare, _ in costs))
        added = median(more for _, more in costs)
        table.add_row(f"{env}, what the harness adds, CPU", f"{added * 1e6:,.0f} us a step", "<= 300 us")
    table.add_row(
        "first observation out of a fresh worker", f"{measured(first_game, repeat) * 1e3:,.0f} ms", ""
    )
    table.add_row("memory of one more game in a worker", f"{memory_per_game():.1f} MiB", "<= 4 MiB")
    Console().print(table)


if __name__ == "__main__":
    main()
