"""The class `PackedMotion`: clips that `posse bake --format packed` has written."""

from __future__ import annotations

import difflib
import errno
import hashlib
import json
import operator
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Optional, SupportsIndex, Union, overload

import numpy as np
import numpy.typing as npt

from . import _clip_list, _posse
from ._clip_list import INDEX, ClipList, PackedClip
from ._files import Path, absolute
from ._out import Out, reused_arrays
from ._poses import Poses
from ._request import ArrayName, Quaternions, UpAxis, Wrap, name_list
from ._safetensors import Array, MappedFile, mapped
from ._table import Table, multiplied, rotated
from ._times import clip_ids, seconds, wrapped
from ._windows import Windows

if TYPE_CHECKING:
    import torch  # type: ignore[import-not-found, unused-ignore]

OF_JOINTS = ("pos", "quat", "linvel", "angvel", "local_pos", "local_quat", "local_scale", "rot6d", "local_rot6d")
"""The arrays whose second axis has the joints."""

OF_A_RIG = ("time", "parents", "rest_pos", "rest_quat")
"""The arrays of a file that are no poses."""


MAX_LISTED = 8
"""The largest number of rigs that a message lists."""

SAME_RATE = 1.01
"""The ratio up to which frame rates are the same: files round the time of a frame."""


PackedClipLike = Union[PackedClip, str, SupportsIndex]
"""A clip, its index or its name."""


class PackedMotion:
    """The frames of all clips of one rig that `posse bake --format packed` has written, mapped into memory.

    >>> motion = posse.PackedMotion("baked")                            # doctest: +SKIP
    >>> motion.states(ids, times, velocities=True).pos.shape            # doctest: +SKIP
    (4096, 24, 3)
    >>> windows = motion.windows(32, arrays=["local_rot6d", "root"])    # doctest: +SKIP
    >>> for batch in windows.batches(256, seed=0): ...                  # doctest: +SKIP

    `path` is the folder of the bake, or one of its `rig-*.safetensors` files. `rig` selects one of several rigs of a folder, by
    the name of its file or by the first part of this name. Nothing is read before it is used, so that files can be larger
    than the memory, and all processes of a machine share what has been read.

    The calls are those of `Library`: `clips`, `sample`, `bake`, `states`, `rest_pose`. Their poses are interpolated between
    frames, linearly or by slerp, where `Library` evaluates the clip itself; at the times of frames they are the baked numbers, to
    the last bits. Take this class for windows of frames, for data larger than the memory, and for states on a GPU; take `Library`
    for times between frames whose errors matter, and to keep the keys alone in memory, which take fewer bytes than frames with
    velocities.
    `up`, `scale` and `quaternions` were chosen by the bake: the calls take them, but refuse others than those of the file.

    It can be pickled, as paths, the rows of the clips, and a checksum of index and header, and each process maps the file itself.
    `Error` names a file that has changed since. Arrays of NumPy and tensors that show the file can be written: what is written
    stays in the process. They are read-only where the system promises no memory for a file of this size (`vm.overcommit_memory=2`).

    Raises `OSError` for files that cannot be read, and `Error` for those that cannot be used or belong to several rigs.
    """

    def __init__(self, path: Path, rig: Optional[str] = None) -> None:
        given = os.fsdecode(path)
        if not os.path.exists(given):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), given)
        folder = given if os.path.isdir(given) else os.path.dirname(given) or "."
        rigs = _clip_list.read(folder)
        chosen = _chosen(folder, rigs, rig if folder is given else os.path.basename(given))
        self._open(absolute(folder), chosen, rigs[chosen])

    def _open(self, folder: str, rig: str, clips: ClipList) -> None:
        """Maps the file of a rig, and checks that it has the rows of its clips."""
        self._folder, self._rig, self._list = folder, rig, clips
        self._clips: Optional[tuple[PackedClip, ...]] = None
        self._selected: Optional[dict[str, int]] = None
        path = self.path
        self._file = mapped(path)
        digest = hashlib.sha256(self._file.fingerprint)
        for clip in range(len(clips)):
            digest.update(clips[clip])
        self._fingerprint = digest.hexdigest()
        metadata = self._file.metadata
        if metadata.get("format") != "posse-packed" or metadata.get("format_version") != "1":
            found = f"{metadata.get('format')!r} of version {metadata.get('format_version')!r}"
            raise _posse.Error(f"{path}: the format is {found}; expected 'posse-packed' of version '1'")
        self._arrays = {name: array for name, array in self._file.arrays.items() if name not in OF_A_RIG}
        self._joint_names = _names(path, self._file, "joint_names")
        try:
            self._unit_scale = float(metadata.get("unit_scale", "1"))
        except ValueError as error:
            raise _posse.Error(f"{path}: unit_scale: {error}; bake it again") from None
        _check(path, self._file, clips, len(self._joint_names))
        self._firsts, self._frames, self._rates = clips.first_rows, clips.frames, clips.rates

    @property
    def path(self) -> str:
        """The path of the file."""
        return os.path.join(self._folder, self._rig)

    @property
    def clips(self) -> tuple[PackedClip, ...]:
        """The clips, in the order of their names."""
        if self._clips is None:
            self._clips = self._list.clips()
        return self._clips

    @property
    def arrays(self) -> Mapping[str, Array]:
        """(R, ...) All frames of all clips by the names of arrays: the rows of `clip` begin at `clip.first_row`. They are the mapped
        file, float32, and booleans of `contact`."""
        return MappingProxyType(self._arrays)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """J names of joints, in the order of the arrays."""
        return self._joint_names

    @property
    def parents(self) -> npt.NDArray[np.int32]:
        """(J) The nearest ancestor of each joint among `joint_names`, -1 without one; int32."""
        return np.array(self._file.arrays["parents"], dtype=np.int32)

    @property
    def weight_names(self) -> tuple[str, ...]:
        """The names of the morph weights of the array `weights`; empty if the file names none."""
        return _names(self.path, self._file, "weight_names")

    @property
    def contact_feet(self) -> tuple[str, ...]:
        """The names of the feet of the array `contact`."""
        return _names(self.path, self._file, "contact_feet")

    @property
    def fps(self) -> Optional[float]:
        """The frames per second of all clips. None if they differ, as those of a bake without `--fps` can."""
        rates = np.unique(self._rates)
        return float(rates[0]) if len(rates) == 1 else None

    @property
    def up_axis(self) -> str:
        """The up axis of the arrays: "y" or "z" as the bake was asked for, "unknown" of files of SMPL that were baked as they
        are, whose world has +Z up in AMASS and +Y up in BEDLAM."""
        return self._file.metadata.get("up_axis", "y")

    @property
    def unit_scale(self) -> float:
        """The factor of lengths that the bake was asked for."""
        return self._unit_scale

    @property
    def quaternion_order(self) -> str:
        """ "xyzw" or "wxyz"."""
        return self._file.metadata.get("quaternion_order", "xyzw")

    @property
    def metadata(self) -> Mapping[str, str]:
        """The facts of the file: `options`, `posse_version` and others, as texts."""
        return MappingProxyType(self._file.metadata)

    def clip(self, clip: PackedClipLike) -> PackedClip:
        """The clip of this index or name. Raises `Error` if there is none."""
        return self.clips[self._index(clip)]

    def sample(
        self,
        clip: PackedClipLike,
        times: npt.ArrayLike,
        *,
        arrays: Sequence[ArrayName] = ("pos", "quat"),
        joints: Optional[Sequence[str]] = None,
        wrap: Wrap = "clamp",
        up: Optional[UpAxis] = None,
        scale: Optional[float] = None,
        quaternions: Optional[Quaternions] = None,
        out: Out = None,
    ) -> Poses:
        """The poses of a clip at times in seconds, which may have any shape T. The arguments are those of `states`."""
        index = self._index(clip)
        return self.states(
            index, times, arrays=arrays, joints=joints, wrap=wrap, up=up, scale=scale, quaternions=quaternions, out=out
        )

    def bake(
        self,
        clip: PackedClipLike,
        *,
        arrays: Sequence[ArrayName] = ("pos", "quat"),
        joints: Optional[Sequence[str]] = None,
        up: Optional[UpAxis] = None,
        scale: Optional[float] = None,
        quaternions: Optional[Quaternions] = None,
    ) -> Poses:
        """All frames of a clip: without `joints`, the mapped file itself. `contact` has 0 and 1 where the file has booleans."""
        self._check_space(up, scale, quaternions)
        one = self.clip(clip)
        rows = slice(one.first_row, one.first_row + one.frames)
        columns = self._columns(joints)
        found = {
            name: np.asarray(array[rows] if columns is None or name not in OF_JOINTS else array[rows, columns], np.float32)
            for name, array in self._wanted(arrays).items()
        }
        return self._poses(found, self._file.arrays["time"][rows], one.fps, columns)

    def rest_pose(self, clip: PackedClipLike = 0) -> Poses:
        """The rest pose of a clip: arrays (J, ...) of `pos`, `quat`, `local_pos` and `local_quat`, without an axis of times.

        Local values are relative to the nearest ancestor among `joint_names`. A joint without parent rests in the origin.
        """
        rest = self.clip(clip).rest
        local_pos, local_quat = (np.array(self._file.arrays[name][rest]) for name in ("rest_pos", "rest_quat"))
        to_xyzw, back = ([1, 2, 3, 0], [3, 0, 1, 2]) if self.quaternion_order == "wxyz" else ([0, 1, 2, 3], [0, 1, 2, 3])
        pos, quat = local_pos.copy(), local_quat[:, to_xyzw]
        parents = self.parents
        for joint in np.argsort(_depths(parents), kind="stable"):
            if parents[joint] >= 0:
                pos[joint] = pos[parents[joint]] + rotated(np, quat[parents[joint]], local_pos[joint])
                quat[joint] = multiplied(np, quat[parents[joint]], quat[joint])
        arrays = {"pos": pos, "quat": quat[:, back], "local_pos": local_pos, "local_quat": local_quat}
        return self._poses(arrays, np.zeros(()), None, None)

    def states(
        self,
        clips: Union[PackedClipLike, Iterable[PackedClipLike], npt.NDArray[np.integer]],
        times: npt.ArrayLike,
        *,
        velocities: bool = False,
        arrays: Sequence[ArrayName] = ("pos", "quat"),
        joints: Optional[Sequence[str]] = None,
        wrap: Wrap = "clamp",
        up: Optional[UpAxis] = None,
        scale: Optional[float] = None,
        quaternions: Optional[Quaternions] = None,
        out: Out = None,
    ) -> Poses:
        """The poses of N clips at N times in seconds, as `Library.states` gives them: row i has clip `clips[i]` at `times[i]`.

        Between two frames, positions, velocities, scales, weights and skin matrices are interpolated linearly, quaternions by slerp,
        rotations of six numbers linearly and made orthogonal again; contacts are those of the nearest frame. `times` may have any
        shape, and `clips` that of its first axes. Times outside of a clip are clamped to it (`wrap="clamp"`), or start over
        (`wrap="loop"`). `velocities=True` adds `linvel` and `angvel` to `arrays`; the bake has decided over what time they are
        differences. `joints` are names, in the order of the result. `out`, arrays by name or the result of an earlier call, is filled
        instead of new arrays. Raises `Error` for arrays and joints that the file does not have.
        """
        self._check_space(up, scale, quaternions)
        at = seconds(times)
        ids = clip_ids(clips, at.shape, len(self), self._index)
        columns = self._columns(joints)
        names = name_list(arrays, "arrays")
        table = self._table((*names, "linvel", "angvel") if velocities else names, columns)
        at = wrapped(at, (self._frames[ids] - 1) / self._rates[ids], wrap)
        found = table.states(ids, at)
        if out is not None:
            shapes = {name: array.shape for name, array in found.items()}
            given = reused_arrays(shapes, out.arrays if isinstance(out, Poses) else out)
            for name, array in found.items():
                given[name][...] = array
            found = dict(given)
        return self._poses(found, at, None, columns)

    @overload
    def windows(
        self,
        length: int,
        *,
        arrays: Optional[Sequence[ArrayName]] = None,
        clips: Optional[Iterable[PackedClipLike]] = None,
        wrap: Optional[Wrap] = None,
        rank: int = 0,
        world_size: int = 1,
        tensors: Literal[False] = False,
    ) -> Windows[Array]: ...

    @overload
    def windows(
        self,
        length: int,
        *,
        arrays: Optional[Sequence[ArrayName]] = None,
        clips: Optional[Iterable[PackedClipLike]] = None,
        wrap: Optional[Wrap] = None,
        rank: int = 0,
        world_size: int = 1,
        tensors: Literal[True],
    ) -> Windows[torch.Tensor]: ...

    def windows(
        self,
        length: int,
        *,
        arrays: Optional[Sequence[ArrayName]] = None,
        clips: Optional[Iterable[PackedClipLike]] = None,
        wrap: Optional[Wrap] = None,
        rank: int = 0,
        world_size: int = 1,
        tensors: bool = False,
    ) -> Windows[Any]:
        """All windows of `length` consecutive frames of clips, for training.

        `arrays` are by default all arrays, `clips` all clips. Without `wrap`, a window lies inside of its clip, and clips with
        fewer frames have none. With it, a window begins at every frame; beyond the end of its clip, the last frame is held
        (`wrap="clamp"`) or the clip starts over (`wrap="loop"`), and an array `valid` tells the frames before the end. `rank`, from
        0, is one of `world_size` processes that share the windows evenly. With `tensors`, windows are tensors of PyTorch in
        place of arrays of NumPy. Warns if the frame rates of the clips differ by more than 1 %. Raises `Error` if no clip has a
        window.
        """
        chosen = range(len(self)) if clips is None else [self._index(clip) for clip in _several(clips)]
        wanted = self._arrays if arrays is None else self._wanted(arrays)
        ids = np.array(chosen, dtype=np.int64)
        frames, share, shares = operator.index(length), operator.index(rank), operator.index(world_size)
        windows: Windows[Any] = Windows(self, tuple(wanted), ids, frames, wrap, share, shares, tensors)
        rates = self._rates[windows.used_clips]
        slowest, fastest = rates.min(), rates.max()
        if fastest > SAME_RATE * slowest:
            warnings.warn(
                f"{self.path}: the clips have {slowest:g} to {fastest:g} frames per second, so that windows of {frames} frames "
                "differ in their seconds; bake them with --fps, or give the `clips` of one rate",
                stacklevel=2,
            )
        return windows

    def __len__(self) -> int:
        return len(self._list)

    def __iter__(self) -> Iterator[PackedClip]:
        return iter(self.clips)

    @overload
    def __getitem__(self, clip: slice) -> tuple[PackedClip, ...]: ...

    @overload
    def __getitem__(self, clip: PackedClipLike) -> PackedClip: ...

    def __getitem__(self, clip: Union[PackedClipLike, slice]) -> Union[PackedClip, tuple[PackedClip, ...]]:
        if isinstance(clip, (str, PackedClip)):
            return self.clip(clip)
        try:
            return self.clips[clip]
        except IndexError:
            raise IndexError(f"clip {clip}: the file has {len(self)} clips") from None

    def __reduce__(self) -> tuple[object, ...]:
        return _reopened, (self._folder, self._rig, self._fingerprint, self._list)

    def __repr__(self) -> str:
        rows = int(self._frames.sum())
        return f"PackedMotion({len(self)} clips, {rows} frames, {len(self._joint_names)} joints, {', '.join(self._arrays)})"

    def _table(self, arrays: Sequence[str], columns: Optional[npt.NDArray[np.intp]]) -> Table:
        """The frames of these arrays, of these joints."""
        wanted: dict[str, Any] = self._wanted(arrays)
        if columns is not None:
            wanted = {name: _Columns(array, columns) if name in OF_JOINTS else array for name, array in wanted.items()}
        return Table(wanted, self._firsts, self._frames, self._rates, np)

    def _poses(
        self,
        arrays: dict[str, Any],
        time: npt.NDArray[np.float64],
        fps: Optional[float],
        columns: Optional[npt.NDArray[np.intp]],
    ) -> Poses:
        names, parents = self._joint_names, self.parents
        if columns is not None:
            names, parents = tuple(names[column] for column in columns), _parents_among(parents, columns)
        of_weights = self.weight_names if "weights" in arrays else ()
        of_feet = self.contact_feet if "contact" in arrays else ()
        return Poses(arrays, time, fps, names, tuple(parents.tolist()), of_weights, of_feet)

    def _index(self, clip: PackedClipLike) -> int:
        """The index of a clip."""
        if isinstance(clip, PackedClip):
            if not (clip.index < len(self) and self._list[clip.index] == clip._line):
                raise _posse.Error(f"{clip!r} belongs to another file; take a clip of {self.path}")
            return clip.index
        if isinstance(clip, str):
            if self._selected is None:
                self._selected = {name: index for index, name in enumerate(self._list.names)}
            if clip not in self._selected:
                raise _posse.Error(f"no clip is named {clip!r}; {self.path} has {len(self)} clips, see `clips`")
            return self._selected[clip]
        try:
            index = operator.index(clip)
        except TypeError:
            kind = type(clip).__name__
            raise TypeError(f"a clip is a PackedClip, a name or an index, not {kind}") from None
        if not 0 <= index < len(self):
            raise _posse.Error(f"clip {index}: the file has {len(self)} clips")
        return index

    def _wanted(self, arrays: Sequence[str]) -> dict[str, Array]:
        """The arrays of these names, each once; `skin` stands for all skins."""
        found: dict[str, Array] = {}
        for name in name_list(arrays, "arrays"):
            names = [name] if name in self._arrays else [each for each in self._arrays if each.startswith(f"{name}_") and name == "skin"]
            if not names:
                has = ", ".join(self._arrays)
                raise _posse.Error(f"{self.path} has no array {name!r}, but {has}; bake it with --arrays {','.join(self._arrays)},{name}")
            found.update((each, self._arrays[each]) for each in names)
        return found

    def _columns(self, joints: Optional[Sequence[str]]) -> Optional[npt.NDArray[np.intp]]:
        """The indices of joints."""
        if joints is None:
            return None
        names = name_list(joints, "joints")
        for name in names:
            count = self._joint_names.count(name)
            if count != 1:
                near = ", ".join(difflib.get_close_matches(name, self._joint_names)) or ", ".join(self._joint_names[:8])
                hint = f"joints are {near}" if count == 0 else "bake the joints that you need with --joints"
                raise _posse.Error(f"{count or 'no'} joints of {self.path} are named {name!r}; {hint}")
        return np.array([self._joint_names.index(name) for name in names], dtype=np.intp)

    def _check_space(self, up: Optional[str], scale: Optional[float], quaternions: Optional[str]) -> None:
        """Refuses a space that is not the one of the file."""
        for name, option, given, own in (
            ("up", "--up", up, self.up_axis),
            ("scale", "--scale", scale, self.unit_scale),
            ("quaternions", "--quaternions", quaternions, self.quaternion_order),
        ):
            if given is not None and given != own:
                hint = f"bake it with {option} {given}"
                if given == "continuous":
                    hint = "signs are those of the bake"
                elif own == "unknown":
                    hint = f"leave {name} out: files of SMPL do not tell the up axis of their world"
                raise _posse.Error(f"{name}={given!r}, but {self.path} was baked with {own!r}; {hint}")


class _Columns:
    """Some columns of an array."""

    def __init__(self, array: Array, columns: npt.NDArray[np.intp]) -> None:
        self._array = array
        self._columns = columns

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, rows: npt.NDArray[np.int64]) -> Array:
        found: Array = self._array[np.asarray(rows)[..., np.newaxis], self._columns]
        return found

    def __array__(self, dtype: Optional[npt.DTypeLike] = None, copy: Optional[bool] = None) -> Array:
        return np.asarray(self._array[:, self._columns], dtype)


def _reopened(folder: str, rig: str, fingerprint: str, clips: ClipList) -> PackedMotion:
    """The motion of a file, in another process or at another time."""
    motion = PackedMotion.__new__(PackedMotion)
    motion._open(folder, rig, clips.reopened(folder))
    if motion._fingerprint != fingerprint:
        raise _posse.Error(f"{motion.path}: the file or its index has changed since the motion was pickled; open it anew")
    return motion


def _several(clips: Iterable[PackedClipLike]) -> Iterable[PackedClipLike]:
    if isinstance(clips, (str, PackedClip)):
        raise TypeError(f"clips={clips!r} is one clip; expected a list of clips, such as [{clips!r}]")
    return clips


def _chosen(folder: str, rigs: Mapping[str, ClipList], rig: Optional[str]) -> str:
    """The file of a rig."""
    found = [file for file in rigs if rig is None or file == rig or file == f"{rig}.safetensors" or f"{rig}-" in file]
    if not found and rig:
        found = [file for file in rigs if file.startswith((rig, f"rig-{rig}"))]
    if len(found) == 1 and os.path.basename(found[0]) == found[0]:
        return found[0]
    # A folder of files of many origins has a rig for nearly each.
    largest = sorted(rigs, key=lambda file: len(rigs[file]), reverse=True)[:MAX_LISTED]
    every = ", ".join(f"{file} ({len(rigs[file])} clips)" for file in largest)
    every += f" and {len(rigs) - len(largest)} more" if len(rigs) > len(largest) else ""
    several = "several rigs" if found else f"no rig {rig!r}"
    raise _posse.Error(
        f"{folder} has {several}: {every}; choose one by `rig`, or bake all clips on one, with --rig and --retarget, or with --joints"
    )


def _names(path: str, file: MappedFile, key: str) -> tuple[str, ...]:
    """A list of names in the metadata."""
    try:
        return tuple(map(_clip_list.text, json.loads(file.metadata.get(key, "[]"))))
    except (ValueError, TypeError) as error:
        raise _posse.Error(f"{path}: {key} is no list of names: {error}; bake it again") from None


def _check(path: str, file: MappedFile, clips: ClipList, joints: int) -> None:
    """Refuses a file whose arrays do not have the shapes that its index and its joints need."""
    ends = np.cumsum(clips.frames)
    rows = int(ends[-1])
    if not np.array_equal(clips.first_rows, ends - clips.frames):
        raise _posse.Error(f"{path}: the clips of {INDEX} do not follow each other; bake it again")
    rests = 1 + int(clips.rests.max())
    of_rig = {"time": (rows,), "parents": (joints,), "rest_pos": (rests, joints, 3), "rest_quat": (rests, joints, 4)}
    for name, shape in of_rig.items():
        if name not in file.arrays:
            raise _posse.Error(f"{path} has no array {name!r}; bake it again")
    for name, array in file.arrays.items():
        if name in of_rig:
            is_right = array.shape == of_rig[name] or name.startswith("rest") and array.shape[1:] == of_rig[name][1:]
            is_right = is_right and len(array) >= of_rig[name][0]
        else:
            is_right = array.shape[:1] == (rows,) and (name not in OF_JOINTS or array.shape[1:2] == (joints,))
        if not is_right:
            raise _posse.Error(f"{path}: {name!r} has the shape {array.shape} for {rows} frames of {joints} joints; bake it again")
    parents = file.arrays["parents"]
    if ((parents < -1) | (parents >= joints)).any() or (_depths(parents) > joints).any():
        raise _posse.Error(f"{path}: the parents {parents.tolist()} are no tree; bake it again")


def _depths(parents: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """The number of ancestors of each joint; more than there are joints in a circle."""
    depths, above = np.zeros(len(parents), dtype=np.int64), parents
    for _ in range(len(parents) + 1):
        depths += above >= 0
        above = np.where(above >= 0, parents[above], -1)
    return depths


def _parents_among(parents: npt.NDArray[np.int32], columns: npt.NDArray[np.intp]) -> npt.NDArray[np.int32]:
    """The nearest ancestor of each column among them, -1 without one."""
    places = {int(column): place for place, column in reversed(list(enumerate(columns)))}
    found = []
    for column in columns:
        above = int(parents[column])
        while above >= 0 and above not in places:
            above = int(parents[above])
        found.append(places.get(above, -1))
    return np.array(found, dtype=np.int32)
