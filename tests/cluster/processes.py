"""Processes that a test starts, and that end with it."""

import ctypes
import os
import pathlib
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36


def skip(reason):
    """Ends the test, aloud and without a failure."""
    print(f"SKIPPED: {reason}", file=sys.stderr)
    sys.exit(0)


def adopt_orphans():
    """Makes this process the parent of descendants whose parents end, so that `descendants` finds them all."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def end_on_signals():
    """Turns the first signal into an exception, so that `finally` runs. Later ones do not disturb it."""
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

    def end(number, _):
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    for number in numbers:
        signal.signal(number, end)


def read(pid, name):
    """A file of a process below /proc; empty if the process has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def parents():
    """The parent of each process that has not ended."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            # The name in parentheses may contain spaces.
            fields = read(entry, "stat").rpartition(b")")[2].split()
            if fields and fields[0] != b"Z":
                found[int(entry)] = int(fields[1])
    return found


def descendants():
    """The processes that this one started, and those that they started."""
    tree, found, added = parents(), set(), {os.getpid()}
    while added:
        added = {pid for pid, parent in tree.items() if parent in added} - found
        found |= added
    return found


def all_ended():
    """Returns true if no process is left that this one started. Takes note of those that have ended."""
    ended = not descendants()
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass
    return ended


def end_descendants():
    """Ends all processes that this one started."""
    for number in [signal.SIGTERM] + [signal.SIGKILL] * 20:
        for pid in descendants():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        for _ in range(20):
            if all_ended():
                return
            time.sleep(0.05)
    raise RuntimeError(f"processes {sorted(descendants())} do not end")


def wait_for(what, seconds, condition):
    """Waits until a condition gives something, and returns it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.02)
    raise TimeoutError(f"after {seconds} s still waiting: {what}")
