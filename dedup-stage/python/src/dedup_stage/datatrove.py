"""Removes near-duplicates in a datatrove pipeline, with three steps in place of the four of MinHash.

::

    signatures, removals = "out/signatures", "out/removals"
    LocalPipelineExecutor([reader, SignDocuments(signatures)], tasks=8).run()
    LocalPipelineExecutor([FindDuplicates(signatures, removals)], tasks=1).run()
    LocalPipelineExecutor([reader, DropDuplicates(removals), writer], tasks=8).run()

The reader must give each task the same documents in the same order both times. datatrove's own MinHash requires this
too.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from datatrove.data import Document, DocumentsPipeline
from datatrove.io import DataFolderLike, get_datafolder
from datatrove.pipeline.base import PipelineStep
from datatrove.utils.typeshelper import StatHints

from ._native import clusters, signatures

#: This many low bits of an id are the number of the document in its task. The bits above are the number of the task.
_TASK_SHIFT = 40


class SignDocuments(PipelineStep):
    """Signs the documents of each task, and passes them on."""

    type = "🫂 - DEDUP"
    name = "🖋️ dedup-stage: sign documents"

    def __init__(self, output_folder: DataFolderLike, batch: int = 4096) -> None:
        super().__init__()
        self.output_folder = get_datafolder(output_folder)
        self.batch = batch

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        """Writes a Parquet file of signatures for the task."""
        writer, first, held = None, rank << _TASK_SHIFT, []
        with self.output_folder.open(f"{rank:06d}.parquet", "wb") as file:
            try:
                for document in data:
                    held.append(document)
                    if len(held) == self.batch:
                        writer = self._write(writer, file, first, held)
                        first += len(held)
                        yield from held
                        held = []
                writer = self._write(writer, file, first, held)
                yield from held
            finally:
                if writer is not None:
                    writer.close()

    def _write(self, writer: pq.ParquetWriter | None, file: object, first: int, documents: list[Document]) -> pq.ParquetWriter:
        with self.track_time(unit="batch"):
            columns = {
                "id": pa.array(range(first, first + len(documents)), pa.int64()),
                "text": pa.array([document.text for document in documents], pa.large_string()),
                "url": pa.array([str(document.metadata.get("url") or "") for document in documents], pa.string()),
                "date": pa.array([_date(document.metadata.get("date")) for document in documents], pa.string()),
            }
            table = pa.table(signatures(pa.table(columns), threads=1))
            # All batches need the same columns, whether or not their documents have a URL and a date.
            for name, kind in (("url", pa.string()), ("date", pa.timestamp("ms"))):
                if name not in table.column_names:
                    table = table.append_column(name, pa.nulls(len(table), kind))
            table = table.select(_SCHEMA.names).cast(_SCHEMA)
            self.stat_update(StatHints.total, value=len(documents))
        if writer is None:
            writer = pq.ParquetWriter(file, _SCHEMA)
        writer.write_table(table)
        return writer


_SCHEMA = pa.schema({
    "id": pa.int64(), "simhash": pa.uint64(), "sketch": pa.binary(64), "sha256": pa.binary(32), "words": pa.uint32(),
    "url": pa.string(), "date": pa.timestamp("ms"),
})


def _date(date: object) -> str | None:
    return date.isoformat() if isinstance(date, datetime.date) else None if date is None else str(date)


class FindDuplicates(PipelineStep):
    """Groups all signatures, and writes for each task which of its documents to drop. This step runs as one task."""

    type = "🫂 - DEDUP"
    name = "🔎 dedup-stage: find duplicates"

    def __init__(
        self, input_folder: DataFolderLike, output_folder: DataFolderLike, *, distance: int | None = None, look: bool = True,
        keep: str = "first", link: str = "single", threads: int | None = None,
    ) -> None:
        super().__init__()
        self.input_folder = get_datafolder(input_folder)
        self.output_folder = get_datafolder(output_folder)
        self.options = {"distance": distance, "look": look, "keep": keep, "link": link, "threads": threads}

    def run(self, data: DocumentsPipeline = None, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        """Writes for each task a file with the numbers of its dropped documents. Tasks with no file were not signed."""
        if world_size != 1:
            raise ValueError("FindDuplicates runs as one task")
        with self.track_time():
            names = sorted(name for name in self.input_folder.list_files() if name.endswith(".parquet"))
            tables = []
            for name in names:
                with self.input_folder.open(name, "rb") as file:
                    tables.append(pq.read_table(file))
            table = pa.concat_tables(tables)
            dropped = pa.table(clusters(table, list="dropped", **self.options))["id"].to_numpy()
            self.stat_update(StatHints.total, value=len(table))
            self.stat_update(StatHints.dropped, value=len(dropped))
            tasks = dropped >> _TASK_SHIFT
            for name in names:
                task = int(name.removesuffix(".parquet"))
                numbers = np.sort(dropped[tasks == task] & ((1 << _TASK_SHIFT) - 1)).astype("<i8")
                with self.output_folder.open(f"{task:06d}.remove", "wb") as file:
                    file.write(numbers.tobytes())
        return data


class DropDuplicates(PipelineStep):
    """Passes on the documents that are kept."""

    type = "🫂 - DEDUP"
    name = "🎯 dedup-stage: drop duplicates"

    def __init__(self, input_folder: DataFolderLike) -> None:
        super().__init__()
        self.input_folder = get_datafolder(input_folder)

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        """Numbers the documents of the task as :class:`SignDocuments` did, and leaves out the dropped numbers."""
        with self.input_folder.open(f"{rank:06d}.remove", "rb") as file:
            dropped = set(np.frombuffer(file.read(), "<i8").tolist())
        for number, document in enumerate(data):
            with self.track_time():
                self.stat_update(StatHints.total)
                if number in dropped:
                    self.stat_update(StatHints.dropped)
                    continue
                self.stat_update(StatHints.forwarded)
            yield document


__all__ = ["DropDuplicates", "FindDuplicates", "SignDocuments"]
