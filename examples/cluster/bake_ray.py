#!/usr/bin/env python3
"""Bakes a motion library with Ray Data: Parquet files with a row per clip.

    python bake_ray.py motions baked --fps 30

Every node needs the packages `ray[data]` and `posse-animation`, and sees both folders under the same paths.

A row has the `path` below the folder, the `clip`, its `fps`, the names of its `joints`, their `parents`, the `time` of each frame,
and for each array the numbers of all frames: `np.reshape(row["pos"], (len(row["time"]), len(row["joints"]), 3))`.

A file that posse cannot read is a row, too: it has an `error` and no clip. Ray runs a task that fails again and again, and a bad
file would fail each time. The exit code is 2 if there are such files.
"""

import argparse
import pathlib
import sys

import posse_animation as posse
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset
import ray

ARRAYS = ["pos", "quat", "linvel", "angvel"]
SUFFIXES = [".bvh", ".glb", ".gltf"]
FACTS = {"fps": pa.float64(), "joints": pa.list_(pa.string()), "parents": pa.list_(pa.int32()), "time": pa.list_(pa.float64())}
SCHEMA = pa.schema(
    {"path": pa.string(), "clip": pa.string(), "error": pa.string(), **FACTS}
    | {name: pa.list_(pa.float32()) for name in ARRAYS}
)


def bake_file(folder, path, fps):
    """The rows of a file: one per clip, or one with an error."""
    try:
        # Ray gives each task one core.
        library = posse.Library(pathlib.Path(folder) / path, threads=1)
        for clip in library.clips:
            poses = library.bake(clip, fps=fps, arrays=ARRAYS, threads=1)
            yield {
                "path": path,
                "clip": clip.name or str(clip.index),
                "fps": poses.fps,
                "joints": poses.joint_names,
                "parents": poses.parents,
                "time": poses.time,
                **{name: poses.arrays[name].ravel() for name in ARRAYS},
            }
    except (posse.Error, OSError) as error:
        yield {"path": path, "error": str(error)}


def bake_files(files, folder, fps):
    """The rows of a table of paths."""
    rows = [row for path in files["path"].to_pylist() for row in bake_file(folder, path, fps)]
    return pa.Table.from_pylist(rows, SCHEMA)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="a folder of .bvh, .glb and .gltf files")
    parser.add_argument("out", type=pathlib.Path, help="a new folder for the Parquet files")
    parser.add_argument("--fps", type=float, help="frames per second; by default those of each clip")
    arguments = parser.parse_args()
    folder, out = arguments.folder.resolve(), arguments.out.resolve()
    if out.exists():
        parser.error(f"{out} exists already; name a new folder")
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in SUFFIXES)
    if not files:
        parser.error(f"{folder} has no {', '.join(SUFFIXES)} files")

    items = [{"path": str(file.relative_to(folder))} for file in files]
    dataset = ray.data.from_items(items, override_num_blocks=min(len(items), 1000))
    how = {"batch_size": 1, "batch_format": "pyarrow", "num_cpus": 1}
    arguments = {"folder": str(folder), "fps": arguments.fps}
    dataset.map_batches(bake_files, fn_kwargs=arguments, **how).write_parquet(str(out))

    is_error = pc.field("error").is_valid()
    failed = pyarrow.dataset.dataset(out).to_table(columns=["path", "error"], filter=is_error).to_pylist()
    for row in failed:
        print(f"{row['path']}: {row['error']}", file=sys.stderr)
    sys.exit(2 if failed else 0)


if __name__ == "__main__":
    main()
