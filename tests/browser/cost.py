#!/usr/bin/env python3
"""What looking on costs the crawler: CPU time a page on the benchmark's web, with no display, with the terminal's, and with the
live page and one viewer, in turns. Needs the release builds of crawler and serve-web.

Noise from turn to turn is larger than what is looked for, so two things are printed: the paired differences of whole crawls
with the interval of their median, and what the thread took that exists for the live page alone (its run time as the
scheduler counts it). The terminal has no thread of its own.
"""

import argparse
import os
import pty
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers" / "crawl"))
import bench  # noqa: E402

LIVE = "127.0.0.1:8171"


def drain(read):
    """Reads until the other end is gone."""
    try:
        while read(1 << 16):
            pass
    except OSError:
        pass


def view():
    """One viewer, from the moment on when there is somebody to answer."""
    while True:
        try:
            with urllib.request.urlopen(f"http://{LIVE}/events") as events:
                return drain(events.read1)
        except OSError:
            time.sleep(0.02)


def watch(process):
    """CPU microseconds of a process, and of its dashboard's thread as long as that can be asked."""
    thread, done = 0, 0
    while not done:
        for task in Path(f"/proc/{process.pid}/task").glob("*"):
            try:
                if (task / "comm").read_text().strip() == "dashboard":
                    thread = int((task / "schedstat").read_text().split()[0])
            except OSError:
                pass
        time.sleep(0.02)
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)
    return 1e6 * (usage.ru_utime + usage.ru_stime), thread / 1e3


def crawl(how, seeds, folder):
    """One crawl: CPU microseconds a page, and those of the dashboard's thread among them."""
    folder.mkdir()
    flags = {"none": ["--progress", "none"], "terminal": [], "live": ["--progress", "none", "--dashboard", LIVE]}
    command = bench.contenders(seeds, os.devnull, folder)["ours, keep"]
    at = command.index("--progress")
    command = [str(part) for part in command[:at] + command[at + 2 :] + flags[how]]
    ours, theirs = pty.openpty()
    threading.Thread(target=drain, args=(lambda size: os.read(ours, size),), daemon=True).start()
    bench.count("take")
    err = theirs if how == "terminal" else subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=err, env={**os.environ, "TERM": "xterm"})
    if how == "live":
        threading.Thread(target=view, daemon=True).start()
    cpu, thread = watch(process)
    os.close(theirs)
    pages = bench.count("take")["pages"]
    shutil.rmtree(folder)
    return cpu / pages, thread / pages


def interval(values):
    """The median, and two order statistics between which the true one lies with a probability of at least 95 %."""
    values, total, rank = sorted(values), 0.0, 0
    choose = 0.5 ** len(values)
    while rank < len(values) // 2 and total + choose <= 0.025:
        total, rank = total + choose, rank + 1
        choose *= (len(values) - rank + 1) / rank
    return statistics.median(values), values[max(rank - 1, 0)], values[-max(rank, 1)]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("turns", type=int, nargs="?", default=3)
    arguments.add_argument("--pages", type=int, default=20_000)
    arguments.add_argument("--only", choices=["terminal", "live"])
    arguments.add_argument("--log", type=Path, help="keep figures here, so that several goes add up")
    given = arguments.parse_args()
    looks = [given.only] if given.only else ["terminal", "live"]
    rows = []
    if given.log and given.log.exists():
        rows = [[how] + [float(figure) for figure in rest] for how, *rest in map(str.split, given.log.open())]
    with tempfile.TemporaryDirectory(dir=bench.ROOT / "target") as scratch, bench.Server(given.pages, 1) as server:
        seeds = server.list("--seeds", Path(scratch) / "seeds")
        for turn in range(given.turns):
            # Each look is followed or preceded by a crawl without.
            for how in looks:
                figures = {name: crawl(name, seeds, Path(scratch) / "crawl") for name in ([how, "none"] if turn % 2 else ["none", how])}
                row = [how, figures["none"][0], figures[how][0], figures[how][1]]
                rows.append(row)
                if given.log:
                    given.log.open("a").write("{} {:.3f} {:.3f} {:.3f}\n".format(*row))
                print("{:8} without {:7.1f}, with {:7.1f} us of CPU a page".format(*row), file=sys.stderr, flush=True)
    for how in looks:
        mine = [row for row in rows if row[0] == how]
        middle, low, high = interval([100 * (row[2] / row[1] - 1) for row in mine])
        print(f"{how}: {middle:+.2f} % of the CPU a page (median of {len(mine)} pairs; 95 %: {low:+.2f} to {high:+.2f})")
        if how == "live":
            shares = [100 * row[3] / (row[2] - row[3]) for row in mine]
            print(f"live: its thread alone {statistics.median(row[3] for row in mine):.2f} us a page, {statistics.median(shares):+.2f} %")


if __name__ == "__main__":
    main()
