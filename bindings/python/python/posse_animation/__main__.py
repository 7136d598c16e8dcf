"""The command `posse`."""

from __future__ import annotations

import os
import signal
import sys

from . import _posse


def main() -> None:
    """Runs the command with the arguments of this process, and ends the process with its exit code."""
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            # A closed stream is none that a file of the command may get the number of, which is the lowest free one.
            os.open(os.devnull, os.O_RDWR)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Ctrl-C is for the command. A process that ignores it, as with `nohup`, goes on doing so.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_posse.run_command(["posse", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
