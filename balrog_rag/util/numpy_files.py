"""Arrays of a NumPy `.npz` file as Python lists; object arrays are read without unpickling them."""

import ast
import io
import struct
import zipfile
import zlib
from collections.abc import Iterable
from typing import Any

from balrog_rag.util.files import MEGABYTE
from balrog_rag.util.plain_pickle import DType, PickledArray, UnsafePickle, elements, load

LARGEST_ARRAY = 128 * MEGABYTE
"""Largest array that is unpacked; a zip file of kilobytes can hold gigabytes of zeros."""
LONGEST_HEADER = 10_000
_MAGIC = b"\x93NUMPY"


class BadArrayFile(ValueError):
    """A file that is not an archive of NumPy arrays, or one that is not read; one line."""


def read_arrays(data: bytes, names: Iterable[str]) -> dict[str, list[Any]]:
    """The one-dimensional arrays of these names; others in the file are not looked at."""
    found = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in names:
                try:
                    found[name] = _values(_member(archive, f"{name}.npy"))
                except UnsafePickle as error:
                    raise BadArrayFile(f"array {name!r}: {error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, struct.error) as error:
        raise BadArrayFile(f"not an archive of NumPy arrays ({str(error)[:120]})") from error
    return found


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        entry = archive.getinfo(name)
    except KeyError:
        raise UnsafePickle("missing") from None
    if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnsafePickle("encrypted, or compressed in a way that NumPy does not use")
    with archive.open(entry) as file:
        data = file.read(LARGEST_ARRAY + 1)
    if len(data) > LARGEST_ARRAY:
        raise UnsafePickle(f"larger than {LARGEST_ARRAY // MEGABYTE} MB")
    return data


def _values(data: bytes) -> list[Any]:
    """The elements of a `.npy` file of one dimension."""
    dtype, shape, content = _header(data)
    if len(shape) != 1:
        raise UnsafePickle(f"{len(shape)} dimensions; expected one")
    if dtype.kind != "O":
        return dtype.values(content, elements(shape))
    array = load(content)
    if not isinstance(array, PickledArray) or array.shape != shape or array.values is None:
        raise UnsafePickle("its pickle is not the array that its header says")
    return array.values


def _header(data: bytes) -> tuple[DType, tuple[int, ...], bytes]:
    """The type of elements, the shape, and the rest of the file."""
    version = data[6:7]
    size, begin = ("<H", 10) if version == b"\x01" else ("<I", 12)
    if data[:6] != _MAGIC or version not in (b"\x01", b"\x02", b"\x03") or len(data) < begin:
        raise UnsafePickle("not a NumPy array")
    (length,) = struct.unpack(size, data[8:begin])
    if length > LONGEST_HEADER:
        raise UnsafePickle(f"a header of {length} bytes")
    try:
        said = ast.literal_eval(data[begin : begin + length].decode())
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise UnsafePickle("its header cannot be read") from error
    match said:
        case {"descr": str(descr), "fortran_order": bool(), "shape": tuple(shape)}:
            elements(shape)
            return DType(descr), shape, data[begin + length :]
    raise UnsafePickle("its header does not say what it holds")
