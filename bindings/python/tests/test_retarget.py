"""Clips on the skeletons of other files."""

from __future__ import annotations

import json
import typing
import warnings
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
import rigs

import posse_animation as posse
from posse_animation._retarget import JointPair

Command = Callable[..., str]
TIMES = np.arange(0.0, 0.6, 0.05)
LEFT = ["Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftArm", "LeftForeArm", "LeftHand", "Head"]
OF_BIOVISION = ["Hips", "LeftHip", "LeftKnee", "LeftAnkle", "LeftShoulder", "LeftElbow", "LeftWrist", "Head"]


@pytest.fixture
def human(tmp_path: Path) -> Path:
    return rigs.human(tmp_path / "human.bvh")


def positions(library: posse.Library, joints: list[str]) -> np.ndarray:
    return library.sample(0, TIMES, arrays=["pos"], joints=joints).pos


def test_a_similar_human_moves_alike(human: Path, tmp_path: Path) -> None:
    # The target is the source times 100, with the names of another tool: so are all its positions.
    rig = rigs.human(tmp_path / "rig.bvh", rigs.BIOVISION, unit=100.0, frames=1)
    source = posse.Library(human)
    result = source.retarget(onto=rig)
    expected = 100.0 * positions(source, LEFT)
    np.testing.assert_allclose(positions(result, OF_BIOVISION), expected, rtol=0, atol=1e-3)
    (report,) = result.reports
    assert report["file"] == str(human)
    assert (report["units"], report["source_up"], report["facing"]) == ("metres to centimetres", "+Y", 0.0)
    assert abs(report["scale"] - 100.0) < 1e-3 and report["root"] == "Hips"
    assert report["aligned"] == report["warnings"] == report["left_out"] == []
    assert {"source": "LeftArm", "target": "LeftShoulder", "by": "role"} in report["joints"]
    words = typing.get_args(typing.get_type_hints(JointPair)["by"])
    assert "role" in words and {pair["by"] for pair in report["joints"]} <= set(words)
    assert [clip["ground"] for clip in report["clips"]] == [0.0]


def test_another_up_axis_and_front_become_those_of_the_target(human: Path, tmp_path: Path) -> None:
    turned = posse.Library(rigs.human(tmp_path / "turned.bvh", up="z"))
    result = turned.retarget(onto=human)
    np.testing.assert_allclose(positions(result, LEFT), positions(posse.Library(human), LEFT), rtol=0, atol=1e-5)
    assert result.reports[0]["source_up"] == "+Z"


def test_a_result_is_a_library(human: Path, tmp_path: Path) -> None:
    other = rigs.human(tmp_path / "other.bvh", rigs.BIOVISION, frames=11)
    source = posse.Library(human, other)
    assert source.reports == ()
    result = source.retarget(onto=human)
    assert [(clip.file, clip.fps, clip.duration, clip.skeleton) for clip in result.clips] == [
        (clip.file, clip.fps, clip.duration, 0) for clip in source.clips
    ]
    assert result.clips[1].joints == source.clips[0].joints
    assert [report["file"] for report in result.reports] == [str(human), str(other)]
    # Both clips on one skeleton: states mixes them.
    assert result.states([0, 1], [0.1, 0.2]).pos.shape == (2, len(source.clips[0].joints), 3)
    only = source.retarget(onto=human, clips=[1])
    assert [clip.file for clip in only.clips] == [str(other)]
    assert positions(only, LEFT).tobytes() == result.sample(1, TIMES, arrays=["pos"], joints=LEFT).pos.tobytes()
    # And on to the next.
    again = result.retarget(onto=other)
    np.testing.assert_allclose(positions(again, OF_BIOVISION), positions(source, LEFT), rtol=0, atol=1e-5)


CHOICES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"align": "off", "facing": "keep", "ground": "keep"}, ["--align", "off", "--facing", "keep", "--ground", "keep"]),
    ({"facing": 90, "translations": "root"}, ["--facing", "90", "--translations", "root"]),
    ({"source_up": "z", "ground": "zero"}, ["--source-up", "z", "--ground", "zero"]),
    ({"rotation_bound": 0.01, "reference": "0@0.2"}, ["--bound", "0.01", "--reference", "0@0.2"]),
    ({"reference": "pose.bvh#0@0.1", "target_pose": "pose.bvh"}, ["--reference", "pose.bvh#0@0.1", "--target-pose", "pose.bvh"]),
    ({"reference": "pose.bvh#pose@0.1"}, ["--reference", "pose.bvh#pose@0.1"]),
    ({"reference": "pose.bvh#rest"}, ["--reference", "pose.bvh#rest"]),
    ({"map": "map.json"}, ["--map", "map.json"]),
]


@pytest.mark.filterwarnings("ignore::posse_animation.RetargetWarning")
@pytest.mark.parametrize(("choices", "options"), CHOICES, ids=lambda value: "-".join(value) or "default")
@pytest.mark.parametrize("onto", ["demo", "rig.bvh"])
def test_poses_and_report_are_those_of_the_command(
    command: Command,
    human: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    onto: str,
    choices: dict[str, Any],
    options: list[str],
) -> None:
    if onto == "demo" and "target_pose" in choices:
        pytest.skip("the pose has the names of the other target")
    monkeypatch.chdir(tmp_path)
    rigs.human(tmp_path / "rig.bvh", unit=100.0)
    rigs.human(tmp_path / "pose.bvh", frames=5)
    (legs, partners) = (["LeftUpLeg", "LeftLeg"], ["thigh.L", "calf.L"] if onto == "demo" else ["LeftUpLeg", "LeftLeg"])
    root = {"Hips": "pelvis" if onto == "demo" else "Hips"}
    pairs = {"joints": {**root, **dict(zip(legs, partners))}, "translation": "scaled", "scale": 0.5}
    (tmp_path / "map.json").write_text(json.dumps(pairs))
    expected = json.loads(command("retarget", human, "--onto", onto, "-o", "out.glb", "--json", *options))
    result = posse.Library(human).retarget(onto=onto, **choices)
    (report,) = result.reports
    assert {name: value for name, value in report.items() if name != "file"} == expected
    written, joints = posse.Library("out.glb"), list(result.clips[0].joints)
    poses = [library.sample(0, TIMES, arrays=["pos", "quat"], joints=joints) for library in (result, written)]
    np.testing.assert_allclose(poses[0].pos, poses[1].pos, rtol=0, atol=1e-5 * np.abs(poses[1].pos).max())
    assert np.abs((poses[0].quat * poses[1].quat).sum(-1)).min() > 1 - 1e-6
    if "map" in choices:
        of_dictionary = posse.Library(human).retarget(onto=onto, map=pairs)
        assert of_dictionary.reports == result.reports
        assert [pair["by"] for pair in report["joints"]] == ["map"] * 3


def rotations(library: posse.Library, **choices: Any) -> np.ndarray:
    """The rotations of hips and a thigh in the first clip on the built-in human."""
    result = library.retarget(onto="demo", align="off", clips=[0], **choices)
    return result.sample(0, TIMES, arrays=["quat"], joints=["pelvis", "thigh.L"]).quat


@pytest.mark.filterwarnings("ignore::posse_animation.RetargetWarning")
def test_the_name_of_a_clip_comes_before_a_file_and_before_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The clip of a BVH file has the name of the file: this one has `@`, and its end is a number of seconds.
    library = posse.Library(rigs.human(tmp_path / "walk@0.3.bvh"))
    assert library.clips[0].name == "walk@0.3"
    at_0, at_3 = rotations(library, reference="0@0"), rotations(library, reference="0@0.3")
    assert np.abs(at_0 - at_3).max() > 0.01
    assert rotations(library, reference="walk@0.3").tobytes() == at_0.tobytes()
    assert rotations(library, reference="walk@0.3@0.3").tobytes() == at_3.tobytes()
    # As a file, too: its path and its clip may have `@`.
    file = tmp_path / "walk@0.3.bvh"
    np.testing.assert_allclose(rotations(library, reference=file), at_0, rtol=0, atol=1e-6)
    np.testing.assert_allclose(rotations(library, reference=f"{file}@0.3"), at_3, rtol=0, atol=1e-6)
    np.testing.assert_allclose(rotations(library, reference=f"{file}#walk@0.3"), at_0, rtol=0, atol=1e-6)
    np.testing.assert_allclose(rotations(library, reference=f"{file}#walk@0.3@0.3"), at_3, rtol=0, atol=1e-6)
    # A clip whose name is that of a file.
    monkeypatch.chdir(tmp_path)
    named = posse.Library(rigs.human(tmp_path / "pose.bvh.bvh"))
    (tmp_path / "pose.bvh").write_text(rigs.SLIDE)
    assert named.clips[0].name == "pose.bvh"
    with pytest.raises(posse.Error, match="reference pose.bvh: reference pose"):
        rotations(library, reference="pose.bvh")
    assert rotations(named, reference="pose.bvh").tobytes() == at_0.tobytes()


def test_a_pose_is_refused_as_by_the_command(human: Path, worm: Path, tmp_path: Path) -> None:
    library = posse.Library(human)
    for argument in ("reference", "target_pose"):
        for pose, message in {
            f"{worm}": r"worm\.gltf has several clips; add #CLIP, or #rest for its rest pose: 0 bend, 1 grow$",
            f"{worm}@0.1": "has several clips; add #CLIP",
            f"{worm}#wave": 'there is no clip "wave"; there are: 0 bend, 1 grow$',
            f"{human}@nan": 'the time "nan": expected a finite number',
            f"{human}#0@inf": 'the time "inf": expected a finite number',
            f"{human}@soon": 'the time "soon": expected a number',
            f"{tmp_path}/missing.glb": "there is no such file",
        }.items():
            choice: dict[str, Any] = {argument: pose}
            with pytest.raises(posse.Error, match=f"{argument}.*{message}"):
                library.retarget(onto=human, **choice)
    for pose in ("0@nan", "human@1e39", "wave@nan"):
        with pytest.raises(posse.Error, match=f"human.bvh: reference {pose}: the time .*: expected a finite number"):
            library.retarget(onto=human, reference=pose)
    with pytest.raises(posse.Error, match="reference: there is no such file, and there is no clip"):
        library.retarget(onto=human, reference=tmp_path / "missing.glb")


@pytest.mark.filterwarnings("ignore::posse_animation.RetargetWarning")
def test_the_file_of_a_pose_holds_for_all_files(human: Path, tmp_path: Path) -> None:
    other = rigs.human(tmp_path / "other.bvh", frames=11, forward=0.1)
    pose = f"{rigs.human(tmp_path / 'pose.bvh', frames=5)}@0.1"
    both = posse.Library(human, other).retarget(onto="demo", reference=pose)
    for index, file in enumerate((human, other)):
        alone = posse.Library(file).retarget(onto="demo", reference=pose)
        assert alone.reports == (both.reports[index],)
        assert alone.sample(0, TIMES).quat.tobytes() == both.sample(index, TIMES).quat.tobytes()


@pytest.mark.filterwarnings("ignore::posse_animation.RetargetWarning")
@pytest.mark.parametrize("argument", ["reference", "target_pose"])
def test_faults_of_the_file_of_a_pose_are_warned_of(human: Path, tmp_path: Path, argument: str) -> None:
    pose = rigs.human(tmp_path / "pose.bvh", frames=5)
    row = pose.read_text().splitlines()[-1]
    pose.write_text(pose.read_text().rstrip("\n") + f"\n{row}\n")
    choice: dict[str, Any] = {argument: pose}
    with pytest.warns(posse.FileWarning, match=r"pose\.bvh: .*Frames announces 5, but there are 6 rows"):
        posse.Library(human).retarget(onto=human, **choice)


def test_what_looks_wrong_is_a_warning(human: Path, tmp_path: Path) -> None:
    legs = Path(__file__).parent.parent / "examples/walk.bvh"
    library = posse.Library(legs)
    with pytest.warns(posse.RetargetWarning, match=r"walk.bvh: joints of the target without a partner .*Arm") as record:
        result = library.retarget(onto=human)
    # The warning names the line of the caller.
    assert record[0].filename == __file__
    (report,) = result.reports
    expected = [f"{legs}: {text}" for text in report["warnings"]]
    assert report["left_out"] and set(report["left_out"]) <= set(report["warnings"])
    assert [str(each.message) for each in record] == expected
    with pytest.raises(posse.Error, match="walk.bvh: joints of the target without a partner"):
        library.retarget(onto=human, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        posse.Library(human).retarget(onto=human, strict=True)


def test_what_cannot_be_done_is_an_error(human: Path, slide: Path, takes: list[Path], tmp_path: Path) -> None:
    library = posse.Library(human)
    with pytest.raises(posse.Error, match=r"take0.bvh: no joint has a partner in the built-in human; name pairs"):
        posse.Library(takes[0]).retarget(onto="demo")
    with pytest.raises(FileNotFoundError) as caught:
        library.retarget(onto=tmp_path / "missing.glb")
    assert caught.value.filename == str(tmp_path / "missing.glb")
    with pytest.raises(FileNotFoundError):
        library.retarget(onto=human, map=tmp_path / "missing.json")
    with pytest.raises(posse.Error, match="slide.bvh: .*reference pose"):
        library.retarget(onto=human, reference=slide)
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"align": "on"}, posse.Error, r"""align="on": expected auto or off$"""),
        ({"facing": "back"}, posse.Error, r"""facing="back": expected auto, keep or a number of degrees$"""),
        ({"facing": float("inf")}, posse.Error, "a facing of inf degrees"),
        ({"source_up": "w"}, posse.Error, r"""source_up="w": expected auto, x, y, z, -x, -y or -z$"""),
        ({"ground": 0}, TypeError, "ground"),
        ({"translations": "none"}, posse.Error, r"""translations="none": expected all or root$"""),
        ({"rotation_bound": 0.0}, posse.Error, "an error bound of 0: expected a finite number above 0"),
        ({"translation_bound": float("nan")}, posse.Error, "an error bound of NaN"),
        ({"reference": "wave"}, posse.Error, """human.bvh: reference: there is no clip "wave"; there are: """),
        ({"target_pose": "wave"}, posse.Error, "target_pose wave: there is no such file; expected 'rest' or a .glb, .gltf"),
        ({"map": {"joints": {"Nobody": "Hips"}}}, posse.Error, "map: joints.Nobody: in the source, no joint is named"),
        ({"map": {"Hips": "Hips"}}, posse.Error, "map: .*unknown field `Hips`"),
        ({"map": {"joints": {}}}, posse.Error, "no joint has a partner"),
        ({"map": 3}, TypeError, "int"),
        ({"clips": []}, posse.Error, "clips is empty"),
        ({"clips": "walk"}, TypeError, "clips='walk' is one clip"),
        ({"clips": [7]}, posse.Error, "clip 7: the library has 1 clips"),
        ({"threads": 0}, ValueError, "threads=0; expected 1 or more"),
    ]
    for arguments, error, message in cases:
        with pytest.raises(error, match=message):
            library.retarget(onto=human, **arguments)
    with pytest.raises(posse.Error, match="clips is empty|the library has no clips"):
        posse.Library().retarget(onto=human)
