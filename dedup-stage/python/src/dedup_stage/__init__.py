"""Which pages and documents say the same thing.

For corpora: :func:`signatures`, :func:`near_duplicates` and :func:`clusters` on Arrow tables of any library, and for
jobs on many machines :mod:`dedup_stage.spark`, :mod:`dedup_stage.ray` and :mod:`dedup_stage.datatrove`. For crawls:
:class:`DedupStage`, a client for the program ``dedup-stage``, :class:`Stage`, the same over tables, and
:mod:`dedup_stage.scrapy`.
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
