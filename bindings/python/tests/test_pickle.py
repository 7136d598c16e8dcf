"""Libraries and clips in other processes."""

from __future__ import annotations

import base64
import json
import multiprocessing
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rigs

import posse_animation as posse

TIMES = np.linspace(0, 1.2, 7)


def restored(item: Any) -> Any:
    return pickle.loads(pickle.dumps(item))


def assert_same(one: posse.Library, other: posse.Library) -> None:
    assert one.clips == other.clips
    for clip in one:
        found, expected = other.sample(clip, TIMES), one.sample(clip, TIMES)
        for name, array in expected.arrays.items():
            assert found.arrays[name].tobytes() == array.tobytes(), (clip, name)


def test_a_library_is_read_again(takes: list[Path], worm: Path) -> None:
    library = posse.Library(takes[:2], worm)
    again = restored(library)
    assert_same(library, again)
    assert_same(library, restored(again))
    assert [clip.file for clip in again] == [clip.file for clip in library]
    # Clips and poses go from process to process.
    clip = restored(library["grow"])
    assert clip == library["grow"] and hash(clip) == hash(library["grow"]) and clip is not library["grow"]
    assert (clip.name, clip.frames, clip.joints) == ("grow", 22, library["grow"].joints)
    assert again.clip(clip) is again.clips[3] and library.clip(again[0]) is library[0]
    with pytest.raises(posse.Error, match="belongs to another library"):
        posse.Library(takes[:1]).clip(clip)
    poses = restored(library.bake(0))
    assert poses.pos.tobytes() == library.bake(0).pos.tobytes() and poses.joint_names == library[0].joints


def test_options_are_kept(tmp_path: Path, slide: Path) -> None:
    path = tmp_path / "arm.bvh"
    head = "HIERARCHY\nROOT arm\n{\nOFFSET 0 0 0\nCHANNELS 1 Zrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n"
    path.write_text(f"{head}MOTION\nFrames: 2\n0\n90\n")
    library = posse.Library(path, input_fps=50, end_sites=False)
    again = restored(library)
    assert (again[0].fps, again[0].joints) == (50, ("arm",))
    assert_same(library, again)
    # The clips of other options are others.
    with pytest.raises(posse.Error, match="belongs to another library"):
        posse.Library(path, input_fps=25, end_sites=False).clip(library[0])
    # Files that were passed over are not read again.
    with pytest.warns(posse.FileWarning):
        library = posse.Library(tmp_path / "missing.bvh", slide, errors="warn")
    again = restored(library)
    assert_same(library, again)
    assert list(again.failed) == [str(tmp_path / "missing.bvh")]
    assert isinstance(again.failed[str(tmp_path / "missing.bvh")], FileNotFoundError)


@pytest.mark.filterwarnings("ignore::posse_animation.RetargetWarning")
def test_what_was_done_with_clips_is_done_again(tmp_path: Path) -> None:
    human = rigs.human(tmp_path / "human.bvh")
    rig = rigs.human(tmp_path / "rig.bvh", rigs.BIOVISION, unit=100.0, frames=1)
    library = posse.Library(human).retarget(onto=rig, translations="root").mirror()
    again = restored(library)
    assert len(again) == 2
    assert_same(library, again)
    assert again.reports == library.reports and again.reports[0]["file"] == str(human)
    on_demo = library.retarget(onto="demo", clips=["human_mirror"])
    with warnings.catch_warnings():
        # What was told once is not told again.
        warnings.simplefilter("error")
        assert_same(on_demo, restored(on_demo))
    rig.write_text(rig.read_text().replace("Frames: 1", "Frames:  1"))
    with pytest.raises(posse.Error, match="rig.bvh: .* has changed since"):
        restored(library)


def test_a_changed_file_is_an_error(slide: Path, worm: Path, tmp_path: Path) -> None:
    data = pickle.dumps(posse.Library(worm, slide))
    # As long as it was.
    slide.write_text(rigs.SLIDE.replace("1 1 0 45 0", "1 1 0 46 0"))
    with pytest.raises(posse.Error, match=r"slide.bvh: the file, or a buffer beside it, has changed") as caught:
        pickle.loads(data)
    assert "make the library anew" in str(caught.value) and "worm" not in str(caught.value)
    slide.write_text(rigs.SLIDE)
    assert len(pickle.loads(data)) == 3
    slide.unlink()
    with pytest.raises(FileNotFoundError) as missing:
        pickle.loads(data)
    assert missing.value.filename == str(slide)


def test_a_changed_buffer_is_an_error(worm: Path, tmp_path: Path) -> None:
    document = json.loads(worm.read_text())
    (uri,) = [buffer["uri"] for buffer in document["buffers"]]
    buffer = tmp_path / "worm data.bin"
    buffer.write_bytes(base64.b64decode(uri.partition(",")[2]))
    document["buffers"][0]["uri"] = "worm%20data.bin"
    path = tmp_path / "apart.gltf"
    path.write_text(json.dumps(document))
    library = posse.Library(path)
    assert_same(library, restored(library))
    buffer.write_bytes(buffer.read_bytes()[:-4] + np.float32(0.5).tobytes())
    with pytest.raises(posse.Error, match="apart.gltf: the file, or a buffer beside it, has changed"):
        restored(library)


def test_paths_do_not_depend_on_the_working_folder(slide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(slide.parent)
    library = posse.Library(slide.name)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    again = restored(library)
    assert again[0].file == slide.name
    assert_same(library, again)


def begin(library: posse.Library) -> None:
    """Gives a worker its library."""
    global of_worker
    of_worker = library


def window(clip: posse.Clip) -> tuple[posse.Poses, posse.Clip]:
    """The work of a worker, as a Dataset of PyTorch does it."""
    poses = of_worker.states(clip, TIMES.reshape(1, 7), velocities=True, threads=2)
    return poses, of_worker.clip(clip)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_workers_have_the_library(takes: list[Path], method: str) -> None:
    library = posse.Library(takes)
    # A call before a fork, so that threads have been started.
    library.states(np.zeros(4096, dtype=int), np.zeros(4096), threads=2)
    with warnings.catch_warnings():
        # Python warns of a fork beside threads of NumPy.
        warnings.simplefilter("ignore", DeprecationWarning)
        context = multiprocessing.get_context(method)
        with context.Pool(2, begin, (library,)) as pool:
            results = pool.map(window, library.clips, chunksize=1)
            pool.close()
            pool.join()
    assert [clip for _, clip in results] == list(library.clips)
    for (poses, _), clip in zip(results, library):
        expected = library.states(clip, TIMES.reshape(1, 7), velocities=True)
        for name, array in expected.arrays.items():
            assert poses.arrays[name].shape == (1, *array.shape[1:])
            assert poses.arrays[name].tobytes() == array.tobytes(), (method, name)
