"""Lines of the protocol, version 1: what is sent, what comes back, how the program is started."""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Sequence
from typing import Any, TypedDict


class Link(TypedDict, total=False):
    """A link to follow."""

    url: str
    key: str
    priority: float
    #: Place among the links that were sent, where links were sent.
    given: int


class Answer(TypedDict, total=False):
    """The program's answer to a page."""

    id: Any
    url: str
    key: str
    #: ``unique``, ``exact``, ``near``, ``unjudged`` or ``error``.
    verdict: str
    duplicate_of: str | None
    duplicate_id: Any
    distance: int | None
    resemblance: float | None
    #: 0 for a copy … 1 for a page that is all new.
    novelty: float
    sha256: str
    simhash: str | None
    links: list[Link]
    links_dropped: int
    error: dict[str, str]


class Page(TypedDict, total=False):
    """A page to judge: ``url`` and ``body`` are required."""

    url: str
    body: str | bytes
    content_type: str | None
    status: int | None
    links: Sequence[str] | None
    id: Any
    priority: float | None


class DedupStageError(Exception):
    """The program is not there, or has ended."""


def encode(page: Page) -> bytes:
    """One line for a page. Text is sent as text, bytes as base64; ``None`` is left out."""
    fields: dict[str, Any] = {name: value for name, value in page.items() if value is not None and name != "body"}
    body = page["body"]
    if isinstance(body, str):
        fields["body"] = body
    else:
        fields["body_base64"] = base64.b64encode(body).decode("ascii")
    # Lone surrogates, which a lenient decoder may have left in text, pass as escapes.
    return json.dumps(fields).encode("ascii") + b"\n"


def command_line(
    command: str | Sequence[str] | None, state: str | os.PathLike[str] | None, on_duplicate: str | None,
    distance: int | None, threads: int | None,
) -> list[str]:
    """The program and its arguments."""
    if command is None:
        # This package holds the program; another one is meant where the environment names it.
        command = os.environ.get("DEDUP_STAGE") or [sys.executable, "-m", "dedup_stage"]
    words = [command] if isinstance(command, str) else list(command)
    words.append("run")
    options = {"state": state, "on-duplicate": on_duplicate, "distance": distance, "threads": threads}
    for name, value in options.items():
        if value is not None:
            words += [f"--{name}", os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return words
