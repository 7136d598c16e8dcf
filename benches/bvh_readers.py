"""Times of reading a BVH file: posse beside readers in Python. `python3 benches/bvh_readers.py POSSE [MEGABYTES]`

POSSE is the built command. The Python readers are the packages `bvh` and `numpy` (`pip install bvh numpy`): `bvh` splits the file into
strings, and `numpy.loadtxt` only parses the numbers of the motion. A reader that is not installed is left out, with a note. The sides
alternate; the rates are those of the medians of three rounds. `posse inspect` also computes rotations, checks the file, and packs it.
"""

import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

JOINTS = 24
ROUNDS = 3


def bvh_text(size):
    """A BVH file of about `size` bytes: a figure that moves smoothly, six decimals per number."""
    lines = ["HIERARCHY"]
    for joint in range(JOINTS):
        positions = "6 Xposition Yposition Zposition" if joint == 0 else "3"
        lines += [f"{'JOINT' if joint else 'ROOT'} joint{joint}", "{", "OFFSET 0 10 0"]
        lines += [f"CHANNELS {positions} Zrotation Xrotation Yrotation"]
    lines += ["End Site", "{", "OFFSET 0 5 0", "}"] + ["}"] * JOINTS + ["MOTION"]
    frames, total = [], 0
    while total < size:
        at = len(frames) / 120
        frame = " ".join(
            f"{60 * math.sin(1.7 * place) + 25 * math.sin(at * (2 + 0.05 * place) + place):.6f}"
            for place in range(3 * JOINTS + 3)
        )
        frames.append(frame)
        total += len(frame) + 1
    return "\n".join([*lines, f"Frames: {len(frames)}", "Frame Time: 0.008333", *frames, ""])


def package_bvh(file):
    import bvh

    bvh.Bvh(file.read_text()).frame_joint_channel(0, "joint0", "Xrotation")


def numpy_loadtxt(file):
    import numpy

    with file.open() as text:
        for line in text:
            if line.startswith("Frame Time"):
                break
        numpy.loadtxt(text)


def sides(posse):
    def inspect(file):
        subprocess.run([posse, "inspect", str(file)], check=True, stdout=subprocess.DEVNULL)

    found = [("posse inspect", inspect)]
    for name, reader, module in [("package bvh", package_bvh, "bvh"), ("numpy.loadtxt", numpy_loadtxt, "numpy")]:
        try:
            __import__(module)
            found.append((name, reader))
        except ImportError:
            print(f"SKIPPED: {name}: pip install {module}", file=sys.stderr)
    return found


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    readers = sides(sys.argv[1])
    megabytes = float(sys.argv[2]) if len(sys.argv) > 2 else 60.0
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "walk.bvh")
        file.write_text(bvh_text(1e6 * megabytes))
        size = file.stat().st_size / 1e6
        times = {name: [] for name, _ in readers}
        for _ in range(ROUNDS):
            for name, read in readers:
                start = time.perf_counter()
                read(file)
                times[name].append(time.perf_counter() - start)
    posse = statistics.median(times["posse inspect"])
    print(f"{size:.0f} MB, medians of {ROUNDS} rounds in turn")
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(f"{name:16} {size / median:8.1f} MB/s {median / posse:8.1f} x the time of posse")


if __name__ == "__main__":
    main()
