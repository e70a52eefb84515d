"""The stage over tables: it takes tables of pages and returns tables of verdicts."""

from __future__ import annotations

import threading
from typing import Any

from ._client import DedupStage
from ._native import Table, answers, requests


class Stage(DedupStage):
    """A :class:`DedupStage` that judges a table of pages at once; use it in a ``with`` block, from one thread."""

    def judge_table(self, table: Any) -> Table:
        """Judges the rows in order. ``table`` has columns ``url`` and ``body`` (text or bytes), perhaps ``content_type``
        and ``status``. The verdicts have ``url``, ``key``, ``verdict``, ``duplicate_of``, ``distance``, ``resemblance``,
        ``novelty``, ``sha256``, ``simhash`` and ``links`` (as JSON).
        """
        lines = requests(table)
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        stdin = process.stdin

        def send() -> None:
            try:
                for line in lines:
                    stdin.write(line)
                stdin.flush()
            except BrokenPipeError:
                pass  # what ended the program is said below

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        replies = []
        for _ in lines:
            reply = process.stdout.readline()
            if not reply:
                self._ended()
            replies.append(reply)
        sender.join()
        return answers(replies)
