"""The client for programs without an event loop."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, NoReturn

from ._protocol import Answer, DedupStageError, Page, command_line, encode


class DedupStage:
    """A running ``dedup-stage``; use it in a ``with`` block, from one thread.

    ``state`` is a folder in which the program remembers pages from run to run. One process at a time can use it. It is
    written at :meth:`flush` and at the end of the block. ``on_duplicate`` says what happens to the links of a
    duplicate: ``drop``, ``demote`` or ``keep``.
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
        arguments = command_line(command, state, on_duplicate, distance, threads)
        try:
            self._process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise DedupStageError(f"{arguments[0]} cannot be started: {error}") from error

    def judge(
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
        """Judges one page and waits for the answer. Without ``links``, the links are read from the page."""
        page = Page(
            url=url, body=body, content_type=content_type, status=status, links=links, id=id, priority=priority
        )
        return self._ask(encode(page))

    def judge_many(self, pages: Iterable[Page]) -> Iterator[Answer]:
        """Judges pages and yields the answers in order. It sends pages ahead of the answers, so that all cores work."""
        failures: list[BaseException] = []
        assert self._process.stdin is not None
        stdin = self._process.stdin

        def send() -> None:
            try:
                for page in pages:
                    stdin.write(encode(page))
            except BrokenPipeError:
                pass
            except BaseException as error:  # raised again by the reader
                failures.append(error)
            finally:
                try:
                    # The answer to this line marks the end.
                    stdin.write(b'{"op":"hello"}\n')
                    stdin.flush()
                except OSError:
                    pass

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        while "op" not in (answer := self._receive()):
            yield answer
        sender.join()
        if failures:
            raise failures[0]

    def flush(self) -> dict[str, Any]:
        """Writes the state to disk, then returns the counts."""
        return dict(self._ask(b'{"op":"flush"}\n'))

    def stats(self) -> dict[str, Any]:
        """The counts."""
        return dict(self._ask(b'{"op":"stats"}\n'))

    def close(self) -> None:
        """Ends the program. Its state is on disk afterwards."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        if not self._process.stdout.closed:
            self._process.stdout.read()
        self._close_pipes()
        code = self._process.wait()
        if code not in (0, 11):
            raise DedupStageError(f"dedup-stage ended with code {code}")

    def _ask(self, line: bytes) -> Answer:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # what ended it is said below
        return self._receive()

    def _receive(self) -> Answer:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._ended()
        return json.loads(line)

    def _ended(self) -> NoReturn:
        code = self._process.wait()
        # Nobody may call close() after this, and the pipes must not stay open.
        self._close_pipes()
        raise DedupStageError(f"dedup-stage ended with code {code}")

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass  # what was not sent is lost with the program

    def __enter__(self) -> DedupStage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
            return
        # An exception of the caller must not be hidden by one of ours.
        try:
            self.close()
        except DedupStageError:
            pass
