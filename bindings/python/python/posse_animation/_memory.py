"""Memory that was freed."""

from __future__ import annotations

import ctypes
import sys


def return_freed_memory() -> None:
    """Returns memory that was freed to the system.

    The GNU C library keeps small blocks for later. Of a library, these are the keys of its files as float64, twice as much as it
    has afterwards.
    """
    if sys.platform == "linux":
        # Other C libraries have no such function.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
