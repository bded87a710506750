"""The network: its inputs are a crop of the map, the message, the bottom lines and the last key."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec
import torch
from torch import Tensor, nn
from torch.nn import functional

from balrog_rag.dataset.learn.features import NUMBERS, SIGNS, WORDS


class Shape(msgspec.Struct, frozen=True):
    """Everything that determines the sizes of the network's weights."""

    keys: tuple[int, ...]
    """The keys it can press, in the order of its outputs."""
    sign: int = 12
    filters: tuple[int, int] = (32, 48)
    view: int = 192
    message: int = 64
    memory: int = 256
    before: int = 24


class Network(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """Maps a sequence of frames to the keys that a player would press."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        first, second = shape.filters
        self.shape = shape
        self.signs = nn.Embedding(SIGNS, shape.sign)
        self.near = nn.Conv2d(shape.sign, first, 3, stride=2, padding=1)
        self.far = nn.Conv2d(first, second, 3, stride=2, padding=1)
        self.view = nn.Linear(second * 4 * 6, shape.view)
        self.words = nn.EmbeddingBag(WORDS, shape.message, mode="sum", padding_idx=0)
        self.keys = nn.Embedding(len(shape.keys) + 1, shape.before)
        width = shape.view + shape.message + shape.before + NUMBERS
        self.memory = nn.GRU(width, shape.memory)
        self.press = nn.Linear(shape.memory, len(shape.keys))

    def forward(
        self, seen: dict[str, Tensor], memory: Tensor, ends: Sequence[int] = ()
    ) -> tuple[Tensor, Tensor]:
        """Return the logits [time, lane, key] of frames [time, lane, ...], and the memory after them.

        `seen["fresh"]` [time, lane] is 1 where a game begins; `ends` are the times at which one does.
        """
        mixed = self._mixed(seen)
        shown, cuts = [], [0, *(time for time in ends if time), len(mixed)]
        for begin, end in pairwise(cuts):
            memory = memory * (1 - seen["fresh"][begin])[None, :, None]
            out, memory = self.memory(mixed[begin:end], memory)
            shown.append(out)
        return self.press(torch.cat(shown)), memory

    def _mixed(self, seen: dict[str, Tensor]) -> Tensor:
        time, lanes = seen["crop"].shape[:2]
        signs = self.signs(seen["crop"].flatten(0, 1)).permute(0, 3, 1, 2)
        view = functional.relu(self.far(functional.relu(self.near(signs))))
        view = functional.relu(self.view(view.flatten(1)))
        words = self.words(seen["words"].flatten(0, 1))
        flat = torch.cat([view, words, self.keys(seen["before"].flatten()), seen["numbers"].flatten(0, 1)], 1)
        return flat.view(time, lanes, -1)

    def blank(self, lanes: int) -> Tensor:
        """The memory at the start of games."""
        return torch.zeros(1, lanes, self.shape.memory)


def tensors(features: dict[str, Any]) -> dict[str, Tensor]:
    """Convert features [lane, time, ...] to tensors with time first."""
    return {name: torch.from_numpy(value.swapaxes(0, 1).copy()) for name, value in features.items()}
