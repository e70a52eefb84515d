"""The extension module; see its functions' documentation."""

import os
from typing import Any, Literal, Protocol

class ArrowStream(Protocol):
    """A table of pyarrow, polars, pandas, duckdb …: any object that exports an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Table:
    """An Arrow table. Give it to ``pyarrow.table``, ``polars.DataFrame``, ``duckdb`` …"""

    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

Signatures = ArrowStream | str | os.PathLike[str]

__version__: str

def signatures(
    table: ArrowStream,
    *,
    text: str = "text",
    body: str = "body",
    id: str = "id",
    url: str = "url",
    date: str = "date",
    threads: int | None = None,
) -> Table:
    """The signature of every row of a table of documents: ``id``, ``simhash``, ``sketch``, ``sha256``, ``words``."""

def near_duplicates(
    a: Signatures,
    b: Signatures | None = None,
    *,
    distance: int | None = None,
    look: bool = True,
    threads: int | None = None,
) -> Table:
    """All near-duplicates within ``a``, or between ``a`` and ``b``: ``a``, ``b``, ``distance``, ``resemblance``."""

def clusters(
    signatures: Signatures,
    *,
    edges: ArrowStream | None = None,
    distance: int | None = None,
    look: bool = True,
    link: Literal["single", "complete"] = "single",
    keep: Literal["first", "longest", "earliest", "smallest-url"] = "first",
    list: Literal["all", "clusters", "kept", "dropped"] = "all",
    threads: int | None = None,
) -> Table:
    """The group of every document, from ``edges`` (ids in columns ``a`` and ``b``), or else from the near-duplicates
    that are found now: ``id``, ``cluster``, ``representative``, ``keep``, ``distance``, ``resemblance``.
    """

def requests(table: ArrowStream) -> list[bytes]: ...
def answers(lines: list[bytes]) -> Table: ...
def program(arguments: list[str]) -> int: ...
