"""The class `Crowd`."""

from __future__ import annotations

import operator
import os
import warnings
from collections.abc import Sequence
from typing import Optional, SupportsIndex

import numpy as np
import numpy.typing as npt

from . import _posse
from ._files import Path
from ._library import DEFAULT_ARRAYS, FileWarning
from ._out import Out, filled
from ._poses import Poses
from ._request import ArrayName, Quaternions, Times, UpAxis, request
from ._times import seconds


class Crowd:
    """The instances of a crowd file: clips in layers, with parameters, transitions and inverse kinematics, on one clock.

    >>> crowd = posse.Crowd("crowd.json")                               # doctest: +SKIP
    >>> crowd.sample(0, np.arange(60) / 30).pos.shape                   # doctest: +SKIP
    (60, 24, 3)

    `posse eval --help` describes crowd files. An error that could be repaired is a `FileWarning`; with `strict`, an `Error`.

    Raises `OSError` for a file that cannot be read, and `Error` for one that cannot be used.
    """

    def __init__(self, path: Path, *, strict: bool = False) -> None:
        self._native = _posse.Crowd.open(os.fsdecode(path), strict)
        self._files = tuple(self._native.files)
        self._groups = tuple(self._native.groups)
        for message in self._native.warnings:
            warnings.warn(message, FileWarning, stacklevel=2)

    def file(self, instance: SupportsIndex) -> str:
        """The glTF file of an instance, as the crowd file names it. Raises `Error` if there is no such instance."""
        return self._files[self._file_index(operator.index(instance))]

    def sample(
        self,
        instance: SupportsIndex,
        times: npt.ArrayLike,
        *,
        arrays: Sequence[ArrayName] = DEFAULT_ARRAYS,
        joints: Optional[Sequence[str]] = None,
        fps: float = 30.0,
        up: UpAxis = "y",
        scale: float = 1.0,
        quaternions: Quaternions = "xyzw",
        out: Out = None,
    ) -> Poses:
        """The poses of an instance, by its index from 0, at times of the crowd's clock in seconds, which may have any shape T.

        Velocities are differences over `1 / fps` to both sides. `arrays` are all but `contact`. The other arguments are those of
        `Library.sample`. Root motion that moves an instance is not in its poses.
        """
        index = operator.index(instance)
        at = seconds(times)
        if not 0.0 < fps < float("inf"):
            raise _posse.Error(f"fps={fps}; expected a finite number above 0")
        layout = self._native.layout(self._file_index(index), request(arrays, joints, None, up, scale, quaternions))
        clips = np.zeros(at.shape, dtype=np.int64)
        rows: Times = {"clips": clips, "times": at, "before": at - 1.0 / fps, "after": at + 1.0 / fps}
        return filled(layout, rows, out, quaternions, lambda flat, arrays: self._native.fill(index, layout, flat, arrays))

    def __len__(self) -> int:
        return self._groups[-1][1] if self._groups else 0

    def __repr__(self) -> str:
        return f"Crowd({len(self)} instances, {len(self._files)} files)"

    def _file_index(self, instance: int) -> int:
        for first, end, file in self._groups:
            if first <= instance < end:
                return file
        raise _posse.Error(f"instance {instance}: the crowd has {len(self)} instances")
