"""One Scrapy crawl of the synthetic web or of a folder site, breadth-first, with or without the middleware.

usage: scrapy_crawl.py on|off MAX_PAGES CONCURRENCY SEED…
The environment: DEDUP_STAGE names the program, FETCHED a file for the URLs of the pages. Prints Scrapy's statistics that matter.
"""

import json
import os
import sys
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess

mode, max_pages, concurrency, *seeds = sys.argv[1:]
fetched = open(os.environ["FETCHED"], "w", encoding="utf-8")
hosts = {urlsplit(seed).netloc for seed in seeds}


class EveryLink(scrapy.Spider):
    name = "every-link"

    async def start(self):
        for seed in seeds:
            yield scrapy.Request(seed)

    def parse(self, response):
        print(response.url, file=fetched)
        if not isinstance(response, scrapy.http.HtmlResponse):
            return
        for link in response.css("a:not([rel~=nofollow])::attr(href)").getall():
            url = response.urljoin(link.strip())
            if urlsplit(url).scheme in ("http", "https") and urlsplit(url).netloc in hosts:
                yield scrapy.Request(url)


settings = {
    "LOG_LEVEL": "WARNING",
    "ROBOTSTXT_OBEY": True,
    "COOKIES_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS": int(concurrency),
    "CONCURRENT_REQUESTS_PER_DOMAIN": int(concurrency),
    "AUTOTHROTTLE_ENABLED": False,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "CLOSESPIDER_PAGECOUNT": int(max_pages),
    # Breadth-first, as Scrapy's documentation has it.
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
if mode == "on":
    settings["SPIDER_MIDDLEWARES"] = {"dedup_stage.scrapy.DedupStageMiddleware": 50}

process = CrawlerProcess(settings)
crawler = process.create_crawler(EveryLink)
process.crawl(crawler)
process.start()
fetched.close()
stats = crawler.stats.get_stats()
kept = ("dedup_stage/", "response_received_count", "finish_reason", "elapsed_time_seconds")
print(json.dumps({name: value for name, value in stats.items() if name.startswith(kept)}))
