"""Windows per second of `posse.PackedMotion`, beside a shuffled loop over the npz files of the same bake.

    POSSE_BIN=target/release/posse python benches/windows.py [--takes 200] [--frames 600] [--length 32] [--rounds 7]

Takes of 24 joints are made and baked twice, with `--format npz` and `--format packed`: positions, rotations, velocities and angular
velocities. Then windows of them are drawn at random and copied into batches of 256:

1. `np.load` of the file of each window, as a data set with a file per item does it;
2. a window after the other of `PackedMotion.windows`, stacked;
3. `Windows.batches`;
4. `torch.utils.data.DataLoader` over these batches with two workers, if PyTorch is installed.

The first windows of all cases are compared before they are timed. Cases are timed in turn, round after round: the median of the
rounds, then the fastest and the slowest. All files are in the cache of the system.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Iterator

import numpy as np

import posse_animation as posse

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import rigs  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

ARRAYS: list[posse.ArrayName] = ["pos", "quat", "linvel", "angvel"]
JOINTS, SIZE = 24, 256
Batch = dict[str, np.ndarray]


def baked(folder: Path, takes: int, frames: int) -> tuple[Path, Path]:
    """The folders of both bakes."""
    for seed in range(takes):
        (folder / "takes").mkdir(exist_ok=True)
        rigs.Motion.random(JOINTS, frames, 1 / 60, seed).write(folder / "takes" / f"{seed:04}.bvh")
    for format in ("npz", "packed"):
        arguments = ["bake", folder / "takes", "-o", folder / format, "--format", format, "--arrays", ",".join(ARRAYS)]
        begin = time.perf_counter()
        subprocess.run([os.environ["POSSE_BIN"], *map(str, arguments)], check=True, capture_output=True)
        seconds, size = time.perf_counter() - begin, sum(path.stat().st_size for path in (folder / format).rglob("*"))
        print(f"baked {takes * frames} frames to {format} in {seconds:.1f} s: {size / 2**20:.0f} MiB")
    return folder / "npz", folder / "packed"


def files_after_files(files: list[Path], order: list[tuple[int, int]], length: int) -> Iterator[Batch]:
    """Batches of windows, a file opened for each window."""
    for begin in range(0, len(order), SIZE):
        found: dict[str, list[np.ndarray]] = {name: [] for name in ARRAYS}
        for clip, frame in order[begin : begin + SIZE]:
            with np.load(files[clip]) as archive:
                for name in ARRAYS:
                    found[name].append(archive[name][frame : frame + length])
        yield {name: np.stack(windows) for name, windows in found.items()}


def windows_after_windows(windows: posse.Windows[np.ndarray], order: list[int]) -> Iterator[Batch]:
    """Batches of windows, each a view of the mapped file."""
    for begin in range(0, len(order), SIZE):
        found = [windows[index] for index in order[begin : begin + SIZE]]
        yield {name: np.stack([window[name] for window in found]) for name in ARRAYS}


def rate(batches: Callable[[], Iterator[object]]) -> float:
    """Windows per second."""
    begin, count = time.perf_counter(), 0
    for _ in batches():
        count += SIZE
    return count / (time.perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--takes", type=int, default=200)
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--length", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    length = arguments.length
    with tempfile.TemporaryDirectory() as folder:
        npz, packed = baked(Path(folder), arguments.takes, arguments.frames)
        files = sorted(npz.rglob("*.npz"))
        windows = posse.PackedMotion(packed).windows(length, arrays=ARRAYS)
        order = np.random.default_rng(0).permutation(len(windows))
        per_clip = arguments.frames - length + 1
        places = [(index // per_clip, index % per_clip) for index in order.tolist()]
        few, many = 2 * SIZE, min(100 * SIZE, len(windows) // SIZE * SIZE)
        epochs = iter(range(10**9))
        cases: dict[str, Callable[[], Iterator[object]]] = {
            "np.load of a file per window": lambda: files_after_files(files, places[:few], length),
            "PackedMotion, windows[i]": lambda: windows_after_windows(windows, order[:many].tolist()),
            "PackedMotion, batches": lambda: iter(windows.batches(SIZE, epoch=next(epochs), count=many // SIZE)),
        }
        if torch is None:
            print("SKIPPED: PyTorch is not installed", file=sys.stderr)
        else:
            loader = torch.utils.data.DataLoader(windows.batches(SIZE), batch_size=None, num_workers=2, persistent_workers=True)
            cases["DataLoader, 2 workers"] = lambda: iter(loader)

        expected = next(files_after_files(files, places, length))
        found = next(windows_after_windows(windows, order.tolist()))
        for name in ARRAYS:
            np.testing.assert_array_equal(found[name], expected[name])
        drawn = windows.batches(SIZE)[0]
        for name in ARRAYS:
            for window, clip, frame in zip(drawn[name], drawn["clip"], drawn["frame"]):
                row = windows[int(clip) * per_clip + int(frame)]
                np.testing.assert_array_equal(window, row[name])

        times: dict[str, list[float]] = {name: [] for name in cases}
        for round_ in range(arguments.rounds + 1):
            for name, run in cases.items():
                found_rate = rate(run)
                # The first round warms up.
                if round_:
                    times[name].append(found_rate)
        print(f"windows of {length} frames of {JOINTS} joints per second, {', '.join(ARRAYS)}")
        first = statistics.median(next(iter(times.values())))
        for name, own in times.items():
            middle = statistics.median(own)
            print(f"  {name:30} {middle:10.0f} ({min(own):.0f}-{max(own):.0f})  {middle / first:7.1f}x")


if __name__ == "__main__":
    main()
