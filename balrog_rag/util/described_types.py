"""Types that threads decode into, made ready before there are threads."""

from typing import TypeVar

import msgspec

T = TypeVar("T")


def described_at_import(kind: type[T]) -> type[T]:
    """Let msgspec describe a class with nested classes at import, where Python lets in one thread at a time.

    Otherwise it is described at its first use. Another thread that uses it meanwhile reads a half of the
    description, and the process crashes (seen with msgspec 0.22).
    """
    msgspec.json.Decoder(kind)
    return kind
