"""One Scrapy crawl of the synthetic web or of a folder site, breadth-first, with or without the middleware.

usage: scrapy_crawl.py on|off MAX_PAGES CONCURRENCY SEED…   (DEDUP_STAGE names the program; PROXY a proxy, if one is needed)
Prints Scrapy's statistics that matter as one JSON line.
"""

import json
import sys
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess

mode, max_pages, concurrency, *seeds = sys.argv[1:]
hosts = {urlsplit(seed).netloc for seed in seeds}


class EveryLink(scrapy.Spider):
    name = "every-link"

    async def start(self):
        for seed in seeds:
            yield scrapy.Request(seed)

    def parse(self, response):
        yield {"url": response.url}
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
stats = crawler.stats.get_stats()
kept = ("dedup_stage/", "response_received_count", "finish_reason", "elapsed_time_seconds", "item_scraped_count")
print(json.dumps({name: value for name, value in stats.items() if name.startswith(kept)}))
