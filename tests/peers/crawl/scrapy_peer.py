"""Scrapy on the seeds of a file: follows every link to the seeds' hosts, stores nothing."""

import sys
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess


class Peer(scrapy.Spider):
    name = "peer"

    def __init__(self, seeds):
        super().__init__()
        self.start_urls = seeds
        self.hosts = {urlsplit(seed).netloc for seed in seeds}

    def parse(self, response):
        for href in response.css("a::attr(href)").getall():
            if urlsplit(response.urljoin(href)).netloc in self.hosts:
                yield response.follow(href, self.parse)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="ascii") as file:
        seeds = file.read().split()
    settings = {
        "LOG_LEVEL": "ERROR",
        "ROBOTSTXT_OBEY": False,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
        "TELNETCONSOLE_ENABLED": False,
    }
    process = CrawlerProcess(settings)
    process.crawl(Peer, seeds=seeds)
    process.start()
