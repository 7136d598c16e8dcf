"""Times of `posse.Library` beside the same work in NumPy, PyTorch and SciPy, each on the CPU.

    python benches/states.py [--rounds 21] [--threads 1,2]

1. `states`: 4,096 clips at 4,096 times of a rig of 24 joints: positions, rotations, velocities and angular velocities. Also those of
   `posse.PackedMotion`, interpolated and without interpolation, if POSSE_BIN names the command, which bakes the clips.
2. `sample`: a take of 6,450 frames at 6,450 times between its frames, positions and rotations, beside `scipy.spatial.transform.Slerp`
   per joint, in a loop in Python.

Each case is checked against the others before it is timed. Cases are timed in turn, round after round. A time is the median of the
rounds, then the fastest and the slowest round. The first ratio is the median of the ratios of each round, the second that of the
fastest rounds, which other jobs on the machine disturb least.
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
from typing import Callable

import numpy as np

import posse_animation as posse

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import rigs  # noqa: E402

try:
    import torch
except ImportError:
    torch = None
try:
    from scipy.spatial.transform import Rotation, Slerp
except ImportError:
    Slerp = None

JOINTS, CLIPS, FRAMES, RATE, ROWS = 24, 64, 600, 60.0, 4096


class Stacked:
    """A motion library as training code has it: the keys of all clips in one float32 array, and vectorised slerp."""

    def __init__(self, motions: list[rigs.Motion]) -> None:
        self.parents = motions[0].parents
        self.offsets = motions[0].offsets.astype(np.float32)
        self.first = np.cumsum([0] + [len(motion.root) for motion in motions[:-1]])
        self.last = np.array([len(motion.root) - 1 for motion in motions])
        self.keys = np.concatenate([rigs.quaternions(motion.angles) for motion in motions]).astype(np.float32)
        self.root = np.concatenate([motion.root for motion in motions]).astype(np.float32)

    def span(self, ids: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        frame = np.clip(times * RATE, 0, self.last[ids])
        begin = np.minimum(frame.astype(np.int64), self.last[ids] - 1)
        return self.first[ids] + begin, self.first[ids] + begin + 1, (frame - begin).astype(np.float32)

    def poses(self, ids: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        begin, end, share = self.span(ids, times)
        local = rigs.slerp(self.keys[begin], self.keys[end], share[:, None, None])
        root = self.root[begin] + (self.root[end] - self.root[begin]) * share[:, None]
        return rigs.forward(self.parents, self.offsets, root, local)

    def states(self, ids: np.ndarray, times: np.ndarray) -> list[np.ndarray]:
        end = self.last[ids] / RATE
        before, after = np.clip(times - 1 / RATE, 0, end), np.clip(times + 1 / RATE, 0, end)
        pos, quat = self.poses(ids, times)
        earlier, later = self.poses(ids, before), self.poses(ids, after)
        step = (after - before).astype(np.float32)[:, None, None]
        inverse = earlier[1] * np.array([-1, -1, -1, 1], dtype=np.float32)
        turn = rigs.multiply(later[1], inverse)
        turn = np.where(turn[..., 3:] < 0, -turn, turn)
        sine = np.linalg.norm(turn[..., :3], axis=-1, keepdims=True)
        angle = 2 * np.arctan2(sine, turn[..., 3:])
        angvel = turn[..., :3] * (angle / np.maximum(sine, 1e-12)) / step
        return [np.asarray(array, np.float32) for array in (pos, quat, (later[0] - earlier[0]) / step, angvel)]


class Torch:
    """The same in PyTorch on the CPU, without gradients."""

    def __init__(self, stacked: Stacked) -> None:
        self.stacked = stacked
        self.keys, self.root = torch.from_numpy(stacked.keys), torch.from_numpy(stacked.root)
        self.offsets = torch.from_numpy(stacked.offsets)
        self.first, self.last = torch.from_numpy(stacked.first), torch.from_numpy(stacked.last)

    @staticmethod
    def multiply(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        ax, ay, az, aw = a.unbind(-1)
        bx, by, bz, bw = b.unbind(-1)
        x = aw * bx + ax * bw + ay * bz - az * by
        y = aw * by - ax * bz + ay * bw + az * bx
        z = aw * bz + ax * by - ay * bx + az * bw
        return torch.stack([x, y, z, aw * bw - ax * bx - ay * by - az * bz], -1)

    def poses(self, ids: torch.Tensor, times: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        frame = torch.minimum((times * RATE).clamp(min=0), self.last[ids])
        start = torch.minimum(frame.long(), self.last[ids] - 1)
        share = (frame - start).float()
        begin = self.first[ids] + start
        a, b = self.keys[begin], self.keys[begin + 1]
        cosine = (a * b).sum(-1, keepdim=True)
        b, cosine = torch.where(cosine < 0, -b, b), cosine.abs().clamp(max=1)
        angle = torch.acos(cosine)
        sine, share3 = torch.sin(angle), share[:, None, None]
        near = angle < 1e-4
        sine = torch.where(near, torch.ones_like(sine), sine)
        of_a = torch.where(near, 1 - share3, torch.sin((1 - share3) * angle) / sine)
        of_b = torch.where(near, share3, torch.sin(share3 * angle) / sine)
        local = of_a * a + of_b * b
        root = torch.lerp(self.root[begin], self.root[begin + 1], share[:, None])
        positions, rotations = [], []
        for joint, parent in enumerate(self.stacked.parents):
            if parent < 0:
                positions.append(root)
                rotations.append(local[:, joint])
                continue
            turn, offset = rotations[parent], self.offsets[joint].expand(len(root), 3)
            twice = 2 * torch.linalg.cross(turn[:, :3], offset)
            moved = offset + turn[:, 3:] * twice + torch.linalg.cross(turn[:, :3], twice)
            positions.append(positions[parent] + moved)
            rotations.append(self.multiply(turn, local[:, joint]))
        return torch.stack(positions, 1), torch.stack(rotations, 1)

    def states(self, ids: torch.Tensor, times: torch.Tensor) -> list[torch.Tensor]:
        with torch.inference_mode():
            end = self.last[ids] / RATE
            before = (times - 1 / RATE).clamp(min=0)
            after = torch.minimum(times + 1 / RATE, end)
            pos, quat = self.poses(ids, times)
            earlier, later = self.poses(ids, before), self.poses(ids, after)
            step = (after - before).float()[:, None, None]
            turn = self.multiply(later[1], earlier[1] * torch.tensor([-1.0, -1.0, -1.0, 1.0]))
            turn = torch.where(turn[..., 3:] < 0, -turn, turn)
            sine = turn[..., :3].norm(dim=-1, keepdim=True)
            angvel = turn[..., :3] * (2 * torch.atan2(sine, turn[..., 3:]) / sine.clamp(min=1e-12)) / step
            return [pos, quat, (later[0] - earlier[0]) / step, angvel]


def slerp_loop(motion: rigs.Motion, times: np.ndarray) -> list[np.ndarray]:
    """A take, joint after joint with SciPy's Slerp, then forward kinematics over all times at once."""
    keys = np.arange(len(motion.root)) / RATE
    local = np.empty((len(times), len(motion.parents), 4))
    for joint in range(len(motion.parents)):
        rotations = Rotation.from_euler("ZXY", motion.angles[:, joint], degrees=True)
        local[:, joint] = Slerp(keys, rotations)(times).as_quat()
    root = np.stack([np.interp(times, keys, motion.root[:, axis]) for axis in range(3)], axis=-1)
    return [np.asarray(array, np.float32) for array in rigs.forward(motion.parents, motion.offsets, root, local)]


def baked(folder: Path, names: list[str]) -> posse.PackedMotion | None:
    """The packed motion of clips in a folder. None without the command."""
    command = os.environ.get("POSSE_BIN")
    if not command:
        print("SKIPPED: POSSE_BIN is not set, which names the command", file=sys.stderr)
        return None
    files, out = [str(folder / name) for name in names], str(folder / "packed")
    options = ["--format", "packed", "--arrays", "pos,quat,linvel,angvel"]
    subprocess.run([command, "bake", *files, "-o", out, *options], check=True, capture_output=True)
    return posse.PackedMotion(out)


def check(expected: list[np.ndarray], found: list[np.ndarray], order: list[int]) -> None:
    """Compares positions, rotations up to their sign, and velocities; `order` has the joints of `found`."""
    for index, (one, other) in enumerate(zip(expected, found)):
        one = np.asarray(one)[:, order]
        if index == 1:
            assert np.abs((one * other).sum(-1)).min() > 1 - 1e-5
        else:
            bound = 2e-4 if index == 0 else 2e-2
            assert np.abs(one - other).max() < bound, (index, np.abs(one - other).max())


def measure(cases: dict[str, Callable[[], object]], rounds: int) -> None:
    """Prints the median time of each case, and the ratio to the first case."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for round_ in range(rounds + 1):
        for name, run in cases.items():
            begin = time.perf_counter()
            run()
            # The first round warms up.
            if round_:
                times[name].append(time.perf_counter() - begin)
    first = times[next(iter(cases))]
    for name, own in times.items():
        ratio = statistics.median(one / other for one, other in zip(own, first))
        middle, fast, slow = (1e3 * number for number in (statistics.median(own), min(own), max(own)))
        print(f"  {name:32} {middle:8.2f} ms ({fast:.2f}-{slow:.2f})  {ratio:6.1f}x  {min(own) / min(first):6.1f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--threads", default="1,2")
    arguments = parser.parse_args()
    threads = [int(count) for count in arguments.threads.split(",")]
    for name, module in (("PyTorch", torch), ("SciPy", Slerp)):
        if module is None:
            print(f"SKIPPED: {name} is not installed", file=sys.stderr)

    motions = [rigs.Motion.random(JOINTS, FRAMES, 1 / RATE, seed) for seed in range(CLIPS)]
    take = rigs.Motion.random(JOINTS, 6450, 1 / RATE, 1000)
    other = [rigs.Motion.random(JOINTS, FRAMES, 1 / RATE, seed) for seed in range(CLIPS)]
    for index, motion in enumerate(other):
        motion.offsets = motion.offsets * (1 + 0.001 * index)
    with tempfile.TemporaryDirectory() as folder:
        write = lambda name, motion: motion.write(Path(folder) / name)  # noqa: E731
        library = posse.Library(*[write(f"{index}.bvh", motion) for index, motion in enumerate(motions)])
        apart = posse.Library(*[write(f"o{index}.bvh", motion) for index, motion in enumerate(other)])
        long = posse.Library(write("take.bvh", take))
        packed = baked(Path(folder), [f"{index}.bvh" for index in range(CLIPS)])
    order = [int(name[5:]) for name in library.clips[0].joints]

    random = np.random.default_rng(0)
    ids, times = random.integers(0, CLIPS, ROWS), random.uniform(0, (FRAMES - 1) / RATE, ROWS)
    stacked = Stacked(motions)
    out = library.states(ids, times, velocities=True)
    check(stacked.states(ids, times), list(out.arrays.values()), order)
    cases: dict[str, Callable[[], object]] = {}
    for count in threads:
        plural = "" if count == 1 else "s"
        cases[f"posse, out=, {count} thread{plural}"] = lambda count=count: library.states(
            ids, times, velocities=True, threads=count, out=out
        )
    cases["posse, new arrays, 1 thread"] = lambda: library.states(ids, times, velocities=True, threads=1)
    cases[f"posse, {CLIPS} skeletons, 1 thread"] = lambda: apart.states(ids, times, velocities=True, threads=1, out=out)
    cases["NumPy, float32"] = lambda: stacked.states(ids, times)
    if packed is not None:
        table, index = packed, np.array([packed.clip(str(clip)).index for clip in range(CLIPS)])[ids]
        states = table.states(index, times, velocities=True)
        # Between frames 1 / 60 s apart.
        assert np.abs(states.pos - out.pos).max() < 0.05
        rows = np.array([clip.first_row for clip in table])[index] + np.rint(times * RATE).astype(int)
        cases["PackedMotion, interpolated"] = lambda: table.states(index, times, velocities=True, out=states)
        cases["PackedMotion, nearest rows"] = lambda: [array[rows] for array in table.arrays.values()]
    if torch is not None:
        tensors = Torch(stacked)
        rows = (torch.from_numpy(ids), torch.from_numpy(times))
        check([array.numpy() for array in tensors.states(*rows)], list(out.arrays.values()), order)

        def in_torch(count: int) -> None:
            torch.set_num_threads(count)
            tensors.states(*rows)

        for count in threads:
            plural = "" if count == 1 else "s"
            cases[f"PyTorch, {count} thread{plural}"] = lambda count=count: in_torch(count)
    print(f"states: {ROWS} rows of {JOINTS} joints, {CLIPS} clips of {FRAMES} frames; positions, rotations, velocities")
    measure(cases, arguments.rounds)

    between = (np.arange(6450) + 0.37) / RATE
    between = between[between <= long.clips[0].duration]
    arrays = ["pos", "quat"]
    cases = {"posse, 1 thread": lambda: long.sample(0, between, arrays=arrays, threads=1)}
    cases["NumPy, float64"] = lambda: take.model(between)
    if Slerp is not None:
        found = list(long.sample(0, between, arrays=arrays).arrays.values())
        check(slerp_loop(take, between), found, order)
        cases["SciPy Slerp per joint, NumPy"] = lambda: slerp_loop(take, between)
    print(f"sample: a take of 6450 frames of {JOINTS} joints at {len(between)} times; positions, rotations")
    measure(cases, max(3, arguments.rounds // 3))


if __name__ == "__main__":
    main()
