"""The memory of a library, and its compression."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import rigs

import posse_animation as posse

# Prints the bytes by which the memory of the process grows for a library, and what the library tells.
MEASURE = """
import os, pathlib, sys
import posse_animation as posse

def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

file, copies, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
posse.Library(file).sample(0, [0.0])
before = resident()
library = posse.Library([file] * copies, threads=threads)
print(resident() - before, library.nbytes)
library.sample(copies - 1, [0.0])
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_library_takes_the_memory_of_its_keys(tmp_path: Path, threads: int) -> None:
    joints, frames, copies = 24, 1000, 150
    take = rigs.Motion.random(joints, frames, 1 / 60, 3).write(tmp_path / "take.bvh")
    command = [sys.executable, "-c", MEASURE, take, str(copies), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    loaded, told, used = map(int, done.stdout.split())
    # A rotation of each joint and a position of the root per frame, each as four float32: 60 MB.
    keys = copies * frames * (joints + 1) * 16
    assert keys <= told < 1.03 * keys, (told, keys)
    assert max(loaded, used) < 1.2 * keys, (loaded, used, keys)


def size(library: posse.Library) -> float:
    """The size of a rig: the distance of its farthest joint from the origin in the rest pose."""
    return float(np.linalg.norm(library.rest_pose().pos, axis=-1).max())


@pytest.mark.parametrize("share", [1e-3, 1e-4])
def test_compressed_keys_are_within_their_bound(takes: list[Path], share: float) -> None:
    library = posse.Library(takes)
    bound = share * size(library)
    times = np.linspace(0, 1, 500)
    nbytes = []
    for compress in (f"{100 * share:g}%", bound):
        compressed = posse.Library(takes, compress=compress)
        nbytes.append(compressed.nbytes)
        for clip in range(len(takes)):
            found, expected = compressed.sample(clip, times).pos, library.sample(clip, times).pos
            error = np.linalg.norm(found.astype(float) - expected, axis=-1).max()
            # Beside the rounding of float32.
            assert 0 < error <= bound + 1e-6 * size(library), (clip, error, bound)
    assert nbytes[0] < 0.6 * library.nbytes and abs(nbytes[1] - nbytes[0]) < 0.05 * nbytes[0], (nbytes, library.nbytes)


def test_a_bound_is_a_length(slide: Path) -> None:
    for bound in (0, -1.0, "wide", "0%", float("nan")):
        with pytest.raises(posse.Error, match=rf'compress="{bound}": expected a length above 0.*\(0.01%\)'):
            posse.Library(slide, compress=bound)


def test_a_compressed_library_is_compressed_again(tmp_path: Path) -> None:
    human = rigs.human(tmp_path / "human.bvh", frames=200)
    library = posse.Library.from_folder(tmp_path, compress="0.1%")
    again = pickle.loads(pickle.dumps(library))
    times = np.linspace(0, 1, 50)
    assert again.nbytes == library.nbytes and again.sample(0, times).pos.tobytes() == library.sample(0, times).pos.tobytes()
    # The clips of another bound are others.
    with pytest.raises(posse.Error, match="belongs to another library"):
        posse.Library(human).clip(library[0])
    plain = posse.Library(human).mirror()
    both = library.mirror()
    assert both.nbytes < 0.8 * plain.nbytes
    error = np.linalg.norm(both.sample(1, times).pos.astype(float) - plain.sample(1, times).pos, axis=-1).max()
    assert 0 < error <= 1e-3 * size(plain)


def test_keys_are_read_again_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    human = rigs.human(tmp_path / "human.bvh")
    library = posse.Library("human.bvh")
    expected = library.mirror().bake(1).pos.tobytes()
    contacts = library.bake(0, arrays=["contact"]).contact.tobytes()
    # By paths that do not depend on the working folder.
    monkeypatch.chdir("/")
    library = pickle.loads(pickle.dumps(library))
    assert library.mirror().bake(1).pos.tobytes() == expected
    assert library.bake(0, arrays=["contact"]).contact.tobytes() == contacts
    pos = library.bake(0).pos.tobytes()
    text = human.read_text()
    human.write_text(text.replace("Frames: ", "Frames:  "))
    # What is in memory needs no file.
    assert library.bake(0).pos.tobytes() == pos and library.bake(0, arrays=["contact"]).contact.tobytes() == contacts
    for call in (library.mirror, lambda: library.retarget(onto="demo"), lambda: library.bake(0, 10, arrays=["contact"])):
        with pytest.raises(posse.Error, match=r"human.bvh: the file, or a buffer beside it, has changed since the library was made"):
            call()
    human.unlink()
    with pytest.raises(FileNotFoundError):
        library.mirror()
    human.write_text(text)
    assert library.mirror().bake(1).pos.tobytes() == expected
