"""A "model" of a few rules, served like a hosted one, that chooses among the skills of `env.actions=plan`.

python examples/rule_model.py [KEY=VALUE ...]

It reads nothing but the prompt. A language model with the same actions adds what it reaches beyond this.
"""

import asyncio
import re
import sys

import balrog_rag
from balrog_rag.models.serving.testserver import TestServer

HP = re.compile(r"HP: ?(\d+)[(/](\d+)")
PRAYED = re.compile(r"You prayed (\d+) turns ago")
HUNGER = re.compile(r"(?:T:\d+ .*|Hunger: )(Hungry|Weak|Fainting)")
DIGGER = re.compile(r"^\w: .*(pick-axe|dwarvish mattock|broad pick)", re.MULTILINE)
NOTICE = re.compile(r"Your last action, .*, stopped: (.*)")


def choose(messages: tuple[str, ...]) -> str:
    """Return the action for a prompt, from its last message alone."""
    now = messages[-1]
    health, prayed, notice = HP.search(now), PRAYED.search(now), NOTICE.search(now)
    hp, most = map(int, health.groups()) if health else (1, 1)
    if notice and notice[1].startswith("failed"):  # the same would fail again
        return "play_on 200"
    if (hp * 7 < most or hp <= 5) and (prayed is None or int(prayed[1]) > 900):
        return "pray"
    if HUNGER.search(now):
        return "eat"
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
