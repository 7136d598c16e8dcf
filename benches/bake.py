"""Rates of `posse bake`, BVH to npz, beside `cat | sha256sum` of the same bytes. `python3 benches/bake.py POSSE [MEGABYTES [FOLDER]]`

POSSE is the built command. The files lie in FOLDER, by default in memory (/dev/shm), so that a disk does not count: posse syncs each
output. The sides alternate; the figures are medians of seven rounds. Rates are those of the bytes of the BVH files.
"""

import contextlib
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from bvh_readers import bvh_text

FILES = 12
ROUNDS = 7


def timed(command):
    """Wall and CPU seconds of a shell command."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    posse = pathlib.Path(sys.argv[1]).resolve()
    megabytes = float(sys.argv[2]) if len(sys.argv) > 2 else 240.0
    memory = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None
    folder = pathlib.Path(tempfile.mkdtemp(dir=sys.argv[3] if len(sys.argv) > 3 else memory))
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        motions = folder / "motions"
        motions.mkdir()
        text = bvh_text(1e6 * megabytes / FILES)
        for number in range(FILES):
            (motions / f"walk{number}.bvh").write_text(text)
        size = len(text) * FILES / 1e6
        bake = f"rm -rf {folder}/out; {posse} bake {motions} -o {folder}/out"
        sides = {
            "cat | sha256sum": f"cat {motions}/*.bvh | sha256sum",
            "pos,quat, 1 thread": f"{bake} --threads 1",
            "pos,quat, 2 threads": f"{bake} --threads 2",
            "with velocities, 1 thread": f"{bake} --threads 1 --arrays pos,quat,linvel,angvel",
        }
        times = {name: [] for name in sides}
        for _ in range(ROUNDS):
            for name, command in sides.items():
                times[name].append(timed(command))
    hashed = times["cat | sha256sum"]
    one = times["pos,quat, 1 thread"]
    print(f"{size:.0f} MB in {FILES} files, medians of {ROUNDS} rounds in turn")
    print(f"{'':28}{'MB/s':>8}{'MB per CPU s':>14}{'x sha256sum (CPU)':>19}{'x 1 thread (wall)':>19}")
    for name, measured in times.items():
        wall, cpu = (statistics.median(column) for column in zip(*measured))
        of_hash = statistics.median(theirs[1] / ours[1] for theirs, ours in zip(hashed, measured))
        of_one = statistics.median(theirs[0] / ours[0] for theirs, ours in zip(one, measured))
        print(f"{name:28}{size / wall:8.0f}{size / cpu:14.0f}{of_hash:19.2f}{of_one:19.2f}")


if __name__ == "__main__":
    main()
