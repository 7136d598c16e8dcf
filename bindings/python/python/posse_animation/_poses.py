"""The arrays of a result."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Optional

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


class Poses:
    """Poses as arrays with a row per time: float32, in C order.

    T is the shape of the times, J the number of joints. Model space is that of the file, with +Y up unless the call said otherwise; a
    skeleton is placed in it by its root. An array that the call did not ask for raises AttributeError.
    """

    __slots__ = ("_arrays", "_contact_feet", "_fps", "_joint_names", "_parents", "_time", "_weight_names")

    def __init__(
        self,
        arrays: dict[str, Floats],
        time: npt.NDArray[np.float64],
        fps: Optional[float],
        joint_names: tuple[str, ...],
        parents: tuple[int, ...],
        weight_names: tuple[str, ...],
        contact_feet: tuple[str, ...],
    ) -> None:
        self._arrays = arrays
        self._time = time
        self._fps = fps
        self._joint_names = joint_names
        self._parents = parents
        self._weight_names = weight_names
        self._contact_feet = contact_feet

    @property
    def arrays(self) -> Mapping[str, Floats]:
        """All arrays by name, as `posse bake` writes them: of several skins `skin_0`, `skin_1` and so on."""
        return MappingProxyType(self._arrays)

    @property
    def time(self) -> npt.NDArray[np.float64]:
        """(T) The times in seconds, clamped or wrapped to the clip; float64."""
        return self._time

    @property
    def fps(self) -> Optional[float]:
        """The frames per second of `Library.bake`; None for other calls."""
        return self._fps

    @property
    def joint_names(self) -> tuple[str, ...]:
        """J names of joints, in the order of the arrays. For clips of several skeletons, those of the first clip."""
        return self._joint_names

    @property
    def parents(self) -> npt.NDArray[np.int32]:
        """(J) The nearest ancestor of each joint among `joint_names`, -1 without one; int32."""
        return np.array(self._parents, dtype=np.int32)

    @property
    def pos(self) -> Floats:
        """(T, J, 3) Positions in model space, in the unit of the file."""
        return self._array("pos")

    @property
    def quat(self) -> Floats:
        """(T, J, 4) Rotations in model space, as quaternions of unit length."""
        return self._array("quat")

    @property
    def linvel(self) -> Floats:
        """(T, J, 3) Velocities in model space, in units of the file per second."""
        return self._array("linvel")

    @property
    def angvel(self) -> Floats:
        """(T, J, 3) Angular velocities in model space: the axis of rotation times radians per second."""
        return self._array("angvel")

    @property
    def local_pos(self) -> Floats:
        """(T, J, 3) Translations relative to the parent in the file, in its unit."""
        return self._array("local_pos")

    @property
    def local_quat(self) -> Floats:
        """(T, J, 4) Rotations relative to the parent in the file, as quaternions of unit length."""
        return self._array("local_quat")

    @property
    def local_scale(self) -> Floats:
        """(T, J, 3) Scales relative to the parent in the file, a factor per axis."""
        return self._array("local_scale")

    @property
    def rot6d(self) -> Floats:
        """(T, J, 6) Rotations in model space: the first two columns of each matrix, one after the other, which are the directions
        of the x and the y axis of the joint (Zhou et al., CVPR 2019)."""
        return self._array("rot6d")

    @property
    def local_rot6d(self) -> Floats:
        """(T, J, 6) Rotations relative to the parent in the file, as `rot6d` has them."""
        return self._array("local_rot6d")

    @property
    def bone_lengths(self) -> Floats:
        """(T, J) The distance of each joint from its parent among `joint_names`, in the unit of the file; 0 without a parent. They
        follow from `pos`; those of `Library.rest_pose` are the lengths at rest."""
        parents = np.where(self.parents < 0, np.arange(len(self._parents)), self.parents)
        lengths: Floats = np.linalg.norm(self.pos - self.pos[..., parents, :], axis=-1)
        return lengths

    @property
    def root(self) -> Floats:
        """(T, 7) The position and rotation of the first joint, in model space."""
        return self._array("root")

    @property
    def root_motion(self) -> Floats:
        """(T, 7) The part of the movement of the first joint that is over the ground: its position in model space with height 0,
        and the rotation about the up axis since the rest pose."""
        return self._array("root_motion")

    @property
    def contact(self) -> Floats:
        """(T, F) 1 for a foot on the ground, 0 else; no numbers if no feet are known. Contacts are those of the whole clip, found in
        its frames."""
        return self._array("contact")

    @property
    def contact_feet(self) -> tuple[str, ...]:
        """F names of the feet of `contact`, the left one first. Empty without `contact`."""
        return self._contact_feet

    @property
    def skin(self) -> Floats:
        """(T, joints of the skin, 4, 4) Skin matrices of the only skin: `skin[t, j] @ [x, y, z, 1]` moves a vertex."""
        if "skin" not in self._arrays and "skin_0" in self._arrays:
            raise AttributeError(f"the skeleton has {len(self.skins)} skins; read them from `skins`")
        return self._array("skin")

    @property
    def skins(self) -> tuple[Floats, ...]:
        """The skin matrices of each skin, as `skin` describes them. Empty for a skeleton without skins."""
        return tuple(array for name, array in self._arrays.items() if name == "skin" or name.startswith("skin_"))

    @property
    def weights(self) -> Floats:
        """(T, W) Morph weights, node after node in the order of the file."""
        return self._array("weights")

    @property
    def weight_names(self) -> tuple[str, ...]:
        """W names of morph weights: `NODE.NAME`, or `NODE.INDEX` for a morph target without a name. Empty without `weights`."""
        return self._weight_names

    @property
    def properties(self) -> Floats:
        """(T, P) The numbers of animated properties that belong to no joint, such as colours of materials."""
        return self._array("properties")

    def _array(self, name: str) -> Floats:
        try:
            return self._arrays[name]
        except KeyError:
            found = ", ".join(self._arrays) or "none"
            reason = "the skeleton has no skin" if name == "skin" else f"ask for it by arrays=[..., {name!r}]"
            raise AttributeError(f"there is no array {name!r}; {reason}. The arrays are: {found}") from None

    def __len__(self) -> int:
        return len(self._time)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}={array.shape}" for name, array in self._arrays.items())
        return f"Poses({shapes})"
