"""Run the network one frame at a time in NumPy, so that no PyTorch is loaded next to a game."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float32]


class PlainNetwork:
    """Takes one game's frames in order; the weights and outputs are those of `network.Network`."""

    def __init__(self, weights: Mapping[str, NDArray[Any]], keys: tuple[int, ...]) -> None:
        self.keys = keys
        self._weights = {name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}
        self._memory: Array = np.zeros(self._weights["memory.weight_hh_l0"].shape[1], np.float32)

    def fresh(self) -> "PlainNetwork":
        """Return the same network at the start of a game."""
        return PlainNetwork(self._weights, self.keys)

    def __call__(self, seen: Mapping[str, NDArray[Any]], before: int) -> NDArray[np.float64]:
        """Return the logits of a frame; `before` is the index of the key that led to it."""
        weights = self._weights
        signs = weights["signs.weight"][seen["crop"][0, 0]]
        view = self._folded("far", self._folded("near", signs))
        view = _positive(self._linear("view", view.transpose(2, 0, 1).ravel()))
        words = seen["words"][0, 0]
        message = weights["words.weight"][words[words > 0]].sum(0)
        mixed = np.concatenate([view, message, weights["keys.weight"][before], seen["numbers"][0, 0]])
        self._remember(mixed)
        return self._linear("press", self._memory).astype(np.float64)

    def _linear(self, name: str, given: Array) -> Array:
        return self._weights[f"{name}.weight"] @ given + self._weights[f"{name}.bias"]

    def _folded(self, name: str, given: Array) -> Array:
        """A convolution with 3 x 3 kernels and stride 2, followed by a ReLU."""
        weight = self._weights[f"{name}.weight"]
        padded = np.pad(given, ((1, 1), (1, 1), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (0, 1))[::2, ::2]
        flat = windows.reshape(*windows.shape[:2], -1)
        return _positive(flat @ weight.reshape(len(weight), -1).T + self._weights[f"{name}.bias"])

    def _remember(self, mixed: Array) -> None:
        """One step of the GRU."""
        weights, old = self._weights, self._memory
        new = weights["memory.weight_ih_l0"] @ mixed + weights["memory.bias_ih_l0"]
        kept = weights["memory.weight_hh_l0"] @ old + weights["memory.bias_hh_l0"]
        (r, z, n), (old_r, old_z, old_n) = np.split(new, 3), np.split(kept, 3)
        reset, update = _gate(r + old_r), _gate(z + old_z)
        made = (1 - update) * np.tanh(n + reset * old_n) + update * old
        self._memory = made.astype(np.float32, copy=False)


def _positive(values: Array) -> Array:
    return np.asarray(np.maximum(values, 0), np.float32)


def _gate(values: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-values)), np.float32)
