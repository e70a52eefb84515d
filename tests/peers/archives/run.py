#!/usr/bin/env python3
"""Archives and exports beside the tools that open them; see README.md. `run.py EXAMPLE CRAWLER [--no-replay]`"""
import argparse
import base64
import datetime
import http.server
import json
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import pyarrow.parquet
import surt
import warcio.archiveiterator

BROWSER = pathlib.Path(__file__).parents[2] / "browser"

PIECES = [
    "a", "B", "index.html", "x.aspx", "%2C", ",", "%2F", "/", "//", "&", "%26", "=", "[", "]", "%5B", "%5d", "(", ")", "%20", "+", "%C3%A9", "é",
    "%25", "%2525", "%", "%zz", "..", ".", "%2e%2E", ";", "jsessionid=0123456789abcdef0123456789ABCDEF", "(S(0123456789abcdefghij0123))", ":", "@", "~",
    "!", "'", "*", "|", "^", "`", "{", "}", "\\", "%00", "%0a", "%3F", "%23", "-", "_", "$", "日本",
]
PARAMETERS = [
    "a", "a=", "a=1", "A=2", "a-b=1", "b[]=1", "b%5B%5D=0", "q=x%26y=z", "q=1+2", "PHPSESSID=0123456789abcdef0123456789abcdef", "sid=0123456789abcdef0123456789abcdef",
    "ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX", "cfid=1&cftoken=2", "", "=", "é=é", "u=http://b.test/?c=d", "%zz", "%2525", "x=%23", "jsessionid=0123456789abcdef0123456789abcdef",
]
HOSTS = [
    "a.test", "www.a.test", "www2.A.test", "www.com", "wwwx.test", "a.b.c.test", "127.0.0.1", "[::1]", "[2001:db8::1]", "xn--bcher-kva.test", "bücher.test", "a.test.", "www",
    "a.test:8080", "a.test:80", "a.test:443", "user:pass@a.test", "a_b.test", "0x7f.1", "a..test",
]


def urls(count):
    """URLs out of the pieces that go wrong."""
    rng = random.Random(20)
    for _ in range(count):
        path = "".join(rng.choice(PIECES) if rng.random() < 0.6 else "/" for _ in range(rng.randrange(8)))
        query = "?" + "&".join(rng.choice(PARAMETERS) for _ in range(rng.randrange(6))) if rng.random() < 0.5 else ""
        yield f"{rng.choice(['http', 'https'])}://{rng.choice(HOSTS)}/{path}{query}"


def keys(example):
    lines = "\n".join(urls(20_000)) + "\n"
    out = subprocess.run([example, "keys"], input=lines.encode(), capture_output=True, check=True).stdout.decode()
    wrong, total = 0, 0
    for line in out.splitlines():
        url, key = line.split("\t")
        total += 1
        expected = surt.surt(url)
        if key != expected:
            wrong += 1
            if wrong <= 20:
                print(f"  {url}\n    ours  {key}\n    surt  {expected}")
    print(f"keys: {total - wrong} of {total} are those of surt {surt.__version__ if hasattr(surt, '__version__') else ''}".rstrip())
    return wrong == 0 and total > 15_000


def run(name, *command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    print(f"{name}: {'accepted' if done.returncode == 0 else 'REFUSED'}")
    if done.returncode:
        print(done.stdout, done.stderr)
    return done.returncode == 0


def index(folder, tools):
    """Our index beside that of cdxj-indexer."""
    warcs = sorted((folder / "warc").glob("*.warc.gz"))
    theirs = subprocess.run([tools / "cdxj-indexer", "--sort", *warcs], capture_output=True, text=True, check=True).stdout
    parsed = [
        [(*line.split(" ", 2)[:2], json.loads(line.split(" ", 2)[2])) for line in text.splitlines()]
        for text in ((folder / "warc/index.cdxj").read_text(), theirs)
    ]
    wrong = [(a, b) for a, b in zip(*parsed) if a != b]
    same = not wrong and len(parsed[0]) == len(parsed[1])
    for a, b in wrong[:5]:
        print(f"  ours   {a}\n  theirs {b}")
    print(f"index: {len(parsed[0])} lines, {len(wrong)} differ from those of cdxj-indexer")
    return same


def words(count, first=0):
    return " ".join(f"word{first + number}" for number in range(count))


# A page that is right only with its style sheet, its script and its picture of three by two pixels.
LOOK = f"""<title>A page to look at</title><link rel=stylesheet href="/look/style.css"><h1>Look</h1>
<p id=told>The script did not run.</p><img id=picture src="picture.png" alt=""><p>{words(200, 50_000)}</p><script src="script.js"></script>"""
LOOK_FILES = {
    "/look/page.html": ("text/html; charset=utf-8", LOOK.encode()),
    "/look/copy.html": ("text/html; charset=utf-8", LOOK.encode()),
    "/look/style.css": ("text/css", b"h1 { width: 123px }"),
    "/look/script.js": ("text/javascript", b"document.getElementById('told').textContent = 'The script ran.';"),
    "/look/picture.png": (
        "image/png",
        base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEUlEQVR4nGP4z8AARwxwFgBfZQX78vn0BwAAAABJRU5ErkJggg=="),
    ),
}


class Site(http.server.BaseHTTPRequestHandler):
    """Pages at odd addresses, every third a copy of another, and a page with files around it. Each is answered after 300 ms."""

    protocol_version = "HTTP/1.1"
    is_later = False
    PATHS = [
        f"{path}{query}"
        for n, path in enumerate(["/a%2Cb", "/a%2Fb", "/x//y/", "/UPPER/Case", "/br[a]cket", "/%5Bz%5D", "/s%20p", "/caf%C3%A9", "/100%25", "/a;b=c", "/(p)"])
        for query in ["", f"?q={n}%26r&b[]=1&a", f"?z=1&PHPSESSID=0123456789abcdef0123456789abcde{n:x}"]
    ]

    def do_GET(self):
        time.sleep(0.3)
        kind = "text/html; charset=utf-8"
        if self.path == "/":
            links = "".join(f'<a href="{path.replace("&", "&amp;")}">p{n}</a> ' for n, path in enumerate([*self.PATHS, "/look/page.html", "/look/copy.html"]))
            links += '<a href="http://127.0.0.2:9/">out of scope</a> '
            # At the second visit, the first page is missing, and there is a new link.
            links = links if not Site.is_later else links.partition("</a>")[2] + '<a href="/new">new</a>'
            body, status = f"<title>Start</title>{links}".encode(), 200
        elif self.path in self.PATHS:
            n = self.PATHS.index(self.path)
            body, status = f"<title>Page {n - n % 3}</title><p>{words(200, (n - n % 3) * 1000)}</p>".encode(), 200
        elif self.path in LOOK_FILES:
            (kind, body), status = LOOK_FILES[self.path], 200
        else:
            body, status = b"not here", 404
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def crawl(crawler, folder, second):
    """Crawls the site with --warc, and visits it again into a second folder; False where a crawl failed."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    polite = ["--allow-private", "--delay", "0ms", "--progress", "none", "-q"]
    crawl = [crawler, "crawl", "--dir", folder, "--warc", "--requisites", "--text", *polite, address]
    done = subprocess.run(crawl, capture_output=True, text=True)
    shutil.copytree(folder, second)
    Site.is_later = True
    again = subprocess.run([crawler, "refresh", second, "--progress", "none", "-q"], capture_output=True, text=True)
    server.shutdown()
    print(done.stderr, again.stderr, end="")
    return done.returncode == 0 and again.returncode == 0


def records(folder):
    for warc in sorted((folder / "warc").glob("*.warc.gz")):
        with warc.open("rb") as stream:
            for record in warcio.archiveiterator.ArchiveIterator(stream):
                head = record.rec_headers.get_header
                yield record.rec_type, head("WARC-Target-URI"), head("WARC-Date"), head("WARC-Refers-To-Target-URI"), head("WARC-Refers-To-Date"), record.content_stream().read()


def revisits(folder):
    """Every revisit record refers to a response that is there, at its date."""
    responses, seen = {}, []
    for kind, url, date, to_url, to_date, body in records(folder):
        if kind == "response":
            responses[(url, date)] = body
        elif kind == "revisit":
            seen.append((url, date, to_url, to_date))
    wrong = [revisit for revisit in seen if (revisit[2], revisit[3]) not in responses]
    for revisit in wrong[:5]:
        print(f"  {revisit}")
    print(f"revisits: {len(seen) - len(wrong)} of {len(seen)} refer to a response by its URL and date")
    captures = {(url, date): body for (url, date), body in responses.items()}
    captures.update({(url, date): responses.get((to_url, to_date)) for url, date, to_url, to_date in seen})
    return not wrong and len(seen) >= 20, captures


def look(port, captures):
    """Both pages to look at, in a browser, with everything around them from the archive."""
    if not shutil.which("node") or not (BROWSER / "node_modules").is_dir():
        print("browser: skipped, because tests/browser/run was not run here")
        return True
    pages = [
        f"http://127.0.0.1:{port}/crawl/{''.join(c for c in date if c.isdigit())[:14]}mp_/{url}"
        for url, date in captures
        if url.endswith(("/look/page.html", "/look/copy.html"))
    ]
    done = subprocess.run(["node", "replay.js", *pages], cwd=BROWSER, capture_output=True, text=True)
    print(f"browser: {len(pages)} pages {'shown as they were' if done.returncode == 0 else 'NOT SHOWN as they were'}")
    if done.returncode:
        print(done.stdout, done.stderr)
    return done.returncode == 0 and len(pages) == 2


def replay(folder, tools, captures):
    """Every capture through pywb, found by our index."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([tools / "wb-manager", "init", "crawl"], cwd=place, check=True, capture_output=True)
        collection = pathlib.Path(place) / "collections/crawl"
        for warc in (folder / "warc").glob("*.warc.gz"):
            (collection / "archive" / warc.name).write_bytes(warc.read_bytes())
        # Our index, not one that pywb makes.
        (collection / "indexes/index.cdxj").write_bytes((folder / "warc/index.cdxj").read_bytes())
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        log = open(pathlib.Path(place) / "log", "w")
        server = subprocess.Popen([tools / "wayback", "--bind", "127.0.0.1", "--port", str(port)], cwd=place, stdout=log, stderr=log)
        try:
            deadline = time.time() + 90
            while time.time() < deadline:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).read()
                    break
                except (urllib.error.URLError, OSError):
                    time.sleep(0.5)
            wrong = 0
            for (url, date), body in captures.items():
                stamp = "".join(c for c in date if c.isdigit())[:14]
                try:
                    found = urllib.request.urlopen(f"http://127.0.0.1:{port}/crawl/{stamp}id_/{url}", timeout=30).read()
                    status = 200
                except urllib.error.HTTPError as error:
                    found, status = error.read(), error.code
                if found != body:
                    wrong += 1
                    print(f"  {url} at {date}: {status}, {len(found)} bytes where {len(body or b'')} were stored")
            print(f"replay: pywb gave {len(captures) - wrong} of {len(captures)} captures as they were stored")
            return look(port, captures) and wrong == 0
        finally:
            server.terminate()
            server.wait()


def tables(crawler, folder):
    """Each table that the crawler exports, read by pyarrow: the same rows as in JSON Lines, with types."""
    good = True
    for what in ["pages", "links", "skipped", "text", "clusters"]:
        lines = subprocess.run([crawler, "export", "--what", what, folder], capture_output=True, text=True, check=True).stdout
        lines = [json.loads(line) for line in lines.splitlines()]
        file = folder / f"{what}.parquet"
        subprocess.run([crawler, "export", "--what", what, "--format", "parquet", "-o", file, folder], check=True)
        table = pyarrow.parquet.read_table(file)
        rows = table.to_pylist()
        wrong = [(line, row) for line, row in zip(lines, rows) if not is_same(line, row)]
        for line, row in wrong[:2]:
            print(f"  JSON    {line}\n  Parquet {row}")
        same = not wrong and len(lines) == len(rows) > 0
        good &= same
        print(f"Parquet: {what}: {len(rows)} rows in {table.num_columns} columns, {len(wrong)} differ from the JSON Lines")
    return good


def is_same(line, row):
    """Whether a row of a table says what a line says. Times have a type, and what has no type in a table is JSON in a text."""

    def value(cell, told):
        if isinstance(cell, datetime.datetime):
            return cell.strftime("%Y-%m-%dT%H:%M:%S.") + f"{cell.microsecond // 1000:03}Z"
        if isinstance(cell, str) and not isinstance(told, str) and told is not None:
            return json.loads(cell)
        return cell

    return all(value(row.get(name), told) == told for name, told in line.items()) and all(
        name in line for name, cell in row.items() if cell is not None
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("example", type=pathlib.Path)
    parser.add_argument("crawler", type=pathlib.Path)
    parser.add_argument("--no-replay", action="store_true")
    arguments = parser.parse_args()
    tools = pathlib.Path(sys.executable).parent
    good = keys(arguments.example)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        second = folder / "second"
        good &= crawl(arguments.crawler, folder / "first", second)
        folder = folder / "first"
        good &= index(folder, tools)
        found, captures = revisits(folder)
        good &= found
        for warc in (folder / "warc").glob("*.warc.gz"):
            good &= run("warcio check", tools / "warcio", "check", warc)
            good &= run("fastwarc check", tools / "fastwarc", "check", warc)
        wacz = folder / "crawl.wacz"
        good &= run("our WACZ", arguments.example, "wacz", folder, wacz)
        good &= run("wacz validate", tools / "wacz", "validate", "-f", wacz)
        good &= tables(arguments.crawler, second)
        if not arguments.no_replay:
            good &= replay(folder, tools, captures)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
