"""The command `posse` of the package: it does what the command of the same checkout does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import rigs

import posse_animation as posse

CONSOLE = Path(sysconfig.get_path("scripts")) / "posse"
posix = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")


@pytest.fixture(params=["console", "native"])
def program(request: pytest.FixtureRequest) -> Path:
    """Both commands, whose behaviour is the same."""
    return CONSOLE if request.param == "console" else Path(os.environ["POSSE_BIN"])


def run(program: object, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [str(program), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of all outputs. The manifest has the time at which it was written."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("manifest-"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_bake_has_the_bytes_of_the_native_command(tmp_path: Path, takes: list[Path], worm: Path) -> None:
    for name, inputs, options in (
        ("npz", [*takes[:3], worm], ["--arrays", "pos,quat,linvel,local_quat", "--fps", 47.3, "--threads", 2]),
        ("glb", [takes[0], worm], []),
        ("bvh", takes[:2], ["--up", "z", "--scale", 0.01]),
    ):
        made = []
        for program in (CONSOLE, os.environ["POSSE_BIN"]):
            out = tmp_path / f"{name} {len(made)}"
            done = run(program, "bake", *inputs, "-o", out, "--format", name, *options)
            assert done.returncode == 0, done.stderr
            made.append(contents(out))
        assert made[0] == made[1] and len(made[0]) >= len(inputs), made[0].keys()


def test_parquet_is_built_in(tmp_path: Path, takes: list[Path]) -> None:
    done = run(CONSOLE, "bake", *takes[:2], "-o", tmp_path / "out", "--format", "parquet")
    assert done.returncode == 0, done.stderr
    tables = [data for name, data in contents(tmp_path / "out").items() if name.endswith(".parquet")]
    assert tables and all(data[:4] == data[-4:] == b"PAR1" for data in tables)


def test_the_module_is_the_command() -> None:
    version = f"posse {posse.__version__}\n"
    for command in ([CONSOLE], [sys.executable, "-m", "posse_animation"]):
        assert run(*command, "--version").stdout == version
        assert "Usage: posse" in run(*command, "bake", "--help").stdout


def test_exit_codes(program: Path, tmp_path: Path, slide: Path) -> None:
    assert run(program, "inspect", slide).returncode == 0
    for arguments in (["bake"], ["inspect", tmp_path / "missing.bvh"], ["bake", slide, "-o", tmp_path, "--fps", "many"]):
        done = run(program, *arguments)
        assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("error: "), done
    # A result that is missing is a check that fails.
    assert run(program, "bake", slide, "-o", tmp_path / "out").returncode == 0
    (tmp_path / "out/slide.npz").unlink()
    assert run(program, "bake", "--check", tmp_path / "out", slide).returncode == 1


def test_names_of_files_are_bytes(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff \xc3\xa4.bvh"
    try:
        with open(path, "wb") as file:
            file.write(rigs.SLIDE.encode())
    except OSError:
        pytest.skip("the file system has names of text alone")
    assert subprocess.run([CONSOLE, b"inspect", path], capture_output=True, timeout=120).returncode == 0


def test_what_needs_a_gpu_says_so(tmp_path: Path, slide: Path) -> None:
    human = rigs.human(tmp_path / "human.bvh")
    reason = "built without the GPU engine and the renderer"
    for arguments in (
        ["adapters"],
        ["bench", "--instances", "10"],
        ["kernels", "demo"],
        ["render", slide, "-o", tmp_path / "picture.png"],
        ["eval", slide, "--times", "0", "--engine", "gpu"],
        ["bake", slide, "-o", tmp_path / "out", "--engine", "gpu"],
        ["verify", slide, "--adapter", "0"],
        ["retarget", human, "--onto", "demo", "--picture", tmp_path / "picture.png"],
    ):
        done = run(CONSOLE, *arguments)
        assert done.returncode == 2 and reason in done.stderr and "cargo install" in done.stderr, (arguments, done)
    assert not (tmp_path / "picture.png").exists()
    assert "built without windows" in run(CONSOLE, "view", slide).stderr
    # The CPU answers without a word about another engine.
    done = run(CONSOLE, "eval", slide, "--times", "0")
    assert done.returncode == 0 and done.stderr.startswith("engine: cpu ") and done.stderr.count("\n") == 1
    # A figure without a mesh.
    done = run(CONSOLE, "retarget", human, "--onto", "demo", "-o", tmp_path / "demo.glb")
    assert done.returncode == 0 and "note: the built-in figure has no mesh" in done.stderr, done.stderr


@posix
def test_a_closed_pipe_is_no_error(program: Path, slide: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [program, "eval", slide, "--times", ",".join(str(time / 100) for time in range(100)), "--engine", "cpu"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, timeout=120)
    os.close(write)
    assert done.returncode == 0 and done.stderr.startswith("engine: cpu") and done.stderr.count("\n") == 1, done.stderr


@posix
def test_closed_streams_are_no_place_for_outputs(program: Path, tmp_path: Path, slide: Path) -> None:
    outs = [tmp_path / "open", tmp_path / "closed"]
    assert run(program, "bake", slide, "-o", outs[0]).returncode == 0
    closed = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", program, "bake", slide, "-o", outs[1], "--json"]
    assert subprocess.run(closed, timeout=120).returncode == 0
    assert contents(outs[0]) == contents(outs[1]) and len(contents(outs[0])) == 1


@posix
def test_a_list_comes_from_a_pipe(program: Path, tmp_path: Path, slide: Path) -> None:
    done = run(program, "bake", "@/dev/stdin", "-o", tmp_path / "out", input=f"{slide}\n")
    assert done.returncode == 0, done.stderr
    assert list(contents(tmp_path / "out")) == ["slide.npz"]


@contextmanager
def baking(command: list[object], take: Path, out: Path, fps: int) -> Iterator[subprocess.Popen[str]]:
    """A bake that takes a while, once it has begun its output."""
    arguments = map(str, [*command, "bake", take, "-o", out, "--fps", fps, "--threads", 1])
    process = subprocess.Popen(list(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        end = time.monotonic() + 60
        while not list(out.glob(".bake-*.part")):
            assert process.poll() is None and time.monotonic() < end, process.communicate()
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.wait()


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_end_the_command(program: Path, tmp_path: Path, takes: list[Path], name: str) -> None:
    number = signal.Signals[name]
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tests run with this signal ignored, as with `nohup`")
    with baking([program], takes[0], tmp_path / "out", 1_000_000) as process:
        process.send_signal(number)
        _, notes = process.communicate(timeout=60)
    # The draft is removed, and nobody tells of a `KeyboardInterrupt`.
    assert process.returncode == 128 + number, notes
    assert contents(tmp_path / "out") == {} and "Traceback" not in notes, notes


@posix
def test_an_ignored_interrupt_stays_so(program: Path, tmp_path: Path, takes: list[Path]) -> None:
    # As with `nohup`, and in the background of a shell.
    ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", program]
    with baking(ignoring, takes[0], tmp_path / "out", 100_000) as process:
        process.send_signal(signal.SIGINT)
        _, notes = process.communicate(timeout=120)
    assert process.returncode == 0, notes
    assert list(contents(tmp_path / "out")) == ["take0.npz"]
