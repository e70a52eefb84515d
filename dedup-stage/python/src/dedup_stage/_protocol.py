"""Lines of the protocol, version 1: the pages that are sent, the answers, and the start of the program."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, TypedDict


class Link(TypedDict, total=False):
    """A link to follow."""

    url: str
    key: str
    priority: float
    #: The place among the links that were sent. Missing if no links were sent.
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
    #: From 0 (a copy) to 1 (a page whose text is all new).
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
    """The program cannot be started, or has ended."""


def encode(page: Page) -> bytes:
    """The line for a page. Text is sent as text, bytes as base64. Fields that are ``None`` are left out."""
    fields: dict[str, Any] = {name: value for name, value in page.items() if value is not None and name != "body"}
    body = page["body"]
    if isinstance(body, str):
        fields["body"] = body
    else:
        fields["body_base64"] = base64.b64encode(body).decode("ascii")
    # A lenient decoder may have left lone surrogates in the text. ASCII output sends them as escapes.
    return json.dumps(fields).encode("ascii") + b"\n"


def program(command: str | Sequence[str] | None) -> list[str]:
    """The command line of the program: ``command``, else the value of ``DEDUP_STAGE``, else the one in this package."""
    if command is None:
        command = os.environ.get("DEDUP_STAGE") or [sys.executable, "-m", "dedup_stage"]
    return [command] if isinstance(command, str) else list(command)


def check(command: str | Sequence[str] | None) -> None:
    """Raises :class:`DedupStageError` if the program cannot be started."""
    words = program(command)
    try:
        done = subprocess.run([*words, "--version"], capture_output=True, check=False)
    except OSError as error:
        raise DedupStageError(f"{words[0]} cannot be started: {error}") from error
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise DedupStageError(f"{words[0]} cannot be started: code {done.returncode}: {said}")


def command_line(
    command: str | Sequence[str] | None, state: str | os.PathLike[str] | None, on_duplicate: str | None,
    distance: int | None, threads: int | None,
) -> list[str]:
    """The program and its arguments."""
    words = [*program(command), "run"]
    options = {"state": state, "on-duplicate": on_duplicate, "distance": distance, "threads": threads}
    for name, value in options.items():
        if value is not None:
            words += [f"--{name}", os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return words
