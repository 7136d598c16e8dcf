"""The numbers and the form of arrays."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import rigs

import posse_animation as posse
from posse_animation._posse import frame_times

ALL = ["pos", "quat", "linvel", "angvel", "local_pos", "local_quat", "local_scale", "root"]
HALF = np.sqrt(0.5)


def same(found: np.ndarray, expected: object, tolerance: float = 1e-6) -> None:
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def test_a_slide_is_as_worked_out_by_hand(slide: Path) -> None:
    poses = posse.Library(slide).sample(0, [0.0, 0.25, 1.0], arrays=ALL)
    same(poses.pos[:, 0], [[0, 1, 0], [0.5, 1, 0], [2, 1, 0]])
    # At the end the hip is turned by 90 degrees about +Y, which takes +X to -Z and +Z to +X.
    same(poses.pos[0], [[0, 1, 0], [1, 1, 0], [1, 1, 2]])
    same(poses.pos[2], [[2, 1, 0], [2, 1, -1], [4, 1, -1]])
    turn = np.radians(22.5) / 2
    same(poses.quat[:, 1], [[0, 0, 0, 1], [0, np.sin(turn), 0, np.cos(turn)], [0, HALF, 0, HALF]])
    same(poses.local_quat[2], [[0, HALF, 0, HALF], [0, 0, 0, 1], [0, 0, 0, 1]])
    same(poses.local_pos[2], [[2, 1, 0], [1, 0, 0], [0, 0, 2]])
    same(poses.local_scale, np.ones((3, 3, 3)))
    same(poses.root[2], [2, 1, 0, 0, HALF, 0, HALF])
    same(poses.angvel, np.broadcast_to([0, np.pi / 2, 0], (3, 3, 3)), 1e-5)
    same(poses.linvel[:, 0], np.broadcast_to([2, 0, 0], (3, 3)), 1e-5)
    assert poses.time.tolist() == [0.0, 0.25, 1.0] and poses.time.dtype == np.float64
    assert (poses.joint_names, poses.parents.tolist()) == (("hip", "hand", "hand_end"), [-1, 0, 1])
    assert poses.fps is None and len(poses) == 3


def test_poses_are_those_of_a_loop_in_numpy(tmp_path: Path) -> None:
    motion = rigs.Motion.random(31, 50, 1 / 30, 3)
    library = posse.Library(motion.write(tmp_path / "motion.bvh"))
    times = np.random.default_rng(1).uniform(-0.1, 1.8, 200)
    order = [int(name[5:]) for name in library.clips[0].joints]
    poses = library.sample(0, times, arrays=["pos", "quat"])
    pos, quat = (array[:, order] for array in motion.model(np.clip(times, 0, None)))
    same(poses.pos, pos, 5e-6)
    assert np.abs((poses.quat * quat).sum(-1)).min() > 1 - 1e-6


def test_the_default_arrays_are_those_of_a_gltf_file(worm: Path) -> None:
    poses = posse.Library(worm).sample("bend", [0.0, 0.1])
    shapes = {name: array.shape for name, array in poses.arrays.items()}
    assert shapes == {
        "pos": (2, 4, 3),
        "quat": (2, 4, 4),
        "local_pos": (2, 4, 3),
        "local_quat": (2, 4, 4),
        "local_scale": (2, 4, 3),
        "skin": (2, 3, 4, 4),
        "weights": (2, 2),
        "properties": (2, 4),
    }
    assert all(array.dtype == np.float32 and array.flags.c_contiguous for array in poses.arrays.values())
    assert poses.skin is poses.skins[0]
    # The last row of a matrix that moves points.
    same(poses.skin[:, :, 3], np.broadcast_to([0, 0, 0, 1], (2, 3, 4)))
    assert repr(poses).startswith("Poses(pos=(2, 4, 3), quat=(2, 4, 4)")


def test_several_skins_have_an_array_each(tmp_path: Path) -> None:
    poses = posse.Library(rigs.worm(tmp_path / "two.gltf", skins=2)).sample(0, [0.0])
    assert [array.shape for array in poses.skins] == [(1, 3, 4, 4)] * 2
    assert poses.skins[1] is poses.arrays["skin_1"]
    with pytest.raises(AttributeError, match="the skeleton has 2 skins; read them from `skins`"):
        poses.skin


def test_missing_arrays_are_attribute_errors(slide: Path) -> None:
    poses = posse.Library(slide).sample(0, [0.0])
    assert poses.skins == () and not hasattr(poses, "skin")
    with pytest.raises(AttributeError, match=r"no array 'linvel'; ask for it by arrays=\[..., 'linvel'\]"):
        poses.linvel
    with pytest.raises(TypeError):
        poses.arrays["pos"] = poses.pos  # type: ignore[index]


def test_joints_are_those_that_are_named(slide: Path) -> None:
    library = posse.Library(slide)
    every = library.sample(0, [0.3])
    poses = library.sample(0, [0.3], joints=["hand_end", "hip"])
    assert (poses.joint_names, poses.parents.tolist()) == (("hand_end", "hip"), [1, -1])
    assert poses.pos.tobytes() == np.ascontiguousarray(every.pos[:, [2, 0]]).tobytes()
    # Local values stay those relative to the parent in the file.
    assert poses.local_pos.tobytes() == np.ascontiguousarray(every.local_pos[:, [2, 0]]).tobytes()
    with pytest.raises(posse.Error, match='no joint is named "hnd"; the nearest name'):
        library.sample(0, [0.3], joints=["hnd"])
    with pytest.raises(TypeError, match=r"joints='hip' is one name"):
        library.sample(0, [0.3], joints="hip")


def test_space_is_turned_and_scaled(slide: Path) -> None:
    library = posse.Library(slide)
    plain = library.sample(0, [0.0, 0.6], arrays=ALL)
    poses = library.sample(0, [0.0, 0.6], arrays=ALL, up="z", scale=100, quaternions="wxyz")
    x, y, z = np.moveaxis(plain.pos, -1, 0)
    same(poses.pos, 100 * np.stack([x, -z, y], axis=-1), 1e-4)
    x, y, z = np.moveaxis(plain.linvel, -1, 0)
    same(poses.linvel, 100 * np.stack([x, -z, y], axis=-1), 1e-3)
    turn = np.broadcast_to([HALF, 0, 0, HALF], plain.quat.shape)
    expected = rigs.multiply(turn, plain.quat)
    dots = np.abs((expected[..., [3, 0, 1, 2]] * poses.quat).sum(-1))
    assert dots.min() > 1 - 1e-6
    same(poses.local_pos[0, 1:], [[100, 0, 0], [0, 0, 200]], 1e-4)


def test_options_are_checked(slide: Path) -> None:
    library = posse.Library(slide)
    for options, message in [
        ({"arrays": ["position"]}, 'there is no array "position"; expected one of pos, quat'),
        ({"up": "x"}, 'up="x"; expected'),
        ({"quaternions": "xyz"}, 'quaternions="xyz"; expected'),
        ({"scale": 0}, "the scale is 0"),
        ({"scale": float("nan")}, "the scale is NaN"),
        ({"fps": 0}, "fps=0; expected a finite number above 0"),
        ({"wrap": "mirror"}, "wrap='mirror'; expected 'clamp' or 'loop'"),
        ({"threads": 0}, "threads=0; expected 1 or more"),
    ]:
        with pytest.raises(ValueError) as caught:
            library.sample(0, [0.0], **options)  # type: ignore[arg-type]
        assert message in str(caught.value)
    with pytest.raises(TypeError, match="arrays='pos' is one name"):
        library.sample(0, [0.0], arrays="pos")


def test_times_are_checked(slide: Path) -> None:
    library = posse.Library(slide)
    with pytest.raises(posse.Error, match=r"times\[1\] is nan; expected a finite number"):
        library.sample(0, [0.0, np.nan])
    with pytest.raises(posse.Error, match=r"times\[1, 0\] is inf; expected a finite number"):
        library.sample(0, [[0.0], [np.inf]])
    with pytest.raises(posse.Error, match="times is nan; expected a finite number"):
        library.sample(0, np.nan)
    with pytest.raises(TypeError, match="times have the dtype <U3"):
        library.sample(0, ["0.5"])
    assert library.sample(0, []).pos.shape == (0, 3, 3)
    assert library.sample(0, np.zeros((2, 0, 5))).pos.shape == (2, 0, 5, 3, 3)
    assert library.sample(0, 1.0).pos.tobytes() == library.sample(0, [1.0]).pos.tobytes()
    assert library.sample(0, 1.0).pos.shape == (3, 3)
    integers = library.sample(0, np.array([0, 1], dtype=np.int32))
    assert integers.pos.tobytes() == library.sample(0, [0.0, 1.0]).pos.tobytes()


def test_six_numbers_of_a_rotation_are_two_axes(slide: Path, tmp_path: Path) -> None:
    # At the end the hip is turned by 90 degrees about +Y, which takes +X to -Z and keeps +Y.
    poses = posse.Library(slide).sample(0, [1.0], arrays=["rot6d", "local_rot6d"])
    same(poses.rot6d, [[[0, 0, -1, 0, 1, 0]] * 3])
    same(poses.local_rot6d, [[[0, 0, -1, 0, 1, 0], [1, 0, 0, 0, 1, 0], [1, 0, 0, 0, 1, 0]]])
    motion = rigs.Motion.random(9, 20, 1 / 30, 4)
    poses = posse.Library(motion.write(tmp_path / "motion.bvh")).bake(
        0, arrays=["quat", "local_quat", "rot6d", "local_rot6d"], up="z"
    )
    for quaternions, numbers in ((poses.quat, poses.rot6d), (poses.local_quat, poses.local_rot6d)):
        axes = [np.broadcast_to(axis, (*quaternions.shape[:-1], 3)) for axis in ([1, 0, 0], [0, 1, 0])]
        expected = [rigs.rotate(quaternions.astype(float), axis) for axis in axes]
        same(numbers, np.concatenate(expected, axis=-1), 1e-6)


def test_root_motion_is_on_the_ground(slide: Path) -> None:
    library = posse.Library(slide)
    turn = np.radians(22.5) / 2
    poses = library.sample(0, [0.0, 0.25, 1.0], arrays=["root_motion"])
    yaw = [[0, 0, 0, 1], [0, np.sin(turn), 0, np.cos(turn)], [0, HALF, 0, HALF]]
    same(poses.root_motion, np.hstack([[[0, 0, 0], [0.5, 0, 0], [2, 0, 0]], yaw]))
    poses = library.sample(0, 1.0, arrays=["root_motion"], up="z", scale=10, quaternions="wxyz")
    same(poses.root_motion, [20, 0, 0, HALF, 0, 0, HALF], 1e-5)


def test_continuous_quaternions_keep_turning(tmp_path: Path) -> None:
    path = tmp_path / "spin.bvh"
    degrees = 50.0 * np.arange(16)
    rows = "\n".join(f"0 0 0 {angle}" for angle in degrees)
    head = "HIERARCHY\nROOT top\n{\nOFFSET 0 0 0\nCHANNELS 4 Xposition Yposition Zposition Yrotation\n}\n"
    path.write_text(f"{head}MOTION\nFrames: 16\nFrame Time: 0.1\n{rows}\n")
    library = posse.Library(path)
    half = np.radians(degrees) / 2
    zeros = np.zeros_like(half)
    expected = np.stack([zeros, np.sin(half), zeros, np.cos(half)], axis=-1)
    names = ["quat", "local_quat", "root", "root_motion"]
    poses = library.bake(0, arrays=names, quaternions="continuous")
    for found in (poses.quat[:, 0], poses.local_quat[:, 0], poses.root[:, 3:], poses.root_motion[:, 3:]):
        same(found, expected, 1e-5)
    # Each window begins with w >= 0: that from 300 degrees on has all signs changed.
    frames = np.array([[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]])
    windows = library.states(0, frames * 0.1, quaternions="continuous")
    same(windows.quat[:, :, 0], expected[frames] * [[[1]], [[-1]]], 1e-5)
    # So does each clip of a row of times.
    both = posse.Library(path, path)
    mixed = both.states([0, 0, 0, 1, 1], [0.0, 0.2, 0.4, 0.6, 0.7], quaternions="continuous")
    same(mixed.quat[:, 0], expected[[0, 2, 4, 6, 7]] * [[1], [1], [1], [-1], [-1]], 1e-5)
    same(library.sample(0, 0.6, quaternions="continuous").quat[0], -expected[6], 1e-5)
    assert library.states([], [], quaternions="continuous").quat.shape == (0, 1, 4)


def test_the_rest_pose_is_that_of_the_file(slide: Path, worm: Path) -> None:
    library = posse.Library(slide, worm)
    rest = library.rest_pose()
    same(rest.pos, [[0, 0, 0], [1, 0, 0], [1, 0, 2]])
    same(rest.bone_lengths, [0, 1, 2])
    same(rest.quat, [[0, 0, 0, 1]] * 3)
    # The nodes of the file are tip, middle, base and body: children before parents.
    rest = library.rest_pose("grow", arrays=["pos", "local_pos", "weights"], up="z", scale=2)
    same(rest.pos, 2 * np.array([[0.5, 0, 2.25], [0.5, 0, 1.25], [0, 0, 0.25], [0, 0, 0]]))
    same(rest.weights, [0.25, 0.5])
    same(library.rest_pose("grow", joints=["tip", "base"]).bone_lengths, [np.hypot(0.5, 2), 0])
    # Bones keep their lengths in a clip of rotations.
    moved = library.sample(0, [0.1, 0.7])
    same(moved.bone_lengths, [[0, 1, 2]] * 2)


def test_times_outside_of_a_clip(slide: Path) -> None:
    library = posse.Library(slide)
    clamped = library.sample(0, [-1.0, 1.5, 1e9])
    assert clamped.time.tolist() == [0.0, 1.0, 1.0]
    assert clamped.pos.tobytes() == library.sample(0, [0.0, 1.0, 1.0]).pos.tobytes()
    looped = library.sample(0, [-0.25, 1.5, 3.0], wrap="loop")
    assert looped.time.tolist() == [0.75, 0.5, 0.0]
    assert looped.pos.tobytes() == library.sample(0, [0.75, 0.5, 0.0]).pos.tobytes()


def test_velocities_are_differences_over_two_steps(slide: Path) -> None:
    # The hand is on a circle of radius 1: its velocity is a chord, not the tangent.
    library = posse.Library(slide)
    fps = 4.0
    poses = library.sample(0, [0.5, 0.0], arrays=["pos", "linvel", "angvel"], fps=fps)
    ends = library.sample(0, [0.25, 0.75, 0.0, 0.25], arrays=["pos"]).pos.astype(float)
    same(poses.linvel[0], (ends[1] - ends[0]) / 0.5, 1e-5)
    # One-sided at the start of the clip.
    same(poses.linvel[1], (ends[3] - ends[2]) / 0.25, 1e-5)
    same(poses.angvel[:, 2], [[0, np.pi / 2, 0]] * 2, 1e-5)


def test_frames_have_the_times_of_the_file(slide: Path) -> None:
    library = posse.Library(slide)
    poses = library.bake(0)
    assert (poses.time.tolist(), poses.fps) == ([0.0, 0.5, 1.0], 2.0)
    assert list(poses.arrays) == ["pos", "quat"]
    poses = library.bake(0, 3, arrays=["linvel"])
    assert poses.time.tolist() == [0.0, 1 / 3, 2 / 3, 1.0]
    same(poses.linvel[:, 0], [[2, 0, 0]] * 4, 1e-5)
    for fps in (0, -1, float("nan"), float("inf")):
        with pytest.raises(posse.Error, match="the frame rate is"):
            library.bake(0, fps)


def test_the_last_velocity_spans_a_whole_frame() -> None:
    # The last frame is at the duration, not at 1 s.
    before, at, after = frame_times(10.0, 0.9999)
    assert (len(at), at[-1], after[-1]) == (11, 0.9999, 0.9999)
    assert before[-1] == pytest.approx(0.8999, abs=1e-12)
    assert (before[0], before[-2]) == (0.0, 0.8)
    assert frame_times(10.0, 1.0)[0][-1] == 0.9


def test_morph_weights_have_names(tmp_path: Path) -> None:
    path = rigs.worm(tmp_path / "worm.gltf")
    unnamed = posse.Library(path)
    file = json.loads(path.read_text())
    file["meshes"][0]["extras"] = {"targetNames": ["thin", "thick"]}
    path.write_text(json.dumps(file))
    library = posse.Library(path)
    node = next(name for name, node in zip(library.clips[0].joints, file["nodes"]) if "mesh" in node)
    assert library.clips[0].weight_names == (f"{node}.thin", f"{node}.thick")
    assert unnamed.clips[0].weight_names == (f"{node}.0", f"{node}.1")
    poses = library.sample("bend", [0.0])
    assert poses.weight_names == library.clips[0].weight_names and poses.weights.shape == (1, 2)
    assert library.sample("bend", [0.0], arrays=["pos"]).weight_names == ()


def test_morph_weights_are_selected_by_name(tmp_path: Path) -> None:
    path = rigs.worm(tmp_path / "worm.gltf")
    file = json.loads(path.read_text())
    file["meshes"][0]["extras"] = {"targetNames": ["thin", "thick"]}
    path.write_text(json.dumps(file))
    library = posse.Library(path)
    names = library.clips[0].weight_names
    every = library.sample("bend", [0.0, 0.5])
    for morphs in (["thick", "thin"], [names[1], names[0]]):
        poses = library.sample("bend", [0.0, 0.5], morphs=morphs)
        assert poses.weight_names == (names[1], names[0])
        np.testing.assert_array_equal(poses.weights, every.weights[:, ::-1])
    assert library.bake("bend", arrays=["weights"], morphs=["thin"]).weights.shape[1] == 1
    assert library.states(["bend"], [0.5], arrays=["weights"], morphs=["thin"]).weights.shape == (1, 1)
    for morphs, arrays, saying in (
        (["wide"], ["weights"], 'no morph target "wide"; there are: '),
        (["thin", names[0]], ["weights"], "two names select the morph weight"),
        (["thin"], ["pos"], "there is no array of them"),
    ):
        with pytest.raises(posse.Error, match=saying):
            library.sample("bend", [0.0], arrays=arrays, morphs=morphs)
    with pytest.raises(TypeError, match="morphs='thin' is one name"):
        library.sample("bend", [0.0], morphs="thin")
