"""A Scrapy spider middleware: the links of duplicates are not followed. The README lists settings and statistics."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import is_asyncio_available

from ._protocol import Answer, DedupStageError, check
from .aio import AsyncDedupStage

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

logger = logging.getLogger(__name__)

_MODES = ("drop", "demote", "keep")


class DedupStageMiddleware:
    """Judges each response and lets its requests pass, lowers their priority, or drops them."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._mode: str = settings.get("DEDUP_STAGE_ON_DUPLICATE", "drop")
        if self._mode not in _MODES:
            raise ValueError(f"DEDUP_STAGE_ON_DUPLICATE is {self._mode!r}; known are {', '.join(_MODES)}")
        self._demotion: int = settings.getint("DEDUP_STAGE_DEMOTION", 100)
        self._drop_met: bool = settings.getbool("DEDUP_STAGE_MET", True)
        distance = settings.get("DEDUP_STAGE_DISTANCE")
        self._client = AsyncDedupStage(
            settings.get("DEDUP_STAGE_STATE"),
            on_duplicate=self._mode,
            distance=None if distance is None else int(distance),
            command=settings.get("DEDUP_STAGE_COMMAND"),
        )
        self._started: asyncio.Task[None] | None = None
        assert crawler.stats is not None
        self._stats = crawler.stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not is_asyncio_available():
            raise NotConfigured("dedup_stage needs Scrapy's asyncio reactor (the default)")
        # An exception here ends the crawl with a message and an exit code, before its first request.
        check(crawler.settings.get("DEDUP_STAGE_COMMAND"))
        middleware = cls(crawler)
        crawler.signals.connect(middleware._close, signal=signals.spider_closed)
        return middleware

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        # Checked before the first request, so that a missing program ends the crawl at once.
        await self._start()
        async for output in start:
            yield output

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        if response.meta.get("dedup_stage") is False:
            async for output in result:
                yield output
            return
        # Items pass at once; requests wait for the verdict.
        requests: list[Request] = []
        async for output in result:
            if isinstance(output, Request) and output.meta.get("dedup_stage") is not False:
                requests.append(output)
            else:
                yield output
        answer = await self._judge(response, requests)
        response.meta["dedup_stage"] = {name: value for name, value in answer.items() if name != "links"}
        for request in self._select(answer, requests):
            yield request

    async def _judge(self, response: Response, requests: list[Request]) -> Answer:
        await self._start()
        content_type = response.headers.get("Content-Type")
        answer = await self._client.judge(
            response.url,
            response.body,
            content_type=None if content_type is None else content_type.decode("latin-1"),
            status=response.status,
            links=[request.url for request in requests],
        )
        self._stats.inc_value("dedup_stage/pages")
        self._stats.inc_value(f"dedup_stage/{answer['verdict']}")
        if answer["verdict"] == "error":
            logger.warning("%s was not judged: %s", response.url, answer["error"]["message"])
        return answer

    def _select(self, answer: Answer, requests: list[Request]) -> list[Request]:
        """The requests that go on to the scheduler."""
        duplicate = answer["verdict"] in ("exact", "near")
        if duplicate and self._mode == "drop":
            self._stats.inc_value("dedup_stage/requests_dropped", len(requests))
            return []
        if self._drop_met and "links" in answer:
            new = {link["given"] for link in answer["links"]}
            selected = [
                request for place, request in enumerate(requests) if place in new or _is_special(request)
            ]
            self._stats.inc_value("dedup_stage/requests_met", len(requests) - len(selected))
        else:
            selected = requests
        if duplicate and self._mode == "demote":
            self._stats.inc_value("dedup_stage/requests_demoted", len(selected))
            less = round(self._demotion * (1 - answer["novelty"]))
            selected = [request.replace(priority=request.priority - less) for request in selected]
        return selected

    async def _start(self) -> None:
        if self._started is None:
            self._started = asyncio.ensure_future(self._client.start())
        await asyncio.shield(self._started)

    async def _close(self) -> None:
        try:
            await self._client.close()
        except DedupStageError as error:
            logger.error("%s", error)


def _is_special(request: Request) -> bool:
    """Whether a request has more than a URL. Such a request is made even if its URL was met before."""
    return request.dont_filter or request.method != "GET" or bool(request.body)
