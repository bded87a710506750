"""Deep nesting and aliases in files of others are errors, and end no process."""

from typing import Any

import msgspec
import pytest

from balrog_rag.util.bounded_decoding import MOST_DEPTH, decoded_json, decoded_yaml


def nested(depth: int) -> bytes:
    return b"a: " + b"[" * depth + b"]" * depth


def test_ordinary_files_are_read() -> None:
    assert decoded_json(b'{"a": [1]}', dict[str, list[int]]) == {"a": [1]}
    assert decoded_yaml(b"a: [1]\nb: text", dict[str, Any]) == {"a": [1], "b": "text"}
    decoded_yaml(nested(MOST_DEPTH - 1), dict[str, Any])


def test_deep_nesting_is_an_error_like_any_other() -> None:
    with pytest.raises(msgspec.DecodeError, match="nested too deeply"):
        decoded_json(b"[" * 100_000 + b"]" * 100_000, list[Any])
    with pytest.raises(msgspec.DecodeError, match="nested too deeply"):
        decoded_yaml(nested(200_000), dict[str, Any])


def test_aliases_are_refused_because_they_can_grow_without_bounds() -> None:
    with pytest.raises(msgspec.DecodeError, match="contains an alias"):
        decoded_yaml(b"a: &a [1, 2]\nb: [*a, *a]", dict[str, Any])


def test_broken_yaml_is_one_line() -> None:
    with pytest.raises(msgspec.DecodeError) as caught:
        decoded_yaml(b"a: [1, 2\nb: }", dict[str, Any])
    assert "\n" not in str(caught.value)
