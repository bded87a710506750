"""Behavioural cloning: train a network to press the keys that were pressed in recorded games.

The same seed, games and settings give the same weights, also if training was interrupted: the stream of
batches is read again up to where it stopped.
"""

import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from balrog_rag.contracts.errors import DatasetError
from balrog_rag.dataset.learn import checkpoint
from balrog_rag.dataset.learn.checkpoint import About
from balrog_rag.dataset.learn.curve import Curve
from balrog_rag.dataset.learn.features import Eye
from balrog_rag.dataset.learn.network import Network, Shape, tensors
from balrog_rag.dataset.streaming import Batch, playable, stream

QUIT = ord("q") | 0x80
"""The key for quitting, which is never learned: harnesses use it to end a game at a limit."""
EVERY = 50
"""Batches between two saves."""
_CLIP = 1.0


class Settings(msgspec.Struct, frozen=True):
    """Settings of a training."""

    seed: int = 0
    batch: int = 24
    length: int = 64
    rate: float = 1e-3
    threads: int = 2
    frames: int | None = None
    """Number of frames after which training ends."""
    minutes: float | None = None


class Learner:
    """A network, its optimiser, and their progress."""

    def __init__(self, about: About) -> None:
        torch.manual_seed(about.seed)
        self.about = about
        self.network = Network(Shape(about.keys))
        self.optimiser = torch.optim.Adam(self.network.parameters(), about.rate)
        self.memory = self.network.blank(about.batch)
        self.before = torch.full((about.batch,), len(about.keys))
        self.eye = Eye(about.batch)
        self._places = np.full(256, -1, np.int64)
        self._places[list(about.keys)] = np.arange(len(about.keys))

    def learn(self, batch: Batch) -> tuple[float, float, int]:
        """Take one step; return the loss, the share of keys predicted correctly, and the number of frames."""
        seen, wanted, ends = self._given(batch)
        logits, memory = self.network(seen, self.memory, ends)
        known = wanted >= 0
        loss = functional.cross_entropy(logits[known], wanted[known])
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), _CLIP)
        self.optimiser.step()
        self.memory = memory.detach()
        right = (logits.detach()[known].argmax(1) == wanted[known]).float().mean()
        return float(loss.detach()), float(right), int(known.sum())

    def _given(self, batch: Batch) -> tuple[dict[str, Tensor], Tensor, list[int]]:
        """Features, positions of the pressed keys (-1: not learned), and the times at which games begin."""
        features = self.eye.see(batch["tty_chars"], batch["tty_colors"], batch["tty_cursor"])
        seen = tensors(features)
        pressed = torch.from_numpy(self._places[batch["keypresses"]].swapaxes(0, 1).copy())
        there = torch.from_numpy((batch["gameids"] != 0).swapaxes(0, 1).copy())
        fresh = torch.from_numpy(batch["done"].swapaxes(0, 1).astype(np.float32))
        nothing = len(self.about.keys)
        shown = torch.where(pressed < 0, nothing, pressed)
        before = torch.cat([self.before[None], shown[:-1]])
        seen["before"] = torch.where(fresh > 0, nothing, before)
        seen["fresh"] = fresh
        self.before = shown[-1]
        return seen, torch.where(there, pressed, -1), fresh.any(1).nonzero().flatten().tolist()

    def state(self) -> dict[str, Tensor]:
        """The state needed to continue, besides the weights."""
        made = {"memory": self.memory, "before": self.before, "place": torch.from_numpy(self.eye.place)}
        for place, held in self.optimiser.state_dict()["state"].items():
            made |= {f"{place}.{name}": value for name, value in held.items()}
        return made

    def restore(self, weights: dict[str, Tensor], state: dict[str, Tensor]) -> None:
        """Continue from that state."""
        self.network.load_state_dict(weights)
        self.memory, self.before = state.pop("memory"), state.pop("before")
        self.eye.place = state.pop("place").numpy()
        held: dict[int, dict[str, Tensor]] = {}
        for name, value in state.items():
            place, _, field = name.partition(".")
            held.setdefault(int(place), {})[field] = value
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": held, "param_groups": groups})


def learn(path: Path, name: str, out: Path, settings: Settings, done: Callable[[int], None]) -> About:
    """Train on a dataset into a folder, or continue there; `done` is called with the number of frames."""
    torch.set_num_threads(settings.threads)
    learner = begun(path, name, out, settings)
    about, curve = learner.about, Curve(out, learner.about.steps)
    until = time.monotonic() + settings.minutes * 60 if settings.minutes else None
    with stream(
        path, name, about.batch, about.length, settings.threads, about.seed, about.games, forever=True
    ) as batches:
        for batch in _behind(batches, about.steps):
            if (until and time.monotonic() >= until) or about.frames >= (settings.frames or 1 << 60):
                break
            loss, right, frames = learner.learn(batch)
            about = msgspec.structs.replace(about, steps=about.steps + 1, frames=about.frames + frames)
            learner.about = about
            curve.add(about, loss, right)
            done(frames)
            if about.steps % EVERY == 0:
                save(learner, out, curve)
    save(learner, out, curve)
    return about


def _behind(batches: Iterator[Batch], steps: int) -> Iterator[Batch]:
    """Skip the batches that were already used."""
    return islice(batches, steps, None)


def begun(path: Path, name: str, out: Path, settings: Settings) -> Learner:
    """Create a learner, or restore the one of an earlier attempt in that folder."""
    if (out / checkpoint.ABOUT).exists():
        from safetensors.torch import load_file

        about = checkpoint.read_about(out)
        if (about.dataset, about.seed, about.batch, about.length) != (
            name, settings.seed, settings.batch, settings.length,
        ):  # fmt: skip
            raise DatasetError(
                f"{out}: has learnt from {about.dataset} with --seed {about.seed} --batch {about.batch} "
                f"--length {about.length}; use the same, or another --out"
            )
        learner = Learner(about)
        learner.restore(load_file(out / checkpoint.WEIGHTS), load_file(out / checkpoint.STATE))
        return learner
    games = playable(path, name)
    if len(games) < settings.batch:
        raise DatasetError(
            f"{name}: --batch {settings.batch} needs as many games, and there are {len(games)}"
        )
    out.mkdir(parents=True, exist_ok=True)
    keys = pressed_keys(path, name, games, settings.batch)
    return Learner(
        About(keys, name, tuple(games), settings.seed, settings.batch, settings.length, settings.rate)
    )


def pressed_keys(path: Path, name: str, games: list[int], batch: int) -> tuple[int, ...]:
    """The keys that occur in games, except the one that quits."""
    counts: NDArray[np.int64] = np.zeros(256, np.int64)
    with stream(path, name, min(batch, len(games)), 512, 2, games=games) as batches:
        for found in batches:
            if "keypresses" not in found:
                raise DatasetError(f"{name}: its recordings have no keys (ttyrec1), so nothing can be cloned")
            counts += np.bincount(found["keypresses"][found["gameids"] != 0], minlength=256)
    counts[[0, QUIT]] = 0
    return tuple(np.flatnonzero(counts).tolist())


def save(learner: Learner, out: Path, curve: Curve) -> None:
    """Write all files of a checkpoint."""
    checkpoint.write(out, checkpoint.WEIGHTS, learner.network.state_dict())
    checkpoint.write(out, checkpoint.STATE, learner.state())
    curve.write(out)
    checkpoint.write_about(out, learner.about)
