"""Many clips at many times."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import rigs

import posse_animation as posse


def draw(library: posse.Library, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Random clips and times."""
    random = np.random.default_rng(5)
    return random.integers(0, len(library), rows), random.uniform(-0.2, 2.0, rows)


def assert_rows_are_samples(library: posse.Library, states: posse.Poses, ids: np.ndarray, times: np.ndarray) -> None:
    for clip in np.unique(ids):
        rows = ids == clip
        samples = library.sample(clip, times[rows], arrays=list(states.arrays))
        for name, array in states.arrays.items():
            assert array[rows].tobytes() == samples.arrays[name].tobytes(), (clip, name)


def test_rows_are_those_of_sample(library: posse.Library) -> None:
    ids, times = draw(library, 3000)
    states = library.states(ids, times, velocities=True)
    assert list(states.arrays) == ["pos", "quat", "linvel", "angvel"]
    assert (states.pos.shape, states.quat.shape) == ((3000, 24, 3), (3000, 24, 4))
    assert_rows_are_samples(library, states, ids, times)
    assert states.time.max() <= max(clip.duration for clip in library.clips)


def test_clips_of_several_skeletons_share_a_call(tmp_path: Path) -> None:
    motions = [rigs.Motion.random(24, 40, 1 / 60, seed) for seed in range(5)]
    for seed, motion in enumerate(motions):
        motion.offsets = motion.offsets + 0.01 * (seed % 3)
    library = posse.Library(*[motion.write(tmp_path / f"{seed}.bvh") for seed, motion in enumerate(motions)])
    assert [clip.skeleton for clip in library.clips] == [0, 1, 2, 0, 1]
    ids, times = draw(library, 2000)
    for threads in (1, 2, 3):
        states = library.states(ids, times, velocities=True, threads=threads)
        assert_rows_are_samples(library, states, ids, times)


def test_clips_of_several_numbers_of_joints_need_a_choice(takes: list[Path], slide: Path) -> None:
    library = posse.Library(takes[0], slide)
    with pytest.raises(posse.Error, match=r"row 0 has clip 0 of .*\(24, 3\).*but row 2 has clip 1 of .*slide.bvh") as caught:
        library.states([0, 0, 1], [0.0, 0.1, 0.2])
    assert "give clips with one number of joints, or `joints`" in str(caught.value)
    # Clips that no row has do not matter.
    assert library.states([1, 1], [0.0, 0.5]).pos.shape == (2, 3, 3)


def fork(path: Path, names: tuple[str, str]) -> Path:
    """Writes a file of a hip with the joints `left` at +X and `right` at -X, in this order."""
    offsets = {"left": "1 0 0", "right": "-1 0 0", "tail": "0 0 -1"}
    joints = "".join(f"JOINT {name}\n{{\nOFFSET {offsets[name]}\nCHANNELS 1 Yrotation\n}}\n" for name in names)
    root = f"ROOT hip\n{{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\n{joints}}}\n"
    path.write_text(f"HIERARCHY\n{root}MOTION\nFrames: 2\nFrame Time: 0.5\n0 0 0 0 0\n1 0 0 0 0\n")
    return path


def test_joints_in_another_order_are_refused(tmp_path: Path) -> None:
    one, other = fork(tmp_path / "one.bvh", ("left", "right")), fork(tmp_path / "other.bvh", ("right", "left"))
    library = posse.Library(one, other)
    message = r"row 0 has clip 0 of .*one.bvh whose joint 1 is 'left', but row 2 has clip 1 of .*other.bvh whose joint 1 is 'right'"
    with pytest.raises(posse.Error, match=message) as caught:
        library.states([0, 0, 1], [0.0, 0.1, 0.2])
    assert "give `joints`" in str(caught.value)
    with pytest.raises(posse.Error, match="row 0, 0 has clip 0 .* but row 1, 0 has clip 1 "):
        library.states([0, 1], np.zeros((2, 3)))
    states = library.states([0, 1], [0.0, 0.0], joints=["left", "hip", "right"])
    assert states.joint_names == ("left", "hip", "right")
    np.testing.assert_array_equal(states.pos, [[[1, 0, 0], [0, 0, 0], [-1, 0, 0]]] * 2)
    # The same number of joints, but one of another name.
    library = posse.Library(one, fork(tmp_path / "third.bvh", ("left", "tail")))
    with pytest.raises(posse.Error, match="whose joint 2 is 'right'.* whose joint 2 is 'tail'"):
        library.states([0, 1], [0.0, 0.0])
    assert library.states([0, 1], [0.0, 0.0], joints=["hip", "left"]).pos.shape == (2, 2, 3)


def test_times_have_any_shape(library: posse.Library) -> None:
    ids, times = np.array([0, 3, 5]), np.random.default_rng(4).uniform(0, 1, (3, 7))
    windows = library.states(ids, times, velocities=True)
    assert (windows.pos.shape, windows.angvel.shape, windows.time.shape) == ((3, 7, 24, 3), (3, 7, 24, 3), (3, 7))
    rows = library.states(np.repeat(ids, 7), times.ravel(), velocities=True)
    every = library.states(np.repeat(ids, 7).reshape(3, 7), times, velocities=True, out=windows)
    for name, array in rows.arrays.items():
        assert windows.arrays[name].tobytes() == array.tobytes() == every.arrays[name].tobytes(), name
    # The order in memory of the times does not matter.
    turned = np.asfortranarray(times)
    assert library.states(ids[:, None], turned).pos.tobytes() == windows.pos.tobytes()
    one = library.states(2, 0.3)
    assert one.pos.shape == (24, 3) and one.pos.tobytes() == library.states([2], [0.3]).pos.tobytes()
    with pytest.raises(ValueError, match=r"clips have the shape \(2,\) and times \(3, 7\); expected a clip per time"):
        library.states([0, 1], times)
    with pytest.raises(posse.Error, match=r"clips\[1, 0\] is 9; the library has 6 clips"):
        library.states([[0], [9], [1]], times)


def test_clips_are_names_clips_and_indices(library: posse.Library, worm: Path) -> None:
    first, second = library.clips[:2]
    expected = library.states(np.array([0, 1], dtype=np.uint16), [0.1, 0.2]).pos.tobytes()
    assert library.states([0, second], [0.1, 0.2]).pos.tobytes() == expected
    assert library.states((clip for clip in (first, second)), (0.1, 0.2)).pos.tobytes() == expected
    named = posse.Library(worm)
    assert named.states("grow", [0.1, 0.2]).pos.tobytes() == named.states(["grow", 1], [0.1, 0.2]).pos.tobytes()
    assert library.states(np.int64(1), [0.1, 0.1]).pos.tobytes() == library.states([1, 1], [0.1, 0.1]).pos.tobytes()


def test_clips_are_checked(library: posse.Library) -> None:
    with pytest.raises(ValueError, match=r"clips have the shape \(2,\) and times \(3,\); expected a clip per time"):
        library.states([0, 1], [0.0, 0.1, 0.2])
    for ids in ([0, 6], np.array([0, 6]), np.array([0, -7])):
        with pytest.raises(posse.Error, match="the library has 6 clips"):
            library.states(ids, [0.0, 0.1])
    with pytest.raises(ValueError, match=r"clips have the shape \(1, 2\)"):
        library.states(np.array([[0, 1]]), [0.0, 0.1])
    with pytest.raises(TypeError, match="a clip is a Clip, a name or an index, not float"):
        library.states(np.array([0.0, 1.0]), [0.0, 0.1])


def test_no_rows_are_no_poses(library: posse.Library) -> None:
    assert library.states([], []).pos.shape == (0, 24, 3)


def test_velocities_use_the_rate_of_each_clip(tmp_path: Path) -> None:
    motions = [rigs.Motion.random(6, 30, frame_time, 1) for frame_time in (1 / 30, 1 / 120)]
    library = posse.Library(*[motion.write(tmp_path / f"{i}.bvh") for i, motion in enumerate(motions)])
    assert len({clip.skeleton for clip in library.clips}) == 1
    states = library.states([0, 1], [0.1, 0.1], arrays=["pos"], velocities=True)
    for row, step in enumerate((1 / 30, 1 / 120)):
        ends = library.states([row, row], [0.1 - step, 0.1 + step], arrays=["pos"]).pos.astype(float)
        np.testing.assert_allclose(states.linvel[row], (ends[1] - ends[0]) / (2 * step), atol=1e-3)
    one = library.states([0, 1], [0.1, 0.1], velocities=True, fps=30)
    assert one.linvel[0].tobytes() == states.linvel[0].tobytes()
    assert one.linvel[1].tobytes() != states.linvel[1].tobytes()
