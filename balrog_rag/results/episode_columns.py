"""Columns of stored episodes: one compressed array per field instead of one object per episode.

A million episodes fit into memory this way, and a reader pays only for the fields that it uses: a column is
decompressed when it is first asked for.
"""

import zlib
from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, islice
from typing import Any, Protocol, get_args

import msgspec
from msgspec.structs import astuple, fields

from balrog_rag.contracts.data import GameSpec, Seeds

BLOCK = 256
"""Rows compressed together where rows have no fixed size."""
MOST_NAMES = 200
"""Most names in a mapping of numbers for which each name has an array of its own."""
_LEVEL = 1
SEPARATOR = "\x1f"
_encode = msgspec.msgpack.Encoder().encode


class StoredColumn(Protocol):
    """The values of one field, by row."""

    def __getitem__(self, row: int) -> Any: ...


class _Packed(msgspec.Struct, array_like=True):
    """A column as stored: how, the values that rows refer to, and compressed arrays or blocks."""

    how: str
    parts: list[bytes]
    names: Any = None


def packed(values: Sequence[Any], of: Any, how: str) -> bytes:
    """Store the values of a field of type `of`; raises OverflowError for a number of more than 64 bits."""
    return _encode(_WAYS[how].pack(values, of))


def unpacked(data: bytes | memoryview, of: Any) -> StoredColumn:
    """Return a stored column."""
    stored = msgspec.msgpack.decode(data, type=_Packed)
    column: StoredColumn = _WAYS[stored.how](stored, of)
    return column


class Numbers:
    """Integers, floats or booleans."""

    def __init__(self, stored: _Packed, of: Any) -> None:
        self.array = memoryview(zlib.decompress(stored.parts[0])).cast(stored.names)
        self._bool = of is bool

    def __getitem__(self, row: int) -> Any:
        value = self.array[row]
        return bool(value) if self._bool else value

    @staticmethod
    def pack(values: Sequence[Any], of: Any) -> _Packed:
        """Store numbers as an array."""
        return _array(values, _KINDS[of])


class Repeated:
    """Values of which many rows have the same one, which they share."""

    def __init__(self, stored: _Packed, of: Any) -> None:
        self.values: list[Any] = msgspec.convert(stored.names, list[of])
        self.codes = memoryview(zlib.decompress(stored.parts[0])).cast("i")

    def __getitem__(self, row: int) -> Any:
        return self.values[self.codes[row]]

    @staticmethod
    def pack(values: Sequence[Any], of: Any) -> _Packed:
        """Store distinct values once; as blocks if hardly any repeats."""
        codes: dict[bytes, int] = {}
        places = [codes.setdefault(_encode(value), len(codes)) for value in values]
        if len(codes) > BLOCK and 2 * len(codes) > len(values):
            return Blocks.pack(values, of)
        named = [msgspec.msgpack.decode(code) for code in codes]
        return _Packed("repeated", _array(places, "i").parts, named)


class Blocks:
    """Values of any shape, compressed in blocks; the blocks read last stay open."""

    def __init__(self, stored: _Packed, of: Any) -> None:
        self._blocks = stored.parts
        self._decoder = msgspec.msgpack.Decoder(list[of])
        self._open: dict[int, list[Any]] = {}

    def __getitem__(self, row: int) -> Any:
        number, place = divmod(row, BLOCK)
        if number not in self._open:
            if len(self._open) >= 2:
                del self._open[next(iter(self._open))]
            self._open[number] = self._decoder.decode(zlib.decompress(self._blocks[number]))
        return self._open[number][place]

    @staticmethod
    def pack(values: Sequence[Any], of: Any) -> _Packed:
        """Store rows in blocks."""
        rows = iter(values)
        blocks = [
            zlib.compress(_encode(block), _LEVEL)
            for block in iter(lambda: list(islice(rows, BLOCK)), [])
        ]  # fmt: skip
        return _Packed("blocks", blocks)


class NamedNumbers:
    """Mappings from names to numbers, or structs of numbers: an array for each name."""

    def __init__(self, stored: _Packed, of: Any) -> None:
        self._of = of
        self._plain = of in (dict[str, int], dict[str, float | None])
        self._all: list[tuple[tuple[str, ...], str, Sequence[Any] | memoryview]] | None = None
        self._stored = {
            name: (kind, values, mask)
            for (name, kind), values, mask in zip(
                stored.names, stored.parts[::2], stored.parts[1::2], strict=True
            )
        }
        self._numbers: dict[str, list[Any] | memoryview] = {}
        self._arrays: dict[str, tuple[Any, Any]] = {}

    def numbers(self, *path: str) -> Sequence[Any] | memoryview | None:
        """Return the numbers under a name; None if no row has it, and the value None where a row lacks it."""
        name = SEPARATOR.join(path)
        if name not in self._stored:
            return None
        if name not in self._numbers:
            kind, data, mask = self._stored[name]
            values: list[Any] | memoryview = memoryview(zlib.decompress(data)).cast(kind)
            if mask:
                present = zlib.decompress(mask)
                values = [value if there else None for value, there in zip(values, present, strict=True)]
            self._numbers[name] = values
        return self._numbers[name]

    def array(self, *path: str) -> tuple[Any, Any] | None:
        """Return the numbers under a name as an array, and which rows have it (None: all); None if no row."""
        import numpy as np

        name = SEPARATOR.join(path)
        if name not in self._stored:
            return None
        if name not in self._arrays:
            kind, data, mask = self._stored[name]
            there = np.frombuffer(zlib.decompress(mask), dtype=bool) if mask else None
            self._arrays[name] = _small(np.frombuffer(zlib.decompress(data), dtype=kind)), there
        return self._arrays[name]

    @property
    def paths(self) -> list[tuple[str, ...]]:
        """The names that occur."""
        return [tuple(name.split(SEPARATOR)) for name in self._stored]

    def __getitem__(self, row: int) -> Any:
        if self._all is None:
            self._all = [(path[:-1], path[-1], self.numbers(*path) or ()) for path in self.paths]
        made: dict[str, Any] = {}
        for above, name, numbers in self._all:
            if (value := numbers[row]) is not None:
                inside = made
                for each in above:
                    inside = inside.setdefault(each, {})
                inside[name] = None if value != value else value  # NaN stands for a null
        return made if self._plain else msgspec.convert(made, self._of)

    @staticmethod
    def pack(values: Sequence[Any], of: Any) -> _Packed:
        """Store an array for each name; as blocks if there are too many names, or one with a separator."""
        try:
            rows = [flat(value) for value in values]
        except _SeparatorInNameError:
            return Blocks.pack(values, of)
        names = dict.fromkeys(name for row in rows for name in row)
        if len(names) > MOST_NAMES:
            return Blocks.pack(values, of)
        made = _Packed("named", [], [])
        for name in names:
            found = [row.get(name, 0) for row in rows]
            whole = all(isinstance(value, int) for value in found)
            kind = "q" if whole else "d"
            numbers = found if whole else [float("nan") if value is None else value for value in found]
            there = bytes(name in row for row in rows)
            made.names.append((name, kind))
            made.parts += [*_array(numbers, kind).parts, b"" if all(there) else zlib.compress(there, _LEVEL)]
        return made


def _small(values: Any) -> Any:
    """The same numbers in little memory: most names have one number in all rows, or small ones."""
    import numpy as np

    if len(values) and (values == values[0]).all():
        return np.broadcast_to(values[:1].copy(), len(values))
    if values.dtype.kind == "i" and max(-int(values.min()), int(values.max())) < 2**31:
        return values.astype(np.int32)
    return values


class PointLists:
    """Lists of points, tuples or structs of numbers: the points of each row, and an array for each number."""

    def __init__(self, stored: _Packed, of: Any) -> None:
        self.counts, *self.numbers = (
            memoryview(zlib.decompress(part)).cast(kind)
            for part, kind in zip(stored.parts, stored.names, strict=True)
        )
        self._of, self._ends = of, list(accumulate(self.counts))

    def __getitem__(self, row: int) -> Any:
        end = self._ends[row]
        start = end - self.counts[row]
        return msgspec.convert(list(zip(*(each[start:end] for each in self.numbers), strict=True)), self._of)

    @staticmethod
    def pack(values: Sequence[Any], of: Any) -> _Packed:
        """Store an array for each number; as blocks if one is not of the kind that its type says."""
        (point,) = get_args(of)
        kinds = [_KINDS[each] for each in get_args(point) or (each.type for each in fields(point))]
        points = [each if isinstance(each, tuple) else astuple(each) for each in chain.from_iterable(values)]
        columns = list(zip(*points, strict=True)) or [()] * len(kinds)
        try:
            parts = [_array(numbers, kind).parts[0] for numbers, kind in zip(columns, kinds, strict=True)]
        except (TypeError, ValueError):
            return Blocks.pack(values, of)
        return _Packed(
            "points", [_array([len(each) for each in values], "i").parts[0], *parts], ["i", *kinds]
        )


_KINDS = {int: "q", float: "d", bool: "b"}


class Names:
    """Episode names env/task/NN: the task shared, the number in an array."""

    def __init__(self, stored: _Packed, of: Any) -> None:
        self.tasks: list[str] = msgspec.convert(stored.names, list[str])
        self.codes = memoryview(zlib.decompress(stored.parts[0])).cast("i")
        self.numbers = memoryview(zlib.decompress(stored.parts[1])).cast("q")

    def __getitem__(self, row: int) -> str:
        return f"{self.tasks[self.codes[row]]}/{self.numbers[row]:02d}"

    @staticmethod
    def pack(values: Sequence[Any], of: Any) -> _Packed:
        """Store names; as blocks if one is written in another way, which only hand-made ones are."""
        tasks: dict[str, int] = {}
        codes, numbers = [], []
        for name in values:
            task, _, number = name.rpartition("/")
            if not number.isdecimal() or f"{int(number):02d}" != number:
                return Blocks.pack(values, of)
            codes.append(tasks.setdefault(task, len(tasks)))
            numbers.append(int(number))
        return _Packed("names", [*_array(codes, "i").parts, *_array(numbers, "q").parts], list(tasks))


class GameColumn:
    """Games: what is the same in all of them shared, seeds in arrays."""

    def __init__(self, stored: _Packed, of: Any) -> None:
        self.specs: list[GameSpec] = msgspec.convert(stored.names, list[GameSpec])
        codes, *seeds = [memoryview(zlib.decompress(part)) for part in stored.parts]
        self.codes = codes.cast("i")
        self.seeds = tuple(each.cast("q") for each in seeds)
        """Arrays of core, disp and lgen; the last is NO_SEED if there is none."""
        self._core, self._disp, self._lgen = self.seeds

    def __getitem__(self, row: int) -> GameSpec:
        spec, lgen = self.specs[self.codes[row]], self._lgen[row]
        seeds = Seeds(self._core[row], self._disp[row], None if lgen == NO_SEED else lgen)
        return GameSpec(spec.env, spec.task, seeds, spec.max_steps, spec.options, spec.programs, spec.version)

    @staticmethod
    def pack(values: Sequence[Any], of: Any) -> _Packed:
        """Store games; as blocks if hardly two share anything."""
        bare = [msgspec.structs.replace(game, seeds=Seeds(0, 0)) for game in values]
        shared = Repeated.pack(bare, of)
        lgens = [NO_SEED if game.seeds.lgen is None else game.seeds.lgen for game in values]
        if shared.how != "repeated" or sum(lgen == NO_SEED for lgen in lgens) not in (0, len(lgens)):
            return Blocks.pack(values, of)
        seeds = ([game.seeds.core for game in values], [game.seeds.disp for game in values], lgens)
        return _Packed("games", shared.parts + [_array(each, "q").parts[0] for each in seeds], shared.names)


NO_SEED = -(2**63)
_WAYS: Mapping[str, Any] = {
    "numbers": Numbers,
    "repeated": Repeated,
    "blocks": Blocks,
    "named": NamedNumbers,
    "points": PointLists,
    "names": Names,
    "games": GameColumn,
}


def _array(values: Sequence[Any], kind: str) -> _Packed:
    return _Packed("numbers", [zlib.compress(array(kind, values).tobytes(), _LEVEL)], kind)


class _SeparatorInNameError(Exception):
    """A name in a journal contains the separator, which no game does."""


def flat(value: Any, before: str = "") -> dict[str, Any]:
    """Flatten mappings and structs of numbers, at most one inside the other."""
    if isinstance(value, msgspec.Struct):
        value = {name: getattr(value, name) for name in value.__struct_fields__}
    made: dict[str, Any] = {}
    for name, inner in value.items():
        if SEPARATOR in name:
            raise _SeparatorInNameError
        if isinstance(inner, (dict, msgspec.Struct)):  # a check against Mapping takes ten times as long
            made.update(flat(inner, f"{before}{name}{SEPARATOR}"))
        else:
            made[f"{before}{name}"] = inner
    return made
