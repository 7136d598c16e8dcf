"""Paths of files with clips."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Iterable
from typing import Union

from . import _posse

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Paths = Union[Path, Iterable[Path]]

EXTENSIONS = (".bvh", ".fbx", ".glb", ".gltf", ".npz")
"""The extensions of the files that a folder is searched for."""


def listed(paths: Iterable[Paths]) -> list[str]:
    """The files of paths, globs and lists of them, in their order."""
    files: list[str] = []
    for path in paths:
        for each in (path,) if isinstance(path, (str, bytes, os.PathLike)) else path:
            files += _matching(os.fsdecode(each))
    return files


def _matching(path: str) -> list[str]:
    """The files that a glob matches, in order of their bytes. A file that is there is no glob, whatever its name."""
    if os.path.lexists(path) or not glob.has_magic(path):
        return [path]
    found = sorted((match for match in glob.glob(path, recursive=True) if not os.path.isdir(match)), key=os.fsencode)
    if not found:
        raise FileNotFoundError(errno.ENOENT, "no file matches", path)
    return found


def below(folder: str) -> list[str]:
    """The files with clips in a folder and in all folders below it, in order of their bytes, as `posse bake` finds them."""
    found = []
    # Links may lead back to a folder above.
    above: dict[str, frozenset[str]] = {folder: frozenset()}
    for place, folders, names in os.walk(folder, followlinks=True, onerror=_refuse):
        line = above.pop(place) | {os.path.realpath(place)}
        folders[:] = [name for name in folders if os.path.realpath(os.path.join(place, name)) not in line]
        above.update((os.path.join(place, name), line) for name in folders)
        found += [os.path.join(place, name) for name in names if name.lower().endswith(EXTENSIONS)]
    # Most files of NumPy have no motion: shapes of AMASS, and outputs of a bake.
    files = [path for path in found if not path.lower().endswith(".npz") or _posse.may_have_motion(path)]
    if not files:
        raise _posse.Error(f"{folder}: there is no .bvh, .fbx, .glb or .gltf file in it, and no .npz file of SMPL")
    return sorted(files, key=os.fsencode)


def _refuse(error: OSError) -> None:
    raise error


def absolute(path: str) -> str:
    """A path that does not depend on the working folder."""
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
