"""Animation clips as NumPy arrays: glTF, FBX and BVH files, sampled in bulk.

>>> import numpy as np                                                  # doctest: +SKIP
>>> import posse_animation as posse                                     # doctest: +SKIP
>>> library = posse.Library("Fox.glb", "walk.bvh")                      # doctest: +SKIP
>>> poses = library.sample("Walk", times=np.arange(0, 0.7, 1 / 60))     # doctest: +SKIP
>>> poses.pos.shape                                                     # doctest: +SKIP
(42, 24, 3)

* `Library` reads files; `Library.sample`, `Library.bake` and `Library.states` evaluate their clips, and
  `Library.rest_pose` their skeletons.
* `Library.mirror` adds mirror images of clips. `Library.retarget` brings the clips onto the skeleton of another file, and `Library.reports` says what it did.
* `PackedMotion` has the frames of all clips of `posse bake --format packed`, `Windows` and `Batches` of them for training.
  `MotionLibrary` gives states of either by the calls of programs for motion imitation.
* `Crowd` has the instances of a crowd file.
* `Clip` and `PackedClip` have the facts of a clip, `Poses` the arrays of a result.
* `Error`, a `ValueError`, is raised for files and requests that cannot be used, `OSError` for files that cannot be read.
  `FileWarning` tells of errors of files that were repaired or passed over, `RetargetWarning` of what looks wrong about
  a retargeting or a mirror image.
* `ArrayName` is the type of the names of arrays.

Lengths are in the unit of the file, times in seconds, angles in radians. Quaternions are xyzw, and +Y is up, unless a call says
otherwise. All results are float32 arrays in C order.
"""

from ._clip import Clip
from ._clip_list import PackedClip
from ._crowd import Crowd
from ._library import FileWarning, Library
from ._motion_library import MotionLibrary
from ._packed import PackedMotion
from ._poses import Poses
from ._posse import Error, __version__
from ._request import ArrayName
from ._retarget import RetargetReport, RetargetWarning
from ._windows import Batches, Windows

__all__ = [
    "ArrayName",
    "Batches",
    "Clip",
    "Crowd",
    "Error",
    "FileWarning",
    "Library",
    "MotionLibrary",
    "PackedClip",
    "PackedMotion",
    "Poses",
    "RetargetReport",
    "RetargetWarning",
    "Windows",
    "__version__",
]

# The names that tracebacks and `help` show.
for _class in (
    Batches,
    Clip,
    Crowd,
    FileWarning,
    Library,
    MotionLibrary,
    PackedClip,
    PackedMotion,
    Poses,
    RetargetReport,
    RetargetWarning,
    Windows,
):
    _class.__module__ = __name__
del _class
