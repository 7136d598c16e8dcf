"""Clips and times as arrays of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _posse
from ._clip import Clip

Seconds = npt.NDArray[np.float64]


def seconds(times: npt.ArrayLike) -> Seconds:
    """Times in seconds as an array with one axis."""
    array = np.asarray(times)
    if array.dtype.kind not in "fiu" and array.size > 0:
        raise TypeError(f"times have the dtype {array.dtype}; expected numbers of seconds")
    array = np.ascontiguousarray(array, dtype=np.float64)
    if np.ndim(times) != 1:
        raise ValueError(f"times have the shape {np.shape(times)}; expected one axis")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        raise _posse.Error(f"times[{row}] is {array[row]}; expected a finite number of seconds")
    return array


def wrapped(times: Seconds, ends: Seconds, wrap: str) -> Seconds:
    """Times inside of their clips, which end at `ends`."""
    if wrap == "clamp":
        return np.clip(times, 0.0, ends)
    if wrap == "loop":
        return np.where(ends > 0.0, np.mod(times, np.where(ends > 0.0, ends, 1.0)), 0.0)
    raise _posse.Error(f"wrap={wrap!r}; expected 'clamp' or 'loop'")


def frame_times(fps: float, duration: float) -> tuple[Seconds, Seconds, Seconds]:
    """The times of all frames of a clip, and the times between which the velocities of each are measured."""
    count = _posse.frame_count(fps, duration)
    unclamped = np.arange(-1, count + 1) / fps
    times = np.clip(unclamped, 0.0, duration)
    # A time that is clamped to the duration is less than 1 / fps after the frame before.
    before = np.where(unclamped[1:-1] > duration, max(duration - 1 / fps, 0.0), times[:-2])
    return before, times[1:-1], times[2:]


def clip_ids(
    clips: Union[Any, Iterable[Any]], rows: int, count: int, index: Callable[[Any], int]
) -> npt.NDArray[np.int64]:
    """The indices of clips, one per row. `index` gives that of one clip; there are `count` clips."""
    if isinstance(clips, (str, Clip)) or not isinstance(clips, Iterable):
        return np.full(rows, index(clips), dtype=np.int64)
    ids = _integers(clips, index)
    if len(ids) != rows:
        raise ValueError(f"there are {len(ids)} clips and {rows} times; expected one time per clip")
    if rows and not (ids.min() >= 0 and ids.max() < count):
        row = int(np.flatnonzero((ids < 0) | (ids >= count))[0])
        raise _posse.Error(f"clips[{row}] is {ids[row]}; the library has {count} clips")
    return ids


def _integers(clips: Iterable[Any], index: Callable[[Any], int]) -> npt.NDArray[np.int64]:
    """The indices of a list of clips."""
    # Lists, and arrays of all packages that NumPy reads.
    array = np.asarray(clips) if isinstance(clips, (list, tuple)) or hasattr(clips, "__array__") else None
    if array is None or array.dtype.kind not in "iu":
        return np.array([index(clip) for clip in clips], dtype=np.int64)
    if array.ndim != 1:
        raise ValueError(f"clips have the shape {array.shape}; expected one axis")
    return np.ascontiguousarray(array, dtype=np.int64)
