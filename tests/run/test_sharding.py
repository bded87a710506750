"""Which shard a process plays, which episodes that shard has, and its share of the caps."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest

from balrog_rag.config.compose import compose
from balrog_rag.config.schema import Config
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.run.plan import plan
from balrog_rag.run.services import player_spec
from balrog_rag.run.sharding import (
    Shard,
    chosen_shard,
    in_shard,
    refuse_small_rates,
    shard_notes,
    shared_limits,
    shared_rates,
)


def config(*words: str) -> Config:
    return compose(["agent=random", "env=corridor", *words])


def slurm(task: int, first: int, count: int, step: int = 1) -> dict[str, str]:
    return {
        "SLURM_ARRAY_TASK_ID": str(task),
        "SLURM_ARRAY_TASK_MIN": str(first),
        "SLURM_ARRAY_TASK_STEP": str(step),
        "SLURM_ARRAY_TASK_COUNT": str(count),
    }


@pytest.mark.parametrize(
    ("word", "variables", "expected"),
    [
        (None, {}, None),
        ("3/8", {}, Shard(3, 8)),
        ("3/8", slurm(1, 1, 4), Shard(3, 8)),  # what is asked for wins
        ("off", slurm(1, 1, 4), None),
        (None, slurm(1, 1, 4), Shard(1, 4)),
        (None, slurm(0, 0, 4), Shard(1, 4)),
        (None, slurm(12, 10, 4), Shard(3, 4)),
        (None, slurm(8, 0, 4, step=4), Shard(3, 4)),
        ("/8", slurm(0, 0, 8), Shard(1, 8)),
        ("/8", slurm(5, 5, 1), Shard(5, 8)),  # one element submitted again
        (None, {"JOB_COMPLETION_INDEX": "0", "BALROG_RAG_SHARDS": "4"}, Shard(1, 4)),
        ("/4", {"JOB_COMPLETION_INDEX": "3"}, Shard(4, 4)),
        (None, {"JOB_COMPLETION_INDEX": "3"}, None),  # the count is unknown: a whole run
    ],
)
def test_shard_of_a_process(word: str | None, variables: Mapping[str, str], expected: Shard | None) -> None:
    assert chosen_shard(replace(config().runner, shard=word), variables) == expected


@pytest.mark.parametrize(
    ("word", "variables", "said"),
    [
        ("0/8", {}, "counted from 1"),
        ("9/8", {}, "counted from 1"),
        ("1/999999", {}, "at most 100,000"),
        ("three/8", {}, "expected K/N"),
        ("/8", {}, "needs SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX"),
        ("/8", slurm(9, 9, 1), "counted from 1"),
        (None, slurm(5, 5, 1), "add runner.shard=K/N"),  # one element submitted again, without its count
        (None, slurm(7, 1, 3), "add runner.shard=K/N"),  # an array such as 1,3,7
        (None, slurm(2, 1, 3, step=2), "add runner.shard=K/N"),
        (None, {"SLURM_ARRAY_TASK_ID": "x", "SLURM_ARRAY_TASK_COUNT": "3"}, "not a number"),
        (None, {"JOB_COMPLETION_INDEX": "-1", "BALROG_RAG_SHARDS": "4"}, "not a number"),
    ],
)
def test_unclear_shards_are_refused(word: str | None, variables: Mapping[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        chosen_shard(replace(config().runner, shard=word), variables)


def test_every_episode_is_in_exactly_one_shard() -> None:
    whole = config("env.episodes=60")
    specs = plan(whole, player_spec(whole))
    for count in (1, 3, 8):
        shards = [replace(whole.runner, shard=f"{number}/{count}") for number in range(1, count + 1)]
        found = Counter(spec.episode for runner in shards for spec in in_shard(specs, runner))
        assert found == Counter(spec.episode for spec in specs)
    third = in_shard(specs, replace(whole.runner, shard="3/8"))
    assert [int(spec.digest, 16) % 8 for spec in third] == [2] * len(third)


def test_caps_and_rates_are_divided_and_said() -> None:
    words = ["limits.run={dollars: 10, tokens: 1001, seconds: 60}", "model.requests_per_minute=100"]
    split = config("runner.shard=2/4", *words)
    shared = shared_limits(split).run
    assert (shared.dollars, shared.tokens, shared.seconds) == (2.5, 250, 60)
    assert shared_limits(config(*words)).run.dollars == 10
    assert shared_rates(split.model, 4).requests_per_minute == 25
    assert shared_rates(split.model, 4).tokens_per_minute is None
    (note,) = shard_notes(split, 3, 12)
    assert note.startswith("shard 2 of 4: 3 of 12 episodes; divided by 4: limits.run.dollars 10.0 -> 2.5")
    assert "model.requests_per_minute 100 -> 25" in note
    with pytest.raises(ConfigError, match="less than one a minute for each of 101 shards"):
        refuse_small_rates(split, Shard(1, 101))
