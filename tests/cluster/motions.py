"""Motion libraries for the tests: small BVH files, and some that take a while."""

import math
import pathlib

HEAD = """HIERARCHY
ROOT hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT spine
  {
    OFFSET 0 10 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT head
    {
      OFFSET 0 20 0
      CHANNELS 3 Zrotation Xrotation Yrotation
      End Site
      {
        OFFSET 0 5 0
      }
    }
  }
}
MOTION
"""


def frame(index, seed):
    """A line of twelve numbers."""
    angle = index / 17 + seed
    numbers = [index / 100, 90 + math.sin(angle), seed] + [30 * math.sin(angle + joint) for joint in range(9)]
    return " ".join(f"{number:.4f}" for number in numbers)


def write_bvh(file, frames, seed):
    """A BVH file with frames that differ from each other."""
    period = [frame(index, seed) for index in range(min(frames, 500))]
    lines = (period[index % len(period)] for index in range(frames))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(HEAD + f"Frames: {frames}\nFrame Time: 0.0083333\n" + "\n".join(lines) + "\n")


def write_library(folder, lengths):
    """A library of one file per number of frames, in two folders."""
    for index, frames in enumerate(lengths):
        write_bvh(pathlib.Path(folder) / f"take{index % 2}" / f"motion {index:02}.bvh", frames, index / 3)


def outputs(folder):
    """The bytes of each baked file, by its path."""
    folder = pathlib.Path(folder)
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*.npz"))}


def leftovers(folder):
    """The files that are neither outputs nor lists, such as drafts."""
    files = (file for file in pathlib.Path(folder).rglob("*") if file.is_file())
    return [str(file) for file in files if file.suffix not in (".npz", ".json", ".jsonl")]
