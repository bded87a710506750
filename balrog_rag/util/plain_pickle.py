"""Read the pickles of NumPy's object arrays without running anything that a pickle asks for.

`pickle.loads` calls whatever a pickle names. This reader knows the few opcodes that plain data and arrays
need, builds its own objects for them, and refuses every other opcode and every other name.
"""

import math
import pickletools
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

MOST_OPCODES = 4_000_000
MOST_VALUES = 4_000_000
"""Values counted as often as they are referred to: ten lists of ten references each soon are billions."""
DEEPEST = 32
"""A list that contains itself is infinitely deep, too."""
HIGHEST_PROTOCOL = 4
"""NumPy writes 3 or 4."""
MULTIARRAY = ("numpy.core.multiarray", "numpy._core.multiarray")
KNOWN = {
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): "dtype",
    **{(module, "_reconstruct"): "reconstruct" for module in MULTIARRAY},
    **{(module, "scalar"): "scalar" for module in MULTIARRAY},
}
"""The names that an array's pickle refers to, and what this reader does for each."""
_DTYPE = re.compile(r"([<>|=]?)([biufSUO])(\d{0,8})")
_FLOATS = {2: "e", 4: "f", 8: "d"}
_WITHOUT_CHILDREN = (str, int, float, bytes, type(None))


class UnsafePickle(ValueError):
    """A pickle that is broken, too large, or holds more than arrays and plain data; one line."""


class DType:
    """An array's type of elements, as text such as `<f8` says it."""

    def __init__(self, text: str) -> None:
        found = _DTYPE.fullmatch(text)
        if found is None:
            raise UnsafePickle(f"elements of type {text[:40]!r} are not read")
        self.order, self.kind, digits = found.groups()
        self.size = int(digits or 1) * (4 if self.kind == "U" else 1)

    def value(self, data: bytes) -> Any:
        """An element from its bytes."""
        if len(data) != self.size:
            raise UnsafePickle("an element has another length than its type")
        little = self.order != ">"
        match self.kind:
            case "b":
                return data != b"\0"
            case "i" | "u":
                return int.from_bytes(data, "little" if little else "big", signed=self.kind == "i")
            case "f" if self.size in _FLOATS:
                return struct.unpack(("<" if little else ">") + _FLOATS[self.size], data)[0]
            case "U":
                return data.decode("utf-32-le" if little else "utf-32-be", "replace").rstrip("\0")
            case "S":
                return data.rstrip(b"\0")
        raise UnsafePickle(f"elements of type {self.kind}{self.size} are not read")

    def values(self, data: bytes, count: int) -> list[Any]:
        """That many elements from their bytes."""
        if count > MOST_VALUES:
            raise UnsafePickle(f"an array of {count:,} elements; at most {MOST_VALUES:,} are read")
        if count * self.size != len(data) or (count and not self.size):
            raise UnsafePickle(f"an array of {count} elements has {len(data)} bytes")
        return [self.value(data[place : place + self.size]) for place in range(0, len(data), self.size or 1)]


class PickledArray:
    """An array inside a pickle: its shape, and its elements in a row."""

    def __init__(self) -> None:
        self.shape: tuple[int, ...] = ()
        self.values: list[Any] | None = None
        """None until the pickle has said what is in the array."""


class _Name:
    """A name that a pickle refers to; one of `KNOWN`."""

    def __init__(self, module: Any, name: Any) -> None:
        if (module, name) not in KNOWN:
            raise UnsafePickle(f"it refers to {module!s:.80}.{name!s:.80}, which is never called")
        self.name = KNOWN[module, name]


def load(data: bytes) -> Any:
    """The value of a pickle: plain data, or a `PickledArray` of it."""
    reader = _Reader()
    end = -1
    try:
        for number, (opcode, argument, place) in enumerate(pickletools.genops(data)):
            if number >= MOST_OPCODES:
                raise UnsafePickle(f"more than {MOST_OPCODES:,} opcodes")
            reader.take(opcode.name, argument)
            end = place or 0
        if end != len(data) - 1:
            raise UnsafePickle(f"{len(data) - 1 - end} bytes after its end")
        (value,) = reader.stack
    except UnsafePickle:
        raise
    except (ValueError, LookupError, TypeError, struct.error) as error:  # what broken data leads to
        raise UnsafePickle(f"broken: {str(error)[:120]}") from error
    _check(value)
    return value


class _Reader:
    """A pickle machine for the opcodes that plain data needs."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        """What lies under each open mark."""
        self.memo: dict[int, Any] = {}

    def take(self, name: str, argument: Any) -> None:
        """Do what an opcode says; one that is not known is refused by its name."""
        if name in _PUSHES:
            self.stack.append(argument)
        elif name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name]())
        elif name in _ACTIONS:
            _ACTIONS[name](self, argument)
        else:
            raise UnsafePickle(f"opcode {name} is not one of those that arrays of plain data need")

    def marked(self) -> list[Any]:
        """What lies above the last mark, taken off with it."""
        above, self.stack = self.stack, self.below.pop()
        return above

    def mark(self, argument: Any) -> None:
        """Begin a row of values."""
        self.below.append(self.stack)
        self.stack = []

    def protocol(self, version: int) -> None:
        """Refuse a later protocol than NumPy writes."""
        if version > HIGHEST_PROTOCOL:
            raise UnsafePickle(f"protocol {version}; NumPy writes {HIGHEST_PROTOCOL} at most")

    def memoize(self, place: int | None) -> None:
        """Remember the top of the stack."""
        self.memo[len(self.memo) if place is None else place] = self.stack[-1]

    def recall(self, place: int) -> None:
        """Push what was remembered."""
        self.stack.append(self.memo[place])

    def tuple_of(self, count: int) -> None:
        """Make a tuple of the last values."""
        made = tuple(self.stack[-count:])
        if len(made) < count:
            raise UnsafePickle("broken: a tuple of values that are not there")
        self.stack[-count:] = [made]

    def marked_tuple(self) -> None:
        """Make a tuple of what lies above the last mark."""
        made = tuple(self.marked())
        self.stack.append(made)

    def append(self, values: list[Any]) -> None:
        """Add to the list on top."""
        if type(self.stack[-1]) is not list:
            raise UnsafePickle("it appends to something that is not a list")
        self.stack[-1].extend(values)

    def set_items(self, flat: list[Any]) -> None:
        """Add keys and values to the dictionary on top."""
        if type(self.stack[-1]) is not dict or len(flat) % 2:
            raise UnsafePickle("it sets items of something that is not a dictionary")
        keys = flat[::2]
        if any(type(key) not in (str, int) for key in keys):
            raise UnsafePickle("a dictionary's key is neither text nor a number")
        self.stack[-1].update(zip(keys, flat[1::2], strict=True))

    def name(self, written: str) -> None:
        """Push a name written as `module name`."""
        module, _, name = written.partition(" ")
        self.stack.append(_Name(module, name))

    def stack_name(self) -> None:
        """Push a name whose two parts are on the stack."""
        module, name = self.stack[-2:]
        self.stack[-2:] = [_Name(module, name)]

    def call(self) -> None:
        """What NumPy's three functions would make; nothing is called."""
        function, given = self.stack[-2:]
        called = function.name if isinstance(function, _Name) else ""
        match called, given:
            case "reconstruct", (_Name(name="ndarray"), tuple(), bytes()):
                made: Any = PickledArray()
            case "dtype", (str(text), bool(), bool()):
                made = DType(text)
            case "scalar", (DType() as dtype, bytes(data)):
                made = dtype.value(data)
            case _:
                raise UnsafePickle("it calls something with arguments that no array has")
        self.stack[-2:] = [made]

    def build(self) -> None:
        """Complete the array or the type on top with its state."""
        state = self.stack.pop()
        match self.stack[-1], state:
            case DType() as dtype, (3, str(order), None, None, None, int(), int(), int()):
                dtype.order = order
            case PickledArray(values=None) as array, (1, tuple(shape), DType() as dtype, bool(), content):
                _fill(array, shape, dtype, content)
            case _:
                raise UnsafePickle("it completes an object in a way that no array does")


def _fill(array: PickledArray, shape: tuple[Any, ...], dtype: DType, content: Any) -> None:
    count = elements(shape)
    array.shape = shape
    if dtype.kind == "O" and type(content) is list and len(content) == count:
        array.values = content
    elif dtype.kind != "O" and isinstance(content, bytes):
        array.values = dtype.values(content, count)
    else:
        raise UnsafePickle(f"an array of shape {shape!s:.80} has other content")


def elements(shape: Sequence[Any]) -> int:
    """How many elements an array of this shape has."""
    if len(shape) > DEEPEST or any(type(size) is not int or not 0 <= size < 1 << 31 for size in shape):
        raise UnsafePickle(f"an array of shape {shape!s:.80}")
    return math.prod(shape)


def _check(value: Any) -> None:
    """Refuse values too deep or too many to be walked through, and names left among them."""
    levels, seen = [iter((value,))], 0
    while levels:
        for child in levels[-1]:
            seen += 1
            if not isinstance(child, _WITHOUT_CHILDREN):
                levels.append(_children(child))
                break
        else:
            levels.pop()
        if seen > MOST_VALUES or len(levels) > DEEPEST:
            raise UnsafePickle(f"more than {MOST_VALUES:,} values, or deeper than {DEEPEST}")


def _children(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        return iter(value)
    if isinstance(value, dict):
        return iter(value.values())
    if isinstance(value, PickledArray) and value.values is not None:
        return iter(value.values)
    raise UnsafePickle("a name or an unfinished array stands among its values")


_PUSHES = frozenset(
    [
        *("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"),
        *("BINUNICODE", "SHORT_BINUNICODE", "BINBYTES", "SHORT_BINBYTES"),
    ]
)
_CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_TUPLE": tuple,
    "EMPTY_LIST": list,
    "EMPTY_DICT": dict,
}
_ACTIONS: dict[str, Callable[[_Reader, Any], None]] = {
    "PROTO": _Reader.protocol,
    "FRAME": lambda reader, _: None,
    "STOP": lambda reader, _: None,
    "MARK": _Reader.mark,
    "MEMOIZE": _Reader.memoize,
    "BINPUT": _Reader.memoize,
    "LONG_BINPUT": _Reader.memoize,
    "BINGET": _Reader.recall,
    "LONG_BINGET": _Reader.recall,
    "TUPLE": lambda reader, _: reader.marked_tuple(),
    "TUPLE1": lambda reader, _: reader.tuple_of(1),
    "TUPLE2": lambda reader, _: reader.tuple_of(2),
    "TUPLE3": lambda reader, _: reader.tuple_of(3),
    "APPEND": lambda reader, _: reader.append([reader.stack.pop()]),
    "APPENDS": lambda reader, _: reader.append(reader.marked()),
    "SETITEM": lambda reader, _: reader.set_items([reader.stack.pop(-2), reader.stack.pop()]),
    "SETITEMS": lambda reader, _: reader.set_items(reader.marked()),
    "GLOBAL": _Reader.name,
    "STACK_GLOBAL": lambda reader, _: reader.stack_name(),
    "REDUCE": lambda reader, _: reader.call(),
    "BUILD": lambda reader, _: reader.build(),
}
