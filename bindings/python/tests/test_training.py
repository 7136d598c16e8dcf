"""The page docs/training.md: its commands and scripts, on small files of the shapes of the data sets."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable

import numpy as np
import pytest
import rigs
import test_smpl

import posse_animation as posse

Command = Callable[..., str]
EXAMPLES = Path(__file__).parent.parent / "examples"
PAGE = (Path(__file__).parents[3] / "docs/training.md").read_text()
HAS_TORCH = importlib.util.find_spec("torch") is not None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with files of each data set."""
    for seed in range(4):
        (tmp_path / f"clips/part{seed % 2}").mkdir(parents=True, exist_ok=True)
        rigs.Motion.random(6, 70, 1 / 60, seed).write(tmp_path / f"clips/part{seed % 2}/take{seed}.bvh")
    (tmp_path / "clips/broken.bvh").write_text("HIERARCHY\nROOT hip\n{\n")
    for name in ("lafan1", "seed/soma_uniform/bvh/230501", "mixamo", "AMASS/CMU/01"):
        (tmp_path / name).mkdir(parents=True)
    rigs.human(tmp_path / "lafan1/dance1_subject1.bvh", unit=100.0)
    rigs.human(tmp_path / "seed/soma_uniform/bvh/230501/walk_001__A001.bvh", unit=100.0)
    # The command reads formats by content.
    rigs.human(tmp_path / "mixamo/Walking.fbx")
    rigs.human(tmp_path / "mixamo/Running.fbx", frames=30)
    arrays = test_smpl.motion()
    # Its joints have any lengths; those of a model file have to rest as a body does.
    del arrays["J"]
    np.savez(tmp_path / "AMASS/CMU/01/01_01_poses.npz", **arrays)
    with pytest.warns(posse.FileWarning, match="adult"):
        adult = posse.Library(tmp_path / "AMASS/CMU/01/01_01_poses.npz")
    np.savez(tmp_path / "SMPLX_NEUTRAL.npz", J=adult.rest_pose(arrays=["pos"]).pos)
    np.savez(tmp_path / "AMASS/CMU/01/shape.npz", betas=np.zeros(16), gender="female")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands() -> list[list[str]]:
    """The arguments of the commands `posse bake` of the page."""
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)).replace("\\\n", " ")
    found = re.findall(r"^posse (bake .*)$", blocks, re.MULTILINE)
    return [shlex.split(line) for line in found]


def test_the_page_has_commands() -> None:
    assert [arguments[1] for arguments in commands()] == ["clips", "seed/soma_uniform/bvh", "lafan1", "AMASS", "mixamo"]


@pytest.mark.parametrize("arguments", commands(), ids=lambda arguments: arguments[1])
def test_commands_bake_packed_motion(command: Command, folder: Path, arguments: list[str]) -> None:
    command(*arguments)
    motion = posse.PackedMotion("baked")
    assert len(motion) == {"clips": 4, "mixamo": 2}.get(arguments[1], 1)
    assert motion.fps == float(arguments[arguments.index("--fps") + 1])
    assert sorted(motion.arrays) == sorted(arguments[arguments.index("--arrays") + 1].split(","))
    assert not any(name.endswith("_end") for name in motion.joint_names) or "--no-end-sites" not in arguments
    if "--scale" in arguments:
        # A human of 170 cm, in metres, with +Z up.
        assert 1.2 < np.ptp(motion.arrays["pos"][0, :, 2]) < 1.8


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A script with the code of the page."""
    windows, imitation, source, *_ = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    script = tmp_path / "page.py"
    script.write_text(windows + imitation + "times = motions.sample_time(ids)\n" + source)
    return script


def test_the_code_of_the_page_passes_a_strict_type_check(page: Path) -> None:
    pytest.importorskip("mypy", reason="SKIPPED: mypy is not installed")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", page.parent / "cache", page]
    done = subprocess.run(command, capture_output=True, text=True, cwd=page.parent, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_code_of_the_page_passes_pyright(page: Path) -> None:
    place = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    pyright = shutil.which("pyright", path=place)
    if pyright is None:
        pytest.skip("SKIPPED: pyright is not installed")
    command = [pyright, "--pythonpath", sys.executable, page]
    done = subprocess.run(command, capture_output=True, text=True, cwd=page.parent, env={**os.environ, "PATH": place}, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def run(script: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, EXAMPLES / script, *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_script_of_windows_runs(command: Command, folder: Path) -> None:
    if not HAS_TORCH:
        pytest.skip("SKIPPED: PyTorch is not installed")
    command(*commands()[0])
    # Four takes of 1.15 s at 30 per second: 35 frames, 4 windows of 32.
    for start, workers in (("spawn", "4"), ("fork", "1"), ("forkserver", "2"), ("spawn", "0")):
        text = run("windows.py", "baked", "--batch", "4", "--workers", workers, "--start", start, "--device", "cpu")
        assert "epoch 0: 16 windows" in text and "'local_rot6d': (4, 32, 6, 6)" in text


def test_the_script_of_imitation_runs(command: Command, folder: Path) -> None:
    command("bake", "clips", "-o", "baked", "--format", "packed", "--allow-failed", "--arrays", "pos,quat,linvel,angvel")
    options = ["--environments", "8", "--steps", "3"]
    text = run("imitation.py", "baked", *options)
    assert text.startswith("4 motions, ") and "dof_pos        (8, 15)" in text and "rb_rot         (8, 6, 4)" in text
    shutil.rmtree("baked")
    # Of the clips themselves; the broken one is a warning.
    (folder / "clips/broken.bvh").unlink()
    of_clips = run("imitation.py", "clips", *options)
    assert [line for line in of_clips.splitlines() if "(" in line] == [line for line in text.splitlines() if "(" in line]
    if HAS_TORCH:
        assert "root_rot       (8, 4)" in run("imitation.py", "clips", *options, "--device", "cpu")


def test_the_code_of_the_page_runs(command: Command, folder: Path) -> None:
    arrays = "local_rot6d,root,pos,quat,linvel,angvel"
    command("bake", "clips", "-o", "baked", "--format", "packed", "--allow-failed", "--fps", "100", "--arrays", arrays)
    windows, imitation, source, *_ = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    # Without PyTorch or a GPU, the same in NumPy.
    code = windows.replace("range(100)", "range(2)") + imitation.replace(', device="cuda"', "")
    code += "times = motions.sample_time(ids)\n" + source
    code += "assert batch['local_rot6d'].shape == (256, 32, 6, 6) and poses.pos.shape == (4096, 6, 3)\n"
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
