"""`--help`: how to start a run, the groups to choose from, and every key with its default and meaning."""

from typing import Any

from balrog_rag.config.compose import compose
from balrog_rag.config.frozen import plain, value_at
from balrog_rag.config.groups import group_options
from balrog_rag.config.schema import documented_keys

USAGE = """\
usage: python -m balrog_rag.eval [GROUP=OPTION ...] [KEY=VALUE ...]

Plays language-model agents in text games and shows their progression.

  python -m balrog_rag.eval                                     the embedded model, no key needed
  python -m balrog_rag.eval model=openai model.name=openai/gpt-4o-mini limits.run.dollars=5
  python -m balrog_rag.eval agent=naive env=minihack env.episodes=2
  python -m balrog_rag.eval resume=results/RUN                  go on where a run was cut
  python -m balrog_rag.eval -m agent=naive,robust_star_rag      a sweep: one run for each combination
  python -m balrog_rag.eval +experiment=paper_figure3  an experiment (docs/reference/experiments.md)

flags:
  --version             this program's version
  -m, --multirun        play every combination of comma-separated values
  --dry-run             check the words, print what they would play and cost at most, and play nothing
  --log json            machine-readable progress, one JSON object a line
  --cfg job             print the configuration that these words make, and stop
  --info defaults       how Hydra put it together; --hydra-help for all of Hydra's flags
"""


def text(words: list[str]) -> str:
    """The whole help; the defaults shown are those that these words make."""
    values = plain(compose(words))
    groups = [
        f"  {name + '=':<12} {' '.join(options)}" for name, options in group_options().items() if options
    ]
    keys = [f"  {key:<34} {_short(value_at(values, key)):<22} {doc}" for key, doc in documented_keys()]
    return "\n".join(
        [USAGE, "groups (folders in conf/):", *groups, "", "keys, with the value they have now:", *keys]
    )


def _short(value: Any) -> str:
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 22 else text[:21] + "…"
