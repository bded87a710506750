"""Split one run over processes or machines: which episodes a shard has, and its share of the caps.

An episode belongs to a shard by its spec's digest alone, so shards need no coordinator, and each of them
can be played, killed and played again without the others.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from balrog_rag.config.schema import CapConfig, Config, LimitsConfig, ModelConfig, RunnerConfig
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.episode.spec import EpisodeSpec
from balrog_rag.util.terminal_safe import one_line
from balrog_rag.util.wording import many

OFF = "off"
"""The value of runner.shard that ignores the environment."""
MOST_SHARDS = 100_000
COUNT = "BALROG_RAG_SHARDS"
"""Variable with the number of shards of a Kubernetes Indexed Job, which does not tell its pods."""


class Shard(NamedTuple):
    """One part of a run; parts are counted from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def folder(self) -> str:
        """The name of its folder in RUN.shards."""
        return f"{self.number}-of-{self.of}"

    def has(self, spec: EpisodeSpec) -> bool:
        """Whether an episode belongs to it."""
        return int(spec.digest, 16) % self.of == self.number - 1


def shard_of(runner: RunnerConfig) -> Shard | None:
    """Return the shard that a frozen configuration names; None for a whole run."""
    return None if runner.shard in (None, OFF) else parsed(str(runner.shard))


def parsed(text: str) -> Shard:
    """Read `3/8`."""
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if found is None:
        raise ConfigError(f"runner.shard={one_line(text)[:40]}: expected K/N, as in 3/8, or {OFF}")
    shard = Shard(int(found[1]), int(found[2]))
    if not 1 <= shard.number <= shard.of <= MOST_SHARDS:
        raise ConfigError(
            f"runner.shard={text}: shards are counted from 1 to N, and N is at most {MOST_SHARDS:,}"
        )
    return shard


def chosen_shard(runner: RunnerConfig, variables: Mapping[str, str] = os.environ) -> Shard | None:
    """Return the shard of a new run: runner.shard, or the element of an array job that this process is."""
    if runner.shard == OFF:
        return None
    if runner.shard is None:
        return _of_slurm(variables) or _of_kubernetes(variables)
    if runner.shard.startswith("/"):
        return _element_of(parsed(f"1{runner.shard}").of, variables)
    return parsed(runner.shard)


def _of_slurm(variables: Mapping[str, str]) -> Shard | None:
    """Return the place of this job in its array, which may start anywhere and have a step."""
    if not {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT"} <= variables.keys():
        return None
    task, count = (_variable(variables, f"SLURM_ARRAY_TASK_{name}") for name in ("ID", "COUNT"))
    first = _variable(variables, "SLURM_ARRAY_TASK_MIN", 1)
    number, rest = divmod(task - first, max(1, _variable(variables, "SLURM_ARRAY_TASK_STEP", 1)))
    # One element submitted again is an array of its own, and would be taken for the whole run.
    again = count == 1 and task > 1
    if rest or again or not 0 <= number < count:
        raise ConfigError(
            f"SLURM_ARRAY_TASK_ID={task}: its place in the array from {first} on is unclear; "
            f"add runner.shard=K/N, or runner.shard={OFF} for a whole run in each element"
        )
    return Shard(number + 1, count)


def _of_kubernetes(variables: Mapping[str, str]) -> Shard | None:
    if not {"JOB_COMPLETION_INDEX", COUNT} <= variables.keys():
        return None
    return parsed(f"{_variable(variables, 'JOB_COMPLETION_INDEX') + 1}/{_variable(variables, COUNT)}")


def _element_of(count: int, variables: Mapping[str, str]) -> Shard:
    """Return the place of this process in an array whose size the user has given."""
    if variables.get("SLURM_ARRAY_TASK_COUNT") == str(count) and (found := _of_slurm(variables)):
        return found
    if "SLURM_ARRAY_TASK_ID" in variables:  # an element submitted again, of an array from 1 on
        return parsed(f"{_variable(variables, 'SLURM_ARRAY_TASK_ID')}/{count}")
    if "JOB_COMPLETION_INDEX" in variables:
        return parsed(f"{_variable(variables, 'JOB_COMPLETION_INDEX') + 1}/{count}")
    raise ConfigError(
        f"runner.shard=/{count}: needs SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX in the environment; "
        f"write runner.shard=K/{count}"
    )


def _variable(variables: Mapping[str, str], name: str, default: int | None = None) -> int:
    text = variables.get(name)
    if text is None and default is not None:
        return default
    if text is None or not re.fullmatch(r"[0-9]{1,9}", text):
        raise ConfigError(f"{name}={one_line(str(text))[:40]}: not a number; add runner.shard=K/N or ={OFF}")
    return int(text)


def in_shard(specs: Sequence[EpisodeSpec], runner: RunnerConfig) -> Sequence[EpisodeSpec]:
    """Return the episodes of a plan that the configured shard has."""
    shard = shard_of(runner)
    return specs if shard is None else [spec for spec in specs if shard.has(spec)]


def shared_limits(config: Config) -> LimitsConfig:
    """Return the limits with this shard's share of the run's dollars and tokens."""
    shard, run = shard_of(config.runner), config.limits.run
    if shard is None:
        return config.limits
    tokens = None if run.tokens is None else run.tokens // shard.of
    dollars = None if run.dollars is None else run.dollars / shard.of
    return replace(config.limits, run=CapConfig(dollars, tokens, run.seconds))


def shared_rates(model: ModelConfig, shards: int) -> ModelConfig:
    """Return the model's settings with a shard's share of its calls and tokens per minute."""
    if shards == 1:
        return model
    requests, tokens = (
        None if rate is None else max(1, rate // shards)
        for rate in (model.requests_per_minute, model.tokens_per_minute)
    )
    return replace(model, requests_per_minute=requests, tokens_per_minute=tokens)


def shards_in(runner: RunnerConfig) -> int:
    """Return in how many shards the run is played; 1 for a whole run."""
    shard = shard_of(runner)
    return 1 if shard is None else shard.of


def refuse_small_rates(config: Config, shard: Shard) -> None:
    """Refuse rates that are less than one a minute and shard: the shards together would exceed them."""
    for name in ("requests_per_minute", "tokens_per_minute"):
        rate = getattr(config.model, name)
        if rate is not None and rate < shard.of:
            raise ConfigError(
                f"model.{name}={rate}: less than one a minute for each of {shard.of} shards; "
                f"use at most {rate} shards"
            )


def shard_notes(config: Config, episodes: int, planned: int) -> list[str]:
    """Describe this shard: its number of episodes, and which caps and rates are divided."""
    shard = shard_of(config.runner)
    if shard is None:
        return []
    limits, model = config.limits.run, config.model
    shared, rates = shared_limits(config).run, shared_rates(model, shard.of)
    caps = {
        "limits.run.dollars": (limits.dollars, shared.dollars),
        "limits.run.tokens": (limits.tokens, shared.tokens),
        "model.requests_per_minute": (model.requests_per_minute, rates.requests_per_minute),
        "model.tokens_per_minute": (model.tokens_per_minute, rates.tokens_per_minute),
    }
    said = [f"{key} {whole:,} -> {part:,.6g}" for key, (whole, part) in caps.items() if whole and part]
    divided = f"; divided by {shard.of}: {', '.join(said)}" if said else ""
    return [f"shard {shard.number} of {shard.of}: {episodes:,} of {many(planned, 'episodes')}{divided}"]
