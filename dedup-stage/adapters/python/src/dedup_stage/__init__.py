"""Which pages of the web say the same thing: a client for the ``dedup-stage`` program."""

from ._client import DedupStage
from ._protocol import Answer, DedupStageError, Link, Page

__all__ = ["Answer", "DedupStage", "DedupStageError", "Link", "Page"]
