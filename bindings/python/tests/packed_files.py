"""Files of `posse bake --format packed`, written here from the description of the format, so that the reader is tested without
the writer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import rigs

RIG = "rig-hip-2-0123456789abcdef.safetensors"
DTYPES = {"f8": "F64", "f4": "F32", "i4": "I32", "b1": "BOOL"}

# Two clips of a hip and a hand. In `a`, of 3 frames at 2 per second, the hip moves along x at 2 m/s and rotates about y at 90
# degrees per second, and the hand, 1 m beside it, about its own x at 60. In `b`, of 5 frames at 8 per second, the hip moves along z
# at 4 m/s, and nothing rotates.
YAW, BEND = np.radians([0.0, 45.0, 90.0]), np.radians([0.0, 30.0, 60.0])
ROWS = 8


def about(axis: int, angle: np.ndarray) -> np.ndarray:
    """Quaternions xyzw of rotations about an axis."""
    result = np.zeros((*np.shape(angle), 4))
    result[..., axis], result[..., 3] = np.sin(np.asarray(angle) / 2), np.cos(np.asarray(angle) / 2)
    return result


def arrays() -> dict[str, np.ndarray]:
    """The rows of both clips, by the names of arrays."""
    hip = np.zeros((ROWS, 3))
    hip[:3, 0], hip[3:, 2], hip[:, 1] = [0, 1, 2], [0, 0.5, 1, 1.5, 2], 1
    yaw = np.concatenate([YAW, np.zeros(5)])
    bend = np.concatenate([BEND, np.zeros(5)])
    hand = hip + np.stack([np.cos(yaw), np.zeros(ROWS), -np.sin(yaw)], -1)
    turn = about(1, yaw)
    linvel, angvel = np.zeros((ROWS, 2, 3)), np.zeros((ROWS, 2, 3))
    linvel[:3, :, 0], linvel[3:, :, 2] = 2, 4
    # The hand goes round the hip at 90 degrees per second.
    linvel[:3, 1] += np.pi / 2 * np.stack([-np.sin(YAW), np.zeros(3), -np.cos(YAW)], -1)
    angvel[:3, :, 1] = np.pi / 2
    # The axis x of the hand in model space, times 60 degrees per second.
    angvel[:3, 1] += np.pi / 3 * np.stack([np.cos(YAW), np.zeros(3), -np.sin(YAW)], -1)
    quat = np.stack([turn, rigs.multiply(turn, about(0, bend))], 1)
    return {
        "pos": np.stack([hip, hand], 1),
        "quat": quat,
        "linvel": linvel,
        "angvel": angvel,
        "rot6d": np.stack([columns(turn), columns(quat[:, 1])], 1),
        "root": np.concatenate([hip, turn], -1),
        "contact": np.array([[True], [False], [False], [True], [True], [True], [True], [False]]),
    }


def columns(turn: np.ndarray) -> np.ndarray:
    """The first two columns of rotation matrices."""
    return np.concatenate([rigs.rotate(turn, np.broadcast_to(axis, (len(turn), 3))) for axis in np.eye(3)[:2]], -1)


def safetensors(path: Path, tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> Path:
    """Writes a file by https://github.com/huggingface/safetensors, section "Format"."""
    header: dict[str, Any] = {"__metadata__": metadata}
    data = b""
    for name, tensor in tensors.items():
        begin, data = len(data), data + tensor.tobytes()
        header[name] = {"dtype": DTYPES[tensor.dtype.str[1:]], "shape": tensor.shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def metadata(**others: str) -> dict[str, str]:
    """The facts of the rig."""
    facts = {"format": "posse-packed", "format_version": "1", "posse_version": "0.1.0", "skeleton": "0123456789abcdef"}
    space = {"quaternion_order": "xyzw", "up_axis": "y", "unit_scale": "1.0", "options": "{}"}
    names = {"joint_names": '["hip", "hand"]', "contact_feet": '["hand"]'}
    return {**facts, **space, **names, "clips": "2", **others}


def line(clip: str, first_row: int, frames: int, fps: float, rig: str = RIG, **others: Any) -> dict[str, Any]:
    """A line of the index."""
    facts = {"clip": clip, "rig": rig, "first_row": first_row, "frames": frames, "fps": fps, "seconds": (frames - 1) / fps}
    source = {"path": f"{clip}.bvh", "sha256": "00" * 32, "buffers": []}
    return {**facts, "joints": 2, "skeleton": "0123456789abcdef", "rest": 0, "source": source, "engine": "cpu", **others}


LINES = [line("a", 0, 3, 2.0), line("b", 3, 5, 8.0, rest=1, warnings=["its end is cut off"])]


def tensors() -> dict[str, np.ndarray]:
    """All tensors of the file, in its order."""
    of_frames = {name: array if array.dtype == bool else array.astype("<f4") for name, array in arrays().items()}
    contact = of_frames.pop("contact")
    # The arm is twice as long in `b`.
    rest_pos = np.array([[[0, 0, 0], [1, 0, 0]], [[0, 0, 0], [2, 0, 0]]], dtype="<f4")
    rest_quat = np.tile(about(1, np.radians([90.0, 0.0])), (2, 1, 1)).astype("<f4")
    return {
        "time": np.array([0, 0.5, 1, 0, 0.125, 0.25, 0.375, 0.5]),
        "parents": np.array([-1, 0], dtype="<i4"),
        "rest_pos": rest_pos,
        "rest_quat": rest_quat,
        **of_frames,
        "contact": contact,
    }


def write(folder: Path, lines: list[dict[str, Any]] = LINES, **facts: str) -> Path:
    """Writes the folder of a bake, and returns its path."""
    folder.mkdir(exist_ok=True)
    safetensors(folder / RIG, tensors(), metadata(**facts))
    (folder / "index.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    return folder
