"""The native half of the package. It is not public; `posse` documents its classes."""

from collections.abc import Sequence
from typing import Optional, final

import numpy as np
import numpy.typing as npt

from ._request import Request, Times
from ._retarget import Retargeting

__all__ = ["Error", "Layout", "Library", "__version__", "available_cores", "frame_count"]

__version__: str

class Error(ValueError):
    """A file that cannot be used, or a request that does not fit it. The message names the place and a remedy."""

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
    def has_shapes_of(self, other: Layout) -> bool: ...

@final
class Library:
    """The clips of files, ready to be sampled. It does not change."""

    def __new__(
        cls,
        paths: Sequence[str],
        threads: int,
        input_fps: Optional[float],
        end_sites: bool,
        strict: bool,
        skeleton: Optional[str],
    ) -> Library: ...
    @property
    def clips(self) -> list[tuple[Optional[str], int, float, float, int]]: ...
    def select(self, text: str) -> int: ...
    @property
    def skeletons(self) -> int: ...
    @property
    def warnings(self) -> list[str]: ...
    def retarget(self, request: Retargeting, threads: int) -> tuple[Library, list[tuple[int, str]]]: ...
    def layout(self, skeleton: int, request: Request) -> Layout: ...
    def fill(
        self,
        layouts: Sequence[Layout],
        times: Times,
        out: Sequence[npt.NDArray[np.float32]],
        threads: int,
    ) -> None: ...

def frame_count(fps: float, duration: float) -> int: ...
def available_cores() -> int: ...
