"""The client for asyncio: any number of coroutines may wait for answers at once."""

from __future__ import annotations

import asyncio
import json
import os
from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from ._protocol import Answer, DedupStageError, Page, command_line, encode

#: The longest answer that is accepted, in bytes. A page with very many links has a long one.
_LONGEST_ANSWER = 256 << 20


class AsyncDedupStage:
    """A running ``dedup-stage``; see :class:`dedup_stage.DedupStage` for the arguments.

    Use it in an ``async with`` block, or call :meth:`start` and :meth:`close`.
    """

    def __init__(
        self,
        state: str | os.PathLike[str] | None = None,
        *,
        on_duplicate: str | None = None,
        distance: int | None = None,
        threads: int | None = None,
        command: str | Sequence[str] | None = None,
    ) -> None:
        self._arguments = command_line(command, state, on_duplicate, distance, threads)
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        # Answers come in the order of the questions.
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._has_ended = False
        self._sending = asyncio.Lock()

    async def start(self) -> None:
        """Starts the program."""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=_LONGEST_ANSWER,
            )
        except OSError as error:
            raise DedupStageError(f"{self._arguments[0]} cannot be started: {error}") from error
        self._reader = asyncio.create_task(self._receive())

    async def judge(
        self,
        url: str,
        body: str | bytes,
        *,
        content_type: str | None = None,
        status: int | None = None,
        links: Sequence[str] | None = None,
        id: Any = None,  # noqa: A002 (the protocol's word)
        priority: float | None = None,
    ) -> Answer:
        """Judges one page. Without ``links``, the links are read from the page."""
        page = Page(
            url=url, body=body, content_type=content_type, status=status, links=links, id=id, priority=priority
        )
        return await self._ask(encode(page))

    async def flush(self) -> dict[str, Any]:
        """Writes the state to disk, then returns the counts."""
        return await self._ask(b'{"op":"flush"}\n')

    async def stats(self) -> dict[str, Any]:
        """The counts."""
        return await self._ask(b'{"op":"stats"}\n')

    async def close(self) -> None:
        """Ends the program. Its state is on disk afterwards."""
        if self._process is None or self._reader is None:
            return
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._reader
        code = await self._process.wait()
        if code not in (0, 11):
            raise DedupStageError(f"dedup-stage ended with code {code}")

    async def _ask(self, line: bytes) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        async with self._sending:
            # The program may have ended while this coroutine waited for its turn. Then nobody would answer.
            if self._process is None or self._reader is None or self._has_ended:
                raise DedupStageError("dedup-stage is not running")
            assert self._process.stdin is not None
            self._waiting.append(answer)
            self._process.stdin.write(line)
            try:
                await self._process.stdin.drain()
            except (BrokenPipeError, ConnectionResetError):
                pass  # the reader says what ended it
        return await answer

    async def _receive(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        try:
            async for line in self._process.stdout:
                answer = self._waiting.popleft()
                if not answer.done():  # its coroutine may have been cancelled
                    answer.set_result(json.loads(line))
        finally:
            self._has_ended = True
            for answer in self._waiting:
                if not answer.done():
                    answer.set_exception(DedupStageError("dedup-stage has ended"))
            self._waiting.clear()

    async def __aenter__(self) -> AsyncDedupStage:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
