"""A moment of a game as NumPy arrays, for players that do not read text.

An environment that supports this has a property `arrays`: a mapping of names to arrays, whose shapes and
types are the same in every game of a task. The next action may overwrite them. Language agents do not see
them.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from balrog_rag.contracts import validation

if TYPE_CHECKING:  # imported by every run, and most games are played without arrays
    from numpy.typing import NDArray


class PackedArray(msgspec.Struct, frozen=True, array_like=True):
    """An array as it travels between processes."""

    shape: tuple[int, ...]
    dtype: str
    data: bytes


def arrays_of(environment: Any, who: str) -> "Mapping[str, NDArray[Any]]":
    """Return the current arrays of an environment, validated; none if it has none."""
    found = getattr(environment, "arrays", None) or {}
    if not isinstance(found, Mapping):
        raise validation.fault(who, "arrays", found, "return a mapping of names to NumPy arrays")
    for name, array in found.items():
        if getattr(getattr(array, "dtype", None), "kind", "") not in _NUMBERS:
            raise validation.fault(who, f"arrays[{name!r}]", array, "return a NumPy array of numbers")
    return found


_NUMBERS = tuple("biuf")


def packed(arrays: "Mapping[str, NDArray[Any]]", names: Iterable[str]) -> dict[str, PackedArray]:
    """Return the arrays of these names, ready to be sent."""
    return {
        name: PackedArray(arrays[name].shape, arrays[name].dtype.str, arrays[name].tobytes())
        for name in names
    }


def unpacked(arrays: Mapping[str, PackedArray]) -> "dict[str, NDArray[Any]]":
    """Return arrays as they were before they were sent; they are read-only."""
    import numpy as np

    return {
        name: np.frombuffer(array.data, array.dtype).reshape(array.shape) for name, array in arrays.items()
    }
