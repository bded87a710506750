"""`--help`: usage, the groups to choose from, and every key with its default and description."""

from dataclasses import asdict
from typing import Any

from balrog_rag.config import user_presets
from balrog_rag.config.default_values import default_values
from balrog_rag.config.frozen import value_at
from balrog_rag.config.groups import group_options
from balrog_rag.config.schema import Config, documented_keys

USAGE = """\
usage: balrog-rag run [GROUP=OPTION ...] [KEY=VALUE ...]

Play language-model agents in text games and report their progression.

  balrog-rag run                                  the embedded model, no API key needed
  balrog-rag run model=openai model.name=openai/gpt-4o-mini limits.run.dollars=5
  balrog-rag run agent=naive env=minihack env.episodes=2
  balrog-rag run -m agent=naive,cot limits.until=verdict    each run stops when its comparison is decided
  balrog-rag run resume=results/RUN               resume an interrupted run
  balrog-rag run -m agent=naive,robust_star_rag   a sweep: one run per combination
  balrog-rag run +experiment=paper_figure3        an experiment (docs/reference/experiments.md)
  balrog-rag run agent=mine.py:Mine               an agent of your own: a class with act, or a function
  balrog-rag run conf_dir=my_conf agent=mine      presets of your own: my_conf/agent/mine.yaml

flags:
  --version             print the version
  -m, --multirun        play every combination of comma-separated values
  --dry-run             print the plan and an estimate of its cost; play nothing, and need no key
  --log json            machine-readable progress, one JSON object per line
  --cfg job             print the resulting configuration and exit
  --info defaults       show how Hydra composed it; --hydra-help lists all of Hydra's flags
"""


def text(words: list[str]) -> str:
    """Return the whole help; it shows the values that result from these overrides."""
    values = asdict(_composed(words) if words else default_values())
    with user_presets.found_in(user_presets.split(words)[0]):
        found = group_options()
    groups = [f"  {name + '=':<12} {' '.join(options)}" for name, options in found.items() if options]
    keys = [f"  {key:<34} {_short(value_at(values, key)):<22} {doc}" for key, doc in documented_keys()]
    return "\n".join(
        [USAGE, "groups (folders in conf/):", *groups, "", "keys, with their current values:", *keys]
    )


def _composed(words: list[str]) -> Config:
    from balrog_rag.config.compose import compose

    return compose(words)


def _short(value: Any) -> str:
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 22 else text[:21] + "…"
