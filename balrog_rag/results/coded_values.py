"""Values of many episodes of which many are equal, as codes."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.int64]


class Coded:
    """Values of which many are equal: each distinct one once, and a code per episode."""

    def __init__(self, codes: Codes, values: list[Any]) -> None:
        self.codes, self.values = codes, values

    def mapped(self, function: Callable[[Any], Any]) -> "Coded":
        """Apply a function to each distinct value."""
        return Coded(self.codes, [function(value) for value in self.values])

    def array(self) -> NDArray[Any]:
        """A value per episode."""
        return objects_of(self.values)[self.codes]

    def counted(self) -> list[tuple[Any, int]]:
        """The distinct values that occur, in order of appearance, and how often."""
        used, first, counts = np.unique(self.codes, return_index=True, return_counts=True)
        order = np.argsort(first)
        codes, many = used[order].tolist(), counts[order].tolist()
        return [(self.values[code], count) for code, count in zip(codes, many, strict=True)]

    def where(self, value: Any) -> list[int]:
        """The places of a value."""
        return (
            np.isin(self.codes, [at for at, each in enumerate(self.values) if each == value])
            .nonzero()[0]
            .tolist()
        )


def objects_of(values: Sequence[Any]) -> NDArray[Any]:
    """An array of these objects."""
    made = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):  # numpy would make two dimensions of equally long lists
        made[place] = value
    return made


def summed(values: NDArray[Any]) -> Any:
    """The sum: of integers exact, since journals of others may hold large ones; of floats in their order."""
    if values.dtype.kind == "i":
        return sum(values.tolist())
    return np.cumsum(values)[-1].item() if len(values) else 0


def inside(value: Any, path: Sequence[str]) -> Any:
    """What is under these names in a value of mappings and structs; None if a name is missing."""
    for name in path:
        if value is None:
            return None
        value = value.get(name) if isinstance(value, dict) else getattr(value, name)
    return value


def known_numbers(values: Sequence[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Numbers as an array, and where there are some."""
    there = np.array([value is not None and value == value for value in values], dtype=bool)
    return np.array([value if known else 0 for value, known in zip(values, there, strict=True)]), there
