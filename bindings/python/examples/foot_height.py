"""Draws the heights of both feet over a walk cycle.

    python foot_height.py                                   # walk.bvh beside this file
    python foot_height.py FILE --joints LeftFoot RightFoot -o feet.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt

import posse_animation as posse


def heights(file: Path, joints: list[str], fps: float) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float32]]:
    """The times of the first clip of a file in seconds, and the heights (times, joints)."""
    poses = posse.Library(file).bake(0, fps, arrays=["pos"], joints=joints)
    return poses.time, poses.pos[:, :, 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", default=Path(__file__).with_name("walk.bvh"))
    parser.add_argument("--joints", nargs="+", default=["LeftFoot_end", "RightFoot_end"])
    parser.add_argument("--fps", type=float, default=240.0)
    parser.add_argument("-o", "--output", type=Path, default=Path("foot_height.png"))
    arguments = parser.parse_args()

    times, height = heights(arguments.file, arguments.joints, arguments.fps)
    figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
    axes.plot(times, height, label=arguments.joints)
    axes.set(xlabel="time (s)", ylabel="height (unit of the file)", title=arguments.file.name)
    axes.legend()
    figure.savefig(arguments.output, dpi=150)
    print(f"{arguments.output}: lowest {height.min():.3f}, highest {height.max():.3f}")


if __name__ == "__main__":
    main()
