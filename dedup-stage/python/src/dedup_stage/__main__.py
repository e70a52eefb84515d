"""The program ``dedup-stage``: ``python -m dedup_stage``, or the command of that name beside the interpreter."""

from __future__ import annotations

import signal
import sys

from ._native import program


def main() -> None:
    # The program has its own signal handlers. Python's handlers would run only after it has returned.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    sys.exit(program(["dedup-stage", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
