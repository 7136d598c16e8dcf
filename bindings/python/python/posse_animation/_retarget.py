"""Arguments and report of a retargeting."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Optional, TypedDict, Union

Path = Union[str, "os.PathLike[str]"]


class RetargetWarning(UserWarning):
    """What looks wrong about a retargeting or a mirror image, or was left out, although a result could be made."""


class JointPair(TypedDict):
    """A joint of the source and its partner in the target."""

    source: str
    target: str
    by: Literal["name", "normalised name", "role", "structure", "map"]
    """The reason for the pair."""


class AlignedBone(TypedDict):
    """A bone of the source that was rotated in the reference pose, so that this looks like the pose of the target."""

    source: str
    target: str
    degrees: float
    """The angle: that of the hips by itself, that of others relative to the hips."""
    reason: Literal["parent", "trunk", "direction", "bend", "clips"]
    """Why: "parent" (with the joint above it), "trunk" or "direction" (to stand or to point as its partner), "bend" (about
    itself, so that the limb bends to the same side) or "clips" (so that its axes in the clips are those of its partner)."""


class ResampledTrack(TypedDict):
    """A track of the target that was sampled, because its keys could not be transformed one by one."""

    track: str
    keys: int
    error: float
    """The largest error: in radians for a rotation, as a share of the rig's size for a translation, as a number for weights."""


class DroppedTrack(TypedDict):
    """A track of the source that has no effect on the target."""

    track: str
    reason: str


class LostRootMotion(TypedDict):
    """Root motion of the source that the clip does not have."""

    joint: str
    reason: str


class ClipReport(TypedDict):
    """The tracks of a retargeted clip by the way in which they were made: "rotation of hips", for example."""

    name: Optional[str]
    exact: list[str]
    """Tracks whose keys were transformed one by one."""
    constant: list[str]
    """Tracks of a single key."""
    resampled: list[ResampledTrack]
    dropped: list[DroppedTrack]
    lost_root_motion: Optional[LostRootMotion]
    ground: Optional[float]
    """The height of the ground in the source along its up axis, in its unit. None if the root moves relative to the reference
    pose."""


class RetargetReport(TypedDict):
    """What `Library.retarget` did with the clips of a file: a dictionary of plain values, as `posse retarget --json` prints it."""

    file: str
    """The path of the file of the clips."""
    joints: list[JointPair]
    """The pairs of joints, in the order of the source."""
    root: Optional[str]
    """The joint of the source whose movement the target takes over."""
    scale: float
    """The factor of that movement: units of the target per unit of the source; 0 if the target does not move."""
    scale_basis: Optional[str]
    """The lengths of which the factor is the ratio. None if the target does not move."""
    units: Optional[str]
    """The units that the factor suggests, such as "centimetres to metres". None if it is near that of no two usual ones."""
    source_up: str
    """The up axis of the source with its sign, such as "+Z"."""
    facing: Optional[float]
    """The rotation of the source about its up axis in degrees. None if it is not known which way the target faces."""
    one_skeleton: bool
    """True if source and target seem to be one skeleton in two rest poses."""
    aligned: list[AlignedBone]
    warnings: list[str]
    """What was left out, then what looks wrong, as sentences: each is a `RetargetWarning`, too."""
    left_out: list[str]
    """Joints that are missing, ambiguous or cannot be animated: the first of the warnings."""
    source_without_partner: list[str]
    target_without_partner: list[str]
    clips: list[ClipReport]


@dataclass(frozen=True)
class Retargeting:
    """The choices of a retargeting."""

    rig: Optional[str]
    clips: Sequence[int]
    map: Optional[tuple[str, bytes]]
    reference: str
    """`rest`, `CLIP[@SECONDS]` or `FILE[#CLIP][@SECONDS]`."""
    target_pose: str
    """`rest` or `FILE[#CLIP][@SECONDS]`."""
    align: str
    facing: Union[str, float]
    source_up: str
    ground: str
    translations: str
    rotation_bound: float
    translation_bound: float


def rig_path(onto: Path) -> Optional[str]:
    """The path of the target; None for the built-in human, whose name is `demo`."""
    return None if onto == "demo" else os.fspath(onto)


def joint_map(map: Union[Mapping[str, object], Path, None]) -> Optional[tuple[str, bytes]]:
    """The name and the JSON of a map."""
    if map is None:
        return None
    if isinstance(map, Mapping):
        return "map", json.dumps(dict(map)).encode()
    # A number would be that of an open file.
    path = os.fspath(map)
    with open(path, "rb") as file:
        return path, file.read()


def degrees(facing: Union[str, float]) -> Union[str, float]:
    """A word, or an angle as a float."""
    return facing if isinstance(facing, str) else float(facing)
