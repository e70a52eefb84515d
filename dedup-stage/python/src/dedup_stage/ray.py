"""Near-duplicates on Ray: signatures by ``map_batches``, pairs of blocks as independent tasks, groups by one task.

Signatures are kept as Parquet where all workers can read them::

    from dedup_stage import ray as near

    near.signatures(documents).write_parquet("/shared/signatures")
    pairs = near.near_duplicates("/shared/signatures", blocks=16)
    decided = near.clusters("/shared/signatures", pairs)          # a pyarrow table
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from . import _blocks

if TYPE_CHECKING:
    import ray.data


def signatures(
    documents: ray.data.Dataset, *, text: str = "text", body: str = "body", id: str = "id", url: str = "url", date: str = "date"  # noqa: A002
) -> ray.data.Dataset:
    """``id``, ``simhash``, ``sketch``, ``sha256`` and ``words`` of every document."""
    names = {"text": text, "body": body, "id": id, "url": url, "date": date}

    def sign(batch: pa.Table) -> pa.Table:
        return _blocks.sign(batch, **names)

    return documents.map_batches(sign, batch_format="pyarrow", batch_size=4096)


def near_duplicates(path: str, *, blocks: int | None = None, distance: int | None = None, look: bool = True) -> pa.Table:
    """All near-duplicates among the signatures at ``path``: ``a``, ``b``, ``distance``, ``resemblance``.

    ``blocks`` is the number of blocks. A task holds two of them in memory (about 120 bytes a document). The default
    makes three tasks for each core. There are never more blocks than files.
    """
    import ray

    cores = int(ray.cluster_resources().get("CPU", 1))
    parts = _blocks.blocks(_blocks.files(path), blocks or max(1, round((6 * cores) ** 0.5)))
    join = ray.remote(_blocks.join)
    found = [
        join.remote(parts[i], None if i == j else parts[j], distance, look) for i, j in _blocks.tasks(len(parts))
    ]
    return pa.concat_tables(ray.get(found))


def clusters(path: str, pairs: pa.Table, *, keep: str = "first", link: str = "single") -> pa.Table:
    """The decisions on documents: ``id``, ``cluster``, ``representative``, ``keep``, ``distance``, ``resemblance``."""
    import ray

    return ray.get(ray.remote(_blocks.group).remote(_blocks.files(path), pairs, keep, link))
