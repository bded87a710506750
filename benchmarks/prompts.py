"""The cost of prompts and of an agent's own step: the same real NetHack episode under every switch.

    python benchmarks/prompts.py [--steps 500]

Tokens are counted with OpenAI's o200k_base, whose data LiteLLM's package includes; prices are LiteLLM's for
gpt-5-mini. A provider's cache can reuse the prefix that a prompt shares with the previous one.
"""

import argparse
import asyncio
import importlib.util
import json
import os
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from balrog_rag.agents import build
from balrog_rag.config.compose import compose
from balrog_rag.contracts.data import (
    AnswerFormat,
    GameSpec,
    Message,
    Observation,
    Passage,
    Purpose,
    Reply,
    Request,
    Seeds,
    TaskView,
)
from balrog_rag.util.paths import data
from balrog_rag.workers.inline import InlineGames

PRICED_AS = "gpt-5-mini"
LITELLM = Path(str(importlib.util.find_spec("litellm").origin)).parent  # type: ignore[union-attr]
WAYS = ("north", "south", "east", "west", "northeast", "northwest", "southeast", "southwest")
MOVES = (*[f"far {way}" for way in WAYS], *WAYS, "search", "pickup", "down", "kick", "open", "more", "esc")
WEIGHTS = (*[8] * 8, *[2] * 8, 3, 1, 4, 1, 1, 2, 2)


class Episode(NamedTuple):
    """A real game: the task, the observations and the actions."""

    view: TaskView
    moments: list[Observation]
    actions: list[str]


async def play(steps: int, seed: int) -> Episode:
    """A game of this many steps with seeded random moves; if it ends, another one follows."""
    chance = random.Random(seed)
    moments: list[Observation] = []
    actions: list[str] = []
    while len(moments) < steps:
        game = await InlineGames().open(GameSpec("nle", "NetHackChallenge-v0", Seeds(seed, seed)))
        observation, ended = game.start.observation, ""
        while not ended and len(moments) < steps:
            action = chance.choices(MOVES, WEIGHTS)[0]
            moments.append(observation)
            actions.append(action)
            transition = (await game.play([action]))[0]
            observation, ended = transition.observation, transition.ended
        await game.close()
        seed += 1000
    return Episode(game.view, moments, actions)


@cache
def encoding() -> Any:
    """The tokenizer, from local files."""
    os.environ["TIKTOKEN_CACHE_DIR"] = str(LITELLM / "litellm_core_utils" / "tokenizers")
    import tiktoken

    return tiktoken.get_encoding("o200k_base")


@cache
def tokens(text: str) -> int:
    """The number of tokens of a text."""
    return len(encoding().encode(text, disallowed_special=()))


@cache
def prices() -> tuple[float, float, float]:
    """Dollars per token: input, cached input, output."""
    table = json.loads((LITELLM / "model_prices_and_context_window_backup.json").read_text())[PRICED_AS]
    names = ("input_cost_per_token", "cache_read_input_token_cost", "output_cost_per_token")
    fresh, cached, out = (float(table[name]) for name in names)
    return fresh, cached, out


class Handle:
    """A model that answers at once: the episode's own action, a query, a summary."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.action = ""
        self.moment: Observation | None = None

    async def complete(
        self, messages: Sequence[Message], purpose: Purpose = "act", answer: AnswerFormat | None = None
    ) -> Reply:
        request = Request(tuple(messages), purpose, answer)
        request.digest  # noqa: B018 - the journal takes it at every step, so it belongs to what is measured
        self.requests.append(request)
        if purpose == "query":
            return Reply(f"Query: {stand_in_query(self.moment)}")
        if purpose == "summary":
            return Reply(SUMMARY)
        return Reply(f"On I go.\n<|ACTION|>{self.action}<|END|>")


class Guide:
    """A knowledge base that at once finds three passages of a typical length."""

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        return PASSAGES[:k]


WORDS = "The newt is a small lizard that bites for very little and dies of almost anything you hit it with. "
PASSAGES = [Passage(str(n), f"Page {n}", WORDS * 40, 1.0) for n in range(3)]
SUMMARY = "Present state: all is well.\nFrom the passages:\n" + f"- {WORDS}\n" * 3


def stand_in_query(moment: Observation | None) -> str:
    """A plausible query of a model: about the nearest named thing, else how to explore.

    No model plays here. The paper's model asked about exploring in most steps; so does this rule.
    """
    from balrog_rag.contracts.kinds import kind_of

    things = kind_of("nle").hints.signals.things
    named = [thing for thing in things(moment) if "stairs" not in thing] if moment else []
    return f"What to do about a {named[-1]}" if named else "Explore dark areas, find stairs down"


def perform(episode: Episode, option: str, *overrides: str) -> tuple[Handle, list[dict[str, Any]], float]:
    """Run an agent through the whole episode; return its questions, its notes, and the seconds it took."""
    config = compose([f"agent={option}", "model=scripted", *overrides]).agent
    handle = Handle()
    agent = build(config, episode.view, handle, Guide())

    async def act() -> list[dict[str, Any]]:
        notes = []
        for handle.moment, handle.action in zip(episode.moments, episode.actions, strict=True):
            notes.append(dict((await agent.act(handle.moment)).notes))
        return notes

    begin = time.perf_counter()
    notes = asyncio.run(act())
    return handle, notes, time.perf_counter() - begin


# --- what a step of the agent itself costs ---


def overhead(episode: Episode) -> None:
    print(f"\nAn agent's own step ({len(episode.moments)} real steps, model answers at once, best of 5)")
    print(f"{'agent':62} {'us/step':>8} {'us/call':>10}   target: < 100 us a call")
    for option, *overrides in (
        ["naive"],
        ["cot"],
        ["robust_star"],
        ["robust_star", "agent.history.window=blocks", "agent.observation.map=trimmed"],
        ["robust_star", "agent.loops.enabled=true", "agent.notebook.enabled=true"],
        ["robust_star_rag"],
        ["robust_star_rag", "agent.retrieval.when=novelty"],
    ):
        times, calls = [], 0
        for _ in range(5):
            handle, _, seconds = perform(episode, option, *overrides)
            times.append(seconds)
            calls = len(handle.requests)
        name = " ".join([option, *(word.removeprefix("agent.") for word in overrides)])
        print(f"{name:62} {min(times) / len(episode.moments) * 1e6:8.0f} {min(times) / calls * 1e6:10.0f}")


# --- what prompts cost ---


class Cost(NamedTuple):
    """An average prompt: its characters and tokens, and how many it shares with the previous one's start."""

    chars: float
    tokens: float
    shared: float
    shared_chars: float

    @property
    def dollars(self) -> float:
        """Dollars for the input of one step, with a cache that never misses."""
        fresh, cached, _ = prices()
        return (self.tokens - self.shared) * fresh + self.shared * cached


def cost(requests: Sequence[Request]) -> Cost:
    sizes, chars, shared, alike = [], [], [], []
    for last, request in zip([None, *requests], requests, strict=False):
        sizes.append(sum(tokens(message.text) for message in request.messages))
        chars.append(sum(len(message.text) for message in request.messages))
        shared.append(common(last, request, tokens) if last else 0)
        alike.append(common(last, request, len) if last else 0)
    return Cost(*(statistics.mean(each) for each in (chars, sizes, shared, alike)))


def same_head(one: str, other: str) -> str:
    """The common beginning of two texts."""
    length = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return one[:length]


def common(last: Request, request: Request, measure: Callable[[str], int]) -> int:
    """The length of a prompt's beginning that equals the previous one's."""
    total = 0
    for old, new in zip(last.messages, request.messages, strict=False):
        if old.role == new.role and old.text == new.text:
            total += measure(new.text)
            continue
        if old.role == new.role:
            total += measure(same_head(old.text, new.text))
        break
    return total


def prompt_costs(episode: Episode) -> None:
    print(
        f"\nPrompts of robust_cot over the same {len(episode.moments)} steps "
        f"(o200k_base tokens; $ per 1,000 steps at {PRICED_AS}'s prices)"
    )
    heads = ["chars", "of full", "common", "tokens", "of full", "common", "$", "of full"]
    print(f"{'switches':44}" + "".join(f"{head:>9}" for head in heads))
    append = "agent.history.window=append"
    blocks, trimmed = "agent.history.window=blocks", "agent.observation.map=trimmed"
    changed, none = "agent.observation.past_maps=changed", "agent.observation.past_maps=none"
    full = None
    for switches in (
        [],
        [blocks],
        [trimmed],
        [changed],
        [none],
        [trimmed, none],
        [blocks, trimmed],
        [blocks, trimmed, changed],
        [blocks, trimmed, none],
        [append],
        [append, trimmed],
    ):
        handle, _, _ = perform(episode, "robust_cot", *switches)
        it = cost(handle.requests)
        full = full or it
        name = " ".join(switch.removeprefix("agent.").split(".")[-1] for switch in switches) or "as BALROG"
        print(
            f"{name:44}{it.chars:9.0f}{it.chars / full.chars:9.1%}{it.shared_chars / it.chars:9.1%}"
            f"{it.tokens:9.0f}{it.tokens / full.tokens:9.1%}{it.shared / it.tokens:9.1%}"
            f"{1000 * it.dollars:9.3f}{it.dollars / full.dollars:9.1%}"
        )
    print("targets: blocks >= 60% common prefix; trimmed <= 50% of the tokens")


# --- what looking up less often saves ---


def recorded_queries() -> None:
    lines = (data("eval") / "paper_queries.tsv").read_text().splitlines()
    counts = Counter(
        {text: int(count) for count, text in (line.split("\t") for line in lines if line[0] != "#")}
    )
    folded: Counter[str] = Counter()
    for text, count in counts.items():
        folded[" ".join(text.casefold().split())] += count
    asked = sum(counts.values())
    print(
        f"\nThe paper's queries: {asked:,} asked, {len(counts):,} distinct, "
        f"{len(folded):,} ignoring case and spaces"
    )
    print(f"reuse=seen with room for all: {1 - len(folded) / asked:.1%} of searches and summaries saved")
    print(
        f"so calls a step: 3 -> {2 + len(folded) / asked:.2f}  "
        "(the log keeps no order, so reuse=last cannot be told)"
    )


def retrieval_costs(episode: Episode) -> None:
    print(f"\nrobust_star_rag over the same {len(episode.moments)} steps (stand-in queries; per step)")
    print(f"{'switches':40} {'looked up':>10} {'calls':>7} {'tokens in':>10} {'$ / 1000':>9} {'of paper':>9}")
    paper = None
    for switches in (
        [],
        ["reuse=last"],
        ["reuse=seen"],
        ["when=interval", "every=10"],
        ["when=interval", "every=10", "keep=9"],
        ["when=novelty"],
        ["when=novelty", "keep=10"],
        ["when=novelty", "reuse=seen"],
        ["query=both"],
        ["context=cut"],
    ):
        handle, notes, _ = perform(
            episode, "robust_star_rag", *(f"agent.retrieval.{each}" for each in switches)
        )
        steps = len(episode.moments)
        sizes = (
            sum(tokens(message.text) for request in handle.requests for message in request.messages) / steps
        )
        fresh, _, out = prices()
        spoken = {"query": 12, "summary": tokens(SUMMARY), "act": 40}
        dollars = 1000 * (sizes * fresh + out * sum(spoken[each.purpose] for each in handle.requests) / steps)
        paper = paper or dollars
        looked = sum(note.get("lookup") == "fresh" for note in notes) / steps
        print(
            f"{' '.join(switches) or 'as the paper':40} {looked:10.1%} {len(handle.requests) / steps:7.2f} "
            f"{sizes:10.0f} {dollars:9.2f} {dollars / paper:9.1%}"
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--steps", type=int, default=500)
    options.add_argument("--seed", type=int, default=7)
    given = options.parse_args()
    episode = asyncio.run(play(given.steps, given.seed))
    overhead(episode)
    prompt_costs(episode)
    recorded_queries()
    retrieval_costs(episode)


if __name__ == "__main__":
    main()
