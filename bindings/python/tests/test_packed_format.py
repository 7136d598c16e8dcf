"""Packed files that were written by hand: facts, states, and files that cannot be used."""

from __future__ import annotations

import errno
import json
import mmap
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import packed_files
import pytest
import rigs

import posse_animation as posse


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return packed_files.write(tmp_path / "baked")


@pytest.fixture
def motion(folder: Path) -> posse.PackedMotion:
    return posse.PackedMotion(folder)


def test_facts_are_those_of_the_files(folder: Path, motion: posse.PackedMotion) -> None:
    a, b = motion.clips
    assert (a.index, a.name, a.file, a.frames, a.fps, a.duration, a.first_row, a.rest) == (0, "a", "a.bvh", 3, 2.0, 1.0, 0, 0)
    assert (b.index, b.name, b.frames, b.fps, b.duration, b.first_row, b.rest) == (1, "b", 5, 8.0, 0.5, 3, 1)
    assert b.facts["warnings"] == ["its end is cut off"] and b.facts["source"]["sha256"] == "00" * 32
    assert motion.joint_names == ("hip", "hand") and motion.parents.tolist() == [-1, 0]
    assert (motion.contact_feet, motion.weight_names) == (("hand",), ())
    assert (motion.up_axis, motion.unit_scale, motion.quaternion_order, motion.fps) == ("y", 1.0, "xyzw", None)
    assert motion.metadata["posse_version"] == "0.1.0"
    assert motion.path == str(folder / packed_files.RIG)
    assert len(motion) == 2 and [clip.name for clip in motion] == ["a", "b"]
    assert motion["b"] is motion[1] is motion[-1] is motion.clip(b) and motion[:1] == (a,)
    assert repr(motion) == "PackedMotion(2 clips, 8 frames, 2 joints, pos, quat, linvel, angvel, rot6d, root, contact)"
    for name, expected in packed_files.arrays().items():
        assert motion.arrays[name].dtype == (np.bool_ if name == "contact" else np.float32)
        np.testing.assert_array_equal(motion.arrays[name], expected.astype(motion.arrays[name].dtype))


def test_frames_are_the_mapped_file(motion: posse.PackedMotion) -> None:
    poses = motion.bake("b", arrays=["pos", "quat", "contact"])
    assert np.shares_memory(poses.pos, motion.arrays["pos"])
    assert poses.pos[:, 0].tolist() == [[0, 1, 0], [0, 1, 0.5], [0, 1, 1], [0, 1, 1.5], [0, 1, 2]]
    assert poses.contact.tolist() == [[1], [1], [1], [1], [0]] and poses.contact_feet == ("hand",)
    assert (poses.fps, poses.time.tolist()) == (8.0, [0, 0.125, 0.25, 0.375, 0.5])
    hand = motion.bake("b", arrays=["pos"], joints=["hand"])
    assert hand.pos.shape == (5, 1, 3) and hand.joint_names == ("hand",) and hand.parents.tolist() == [-1]


def test_states_lie_between_frames(motion: posse.PackedMotion) -> None:
    """In the middle of the first two frames of `a`: half of 1 m, half of 45 degrees, half of 30."""
    arrays: list[posse.ArrayName] = ["pos", "quat", "rot6d", "root"]
    state = motion.states("a", 0.25, arrays=arrays, velocities=True)
    half = np.sqrt(0.5)
    np.testing.assert_allclose(state.pos, [[0.5, 1, 0], [0.5 + (1 + half) / 2, 1, -half / 2]], atol=1e-7)
    yaw, bend = np.radians(22.5), np.radians(15)
    turn = packed_files.about(1, yaw)
    np.testing.assert_allclose(state.quat[0], turn, atol=1e-7)
    np.testing.assert_allclose(state.root, [0.5, 1, 0, *turn], atol=1e-7)
    # The columns of a rotation about y by 22.5 degrees; of equal angles to both sides, the mean points to the middle.
    np.testing.assert_allclose(state.rot6d[0], [np.cos(yaw), 0, -np.sin(yaw), 0, 1, 0], atol=1e-6)
    assert np.abs(np.linalg.norm(state.rot6d[1].reshape(2, 3), axis=-1) - 1).max() < 1e-6
    assert abs(state.rot6d[1, :3] @ state.rot6d[1, 3:]) < 1e-6
    np.testing.assert_allclose(state.linvel[0], [2, 0, 0], atol=1e-6)
    np.testing.assert_allclose(state.angvel[0], [0, np.pi / 2, 0], atol=1e-6)
    # The hand goes along the great arc between its two frames, near the rotation of both halves.
    both = rigs.multiply(turn, packed_files.about(0, bend))
    assert abs(state.quat[1] @ both) > 0.999
    ends = packed_files.arrays()["quat"][:2, 1]
    np.testing.assert_allclose(state.quat[1], ends.sum(0) / np.linalg.norm(ends.sum(0)), atol=1e-6)


def test_times_are_those_of_library(motion: posse.PackedMotion) -> None:
    frames = motion.states([0, 0, 0, 1], [0, 0.5, 1, 0.375]).pos
    np.testing.assert_array_equal(frames, motion.arrays["pos"][[0, 1, 2, 6]])
    clamped = motion.states(0, [-1.0, 7.0])
    np.testing.assert_array_equal(clamped.pos, motion.arrays["pos"][[0, 2]])
    assert clamped.time.tolist() == [0, 1]
    looped = motion.states(0, [1.25, -0.75], wrap="loop", arrays=["pos"])
    np.testing.assert_allclose(looped.pos[:, 0], [[0.5, 1, 0]] * 2, atol=1e-7)
    windows = motion.states([motion["a"], "b"], [[0, 0.5, 1], [0, 0.25, 0.5]], velocities=True)
    assert (windows.pos.shape, windows.angvel.shape) == ((2, 3, 2, 3), (2, 3, 2, 3))
    assert windows.pos[1, :, 0, 2].tolist() == [0, 1, 2]
    assert motion.states([], []).quat.shape == (0, 2, 4)
    assert motion.sample("b", [0.25], arrays=["pos"]).pos[0, 0].tolist() == [0, 1, 1]
    # Contacts are those of the nearest frame.
    assert motion.states(0, [0.24, 0.26], arrays=["contact"]).contact.tolist() == [[1], [0]]
    assert motion.states(0, 0.24, arrays=["contact"]).contact.dtype == np.float32


def test_joints_are_chosen_by_name(motion: posse.PackedMotion) -> None:
    every = motion.states([0, 1], [0.3, 0.1], arrays=["pos", "quat", "contact"])
    swapped = motion.states([0, 1], [0.3, 0.1], arrays=["pos", "quat", "contact"], joints=["hand", "hip"])
    np.testing.assert_array_equal(swapped.pos, every.pos[:, ::-1])
    np.testing.assert_array_equal(swapped.quat, every.quat[:, ::-1])
    assert swapped.contact.shape == (2, 1)
    assert swapped.joint_names == ("hand", "hip") and swapped.parents.tolist() == [1, -1]
    with pytest.raises(posse.Error, match="no joints of .* are named 'hnd'; joints are hand"):
        motion.states(0, 0, joints=["hnd"])
    with pytest.raises(TypeError, match="expected a list of names"):
        motion.states(0, 0, joints="hip")  # type: ignore[arg-type]


def test_arrays_are_reused(motion: posse.PackedMotion) -> None:
    first = motion.states([0, 1], [0.3, 0.1])
    pos = first.pos
    second = motion.states([1, 0], [0.1, 0.3], out=first)
    assert second.pos is pos
    np.testing.assert_array_equal(pos, motion.states([1, 0], [0.1, 0.3]).pos)
    with pytest.raises(ValueError, match=r"the shape \(2, 2, 3\); expected \(3, 2, 3\)"):
        motion.states([0, 0, 0], [0, 0, 0], out=first)


def test_rest_poses_are_those_of_clips(motion: posse.PackedMotion) -> None:
    """The hip is rotated by 90 degrees about y, which carries x to -z."""
    a, b = motion.rest_pose("a"), motion.rest_pose("b")
    np.testing.assert_allclose(a.pos, [[0, 0, 0], [0, 0, -1]], atol=1e-7)
    np.testing.assert_allclose(b.pos, [[0, 0, 0], [0, 0, -2]], atol=1e-6)
    np.testing.assert_allclose(a.quat, packed_files.about(1, np.radians([90.0, 90.0])), atol=1e-7)
    assert b.local_pos.tolist() == [[0, 0, 0], [2, 0, 0]]
    np.testing.assert_allclose(b.bone_lengths, [0, 2], atol=1e-6)
    assert a.time.shape == ()


def test_the_space_is_that_of_the_bake(motion: posse.PackedMotion) -> None:
    assert motion.states(0, 0, up="y", scale=1, quaternions="xyzw").pos.shape == (2, 3)
    with pytest.raises(posse.Error, match="up='z', but .* was baked with 'y'; bake it with --up z"):
        motion.states(0, 0, up="z")
    with pytest.raises(posse.Error, match="scale=0.01, but .* was baked with 1.0"):
        motion.bake(0, scale=0.01)
    with pytest.raises(posse.Error, match="quaternions='wxyz'.*--quaternions wxyz"):
        motion.sample(0, 0, quaternions="wxyz")
    with pytest.raises(posse.Error, match="quaternions='continuous'.*; signs are those of the bake"):
        motion.sample(0, 0, quaternions="continuous")


def test_the_up_axis_of_smpl_is_unknown(tmp_path: Path) -> None:
    motion = posse.PackedMotion(packed_files.write(tmp_path / "smpl", up_axis="unknown"))
    assert motion.up_axis == "unknown" and motion.states(0, 0).pos.shape == (2, 3)
    for up in ("y", "z"):
        with pytest.raises(posse.Error, match=f"up='{up}', but .* was baked with 'unknown'; leave up out"):
            motion.states(0, 0, up=up)  # type: ignore[arg-type, unused-ignore]


def test_clips_are_found_after_the_index_is_replaced(folder: Path, motion: posse.PackedMotion) -> None:
    b = pickle.loads(pickle.dumps(motion.clips[1]))
    os.replace(packed_files.write(folder.parent / "other", [packed_files.line("z", 0, 8, 2.0)]) / "index.jsonl", folder / "index.jsonl")
    assert motion.clip(b).name == b.name == "b" and motion[0].file == "a.bvh"
    with pytest.raises(posse.Error, match="has changed since the motion was pickled"):
        pickle.loads(pickle.dumps(motion))


def test_a_motion_that_is_pickled_is_not_parsed_again(motion: posse.PackedMotion, monkeypatch: pytest.MonkeyPatch) -> None:
    pickled = pickle.dumps(motion)
    monkeypatch.setattr("posse_animation._clip_list.read", lambda folder: pytest.fail("the index is parsed"))
    again = pickle.loads(pickled)
    assert [clip.name for clip in again] == ["a", "b"] and again["b"].facts == motion["b"].facts


def test_what_is_not_there_is_an_error(motion: posse.PackedMotion, tmp_path: Path) -> None:
    with pytest.raises(posse.Error, match="has no array 'local_pos', but pos, quat, .*; bake it with --arrays pos,.*,local_pos"):
        motion.states(0, 0, arrays=["local_pos"])
    with pytest.raises(posse.Error, match="no clip is named 'c'"):
        motion.clip("c")
    for clip in (2, -1, np.int64(9)):
        with pytest.raises(posse.Error, match="the file has 2 clips"):
            motion.clip(clip)
    with pytest.raises(TypeError, match="a clip is a PackedClip, a name or an index, not float"):
        motion.clip(0.5)  # type: ignore[arg-type]
    other = posse.PackedMotion(packed_files.write(tmp_path / "other", [packed_files.line("z", 0, 8, 2.0)]))
    with pytest.raises(posse.Error, match="belongs to another file"):
        motion.clip(other[0])
    with pytest.raises(IndexError, match="clip 2: the file has 2 clips"):
        motion[2]


def test_a_rig_is_chosen(folder: Path) -> None:
    lines = [*packed_files.LINES, packed_files.line("c", 0, 8, 2.0, rig="rig-Hips-9-fedcba9876543210.safetensors")]
    packed_files.write(folder, lines)
    with pytest.raises(posse.Error, match=r"several rigs: rig-hip-2-\w+.safetensors \(2 clips\), rig-Hips-9-\w+.safetensors \(1 clips\)"):
        posse.PackedMotion(folder)
    for rig in (packed_files.RIG, packed_files.RIG.partition(".")[0], "rig-hip-2", "hip-2", "rig-hip-2-01", "hip-2-0"):
        assert len(posse.PackedMotion(folder, rig)) == 2
    assert len(posse.PackedMotion(folder / packed_files.RIG)) == 2
    few = [packed_files.line(f"d{rig}", 0, 8, 2.0, rig=f"rig-few-{rig}-0123456789abcdef.safetensors") for rig in range(9)]
    packed_files.write(folder, [*few, *packed_files.LINES])
    with pytest.raises(posse.Error, match=r"several rigs: rig-hip-2-\w+.safetensors \(2 clips\), rig-few-0-.* and 2 more; choose one"):
        posse.PackedMotion(folder)
    packed_files.write(folder, lines)
    with pytest.raises(posse.Error, match="no rig 'knee'"):
        posse.PackedMotion(folder, "knee")
    with pytest.raises(FileNotFoundError):
        posse.PackedMotion(folder, "rig-Hips")


def test_an_index_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        posse.PackedMotion(tmp_path / "nowhere")
    with pytest.raises(posse.Error, match="index.jsonl is missing; expected the folder of `posse bake --format packed`"):
        posse.PackedMotion(tmp_path)
    (tmp_path / "part-00000-of-00002.packed").touch()
    with pytest.raises(posse.Error, match="has not been merged: run `posse bake --merge"):
        posse.PackedMotion(tmp_path)
    (tmp_path / "index.jsonl").touch()
    with pytest.raises(posse.Error, match="there are no clips"):
        posse.PackedMotion(tmp_path)


BAD_LINES: list[tuple[dict[str, Any], str]] = [
    ({"frames": 0}, "line 1: .*frames 0"),
    ({"frames": "3"}, "line 1: .*frames 3"),
    ({"first_row": -1}, "line 1: .*first_row -1"),
    ({"fps": 0}, "line 1: .*fps 0"),
    ({"rig": 7}, "line 1: .*7 is no text"),
    ({"source": None}, "line 1"),
    ({"first_row": 1}, "do not follow each other"),
    ({"frames": 2}, "do not follow each other"),
    ({"rest": 2}, "'rest_pos' has the shape"),
]


@pytest.mark.parametrize(("change", "message"), BAD_LINES)
def test_a_bad_index_is_an_error(folder: Path, change: dict[str, Any], message: str) -> None:
    packed_files.write(folder, [{**packed_files.LINES[0], **change}, packed_files.LINES[1]])
    with pytest.raises(posse.Error, match=message):
        posse.PackedMotion(folder / packed_files.RIG)


def test_a_line_that_is_no_json_is_an_error(folder: Path) -> None:
    with open(folder / "index.jsonl", "a") as file:
        file.write("{\n")
    with pytest.raises(posse.Error, match="index.jsonl, line 3: "):
        posse.PackedMotion(folder)


def rewritten(folder: Path, name: str, **entry: Any) -> None:
    """Changes an entry of the header."""
    path = folder / packed_files.RIG
    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    if entry:
        header[name] = {**header[name], **entry}
    else:
        del header[name]
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[end:])


BAD_ENTRIES: list[tuple[str, dict[str, Any], str]] = [
    ("pos", {"dtype": "F8_E4M3"}, "'pos' has the dtype 'F8_E4M3'"),
    ("pos", {"shape": [8, 2, 4]}, "'pos' has 192 bytes"),
    ("pos", {"shape": [8, 2, -3]}, "integers of 0 and more"),
    ("pos", {"shape": "823"}, "integers of 0 and more"),
    ("pos", {"shape": None}, "no dtype, shape and data_offsets"),
    ("pos", {"data_offsets": [0]}, "no dtype, shape and data_offsets"),
    ("pos", {"data_offsets": [10**9, 10**9 + 192]}, "'pos' has 192 bytes at 1000000000"),
    ("pos", {"shape": [4, 4, 3]}, r"'pos' has the shape \(4, 4, 3\) for 8 frames of 2 joints"),
    ("quat", {"shape": [8, 4, 2]}, r"'quat' has the shape \(8, 4, 2\)"),
    ("parents", {}, "has no array 'parents'"),
    ("__metadata__", {"format": "pt"}, "the format is 'pt' of version '1'; expected 'posse-packed'"),
    ("__metadata__", {"format_version": "2"}, "of version '2'"),
    ("__metadata__", {"unit_scale": "one"}, "unit_scale: could not convert"),
    ("__metadata__", {"joint_names": "hip"}, "joint_names is no list of names"),
]


@pytest.mark.parametrize(("name", "entry", "message"), BAD_ENTRIES)
def test_a_bad_header_is_an_error(folder: Path, name: str, entry: dict[str, Any], message: str) -> None:
    rewritten(folder, name, **entry)
    with pytest.raises(posse.Error, match=message):
        posse.PackedMotion(folder)


def test_damaged_files_are_errors(folder: Path, tmp_path: Path) -> None:
    path = folder / packed_files.RIG
    whole = path.read_bytes()
    for length in (0, 7, 8, 100, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(posse.Error, match=packed_files.RIG):
            posse.PackedMotion(folder)
    for head in (b"[1]", b"nonsense", b"[" * 100_000):
        path.write_bytes(len(head).to_bytes(8, "little") + head)
        with pytest.raises(posse.Error, match="header"):
            posse.PackedMotion(folder)
    # A joint above itself.
    place = whole.index(np.array([-1, 0], dtype="<i4").tobytes())
    path.write_bytes(whole[:place] + np.array([1, 0], dtype="<i4").tobytes() + whole[place + 8 :])
    with pytest.raises(posse.Error, match=r"the parents \[1, 0\] are no tree"):
        posse.PackedMotion(folder)


def test_what_is_written_stays_in_the_process(folder: Path, motion: posse.PackedMotion) -> None:
    whole = (folder / packed_files.RIG).read_bytes()
    motion.arrays["pos"][0] = 9
    assert motion.states(0, 0).pos.max() == 9
    assert (folder / packed_files.RIG).read_bytes() == whole
    assert posse.PackedMotion(folder).states(0, 0).pos.max() == 1


@pytest.mark.skipif(sys.platform == "win32", reason="maps of POSIX")
def test_a_system_that_promises_no_memory_maps_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = mmap.mmap

    def strict(number: int, size: int, **options: Any) -> mmap.mmap:
        if options.get("prot", 0) & mmap.PROT_WRITE:
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        return whole(number, size, **options)

    monkeypatch.setattr(mmap, "mmap", strict)
    motion = posse.PackedMotion(folder)
    assert not motion.arrays["pos"].flags.writeable
    np.testing.assert_array_equal(motion.arrays["pos"], packed_files.arrays()["pos"].astype("f4"))
    assert motion.states(0, 0).pos.max() == 1


def test_a_motion_is_pickled_as_paths(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    data = pickle.dumps(posse.PackedMotion(folder.name))
    assert len(data) < 1000
    monkeypatch.chdir("/")
    again = pickle.loads(data)
    np.testing.assert_array_equal(again.arrays["pos"], posse.PackedMotion(folder).arrays["pos"])
    assert pickle.loads(pickle.dumps(again[1])).name == "b" and again.clip(pickle.loads(pickle.dumps(again[1]))) is again[1]
    packed_files.write(folder, [packed_files.line("a", 0, 3, 2.0), packed_files.line("c", 3, 5, 8.0)])
    with pytest.raises(posse.Error, match="has changed since the motion was pickled; open it anew"):
        pickle.loads(data)
    packed_files.write(folder, posse_version="0.2.0")
    with pytest.raises(posse.Error, match="has changed since"):
        pickle.loads(data)
