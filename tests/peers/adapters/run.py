#!/usr/bin/env python3
"""Scrapy and Crawlee with and without the stage, beside our own crawler, on loopback. See README.md."""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
RELEASE = ROOT / os.environ.get("BINARIES", "target/release")
PEERS = ROOT / "target/peers"
PYTHON = PEERS / "venv/bin/python"
CRAWLEE = PEERS / "crawlee"
PORT, CONTROL = 8371, 8370
# Of the whole run of one crawler, in seconds.
LIMIT = 900


def install():
    """Scrapy, the WARC checkers and Crawlee, with the adapters by path."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", PEERS / "venv"], check=True)
    pip = [PYTHON, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "scrapy", "warcio", "fastwarc", ROOT / "dedup-stage/python"], check=True)
    CRAWLEE.mkdir(parents=True, exist_ok=True)
    if not (CRAWLEE / "package.json").exists():
        (CRAWLEE / "package.json").write_text('{"private": true, "type": "module"}')
    npm = ["npm", "install", "--silent", "--no-audit", "--no-fund"]
    subprocess.run([*npm, "@crawlee/cheerio", ROOT / "dedup-stage/adapters/node"], cwd=CRAWLEE, check=True)
    shutil.copy(HERE / "crawlee_crawl.mjs", CRAWLEE)


def wait_for(port):
    for _ in range(100):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/robots.txt").close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"nothing listens on port {port}")


class Web:
    """A web on PORT, served by a process of its own while it is entered."""

    def __init__(self, name, limit, command):
        self.name = name
        # Pages after which a crawl without the stage is cut.
        self.limit = limit
        self.command = command

    def __enter__(self):
        with socket.socket() as other:
            if other.connect_ex(("127.0.0.1", PORT)) == 0:
                raise SystemExit(f"something else serves on port {PORT}")
        self.server = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(PORT)
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()


class Synthetic(Web):
    """The synthetic web; its server counts."""

    def __init__(self, pages):
        command = [RELEASE / "serve-web", "--pages", str(pages), "--port", str(PORT)]
        super().__init__(f"synthetic web of {pages} pages", 2 * pages, [*command, "--control", str(CONTROL)])
        self.seeds = subprocess.run([*command, "--seeds"], capture_output=True, text=True, check=True).stdout.split()

    def begin(self):
        self.count()

    def count(self, urls=None):
        with urllib.request.urlopen(f"http://127.0.0.1:{CONTROL}/take") as reply:
            tally = json.load(reply)
        return tally["pages"], tally["contents"]


class Docs(Web):
    """One documentation site under two names; what was fetched is the crawlers' own word."""

    def __init__(self, folder):
        hosts = ("localhost", "127.0.0.1")
        sites = [f"--site={host}={folder}" for host in hosts]
        super().__init__(
            "postgresql-15 under two host names", 5000, [RELEASE / "serve", "--port", str(PORT), *sites]
        )
        self.seeds = [f"http://{host}:{PORT}/index.html" for host in hosts]

    def begin(self):
        pass

    def count(self, urls):
        return len(urls), len({urlsplit(url).path for url in urls})


def ours(web, folder):
    """Our own crawler in drop mode; the URLs it fetched."""
    (folder / "seeds.txt").write_text("\n".join(web.seeds))
    command = [RELEASE / "crawler", "crawl", "--dir", folder / "crawl", "--seeds", folder / "seeds.txt"]
    command += ["--on-duplicate", "drop", "--scope", "host", "--allow-private", "--progress", "none", "--patience", "2s"]
    command += ["--delay", "0s", "--address-delay", "0s", "--delay-factor", "0", "--max-crawl-delay", "0s"]
    # Rules that our crawler learns, and audits, are another subject.
    command += ["--rules=false", "--audits=false"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    if done.returncode != 0:
        raise SystemExit(f"crawler ended with code {done.returncode}: {done.stderr[-500:]}")
    with open(folder / "crawl/pages.jsonl", encoding="utf-8") as lines:
        return [page["url"] for page in map(json.loads, lines) if page["status"] == 200]


def peer(command, web, folder, mode, concurrency):
    """Scrapy or Crawlee; the URLs it fetched."""
    fetched = folder / "fetched.txt"
    environment = {**os.environ, "DEDUP_STAGE": str(RELEASE / "dedup-stage"), "FETCHED": str(fetched)}
    arguments = [mode, str(web.limit), str(concurrency), *web.seeds]
    done = subprocess.run(
        [*command, *arguments], env=environment, cwd=CRAWLEE, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} ended with code {done.returncode}: {done.stderr[-1000:]}")
    return fetched.read_text().split()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=4000, help="pages of the synthetic web")
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--with-only", action="store_true", help="leave the runs without the stage out")
    arguments = parser.parse_args()
    install()
    webs = [Synthetic(arguments.pages)]
    docs = ROOT / "target/data/docs/postgresql.tar.xz/postgresql-15"
    shared = ROOT / "../shared/data/docs/postgresql.tar.xz"
    if not docs.exists() and shared.exists():
        docs.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["tar", "-xJf", shared, "-C", docs.parent], check=True)
    if docs.exists():
        webs.append(Docs(docs))
    else:
        print(f"left out: {shared} is absent")

    peers = {"Scrapy": [PYTHON, HERE / "scrapy_crawl.py"], "Crawlee": ["node", CRAWLEE / "crawlee_crawl.mjs"]}
    kept = True
    for web in webs:
        with web, tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            print(f"\n{web.name}\n\n| | requests | contents | requests of ours | contents beside ours |\n|---|---|---|---|---|")
            web.begin()
            base, found = web.count(ours(web, folder))
            print(f"| ours, drop | {base} | {found} | | |", flush=True)
            for name, command in peers.items():
                for mode in ("on",) if arguments.with_only else ("on", "off"):
                    web.begin()
                    pages, contents = web.count(peer(command, web, folder, mode, arguments.concurrency))
                    label = "with the stage" if mode == "on" else "without"
                    cut = ", cut" if pages >= web.limit else ""
                    print(f"| {name} {label}{cut} | {pages} | {contents} | {100 * pages / base:.1f} % | {contents - found:+} |", flush=True)
                    if mode == "on":
                        kept &= pages <= 1.05 * base and contents >= found
    print("\nkept" if kept else "\nBROKEN")
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
