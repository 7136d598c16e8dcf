"""Files into a library: clips, errors and warnings."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

import numpy as np
import pytest
import rigs

import posse_animation as posse


def test_clips_have_the_facts_of_their_files(slide: Path, worm: Path) -> None:
    library = posse.Library(slide, str(worm))
    walk, bend, grow = library.clips
    assert (walk.duration, walk.fps, walk.frames, walk.file) == (1.0, 2.0, 3, str(slide))
    assert (walk.joints, walk.parents) == (("hip", "hand", "hand_end"), (-1, 0, 1))
    assert (bend.name, bend.fps, bend.frames, bend.index) == ("bend", 20.0, 9, 1)
    assert (bend.duration, grow.duration) == (np.float32(0.4), np.float32(0.7))
    # Joints are in the order of the file, children before parents; keys without a rate have 30 frames per second.
    assert (bend.joints, bend.parents) == (("tip", "middle", "base", "body"), (1, 2, -1, -1))
    assert (grow.name, grow.fps, grow.frames) == ("grow", 30.0, 22)
    assert (walk.skeleton, bend.skeleton, grow.skeleton) == (0, 1, 1)
    assert repr(bend).startswith("Clip(index=1, name='bend', duration=0.4, fps=20, joints=4")
    assert (len(library), repr(library)) == (3, "Library(3 clips, 2 skeletons)")


def test_the_rate_of_a_bvh_file_is_what_its_frame_time_prints(tmp_path: Path) -> None:
    path = tmp_path / "odd.bvh"
    path.write_text(rigs.SLIDE.replace("Frame Time: 0.5", "Frame Time: 0.0083333"))
    assert posse.Library(path).clips[0].fps == 120.0
    # The frame time of a single frame may be anything.
    head, _, motion = rigs.SLIDE.partition("MOTION")
    frame = motion.strip().splitlines()[2]
    for frame_time in ("0", "-0.5"):
        path.write_text(f"{head}MOTION\nFrames: 1\nFrame Time: {frame_time}\n{frame}\n")
        clip = posse.Library(path).clips[0]
        assert (clip.fps, clip.frames) == (30.0, 1)


def test_kinds_of_files_are_told_by_content(slide: Path, worm: Path, tmp_path: Path) -> None:
    other = tmp_path / "motion.txt"
    other.write_bytes(slide.read_bytes())
    assert posse.Library(other).clips[0].joints == ("hip", "hand", "hand_end")


def test_equal_skeletons_are_shared(takes: list[Path], slide: Path, worm: Path) -> None:
    library = posse.Library(*takes, worm, worm, slide)
    assert [clip.skeleton for clip in library.clips] == [0] * 6 + [1] * 4 + [2]
    # A skeleton with other skins is another one.
    skins = rigs.worm(slide.parent / "two.gltf", skins=2)
    assert [clip.skeleton for clip in posse.Library(worm, skins).clips] == [0, 0, 1, 1]


def test_the_order_of_clips_does_not_depend_on_threads(takes: list[Path]) -> None:
    for threads in (1, 2, 5):
        library = posse.Library(*takes, threads=threads)
        assert [clip.file for clip in library.clips] == [str(path) for path in takes]
        assert [clip.frames for clip in library.clips] == [61, 68, 75, 82, 89, 96]


def test_clips_are_found_by_name_and_index(slide: Path, worm: Path) -> None:
    library = posse.Library(slide, worm)
    assert library.clip("grow") is library.clips[2] is library.clip(2) is library.clip(np.uint8(2))
    assert library.clip(library.clips[2]) is library.clips[2]
    assert [library.clip(text).index for text in ("#2", "grow#0", "2")] == [2, 2, 2]
    with pytest.raises(posse.Error, match=r'there is no clip "bent"; there are: 0 slide, 1 bend, 2 grow'):
        library.clip("bent")
    with pytest.raises(posse.Error, match="clip 3: the library has 3 clips"):
        library.clip(3)
    with pytest.raises(posse.Error, match="clip -1: the library has 3 clips"):
        library.clip(-1)
    with pytest.raises(TypeError, match="not float"):
        library.clip(1.0)  # type: ignore[arg-type]
    twice = posse.Library(worm, worm)
    with pytest.raises(posse.Error, match=r'2 clips are named "bend"; write which one: bend#0 \(#0 of .*\), bend#1 \(#2 of '):
        twice.clip("bend")
    assert twice.clip("bend#1").index == 2
    with pytest.raises(posse.Error, match="belongs to another library"):
        library.clip(twice.clips[0])


def test_an_empty_library_has_no_clips() -> None:
    library = posse.Library()
    assert library.clips == ()
    with pytest.raises(posse.Error, match="the library has 0 clips"):
        library.sample(0, [0.0])
    with pytest.raises(posse.Error, match="the library has no clips"):
        library.states([], [])


def test_faults_of_files_have_a_place(tmp_path: Path) -> None:
    path = tmp_path / "broken.bvh"
    path.write_text(rigs.SLIDE.replace("1 1 0 45 0", "1 1 nan 45 0"))
    with pytest.raises(posse.Error) as caught:
        posse.Library(path)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).startswith(f"{path}: line 20: number 3 of 5: ")
    path = tmp_path / "broken.gltf"
    path.write_text('{"asset": {"version": "2.0"}, "nodes": [{"children": [7]}]}')
    with pytest.raises(posse.Error, match=r"broken.gltf: nodes\[0\].children\[0\]: "):
        posse.Library(path)
    clip = tmp_path / "clip.anim"
    clip.write_text('[{"__type__": "cc.AnimationClip", "_name": "a"}]')
    with pytest.raises(posse.Error, match="clip.anim is a Cocos clip, which has no nodes; give glTF, FBX, BVH or npz files"):
        posse.Library(clip)
    crowd = tmp_path / "crowd.json"
    crowd.write_text('{"files": ["hero.glb"], "instances": []}')
    with pytest.raises(posse.Error, match="crowd.json is a crowd file"):
        posse.Library(crowd)


def test_bvh_files_are_read_with_options(tmp_path: Path) -> None:
    path = tmp_path / "arm.bvh"
    ends = ["End Site\n{\nOFFSET 0 1 0\n}\n", "End Site\n{\nOFFSET 1 0 0\n}\n"]
    head = "HIERARCHY\nROOT arm\n{\nOFFSET 0 0 0\nCHANNELS 1 Zrotation\n"
    path.write_text(head + "".join(ends) + "}\nMOTION\nFrames: 2\n0\n90\n")
    with pytest.raises(posse.Error, match=r"arm.bvh: line 17: .* Time.*\(input_fps=F\)"):
        posse.Library(path)
    with pytest.raises(posse.Error, match="0 frames per second; expected a finite number above 0"):
        posse.Library(path, input_fps=0)
    with pytest.warns(posse.FileWarning, match="arm_end"):
        library = posse.Library(path, input_fps=50)
    assert (library.clips[0].duration, library.clips[0].fps) == (0.02, 50)
    # The second end turns from +X to +Y.
    pos = library.sample(0, [0.02], arrays=["pos"], joints=["arm_end#1"]).pos
    np.testing.assert_allclose(pos, [[[0, 1, 0]]], atol=1e-6)
    with pytest.raises(posse.Error, match=r'2 joints are named "arm_end"; write which one: arm_end#0 \(/arm/arm_end\)'):
        library.sample(0, [0.0], joints=["arm_end"])
    assert posse.Library(path, input_fps=50, end_sites=False).clips[0].joints == ("arm",)


def test_formats_that_are_not_read_are_named(tmp_path: Path) -> None:
    path = tmp_path / "take.c3d"
    path.write_bytes(b"\x02\x50")
    with pytest.raises(posse.Error, match="take.c3d: file: it is C3D, which is not read; it has the positions of markers"):
        posse.Library(path)


def test_files_that_cannot_be_read_are_os_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        posse.Library(tmp_path / "missing.bvh")
    assert caught.value.filename == str(tmp_path / "missing.bvh")
    assert caught.value.strerror == "No such file or directory"
    with pytest.raises(OSError):
        posse.Library(tmp_path)
    # A device may have no end.
    if os.path.exists("/dev/zero"):
        with pytest.raises(OSError, match="/dev/zero: it is not a regular file"):
            posse.Library("/dev/zero")
    with pytest.raises(TypeError):
        posse.Library(3)  # type: ignore[arg-type]


def test_buffers_are_read_beside_their_file(worm: Path, tmp_path: Path) -> None:
    whole, document = posse.Library(worm), json.loads(worm.read_text())
    (buffer,) = document["buffers"]
    numbers, beside = base64.b64decode(buffer["uri"].partition(",")[2]), tmp_path / "data.bin"
    beside.write_bytes(numbers)
    path = tmp_path / "apart.gltf"
    # Two buffers of one file, of which the second is not needed.
    for uris in (["data.bin"], ["data.bin", "./data.bin"], ["data.bin", "missing.bin"]):
        document["buffers"] = [{"byteLength": len(numbers), "uri": uri} for uri in uris]
        path.write_text(json.dumps(document))
        library = posse.Library(path)
        for clip in range(2):
            assert library.sample(clip, [0.1]).pos.tobytes() == whole.sample(clip, [0.1]).pos.tobytes()
    beside.unlink()
    with pytest.raises(posse.Error, match=r"apart.gltf: buffers\[0\].uri: .*data.bin: No such file"):
        posse.Library(path)


def test_paths_may_be_bytes(slide: Path) -> None:
    assert posse.Library(os.fsencode(slide)).clips[0].file == str(slide)


def test_a_clip_that_cannot_be_read_is_left_out(worm: Path, tmp_path: Path) -> None:
    document = json.loads(worm.read_text())
    bad = json.loads(json.dumps(document["animations"][0]))
    bad["name"] = "bad"
    for sampler in bad["samplers"]:
        sampler["output"] = 999
    document["animations"].insert(0, bad)
    path = tmp_path / "one.gltf"
    path.write_text(json.dumps(document))
    expected = posse.Library(worm)
    with pytest.warns(posse.FileWarning, match='there is no accessors.999., .*clip "bad".* is left out'):
        library = posse.Library(path)
    assert [clip.name for clip in library.clips] == [clip.name for clip in expected.clips]
    assert np.array_equal(library.sample("bend", [0.0, 0.1]).pos, expected.sample("bend", [0.0, 0.1]).pos)


def test_lists_and_globs_are_files(takes: list[Path], tmp_path: Path) -> None:
    def files(*paths: object) -> list[str]:
        return [clip.file for clip in posse.Library(*paths)]  # type: ignore[arg-type]

    every = [str(path) for path in takes]
    folder = takes[0].parent
    assert files(takes) == files(iter(takes)) == files(folder / "take*.bvh") == every
    assert files(takes[4:], str(takes[0]), [os.fsencode(takes[1])]) == [*every[4:], *every[:2]]
    assert files(f"{folder}/**/take[01].bvh") == every[:2]
    with pytest.raises(FileNotFoundError, match="no file matches") as caught:
        posse.Library(folder / "walk*.bvh")
    assert caught.value.filename == str(folder / "walk*.bvh")
    # A file that is there is no glob.
    odd = tmp_path / "take[1].bvh"
    odd.write_bytes(takes[1].read_bytes())
    assert files(odd) == [str(odd)]
    with pytest.raises(TypeError):
        posse.Library([3])  # type: ignore[list-item]


def test_a_folder_is_searched(takes: list[Path], worm: Path, tmp_path: Path) -> None:
    folder = tmp_path / "takes"
    deep = folder / "b" / "c"
    deep.mkdir(parents=True)
    (folder / "z.bvh").write_bytes(takes[0].read_bytes())
    (deep / "A.BVH").write_bytes(takes[1].read_bytes())
    (folder / "b" / "worm.gltf").write_bytes(worm.read_bytes())
    (folder / "notes.txt").write_text("no clip")
    np.savez(folder / "baked.npz", pos=np.zeros(3))
    os.symlink(folder, deep / "back", target_is_directory=True)
    library = posse.Library.from_folder(folder, threads=1)
    names = [os.path.relpath(clip.file, folder) for clip in library]
    assert names == ["b/c/A.BVH", "b/worm.gltf", "b/worm.gltf", "z.bvh"]
    with pytest.raises(posse.Error, match="there is no .bvh, .fbx, .glb or .gltf file in it"):
        (tmp_path / "empty").mkdir()
        posse.Library.from_folder(tmp_path / "empty")
    with pytest.raises(FileNotFoundError):
        posse.Library.from_folder(tmp_path / "missing")
    with pytest.raises(NotADirectoryError):
        posse.Library.from_folder(folder / "z.bvh")


def test_files_with_errors_can_be_passed_over(slide: Path, worm: Path, tmp_path: Path) -> None:
    broken, missing = tmp_path / "broken.bvh", tmp_path / "missing.bvh"
    broken.write_text(rigs.SLIDE.replace("1 1 0 45 0", "1 1 nan 45 0"))
    files = [broken, slide, missing, worm]
    with pytest.raises(posse.Error, match="broken.bvh: line 20"):
        posse.Library(files)
    with pytest.warns(posse.FileWarning) as record:
        library = posse.Library(files, errors="warn")
    assert [clip.file for clip in library] == [str(slide), str(worm), str(worm)]
    assert list(library.failed) == [str(broken), str(missing)]
    assert isinstance(library.failed[str(broken)], posse.Error)
    assert isinstance(library.failed[str(missing)], FileNotFoundError)
    assert [str(warning.message) for warning in record] == [str(error) for error in library.failed.values()]
    assert "line 20" in str(record[0].message) and str(missing) in str(record[1].message)
    # A selection by name tells the files apart.
    assert library.clip("grow").index == 2
    assert posse.Library(slide).failed == {}
    with pytest.raises(posse.Error, match="errors='ignore'; expected 'raise' or 'warn'"):
        posse.Library(slide, errors="ignore")  # type: ignore[arg-type]
    # With `strict`, a warning is an error of the file.
    old = tmp_path / "old.gltf"
    old.write_text(worm.read_text().replace('"version"', '"versions"'))
    with pytest.warns(posse.FileWarning, match="asset.version"):
        assert list(posse.Library(old, slide, errors="warn", strict=True).failed) == [str(old)]


def test_a_library_is_a_sequence_of_clips(slide: Path, worm: Path) -> None:
    library = posse.Library(slide, worm)
    assert tuple(library) == library.clips and list(reversed(library)) == list(library.clips[::-1])
    assert library[0] is library.clips[0] and library[-1] is library.clips[2] is library["grow"] is library[np.int64(2)]
    assert library[1:] == library.clips[1:] and library[library[1]] is library.clips[1]
    assert library[1] in library and posse.Library(worm)[0] not in library
    with pytest.raises(IndexError, match="clip 3: the library has 3 clips"):
        library[3]
    with pytest.raises(posse.Error, match='there is no clip "bent"'):
        library["bent"]


def test_warnings_are_python_warnings(worm: Path, tmp_path: Path) -> None:
    document = json.loads(worm.read_text())
    del document["asset"]["version"]
    path = tmp_path / "old.gltf"
    path.write_text(json.dumps(document))
    with pytest.warns(posse.FileWarning, match=r"old.gltf: asset.version: it is missing") as record:
        posse.Library(path)
    # The warning names the line of the caller.
    assert record[0].filename == __file__
    with pytest.raises(posse.Error, match=r"old.gltf: asset.version: it is missing"):
        posse.Library(path, strict=True)
    posse.Library(worm, strict=True)
    still = tmp_path / "still.gltf"
    still.write_text('{"asset": {"version": "2.0"}, "nodes": [{"name": "a"}]}')
    with pytest.warns(posse.FileWarning, match="still.gltf: it has no clips"):
        posse.Library(still)
