"""Holds the poses of the C interface to those of `posse eval`: eval.py POSSE DUMP FILE CLIP SECONDS...

Joints are matched by the names of the nodes of a glTF file; names that several nodes have are left out. The bound is that
of docs/contract.md for the place of a joint on one level, relative to the largest number of the pose.
"""

import json
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path


def node_names(file):
    data = Path(file).read_bytes()
    if data[:4] == b"glTF":
        (length,) = struct.unpack_from("<I", data, 12)
        data = data[20 : 20 + length]
    return [node.get("name") for node in json.loads(data)["nodes"]]


def main(posse, dump, file, clip, *times):
    lines = subprocess.run([dump, file, clip, *times], check=True, capture_output=True, text=True).stdout.splitlines()
    found = {}
    for line in lines:
        time, name, *numbers = line.split("\t")
        found.setdefault((float(time), name), []).append([float(number) for number in numbers])
    command = [posse, "eval", file, "--engine", "reference", "--clip", clip, "--times=" + ",".join(times), "--format", "json"]
    expected = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    names = node_names(file)
    counts = Counter(names)
    compared, largest = 0, 0.0
    for sample in expected["samples"]:
        size = max(max(abs(number) for number in node["world"]) for node in sample["nodes"])
        for name, node in zip(names, sample["nodes"]):
            if not name or counts[name] > 1 or len(found.get((sample["time"], name), [])) != 1:
                continue
            world = node["world"]
            rows = [world[4 * column + row] for row in range(3) for column in range(4)]
            (own,) = found[sample["time"], name]
            error = max(abs(one - other) for one, other in zip(rows, own)) / size
            largest = max(largest, error)
            compared += 1
            if error > 2e-6:
                sys.exit(f"{file}, {clip}, {sample['time']} s, {name}: {own}; expected {rows}")
    if compared < len(times):
        sys.exit(f"{file}: {compared} joints were compared; expected at least one per time")
    print(f"{Path(file).name}, {clip}: {compared} matrices of joints, off by at most {largest:.1e} of the largest number")


main(*sys.argv[1:])
