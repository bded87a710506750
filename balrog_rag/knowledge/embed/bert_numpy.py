"""A BERT encoder in NumPy: what the OpenVINO graph computes, as plain arithmetic.

For machines that have no OpenVINO, and as the reference that the graph is tested against.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from balrog_rag.knowledge.embed import Vectors

HEADS = 12
_EPSILON = np.float32(1e-12)


class NumPyBert:
    """Runs one text after the other, unpadded."""

    arithmetic = "numpy/f32"

    def __init__(self, weights: Mapping[str, Vectors]) -> None:
        """`weights` as in the model's file."""
        # Copied: the file's arrays are not aligned, and a product would copy them every time.
        self._weights = {name: np.array(array) for name, array in weights.items()}
        self._layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder."))

    def each(self, batches: Sequence[Sequence[Sequence[int]]]) -> Iterator[Vectors]:
        """The mean-pooled vectors of each batch, in order."""
        for batch in batches:
            yield np.stack([self._encode(tokens) for tokens in batch])

    def _encode(self, tokens: Sequence[int]) -> Vectors:
        table = self._weights
        state = table["embeddings.word_embeddings.weight"][list(tokens)]
        state = state + table["embeddings.position_embeddings.weight"][: len(tokens)]
        state = state + table["embeddings.token_type_embeddings.weight"][0]
        state = self._normal(state, "embeddings.LayerNorm")
        for number in range(self._layers):
            state = self._layer(state, f"encoder.layer.{number}.")
        mean: Vectors = state.mean(0)
        return mean

    def _layer(self, state: Vectors, name: str) -> Vectors:
        state = self._normal(
            self._linear(self._attention(state, name), name + "attention.output.dense") + state,
            name + "attention.output.LayerNorm",
        )
        inner = _gelu(self._linear(state, name + "intermediate.dense"))
        return self._normal(self._linear(inner, name + "output.dense") + state, name + "output.LayerNorm")

    def _attention(self, state: Vectors, name: str) -> Vectors:
        count, width = state.shape
        parts = [self._linear(state, f"{name}attention.self.{part}") for part in ("query", "key", "value")]
        query, key, value = (part.reshape(count, HEADS, -1).transpose(1, 0, 2) for part in parts)
        scores = query @ key.transpose(0, 2, 1) / np.float32((width // HEADS) ** 0.5)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        mixed: Vectors = (scores @ value).transpose(1, 0, 2).reshape(count, width)
        return mixed

    def _linear(self, state: Vectors, name: str) -> Vectors:
        result: Vectors = state @ self._weights[name + ".weight"].T + self._weights[name + ".bias"]
        return result

    def _normal(self, state: Vectors, name: str) -> Vectors:
        state = state - state.mean(-1, keepdims=True)
        spread = np.sqrt((state * state).mean(-1, keepdims=True) + _EPSILON)
        result: Vectors = state / spread * self._weights[name + ".weight"] + self._weights[name + ".bias"]
        return result


def _gelu(values: Any) -> Any:
    from scipy.special import erf

    return values * np.float32(0.5) * (1 + erf(values * np.float32(0.5**0.5)))
