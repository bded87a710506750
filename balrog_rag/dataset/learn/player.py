"""What was learnt as a player: a program next to the game, which samples its keys with dice of its own."""

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
    return _played(begin.screen, network, Random(begin.seed), float(options.get("temperature", 1.0)))


def settled(options: Any) -> Any:
    """The options with the checkpoint's digest, so that the episode's spec says which one it was."""
    from balrog_rag.dataset.learn.checkpoint import settled

    return settled(options)


@lru_cache(maxsize=4)
def _network(path: str, digest: str) -> Any:
    from balrog_rag.dataset.learn.checkpoint import digest_of, load_network

    network = load_network(Path(path))
    if digest_of(Path(path)) != digest:
        raise ConfigError(f"agent.options.path={path}: is another checkpoint than the one that began to play")
    import torch

    torch.set_num_threads(1)  # games share the processor
    return network


def _played(screen: Any, network: Any, dice: Random, temperature: float) -> Program:
    import numpy as np

    from balrog_rag.dataset.learn.features import Eye

    eye, step = Eye(1), Stepper(network)
    keys, before = network.shape.keys, len(network.shape.keys)
    while True:
        seen = eye.see(*(screen[name][None, None] for name in ("tty_chars", "tty_colors", "tty_cursor")))
        logits = step(seen, before)
        weights = np.exp((logits - logits.max()) / max(temperature, 1e-3))
        before = dice.choices(range(len(keys)), weights.tolist())[0]
        screen = yield keys[before]


class Stepper:
    """A network taken through one game, a frame at a time."""

    def __init__(self, network: Any) -> None:
        self._network, self._memory = network, network.blank(1)

    def __call__(self, seen: dict[str, Any], before: int) -> Any:
        """The logits of this frame; `before` is the place of the key that led to it."""
        import torch

        from balrog_rag.dataset.learn.network import tensors

        with torch.inference_mode():
            given = tensors(seen)
            given["before"] = torch.tensor([[before]])
            given["fresh"] = torch.zeros(1, 1)
            logits, self._memory = self._network(given, self._memory)
            return logits[0, 0].double().numpy()


CHECKPOINT = ProgramKind(name="checkpoint", make=play, games=("nle", "minihack"), plays=True, settle=settled)
