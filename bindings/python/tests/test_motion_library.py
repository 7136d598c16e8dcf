"""States by the calls of programs for motion imitation."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import numpy as np
import packed_files
import pytest
import rigs

import posse_animation as posse

HALF = np.sqrt(0.5)


@pytest.fixture
def motion(tmp_path: Path) -> posse.PackedMotion:
    return posse.PackedMotion(packed_files.write(tmp_path / "baked"))


def assert_worked_by_hand(state: dict[str, Any], row: int) -> None:
    """The second frame of clip `a`: 45 degrees about y, and 30 degrees of the hand about its own x, at 90 and 60 per second."""
    yaw, bend = packed_files.about(1, np.radians(45)), packed_files.about(0, np.radians(30))
    expected = {
        "root_pos": [1, 1, 0],
        "root_rot": yaw,
        "dof_pos": [np.radians(30), 0, 0],
        "root_vel": [2, 0, 0],
        "root_ang_vel": [0, np.pi / 2, 0],
        "dof_vel": [np.pi / 3, 0, 0],
        "local_rot": [yaw, bend],
        "rg_pos": [[1, 1, 0], [1 + HALF, 1, -HALF]],
        "rb_rot": [yaw, rigs.multiply(yaw, bend)],
        "body_vel": [[2, 0, 0], [2 - np.pi / 2 * HALF, 0, -np.pi / 2 * HALF]],
        "body_ang_vel": [[0, np.pi / 2, 0], [np.pi / 3 * HALF, np.pi / 2, -np.pi / 3 * HALF]],
    }
    for name, numbers in expected.items():
        np.testing.assert_allclose(np.asarray(state[name])[row], numbers, atol=1e-6, err_msg=name)


def test_states_are_those_worked_by_hand(motion: posse.PackedMotion) -> None:
    motions = posse.MotionLibrary(motion)
    assert motions.num_motions() == len(motions) == 2 and motions.body_names == ("hip", "hand")
    state = motions.get_motion_state(np.array([1, 0]), np.array([0.25, 0.5]))
    assert {name: array.shape for name, array in state.items()} == {
        "root_pos": (2, 3),
        "root_rot": (2, 4),
        "dof_pos": (2, 3),
        "root_vel": (2, 3),
        "root_ang_vel": (2, 3),
        "dof_vel": (2, 3),
        "local_rot": (2, 2, 4),
        "rg_pos": (2, 2, 3),
        "rb_rot": (2, 2, 4),
        "body_vel": (2, 2, 3),
        "body_ang_vel": (2, 2, 3),
    }
    assert all(array.dtype == np.float32 for array in state.values())
    assert_worked_by_hand(state, 1)
    np.testing.assert_allclose(state["root_pos"][0], [0, 1, 1], atol=1e-6)
    np.testing.assert_allclose(state["dof_pos"][0], [0, 0, 0], atol=1e-6)
    # Times are clamped, and an offset moves all bodies.
    late = motions.get_motion_state([1], [9.0], offset=[[10, 0, 0]])
    np.testing.assert_allclose(late["rg_pos"][0], [[10, 1, 2], [11, 1, 2]], atol=1e-6)
    np.testing.assert_allclose(late["root_pos"][0], [10, 1, 2], atol=1e-6)


def test_a_root_is_moved_without_its_bodies(motion: posse.PackedMotion) -> None:
    state = posse.MotionLibrary(motion).get_motion_state([1, 0], [0.25, 0.5])
    for name in ("root_pos", "root_rot", "root_vel", "root_ang_vel"):
        state[name] += 5
    for name in ("rg_pos", "rb_rot", "body_vel", "body_ang_vel"):
        assert state[name].max() < 5, name
    assert_worked_by_hand(posse.MotionLibrary(motion).get_motion_state([1, 0], [0.25, 0.5]), 1)


def test_options_change_the_states(motion: posse.PackedMotion) -> None:
    plain = posse.MotionLibrary(motion).get_motion_state([0], [0.5])
    w_first = posse.MotionLibrary(motion, quaternions="wxyz", key_bodies=["hand"]).get_motion_state([0], [0.5])
    for name in ("root_rot", "rb_rot", "local_rot"):
        np.testing.assert_array_equal(w_first[name], np.roll(plain[name], 1, -1))
    np.testing.assert_array_equal(w_first["dof_pos"], plain["dof_pos"])
    np.testing.assert_array_equal(w_first["key_pos"], plain["rg_pos"][:, 1:])
    # The hand alone is a root.
    hand = posse.MotionLibrary(motion, joints=["hand"]).get_motion_state([0], [0.5])
    np.testing.assert_array_equal(hand["root_pos"], plain["rg_pos"][:, 1])
    np.testing.assert_allclose(hand["local_rot"], plain["rb_rot"][:, 1:], atol=1e-7)
    assert hand["dof_pos"].shape == (1, 0)
    some = posse.MotionLibrary(motion, clips=["b"])
    assert some.num_motions() == 1
    np.testing.assert_allclose(some.get_motion_state([0], [0.25])["root_pos"], [[0, 1, 1]], atol=1e-6)


def test_files_with_w_first_are_read(tmp_path: Path, motion: posse.PackedMotion) -> None:
    folder = packed_files.write(tmp_path / "wxyz", quaternion_order="wxyz")
    turned = packed_files.tensors()
    turned["quat"] = np.roll(turned["quat"], 1, -1)
    turned["rest_quat"] = np.roll(turned["rest_quat"], 1, -1)
    packed_files.safetensors(folder / packed_files.RIG, turned, packed_files.metadata(quaternion_order="wxyz"))
    w_first = posse.PackedMotion(folder)
    state = posse.MotionLibrary(w_first).get_motion_state([1, 0], [0.25, 0.5])
    assert_worked_by_hand(state, 1)
    np.testing.assert_allclose(w_first.rest_pose("b").pos, motion.rest_pose("b").pos, atol=1e-7)
    np.testing.assert_allclose(w_first.rest_pose("b").quat, np.roll(motion.rest_pose("b").quat, 1, -1), atol=1e-7)


def test_motions_and_times_are_drawn(motion: posse.PackedMotion) -> None:
    motions = posse.MotionLibrary(motion, seed=3)
    # 1 s and 0.5 s.
    assert motions.get_motion_length().tolist() == [1.0, 0.5] and motions.get_motion_length([1, 1, 0]).tolist() == [0.5, 0.5, 1]
    assert motions.get_total_length() == 1.5
    ids = motions.sample_motions(4096)
    assert ids.shape == (4096,) and ids.dtype == np.int64 and abs(ids.mean() - 0.5) < 0.04
    times = motions.sample_time(ids)
    length = motions.get_motion_length(ids)
    assert times.dtype == np.float32 and (times >= 0).all() and (times <= length).all()
    assert abs((times / length).mean() - 0.5) < 0.03
    early = motions.sample_time(ids, truncate_time=0.75)
    assert (early[ids == 1] == 0).all() and 0.2 < early[ids == 0].max() <= 0.25
    assert posse.MotionLibrary(motion, seed=3).sample_motions(4096).tolist() == ids.tolist()
    assert posse.MotionLibrary(motion, seed=4).sample_motions(4096).tolist() != ids.tolist()
    by_length = posse.MotionLibrary(motion, weights="length").sample_motions(4096)
    assert abs(by_length.mean() - 1 / 3) < 0.04
    assert (posse.MotionLibrary(motion, weights=[0, 1]).sample_motions(64) == 1).all()
    with pytest.raises(ValueError, match="truncate_time=-1"):
        motions.sample_time(ids, -1)


def test_what_cannot_be_given_is_an_error(motion: posse.PackedMotion, tmp_path: Path) -> None:
    for arguments, message in (
        ({"quaternions": "xyz"}, "quaternions='xyz'"),
        ({"key_bodies": ["knee"]}, r"key_bodies \['knee'\] are no joints"),
        ({"clips": []}, "there are no clips"),
        ({"weights": "frames"}, "weights='frames'; expected 'length', 'clips'"),
        ({"up": "z"}, "up='z', but"),
        ({"joints": ["knee"]}, "no joints of"),
    ):
        with pytest.raises(posse.Error, match=message):
            posse.MotionLibrary(motion, **arguments)  # type: ignore[arg-type]
    still = packed_files.tensors()
    del still["linvel"]
    folder = packed_files.write(tmp_path / "still")
    packed_files.safetensors(folder / packed_files.RIG, still, packed_files.metadata())
    with pytest.raises(posse.Error, match="no array 'linvel'.*--arrays"):
        posse.MotionLibrary(posse.PackedMotion(folder))


def test_motions_and_times_that_are_none_are_errors(motion: posse.PackedMotion) -> None:
    for device in (None, "cpu"):
        taken: Callable[[Any], Any] = np.asarray
        if device is not None:
            taken = pytest.importorskip("torch", reason="SKIPPED: PyTorch is not installed").tensor
        motions = posse.MotionLibrary(motion, device=device)
        ids, times = taken([0, 1]), taken([0.0, 0.25])
        for wrong in (2, -1):
            message = f"motion_ids has {wrong}; there are 2 motions"
            for call in (motions.get_motion_length, motions.sample_time, lambda ids: motions.get_motion_state(ids, times)):
                with pytest.raises(posse.Error, match=message):
                    call(taken([1, wrong]))
        for time in (float("nan"), float("inf")):
            with pytest.raises(posse.Error, match=f"motion_times has {time}; expected finite numbers"):
                motions.get_motion_state(ids, taken([0.25, time]))
        # One motion, without an axis, and times outside of it, which are clamped.
        assert motions.get_motion_state(taken(1), taken(-3.0))["rg_pos"].tolist() == [[0, 1, 0], [1, 1, 0]]


def test_libraries_are_evaluated_themselves(takes: list[Path]) -> None:
    library = posse.Library(takes)
    motions = posse.MotionLibrary(library, clips=[2, library[0]], up="z", scale=0.01)
    ids, times = np.array([1, 0, 1]), np.array([0.123, 0.5, 7.0])
    state = motions.get_motion_state(ids, times)
    expected = library.states([0, 2, 0], times, velocities=True, up="z", scale=0.01)
    np.testing.assert_array_equal(state["rg_pos"], expected.pos)
    np.testing.assert_array_equal(state["rb_rot"], expected.quat)
    np.testing.assert_array_equal(state["body_ang_vel"], expected.angvel)
    # Relative to the parent, all joints but the root are those of the file.
    local = library.states([0, 2, 0], times, arrays=["local_quat"]).local_quat[:, 1:]
    cosines = np.abs((state["local_rot"][:, 1:] * local).sum(-1))
    assert cosines.min() > 1 - 1e-6


def test_tables_are_close_to_libraries(takes: list[Path], tmp_path: Path, command: Callable[..., str]) -> None:
    command("bake", *takes, "-o", tmp_path / "baked", "--format", "packed", "--arrays", "pos,quat,linvel,angvel")
    packed, library = posse.PackedMotion(tmp_path / "baked"), posse.Library(takes)
    assert [clip.name for clip in packed] == [clip.name for clip in library]
    random = np.random.default_rng(0)
    ids = random.integers(0, len(packed), 500)
    frames = random.integers(0, 60, 500) / 60
    for times, bound in ((frames, 1e-5), (frames + 0.4 / 60, 0.02)):
        found = posse.MotionLibrary(packed).get_motion_state(ids, times)
        expected = posse.MotionLibrary(library).get_motion_state(ids, times)
        for name in ("rg_pos", "dof_pos"):
            assert np.abs(found[name] - expected[name]).max() < bound, name


@pytest.mark.parametrize(("clips", "joints"), [(None, None), (["b"], None), (None, ["hip", "hand"]), (["a"], ["hip", "hand"])])
def test_tensors_are_the_same_numbers(motion: posse.PackedMotion, clips: list[str] | None, joints: list[str] | None) -> None:
    torch = pytest.importorskip("torch", reason="SKIPPED: PyTorch is not installed")
    plain = posse.MotionLibrary(motion, clips=clips, joints=joints, seed=7, key_bodies=["hand"])
    tensors = posse.MotionLibrary(motion, clips=clips, joints=joints, seed=7, key_bodies=["hand"], device="cpu")
    ids = tensors.sample_motions(64)
    assert ids.dtype == torch.int64 and ids.tolist() == plain.sample_motions(64).tolist()
    times = tensors.sample_time(ids, truncate_time=0.1)
    assert times.dtype == torch.float32 and tensors.get_motion_length(ids).shape == (64,)
    found = tensors.get_motion_state(ids, times, offset=torch.ones(64, 3))
    expected = plain.get_motion_state(ids.numpy(), times.numpy(), offset=np.ones((64, 3), np.float32))
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert found[name].dtype == torch.float32, name
        np.testing.assert_allclose(found[name].numpy(), array, atol=2e-6, err_msg=name)
    if clips is None:
        at = torch.tensor([0.25, 0.5]), torch.tensor([1, 0])
        assert_worked_by_hand(tensors.get_motion_state(at[1], at[0]), 1)


def test_libraries_give_tensors(takes: list[Path]) -> None:
    torch = pytest.importorskip("torch", reason="SKIPPED: PyTorch is not installed")
    motions = posse.MotionLibrary(posse.Library(takes), device="cpu")
    ids = motions.sample_motions(8)
    state = motions.get_motion_state(ids, motions.sample_time(ids))
    assert state["rg_pos"].shape == (8, 24, 3) and isinstance(state["dof_vel"], torch.Tensor)
