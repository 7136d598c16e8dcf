"""Arguments of the native half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Optional, TypedDict

import numpy as np
import numpy.typing as npt

ArrayName = Literal[
    "pos",
    "quat",
    "linvel",
    "angvel",
    "local_pos",
    "local_quat",
    "local_scale",
    "rot6d",
    "local_rot6d",
    "skin",
    "weights",
    "properties",
    "root",
    "root_motion",
    "contact",
]
"""The name of an array of `Poses`."""

UpAxis = Literal["y", "z"]
Quaternions = Literal["xyzw", "wxyz", "continuous"]
Wrap = Literal["clamp", "loop"]


@dataclass(frozen=True)
class Request:
    """The arrays that a caller wants, of which joints, in which space."""

    kinds: tuple[str, ...]
    joints: Optional[tuple[str, ...]] = None
    up: str = "y"
    scale: float = 1.0
    quaternions: str = "xyzw"
    morphs: Optional[tuple[str, ...]] = None


class Times(TypedDict):
    """Clips and times, one per row, in arrays of one shape. `before` and `after` are the times that velocities are measured
    between."""

    clips: npt.NDArray[np.int64]
    """The indices of clips; -1 - K for the rest pose of skeleton K."""
    times: npt.NDArray[np.float64]
    before: npt.NDArray[np.float64]
    after: npt.NDArray[np.float64]


def request(
    arrays: Sequence[str],
    joints: Optional[Sequence[str]],
    morphs: Optional[Sequence[str]],
    up: str,
    scale: float,
    quaternions: str,
) -> Request:
    """A request of the arguments of a call."""
    of_joints = None if joints is None else name_list(joints, "joints")
    of_morphs = None if morphs is None else name_list(morphs, "morphs")
    # The signs of continuous quaternions are chosen when they are there.
    order = "xyzw" if quaternions == "continuous" else quaternions
    return Request(name_list(arrays, "arrays"), of_joints, up, float(scale), order, of_morphs)


def name_list(names: Sequence[str], argument: str) -> tuple[str, ...]:
    """A sequence of names. A single name is refused, because it is a sequence of letters."""
    if isinstance(names, str):
        raise TypeError(f"{argument}={names!r} is one name; expected a list of names, such as [{names!r}]")
    return tuple(names)
