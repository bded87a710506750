"""A trained network as a player: a program next to the game that samples its keys with a seeded generator."""

from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.contracts.programs import Begin, Program, ProgramKind
from balrog_rag.contracts.registry import nearest

_OPTIONS = ("path", "digest", "temperature")


def play(begin: Begin) -> Program:
    """Play to the end, whatever the screen shows."""
    options = begin.options
    if unknown := [name for name in options if name not in _OPTIONS]:
        raise ConfigError(f"agent.options: checkpoint has no {unknown[0]!r}{nearest(unknown[0], _OPTIONS)}")
    network = _network(str(options["path"]), str(options["digest"]))
    return playing(begin.screen, network, begin.seed, float(options.get("temperature", 1.0)))


def settled(options: Any) -> Any:
    """Return the options with the checkpoint's digest, so that the episode's spec identifies it."""
    from balrog_rag.dataset.learn.checkpoint import settled

    return settled(options)


@lru_cache(maxsize=4)
def _network(path: str, digest: str) -> Any:
    from balrog_rag.dataset.learn.checkpoint import digest_of, load_network

    network = load_network(Path(path))
    if digest_of(Path(path)) != digest:
        raise ConfigError(
            f"agent.options.path={path}: not the checkpoint that this episode began with; restore it"
        )
    return network


def playing(screen: Any, network: Any, seed: int, temperature: float = 1.0) -> Program:
    """Sample keys from the network's probabilities."""
    import numpy as np

    from balrog_rag.dataset.learn.features import Eye

    eye, network, dice = Eye(1), network.fresh(), Random(seed)
    keys, before = network.keys, len(network.keys)
    while True:
        seen = eye.see(*(screen[name][None, None] for name in ("tty_chars", "tty_colors", "tty_cursor")))
        logits = network(seen, before)
        weights = np.exp((logits - logits.max()) / max(temperature, 1e-3))
        before = dice.choices(range(len(keys)), weights.tolist())[0]
        screen = yield keys[before]


CHECKPOINT = ProgramKind(
    name="checkpoint", make=play, games=("nle", "nethackers", "minihack"), plays=True, settle=settled
)
