"""How a library was made, so that another process can make it again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional, Union, cast

from . import _posse
from ._retarget import Retargeting, RetargetReport

Source = tuple[str, int, int]
"""The path, the size and the CRC-32 of a file that was read."""


@dataclass(frozen=True)
class Opening:
    """The files of a library, and how they are read."""

    files: tuple[str, ...]
    input_fps: Optional[float]
    end_sites: bool
    strict: bool
    skeleton: Optional[str]
    passes_over: bool
    compress: Optional[str]


@dataclass(frozen=True)
class Mirroring:
    """The clips that get mirror images."""

    clips: tuple[int, ...]


@dataclass(frozen=True)
class Recipe:
    """The files of a library, and what was done with their clips."""

    opening: Opening
    """The files that are used, by paths that do not depend on the working folder."""
    names: tuple[str, ...]
    """Their paths, as the caller gave them."""
    failed: tuple[tuple[str, Exception], ...]
    """The files that were passed over, with their errors."""
    steps: tuple[Union[Retargeting, Mirroring], ...]
    sources: tuple[Source, ...]
    """All files that were read."""

    def fingerprint(self) -> str:
        """A text that only libraries with the same clips have."""
        facts = repr((self.opening, self.steps, [facts for _, *facts in self.sources]))
        return hashlib.sha256(facts.encode(errors="surrogatepass")).hexdigest()

    def follow(self, threads: int) -> tuple[_posse.Library, tuple[RetargetReport, ...]]:
        """Makes the library again. Raises `Error` for a file that has changed."""
        native, _ = _posse.Library.open(self.opening, threads)
        reports: tuple[RetargetReport, ...] = ()
        self._check(native)
        for step in self.steps:
            if isinstance(step, Retargeting):
                native, found = native.retarget(step, threads)
                reports = named(found, self.names)
            else:
                native, _ = native.mirror(step.clips, threads)
            self._check(native)
        return native, reports

    def _check(self, native: _posse.Library) -> None:
        for (path, *expected), (_, *found) in zip(self.sources, native.sources):
            if found != expected:
                raise _posse.Error(
                    f"{path}: the file, or a buffer beside it, has changed since the library was pickled: it has {found[0]} bytes "
                    f"with the CRC-32 {found[1]:08x}, and had {expected[0]} with {expected[1]:08x}; make the library anew"
                )


def named(reports: Sequence[tuple[int, str]], names: Sequence[str]) -> tuple[RetargetReport, ...]:
    """Reports with the paths of their files."""
    return tuple(cast(RetargetReport, {"file": names[file], **json.loads(report)}) for file, report in reports)
