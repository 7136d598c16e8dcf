"""The class `MotionLibrary`: motions by the calls of programs for motion imitation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _posse
from ._library import ClipLike, Library
from ._packed import PackedClipLike, PackedMotion
from ._poses import Poses
from ._request import ArrayName, UpAxis
from ._table import conjugated, multiplied, pytorch, rotated, rotation_vectors
from ._windows import cumulative

Numbers = Any
"""An array of NumPy, or a tensor of PyTorch if the library has a device."""

ARRAYS: tuple[ArrayName, ...] = ("pos", "quat", "linvel", "angvel")
"""The arrays that states are made of."""


class MotionLibrary:
    """Motions for imitation: times in, states of root and bodies out, by the names of the `MotionLib` of PHC.

    >>> motions = posse.MotionLibrary(posse.PackedMotion("baked"), device="cuda")       # doctest: +SKIP
    >>> ids = motions.sample_motions(4096)                                              # doctest: +SKIP
    >>> state = motions.get_motion_state(ids, motions.sample_time(ids))                 # doctest: +SKIP
    >>> state["root_pos"].shape, state["dof_pos"].shape                                 # doctest: +SKIP
    (torch.Size([4096, 3]), torch.Size([4096, 69]))

    `source` is a `PackedMotion`, baked with `--arrays pos,quat,linvel,angvel`, whose frames are kept on the device and interpolated
    there: positions and velocities linearly, rotations by slerp. Or it is a `Library`, which evaluates the clips themselves on the
    CPU. Motion i is the i-th of `clips`, by default of all clips. Bodies are `joints`, by default all, and the first one is the
    root; a program for SMPL needs its 24 bodies in its order. `key_bodies` are names of bodies for `key_pos`.

    Without `device`, arguments and results are arrays of NumPy; with one, such as "cpu" or "cuda:0", tensors of PyTorch there.
    `weights` is how often `sample_motions` draws a motion: "clips" equally often, "length" in proportion to its seconds, or a
    number for each. What is drawn follows from `seed`: give each process of a training another one. Quaternions are xyzw, as in
    Isaac Gym, or "wxyz", as in Isaac Lab and MuJoCo. `up` and `scale` are those of `Library.states`; a `PackedMotion` has those of its bake, and refuses others.
    """

    def __init__(
        self,
        source: Union[PackedMotion, Library],
        *,
        device: Optional[object] = None,
        clips: Optional[Iterable[Union[PackedClipLike, ClipLike]]] = None,
        joints: Optional[Sequence[str]] = None,
        key_bodies: Sequence[str] = (),
        weights: Union[Literal["clips", "length"], Sequence[float], npt.NDArray[Any]] = "clips",
        quaternions: Literal["xyzw", "wxyz"] = "xyzw",
        up: Optional[UpAxis] = None,
        scale: Optional[float] = None,
        seed: int = 0,
    ) -> None:
        if quaternions not in ("xyzw", "wxyz"):
            raise _posse.Error(f"quaternions={quaternions!r}; expected 'xyzw' or 'wxyz'")
        every = range(len(source)) if clips is None else clips
        # Each source takes clips of its own class.
        ids = np.array([source.clip(clip).index for clip in every], dtype=np.int64)  # type: ignore[arg-type]
        if not len(ids):
            raise _posse.Error("there are no clips; give at least one")
        self._device = device
        self._namespace: Any = np if device is None else pytorch()
        lengths = np.array([source[int(index)].duration for index in ids], dtype=np.float64)
        self._shares = cumulative(weights, lengths)
        self._lengths = self._given(lengths.astype(np.float32))
        self._random = np.random.default_rng(seed)
        if isinstance(source, Library):
            self._evaluate, poses = self._evaluation_of(source, ids, joints, "y" if up is None else up, 1.0 if scale is None else scale)
            order = "xyzw"
        else:
            poses = source.states(ids[:1], [0.0], arrays=ARRAYS, joints=joints, up=up, scale=scale)
            table = source._table(ARRAYS, source._columns(joints)).of(ids)
            self._evaluate = (table if device is None else table.on_device(device)).states
            order = source.quaternion_order
        self._body_names = poses.joint_names
        if not self._body_names:
            raise _posse.Error("there are no joints; expected a root and bodies")
        # Indices of the last axis. A slice copies nothing.
        self._to_xyzw = [1, 2, 3, 0] if order == "wxyz" else slice(None)
        self._to_result = [3, 0, 1, 2] if quaternions == "wxyz" else slice(None)
        parents = poses.parents.astype(np.int64)
        self._has_parent = self._given((parents >= 0)[:, np.newaxis])
        self._parents = self._given(np.maximum(parents, 0))
        unknown = [name for name in key_bodies if name not in self._body_names]
        if unknown:
            raise _posse.Error(f"key_bodies {unknown} are no joints; the joints are {list(self._body_names)}")
        self._key_bodies = [self._body_names.index(name) for name in key_bodies]

    def _evaluation_of(
        self, library: Library, ids: npt.NDArray[np.int64], joints: Optional[Sequence[str]], up: UpAxis, scale: float
    ) -> tuple[Callable[[Numbers, Numbers], dict[str, Numbers]], Poses]:
        """The evaluation of clips themselves, and their poses at 0."""

        def states(clips: Numbers, times: Numbers) -> Poses:
            return library.states(clips, times, arrays=ARRAYS, joints=joints, up=up, scale=scale)

        def evaluate(motions: Numbers, times: Numbers) -> dict[str, Numbers]:
            if self._device is not None:
                motions, times = motions.cpu().numpy(), times.cpu().numpy()
            return {name: self._given(array) for name, array in states(ids[motions], times).arrays.items()}

        # All clips, so that clips of rigs that differ are an error here.
        return evaluate, states(ids, np.zeros(len(ids)))

    @property
    def body_names(self) -> tuple[str, ...]:
        """The names of the bodies, the root first."""
        return self._body_names

    def num_motions(self) -> int:
        """The number of motions."""
        return len(self._lengths)

    def get_total_length(self) -> float:
        """The seconds of all motions together."""
        return float(self._lengths.sum())

    def get_motion_length(self, motion_ids: Optional[Numbers] = None) -> Numbers:
        """The seconds of motions, by default of all; float32."""
        return self._lengths if motion_ids is None else self._lengths[self._checked(motion_ids)[0]]

    def sample_motions(self, n: int) -> Numbers:
        """(n) Random motions; int64."""
        drawn = np.searchsorted(self._shares, self._random.random(n), side="right")
        return self._given(drawn.astype(np.int64))

    def sample_time(self, motion_ids: Numbers, truncate_time: Optional[float] = None) -> Numbers:
        """A random time of each motion in seconds, float32: from 0 to its end, or to `truncate_time` seconds before its end."""
        if truncate_time is not None and not truncate_time >= 0:
            raise ValueError(f"truncate_time={truncate_time}; expected seconds of 0 and more")
        length = self._lengths[self._checked(motion_ids)[0]]
        phase = self._given(np.asarray(self._random.random(tuple(length.shape), np.float32)))
        return phase * (length if truncate_time is None else (length - truncate_time).clip(0))

    def get_motion_state(
        self, motion_ids: Numbers, motion_times: Numbers, offset: Optional[Numbers] = None
    ) -> dict[str, Numbers]:
        """The states of N motions at N times in seconds, which are clamped to the motions, as float32 by name.

        Of B bodies:

        * `root_pos` (N, 3), `root_rot` (N, 4), `root_vel` (N, 3), `root_ang_vel` (N, 3): the first body;
        * `rg_pos` (N, B, 3), `rb_rot` (N, B, 4), `body_vel` (N, B, 3), `body_ang_vel` (N, B, 3): all bodies, in model space;
        * `dof_pos` (N, 3 (B - 1)): rotations relative to the parent as rotation vectors, of all bodies but the root, as the three
          hinges per body of the SMPL humanoid have them; `dof_vel` their angular velocities, in the frame of the body;
        * `local_rot` (N, B, 4): rotations relative to the parent;
        * `key_pos` (N, K, 3): positions of the key bodies, if there are any.

        `offset` (N, 3) is added to positions. Velocities are central differences over a frame to both sides.

        Raises `Error` for ids that are no motion, also for those below 0, and for times that are not finite: on a GPU, the check
        waits for the device once per call.
        """
        found = self._evaluate(*self._checked(motion_ids, motion_times))
        pos, quat, linvel, angvel = (found[name] for name in ARRAYS)
        if offset is not None:
            pos = pos + self._taken(offset)[..., None, :]
        quat = quat[..., self._to_xyzw]
        namespace = self._namespace
        local = multiplied(namespace, conjugated(namespace, quat[..., self._parents, :]), quat)
        local = namespace.where(self._has_parent, local, quat)
        relative = angvel - namespace.where(self._has_parent, angvel[..., self._parents, :], 0.0)
        dof_vel = rotated(namespace, conjugated(namespace, quat), relative)
        dof_pos = rotation_vectors(namespace, local)
        flat = (*quat.shape[:-2], 3 * (quat.shape[-2] - 1))
        rotations = quat[..., self._to_result]
        # Programs move the root in place, which must not move the bodies.
        copied = np.copy if self._device is None else namespace.clone
        state = {
            "root_pos": copied(pos[..., 0, :]),
            "root_rot": copied(rotations[..., 0, :]),
            "dof_pos": dof_pos[..., 1:, :].reshape(flat),
            "root_vel": copied(linvel[..., 0, :]),
            "root_ang_vel": copied(angvel[..., 0, :]),
            "dof_vel": dof_vel[..., 1:, :].reshape(flat),
            "local_rot": local[..., self._to_result],
            "rg_pos": pos,
            "rb_rot": rotations,
            "body_vel": linvel,
            "body_ang_vel": angvel,
        }
        if self._key_bodies:
            state["key_pos"] = pos[..., self._key_bodies, :]
        return state

    def __len__(self) -> int:
        return len(self._lengths)

    def __repr__(self) -> str:
        return f"MotionLibrary({len(self._lengths)} motions, {len(self._body_names)} bodies, device={self._device})"

    def _taken(self, numbers: Numbers) -> Numbers:
        """An argument: without a device, also a list."""
        return np.asarray(numbers) if self._device is None else numbers

    def _checked(self, motion_ids: Numbers, motion_times: Optional[Numbers] = None) -> tuple[Numbers, Numbers]:
        """Motions and times, as arrays or tensors. An index out of range would make a GPU useless for the rest of the process."""
        ids = self._taken(motion_ids)
        times = self._taken(0.0 if motion_times is None else motion_times)
        is_no_motion = (ids < 0) | (ids >= len(self))
        is_no_time = False if motion_times is None else ~self._namespace.isfinite(times)
        # One look at the device.
        if not bool((is_no_motion | is_no_time).any()):
            return ids, times
        if bool(is_no_motion.any()):
            raise _posse.Error(f"motion_ids has {int(ids[is_no_motion][0])}; there are {len(self)} motions, counted from 0")
        raise _posse.Error(f"motion_times has {float(times[is_no_time][0])}; expected finite numbers of seconds")

    def _given(self, array: npt.NDArray[Any]) -> Numbers:
        """An array as a result, on the device."""
        return array if self._device is None else self._namespace.from_numpy(array).to(self._device)
