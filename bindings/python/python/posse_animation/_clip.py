"""The facts of a clip."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

from . import _posse


@dataclass(frozen=True, eq=False)
class Clip:
    """A clip of a library.

    `Library.clips` has all of them. Each call that takes a clip takes this object, its `index` or its `name`. A clip can be
    pickled: libraries of the same files, of any process, take it.
    """

    index: int
    """The index among the clips of the library, from 0: file after file, in the order of each file."""

    name: Optional[str]
    """The name in the file. None if it has none."""

    file: str
    """The path of the file, as the caller gave it."""

    duration: float
    """The duration in seconds."""

    fps: float
    """The frames per second that the file states, as BVH, FBX and SMPL do; else those of the keys, or 30 if these are not even."""

    skeleton: int
    """The index of the skeleton. Clips of equal skeletons, of one file or of several, have one index."""

    joints: tuple[str, ...]
    """The names of the joints: all nodes of a glTF file in its order, all joints of a BVH file. A joint without a name is ""."""

    parents: tuple[int, ...]
    """The index of the parent of each joint, -1 for a root."""
    weight_names: tuple[str, ...]
    """The names of the morph weights, node after node: `NODE.NAME`, or `NODE.INDEX` for a morph target without a name."""

    _library: str = field(repr=False)
    """The fingerprint of the library."""

    @property
    def frames(self) -> int:
        """The number of frames at `fps`, both ends included: the number that `Library.bake` returns."""
        return _posse.frame_count(self.fps, self.duration)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clip) and (self._library, self.index) == (other._library, other.index)

    def __hash__(self) -> int:
        return hash((self._library, self.index))

    def __repr__(self) -> str:
        return (
            f"Clip(index={self.index}, name={self.name!r}, duration={self.duration:g}, fps={self.fps:g}, "
            f"joints={len(self.joints)}, file={self.file!r})"
        )
