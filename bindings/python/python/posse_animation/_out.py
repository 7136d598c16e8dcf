"""The arrays that a call fills."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Optional, Union

import numpy as np

from . import _posse
from ._continuous import make_continuous
from ._poses import Floats, Poses
from ._request import Quaternions, Times

Out = Union[Poses, Mapping[str, Floats], None]
Shapes = Mapping[str, tuple[int, ...]]


def filled(
    layout: _posse.Layout,
    rows: Times,
    out: Out,
    quaternions: Quaternions,
    fill: Callable[[Times, list[Floats]], None],
    fps: Optional[float] = None,
) -> Poses:
    """Poses with the arrays of a layout, new ones or those of `out`. `fill` fills them, with rows along one axis."""
    clips = rows["clips"]
    shapes = {name: (*clips.shape, *shape) for name, _, shape in layout.arrays}
    given = out.arrays if isinstance(out, Poses) else out
    arrays = new_arrays(shapes) if given is None else reused_arrays(shapes, given)
    flat: Times = {
        "clips": clips.ravel(),
        "times": rows["times"].ravel(),
        "before": rows["before"].ravel(),
        "after": rows["after"].ravel(),
    }
    fill(flat, list(arrays.values()))
    if quaternions == "continuous":
        make_continuous([(kind, arrays[name]) for name, kind, _ in layout.arrays], clips)
    names, parents = tuple(layout.joint_names), tuple(layout.parents)
    return Poses(arrays, rows["times"], fps, names, parents, tuple(layout.weight_names), tuple(layout.contact_feet))


def new_arrays(shapes: Shapes) -> dict[str, Floats]:
    """Arrays of these shapes."""
    return {name: np.empty(shape, dtype=np.float32) for name, shape in shapes.items()}


def reused_arrays(shapes: Shapes, out: Mapping[str, Floats]) -> dict[str, Floats]:
    """The arrays of `out`, which must be those of `shapes`."""
    if not isinstance(out, Mapping):
        raise TypeError(f"out is {type(out).__name__}; expected Poses, or a mapping of names to arrays")
    unknown = [name for name in out if name not in shapes]
    if unknown:
        raise ValueError(f"out has {unknown}, which the call does not fill; it fills {list(shapes)}")
    for name, shape in shapes.items():
        _check(name, out.get(name), shape)
    return {name: out[name] for name in shapes}


def _check(name: str, array: object, shape: tuple[int, ...]) -> None:
    if array is None:
        raise ValueError(f"out has no array {name!r}; expected one of shape {shape}")
    if not isinstance(array, np.ndarray):
        raise TypeError(f"out[{name!r}] is {type(array).__name__}; expected a NumPy array")
    if array.dtype != np.float32:
        raise TypeError(f"out[{name!r}] has the dtype {array.dtype}; expected float32")
    if array.shape != shape:
        raise ValueError(f"out[{name!r}] has the shape {array.shape}; expected {shape}")
    if not array.flags.c_contiguous:
        raise ValueError(f"out[{name!r}] is not contiguous in C order; give an array of np.empty({shape}, np.float32)")
    if not array.flags.writeable:
        raise ValueError(f"out[{name!r}] is read-only; give an array that can be written")
