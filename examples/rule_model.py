"""A "model" of a few rules, served like a hosted one, that chooses among the skills of `env.actions=plan`.

python examples/rule_model.py [KEY=VALUE ...]

It reads nothing but the prompt. A language model with the same actions adds what it reaches beyond this.
"""

import asyncio
import re
import sys

import balrog_rag
from balrog_rag.models.serving.testserver import TestServer

HP = re.compile(r"HP:(\d+)\((\d+)\)")
PRAYED = re.compile(r"You prayed (\d+) turns ago")
HUNGER = re.compile(r"T:\d+ .*(Hungry|Weak|Fainting)")
DIGGER = re.compile(r"^\w: .*(pick-axe|dwarvish mattock|broad pick)", re.MULTILINE)
NOTICE = re.compile(r"Your last action, (\w+).*, stopped: (.*)")


def choose(messages: tuple[str, ...]) -> str:
    """Return the action for a prompt, from its last message alone."""
    now = messages[-1]
    health, prayed, notice = HP.search(now), PRAYED.search(now), NOTICE.search(now)
    hp, most = map(int, health.groups()) if health else (1, 1)
    last, told = notice.groups() if notice else ("", "")
    failed = told.startswith("failed")
    may_pray = not (failed and last == "pray") and (prayed is None or int(prayed[1]) > 900)
    if may_pray and (hp * 7 < most or hp <= 5):
        return "pray"
    if HUNGER.search(now) and not (failed and last == "eat"):
        return "eat"
    if failed:
        return "play_on 200"
    return "dive 60" if DIGGER.search(now) else "fetch_digger"


async def main(*words: str) -> None:
    """Play NetHack with these rules as the model; at most 150 calls a game."""
    async with TestServer(answer=choose) as server:
        model = ("model=vllm", "model.name=hosted_vllm/rules", f"model.base_url={server.url}")
        limits = ("limits.steps=150", "env.actions=plan", "env.seeding=spread", "env.episodes=5")
        run = await balrog_rag.aevaluate("agent=naive", "env=nethack", *model, *limits, *words)
    table = balrog_rag.load(run)
    print(table[["progression_percent", "steps"]].describe().to_string())


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
