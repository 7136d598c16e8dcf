"""The native half of the package. It is not public; `posse` documents its classes."""

from collections.abc import Sequence
from typing import Optional, final

import numpy as np
import numpy.typing as npt

from ._recipe import Opening
from ._request import Request, Times
from ._retarget import Retargeting

__all__ = [
    "Crowd",
    "Error",
    "Layout",
    "Library",
    "__version__",
    "available_cores",
    "frame_count",
    "frame_times",
    "may_have_motion",
    "run_command",
]

__version__: str

class Error(ValueError):
    """A file that cannot be used, or a request that does not fit it. The message names the place and a hint."""

@final
class Layout:
    """The arrays that a caller asked for, of one skeleton."""

    @property
    def skeleton(self) -> int: ...
    @property
    def arrays(self) -> list[tuple[str, str, list[int]]]: ...
    @property
    def joint_names(self) -> list[str]: ...
    @property
    def parents(self) -> list[int]: ...
    @property
    def weight_names(self) -> list[str]: ...
    @property
    def contact_feet(self) -> list[str]: ...
    def has_columns_of(self, other: Layout) -> bool: ...

@final
class Library:
    """The clips of files, ready to be sampled. It does not change."""

    @staticmethod
    def open(opening: Opening, threads: int) -> tuple[Library, list[tuple[int, Exception]]]: ...
    @property
    def sources(self) -> list[tuple[str, int, int]]: ...
    @property
    def clips(self) -> list[tuple[Optional[str], int, float, float, int]]: ...
    def select(self, text: str) -> int: ...
    @property
    def skeletons(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def warnings(self) -> list[str]: ...
    def retarget(self, request: Retargeting, threads: int) -> tuple[Library, list[tuple[int, str]]]: ...
    def mirror(self, clips: Sequence[int], threads: int) -> tuple[Library, list[str]]: ...
    def layout(self, skeleton: int, request: Request) -> Layout: ...
    def fill(
        self,
        layouts: Sequence[Layout],
        times: Times,
        out: Sequence[npt.NDArray[np.float32]],
        threads: int,
        fps: Optional[float],
    ) -> None: ...

@final
class Crowd:
    """The instances of a crowd file, ready to be sampled. It does not change."""

    @staticmethod
    def open(path: str, strict: bool) -> Crowd: ...
    @property
    def files(self) -> list[str]: ...
    @property
    def groups(self) -> list[tuple[int, int, int]]: ...
    @property
    def warnings(self) -> list[str]: ...
    def layout(self, file: int, request: Request) -> Layout: ...
    def fill(self, instance: int, layout: Layout, times: Times, out: Sequence[npt.NDArray[np.float32]]) -> None: ...

def frame_count(fps: float, duration: float) -> int: ...
def frame_times(
    fps: float, duration: float, part: Optional[tuple[float, float]] = None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
def may_have_motion(path: str) -> bool: ...
def available_cores() -> int: ...
def run_command(arguments: Sequence[str]) -> int: ...
