"""Windows of consecutive frames for training.

Order costs no memory: the window at a place of an epoch is a function of seed, epoch and place, so that every worker, rank and
restarted run agrees on it. For windows that all come once, that function is a permutation: a Feistel network over the smallest
power of 4 with enough numbers, applied again where it leaves the range (cycle walking; Black and Rogaway, CT-RSA 2002).
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, Optional, TypeVar, Union, cast

import numpy as np
import numpy.typing as npt

from . import _posse
from ._request import Wrap
from ._table import pytorch

Numbers = TypeVar("Numbers")
"""Arrays of NumPy or tensors of PyTorch."""

if TYPE_CHECKING:
    from torch.utils.data import Dataset  # type: ignore[import-not-found, unused-ignore]

    from ._packed import PackedMotion

    # A `DataLoader` takes whatever has a length and items; its types ask for a `Dataset`.
    class DataSet(Dataset[dict[str, Numbers]], Generic[Numbers]):  # type: ignore[misc, unused-ignore]
        """Arrays by name, by index."""

else:

    class DataSet(Generic[Numbers]):
        """Arrays by name, by index."""


Indices = npt.NDArray[np.int64]
Weighting = Union[Literal["windows", "length", "clips"], Sequence[float], npt.NDArray[Any]]
"""How often clips are drawn."""

ROUNDS = 6
"""Rounds of the permutation."""
WINDOWS_OF_A_CHUNK = 1 << 14
"""Windows whose order is computed at once."""


class Windows(DataSet[Numbers]):
    """All windows of a number of frames of the clips of a `PackedMotion`; `PackedMotion.windows` makes them.

    A map-style data set of PyTorch: `windows[i]` is a window as arrays by name, (W, ...) for W frames, with `clip` and `frame`,
    the index of its clip and its first frame. Windows inside of their clips show the mapped file and copy nothing.
    `DataLoader(windows, shuffle=True)` works with workers of all start methods; `batches` is many times as fast.

    Of `world_size` ranks, each has every so-and-so-many-th window, and all have the same number, so that up to `world_size - 1`
    windows are left out.
    """

    def __init__(
        self,
        motion: PackedMotion,
        names: tuple[str, ...],
        clips: Indices,
        length: int,
        wrap: Optional[Wrap],
        rank: int,
        world_size: int,
        tensors: bool,
    ) -> None:
        if length < 1:
            raise _posse.Error(f"length={length}; expected 1 frame or more")
        if wrap not in (None, "clamp", "loop"):
            raise _posse.Error(f"wrap={wrap!r}; expected None, 'clamp' or 'loop'")
        if not 0 <= rank < world_size:
            raise _posse.Error(f"rank={rank} of world_size={world_size}; expected a rank from 0 to world_size - 1")
        self._arguments = (motion, names, clips, length, wrap, rank, world_size, tensors)
        self._arrays = {name: motion.arrays[name] for name in names}
        self._clips = clips
        self._first, self._frames = motion._firsts[clips], motion._frames[clips]
        self._seconds = (self._frames - 1) / motion._rates[clips]
        self._length, self._wrap, self._rank, self._world_size = length, wrap, rank, world_size
        self._convert = pytorch().from_numpy if tensors else np.asarray
        # The windows of each clip, and the number of windows up to the end of each.
        self._counts = np.maximum(self._frames - length + 1, 0) if wrap is None else self._frames
        self._ends = np.cumsum(self._counts)
        if self.total < world_size:
            longest = int(self._frames.max()) if len(clips) else 0
            raise _posse.Error(
                f"{self.total} windows of {length} frames for {world_size} ranks; the longest clip has {longest} frames: "
                "give a smaller `length`, or `wrap`"
            )

    @property
    def total(self) -> int:
        """The number of windows of all ranks."""
        return int(self._ends[-1]) if len(self._ends) else 0

    @property
    def length(self) -> int:
        """The frames of a window."""
        return self._length

    @property
    def used_clips(self) -> Indices:
        """The indices of the clips that have windows; int64."""
        used: Indices = self._clips[self._counts > 0]
        return used

    def batches(
        self, size: int, *, weights: Weighting = "windows", seed: int = 0, epoch: int = 0, count: Optional[int] = None
    ) -> Batches[Numbers]:
        """Batches of `size` windows in an order that follows from `seed` and `epoch`.

        `weights` is one of:

        * "windows": every window comes once, in random order, so that clips come in proportion to their frames;
        * "length": clips are drawn in proportion to their seconds, with replacement;
        * "clips": all clips are drawn equally often, with replacement;
        * a number of 0 and more for each clip that was given to `PackedMotion.windows`, which are drawn in proportion to it.

        A clip that was drawn begins at any of its windows. `count` is the number of batches, by default as many as windows last; the
        remainder is left out. Ranks with one seed have different windows. The same object gives the same order each time: ask for the
        batches of each epoch anew.
        """
        return Batches(self, operator.index(size), weights, operator.index(seed), operator.index(epoch), count)

    def __len__(self) -> int:
        return self.total // self._world_size

    def __getitem__(self, index: int) -> dict[str, Numbers]:
        place = operator.index(index)
        if not -len(self) <= place < len(self):
            raise IndexError(f"window {place}: there are {len(self)}")
        clip, frame = self._places(np.array(place % len(self) * self._world_size + self._rank, dtype=np.int64))
        if self._wrap is not None:
            return self._gathered(clip, frame)
        row = int(self._first[clip] + frame)
        found = {name: array[row : row + self._length] for name, array in self._arrays.items()}
        return self._converted(found, clip, frame)

    def __reduce__(self) -> tuple[object, ...]:
        return Windows, self._arguments

    def __repr__(self) -> str:
        return f"Windows({len(self)} of {self._length} frames, {', '.join(self._arrays)})"

    def _places(self, windows: Indices) -> tuple[Indices, Indices]:
        """The places of the clips of windows among those that were chosen, and their first frames."""
        clip = np.searchsorted(self._ends, windows, side="right")
        return clip, windows - (self._ends[clip] - self._counts[clip])

    def _gathered(self, clip: Indices, frame: Indices) -> dict[str, Numbers]:
        """Copies of windows."""
        frames = frame[..., np.newaxis] + np.arange(self._length)
        ends = self._frames[clip][..., np.newaxis]
        rows = np.minimum(frames, ends - 1) if self._wrap == "clamp" else frames % ends
        rows += self._first[clip][..., np.newaxis]
        found: dict[str, npt.NDArray[Any]] = {name: np.take(array, rows, axis=0) for name, array in self._arrays.items()}
        if self._wrap is not None:
            found["valid"] = frames < ends
        return self._converted(found, clip, frame)

    def _converted(self, found: dict[str, npt.NDArray[Any]], clip: Indices, frame: Indices) -> dict[str, Numbers]:
        found["clip"], found["frame"] = np.asarray(self._clips[clip]), np.asarray(frame)
        return {name: cast(Numbers, self._convert(array)) for name, array in found.items()}


class Batches(DataSet[Numbers]):
    """Batches of windows in a fixed random order; `Windows.batches` makes them.

    A batch has new arrays (B, W, ...) by name, with `clip` and `frame` (B). It is a sequence: `batches[k]` is batch k of the epoch,
    from which a run can go on. `DataLoader(batches, batch_size=None, num_workers=4)` makes batches in workers.
    """

    def __init__(
        self, windows: Windows[Numbers], size: int, weights: Weighting, seed: int, epoch: int, count: Optional[int]
    ) -> None:
        if size < 1:
            raise _posse.Error(f"size={size}; expected 1 window or more")
        if seed < 0 or epoch < 0:
            raise _posse.Error(f"seed={seed}, epoch={epoch}; expected numbers of 0 and more")
        if count is not None and count < 1:
            raise _posse.Error(f"count={count}; expected 1 batch or more")
        every = len(windows) // size
        draws_all = isinstance(weights, str) and weights == "windows"
        if count is None:
            count = every
            if count == 0:
                raise _posse.Error(f"{len(windows)} windows are no batch of {size}; give a smaller `size`, or `weights` and `count`")
        elif draws_all and count > every:
            raise _posse.Error(f"count={count}, but {len(windows)} windows are {every} batches of {size}; take the next `epoch`")
        self._arguments = (windows, size, weights, seed, epoch, count)
        self._windows, self._size, self._count = windows, size, operator.index(count)
        self._entropy = (seed, epoch)
        self._shares = None if draws_all else cumulative(weights, windows._seconds, windows._counts > 0)
        # The order is computed for many batches at once, because NumPy takes its time for each call. The last part of it is kept.
        self._chunk = max(WINDOWS_OF_A_CHUNK // size, 1)
        self._cached: tuple[int, Indices] = (-1, np.zeros(0, dtype=np.int64))
        self._keys = round_keys(self._entropy)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> dict[str, Numbers]:
        batch = operator.index(index)
        if not -self._count <= batch < self._count:
            raise IndexError(f"batch {batch}: there are {self._count}")
        return self._windows._gathered(*self._drawn(batch % self._count))

    def __iter__(self) -> Iterator[dict[str, Numbers]]:
        return (self[batch] for batch in range(self._count))

    def __reduce__(self) -> tuple[object, ...]:
        return Batches, self._arguments

    def __repr__(self) -> str:
        return f"Batches({self._count} of {self._size}, {self._windows!r})"

    def _drawn(self, batch: int) -> tuple[Indices, Indices]:
        """The clips and first frames of the windows of a batch."""
        windows = self._windows
        if self._shares is None:
            chunk, place = divmod(batch, self._chunk)
            cached = self._cached
            if chunk != cached[0]:
                first, last = chunk * self._chunk, min((chunk + 1) * self._chunk, self._count)
                places = np.arange(first * self._size, last * self._size) * windows._world_size + windows._rank
                self._cached = cached = (chunk, _permuted(places, windows.total, self._keys))
            return windows._places(cached[1][place * self._size : (place + 1) * self._size])
        random = np.random.default_rng((*self._entropy, windows._rank, batch))
        clip = np.searchsorted(self._shares, random.random(self._size), side="right")
        return clip, random.integers(0, windows._counts[clip])


def cumulative(
    weights: Weighting, lengths: npt.NDArray[np.float64], usable: Union[npt.NDArray[np.bool_], bool] = True
) -> npt.NDArray[np.float64]:
    """The shares of clips in what is drawn, added up, so that the last one is 1. `lengths` are their seconds; clips that are not
    usable are never drawn."""
    if isinstance(weights, str):
        named = {"length": lengths, "clips": np.ones_like(lengths)}
        if weights not in named:
            raise _posse.Error(f"weights={weights!r}; expected {', '.join(map(repr, named))} or a number per clip")
        shares = named[weights]
    else:
        shares = np.asarray(weights, dtype=np.float64)
        if shares.shape != lengths.shape:
            raise _posse.Error(f"weights have the shape {shares.shape}; expected a number for each of {len(lengths)} clips")
        if not (np.isfinite(shares) & (shares >= 0)).all():
            raise _posse.Error("weights have a number below 0 or one that is not finite; expected numbers of 0 and more")
    shares = np.where(usable, shares, 0.0)
    # Clips of one frame have no length.
    if not shares.any():
        raise _posse.Error("the weights of all clips that can be drawn are 0; expected one above 0")
    added = np.cumsum(shares / shares.max())
    # The clips after the last one with a weight have the end of its range, which no number below 1 reaches.
    result: npt.NDArray[np.float64] = added / added[-1]
    return result


def round_keys(entropy: Sequence[int]) -> npt.NDArray[np.uint64]:
    """The keys of a permutation."""
    return np.random.SeedSequence(entropy).generate_state(ROUNDS, np.uint64).astype(np.uint64)


def _permuted(places: Indices, count: int, keys: npt.NDArray[np.uint64]) -> Indices:
    """The numbers at places of a permutation of 0 to `count` - 1."""
    bits = np.uint64(max((count - 1).bit_length() + 1, 2) // 2)
    mask = np.uint64((1 << int(bits)) - 1)
    found = places.astype(np.uint64)
    outside = np.ones(found.shape, dtype=np.bool_)
    while outside.any():
        left, right = found[outside] >> bits, found[outside] & mask
        for key in keys:
            left, right = right, left ^ (_mixed(right ^ key) & mask)
        found[outside] = (left << bits) | right
        outside = found >= count
    return found.astype(np.int64)


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A hash of 64 bits: the finalizer of SplitMix64 (Steele and others, OOPSLA 2014)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
