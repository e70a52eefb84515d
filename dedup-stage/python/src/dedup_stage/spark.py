"""Near-duplicates on Spark: signatures by ``mapInArrow``, pairs of blocks as independent tasks, groups by one task.

The package must be installed on the executors. Signatures are kept as Parquet where all executors can read them, so that
a task reads the two blocks that it joins, and Spark shuffles nothing::

    from dedup_stage import spark as near

    near.signatures(documents, text="text", id="id").write.parquet("/shared/signatures")
    near.near_duplicates(session, "/shared/signatures", blocks=16).write.parquet("/shared/pairs")
    decided = near.clusters(session, "/shared/signatures", "/shared/pairs")
    kept = documents.join(decided.where("keep").select("id"), "id")
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pyarrow as pa

from . import _blocks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SIGNATURES = "simhash bigint, sketch binary, sha256 binary, words int"


def signatures(
    documents: DataFrame, *, text: str = "text", body: str = "body", id: str = "id", url: str = "url", date: str = "date"  # noqa: A002
) -> DataFrame:
    """``id``, ``simhash``, ``sketch``, ``sha256`` and ``words`` of every document; ``url`` and ``date`` where there are
    such columns. Spark has no unsigned integers, so a ``simhash`` from 2^63 on is shown as a negative number.
    """
    fields = {field.name: field.dataType.simpleString() for field in documents.schema.fields}
    if id not in fields:
        raise ValueError(f"the documents need a column {id!r}")
    whole = fields[id] in ("tinyint", "smallint", "int", "bigint")
    extra = [(name, kind) for column, name, kind in ((url, "url", "string"), (date, "date", "timestamp_ntz")) if column in fields]
    schema = f"id {'bigint' if whole else 'string'}, {_SIGNATURES}" + "".join(f", {name} {kind}" for name, kind in extra)
    names = {"text": text, "body": body, "id": id, "url": url, "date": date}
    wanted = [column for column in names.values() if column in fields]

    def sign(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            table = _blocks.sign(batch, **names)
            yield from _for_spark(table, whole, [name for name, _ in extra]).to_batches()

    return documents.select(*dict.fromkeys(wanted)).mapInArrow(sign, schema)


def _for_spark(table: pa.Table, whole: bool, extra: list[str]) -> pa.Table:
    """Converts a table to the columns of the announced schema, with types that Spark has."""
    columns = {
        "id": table["id"].cast(pa.int64() if whole else pa.string()),
        "simhash": table["simhash"].combine_chunks().view(pa.int64()),
        "sketch": table["sketch"].cast(pa.binary()),
        "sha256": table["sha256"].cast(pa.binary()),
        "words": table["words"].cast(pa.int32()),
    }
    kinds = {"url": pa.string(), "date": pa.timestamp("us")}
    for name in extra:
        there = name in table.column_names
        columns[name] = table[name].cast(kinds[name]) if there else pa.nulls(len(table), kinds[name])
    return pa.table(columns)


def near_duplicates(
    session: SparkSession, path: str, *, blocks: int | None = None, distance: int | None = None, look: bool = True
) -> DataFrame:
    """All near-duplicates among the signatures at ``path``: ``a``, ``b``, ``distance``, ``resemblance``.

    ``blocks`` is the number of blocks. A task holds two of them in memory (about 120 bytes a document). The default
    makes three tasks for each core. There are never more blocks than files.
    """
    paths = _local(session, path)
    cores = session.sparkContext.defaultParallelism
    parts = _blocks.blocks(paths, blocks or max(1, round((6 * cores) ** 0.5)))
    pairs = _blocks.tasks(len(parts))
    kind = _id_kind(session, path)

    def join(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for i, j in zip(batch["i"].to_pylist(), batch["j"].to_pylist(), strict=True):
                found = _blocks.join(parts[i], None if i == j else parts[j], distance, look)
                yield from found.cast(_pairs_schema(kind)).to_batches()

    return _one_each(session, pairs).mapInArrow(join, f"a {kind}, b {kind}, distance int, resemblance float")


def clusters(
    session: SparkSession, path: str, pairs: str, *, keep: str = "first", link: str = "single"
) -> DataFrame:
    """The decisions on documents: ``id``, ``cluster``, ``representative``, ``keep``, ``distance``, ``resemblance``.

    One task joins the pairs at the path ``pairs`` by union-find. ``keep`` is ``first``, ``longest``, ``earliest`` or
    ``smallest-url``. ``link`` is ``single`` or ``complete``.
    """
    paths, edges = _local(session, path), _local(session, pairs)
    kind = _id_kind(session, path)
    types = {"bigint": pa.int64(), "string": pa.string()}
    schema = pa.schema({
        "id": types[kind], "cluster": pa.int64(), "representative": types[kind], "keep": pa.bool_(),
        "distance": pa.int32(), "resemblance": pa.float32(),
    })

    def group(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            decided = _blocks.group(paths, _blocks.read(edges), keep, link)
            yield from decided.cast(schema).to_batches(max_chunksize=1 << 16)

    columns = f"id {kind}, cluster bigint, representative {kind}, keep boolean, distance int, resemblance float"
    return _one_each(session, [(0, 0)]).mapInArrow(group, columns)


def _one_each(session: SparkSession, pairs: list[tuple[int, int]]) -> DataFrame:
    """A data frame with a row for each pair, and a task for each row."""
    return session.createDataFrame(session.sparkContext.parallelize(pairs, len(pairs)), "i int, j int")


def _local(session: SparkSession, path: str) -> list[str]:
    """The Parquet files that Spark sees at a path, in the form in which executors open them with pyarrow."""
    found = session.read.parquet(path).inputFiles()
    # Spark names local files by URLs, in which a space is %20.
    return sorted(url2pathname(urlsplit(name).path) if name.startswith("file:") else name for name in found)


def _id_kind(session: SparkSession, path: str) -> str:
    return session.read.parquet(path).schema["id"].dataType.simpleString()


def _pairs_schema(kind: str) -> pa.Schema:
    ids = pa.int64() if kind == "bigint" else pa.string()
    return pa.schema({"a": ids, "b": ids, "distance": pa.int32(), "resemblance": pa.float32()})
