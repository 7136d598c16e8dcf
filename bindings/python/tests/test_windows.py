"""Windows of packed motion: what they hold, in which order they come, and workers."""

from __future__ import annotations

import multiprocessing
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import packed_files
import pytest

import posse_animation as posse
from posse_animation import _windows

# The clips have 2 and 8 frames per second.
pytestmark = pytest.mark.filterwarnings("ignore:.* frames per second, so that windows:UserWarning")


@pytest.fixture
def motion(tmp_path: Path) -> posse.PackedMotion:
    """Clip 0 has 3 frames in 1 s, clip 1 has 5 frames in 0.5 s."""
    return posse.PackedMotion(packed_files.write(tmp_path / "baked"))


def places(batch: dict[str, Any]) -> list[tuple[int, int]]:
    """The clips and first frames of windows."""
    return list(zip(batch["clip"].ravel().tolist(), batch["frame"].ravel().tolist()))


def test_windows_lie_in_their_clips(motion: posse.PackedMotion) -> None:
    windows = motion.windows(3, arrays=["pos", "contact"])
    assert (len(windows), windows.total, windows.length) == (4, 4, 3)
    assert [places(window) for window in windows] == [[(0, 0)], [(1, 0)], [(1, 1)], [(1, 2)]]
    for window, first_row in zip(windows, (0, 3, 4, 5)):
        assert list(window) == ["pos", "contact", "clip", "frame"]
        assert np.shares_memory(window["pos"], motion.arrays["pos"])
        np.testing.assert_array_equal(window["pos"], packed_files.arrays()["pos"][first_row : first_row + 3].astype("f4"))
        assert window["contact"].dtype == np.bool_
    assert places(windows[-1]) == [(1, 2)]
    with pytest.raises(IndexError, match="window 4: there are 4"):
        windows[4]
    # Clips with fewer frames have none.
    assert [places(window) for window in motion.windows(5)] == [[(1, 0)]]
    assert len(motion.windows(1)) == 8
    assert [places(window) for window in motion.windows(3, clips=["a"])] == [[(0, 0)]]
    assert [places(window) for window in motion.windows(5, clips=[motion["b"], 0])] == [[(1, 0)]]


def test_windows_cross_the_ends_of_clips(motion: posse.PackedMotion) -> None:
    held = motion.windows(3, arrays=["pos"], wrap="clamp")
    assert [places(window)[0] for window in held] == [(0, frame) for frame in range(3)] + [(1, frame) for frame in range(5)]
    assert held[1]["pos"][:, 0, 0].tolist() == [1, 2, 2] and held[1]["valid"].tolist() == [True, True, False]
    assert held[7]["pos"][:, 0, 2].tolist() == [2, 2, 2] and held[7]["valid"].tolist() == [True, False, False]
    looped = motion.windows(7, arrays=["pos"], wrap="loop")
    assert looped[2]["pos"][:, 0, 0].tolist() == [2, 0, 1, 2, 0, 1, 2]
    assert looped[2]["valid"].tolist() == [True] + 6 * [False]
    (batch,) = held.batches(8)
    assert batch["valid"].shape == (8, 3) and sorted(places(batch)) == [places(window)[0] for window in held]


def test_batches_have_every_window_once(motion: posse.PackedMotion) -> None:
    windows = motion.windows(1, arrays=["pos", "root"])
    batches = windows.batches(3, seed=5)
    assert len(batches) == 2
    first, second = batches
    assert first["pos"].shape == (3, 1, 2, 3) and first["root"].shape == (3, 1, 7)
    every = places(first) + places(second)
    assert len(set(every)) == 6
    for place, pos in zip(every, [*first["pos"], *second["pos"]]):
        row = motion[place[0]].first_row + place[1]
        np.testing.assert_array_equal(pos[0], motion.arrays["pos"][row])
    # What is changed in a batch is a copy.
    assert not np.shares_memory(first["pos"], motion.arrays["pos"])
    assert places(batches[-1]) == places(second) == places(windows.batches(3, seed=5)[1])
    (whole,) = windows.batches(8, seed=5)
    assert places(whole)[:6] == every and len(set(places(whole))) == 8
    (other,) = windows.batches(8, seed=5, epoch=1)
    (third,) = windows.batches(8, seed=6)
    assert len({tuple(places(batch)) for batch in (whole, other, third)}) == 3
    assert len(windows.batches(3, count=1)) == 1
    with pytest.raises(IndexError, match="batch 2: there are 2"):
        batches[2]


def test_parts_of_an_order_fit(motion: posse.PackedMotion, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [places(batch) for batch in motion.windows(1).batches(2, seed=8)]
    monkeypatch.setattr(_windows, "WINDOWS_OF_A_CHUNK", 5)
    batches = motion.windows(1).batches(2, seed=8)
    assert [places(batches[index]) for index in (3, 0, 2, 1)] == [expected[index] for index in (3, 0, 2, 1)]


@pytest.mark.parametrize("count", [*range(1, 70), 1023, 1025, 5000])
def test_orders_are_permutations(count: int) -> None:
    order = _windows._permuted(np.arange(count), count, _windows.round_keys((count, 0)))
    assert sorted(order.tolist()) == list(range(count))
    if count >= 1023:
        # Neighbours go apart, and numbers stay in place as seldom as in a random order: once on average.
        assert (np.abs(np.diff(order)) == 1).sum() < 12 and (order == np.arange(count)).sum() < 8
        assert abs(np.corrcoef(order, np.arange(count))[0, 1]) < 5 / np.sqrt(count)


def test_ranks_share_the_windows(motion: posse.PackedMotion) -> None:
    ranks = [motion.windows(1, rank=rank, world_size=3) for rank in range(3)]
    # 8 windows: 2 for each of 3 ranks, and 2 that are left out.
    assert [len(rank) for rank in ranks] == [2, 2, 2] and all(rank.total == 8 for rank in ranks)
    assert len({places(window)[0] for rank in ranks for window in rank}) == 6
    (every,) = motion.windows(1).batches(8, seed=3)
    drawn = [places(batch)[0] for rank in ranks for batch in rank.batches(1, seed=3)]
    assert len(set(drawn)) == 6 and set(drawn) <= set(places(every))
    # An epoch later, other windows are left out.
    epochs = [{places(b)[0] for rank in ranks for b in rank.batches(1, seed=3, epoch=epoch)} for epoch in range(20)]
    assert set.union(*epochs) == set(places(every))
    # With weights, ranks draw other windows.
    one, other = (places(rank.batches(2, weights="clips", count=50)[7]) for rank in ranks[:2])
    assert [rank.batches(2, weights="clips", count=50)[7]["clip"].shape for rank in ranks] == [(2,)] * 3
    draws = [[tuple(places(batch)) for batch in rank.batches(2, weights="clips", count=50)] for rank in ranks]
    assert draws[0] != draws[1] != draws[2] and one in [list(draw) for draw in draws[0]]


@pytest.mark.parametrize(
    ("weights", "share"),
    # Of clip 1: half of two clips; 0.5 of 1.5 seconds; 3 of 4.
    [("clips", 1 / 2), ("length", 1 / 3), ([1, 3], 3 / 4), (np.array([0.0, 2.0]), 1.0), ([1.0, 0.0], 0.0)],
)
def test_weights_are_shares_of_clips(motion: posse.PackedMotion, weights: Any, share: float) -> None:
    batches = motion.windows(2, arrays=["root"]).batches(64, weights=weights, seed=1, count=64)
    clips, frames = np.array([place for batch in batches for place in places(batch)]).T
    # 4096 draws: five standard deviations are 0.04.
    assert abs(clips.mean() - share) < 0.04
    if 0 < share < 1:
        # Clip 1 has 4 windows, which come equally often.
        counts = np.bincount(frames[clips == 1], minlength=4)
        assert len(counts) == 4 and np.abs(counts / counts.sum() - 0.25).max() < 0.06
        assert set(frames[clips == 0].tolist()) == {0, 1}
    again = motion.windows(2, arrays=["root"]).batches(64, weights=weights, seed=1, count=64)
    assert places(again[63]) == places(batches[63]) != places(batches[62])


def test_clips_without_windows_are_not_drawn(motion: posse.PackedMotion) -> None:
    batches = motion.windows(4).batches(16, weights="clips", count=4)
    assert {clip for batch in batches for clip, _ in places(batch)} == {1}
    with pytest.raises(posse.Error, match="the weights of all clips that can be drawn are 0"):
        motion.windows(4).batches(1, weights=[1, 0])


def test_requests_that_fit_nothing_are_errors(motion: posse.PackedMotion) -> None:
    with pytest.raises(posse.Error, match="0 windows of 6 frames for 1 ranks; the longest clip has 5 frames"):
        motion.windows(6)
    with pytest.raises(posse.Error, match="4 windows of 3 frames for 5 ranks"):
        motion.windows(3, rank=1, world_size=5)
    with pytest.raises(posse.Error, match="0 windows of 3 frames"):
        motion.windows(3, clips=[])
    with pytest.raises(posse.Error, match="length=0; expected 1 frame or more"):
        motion.windows(0)
    with pytest.raises(posse.Error, match="rank=2 of world_size=2"):
        motion.windows(1, rank=2, world_size=2)
    with pytest.raises(posse.Error, match="wrap='hold'"):
        motion.windows(1, wrap="hold")  # type: ignore[call-overload]
    with pytest.raises(posse.Error, match="has no array 'skin'"):
        motion.windows(1, arrays=["skin"])
    with pytest.raises(TypeError, match="is one clip; expected a list of clips"):
        motion.windows(1, clips="a")
    windows = motion.windows(3)
    with pytest.raises(posse.Error, match="4 windows are no batch of 5"):
        windows.batches(5)
    with pytest.raises(posse.Error, match="count=3, but 4 windows are 2 batches of 2; take the next `epoch`"):
        windows.batches(2, count=3)
    for weights in ("frames", [1.0], [1.0, np.nan], [1.0, -1.0]):
        with pytest.raises(posse.Error, match="weights"):
            windows.batches(1, weights=weights)  # type: ignore[arg-type]
    with pytest.raises(posse.Error, match="seed=-1"):
        windows.batches(1, seed=-1)
    with pytest.raises(posse.Error, match="size=0"):
        windows.batches(0)
    for count in (0, -1):
        with pytest.raises(posse.Error, match=f"count={count}; expected 1 batch or more"):
            windows.batches(1, weights="clips", count=count)
    with pytest.raises(TypeError):
        motion.windows(1, rank=0.5, world_size=2)  # type: ignore[call-overload]


def test_windows_of_several_rates_are_a_warning(motion: posse.PackedMotion) -> None:
    with pytest.warns(UserWarning, match="the clips have 2 to 8 frames per second, so that windows of 3 frames differ"):
        assert len(motion.windows(3)) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Of one rate: a clip alone, or the only one that has windows. A copy for a worker says nothing again.
        motion.windows(3, clips=["a"])
        motion.windows(4)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            both = motion.windows(3)
        assert len(pickle.loads(pickle.dumps(both))) == 4


def batch_of(batches: Any, index: int) -> dict[str, Any]:
    """The work of a worker."""
    batch: dict[str, Any] = batches[index]
    return batch


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_workers_make_the_same_batches(motion: posse.PackedMotion, method: str) -> None:
    batches = motion.windows(2).batches(2, seed=4)
    assert len(pickle.dumps(batches)) < 2000
    with warnings.catch_warnings():
        # Python warns of a fork beside threads of NumPy.
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context(method).Pool(2) as pool:
            results = pool.starmap(batch_of, [(batches, index) for index in range(len(batches))], chunksize=1)
            pool.close()
            pool.join()
    for found, expected in zip(results, batches):
        assert list(found) == list(expected)
        for name, array in expected.items():
            assert found[name].tobytes() == array.tobytes() and found[name].shape == array.shape, (method, name)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_pytorch_loads_windows(motion: posse.PackedMotion, method: str) -> None:
    torch = pytest.importorskip("torch", reason="SKIPPED: PyTorch is not installed")
    windows = motion.windows(2, arrays=["pos", "root"])
    batches = windows.batches(2, seed=4)
    options = {"num_workers": 2, "multiprocessing_context": method}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        made = list(torch.utils.data.DataLoader(batches, batch_size=None, **options))
        shuffled = list(torch.utils.data.DataLoader(windows, batch_size=3, shuffle=True, **options))
    assert len(made) == len(batches) == 3
    for found, expected in zip(made, batches):
        assert found["pos"].dtype == torch.float32 and found["pos"].shape == (2, 2, 2, 3)
        np.testing.assert_array_equal(found["pos"].numpy(), expected["pos"])
    assert [batch["root"].shape[0] for batch in shuffled] == [3, 3]
    assert sorted(place for batch in shuffled for place in places(batch)) == [places(window)[0] for window in windows]


def test_tensors_are_the_mapped_file(motion: posse.PackedMotion) -> None:
    torch = pytest.importorskip("torch", reason="SKIPPED: PyTorch is not installed")
    windows = motion.windows(3, arrays=["pos", "contact"], tensors=True)
    window = windows[1]
    assert isinstance(window["pos"], torch.Tensor) and window["contact"].dtype == torch.bool
    assert window["pos"].data_ptr() == motion.arrays["pos"][3:].ctypes.data
    (batch,) = windows.batches(4)
    assert isinstance(batch["pos"], torch.Tensor) and batch["clip"].dtype == torch.int64
    assert pickle.loads(pickle.dumps(windows))[1]["pos"].equal(window["pos"])
