"""Measure the skills of env.actions=plan: what they are worth, how long a decision takes, any call's end.

    python benchmarks/plan.py worth [--games 40]       progression of fixed rules with more and more skills
    python benchmarks/plan.py model [--games 100]      examples/rule_model.py with plan, and with keys
    python benchmarks/plan.py without [--games 20]     its rules without each skill, in the same games
    python benchmarks/plan.py decisions [--games 10]   processor time of our code per key and observation
    python benchmarks/plan.py calls [--calls 10000]    random calls: each must end with a reason

Characters are random. Seconds are processor time. `worth` and `decisions` play without a prompt in between.
"""

import argparse
import asyncio
import inspect
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import balrog_rag
from balrog_rag.bots.nethack.plan.plan_offered import OFFERED
from balrog_rag.contracts.data import Action, GameSpec, Parameter, Seeds
from balrog_rag.contracts.programs import Begin, ProgramFailed
from balrog_rag.envs.nethack.characters import characters
from balrog_rag.models.serving.testserver import TestServer
from balrog_rag.results.statistics.interval import mean_interval
from balrog_rag.results.statistics.units import Bounds, Score
from balrog_rag.workers.host import HostedGame
from examples.rule_model import DIGGER, choose

MOST_CALLS = 150
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ$-*?#,.<>:;_"


def hosted(seed: int, character: str = "@", **options: Any) -> HostedGame:
    """A game with plan skills."""
    chosen = {"actions": "plan", "character": character, **options}
    return HostedGame(GameSpec("nle", "NetHackChallenge-v0", Seeds(seed, seed), 100_000, chosen))


def walk(now: str, told: str) -> str:
    """Explore, fight, go down by stairs, pray, eat, rest."""
    health = re.search(r"HP:(\d+)\((\d+)\)", now)
    hp, most = map(int, health.groups()) if health else (1, 1)
    if hp * 7 < most and "failed: not prayed" not in told:
        return "pray"
    if "interrupted by monster" in told or "interrupted by harm" in told:
        return "strike"
    if hp * 2 < most and "failed" not in told and "hit while resting" not in told:
        return "rest"
    if re.search(r"T:\d+ .*(Hungry|Weak|Fainting)", now) and "food" not in told:
        return "eat"
    known = re.search(r"memory:\n[^\n]*stairs down", now)
    return "down" if known and "stairs down" not in told and "not go down" not in told else "explore_level"


def dig(now: str, told: str) -> str:
    """The same, with a digging tool that is fetched first, and dig_down."""
    if "failed" in told or "interrupted by" in told:
        urgent = walk(now, told)
        if urgent in ("pray", "strike", "rest", "eat"):
            return urgent
    if "ground is too hard" in told:
        return walk(now, "")
    return "dig_down" if DIGGER.search(now) else "fetch_digger"


def follow(now: str, told: str) -> str:
    """Let the program play."""
    return "play_on 500"


def dive(now: str, told: str) -> str:
    """The rules of examples/rule_model.py."""
    return choose((f"Your last action, x, stopped: {told}\n{now}",))


ARMS: dict[str, Callable[[str, str], str]] = {"walk": walk, "dig": dig, "dive": dive, "follow": follow}


def played(rule: Callable[[str, str], str], seed: int) -> tuple[float, int]:
    """Play one game; return its progression in percent and the calls."""
    game = hosted(seed)
    seen, calls = game.start, 0
    while calls < MOST_CALLS and not seen.ended:
        text = seen.observation.short_term + seen.observation.long_term
        seen, calls = game.step(rule(text, seen.stopped)), calls + 1
    percent = 100 * game._progress.value
    game.close()
    return percent, calls


def worth(games: int, arms: list[str]) -> None:
    """Print the progression of each set of rules."""
    for name in arms or list(ARMS):
        results = [played(ARMS[name], 5000 + seed) for seed in range(games)]
        calls = statistics.mean(calls for _, calls in results)
        print(f"{name:8} {shown([percent for percent, _ in results])}, calls {calls:.0f}", flush=True)


FOR_IT = {"fetch_digger": walk, "dive": walk, "play_on": walk, "pray": follow, "eat": follow}
"""Skills that the rules call, and the rules that are asked when one of them is not to be had."""


def without(games: int) -> None:
    """Print what the rules lose in the same games without each skill."""
    whole = [played(dive, 5000 + seed)[0] for seed in range(games)]
    print(f"all skills: {shown(whole)}", flush=True)
    for skill, other in FOR_IT.items():

        def rule(now: str, told: str, skill: str = skill, other: Callable[[str, str], str] = other) -> str:
            call = dive(now, told)
            return other(now, told) if call.split()[0] == skill else call

        less = [played(rule, 5000 + seed)[0] for seed in range(games)]
        gains = [Score(with_it - own) for with_it, own in zip(whole, less, strict=True)]
        found = mean_interval(gains, Bounds(-100.0))
        mean = statistics.mean(gain.value for gain in gains)
        print(f"{skill:12} is worth {mean:+.2f} [{found.low:+.2f}, {found.high:+.2f}], n {games}", flush=True)


def shown(percents: Sequence[float]) -> str:
    """A mean with its interval; every game is another one."""
    found = mean_interval([Score(percent) for percent in percents], Bounds())
    middle = statistics.mean(percents)
    return f"{middle:.2f} % [{found.low:.2f}, {found.high:.2f}], n {len(percents)}"


async def by_rules(games: int, actions: str, folder: Path) -> None:
    """Print what the rules reach through a whole run, with a loopback server as the model."""
    async with TestServer(answer=choose) as server:
        model = ("model=vllm", "model.name=hosted_vllm/rules", f"model.base_url={server.url}")
        limits = (f"limits.steps={MOST_CALLS}", "env.seeding=spread", f"env.episodes={games}")
        words = ("agent=naive", "env=nethack", f"env.actions={actions}", *model, *limits)
        begun = (folder / "config.json").is_file()
        new = (f"run.name={folder.name}", f"run.folder={folder.parent}", *words)
        chosen = (f"resume={folder}", model[-1]) if begun else new
        run = await balrog_rag.aevaluate(*chosen, "runner.log=none")
    table = balrog_rag.load(run)
    calls, percents = table["steps"], list(table["progression_percent"])
    if len(percents) < games:
        raise SystemExit(f"{actions}: stopped after {len(percents)} games; the same command continues")
    print(f"{actions}: {shown(percents)}, calls {calls.mean():.0f}, most {calls.max()}")


class Timed:
    """A function whose processor time is summed up."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.seconds = function, 0.0

    def __call__(self, *arguments: Any) -> Any:
        begun = time.thread_time()
        found = self.function(*arguments)
        self.seconds += time.thread_time() - begun
        return found


def timed_call(game: HostedGame, engine: Timed, action: str, seconds: list[float]) -> str:
    """Play one skill and add the seconds of each key; return how the game ended, "" if it did not."""
    inner, taken = game._game.inner, game.view.read(action)
    kind = next(kind for kind in OFFERED if kind.name == taken.name)
    program = kind.make(Begin(inner.screen, kind.takes(taken), game.view, 0, {}))
    for _ in range(2000):
        before, begun = engine.seconds, time.thread_time()
        try:
            key = (
                program.send(None)
                if inspect.getgeneratorstate(program) == inspect.GEN_CREATED
                else (program.send(inner.screen))
            )
        except (StopIteration, ProgramFailed):
            break
        ended = inner.press(key).ended
        seconds.append(time.thread_time() - begun - (engine.seconds - before))
        if ended:
            return ended
    program.close()
    return ""


def decisions(games: int) -> None:
    """Print the time per key (choosing it and reading its result) and per observation, without the game's."""
    keys, observations = list[float](), list[float]()
    for seed in range(games):
        game = hosted(seed, no_progress=0, no_progress_calls=0, advice=True)
        inner = game._game.inner
        engine = Timed(inner._engine.press)
        inner._engine.press = engine
        dice, seen = Random(seed), game.start
        for _ in range(40):
            if seen.ended:
                break
            action = dice.choice(["play_on 50", "explore_level", "strike", "dive 9", "go_to stairs_down"])
            if not game.view.takes(action):
                continue
            ended = timed_call(game, engine, action, keys)
            begun, before = time.thread_time(), engine.seconds
            seen = inner.look("", ended)
            observations.append(time.thread_time() - begun - (engine.seconds - before))
        game.close()
    for what, seconds in (("key", keys), ("observation with memory and advice", observations)):
        middle, high = np.percentile(seconds, [50, 99]) * 1000
        print(f"{what}: n {len(seconds)}, median {middle:.2f} ms, p99 {high:.2f} ms")


def argument(dice: Random, parameter: Parameter) -> str:
    """A random argument that the parameter takes."""
    if parameter.choices:
        return dice.choice(parameter.choices)
    if parameter.kind == "integer":
        low, high = parameter.least or 0, parameter.most or 90
        return str(dice.randint(low, min(high, 90)))
    return dice.choice(LETTERS)


def call(dice: Random, action: Action) -> str:
    """A random call."""
    needed = [each for each in action.parameters if not each.optional]
    others = [each for each in action.parameters if each.optional]
    given = [*needed, *others[: dice.randint(0, len(others))]]
    return " ".join([action.name, *(argument(dice, each) for each in given)])


def calls(most: int, first: int) -> None:
    """Play random calls; an exception or a call without a reason ends this program with an error."""
    total, games, ends = 0, 0, Counter[str]()
    while total < most:
        dice = Random(first + games)
        game = hosted(first + games, dice.choice(characters()), no_progress=0, no_progress_calls=0)
        for _ in range(200):
            text = call(dice, dice.choice(OFFERED).action)
            seen, total = game.step(text), total + 1
            if seen.ended:
                break
            assert seen.stopped, (first + games, text)
            ends[re.split(r"[:(]", seen.stopped)[0].strip() if ":" in seen.stopped else "done"] += 1
        game.close()
        games += 1
    print(f"{total:,} calls in {games} games, all with a reason: {dict(ends.most_common(8))}")


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("worth", "model", "without", "decisions", "calls"))
    parser.add_argument("--games", type=int)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=10_000)
    parser.add_argument("--out", type=Path, help="folder that keeps finished games; continue with the same")
    parser.add_argument("--arms", nargs="*", default=[], choices=tuple(ARMS))
    options = parser.parse_args()
    if options.what == "worth":
        worth(options.games or 40, options.arms)
    elif options.what == "without":
        without(options.games or 20)
    elif options.what == "decisions":
        decisions(options.games or 10)
    elif options.what == "calls":
        calls(options.calls, options.seed)
    else:
        with TemporaryDirectory() as made:
            for actions in ("plan", "full"):
                asyncio.run(by_rules(options.games or 100, actions, (options.out or Path(made)) / actions))


if __name__ == "__main__":
    main()
