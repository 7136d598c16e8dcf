"""The class `Library`."""

from __future__ import annotations

import operator
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, Optional, SupportsIndex, Union, overload

import numpy as np
import numpy.typing as npt

from . import _posse
from ._clip import Clip
from ._files import Path, Paths, absolute, below, listed
from ._memory import return_freed_memory
from ._out import Out, filled
from ._poses import Poses
from ._recipe import Mirroring, Opening, Recipe, named
from ._request import ArrayName, Quaternions, Request, Times, UpAxis, Wrap, request
from ._retarget import Retargeting, RetargetReport, RetargetWarning, degrees, joint_map, rig_path
from ._times import bracketed, clip_ids, seconds, wrapped

ClipLike = Union[Clip, str, SupportsIndex]
"""A clip, its index, or a text that selects it: its name, "NAME#K" for the K-th of that name from 0, or "#INDEX"."""

DEFAULT_ARRAYS: tuple[ArrayName, ...] = (
    "pos",
    "quat",
    "local_pos",
    "local_quat",
    "local_scale",
    "skin",
    "weights",
    "properties",
)
"""The arrays of `Library.sample`."""

OnError = Literal["raise", "warn"]

_LARGE = 4 << 20
"""The bytes of files from which on it pays to return what reading them has freed."""


class FileWarning(UserWarning):
    """An error of a file that was repaired or passed over."""


class Library:
    """The clips of glTF, FBX and BVH files and of npz files of SMPL, ready to be sampled from any number of threads. It does
    not change.

    >>> library = posse.Library("Fox.glb", "takes/*.bvh")       # doctest: +SKIP
    >>> library = posse.Library.from_folder("takes")            # doctest: +SKIP
    >>> [clip.name for clip in library], library["Walk"], library[-1], library[2:5]     # doctest: +SKIP

    Files are told apart by content. Files with equal skeletons share one, and clips of all files can be mixed in one call of
    `states`. An error that could be repaired, and a track, clip or skin that is left out, is a `FileWarning`; with `strict`, an
    `Error`.

    `paths` are paths, globs and lists of them; the files of a glob are in order of their names. `threads` is the number of
    threads that read them; by default the cores that this process may use. With `errors="warn"`, a file that cannot be read or
    used is a `FileWarning`, and `failed` has it; by default, it is an exception.

    `input_fps` is the number of frames per second of BVH and SMPL files whose rate is missing or wrong. `end_sites=False` leaves
    out the joints of End Sites of BVH files, usually NAME_end; `retarget` aligns the last bones of its source by them.

    Keys are kept as four float32 each; with `compress`, as integers of as few bits as its bound allows, which takes a while per
    file. The bound is a length in the unit of the file (0.001) or a share of the rig's size, the distance of its farthest joint
    from the origin ("0.01%"). No joint and no point at 3 % of the size around it is displaced by more, as measured at and between
    the keys. `nbytes` tells the memory. Contacts, mirror images and retargeted clips follow from the keys of the files, which
    are read again for them; what follows is compressed, too.

    `skeleton` tells where the joints of npz files of SMPL and AMASS rest: a model file of SMPL, with which each file has the
    shape of its betas, or a glTF, FBX or BVH file with joints of these names; by default they are those of an adult, with a
    `FileWarning`.

    A library can be pickled, also one that was retargeted or mirrored: as paths, options and checksums, so that another
    process reads the files again. `Error` names a file that has changed since. A process that is forked shares the memory of
    the library instead.

    Raises `OSError` for a file that cannot be read or is not a regular file, and `Error` for one that cannot be used.
    """

    def __init__(
        self,
        *paths: Paths,
        threads: Optional[int] = None,
        input_fps: Optional[float] = None,
        end_sites: bool = True,
        strict: bool = False,
        skeleton: Optional[Path] = None,
        compress: Union[str, float, None] = None,
        errors: OnError = "raise",
    ) -> None:
        if errors not in ("raise", "warn"):
            raise _posse.Error(f"errors={errors!r}; expected 'raise' or 'warn'")
        rate = None if input_fps is None else float(input_fps)
        rest = None if skeleton is None else os.fsdecode(skeleton)
        bound = None if compress is None else str(compress)
        opening = Opening(tuple(listed(paths)), rate, end_sites, strict, rest, errors == "warn", bound)
        native, failed = _posse.Library.open(opening, _threads(threads))
        exceptions = dict(failed)
        names = tuple(file for index, file in enumerate(opening.files) if index not in exceptions)
        found = replace(
            opening,
            files=tuple(map(absolute, names)),
            # The files that are used have no errors.
            strict=False,
            passes_over=False,
            skeleton=None if rest is None else absolute(rest),
        )
        passed_over = tuple((opening.files[index], error) for index, error in failed)
        self._set_up(native, Recipe(found, names, passed_over, (), ()))
        for message in (*map(str, exceptions.values()), *native.warnings):
            warnings.warn(message, FileWarning, stacklevel=2)

    @classmethod
    def from_folder(
        cls,
        folder: Path,
        *,
        threads: Optional[int] = None,
        input_fps: Optional[float] = None,
        end_sites: bool = True,
        strict: bool = False,
        skeleton: Optional[Path] = None,
        compress: Union[str, float, None] = None,
        errors: OnError = "raise",
    ) -> Library:
        """The clips of all files in a folder and the folders below it, in the order of their paths.

        They are the files that `posse bake FOLDER` finds: .bvh, .fbx, .glb and .gltf files, and .npz files with a motion of SMPL.
        The other arguments are those of `Library`. Raises `Error` if there is no such file, and `OSError` for a folder that cannot
        be read.
        """
        return cls(
            below(os.fsdecode(folder)),
            threads=threads,
            input_fps=input_fps,
            end_sites=end_sites,
            strict=strict,
            skeleton=skeleton,
            compress=compress,
            errors=errors,
        )

    def _set_up(self, native: _posse.Library, recipe: Recipe, reports: tuple[RetargetReport, ...] = ()) -> None:
        self._native = native
        self._recipe = replace(recipe, sources=tuple(native.sources))
        self._reports = reports
        self._layouts: tuple[Request, dict[int, _posse.Layout]] = (Request(()), {})
        rigs = [self._layout(skeleton, Request(("weights",))) for skeleton in range(self._native.skeletons)]
        names = [(tuple(rig.joint_names), tuple(rig.parents), tuple(rig.weight_names)) for rig in rigs]
        self._fingerprint = self._recipe.fingerprint()
        self._clips = tuple(
            Clip(index, name, recipe.names[file], duration, fps, skeleton, *names[skeleton], self._fingerprint)
            for index, (name, file, duration, fps, skeleton) in enumerate(self._native.clips)
        )
        self._durations = np.array([clip.duration for clip in self._clips], dtype=np.float64)
        self._rates = np.array([clip.fps for clip in self._clips], dtype=np.float64)
        self._skeletons = np.array([clip.skeleton for clip in self._clips], dtype=np.int64)
        self._selected: dict[str, int] = {}
        if sum(size for _, size, _ in self._recipe.sources) >= _LARGE:
            return_freed_memory()

    @property
    def clips(self) -> tuple[Clip, ...]:
        """The clips: file after file, in the order of each file."""
        return self._clips

    @property
    def nbytes(self) -> int:
        """The bytes of the keys, skeletons and skins in memory. A library that was retargeted or mirrored has the keys of its clips
        as float64, too."""
        return self._native.size

    @property
    def failed(self) -> Mapping[str, Exception]:
        """The files that were passed over with `errors="warn"`: their paths, and the exceptions."""
        return MappingProxyType(dict(self._recipe.failed))

    @property
    def reports(self) -> tuple[RetargetReport, ...]:
        """What `Library.retarget` did to make this library: a report per file of clips. Empty for the library of files."""
        return self._reports

    def clip(self, clip: ClipLike) -> Clip:
        """The clip of this index, or that this text selects. Raises `Error` if there is none, or if several have the name."""
        return self._clips[self._index(clip)]

    def sample(
        self,
        clip: ClipLike,
        times: npt.ArrayLike,
        *,
        arrays: Optional[Sequence[ArrayName]] = None,
        joints: Optional[Sequence[str]] = None,
        morphs: Optional[Sequence[str]] = None,
        fps: Optional[float] = None,
        wrap: Wrap = "clamp",
        up: UpAxis = "y",
        scale: float = 1.0,
        quaternions: Quaternions = "xyzw",
        threads: Optional[int] = None,
        out: Out = None,
    ) -> Poses:
        """The poses of a clip at times in seconds, which may have any shape T.

        `arrays` are names of arrays of `Poses`; by default positions, rotations as quaternions, scales, `skin`, `weights` and
        `properties`. `joints` are names, by default all joints, in the order of the file. Of several joints of a name, the end
        of a path such as "Armature/Hips" or "NAME#K", counted from 0, selects one; "#INDEX" is the index of the node. `morphs`
        are names of morph targets, by default all: "jawOpen" selects the weight on all joints that have it, "Head.jawOpen" that
        of one joint. Velocities are central differences of the clip over `1 / fps` to both sides, one-sided at its ends; by
        default `fps` is that of the clip. Times outside of the clip are clamped to it (`wrap="clamp"`), or start over
        (`wrap="loop"`).

        `up="z"` turns model space by +90 degrees about +X, and `scale` multiplies lengths. `quaternions` is "xyzw", "wxyz" or
        "continuous": xyzw, each with the sign that is nearest to the one before it along the last axis of times, and w >= 0 for
        the first. `threads` is by default the number of cores that this process may use; the numbers do not depend on it.
        `out`, arrays by name or the result of an earlier call, is filled instead of new arrays.
        """
        index = self._index(clip)
        at = seconds(times)
        ids = np.full(at.shape, index, dtype=np.int64)
        wanted = request(DEFAULT_ARRAYS if arrays is None else arrays, joints, morphs, up, scale, quaternions)
        layout = self._layout(self._clips[index].skeleton, wanted)
        return self._fill(self._rows(ids, at, fps, wrap), [layout], threads, out, quaternions)

    def bake(
        self,
        clip: ClipLike,
        fps: Optional[float] = None,
        *,
        range: Optional[tuple[float, float]] = None,
        arrays: Sequence[ArrayName] = ("pos", "quat"),
        joints: Optional[Sequence[str]] = None,
        morphs: Optional[Sequence[str]] = None,
        up: UpAxis = "y",
        scale: float = 1.0,
        quaternions: Quaternions = "xyzw",
        threads: Optional[int] = None,
        out: Out = None,
    ) -> Poses:
        """All frames of a clip at `fps` frames per second, from 0 to its end: the arrays that `posse bake` writes, bit for bit.

        Of BVH files of 8 MiB and more, which the command reads in parts, the last bits of rotations can differ. `contact` has 0 and
        1 where the command writes booleans. By default `fps` is that of the clip. Velocities are differences over `1 / fps` to
        both sides. With `range`, the frames are those from its first time to its second one, in seconds, both clamped to the
        clip; `time` has the times of the clip. The other arguments are those of `sample`.
        """
        index = self._index(clip)
        rate = self._clips[index].fps if fps is None else float(fps)
        before, at, after = _posse.frame_times(rate, self._clips[index].duration, range)
        ids = np.full(len(at), index, dtype=np.int64)
        layout = self._layout(self._clips[index].skeleton, request(arrays, joints, morphs, up, scale, quaternions))
        rows: Times = {"clips": ids, "times": at, "before": before, "after": after}
        return self._fill(rows, [layout], threads, out, quaternions, fps=rate)

    def rest_pose(
        self,
        clip: ClipLike = 0,
        *,
        arrays: Sequence[ArrayName] = ("pos", "quat", "local_pos", "local_quat", "local_scale"),
        joints: Optional[Sequence[str]] = None,
        up: UpAxis = "y",
        scale: float = 1.0,
        quaternions: Quaternions = "xyzw",
    ) -> Poses:
        """The rest pose of the skeleton of a clip: arrays (J, ...), without an axis of times.

        Its `bone_lengths` are those of the skeleton. The arguments are those of `sample`.
        """
        skeleton = self._clips[self._index(clip)].skeleton
        layout = self._layout(skeleton, request(arrays, joints, None, up, scale, quaternions))
        time = np.zeros(())
        rows: Times = {"clips": np.array(-1 - skeleton, dtype=np.int64), "times": time, "before": time, "after": time}
        return self._fill(rows, [layout], 1, None, quaternions)

    def states(
        self,
        clips: Union[ClipLike, Iterable[ClipLike], npt.NDArray[np.integer]],
        times: npt.ArrayLike,
        *,
        velocities: bool = False,
        arrays: Sequence[ArrayName] = ("pos", "quat"),
        joints: Optional[Sequence[str]] = None,
        morphs: Optional[Sequence[str]] = None,
        fps: Optional[float] = None,
        wrap: Wrap = "clamp",
        up: UpAxis = "y",
        scale: float = 1.0,
        quaternions: Quaternions = "xyzw",
        threads: Optional[int] = None,
        out: Out = None,
    ) -> Poses:
        """The poses of N clips at N times in seconds: row i has clip `clips[i]` at `times[i]`.

        `clips` are clips, names or indices, or one for all rows; an array of integers is fastest. `times` may have any shape, and
        `clips` that of its first axes: B clips at times of the shape (B, W) are B windows of W times, and the arrays are
        (B, W, J, ...). Clips may belong to several skeletons whose joints have the same names in the same order, or with `joints`
        to any that have these joints. `velocities=True` adds `linvel` and `angvel` to `arrays`. By default `fps`,
        over which velocities are differences, is that of each clip. Continuous quaternions start anew with each clip. The other
        arguments are those of `sample`.

        The clips themselves are evaluated, at any time to 4e-7 rad, from keys of 16 bytes. `PackedMotion.states`, by the same call,
        looks up the frames of a bake and interpolates between them: for windows of frames, and for data larger than the memory.
        """
        at = seconds(times)
        ids = clip_ids(clips, at.shape, len(self._clips), self._index)
        wanted = request(arrays, joints, morphs, up, scale, quaternions)
        if velocities:
            # A kind that is listed twice counts once.
            wanted = replace(wanted, kinds=(*wanted.kinds, "linvel", "angvel"))
        layouts = [self._layout(skeleton, wanted) for skeleton in self._used_skeletons(ids)]
        self._check_equal_columns(ids, layouts)
        return self._fill(self._rows(ids, at, fps, wrap), layouts, threads, out, quaternions)

    def retarget(
        self,
        onto: Union[str, os.PathLike[str]],
        *,
        clips: Optional[Iterable[ClipLike]] = None,
        map: Union[Mapping[str, object], str, os.PathLike[str], None] = None,
        reference: Union[str, os.PathLike[str]] = "rest",
        target_pose: Union[str, os.PathLike[str]] = "rest",
        align: Literal["auto", "off"] = "auto",
        facing: Union[Literal["auto", "keep"], float] = "auto",
        source_up: Literal["auto", "x", "y", "z", "-x", "-y", "-z"] = "auto",
        ground: Literal["auto", "zero", "keep"] = "auto",
        translations: Literal["all", "root"] = "all",
        rotation_bound: float = 1e-4,
        translation_bound: float = 1e-4,
        strict: bool = False,
        threads: Optional[int] = None,
    ) -> Library:
        """The clips on the skeleton of another file, as `posse retarget` writes them: a library of that skeleton.

        >>> hero = posse.Library("walk.bvh").retarget(onto="hero.glb")      # doctest: +SKIP
        >>> poses = hero.sample(0, times=[0.0, 0.5])                        # doctest: +SKIP
        >>> hero.reports[0]["facing"], hero.reports[0]["units"]             # doctest: +SKIP
        (180.0, 'centimetres to metres')

        `onto` is a .glb, .gltf, .vrm, .fbx or .bvh file, whose clips do not matter, or "demo" for the built-in human.
        `clips` are clips, names or indices; by default all. Each file of the library is retargeted as if it were alone.
        Lengths of the result are in the unit of `onto`. Clips keep their names, durations and `fps`, and the order of
        this library.

        * `map`: pairs of joints, as a dictionary or the path of a JSON file: `{"joints": {"SOURCE": "TARGET"}, "root":
          "SOURCE", "translation": "scaled", "scale": 1.0}`, each member optional. By default the pairs follow from names
          and from roles in a human, and the scale from the lengths of the legs. "translation" is "scaled", "full" or
          "none". A joint with `None` has no partner.
        * `reference`: the pose of the source that looks like the pose of the target: "rest", "CLIP" or "CLIP@SECONDS" of
          the file, or "FILE", "FILE#CLIP" or "FILE#CLIP@SECONDS" of another file with joints of the same names, such as
          a T-pose. The name of a clip of the source comes first, whatever it looks like; then a .glb, .gltf, .vrm,
          .vrma, .fbx or .bvh file that is there; then what else selects a clip. A file with several clips needs "#CLIP", or "#rest"
          for its rest pose.
        * `target_pose`: the pose of the target that looks like it: "rest", or a pose of another file as above.
        * `align`: "auto" turns bones of the reference pose that point elsewhere than those of the target's pose; with
          "off", the two poses count as alike.
        * `facing`: "auto" turns the front of the source to that of the target, "keep" turns nothing. A number is a
          rotation in degrees about the up axis, counterclockwise if seen from above, any finite number.
        * `source_up`: the up axis of the source; "auto" takes the one along which the figure stands in its clips.
        * `ground`: the height of the ground in the source: "auto" takes 0 if feet come down near it, else their lowest
          point; "zero" takes 0. With "keep", the root moves up and down relative to the reference pose.
        * `translations`: "all" carries the translations and scales of all joints over that are paired by name; "root"
          only that of the root.
        * `rotation_bound` in radians and `translation_bound` as a share of the target's size: the largest error of keys
          that cannot be transformed one by one. Above 0.
        * `strict`: True raises `Error` instead of warning.
        * `threads`: the number of threads that prepare the result for sampling; by default the cores that this process
          may use.

        What looks wrong or was left out is a `RetargetWarning` that begins with the file. `reports` has it, too, with the
        pairs, the bones that were aligned, and the tracks that were dropped. Raises `OSError` for a file that cannot be
        read, and `Error` for one that cannot be used, for a pose of no clip and no file, if no joint has a partner, and for
        arguments out of range.
        """
        step = Retargeting(
            rig_path(onto),
            self._chosen(clips),
            joint_map(map),
            os.fspath(reference),
            os.fspath(target_pose),
            align,
            degrees(facing),
            source_up,
            ground,
            translations,
            float(rotation_bound),
            float(translation_bound),
        )
        native, reports = self._native.retarget(step, _threads(threads))
        found = named(reports, self._recipe.names)
        messages = [f"{each['file']}: {text}" for each in found for text in each["warnings"]]
        if strict and messages:
            raise _posse.Error("\n".join(messages))
        for message in native.warnings:
            warnings.warn(message, FileWarning, stacklevel=2)
        for message in messages:
            warnings.warn(message, RetargetWarning, stacklevel=2)
        step = replace(step, rig=None if step.rig is None else absolute(step.rig))
        return _made(native, replace(self._recipe, steps=(*self._recipe.steps, step)), found)

    def mirror(
        self, clips: Optional[Iterable[ClipLike]] = None, *, strict: bool = False, threads: Optional[int] = None
    ) -> Library:
        """A library of the clips of this one and, after them, their mirror images, with left and right exchanged.

        >>> both = posse.Library("walk.bvh").mirror()           # doctest: +SKIP
        >>> [clip.name for clip in both]                        # doctest: +SKIP
        ['walk', 'walk_mirror']

        `clips` are clips, names or indices that get a mirror image; by default all, so that the image of clip i of N is clip
        N + i. Images are those of `posse bake --mirror`, and have the names, with `_mirror` at the end. What looks wrong about
        them is a `RetargetWarning` that begins with the file; with `strict`, an `Error`.
        """
        chosen = self._chosen(clips)
        native, messages = self._native.mirror(chosen, _threads(threads))
        if strict and messages:
            raise _posse.Error("\n".join(messages))
        for message in messages:
            warnings.warn(message, RetargetWarning, stacklevel=2)
        steps = (*self._recipe.steps, Mirroring(chosen))
        return _made(native, replace(self._recipe, steps=steps), self._reports)

    def __len__(self) -> int:
        return len(self._clips)

    def __iter__(self) -> Iterator[Clip]:
        return iter(self._clips)

    @overload
    def __getitem__(self, clip: slice) -> tuple[Clip, ...]: ...

    @overload
    def __getitem__(self, clip: ClipLike) -> Clip: ...

    def __getitem__(self, clip: Union[ClipLike, slice]) -> Union[Clip, tuple[Clip, ...]]:
        if isinstance(clip, (str, Clip)):
            return self.clip(clip)
        try:
            return self._clips[clip]
        except IndexError:
            raise IndexError(f"clip {clip}: the library has {len(self._clips)} clips") from None

    def __reduce__(self) -> tuple[object, ...]:
        return _reopened, (self._recipe,)

    def __repr__(self) -> str:
        return f"Library({len(self._clips)} clips, {self._native.skeletons} skeletons)"

    def _chosen(self, clips: Optional[Iterable[ClipLike]]) -> tuple[int, ...]:
        """The indices of clips, each once; those of all clips for None."""
        if not self._clips:
            raise _posse.Error("the library has no clips")
        if clips is None:
            return tuple(range(len(self._clips)))
        if isinstance(clips, (str, Clip)):
            raise TypeError(f"clips={clips!r} is one clip; expected a list of clips, such as [{clips!r}]")
        chosen = tuple(dict.fromkeys(self._index(clip) for clip in clips))
        if not chosen:
            raise _posse.Error("clips is empty; give at least one clip")
        return chosen

    def _index(self, clip: ClipLike) -> int:
        """The index of a clip."""
        count = len(self._clips)
        if isinstance(clip, Clip):
            if clip._library != self._fingerprint:
                raise _posse.Error(f"{clip!r} belongs to another library; take a clip of this one")
            return clip.index
        if isinstance(clip, str):
            # Requests for training repeat their names.
            found = self._selected.get(clip)
            if found is None:
                found = self._selected[clip] = self._native.select(clip)
            return found
        try:
            index = operator.index(clip)
        except TypeError:
            kind = type(clip).__name__
            raise TypeError(f"a clip is a Clip, a name or an index, not {kind}") from None
        if not 0 <= index < count:
            raise _posse.Error(f"clip {index}: the library has {count} clips")
        return index

    def _layout(self, skeleton: int, wanted: Request) -> _posse.Layout:
        """The arrays of a skeleton. Those of the last request are kept: training asks for the same again and again."""
        known, layouts = self._layouts
        if known != wanted:
            layouts = {}
            self._layouts = (wanted, layouts)
        if skeleton not in layouts:
            layouts[skeleton] = self._native.layout(skeleton, wanted)
        return layouts[skeleton]

    def _used_skeletons(self, ids: npt.NDArray[np.int64]) -> list[int]:
        """The skeletons of clips, that of the first clip first."""
        if ids.size == 0:
            return [0] if self._native.skeletons else []
        used = np.flatnonzero(np.bincount(self._skeletons[ids.ravel()], minlength=self._native.skeletons)).tolist()
        first = int(self._skeletons[ids.flat[0]])
        return [first] + [skeleton for skeleton in used if skeleton != first]

    def _check_equal_columns(self, ids: npt.NDArray[np.int64], layouts: Sequence[_posse.Layout]) -> None:
        """Refuses rows of several skeletons whose columns are those of other joints."""
        for layout in layouts[1:]:
            if not layout.has_columns_of(layouts[0]):
                row = np.argwhere(self._skeletons[ids] == layout.skeleton)[0]
                one, other = self._clips[ids.flat[0]], self._clips[ids[tuple(row)]]
                of_one, of_other, hint = _difference(layouts[0], layout)
                raise _posse.Error(
                    f"row {', '.join('0' for _ in row)} has clip {one.index} of {one.file} {of_one}, but row "
                    f"{bracketed(row)[1:-1]} has clip {other.index} of {other.file} {of_other}; {hint}"
                )

    def _rows(
        self, ids: npt.NDArray[np.int64], times: npt.NDArray[np.float64], fps: Optional[float], wrap: str
    ) -> Times:
        """The rows of times that are not frames of a grid."""
        ends = self._durations[ids]
        at = wrapped(times, ends, wrap)
        if fps is not None and not 0.0 < fps < float("inf"):
            raise _posse.Error(f"fps={fps}; expected a finite number above 0")
        step = 1.0 / (self._rates[ids] if fps is None else float(fps))
        return {
            "clips": ids,
            "times": at,
            "before": np.clip(at - step, 0.0, ends),
            "after": np.clip(at + step, 0.0, ends),
        }

    def _fill(
        self,
        rows: Times,
        layouts: Sequence[_posse.Layout],
        threads: Optional[int],
        out: Out,
        quaternions: Quaternions,
        *,
        fps: Optional[float] = None,
    ) -> Poses:
        if not layouts:
            raise _posse.Error("the library has no clips")
        count = _threads(threads)
        return filled(
            layouts[0],
            rows,
            out,
            quaternions,
            lambda flat, arrays: self._native.fill(layouts, flat, arrays, count, fps),
            fps,
        )


def _made(native: _posse.Library, recipe: Recipe, reports: tuple[RetargetReport, ...]) -> Library:
    """The library of a recipe that was followed."""
    library = Library.__new__(Library)
    library._set_up(native, recipe, reports)
    return library


def _reopened(recipe: Recipe) -> Library:
    """The library of a recipe, in another process or at another time."""
    native, reports = recipe.follow(_posse.available_cores())
    return _made(native, recipe, reports)


def _difference(one: _posse.Layout, other: _posse.Layout) -> tuple[str, str, str]:
    """In what the columns of two skeletons differ: a text about each, and a hint."""
    shapes = [{name: tuple(shape) for name, _, shape in each.arrays} for each in (one, other)]
    if shapes[0] != shapes[1]:
        return f"with the shapes {shapes[0]}", f"with {shapes[1]}", "give clips with one number of joints, or `joints`"
    for kind, names, others in (
        ("joint", one.joint_names, other.joint_names),
        ("morph weight", one.weight_names, other.weight_names),
    ):
        for place, (name, another) in enumerate(zip(names, others)):
            if name != another:
                hint = "give `joints`, the names of joints that all have" if kind == "joint" else "use a call for each"
                return f"whose {kind} {place} is {name!r}", f"whose {kind} {place} is {another!r}", hint
    return "with skins", "with skins of other joints", "use a call for each"


def _threads(threads: Optional[int]) -> int:
    if threads is None:
        return _posse.available_cores()
    count = operator.index(threads)
    if count < 1:
        raise ValueError(f"threads={count}; expected 1 or more")
    return count
