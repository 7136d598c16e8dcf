"""The clips of a bake in the format packed, as its index lists them.

An index may have hundreds of thousands of lines. Once they are read, their numbers are arrays, and the lines stay in the mapped file,
where a clip looks its facts up. Other processes get the arrays by pickle, and parse nothing.
"""

from __future__ import annotations

import copy
import glob
import json
import mmap
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _posse

INDEX = "index.jsonl"

MAX_ROWS = 1 << 48
"""The limit of the numbers of rows, which keeps their sums in 64 bits."""


@dataclass(frozen=True, eq=False)
class PackedClip:
    """A clip of a `PackedMotion`. Each call that takes a clip takes this object, its `index` or its `name`."""

    index: int
    """The index among the clips of the file, from 0."""

    name: str
    """The name of the output of the bake: the path of the source below its folder, and `#NAME` of one of several clips."""

    frames: int
    """The number of frames."""

    fps: float
    """The frames per second."""

    first_row: int
    """The row of the first frame in the arrays of the file."""

    rest: int
    """The index of the rest pose."""

    _lines: Any = field(repr=False)
    """The line of the index by the index of the clip."""

    @property
    def duration(self) -> float:
        """The time of the last frame in seconds."""
        return (self.frames - 1) / self.fps

    @property
    def file(self) -> str:
        """The path of the source, as the bake names it."""
        path: str = self.facts["source"]["path"]
        return path

    @property
    def facts(self) -> Mapping[str, Any]:
        """The line of the clip in the index: `source` with the SHA-256, `seconds`, `quality`, `warnings` and others."""
        facts: Mapping[str, Any] = json.loads(self._line)
        return facts

    @property
    def _line(self) -> bytes:
        line: bytes = self._lines[self.index]
        return line

    def __reduce__(self) -> tuple[object, ...]:
        numbers = (self.index, self.name, self.frames, self.fps, self.first_row, self.rest)
        return PackedClip, (*numbers, {self.index: self._line})


class ClipList:
    """The clips of one rig. `list[i]` is the line of clip i, as bytes."""

    def __init__(self, lines: mmap.mmap) -> None:
        self.names: list[str] = []
        self._lines = lines
        self._rows: list[tuple[int, int, int, int, int]] = []
        self._rates: list[float] = []

    def add(self, line: Mapping[str, Any], begin: int, end: int) -> None:
        """Appends the clip of a line that stands at these bytes."""
        frames, first_row, rest, fps = (line[name] for name in ("frames", "first_row", "rest", "fps"))
        rows = (frames, first_row, rest)
        if any(type(number) is not int for number in rows) or frames < 1 or min(rows) < 0 or max(rows) > MAX_ROWS:
            raise ValueError(f"frames {frames}, first_row {first_row} and rest {rest}")
        if not 0.0 < float(fps) < float("inf"):
            raise ValueError(f"fps {fps}")
        text(line["source"]["path"])
        self.names.append(text(line["clip"]))
        self._rows.append((frames, first_row, rest, begin, end))
        self._rates.append(float(fps))

    def complete(self) -> ClipList:
        """Makes arrays of the numbers, when all clips are there."""
        numbers = np.array(self._rows, dtype=np.int64).reshape(-1, 5).T
        self.frames, self.first_rows, self.rests, self._begins, self._ends = map(np.ascontiguousarray, numbers)
        self.rates: npt.NDArray[np.float64] = np.array(self._rates, dtype=np.float64)
        self._rows, self._rates = [], []
        return self

    def clips(self) -> tuple[PackedClip, ...]:
        """All clips."""
        columns = (self.frames, self.rates, self.first_rows, self.rests)
        frames, rates, first_rows, rests = (array.tolist() for array in columns)
        rows = zip(self.names, frames, rates, first_rows, rests)
        return tuple(PackedClip(index, *row, self) for index, row in enumerate(rows))

    def reopened(self, folder: str) -> ClipList:
        """A copy with the lines of the index of a folder, which may have changed."""
        other = copy.copy(self)
        other._lines = _mapped(folder)
        return other

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> bytes:
        return self._lines[self._begins[index] : self._ends[index]]

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_lines"}


def read(folder: str) -> dict[str, ClipList]:
    """The clips of each rig of a folder, by the names of the files."""
    path = os.path.join(folder, INDEX)
    if os.path.isdir(folder) and not os.path.exists(path):
        if glob.glob(os.path.join(glob.escape(folder), "part-*.packed")):
            raise _posse.Error(f"{folder}: the bake has not been merged: run `posse bake --merge {folder}`")
        raise _posse.Error(f"{path} is missing; expected the folder of `posse bake --format packed`")
    rigs: dict[str, ClipList] = {}
    lines, number, end = _mapped(folder), 0, 0
    while end < len(lines):
        number, begin = number + 1, end
        line = lines.readline()
        end = begin + len(line)
        try:
            facts = json.loads(line)
            rig = text(facts["rig"])
            if rig not in rigs:
                rigs[rig] = ClipList(lines)
            rigs[rig].add(facts, begin, end)
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            found = f"{path}, line {number}: {error!r}"
            raise _posse.Error(f"{found}; expected a line of `posse bake --format packed`") from None
    return {rig: clips.complete() for rig, clips in rigs.items()}


def text(value: object) -> str:
    """A value of JSON that has to be a text."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _mapped(folder: str) -> mmap.mmap:
    """The bytes of the index, also after a bake has replaced the file."""
    path = os.path.join(folder, INDEX)
    with open(path, "rb") as file:
        if file.seek(0, 2) == 0:
            raise _posse.Error(f"{path}: there are no clips")
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
