"""A BERT encoder as an OpenVINO graph over weights that stay mapped in memory.

There are as many streams as threads, with one thread each: a batch is computed by a single thread, so its
result is independent of other batches, and several batches run in parallel.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, cast

import numpy as np

from balrog_rag.knowledge.embed import Vectors

HEADS = 12


def _openvino() -> Any:
    """Import OpenVINO without its telemetry, which would contact its maker and write to the home folder.

    OpenVINO has a stub for installations without the telemetry package; this makes it use the stub.
    """
    sys.modules.setdefault("openvino_telemetry", cast(ModuleType, None))
    return import_module("openvino")


class OpenVINOBert:
    """Runs batches, padded to their longest text."""

    def __init__(self, weights: Mapping[str, Vectors], precision: str | None, threads: int) -> None:
        """`precision` is f32, bf16, f16, or None for the processor's best."""
        openvino = _openvino()
        settings: dict[str, Any] = {
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": threads,
            "ENABLE_CPU_PINNING": False,
        }
        if precision:
            settings["INFERENCE_PRECISION_HINT"] = precision
        self._weights = weights  # the graph's constants are views of these arrays
        model = openvino.Core().compile_model(_Graph(weights).model(), "CPU", settings)
        # The actual precision: with None, it depends on the processor.
        self.arithmetic = f"openvino/{model.get_property('INFERENCE_PRECISION_HINT').to_string()}"
        self._requests = [model.create_infer_request() for _ in range(threads)]

    def each(self, batches: Sequence[Sequence[Sequence[int]]]) -> Iterator[Vectors]:
        """Return the mean-pooled vectors of each batch, in order, as many at once as there are streams."""
        requests = self._requests[: max(1, len(batches))]
        for number, batch in enumerate(batches[: len(requests)]):
            requests[number].start_async(_padded(batch), share_inputs=False)
        for number in range(len(batches)):
            request = requests[number % len(requests)]
            request.wait()
            result: Vectors = request.get_output_tensor().data.copy()
            if number + len(requests) < len(batches):
                request.start_async(_padded(batches[number + len(requests)]), share_inputs=False)
            yield result


def _padded(batch: Sequence[Sequence[int]]) -> list[Any]:
    longest = max(len(tokens) for tokens in batch)
    numbers = np.zeros((len(batch), longest), np.int64)
    mask = np.zeros((len(batch), longest), np.float32)
    for row, tokens in enumerate(batch):
        numbers[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    return [numbers, mask]


class _Graph:
    """Builds the network from OpenVINO's operations."""

    def __init__(self, weights: Mapping[str, Vectors]) -> None:
        self._openvino = _openvino()
        self._op = import_module("openvino.opset13")
        self._weights = weights
        self._layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder."))

    def model(self) -> Any:
        """Build the whole network: token numbers and mask in, mean-pooled vectors out."""
        op = self._op
        numbers = op.parameter([-1, -1], np.int64, name="numbers")
        mask = op.parameter([-1, -1], np.float32, name="mask")
        hidden = op.multiply(op.subtract(mask, op.constant(np.float32(1))), op.constant(np.float32(1e4)))
        hidden = op.unsqueeze(hidden, op.constant(np.array([1, 2])))
        state = self._embeddings(numbers)
        for layer in range(self._layers):
            state = self._layer(state, hidden, f"encoder.layer.{layer}.")
        return self._openvino.Model([self._mean(state, mask)], [numbers, mask], "bert")

    def _embeddings(self, numbers: Any) -> Any:
        op = self._op
        words = op.gather(self._array("embeddings.word_embeddings.weight"), numbers, op.constant(np.int64(0)))
        length = op.gather(op.shape_of(numbers), op.constant(np.array([1])), op.constant(np.int64(0)))
        zero, one = op.constant(np.array([0])), op.constant(np.array([1]))
        places = op.slice(self._array("embeddings.position_embeddings.weight"), zero, length, one, zero)
        kind = op.constant(self._weights["embeddings.token_type_embeddings.weight"][0])
        return self._normal(op.add(op.add(words, places), kind), "embeddings.LayerNorm")

    def _layer(self, state: Any, hidden: Any, name: str) -> Any:
        op = self._op
        seen = self._linear(self._attention(state, hidden, name), name + "attention.output.dense")
        state = self._normal(op.add(seen, state), name + "attention.output.LayerNorm")
        inner = op.gelu(self._linear(state, name + "intermediate.dense"), "erf")
        return self._normal(
            op.add(self._linear(inner, name + "output.dense"), state), name + "output.LayerNorm"
        )

    def _attention(self, state: Any, hidden: Any, name: str) -> Any:
        op = self._op
        query, key, value = (
            self._heads(self._linear(state, f"{name}attention.self.{part}"))
            for part in ("query", "key", "value")
        )
        width = self._weights[name + "attention.self.query.bias"].shape[0]
        scale = op.constant(np.float32((width // HEADS) ** -0.5))
        scores = op.add(op.multiply(op.matmul(query, key, False, True), scale), hidden)
        mixed = op.matmul(op.softmax(scores, -1), value, False, False)
        mixed = op.transpose(mixed, op.constant(np.array([0, 2, 1, 3])))
        return op.reshape(mixed, op.constant(np.array([0, 0, width])), True)

    def _heads(self, state: Any) -> Any:
        op = self._op
        split = op.reshape(state, op.constant(np.array([0, 0, HEADS, -1])), True)
        return op.transpose(split, op.constant(np.array([0, 2, 1, 3])))

    def _mean(self, state: Any, mask: Any) -> Any:
        op = self._op
        kept = op.unsqueeze(mask, op.constant(np.array([2])))
        places = op.constant(np.array([1]))
        return op.divide(op.reduce_sum(op.multiply(state, kept), places), op.reduce_sum(kept, places))

    def _linear(self, state: Any, name: str) -> Any:
        op = self._op
        product = op.matmul(state, self._array(name + ".weight"), False, True)
        return op.add(product, self._array(name + ".bias"))

    def _normal(self, state: Any, name: str) -> Any:
        op = self._op
        plain = op.mvn(state, op.constant(np.array([-1])), True, 1e-12, "inside_sqrt")
        return op.add(op.multiply(plain, self._array(name + ".weight")), self._array(name + ".bias"))

    def _array(self, name: str) -> Any:
        return self._openvino.op.Constant(self._weights[name], shared_memory=True)
