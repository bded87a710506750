"""Seeds of splits: seed i of split s is drawn from hash(task, s, i), and no two splits share a seed."""

from balrog_rag.contracts.data import digest
from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.kinds import kind_of
from balrog_rag.contracts.registry import nearest

SPLITS = ("train", "validation", "test", "eval")
"""The lowest two bits of a seed are the place of its split in this list, so splits share no seed at all."""
MOST_INDEX = 2**53


def split_seed(task: str, split: str, index: int) -> int:
    """Return a seed of a split, from 0 to 2**31 - 1; equal arguments give equal seeds on every machine."""
    if split not in SPLITS:
        raise ConfigError(f"split: unknown split {split!r:.60}{nearest(split, SPLITS)}")
    if not 0 <= index < MOST_INDEX:
        raise ConfigError(f"index: expected an integer from 0 to 2**53, got {index}")
    drawn = int(digest(f"{task}\n{split}\n{index}")[:8], 16) & 0x7FFFFFFF
    return drawn & ~(len(SPLITS) - 1) | SPLITS.index(split)


def refuse_fixed_games(task: str) -> None:
    """Refuse splits of games that come from a fixed list: different seeds can be the same game."""
    kind = kind_of(task.partition("/")[0])
    if kind.sampling.counted or kind.sampling.world is not None:
        raise ConfigError(
            f"split: {kind.name} has a fixed list of games, so its splits could share one; set seed"
        )
