"""The arrays of a safetensors file, mapped into memory.

The file has 8 bytes with the length of the header, least significant byte first; the header, a JSON object that has `dtype`,
`shape` and `data_offsets` of each array and texts under `__metadata__`; then the numbers
(https://github.com/huggingface/safetensors, section "Format").
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import mmap
import platform
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _posse

Array = npt.NDArray[Any]

DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "<i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "<u1",
    "BOOL": "|b1",
}

MAX_HEADER_BYTES = 100_000_000
"""The limit of the format."""

# MAP_NORESERVE, which not every Python names: a private map larger than the memory is allowed, since few pages are written.
_NO_RESERVE: int = 0x4000 if sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64", "riscv64") else 0


@dataclass(frozen=True)
class MappedFile:
    """The arrays of a file. Numbers that are written to them stay in this process; some systems allow no writing."""

    arrays: dict[str, Array]
    metadata: dict[str, str]
    fingerprint: bytes
    """The length of the file and the SHA-256 of its header."""


def mapped(path: str) -> MappedFile:
    """The arrays of a file. Raises `OSError` for a file that cannot be read, and `Error` for one that is no safetensors file."""
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        file.seek(0)
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or not 2 <= length <= min(size - 8, MAX_HEADER_BYTES):
            raise _posse.Error(f"{path}: it is no safetensors file, or has lost its end; bake it again")
        head = file.read(length)
        numbers = _map(file.fileno(), size)
    header = _header(path, head)
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict):
        raise _posse.Error(f"{path}: __metadata__ is no object; expected a safetensors file")
    arrays = {name: _array(path, name, entry, numbers, 8 + length) for name, entry in header.items()}
    fingerprint = size.to_bytes(8, "little") + hashlib.sha256(head).digest()
    return MappedFile(arrays, {str(key): str(value) for key, value in metadata.items()}, fingerprint)


def _map(number: int, size: int) -> mmap.mmap:
    if sys.platform == "win32":
        return mmap.mmap(number, size, access=mmap.ACCESS_COPY)
    try:
        return mmap.mmap(number, size, flags=mmap.MAP_PRIVATE | _NO_RESERVE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
    # A system that promises no more memory than it has does not heed MAP_NORESERVE. Pages that are only read need no promise.
    return mmap.mmap(number, size, access=mmap.ACCESS_READ)


def _header(path: str, head: bytes) -> dict[str, Any]:
    try:
        header = json.loads(head)
    except (ValueError, RecursionError) as error:
        raise _posse.Error(f"{path}: the header cannot be read: {error}; bake it again") from None
    if not isinstance(header, dict):
        raise _posse.Error(f"{path}: the header is no object; expected a safetensors file")
    return header


def _array(path: str, name: str, entry: Any, numbers: mmap.mmap, start: int) -> Array:
    """The array of an entry of the header. Its bytes begin at `start` and its offset."""
    try:
        dtype, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
        integers = [*shape, begin, end]
    except (TypeError, KeyError, ValueError):
        raise _posse.Error(f"{path}: {name!r} has no dtype, shape and data_offsets; expected a safetensors file") from None
    if dtype not in DTYPES:
        raise _posse.Error(f"{path}: {name!r} has the dtype {dtype!r}; expected one of {', '.join(DTYPES)}")
    if any(type(number) is not int or number < 0 for number in integers):
        raise _posse.Error(f"{path}: {name!r} has the shape {shape} at {[begin, end]}; expected integers of 0 and more")
    kind = np.dtype(DTYPES[dtype])
    count = math.prod(shape)
    if end - begin != count * kind.itemsize or start + end > len(numbers):
        raise _posse.Error(f"{path}: {name!r} has {end - begin} bytes at {begin} for the shape {shape}; bake it again")
    return np.frombuffer(numbers, dtype=kind, count=count, offset=start + begin).reshape(shape)
