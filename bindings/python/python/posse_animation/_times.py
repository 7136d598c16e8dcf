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
    """Times in seconds as an array of any shape."""
    array = np.asarray(times)
    if array.dtype.kind not in "fiu" and array.size > 0:
        raise TypeError(f"times have the dtype {array.dtype}; expected numbers of seconds")
    array = np.asarray(array, dtype=np.float64)
    if not np.isfinite(array).all():
        place = np.argwhere(~np.isfinite(array))[0]
        found = array[tuple(place)]
        raise _posse.Error(f"times{bracketed(place)} is {found}; expected a finite number of seconds")
    return array


def bracketed(place: npt.NDArray[np.intp]) -> str:
    """The indices of a number in an array, in brackets; nothing for an array of one number."""
    return f"[{', '.join(map(str, place))}]" if len(place) else ""


def wrapped(times: Seconds, ends: Seconds, wrap: str) -> Seconds:
    """Times inside of their clips, which end at `ends`."""
    if wrap == "clamp":
        return np.clip(times, 0.0, ends)
    if wrap == "loop":
        return np.where(ends > 0.0, np.mod(times, np.where(ends > 0.0, ends, 1.0)), 0.0)
    raise _posse.Error(f"wrap={wrap!r}; expected 'clamp' or 'loop'")


def clip_ids(
    clips: Union[Any, Iterable[Any]], shape: tuple[int, ...], count: int, index: Callable[[Any], int]
) -> npt.NDArray[np.int64]:
    """The indices of clips, one for each of times with this shape. `index` gives that of one clip; there are `count` clips."""
    if isinstance(clips, (str, Clip)) or not isinstance(clips, Iterable):
        return np.full(shape, index(clips), dtype=np.int64)
    ids = _integers(clips, index)
    # The axes of clips are the first ones of times: a clip per window.
    axes = ids.reshape(ids.shape + (1,) * (len(shape) - ids.ndim))
    try:
        every = np.broadcast_to(axes, shape)
    except ValueError:
        raise ValueError(
            f"clips have the shape {ids.shape} and times {shape}; expected a clip per time, or per index of the first axes of times"
        ) from None
    is_unknown = (ids < 0) | (ids >= count)
    if is_unknown.any():
        place = np.argwhere(is_unknown)[0]
        raise _posse.Error(f"clips{bracketed(place)} is {ids[tuple(place)]}; the library has {count} clips")
    return every


def _integers(clips: Iterable[Any], index: Callable[[Any], int]) -> npt.NDArray[np.int64]:
    """The indices of a list of clips."""
    # Lists, and arrays of all packages that NumPy reads.
    array = np.asarray(clips) if isinstance(clips, (list, tuple)) or hasattr(clips, "__array__") else None
    if array is None or array.dtype.kind not in "iu":
        return np.array([index(clip) for clip in clips], dtype=np.int64)
    return np.asarray(array, dtype=np.int64)
