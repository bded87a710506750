"""The default embedder agrees with sentence-transformers, alone or in a batch."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from balrog_rag.contracts.errors import ConfigError
from balrog_rag.knowledge.embed.minilm import MiniLM

HERE = Path(__file__).parent
TEXTS = json.loads((HERE / "reference_texts.json").read_text(encoding="utf-8"))


@cache
def minilm(precision: str | None = None) -> MiniLM:
    return MiniLM({"precision": precision}, 2)


@pytest.mark.parametrize("precision", [None, "f32"])
@pytest.mark.parametrize("way", ["queries", "passages"])
def test_vectors_equal_those_of_sentence_transformers(precision: str | None, way: str) -> None:
    reference = np.load(HERE / "reference_vectors.npy")  # sentence-transformers 6.2.0
    embedder = minilm(precision)
    ours = embedder.queries(TEXTS) if way == "queries" else embedder.passages(TEXTS, lambda count: None)
    assert (ours * reference).sum(1).min() >= 0.999


def test_a_query_has_the_same_vector_to_the_bit_in_any_company() -> None:
    embedder, texts = minilm(), TEXTS[22:38]
    together = embedder.queries(texts)
    alone = np.concatenate([embedder.queries([text]) for text in reversed(texts)])[::-1]
    assert together.tobytes() == alone.tobytes()


def test_no_text_and_an_empty_text_are_answered() -> None:
    assert minilm().queries([]).shape == (0, 384)
    assert np.isfinite(minilm().queries([""])).all()


def test_what_cannot_compute_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="valid names: bf16, f16, f32, null"):
        MiniLM({"precision": "f8"}, 1)
    with pytest.raises(ConfigError, match="engine: there is openvino alone; leave it out"):
        MiniLM({"engine": "numpy", "precision": None}, 1)
    assert MiniLM({"engine": "openvino", "precision": None}, 1).identity == minilm().identity


def test_another_arithmetic_is_another_identity() -> None:
    """Vectors of one are never borrowed for, nor searched by, another."""
    default, exact = minilm(), minilm("f32")
    assert exact.identity.endswith("/openvino/f32")
    assert default.identity in (
        exact.identity,
        exact.identity.replace("f32", "bf16"),
    )  # as the processor has it
    text = ["A floating eye paralyses you."]
    equal = default.queries(text).tobytes() == exact.queries(text).tobytes()
    assert equal == (default.identity == exact.identity)


REPORTS = """
import socket, sys
def refuse(*arguments): raise SystemExit("something wants to reach the network")
socket.socket.connect = socket.create_connection = refuse
from balrog_rag.knowledge.embed.minilm import MiniLM
MiniLM({"precision": None}, 1).queries(["door"])
import threading; assert threading.active_count() == 1, threading.enumerate()
print(sys.modules["openvino_telemetry"])
"""


def test_openvino_reports_nothing_to_anybody(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", REPORTS], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "None", done.stderr
    assert list(tmp_path.iterdir()) == []
