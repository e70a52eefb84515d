"""The Scrapy middleware in a real crawl, with the program of the wheel and without a program."""

import http.server
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
from pathlib import Path

TEXT = " ".join(f"word{n} of a page that says something" for n in range(40))

SPIDER = """
import scrapy

class Spider(scrapy.Spider):
    name = "spider"
    start_urls = ["http://127.0.0.1:{port}/a", "http://127.0.0.1:{port}/b"]
    custom_settings = {{
        "SPIDER_MIDDLEWARES": {{"dedup_stage.scrapy.DedupStageMiddleware": 50}},
        "CONCURRENT_REQUESTS": 1, "TELNETCONSOLE_ENABLED": False, "LOG_LEVEL": "ERROR", "ROBOTSTXT_OBEY": False,
        {settings}
    }}

    def parse(self, response):
        yield {{"url": response.url, "verdict": response.meta.get("dedup_stage", {{}}).get("verdict")}}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)
"""


class Pages(http.server.BaseHTTPRequestHandler):
    asked: list[str] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        body = f"<p>{TEXT}</p><a href='{self.path}/more'>more</a>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Crawl(unittest.TestCase):
    def crawl(self, settings: str, **environment: str) -> subprocess.CompletedProcess[str]:
        Pages.asked = []
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory() as folder:
            spider = Path(folder) / "spider.py"
            spider.write_text(textwrap.dedent(SPIDER).format(port=server.server_port, settings=settings))
            command = [sys.executable, "-m", "scrapy", "runspider", str(spider)]
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=120, cwd=folder, env={**os.environ, **environment}, check=False
            )
        server.shutdown()
        return done

    def test_a_duplicate_is_not_expanded(self) -> None:
        done = self.crawl("")
        self.assertEqual(done.returncode, 0, done.stderr)
        # The crawl fetches both seeds and the link of the first. Its page is a copy, so its own links are not followed.
        self.assertEqual(len(Pages.asked), 3, Pages.asked)

    def test_without_the_program_the_spider_stops(self) -> None:
        done = self.crawl("", DEDUP_STAGE="/nowhere/dedup-stage")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/nowhere/dedup-stage cannot be started", done.stderr)
        self.assertEqual(Pages.asked, [])


if __name__ == "__main__":
    unittest.main()
