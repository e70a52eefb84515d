#!/usr/bin/env python3
"""Crawlers side by side on one web, synthetic or (--web docs) real documentation, on loopback.

bench.py compare    every contender in turn, several rounds; medians. --old PROGRAM: an earlier one of ours beside it
bench.py choosing   ours in every mode, with learned rules and without: what scoring and rules cost
bench.py growth     ours on a larger web: cost per page and memory by tenth, by kind of thread (--old PROGRAM: of an earlier one)

The web is served by a process of its own (serve-web), which also counts what was asked for, so pages and contents are the
server's word, not the contender's. CPU time is the kernel's count for the contender's process (wait4), peak memory its VmHWM, looked
at often (the rusage of a child begins with what its parent had).
A contender that is not installed is left out, and named. See README.md for how to build them.
"""

import argparse
import json
import os
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
ROOT = HERE.parents[2]
# Ours is the program that was built last: as it is released (--profile dist), or with --release, which costs more a page.
BUILDS = [ROOT / "target" / profile / "crawler" for profile in ("dist", "release")]
OURS = max(BUILDS, key=lambda program: program.stat().st_mtime if program.exists() else 0)
SERVER = ROOT / "target/release/serve-web"
PEERS = HERE / "target/release"
SCRAPY = ROOT / "target/peers/venv/bin/python"
PORT, CONTROL = 8100, 8199
LIMIT = 1800  # seconds for one contender


def ours_at(seeds, folder, program=OURS):
    """The command line of ours in a mode, with flags on top."""

    def ours(mode, *flags):
        politeness = ["--delay", "0s", "--address-delay", "0s", "--delay-factor", "0", "--robots", "ignore"]
        rest = ["--scope", "host", "--allow-private", "--patience", "2s", "--progress", "none"]
        return [program, "crawl", "--dir", folder / "crawl", "--seeds", seeds, "--on-duplicate", mode, *flags] + politeness + rest

    return ours


def contenders(seeds, urls, folder):
    """Name and command line of each."""
    ours = ours_at(seeds, folder)
    wget2 = ["wget2", "--recursive", "--level=0", "--no-robots", "--quiet", "--max-threads=20", f"--input-file={seeds}"]
    return {
        "ours, keep": ours("keep"),
        "ours, drop": ours("drop"),
        "wget2, storing": wget2 + [f"--directory-prefix={folder / 'wget2'}", "--force-directories"],
        "wget2, not storing": wget2 + ["--output-document=/dev/null"],
        "spider": [PEERS / "peer-spider"] + Path(seeds).read_text().split(),
        "Scrapy": [SCRAPY, HERE / "scrapy_peer.py", seeds],
        "floor: fetch": [PEERS / "peer-floor", "fetch", urls],
        "floor: fetch + tokenizer": [PEERS / "peer-floor", "tokenize", urls],
    }


def choices(seeds, _urls, folder):
    """Ours in every mode; without rules there is nothing to audit."""
    ours = ours_at(seeds, folder)
    return {
        "keep": ours("keep"),
        "demote, no rules": ours("demote", "--rules=false"),
        "demote": ours("demote"),
        "drop, no rules": ours("drop", "--rules=false"),
        "drop, no audits": ours("drop", "--audits=false"),
        "drop": ours("drop"),
    }


def count(path):
    """What the server was asked for: "take" starts its count again, "peek" does not."""
    with urllib.request.urlopen(f"http://127.0.0.1:{CONTROL}/{path}") as reply:
        return json.load(reply)


class Server:
    def __init__(self, arguments):
        self.command = [SERVER, "--web", arguments.web, "--seed", str(arguments.seed), "--port", str(PORT)]
        if arguments.web != "docs":
            self.command += ["--pages", str(arguments.pages)]

    def list(self, what, file):
        with open(file, "w", encoding="ascii") as out:
            subprocess.run(self.command + [what], stdout=out, check=True)
        return file

    def __enter__(self):
        command = self.command + ["--control", str(CONTROL)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        said = self.process.stderr.readline().strip()
        print(said, file=sys.stderr)
        if not said.startswith("serving"):
            # Else somebody else's server would be measured.
            self.process.wait()
            raise SystemExit(f"serve-web does not serve on port {PORT}")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def watch_memory(pid, peak):
    """Keeps the process's peak memory in KiB."""
    while True:
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return
        for line in status.splitlines():
            if line.startswith("VmHWM:"):
                peak[0] = int(line.split()[1])
        time.sleep(0.02)


def run(command, folder, watch=None):
    """One run: what the kernel and the server say of it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    count("take")
    start = time.monotonic()
    with open(folder.with_suffix(".log"), "w", encoding="utf-8") as log:
        process = subprocess.Popen([str(part) for part in command], cwd=folder, stdout=log, stderr=log)
    timer = threading.Timer(LIMIT, process.kill)
    timer.start()
    peak = [0]
    threading.Thread(target=watch_memory, args=(process.pid, peak), daemon=True).start()
    if watch:
        threading.Thread(target=watch, args=(process.pid,), daemon=True).start()
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    timer.cancel()
    tally = count("take")
    cpu = usage.ru_utime + usage.ru_stime
    return {
        "pages/s": tally["pages"] / elapsed,
        "CPU us/page": 1e6 * cpu / max(tally["pages"], 1),
        "CPU us/content": 1e6 * cpu / max(tally["contents"], 1),
        "peak RSS MB": peak[0] * 1024 / 1e6,
        "pages": tally["pages"],
        "contents": tally["contents"],
        "seconds": elapsed,
        "exit": process.returncode,
    }


def table(results):
    columns = list(next(iter(results.values())).keys())
    print("| | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name, row in results.items():
        cells = (f"{row[c]:,.1f}" if c in ("peak RSS MB", "CPU us/page", "seconds") else f"{row[c]:,.0f}" for c in columns)
        print(f"| {name} | " + " | ".join(cells) + " |")


def compare(arguments):
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as temporary, Server(arguments) as server:
        temporary = Path(temporary)
        seeds = server.list("--seeds", temporary / "seeds.txt")
        urls = server.list("--urls", temporary / "urls.txt")
        folder = temporary / "run"
        chosen = arguments.contenders(seeds, urls, folder)
        for name in [name for name, command in chosen.items() if not shutil.which(str(command[0]))]:
            print(f"{name}: not installed, left out", file=sys.stderr)
            del chosen[name]
        if arguments.old:
            old = ours_at(seeds, folder, arguments.old)
            chosen = {"old, keep": old("keep"), "old, drop": old("drop"), **chosen}
        if arguments.only:
            chosen = {name: command for name, command in chosen.items() if any(part in name for part in arguments.only)}
        runs = {name: [] for name in chosen}
        for number in range(arguments.rounds):
            # The first one of a round runs on a machine that has rested. So every second round begins at the other end.
            for name, command in list(chosen.items())[:: 1 if number % 2 == 0 else -1]:
                runs[name].append(run(command, folder))
                print(f"round {number + 1}, {name}: {runs[name][-1]}", file=sys.stderr)
        medians = {}
        for name, rows in runs.items():
            medians[name] = {column: statistics.median(row[column] for row in rows) for column in rows[0]}
        web = "real documentation" if arguments.web == "docs" else f"{arguments.pages:,} pages, seed {arguments.seed}"
        ours = OURS.relative_to(ROOT)
        print(f"{web}, {os.cpu_count()} CPUs, medians of {arguments.rounds} rounds, ours: {ours}\n")
        table(medians)


def threads_of(pid):
    """CPU seconds of each kind of thread of ours, by the scheduler's count. The engine is the main thread."""
    kinds = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            name = (task / "comm").read_text().strip().split("-")[0]
            seconds = int((task / "schedstat").read_text().split()[0]) / 1e9
        except OSError:
            continue
        kind = "engine" if task.name == str(pid) else {"page": "page workers", "fjall:worker": "store"}.get(name, name)
        kinds[kind] = kinds.get(kind, 0) + seconds
    return kinds


def growth(arguments):
    """Samples CPU time of all threads and memory against pages fetched while the crawl runs."""
    columns = ("all threads", "engine", "page workers", "fetchers", "store")
    samples = [(0, {}, 0)]

    def watch(pid):
        while True:
            try:
                kinds = threads_of(pid)
                status = Path(f"/proc/{pid}/status").read_text()
                rss = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
                samples.append((count("peek")["pages"], {"all threads": sum(kinds.values()), **kinds}, rss))
            except (OSError, StopIteration):
                return
            # The server's answer names every content that was found: often asked for, it would disturb what is measured.
            time.sleep(2)

    with tempfile.TemporaryDirectory(dir=ROOT / "target") as temporary, Server(arguments) as server:
        temporary = Path(temporary)
        seeds = server.list("--seeds", temporary / "seeds.txt")
        command = ours_at(seeds, temporary / "run", arguments.old or OURS)("keep")
        row = run(command, temporary / "run", watch)
    table({"ours, keep": row})

    def at(pages):
        return min(samples, key=lambda sample: abs(sample[0] - pages))

    print("\nCPU us/page, and memory at the end of each tenth\n")
    print("| tenth | " + " | ".join(columns) + " | RSS MB |")
    print("|---" * (len(columns) + 2) + "|")
    for tenth in range(10):
        (pages_a, cpu_a, _), (pages_b, cpu_b, rss) = (at(row["pages"] * part / 10) for part in (tenth, tenth + 1))
        cells = [1e6 * (cpu_b.get(kind, 0) - cpu_a.get(kind, 0)) / max(pages_b - pages_a, 1) for kind in columns]
        print(f"| {tenth + 1} | " + " | ".join(f"{cell:.1f}" for cell in cells + [rss * 1024 / 1e6]) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, function, pages, known in (
        ("compare", compare, 20_000, contenders),
        ("choosing", compare, 20_000, choices),
        ("growth", growth, 200_000, contenders),
    ):
        command = commands.add_parser(name)
        command.add_argument("--pages", type=int, default=pages)
        command.add_argument("--web", choices=("benchmark", "docs"), default="benchmark", help="a synthetic web, or documentation")
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--rounds", type=int, default=5)
        command.add_argument("--only", nargs="*", help="contenders whose name has one of these in it")
        command.add_argument("--old", type=Path, help="an earlier program of ours, to be run beside the present one")
        command.set_defaults(function=function, contenders=known)
    arguments = parser.parse_args()
    arguments.function(arguments)


if __name__ == "__main__":
    main()
