"""The package itself: types, documentation, examples and dependencies."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
import typing
from importlib import metadata
from pathlib import Path

import pytest

import posse_animation as posse

FOLDER = Path(__file__).parent.parent
# The types of `posse_animation._request` that list words.
LITERALS = ("ArrayName", "Quaternions", "UpAxis", "Wrap")


def run(*arguments: object, **variables: str) -> str:
    """Runs a command in an empty place, so that nothing but installed packages is found."""
    done = subprocess.run(
        [str(argument) for argument in arguments],
        capture_output=True,
        text=True,
        cwd=FOLDER / "examples",
        env={**os.environ, **variables},
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_everything_public_is_documented() -> None:
    for name in posse.__all__:
        item = getattr(posse, name)
        if not inspect.isclass(item):
            continue
        assert item.__module__ == "posse_animation", name
        assert item.__doc__, name
        for member, value in vars(item).items():
            if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                assert inspect.getdoc(value), f"{name}.{member}"
    # Properties that are arrays begin with their shape.
    for name in (*typing.get_args(posse.ArrayName), "time", "parents", "bone_lengths"):
        assert re.match(r"\(T|\(J", getattr(posse.Poses, name).__doc__), name


def test_the_version_is_that_of_the_crate() -> None:
    assert posse.__version__ == metadata.version("posse-animation")
    assert metadata.requires("posse-animation") == ["numpy>=1.21"]


def test_types_are_installed() -> None:
    files = [Path(str(file)).name for file in metadata.files("posse-animation") or []]
    assert "py.typed" in files and "_posse.pyi" in files


@pytest.mark.parametrize("example", sorted((FOLDER / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_pass_a_strict_type_check(example: Path, tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="SKIPPED: mypy is not installed")
    options = ["--strict", "--cache-dir", tmp_path, "--ignore-missing-imports"]
    run(sys.executable, "-m", "mypy", *options, example)


def test_examples_pass_pyright(tmp_path: Path) -> None:
    place = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    pyright = shutil.which("pyright", path=place)
    if pyright is None:
        pytest.skip("SKIPPED: pyright is not installed")
    for example in (FOLDER / "examples").glob("*.py"):
        shutil.copy(example, tmp_path)
    # Packages that are not installed are no error of an example.
    (tmp_path / "pyrightconfig.json").write_text('{"include": ["."], "reportMissingImports": "none"}')
    run(pyright, "--project", tmp_path, "--pythonpath", sys.executable, PATH=place)


def test_the_package_passes_a_strict_type_check(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="SKIPPED: mypy is not installed")
    run(sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, "-p", "posse_animation")
    # The stub of the native module has its functions with their arguments.
    # stubtest takes a `Literal` of several words for a `Union`, which it is not when the package runs. Two names are
    # types of PyTorch, which the package imports when it needs them.
    literals = tmp_path / "literals"
    words = [*(f"_request.{name}" for name in LITERALS), "_library.OnError", "_packed.torch", "_windows.Dataset"]
    literals.write_text("\n".join(f"posse_animation.{name}" for name in words))
    arguments = ["posse_animation", "--allowlist", literals, "--ignore-unused-allowlist"]
    run(sys.executable, "-m", "mypy.stubtest", *arguments, MYPY_CACHE_DIR=str(tmp_path))


@pytest.mark.parametrize("option", ['arrays=["position"]', 'up="x"', 'quaternions="xyz"'])
def test_words_are_checked_by_their_types(tmp_path: Path, option: str) -> None:
    pytest.importorskip("mypy", reason="SKIPPED: mypy is not installed")
    script = tmp_path / "script.py"
    script.write_text(f'import posse_animation as posse\n\nposse.Library("walk.bvh").bake(0, {option})\n')
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, script]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 1 and "incompatible type" in done.stdout, done.stdout + done.stderr


def test_the_example_draws_a_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    run(sys.executable, FOLDER / "examples/foot_height.py", "-o", tmp_path / "feet.png", MPLBACKEND="agg")
    assert (tmp_path / "feet.png").read_bytes().startswith(b"\x89PNG")


def test_the_readme_runs(tmp_path: Path) -> None:
    text = (FOLDER / "README.md").read_text()
    calls, workers, retargeting = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    run(sys.executable, "-W", "error", "-c", calls + workers)
    # The walk has no arms, which is a warning.
    run(sys.executable, "-c", calls + retargeting)


def test_the_build_has_no_wgpu() -> None:
    if not shutil.which("cargo"):
        pytest.skip("cargo is not installed")
    tree = run("cargo", "tree", "--manifest-path", FOLDER / "Cargo.toml", "--edges", "normal", "--prefix", "none", "--locked")
    assert re.search(r"^posse-cli v", tree, re.MULTILINE) and re.search(r"^pyo3 v", tree, re.MULTILINE)
    assert not re.search(r"^(wgpu|naga|png|image|posse-render)", tree, re.MULTILINE)
