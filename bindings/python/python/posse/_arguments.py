"""Arguments of the native half."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
import numpy.typing as npt


class Space(TypedDict):
    """The space of the numbers, by the names of the options."""

    up: str
    scale: float
    quaternions: str


class Times(TypedDict):
    """Clips and times, one per row. `before` and `after` are the times that velocities are measured between."""

    clips: npt.NDArray[np.int64]
    times: npt.NDArray[np.float64]
    before: npt.NDArray[np.float64]
    after: npt.NDArray[np.float64]
