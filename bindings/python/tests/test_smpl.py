"""Motion of SMPL bodies in npz files, as NumPy writes them, and the same motion evaluated by NumPy in float64."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
import rigs

import posse_animation as posse

FINGERS = [20, 22, 23, 20, 25, 26, 20, 28, 29, 20, 31, 32, 20, 34, 35]
BODY = [-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19]
"""`kintree_table` of the models, from the pelvis to the wrists, and from the left wrist on in SMPL-H."""
SMPL_H = BODY + FINGERS + [21 if parent == 20 else parent + 15 for parent in FINGERS]
FRAMES, RATE = 40, 120.0


def motion(joints: int = 52, **others: Any) -> dict[str, Any]:
    """Random arrays as those of AMASS. The rotations have angles up to two half revolutions."""
    random = np.random.default_rng(joints)
    rest = random.normal(0, 0.3, (joints, 3))
    rest[0] = [0.0, -0.2, 0.03]
    return {
        "poses": random.normal(0, 1, (FRAMES, 3 * joints)).clip(-2, 2),
        "trans": random.normal(0, 1, (FRAMES, 3)),
        "J": rest,
        "betas": np.zeros(16),
        "gender": "female",
        "mocap_framerate": np.array(RATE),
        **others,
    }


def quaternions(vectors: np.ndarray) -> np.ndarray:
    """Quaternions xyzw of rotation vectors."""
    angle = np.linalg.norm(vectors, axis=-1, keepdims=True)
    axis = vectors / np.where(angle > 0, angle, 1)
    return np.concatenate([axis * np.sin(angle / 2), np.cos(angle / 2)], -1)


def expected(arrays: dict[str, Any], times: np.ndarray, parents: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """(T, J, 3) positions and (T, J, 4) rotations in model space, by slerp between the frames."""
    keys = quaternions(np.asarray(arrays["poses"], dtype=np.float64).reshape(FRAMES, -1, 3))
    frame = times * RATE
    first = np.minimum(frame.astype(int), FRAMES - 2)
    share = frame - first
    rest = arrays["J"]
    offsets = np.array([rest[joint] - (rest[parent] if parent >= 0 else 0) for joint, parent in enumerate(parents)])
    trans = arrays["trans"] + rest[0]
    root = trans[first] + (trans[first + 1] - trans[first]) * share[:, None]
    return rigs.forward(parents, offsets, root, rigs.slerp(keys[first], keys[first + 1], share[:, None, None]))


def check(path: Path, arrays: dict[str, Any], tolerance: float = 5e-5) -> None:
    times = np.array([0.0, 0.003, 0.1, 0.1041, (FRAMES - 1) / RATE])
    poses = posse.Library(path).sample(0, times, arrays=["pos", "quat"])
    assert poses.parents.tolist() == SMPL_H
    pos, quat = expected(arrays, times, SMPL_H)
    np.testing.assert_allclose(poses.pos, pos, rtol=0, atol=tolerance)
    np.testing.assert_allclose(np.abs((poses.quat * quat).sum(-1)), 1, rtol=0, atol=tolerance)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("form", ["double", "single", "big", "fortran"])
def test_poses_are_those_of_numpy(tmp_path: Path, save: Callable[..., None], form: str) -> None:
    arrays = motion()
    poses = arrays["poses"]
    arrays["poses"] = {
        "double": poses,
        "single": poses.astype(np.float32),
        "big": poses.astype(">f8"),
        "fortran": np.asfortranarray(poses),
    }[form]
    path = tmp_path / "walk.npz"
    save(path, **arrays)
    check(path, arrays)
    (clip,) = posse.Library(path).clips
    assert (clip.name, clip.fps, clip.frames) == ("walk", RATE, FRAMES)
    assert clip.joints[:3] == ("pelvis", "left_hip", "right_hip") and clip.joints[-1] == "right_thumb3"


def test_a_model_file_tells_where_joints_rest(tmp_path: Path) -> None:
    arrays = motion()
    rest = arrays.pop("J")
    # A body that stands with its arms to the sides.
    rest[[1, 7, 20, 21]] = [[0.1, 0, 0], [0.1, -0.8, 0], [0.7, 0.5, 0], [-0.7, 0.5, 0]]
    path, model = tmp_path / "walk.npz", tmp_path / "model.npz"
    np.savez(path, **arrays)
    np.savez(model, J=rest, f=np.zeros((4, 3), dtype=np.uint32))
    with pytest.warns(posse.FileWarning, match="those of an adult of 1.7 m"):
        posse.Library(path)
    poses = posse.Library(path, skeleton=model).sample(0, [0.0], arrays=["pos"])
    pos, _ = expected({**arrays, "J": rest}, np.array([0.0]), SMPL_H)
    np.testing.assert_allclose(poses.pos, pos, rtol=0, atol=2e-5)


def test_betas_change_the_shape_of_a_model_file(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    betas = random.normal(0, 1, 16)
    arrays = motion(betas=betas)
    rest = arrays.pop("J")
    rest[[1, 7, 20, 21]] = [[0.1, 0, 0], [0.1, -0.8, 0], [0.7, 0.5, 0], [-0.7, 0.5, 0]]
    directions = random.normal(0, 0.01, (52, 3, 16))
    path, model = tmp_path / "walk.npz", tmp_path / "model.npz"
    np.savez(path, **arrays)
    np.savez(model, J=rest, J_shapedirs=directions)
    poses = posse.Library(path, skeleton=model).sample(0, [0.0], arrays=["pos"])
    pos, _ = expected({**arrays, "J": rest + directions @ betas}, np.array([0.0]), SMPL_H)
    np.testing.assert_allclose(poses.pos, pos, rtol=0, atol=2e-5)


def test_pickles_are_refused_where_they_are_needed(tmp_path: Path) -> None:
    path = tmp_path / "walk.npz"
    # Arrays that are not needed may be pickles: AMASS has some.
    arrays = motion(markers_latent_vids=np.array({"a": 1}, dtype=object))
    np.savez(path, **arrays)
    check(path, arrays)
    np.savez(path, **{**arrays, "poses": np.array([None, 1], dtype=object)})
    with pytest.raises(posse.Error, match="walk.npz: poses.npy: it is an array of Python objects, a pickle"):
        posse.Library(path)


def test_a_bake_has_the_arrays_of_amass(command: Callable[..., str], tmp_path: Path) -> None:
    arrays = motion()
    path = tmp_path / "walk.npz"
    np.savez(path, **arrays)
    command("bake", path, "-o", tmp_path / "out", "--format", "smpl")
    baked = np.load(tmp_path / "out/walk.npz")
    assert baked["poses"].dtype == np.float64 and baked["mocap_framerate"] == RATE
    np.testing.assert_allclose(baked["trans"], arrays["trans"], rtol=0, atol=1e-5)
    np.testing.assert_allclose(baked["J"], arrays["J"], rtol=0, atol=1e-12)
    # Angles are at most half a revolution, so that the rotations are compared.
    found, wanted = (quaternions(poses.reshape(FRAMES, -1, 3)) for poses in (baked["poses"], arrays["poses"]))
    np.testing.assert_allclose(np.abs((found * wanted).sum(-1)), 1, rtol=0, atol=1e-10)
    assert (np.linalg.norm(baked["poses"].reshape(FRAMES, -1, 3), axis=-1) <= np.pi + 1e-9).all()
    np.testing.assert_array_equal(baked["poses"][:, :3], baked["root_orient"])
    np.testing.assert_array_equal(baked["poses"][:, 3:66], baked["pose_body"])
    np.testing.assert_array_equal(baked["poses"][:, 66:], baked["pose_hand"])
