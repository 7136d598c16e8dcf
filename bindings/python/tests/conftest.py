"""Files and the command, for all tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Callable

import pytest
import rigs

import posse_animation as posse


@pytest.fixture
def slide(tmp_path: Path) -> Path:
    path = tmp_path / "slide.bvh"
    path.write_text(rigs.SLIDE)
    return path


@pytest.fixture
def worm(tmp_path: Path) -> Path:
    return rigs.worm(tmp_path / "worm.gltf")


@pytest.fixture(scope="session")
def takes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Six takes of one rig of 24 joints, at 60 frames per second."""
    folder = tmp_path_factory.mktemp("takes")
    return [rigs.Motion.random(24, 61 + 7 * seed, 1 / 60, seed).write(folder / f"take{seed}.bvh") for seed in range(6)]


@pytest.fixture(scope="session")
def library(takes: list[Path]) -> posse.Library:
    return posse.Library(*takes)


@pytest.fixture(scope="session")
def command() -> Callable[..., str]:
    """Runs the command `posse` of this checkout. Returns what it prints."""
    binary = os.environ.get("POSSE_BIN")
    if not binary:
        pytest.fail("POSSE_BIN is not set: `cargo build --release --bin posse`, then POSSE_BIN=target/release/posse")

    def run(*arguments: object) -> str:
        done = subprocess.run([binary, *map(str, arguments)], check=True, capture_output=True, text=True, timeout=120)
        return done.stdout

    return run
