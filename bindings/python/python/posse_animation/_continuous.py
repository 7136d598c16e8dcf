"""Signs of quaternions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ._poses import Floats


def make_continuous(arrays: Iterable[tuple[str, Floats]], clips: npt.NDArray[np.int64]) -> None:
    """Changes the signs of quaternions xyzw in place, so that each is nearest to the one before it along the last axis of
    times. The first one of a clip has w >= 0. `arrays` are those of a result with their kinds, `clips` one per time."""
    for kind, array in arrays:
        if kind in ("quat", "local_quat"):
            quaternions = array
        elif kind in ("root", "root_motion"):
            quaternions = array[..., np.newaxis, 3:]
        else:
            continue
        # A single pose is a sequence of one.
        one_axis = clips.ndim == 0
        flips = _flips(quaternions[np.newaxis] if one_axis else quaternions, clips[np.newaxis] if one_axis else clips)
        np.negative(quaternions, out=quaternions, where=(flips[0] if one_axis else flips)[..., np.newaxis])


def _flips(quaternions: Floats, clips: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """(..., T, J) True for quaternions (..., T, J, 4) whose sign must change. `clips` are (..., T)."""
    starts = np.ones(clips.shape, dtype=np.bool_)
    starts[..., 1:] = clips[..., 1:] != clips[..., :-1]
    # Whether the sign of a quaternion is another than that of the one before it: of the first one, whether w < 0.
    turns = np.signbit(quaternions[..., 3])
    products = np.einsum("...i,...i->...", quaternions[..., 1:, :, :], quaternions[..., :-1, :, :])
    turns[..., 1:, :] = np.where(starts[..., 1:, np.newaxis], turns[..., 1:, :], products < 0)
    # Whether the turns since the start of the clip are an odd number.
    are_odd = np.logical_xor.accumulate(turns, axis=-2)
    first = np.maximum.accumulate(np.where(starts, np.arange(clips.shape[-1]), 0), axis=-1)[..., np.newaxis]
    before = np.take_along_axis(are_odd ^ turns, np.broadcast_to(first, turns.shape), axis=-2)
    flips: npt.NDArray[np.bool_] = are_odd ^ before
    return flips
