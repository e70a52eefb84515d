"""Tells which pages and documents say the same thing.

For corpora: :func:`signatures`, :func:`near_duplicates` and :func:`clusters` work on Arrow tables of any library;
:mod:`dedup_stage.spark`, :mod:`dedup_stage.ray` and :mod:`dedup_stage.datatrove` do the same on many machines. For
crawls: :class:`DedupStage` is a client for the program ``dedup-stage``, :class:`Stage` judges tables of pages, and
:mod:`dedup_stage.scrapy` is a middleware for Scrapy.
"""

from ._client import DedupStage
from ._native import Table, __version__, clusters, near_duplicates, signatures
from ._protocol import Answer, DedupStageError, Link, Page
from ._stage import Stage

__all__ = [
    "Answer",
    "DedupStage",
    "DedupStageError",
    "Link",
    "Page",
    "Stage",
    "Table",
    "__version__",
    "clusters",
    "near_duplicates",
    "signatures",
]
