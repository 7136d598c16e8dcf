"""The arrays of this package are those of the command of the same checkout, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import numpy as np
import pytest

import posse

Command = Callable[..., str]
ARRAYS = "pos quat linvel angvel local_pos local_quat local_scale skin weights properties root".split()


def baked(command: Command, file: Path, *options: object) -> dict[str, np.lib.npyio.NpzFile]:
    """The archives of `posse bake`, by their names without extension."""
    folder = file.parent / f"baked-{file.stem}"
    command("bake", file, "-o", folder, "--format", "npz", *options)
    return {path.stem: np.load(path) for path in sorted(folder.rglob("*.npz"))}


def assert_equal(found: posse.Poses, expected: np.lib.npyio.NpzFile) -> None:
    for name, array in found.arrays.items():
        assert array.dtype == expected[name].dtype == np.float32, name
        assert array.shape == expected[name].shape, name
        assert array.tobytes() == expected[name].tobytes(), name
    assert found.time.tobytes() == expected["time"].tobytes()
    assert found.fps == expected["fps"]
    assert list(found.joint_names) == expected["joint_names"].tolist()
    assert found.parents.tolist() == expected["parents"].tolist()


@pytest.mark.parametrize("fps", [None, 25.0, 47.3])
@pytest.mark.parametrize("threads", [1, 2])
def test_frames_are_those_of_bake(command: Command, worm: Path, fps: float | None, threads: int) -> None:
    options = [] if fps is None else ["--fps", fps]
    archives = baked(command, worm, "--arrays", ",".join(ARRAYS), "--threads", threads, *options)
    library = posse.Library(worm)
    assert len(archives) == 2
    for name, archive in archives.items():
        clip = library.clip(name.split("#")[1])
        assert_equal(library.bake(clip, fps, arrays=ARRAYS, threads=threads), archive)


def test_frames_of_bvh_files_are_those_of_bake(command: Command, takes: list[Path]) -> None:
    library = posse.Library(*takes)
    arrays = [name for name in ARRAYS if name not in ("skin", "weights", "properties")]
    for clip, take in zip(library.clips, takes):
        (archive,) = baked(command, take, "--arrays", ",".join(arrays)).values()
        assert_equal(library.bake(clip, arrays=arrays), archive)


def test_options_mean_the_same(command: Command, worm: Path) -> None:
    joints = ["middle", "tip"]
    options = ["--up", "z", "--scale", "0.01", "--quaternions", "wxyz", "--joints", ",".join(joints)]
    archives = baked(command, worm, "--clip", "bend", "--arrays", ",".join(ARRAYS), *options)
    (archive,) = archives.values()
    found = posse.Library(worm).bake("bend", arrays=ARRAYS, joints=joints, up="z", scale=0.01, quaternions="wxyz")
    assert_equal(found, archive)
    assert archive["unit_scale"] == 0.01


def test_samples_are_those_of_eval(command: Command, worm: Path, tmp_path: Path) -> None:
    times = [0.0, 0.123, 0.25, 0.4, 0.31]
    command("eval", worm, "--clip", "bend", "--times", ",".join(map(str, times)), "--engine", "cpu", "--format", "npz",
            "-o", tmp_path / "poses.npz")  # fmt: skip
    expected = np.load(tmp_path / "poses.npz")
    found = posse.Library(worm).sample("bend", times)
    pairs = [
        (found.local_pos, expected["translation"][:, 0]),
        (found.local_quat, expected["rotation"][:, 0]),
        (found.local_scale, expected["scale"][:, 0]),
        (found.skin, expected["skin_0"][:, 0]),
        (found.weights, expected["weights"][:, 0]),
        (found.properties, expected["properties"][:, 0]),
        (found.pos, expected["model"][:, 0, :, :3, 3]),
    ]
    # `eval` computes with the estimates of the processor, so that it is as fast as possible; the last bits differ.
    for array, other in pairs:
        assert other.dtype == np.float32 and array.shape == other.shape
        np.testing.assert_allclose(array, other, rtol=1e-6, atol=1e-6)
