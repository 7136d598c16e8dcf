"""Ctrl-C."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import rigs

BEGIN = """
import os, signal, sys, threading, time
import numpy as np
import posse_animation as posse

path = sys.argv[1]
library = posse.Library(path)
sent = []

def send():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(0.6, send).start()
try:
    while True:
        {call}
except KeyboardInterrupt:
    print(time.perf_counter() - sent[0])
"""

CALLS = {
    # Each takes more than a second.
    "load": "posse.Library([path] * 5000, threads=1)",
    "load on two threads": "posse.Library([path] * 10000, threads=2)",
    "bake": "library.bake(0, 3e6, arrays=['pos'], joints=['joint0'], threads=1)",
    "bake on two threads": "library.bake(0, 3e6, arrays=['pos'], joints=['joint0'], threads=2)",
    "states": "library.states(0, np.linspace(0, 1, 2_000_000), arrays=['pos'], joints=['joint0'], threads=1)",
    "contacts": "posse.Library(sys.argv[2]).bake(0, 1e5, arrays=['contact'])",
}


@pytest.mark.skipif(os.name != "posix", reason="signals are sent to a process")
@pytest.mark.parametrize("call", CALLS)
def test_an_interrupt_ends_a_call_at_once(tmp_path: Path, call: str) -> None:
    take = rigs.Motion.random(24, 61, 1 / 60, 1).write(tmp_path / "take.bvh")
    human = rigs.human(tmp_path / "human.bvh", frames=100)
    script = BEGIN.replace("{call}", CALLS[call])
    waits = []
    # The machine may do something else meanwhile, but not three times.
    for _ in range(3):
        command = [sys.executable, "-c", script, str(take), str(human)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        waits.append(float(done.stdout))
        if waits[-1] < 0.2:
            return
    pytest.fail(f"{call}: the exception came after {waits} s")
