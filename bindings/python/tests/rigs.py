"""Files of motion made in code, and the same motion evaluated by NumPy in float64."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

AXES = {"X": 0, "Y": 1, "Z": 2}


@dataclass
class Motion:
    """A BVH file: joints, parents before children, with random offsets and keys."""

    parents: list[int]
    offsets: np.ndarray
    frame_time: float
    root: np.ndarray
    """(frames, 3) positions of the root."""
    angles: np.ndarray
    """(frames, joints, 3) degrees of the rotations Z, X and Y, in this order."""

    @staticmethod
    def random(joints: int, frames: int, frame_time: float, seed: int) -> Motion:
        """A tree of joints that turns smoothly. Rigs of one number of joints and other seeds differ only in their keys."""
        random = np.random.default_rng(seed)
        parents = [-1] + [max(0, joint - 1 - joint % 3) for joint in range(1, joints)]
        offsets = np.random.default_rng(joints).uniform(-0.3, 0.3, (joints, 3)).round(6)
        phases, rates = random.uniform(0, 6.3, (2, joints, 3))
        time = np.arange(frames)[:, None, None] * frame_time
        angles = (50 * np.sin(phases + rates * time)).round(6)
        root = np.cumsum(random.uniform(-0.01, 0.01, (frames, 3)), axis=0).round(6)
        return Motion(parents, offsets, frame_time, root, angles)

    @property
    def names(self) -> list[str]:
        return [f"joint{joint}" for joint in range(len(self.parents))]

    def write(self, path: Path) -> Path:
        """Writes the file, and returns its path."""
        children: dict[int, list[int]] = {joint: [] for joint in range(-1, len(self.parents))}
        for joint, parent in enumerate(self.parents):
            children[parent].append(joint)
        lines, order = ["HIERARCHY"], []

        def joint_lines(joint: int, indent: str) -> None:
            order.append(joint)
            offset = " ".join(f"{number:.6f}" for number in self.offsets[joint])
            channels = "Zrotation Xrotation Yrotation"
            channels = f"6 Xposition Yposition Zposition {channels}" if self.parents[joint] < 0 else f"3 {channels}"
            kind = "ROOT" if self.parents[joint] < 0 else "JOINT"
            lines.extend([f"{indent}{kind} joint{joint}", f"{indent}{{", f"{indent}\tOFFSET {offset}"])
            lines.append(f"{indent}\tCHANNELS {channels}")
            for child in children[joint]:
                joint_lines(child, indent + "\t")
            lines.append(f"{indent}}}")

        joint_lines(0, "")
        lines += ["MOTION", f"Frames: {len(self.root)}", f"Frame Time: {self.frame_time!r}"]
        for root, angles in zip(self.root, self.angles):
            numbers = np.concatenate([root, angles[order].ravel()])
            lines.append(" ".join(f"{number:.6f}" for number in numbers))
        path.write_text("\n".join(lines) + "\n")
        return path

    def model(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(T, J, 3) positions and (T, J, 4) rotations in model space, by slerp between the frames."""
        frame = np.clip(times / self.frame_time, 0, len(self.root) - 1)
        first = np.minimum(frame.astype(int), max(len(self.root) - 2, 0))
        after = np.minimum(first + 1, len(self.root) - 1)
        share = frame - first
        keys = quaternions(self.angles)
        local = slerp(keys[first], keys[after], share[:, None, None])
        root = self.root[first] + (self.root[after] - self.root[first]) * share[:, None]
        return forward(self.parents, self.offsets, root, local)


def quaternions(degrees: np.ndarray) -> np.ndarray:
    """Quaternions xyzw of rotations Z, X and Y, in this order."""
    half = np.radians(degrees) / 2
    result = np.zeros((*degrees.shape[:-1], 4))
    result[..., 3] = 1
    for column, axis in enumerate("ZXY"):
        turn = np.zeros_like(result)
        turn[..., AXES[axis]] = np.sin(half[..., column])
        turn[..., 3] = np.cos(half[..., column])
        result = multiply(result, turn)
    return result


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of quaternions xyzw."""
    ax, ay, az, aw = np.moveaxis(a, -1, 0)
    bx, by, bz, bw = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ],
        axis=-1,
    )


def rotate(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Vectors turned by quaternions xyzw."""
    axis, w = quaternion[..., :3], quaternion[..., 3:]
    twice = 2 * np.cross(axis, vector)
    return vector + w * twice + np.cross(axis, twice)


def slerp(a: np.ndarray, b: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Spherical interpolation of quaternions, the shorter way."""
    cosine = (a * b).sum(-1, keepdims=True)
    b, cosine = np.where(cosine < 0, -b, b), np.minimum(np.abs(cosine), 1)
    angle = np.arccos(cosine)
    sine = np.where(angle < 1e-9, 1, np.sin(angle))
    of_a = np.where(angle < 1e-9, 1 - share, np.sin((1 - share) * angle) / sine)
    of_b = np.where(angle < 1e-9, share, np.sin(share * angle) / sine)
    return of_a * a + of_b * b


def forward(
    parents: list[int], offsets: np.ndarray, root: np.ndarray, local: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Forward kinematics: positions and rotations in model space."""
    positions, rotations = np.empty((*local.shape[:-1], 3)), np.empty_like(local)
    for joint, parent in enumerate(parents):
        if parent < 0:
            positions[:, joint], rotations[:, joint] = root, local[:, joint]
        else:
            turned = rotate(rotations[:, parent], np.broadcast_to(offsets[joint], root.shape))
            positions[:, joint] = positions[:, parent] + turned
            rotations[:, joint] = multiply(rotations[:, parent], local[:, joint])
    return positions, rotations


class GltfFile:
    """A `.gltf` file with its numbers inside."""

    def __init__(self) -> None:
        self.bytes = b""
        self.json: dict[str, Any] = {"asset": {"version": "2.0"}, "bufferViews": [], "accessors": []}

    def add(self, numbers: Any, kind: str) -> int:
        """Adds an accessor of float32 numbers, and returns its index."""
        array = np.asarray(numbers, dtype=np.float32)
        view = {"buffer": 0, "byteOffset": len(self.bytes), "byteLength": array.nbytes}
        self.json["bufferViews"].append(view)
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[kind]
        accessor = {"bufferView": len(self.json["bufferViews"]) - 1, "componentType": 5126, "type": kind}
        self.json["accessors"].append({**accessor, "count": array.size // width})
        self.bytes += array.tobytes()
        return len(self.json["accessors"]) - 1

    def write(self, path: Path) -> Path:
        """Writes the file, and returns its path."""
        text = base64.b64encode(self.bytes).decode()
        uri = f"data:application/octet-stream;base64,{text}"
        self.json["buffers"] = [{"byteLength": len(self.bytes), "uri": uri}]
        path.write_text(json.dumps(self.json))
        return path


def worm(path: Path, skins: int = 1) -> Path:
    """Writes a glTF file with children before parents, a skin, morph weights, an animated colour, and the clips `bend` and `grow`."""
    file, random = GltfFile(), np.random.default_rng(7)
    turns = random.normal(size=(9, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    # Keys at 20 Hz, and keys that are not evenly spaced.
    even = file.add(np.arange(9) / 20, "SCALAR")
    uneven = file.add([0.0, 0.1, 0.35, 0.7], "SCALAR")
    inverse = np.tile(np.eye(4), (3, 1, 1))
    inverse[:, 3, :3] = random.normal(size=(3, 3))
    binds = file.add(inverse, "MAT4")
    position = file.add(random.normal(size=(3, 3)), "VEC3")
    morph = {"attributes": {"POSITION": position}, "targets": [{"POSITION": position}, {"POSITION": position}]}
    colour_path = "/materials/0/pbrMetallicRoughness/baseColorFactor"
    pointer = {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": colour_path}}}
    bend = [
        (even, file.add(turns, "VEC4"), {"node": 0, "path": "rotation"}),
        (even, file.add(random.normal(size=(9, 3)), "VEC3"), {"node": 2, "path": "translation"}),
        (even, file.add(random.uniform(size=(9, 2)), "SCALAR"), {"node": 3, "path": "weights"}),
        (even, file.add(random.uniform(size=(9, 4)), "VEC4"), pointer),
    ]
    grow = [(uneven, file.add(random.uniform(0.5, 2, (4, 3)), "VEC3"), {"node": 1, "path": "scale"})]
    file.json |= {
        "extensionsUsed": ["KHR_animation_pointer"],
        "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [1, 1, 1, 1]}}],
        "meshes": [{"primitives": [morph], "weights": [0.25, 0.5]}],
        "nodes": [
            {"name": "tip", "translation": [0, 1, 0]},
            {"name": "middle", "translation": [0.5, 1, 0], "children": [0]},
            {"name": "base", "translation": [0, 0.25, 0], "children": [1]},
            {"name": "body", "mesh": 0, "skin": 0},
        ],
        "skins": [{"joints": [2, 1, 0], "inverseBindMatrices": binds}] * skins,
        "scenes": [{"nodes": [2, 3]}],
        "animations": [{"name": name, **animation(channels)} for name, channels in (("bend", bend), ("grow", grow))],
    }
    return file.write(path)


def animation(channels: list[tuple[int, int, dict[str, Any]]]) -> dict[str, Any]:
    """A glTF animation of channels: key times, values and a target."""
    samplers = [{"input": times, "output": values} for times, values, _ in channels]
    return {"samplers": samplers, "channels": [{"sampler": i, "target": c[2]} for i, c in enumerate(channels)]}


SLIDE = """\
HIERARCHY
ROOT hip
{
  OFFSET 0 0 0
  CHANNELS 4 Xposition Yposition Zposition Yrotation
  JOINT hand
  {
    OFFSET 1 0 0
    CHANNELS 1 Yrotation
    End Site
    {
      OFFSET 0 0 2
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.5
0 1 0 0 0
1 1 0 45 0
2 1 0 90 0
"""
"""A file small enough to be worked out by hand: the hip moves at 2 units and turns by 90 degrees per second."""


MIXAMO = "Hips Spine Neck Head LeftArm LeftForeArm LeftHand LeftUpLeg LeftLeg LeftFoot LeftToeBase"
"""The names of the joints of `human`: the trunk, then the limbs of the left side."""
BIOVISION = "Hips Chest Neck Head LeftShoulder LeftElbow LeftWrist LeftHip LeftKnee LeftAnkle LeftToe"
"""The same joints, as Biovision names them."""


def human(
    path: Path, names: str = MIXAMO, unit: float = 1.0, up: str = "y", frames: int = 20, forward: float = 0.05
) -> Path:
    """Writes a BVH file of a human of 1.7 `unit`, in a T-pose that faces +Z and steps `forward` per frame, with bending arms and legs.

    With `up="z"`, all is rotated by +90 degrees about +X, so that the human faces -Y. Rotations are about X alone, which this
    rotation keeps.
    """
    hips, spine, neck, head, arm, fore_arm, hand, leg, shin, foot, toes = names.split()
    offsets = {
        hips: ("", (0, 0.9, 0)),
        spine: (hips, (0, 0.2, 0)),
        neck: (spine, (0, 0.3, 0)),
        head: (neck, (0, 0.1, 0)),
        arm: (spine, (0.2, 0.25, 0)),
        fore_arm: (arm, (0.3, 0, 0)),
        hand: (fore_arm, (0.25, 0, 0)),
        leg: (hips, (0.1, 0, 0)),
        shin: (leg, (0, -0.42, 0)),
        foot: (shin, (0, -0.4, 0)),
        toes: (foot, (0, -0.06, 0.12)),
    }
    for name, (parent, (x, y, z)) in list(offsets.items()):
        if "Left" in name:
            offsets[name.replace("Left", "Right")] = (parent.replace("Left", "Right"), (-x, y, z))
    phase = 2 * np.pi * np.arange(frames) / frames
    swing = {leg: (25, 0), shin: (30, 0.5), arm: (15, np.pi), fore_arm: (10, 1), spine: (5, 0)}
    lines, order = ["HIERARCHY"], []

    def joint_lines(name: str, indent: str) -> None:
        order.append(name)
        parent, offset = offsets[name]
        numbers = " ".join(f"{unit * number:.6f}" for number in _axes(offset, up))
        kind, channels = ("JOINT", "1 Xrotation") if parent else ("ROOT", "4 Xposition Yposition Zposition Xrotation")
        lines.extend([f"{indent}{kind} {name}", f"{indent}{{", f"{indent}\tOFFSET {numbers}"])
        lines.append(f"{indent}\tCHANNELS {channels}")
        children = [child for child, (above, _) in offsets.items() if above == name]
        for child in children:
            joint_lines(child, indent + "\t")
        if not children:
            end = " ".join(f"{unit * number:.6f}" for number in _axes((0.0, 0.1, 0.0), up))
            lines.extend([f"{indent}\tEnd Site", f"{indent}\t{{", f"{indent}\t\tOFFSET {end}", f"{indent}\t}}"])
        lines.append(f"{indent}}}")

    joint_lines(hips, "")
    lines += ["MOTION", f"Frames: {frames}", "Frame Time: 0.0333333333"]
    for frame in range(frames):
        moved = [f"{unit * number:.6f}" for number in _axes((0.0, 0.9, forward * frame), up)]
        degrees = []
        for name in order:
            size, start = swing.get(name.replace("Right", "Left"), (0, 0))
            opposite = np.pi if "Right" in name else 0
            wave = np.sin(phase[frame] + start + opposite)
            # Knees bend backward alone.
            degrees.append(size * (1 + wave) if name.replace("Right", "Left") == shin else size * wave)
        lines.append(" ".join([*moved, *(f"{number:.6f}" for number in degrees)]))
    path.write_text("\n".join(lines) + "\n")
    return path


def _axes(offset: tuple[float, float, float], up: str) -> tuple[float, float, float]:
    """An offset of a space with +Y up in one with `up` up."""
    x, y, z = offset
    return (x, -z, y) if up == "z" else offset
