"""Arrays that NumPy pickled are read as by NumPy; everything else in a pickle is rejected, never executed."""

import io
import os
import pickle
import pickletools
import struct
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from balrog_rag.util import numpy_files, plain_pickle
from balrog_rag.util.numpy_files import BadArrayFile, read_arrays
from balrog_rag.util.plain_pickle import PickledArray, UnsafePickle, load

PLAIN = [
    {"long": "Zwei Zeilen\nöß \u2603", "short": "", "n": 3, "x": -0.5, "deep": {"a": [1, (2, None), b"x"]}},
    "text" * 100,
    2**40,
    -(2**70),
    1e300,
    True,
    None,
    (),
    (1, 2, 3, 4),
]


def array(values: list) -> np.ndarray:
    made = np.empty(len(values), object)
    made[:] = values
    return made


def npz(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def archive(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in members.items():
            out.writestr(f"{name}.npy", data)
    return file.getvalue()


def npy(pickled: bytes, shape: str = "(1,)", descr: str = "'|O'") -> bytes:
    """A file of an object array with this pickle."""
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + pickled


@pytest.mark.parametrize("protocol", [3, 4])
def test_plain_data_is_read_as_pickle_would(protocol: int) -> None:
    read = load(pickle.dumps(array(PLAIN), protocol=protocol))
    assert isinstance(read, PickledArray)
    assert (read.shape, read.values) == ((len(PLAIN),), PLAIN)
    assert load(pickle.dumps(PLAIN, protocol=protocol)) == PLAIN


@pytest.mark.parametrize("protocol", [3, 4])
def test_values_and_arrays_of_numpy_inside_are_read(protocol: int) -> None:
    inside = [np.str_("né"), np.float64(0.1), np.int64(-3), np.bool_(True), np.float32(0.5), np.uint8(200)]
    numbers = np.arange(6, dtype=np.int16).reshape(2, 3)
    read = load(pickle.dumps(array([*inside, numbers, array(["a"])]), protocol=protocol))
    *plain, shown, words = read.values
    assert plain == [each.item() for each in inside]
    assert (shown.shape, shown.values, words.values) == ((2, 3), [0, 1, 2, 3, 4, 5], ["a"])


def test_an_older_numpys_module_is_known_too() -> None:
    old = pickle.dumps(array(["a"]), protocol=3).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
    assert b"numpy.core.multiarray" in old
    assert load(old).values == ["a"]


def test_arrays_of_a_file_are_those_that_numpy_reads() -> None:
    words, flags, prices = np.array(["", "go north", "é"]), np.array([True, False]), np.array([0.25, -1e9])
    file = npz(words=words, flags=flags, prices=prices, text=array(PLAIN), big=np.array([1, 2], ">i4"))
    names = ("words", "flags", "prices", "text", "big")
    with np.load(io.BytesIO(file), allow_pickle=True) as by_numpy:
        assert read_arrays(file, names) == {name: by_numpy[name].tolist() for name in names}


class Calls:
    """What `pickle.loads` would call."""

    def __init__(self, function, *given) -> None:
        self.made = function, given

    def __reduce__(self):
        return self.made


class Stateful:
    pass


def recursive() -> bytes:
    own: list = []
    own.append(own)
    return pickle.dumps(own, protocol=4)


def billions() -> bytes:
    """Lists of ten references to one another: 10^9 values in a hundred bytes."""
    value: list = ["laugh"]
    for _ in range(9):
        value = [value] * 10
    return pickle.dumps(value, protocol=4)


def deep() -> bytes:
    return pickle.PROTO + b"\x04" + b"]" * 5000 + b"a" * 4999 + b"."


MALICIOUS = {
    "a call of os.system": (pickle.dumps(Calls(os.system, "touch {made}"), protocol=4), r"posix\.system"),
    "with an older protocol": (pickle.dumps(Calls(os.system, "touch {made}"), protocol=3), r"posix\.system"),
    "text opcodes": (b"cos\nsystem\n(S'touch {made}'\ntR.", r"os\.system"),
    "an instance": (b"(S'touch {made}'\nios\nsystem\n.", "opcode STRING"),
    "eval": (pickle.dumps(Calls(eval, "1"), protocol=4), r"builtins\.eval"),
    "a class of its own": (pickle.dumps(Stateful(), protocol=4), "Stateful"),
    "a harmless class": (pickle.dumps(OrderedDict(a=1), protocol=4), r"collections\.OrderedDict"),
    "numpy's own loader": (b"cnumpy\nload\n.", r"numpy\.load"),
    "an extension code": (b"\x80\x04\x82\x01.", "opcode EXT1"),
    "a persistent id": (b"\x80\x04P1\n.", "opcode PERSID"),
    "protocol 5": (pickle.dumps(["a"], protocol=5), "protocol 5"),
    "recursion": (recursive(), "deeper than"),
    "references that multiply": (billions(), "more than"),
    "depth": (deep(), "deeper than"),
    "a text longer than the file": (b"\x80\x04\x8d" + struct.pack("<Q", 1 << 62) + b"a.", "broken"),
    "an array larger than its content": (
        pickle.dumps(np.arange(3.0), protocol=4).replace(b"K\x03\x85", b"J\xff\xff\xff\x7f\x85"),
        "elements",
    ),
    "nothing": (b"", "broken"),
    "no end": (b"\x80\x04]", "broken"),
    "more after its end": (pickle.dumps([], protocol=4) + b"]", "after its end"),
    "values that are not there": (b"\x80\x04\x87.", "broken"),
    "a memo that is not there": (b"\x80\x04h\x07.", "broken"),
    "a mark that is not there": (b"\x80\x04t.", "broken"),
    "a name as a value": (b"cnumpy\nndarray\n.", "a name"),
    "an array that is never filled": (
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R.",
        "unfinished array",
    ),
    "a list as a key": (b"\x80\x04}]K\x01s.", "key"),
    "items of a list": (b"\x80\x04]K\x01K\x02s.", "dictionary"),
    "a call without a function": (b"\x80\x04K\x01)R.", "calls something"),
    "a state of a list": (b"\x80\x04])b.", "completes an object"),
    "dates": (pickle.dumps(array([np.datetime64("2020-01-01")]), protocol=4), "type 'M8'"),
}


@pytest.mark.parametrize("name", MALICIOUS)
def test_whatever_is_not_plain_data_is_refused_by_name(name: str, tmp_path: Path) -> None:
    pickled, said = MALICIOUS[name]
    made = tmp_path / "made"
    pickled = pickled.replace(b"{made}", str(made).encode())
    with pytest.raises(UnsafePickle, match=said) as refused:
        load(pickled)
    with pytest.raises(BadArrayFile, match="array 'text'"):
        read_arrays(archive(text=npy(pickled)), ["text"])
    assert not made.exists()
    assert "\n" not in str(refused.value)


def test_no_prefix_of_a_pickle_leads_to_anything_but_a_refusal() -> None:
    whole = pickle.dumps(array(PLAIN), protocol=4)
    for length in range(len(whole)):
        with pytest.raises(UnsafePickle):
            load(whole[:length])


def test_damaged_pickles_are_read_or_refused() -> None:
    whole = pickle.dumps(array([*PLAIN, np.float64(1), np.arange(2)]), protocol=4)
    dice = np.random.default_rng(1)
    for _ in range(2000):
        damaged = bytearray(whole)
        damaged[int(dice.integers(len(whole)))] = int(dice.integers(256))
        try:
            load(bytes(damaged))
        except UnsafePickle:
            pass


def test_many_opcodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_pickle, "MOST_OPCODES", 1000)
    with pytest.raises(UnsafePickle, match="more than 1,000 opcodes"):
        load(pickle.dumps(list(range(1000)), protocol=4))
    assert len(list(pickletools.genops(pickle.dumps([], protocol=4)))) < 10


def test_a_bomb_of_zeros_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_files, "LARGEST_ARRAY", 1 << 20)
    bomb = npz(text=np.zeros(1 << 18))
    assert len(bomb) < 1 << 16
    with pytest.raises(BadArrayFile, match="'text': larger than 1 MB"):
        read_arrays(bomb, ["text"])


@pytest.mark.parametrize(
    ("member", "said"),
    [
        (b"", "not a NumPy array"),
        (npy(pickle.dumps(array(["a"]), protocol=4), shape="(2,)"), "not the array that its header says"),
        (npy(pickle.dumps(["a"], protocol=4)), "not the array that its header says"),
        (b"\x93NUMPY\x01\x00\x04\x00open", "header"),
        (b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 31), "a header of"),
        (npy(b"", "(10000000000,)", "'<f8'"), "an array of shape"),
        (npy(b"", "(1000000000,)", "'<f8'"), "1,000,000,000 elements"),
        (npy(b"", "(3,)", "'<f8'"), "3 elements has 0 bytes"),
        (npy(b"", "(1, 1)"), "2 dimensions"),
        (npy(b"", "(1,)", "[('a', '|O')]"), "header"),
    ],
)
def test_an_array_that_is_not_one_is_refused(member: bytes, said: str) -> None:
    with pytest.raises(BadArrayFile, match=said):
        read_arrays(archive(text=member), ["text"])


def test_a_file_that_is_not_an_archive_is_refused() -> None:
    for data in (b"", b"PK", npz(a=np.zeros(3))[:-30]):
        with pytest.raises(BadArrayFile, match="not an archive"):
            read_arrays(data, ["a"])
    with pytest.raises(BadArrayFile, match="'b': missing"):
        read_arrays(npz(a=np.zeros(3)), ["b"])
