"""Baked frames as a table, and states between its rows, with NumPy or on a device of PyTorch.

Between two frames, positions, velocities, scales, weights and skin matrices are interpolated linearly, and quaternions by slerp
along the shorter arc. Rotations of six numbers are interpolated linearly and made orthogonal again. Contacts are those of the
nearest frame. A true clip curves between its frames: what is lost falls with the square of the time between them, and `Library`
evaluates the clip itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

# Arrays of NumPy or tensors of PyTorch, whose operators agree.
Numbers = Any

FRAME_TOLERANCE = 1e-5
"""The distance from a frame, in frames, up to which a time is that of the frame."""

QUATERNIONS = ("quat", "local_quat")
PLACES = ("root", "root_motion")
SIX_NUMBERS = ("rot6d", "local_rot6d")


@dataclass(frozen=True)
class Table:
    """Frames of clips, one after the other."""

    arrays: Mapping[str, Numbers]
    """(R, ...) by name: a row per frame."""
    first: Numbers
    """The first row of each clip."""
    frames: Numbers
    fps: Numbers
    namespace: Any
    """`numpy` or `torch`."""

    def of(self, clips: Numbers) -> Table:
        """The table of some clips, whose rows it does not copy."""
        return replace(self, first=self.first[clips], frames=self.frames[clips], fps=self.fps[clips])

    def on_device(self, device: Any) -> Table:
        """The rows of the clips as tensors of PyTorch. On the CPU, those of all clips share the memory of the arrays."""
        torch = pytorch()
        if any(self.frames.sum() < len(array) for array in self.arrays.values()):
            rows = np.concatenate([np.arange(row, row + count) for row, count in zip(self.first, self.frames)])
            first, arrays = np.cumsum(self.frames) - self.frames, {name: array[rows] for name, array in self.arrays.items()}
        else:
            first, arrays = self.first, {name: np.asarray(array) for name, array in self.arrays.items()}
        # Metal has no numbers of 64 bits.
        fps = self.fps.astype(np.float32) if torch.device(device).type == "mps" else self.fps
        tensors = {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
        first, frames, fps = (torch.from_numpy(numbers).to(device) for numbers in (first, self.frames, fps))
        return Table(tensors, first, frames, fps, torch)

    def states(self, clips: Numbers, times: Numbers) -> dict[str, Numbers]:
        """The arrays at times in seconds of clips, both of one shape. Times are clamped to the clips."""
        one, other, share = self._span(clips, times)
        return {
            name: interpolated(self.namespace, name, array[one], array[other], share)
            for name, array in self.arrays.items()
        }

    def _span(self, clips: Numbers, times: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """The rows of the frames around times, and how far the times are from the first one to the second one, 0 to 1."""
        last = self.frames[clips] - 1
        frame = self.namespace.minimum((times * self.fps[clips]).clip(0), last)
        # The time of a frame, i / fps, times fps is not always i.
        nearest = self.namespace.round(frame)
        frame = self.namespace.where(self.namespace.abs(frame - nearest) < FRAME_TOLERANCE, nearest, frame)
        is_tensor = hasattr(frame, "long")
        begin = frame.long() if is_tensor else frame.astype(np.int64)
        share = frame - begin
        row = self.first[clips] + begin
        return row, row + (begin < last), share.float() if is_tensor else share.astype(np.float32)


def interpolated(namespace: Any, name: str, one: Numbers, other: Numbers, share: Numbers) -> Numbers:
    """The numbers of an array between two rows of each time."""
    weight = share.reshape(share.shape + (1,) * (one.ndim - share.ndim))
    if name in QUATERNIONS:
        return slerp(namespace, one, other, weight)
    if name in PLACES:
        rotation = slerp(namespace, one[..., 3:], other[..., 3:], weight)
        return namespace.concatenate((one[..., :3] + (other[..., :3] - one[..., :3]) * weight, rotation), -1)
    if name == "contact":
        return namespace.where(weight < 0.5, one, other) * namespace.ones_like(weight)
    between = one + (other - one) * weight
    return orthogonal(namespace, between) if name in SIX_NUMBERS else between


def slerp(namespace: Any, one: Numbers, other: Numbers, weight: Numbers) -> Numbers:
    """Spherical interpolation of quaternions along the shorter arc, of unit length. `weight` has a last axis of 1."""
    other = namespace.where((one * other).sum(-1)[..., None] < 0, -other, other)
    # From the chord, the angle keeps all its digits however small it is, where the arc cosine loses half of them.
    angle = 2 * namespace.arctan2(length(namespace, other - one), length(namespace, other + one))
    # The weights of lerp are those of slerp to 2e-9 below this angle.
    is_small = angle < 1e-4
    sine = namespace.where(is_small, 1.0, namespace.sin(angle))
    of_one = namespace.where(is_small, 1 - weight, namespace.sin((1 - weight) * angle) / sine)
    of_other = namespace.where(is_small, weight, namespace.sin(weight * angle) / sine)
    between = of_one * one + of_other * other
    return between / length(namespace, between)


def orthogonal(namespace: Any, columns: Numbers) -> Numbers:
    """Two columns of a rotation matrix, of unit length and at right angles: those of Gram and Schmidt (Zhou et al., CVPR 2019)."""
    first = columns[..., :3] / length(namespace, columns[..., :3])
    second = columns[..., 3:] - (first * columns[..., 3:]).sum(-1)[..., None] * first
    return namespace.concatenate((first, second / length(namespace, second)), -1)


def length(namespace: Any, vectors: Numbers) -> Numbers:
    """The length of vectors, with a last axis of 1."""
    return namespace.sqrt((vectors * vectors).sum(-1))[..., None]


def multiplied(namespace: Any, one: Numbers, other: Numbers) -> Numbers:
    """Products of quaternions xyzw."""
    axis, w, of_axis, of_w = one[..., :3], one[..., 3:], other[..., :3], other[..., 3:]
    product = w * of_axis + of_w * axis + cross(namespace, axis, of_axis)
    return namespace.concatenate((product, w * of_w - (axis * of_axis).sum(-1)[..., None]), -1)


def conjugated(namespace: Any, quaternions: Numbers) -> Numbers:
    """The inverses of quaternions xyzw of unit length."""
    return namespace.concatenate((-quaternions[..., :3], quaternions[..., 3:]), -1)


def rotated(namespace: Any, quaternions: Numbers, vectors: Numbers) -> Numbers:
    """Vectors rotated by quaternions xyzw of unit length."""
    axis, w = quaternions[..., :3], quaternions[..., 3:]
    twice = 2 * cross(namespace, axis, vectors)
    return vectors + w * twice + cross(namespace, axis, twice)


def rotation_vectors(namespace: Any, quaternions: Numbers) -> Numbers:
    """The axis of rotation times the angle in radians, 0 to pi, of quaternions xyzw of unit length: the exponential map."""
    axis, w = quaternions[..., :3], quaternions[..., 3:]
    sine = length(namespace, axis)
    angle = 2 * namespace.arctan2(sine, namespace.abs(w))
    # The limit of angle / sine is 2.
    factor = namespace.where(sine < 1e-7, 2.0, angle / namespace.where(sine < 1e-7, 1.0, sine))
    return axis * namespace.where(w < 0, -factor, factor)


def cross(namespace: Any, one: Numbers, other: Numbers) -> Numbers:
    """Cross products along the last axis."""
    (a, b, c), (x, y, z) = ((vectors[..., 0], vectors[..., 1], vectors[..., 2]) for vectors in (one, other))
    return namespace.stack((b * z - c * y, c * x - a * z, a * y - b * x), -1)


def pytorch() -> Any:
    """The package `torch`, which posse does not need otherwise. Raises `ImportError` if it is not installed."""
    try:
        import torch  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ImportError("PyTorch is not installed; install the package torch, or ask for arrays of NumPy") from error
    return torch
