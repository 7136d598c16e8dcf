"""Threads, the interpreter lock, and memory."""

from __future__ import annotations

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import posse_animation as posse
from posse_animation._request import Request


def rows(library: posse.Library, count: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(2)
    return random.integers(0, len(library), count), random.uniform(0, 1.2, count)


def test_numbers_do_not_depend_on_threads(library: posse.Library) -> None:
    ids, times = rows(library, 20_000)
    one = library.states(ids, times, velocities=True, threads=1)
    for threads in (2, 3, 8):
        many = library.states(ids, times, velocities=True, threads=threads)
        for name, array in one.arrays.items():
            assert many.arrays[name].tobytes() == array.tobytes(), (threads, name)


def test_threads_are_the_cores_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    from posse_animation import _posse

    monkeypatch.delenv("SLURM_CPUS_PER_TASK", raising=False)
    cores = _posse.available_cores()
    assert 1 <= cores <= (os.cpu_count() or 1)
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "1")
    assert _posse.available_cores() == 1
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "100000")
    assert _posse.available_cores() == cores
    for text in ("many", "0", ""):
        monkeypatch.setenv("SLURM_CPUS_PER_TASK", text)
        assert _posse.available_cores() == cores
    if not hasattr(os, "sched_setaffinity"):
        return
    monkeypatch.delenv("SLURM_CPUS_PER_TASK")
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert _posse.available_cores() == 1
    finally:
        os.sched_setaffinity(0, before)


def test_other_threads_run_while_posse_works(library: posse.Library) -> None:
    ids, times = rows(library, 200_000)
    out = library.states(ids, times, velocities=True, threads=1)
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    other = threading.Thread(target=tick)
    other.start()
    try:
        begin = time.perf_counter()
        library._native.fill(*native_arguments(library, ids, times, out))
        end = time.perf_counter()
    finally:
        done.set()
        other.join()
    # One native call, in the middle half of which the other thread must have run.
    length = end - begin
    inside = [tick for tick in ticks if begin + length / 4 < tick < end - length / 4]
    assert length > 0.02 and len(inside) >= 2, (length, len(inside))


def native_arguments(library: posse.Library, ids: np.ndarray, times: np.ndarray, out: posse.Poses) -> tuple[object, ...]:
    layout = library._layout(0, Request(tuple(out.arrays)))
    return [layout], library._rows(ids, times, None, "clamp"), list(out.arrays.values()), 1, None


def test_calls_run_at_the_same_time(library: posse.Library) -> None:
    ids, times = rows(library, 2000)
    expected = library.states(ids, times).pos.tobytes()
    with ThreadPoolExecutor(8) as pool:
        results = pool.map(lambda _: library.states(ids, times, threads=2).pos.tobytes(), range(64))
        assert set(results) == {expected}


def resident() -> int:
    """The resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")
def test_a_thousand_calls_keep_no_memory(library: posse.Library, takes: list[Path], worm: Path) -> None:
    ids, times = rows(library, 200)
    out = library.states(ids, times, velocities=True)

    def call() -> None:
        library.states(ids, times, velocities=True)
        library.states(ids, times, velocities=True, out=out)
        library.sample(1, times[:20])
        posse.Library(worm).bake("bend", 1000)
        with pytest.raises(posse.Error):
            library.sample("nobody", times)

    for _ in range(100):
        call()
    before = resident()
    for _ in range(1000):
        call()
    # One result of `states` is 269 kB, so that keeping those of 1,000 calls would take 269 MB.
    assert resident() - before < 16 << 20
