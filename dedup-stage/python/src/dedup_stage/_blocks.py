"""Joins signatures in many files block by block, for the modules for Spark and Ray.

``n`` blocks make ``n (n + 1) / 2`` tasks. Each task reads at most two blocks and depends on no other task, so nothing
is shuffled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from ._native import clusters, near_duplicates, signatures

#: Columns of near-duplicates.
PAIRS = ("a", "b", "distance", "resemblance")


def sign(batch: pa.RecordBatch | pa.Table, **columns: Any) -> pa.Table:
    """The signatures of some documents, made on one thread: the engine runs as many tasks as there are cores."""
    table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
    return pa.table(signatures(table, threads=1, **columns))


def files(path: str | Sequence[str]) -> list[str]:
    """The Parquet files at a path, sorted by name; or the given paths, in their order."""
    if isinstance(path, str):
        return sorted(ds.dataset(path, format="parquet", exclude_invalid_files=False).files)
    return list(path)


def blocks(paths: Sequence[str], count: int) -> list[list[str]]:
    """Divides the files into ``count`` blocks of about equal length, or into fewer blocks if there are fewer files."""
    count = max(1, min(count, len(paths)))
    return [list(paths[len(paths) * i // count : len(paths) * (i + 1) // count]) for i in range(count)]


def tasks(count: int) -> list[tuple[int, int]]:
    """The pairs of blocks to join; ``(i, i)`` joins a block with itself."""
    return [(i, j) for i in range(count) for j in range(i, count)]


def read(paths: Iterable[str]) -> pa.Table:
    """The signatures in some files."""
    return ds.dataset(list(paths), format="parquet").to_table()


def join(a: Sequence[str], b: Sequence[str] | None, distance: int | None, look: bool) -> pa.Table:
    """The near-duplicates within a block, or between two."""
    other = None if b is None else read(b)
    return pa.table(near_duplicates(read(a), other, distance=distance, look=look, threads=1))


def group(paths: Sequence[str], edges: pa.Table, keep: str, link: str) -> pa.Table:
    """The decision about every document, made from all near-duplicates."""
    return pa.table(clusters(read(paths), edges=edges, keep=keep, link=link, list="all"))
