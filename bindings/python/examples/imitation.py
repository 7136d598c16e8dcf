"""States of random motions at random times, as an environment for motion imitation asks for them at each reset and step.

    posse bake clips -o baked --format packed --arrays pos,quat,linvel,angvel --fps 50
    python imitation.py baked --device cuda
    python imitation.py clips                       # the clips themselves, at any times, on the CPU
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Union

import posse_animation as posse


def opened(folder: str) -> Union[posse.PackedMotion, posse.Library]:
    """The table of a bake, or else the clips of a folder."""
    if os.path.exists(os.path.join(folder, "index.jsonl")):
        return posse.PackedMotion(folder)
    return posse.Library.from_folder(folder, errors="warn")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--environments", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0, help="another one for each process")
    parser.add_argument("--device", help="of PyTorch; without it, arrays of NumPy")
    arguments = parser.parse_args()

    motions = posse.MotionLibrary(opened(arguments.folder), device=arguments.device, seed=arguments.seed)
    print(f"{motions.num_motions()} motions, {motions.get_total_length():.1f} s, {len(motions.body_names)} bodies")
    ids = motions.sample_motions(arguments.environments)
    # No motion ends within the steps, unless it is shorter.
    times = motions.sample_time(ids, truncate_time=arguments.steps / 50)
    begin = time.perf_counter()
    state = motions.get_motion_state(ids, times)
    for step in range(1, arguments.steps):
        state = motions.get_motion_state(ids, times + step / 50)
    seconds = (time.perf_counter() - begin) / arguments.steps
    for name, numbers in state.items():
        print(f"{name:14} {tuple(numbers.shape)}")
    print(f"{1e3 * seconds:.2f} ms per step of {arguments.environments} environments")


if __name__ == "__main__":
    main()
