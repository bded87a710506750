"""Encode what decodes to the same: JSON has no NaN, no keys but texts, and no types of other libraries."""

from collections.abc import Mapping
from typing import Any

import msgspec

Encoder = msgspec.json.Encoder
Decoder = msgspec.json.Decoder[Any]


def readable(entry: msgspec.Struct, encoder: Encoder, decoder: Decoder) -> bytes:
    """Encode a struct; raise ValueError if it would not be read back as it is."""
    try:
        encoded = encoder.encode(entry)
        decoded = decoder.decode(encoded)
        if decoded == entry or equal(decoded, entry):
            return encoded
        changed = _changed(decoded, entry)
    # Whatever its values are, such as a list that contains itself.
    except (msgspec.MsgspecError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from error
    raise ValueError(
        f"{changed} would be read as another value; use str, int, finite float, bool, None, list and dict"
    )


def _changed(read: msgspec.Struct, written: msgspec.Struct) -> str:
    """Return the name of the first field that would be read differently."""
    missing = object()
    names = written.__struct_fields__
    return next(
        (name for name in names if not equal(getattr(read, name, missing), getattr(written, name))), "it"
    )


def equal(read: Any, written: Any) -> bool:
    """Whether two values are equal, where a tuple may be read as a list."""
    if isinstance(read, msgspec.Struct):
        return type(read) is type(written) and all(
            equal(getattr(read, name), getattr(written, name)) for name in read.__struct_fields__
        )
    if isinstance(read, Mapping):
        return (
            isinstance(written, Mapping)
            and read.keys() == written.keys()
            and all(equal(value, written[name]) for name, value in read.items())
        )
    if isinstance(read, list | tuple):
        return (
            isinstance(written, list | tuple) and len(read) == len(written) and all(map(equal, read, written))
        )
    return bool(read == written)
