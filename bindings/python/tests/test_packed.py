"""Packed motion that the command of the same checkout has written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
import rigs

import posse_animation as posse

Command = Callable[..., str]
ARRAYS: list[posse.ArrayName] = [
    "pos",
    "quat",
    "linvel",
    "angvel",
    "local_pos",
    "local_quat",
    "local_scale",
    "rot6d",
    "local_rot6d",
    "root",
    "root_motion",
]


def packed(command: Command, folder: Path, *arguments: object) -> posse.PackedMotion:
    command("bake", *arguments, "-o", folder, "--format", "packed")
    return posse.PackedMotion(folder)


def test_frames_are_those_of_npz(command: Command, takes: list[Path], tmp_path: Path) -> None:
    options = ["--arrays", ",".join(ARRAYS), "--fps", 25, "--quaternions", "wxyz", "--up", "z", "--scale", 0.5]
    motion = packed(command, tmp_path / "packed", *takes, *options)
    command("bake", *takes, "-o", tmp_path / "npz", "--format", "npz", *options)
    assert (motion.up_axis, motion.unit_scale, motion.quaternion_order, motion.fps) == ("z", 0.5, "wxyz", 25.0)
    assert len(motion) == len(takes)
    for clip in motion:
        with np.load(tmp_path / "npz" / f"{clip.name}.npz") as archive:
            assert (clip.frames, clip.fps) == (len(archive["time"]), archive["fps"])
            assert motion.joint_names == tuple(archive["joint_names"].tolist())
            assert motion.parents.tolist() == archive["parents"].tolist()
            poses = motion.bake(clip, arrays=ARRAYS)
            assert poses.time.tobytes() == archive["time"].tobytes()
            assert np.isclose(clip.duration, archive["time"][-1], rtol=1e-12, atol=0)
            for name in ARRAYS:
                assert poses.arrays[name].tobytes() == archive[name].tobytes(), (clip, name)
            # The same numbers at the times of frames, but for the last bits of what is normalised again.
            found = motion.states(clip, archive["time"], arrays=ARRAYS)
            for name in ARRAYS:
                np.testing.assert_allclose(found.arrays[name], archive[name], atol=2e-5, err_msg=name)


def test_states_are_close_to_those_of_clips(command: Command, takes: list[Path], tmp_path: Path) -> None:
    """Between frames 1 / 120 s apart, of clips with keys 1 / 60 s apart."""
    motion = packed(command, tmp_path / "packed", *takes, "--fps", 120, "--arrays", ",".join(ARRAYS))
    library = posse.Library(takes)
    random = np.random.default_rng(3)
    ids, times = random.integers(0, len(takes), 300), random.uniform(0, 1, 300)
    found, expected = (source.states(ids, times, arrays=ARRAYS) for source in (motion, library))
    assert list(found.arrays) == list(expected.arrays)
    for name in ("pos", "local_pos", "rot6d"):
        np.testing.assert_allclose(found.arrays[name], expected.arrays[name], atol=5e-3, err_msg=name)
    cosine = np.abs((found.quat * expected.quat).sum(-1))
    assert np.degrees(2 * np.arccos(cosine.clip(0, 1))).max() < 0.5
    assert found.joint_names == expected.joint_names and found.parents.tolist() == expected.parents.tolist()


def test_contacts_and_weights_are_read(command: Command, worm: Path, tmp_path: Path) -> None:
    human = rigs.human(tmp_path / "human.bvh", frames=60, forward=0.01)
    motion = packed(command, tmp_path / "human", human, "--arrays", "pos,contact")
    assert motion.contact_feet == ("LeftFoot", "RightFoot") and motion.arrays["contact"].dtype == np.bool_
    expected = posse.Library(human).bake(0, arrays=["contact"]).contact
    np.testing.assert_array_equal(motion.bake(0, arrays=["contact"]).contact, expected)
    motion = packed(command, tmp_path / "worm", worm, "--arrays", "skin,weights,properties,local_scale")
    library = posse.Library(worm)
    # The file names none.
    assert motion.weight_names == ()
    poses = motion.bake("worm#bend", arrays=["skin", "weights", "properties", "local_scale"])
    baked = library.bake("bend", arrays=["skin", "weights", "properties", "local_scale"])
    for name, array in baked.arrays.items():
        assert poses.arrays[name].tobytes() == array.tobytes(), name
    assert [window["weights"].shape for window in motion.windows(4, clips=["worm#bend"])][:1] == [(4, 2)]


def test_rest_poses_are_those_of_clips(command: Command, tmp_path: Path) -> None:
    """The same rig in two sizes: one file, with two rest poses."""
    files = [rigs.human(tmp_path / f"{name}.bvh", unit=unit) for name, unit in (("one", 1.0), ("two", 2.0))]
    motion = packed(command, tmp_path / "packed", *files)
    assert len(motion) == 2 and {clip.rest for clip in motion} == {0, 1}
    for clip, file in zip(motion, files):
        expected = posse.Library(file).rest_pose()
        found = motion.rest_pose(clip)
        np.testing.assert_allclose(found.pos, expected.pos - expected.pos[:1], atol=1e-5)
        np.testing.assert_allclose(found.bone_lengths, expected.bone_lengths, atol=1e-5)
        np.testing.assert_allclose(np.abs((found.quat * expected.quat).sum(-1)), 1, atol=1e-6)


def test_shares_are_merged(command: Command, takes: list[Path], tmp_path: Path) -> None:
    whole = packed(command, tmp_path / "whole", *takes)
    shares = tmp_path / "shares"
    for share in range(3):
        command("bake", *takes, "-o", shares, "--format", "packed", "--shard", f"{share}/3")
    with pytest.raises(posse.Error, match="has not been merged: run `posse bake --merge"):
        posse.PackedMotion(shares)
    command("bake", "--merge", shares)
    merged = posse.PackedMotion(shares)
    assert [clip.name for clip in merged] == [clip.name for clip in whole]
    assert Path(merged.path).read_bytes() == Path(whole.path).read_bytes()


def test_rigs_are_apart(command: Command, takes: list[Path], slide: Path, tmp_path: Path) -> None:
    command("bake", takes[0], slide, "-o", tmp_path / "packed", "--format", "packed")
    with pytest.raises(posse.Error, match="several rigs") as caught:
        posse.PackedMotion(tmp_path / "packed")
    rigs_of_folder = re.findall(r"rig-[\w-]+\.safetensors", str(caught.value))
    assert len(rigs_of_folder) == 2
    found = {clip.name for rig in rigs_of_folder for clip in posse.PackedMotion(tmp_path / "packed", rig)}
    assert found == {takes[0].stem, "slide"}
    assert [clip.name for clip in posse.PackedMotion(tmp_path / "packed", "rig-hip")] == ["slide"]


def test_facts_of_clips_are_those_of_the_manifest(command: Command, takes: list[Path], tmp_path: Path) -> None:
    motion = packed(command, tmp_path / "packed", *takes)
    lines = [json.loads(line) for path in (tmp_path / "packed").glob("manifest-*.jsonl") for line in path.read_text().splitlines()]
    of_manifest: dict[str, Any] = {clip["clip"]: clip for line in lines for clip in line["clips"]}
    for clip in motion:
        assert clip.facts["source"]["sha256"] == of_manifest[clip.name]["source"]["sha256"]
        assert clip.frames == of_manifest[clip.name]["frames"]
