"""The arrays of this package are those of the command of the same checkout, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import numpy as np
import pytest
import rigs

import posse_animation as posse

Command = Callable[..., str]
ARRAYS = "pos quat linvel angvel local_pos local_quat local_scale skin weights properties root rot6d local_rot6d root_motion".split()


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


def test_a_range_is_that_of_bake(command: Command, takes: list[Path]) -> None:
    (archive,) = baked(command, takes[0], "--arrays", "pos,linvel", "--fps", 50, "--range", "0.31,0.9").values()
    found = posse.Library(takes[0]).bake(0, 50, range=(0.31, 0.9), arrays=["pos", "linvel"])
    assert found.pos.tobytes() == archive["pos"].tobytes() and found.linvel.tobytes() == archive["linvel"].tobytes()
    # The command counts from the start of the range.
    assert found.time[0] == 0.31 and len(found) == 30
    np.testing.assert_allclose(found.time - 0.31, archive["time"], rtol=0, atol=1e-12)
    whole = posse.Library(takes[0]).bake(0, range=(-1, 99))
    assert whole.pos.tobytes() == posse.Library(takes[0]).bake(0).pos.tobytes()
    with pytest.raises(posse.Error, match="ends before it starts"):
        posse.Library(takes[0]).bake(0, range=(0.5, 0.4))


def standing(path: Path) -> Path:
    """Writes a human of a second that stands for half of it, and is half a metre higher for the other."""
    head, _, motion = rigs.human(path).read_text().partition("MOTION")
    columns = len(motion.strip().splitlines()[2].split())
    rows = [["0", "0.9" if frame < 30 else "1.4"] + ["0"] * (columns - 2) for frame in range(60)]
    lines = "\n".join(map(" ".join, rows))
    path.write_text(f"{head}MOTION\nFrames: 60\nFrame Time: {1 / 60}\n{lines}\n")
    return path


@pytest.mark.parametrize("fps", [None, 30.0, 10.0])
def test_contacts_are_those_of_bake(command: Command, tmp_path: Path, fps: float | None) -> None:
    options = [] if fps is None else ["--fps", fps]
    for file in (standing(tmp_path / "standing.bvh"), rigs.human(tmp_path / "walking.bvh", frames=60, forward=0.01)):
        (archive,) = baked(command, file, "--arrays", "pos,contact", *options).values()
        found = posse.Library(file).bake(0, fps, arrays=["pos", "contact"])
        assert found.contact.shape == (len(found), 2) and found.contact.dtype == np.float32
        np.testing.assert_array_equal(found.contact, archive["contact"].astype(np.float32))
        assert found.contact_feet == tuple(archive["contact_feet"].tolist()) == ("LeftFoot", "RightFoot")


def test_contacts_are_where_feet_stand(tmp_path: Path, takes: list[Path]) -> None:
    library = posse.Library(standing(tmp_path / "standing.bvh"))
    contact = library.bake(0, arrays=["contact"]).contact
    assert (contact[:28] == 1).all() and (contact[32:] == 0).all()
    # At any times, from the same frames.
    states = library.states(0, np.array([[0.1, 0.2], [0.3, 0.9]]), arrays=["contact"])
    assert states.contact.tolist() == [[[1, 1], [1, 1]], [[1, 1], [0, 0]]]
    assert states.contact_feet == ("LeftFoot", "RightFoot")
    # A rig whose joints have no names of a human has no feet.
    assert posse.Library(takes[0]).bake(0, arrays=["contact"]).contact.shape == (61, 0)


def test_mirror_images_are_those_of_bake(command: Command, tmp_path: Path) -> None:
    human = rigs.human(tmp_path / "human.bvh")
    archives = baked(command, human, "--mirror", "--arrays", "pos,quat,local_quat")
    original = posse.Library(human)
    both = original.mirror()
    assert [clip.name for clip in both] == ["human", "human_mirror"] == list(archives)
    for clip, archive in zip(both, archives.values()):
        assert_equal(both.bake(clip, arrays=["pos", "quat", "local_quat"]), archive)
    # The joints of one side are where those of the other are, reflected.
    sides = ["LeftHand", "RightHand", "LeftToeBase", "RightToeBase", "Head"]
    others = ["RightHand", "LeftHand", "RightToeBase", "LeftToeBase", "Head"]
    found = both.bake(1, arrays=["pos"], joints=sides).pos
    np.testing.assert_allclose(found, original.bake(0, arrays=["pos"], joints=others).pos * [-1, 1, 1], rtol=0, atol=1e-5)


def test_some_clips_get_mirror_images(tmp_path: Path) -> None:
    one, two = rigs.human(tmp_path / "one.bvh"), rigs.human(tmp_path / "two.bvh", frames=11)
    library = posse.Library(one, two)
    images = library.mirror([1])
    assert [clip.name for clip in images] == ["one", "two", "two_mirror"]
    assert [clip.file for clip in images] == [str(one), str(two), str(two)]
    assert images.clips[2].skeleton == images.clips[1].skeleton and images.clips[2].frames == 11
    # An image of an image is the original.
    twice = images.mirror(["two_mirror"])
    np.testing.assert_allclose(twice.bake(3).pos, library.bake(1).pos, rtol=0, atol=1e-5)
    # A retargeting keeps the order.
    both = library.mirror()
    names = ["one", "two", "one_mirror", "two_mirror"]
    assert [clip.name for clip in both] == [clip.name for clip in both.retarget(onto=one)] == names
    with pytest.raises(TypeError, match="is one clip"):
        library.mirror("one")
    with pytest.raises(posse.Error, match="the library has no clips"):
        posse.Library().mirror()
    # A rig without sides is mirrored in itself, which is a warning.
    slide = tmp_path / "slide.bvh"
    slide.write_text(rigs.SLIDE)
    with pytest.warns(posse.RetargetWarning) as record:
        posse.Library(slide).mirror()
    assert str(record[0].message).startswith(f"{slide}: mirror image: no joint has a partner")
    assert record[0].filename == __file__
    with pytest.raises(posse.Error, match="no joint has a partner"):
        posse.Library(slide).mirror(strict=True)


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
