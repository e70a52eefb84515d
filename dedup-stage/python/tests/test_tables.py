"""Signatures, near-duplicates and groups over tables of several libraries."""

import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import dedup_stage


def text(seed: int, edits: int = 0) -> str:
    words = [f"word{seed * 1000 + n}" for n in range(80)]
    for n in range(edits):
        words[n * 9] = f"edited{n}"
    return " ".join(words)


DOCUMENTS = pa.table({
    "id": [10, 11, 12, 13, 14, 15],
    "text": [text(1), text(2), text(1, 1), text(1), "short", "short"],
    "url": ["http://a/long", "http://b", "http://a/x", "http://c", "http://d", "http://e"],
})


class Tables(unittest.TestCase):
    def test_signatures(self) -> None:
        signed = pa.table(dedup_stage.signatures(DOCUMENTS))
        self.assertEqual(signed.column_names, ["id", "simhash", "sketch", "sha256", "words", "url"])
        self.assertEqual(signed["id"].to_pylist(), [10, 11, 12, 13, 14, 15])
        self.assertEqual(signed["words"].to_pylist(), [80, 80, 80, 80, 1, 1])
        self.assertEqual(signed["simhash"].null_count, 2)
        self.assertEqual(signed["simhash"][0], signed["simhash"][3])
        self.assertEqual(signed["sha256"][4], signed["sha256"][5])

    def test_dates_that_cannot_be_read_are_counted(self) -> None:
        dated = DOCUMENTS.append_column("date", [["2020-01-02", "soon", None, "2020", "", "never"]])
        with self.assertWarnsRegex(UserWarning, "cannot be read: 2;"):
            signed = pa.table(dedup_stage.signatures(dated))
        self.assertEqual(signed["date"].null_count, 4)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            dedup_stage.signatures(DOCUMENTS)

    def test_near_duplicates_within_and_between(self) -> None:
        signed = dedup_stage.signatures(DOCUMENTS)
        found = pa.table(dedup_stage.near_duplicates(signed)).to_pylist()
        self.assertEqual({(row["a"], row["b"]) for row in found}, {(10, 12), (10, 13), (14, 15)})
        self.assertTrue(all(row["resemblance"] > 0.7 for row in found))
        other = dedup_stage.signatures(pa.table({"id": ["x", "y"], "text": [text(2), text(3)]}))
        across = pa.table(dedup_stage.near_duplicates(signed, other)).to_pylist()
        self.assertEqual([(row["a"], row["b"], row["distance"]) for row in across], [(11, "x", 0)])

    def test_clusters_keep_one_of_each(self) -> None:
        signed = dedup_stage.signatures(DOCUMENTS)
        for keep, kept in (("first", [10, 11, 14]), ("smallest-url", [11, 13, 14])):
            decided = pa.table(dedup_stage.clusters(signed, keep=keep)).to_pylist()
            self.assertEqual([row["id"] for row in decided], [10, 11, 12, 13, 14, 15])
            self.assertEqual([row["id"] for row in decided if row["keep"]], kept)
        edges = dedup_stage.near_duplicates(signed)
        by_edges = pa.table(dedup_stage.clusters(signed, edges=edges))
        self.assertEqual(by_edges, pa.table(dedup_stage.clusters(signed)))
        # Of a chain of three, only the first two belong together if each has to be near all others.
        chain = dedup_stage.signatures(pa.table({"id": [0, 1, 2], "text": [text(5), text(5, 3), text(5, 9)]}))
        edges = pa.table({"a": [0, 1], "b": [1, 2]})
        for link, numbers in (("single", [0, 0, 0]), ("complete", [0, 0, 1])):
            chained = pa.table(dedup_stage.clusters(chain, edges=edges, link=link, distance=64))
            self.assertEqual(chained["cluster"].to_pylist(), numbers)
        with self.assertRaisesRegex(ValueError, "known are first"):
            dedup_stage.clusters(signed, keep="best")

    def test_polars_and_parquet_and_files(self) -> None:
        frame = pl.DataFrame(DOCUMENTS)
        signed = pl.DataFrame(dedup_stage.signatures(frame))
        found = pl.DataFrame(dedup_stage.near_duplicates(signed))
        self.assertEqual(found.shape, (3, 4))
        with tempfile.TemporaryDirectory() as folder:
            parquet, output = Path(folder) / "in.parquet", Path(folder) / "out.sig"
            pq.write_table(DOCUMENTS, parquet)
            from dedup_stage._native import program

            self.assertEqual(program(["dedup-stage", "signatures", str(parquet), "-o", str(output)]), 0)
            self.assertEqual(pa.table(dedup_stage.near_duplicates(output)).num_rows, 3)
            kept = Path(folder) / "kept.parquet"
            self.assertEqual(program(["dedup-stage", "cluster", str(output), "--list", "kept", "-o", str(kept)]), 0)
            self.assertEqual(pq.read_table(kept)["id"].to_pylist(), [10, 11, 14])

    def test_what_is_wrong_is_said(self) -> None:
        with self.assertRaisesRegex(ValueError, "no column"):
            dedup_stage.signatures(pa.table({"words": ["x"]}))
        with self.assertRaisesRegex(ValueError, '"text" has values of type Int64; it must have text'):
            dedup_stage.signatures(pa.table({"text": [7]}))
        with self.assertRaisesRegex(ValueError, '"id" has values of type Struct'):
            dedup_stage.signatures(pa.table({"text": ["x"], "id": [{"a": 1}]}))
        with self.assertRaisesRegex(ValueError, "no column"):
            dedup_stage.near_duplicates(DOCUMENTS)
        with self.assertRaisesRegex(OSError, "nowhere"):
            dedup_stage.near_duplicates("nowhere.sig")

    def test_the_lock_is_released(self) -> None:
        many = pa.table({"text": [text(n) for n in range(3000)] * 10})
        beats, over = [], threading.Event()

        def beat() -> None:
            while not over.is_set():
                beats.append(time.monotonic())
                time.sleep(0.001)

        thread = threading.Thread(target=beat)
        thread.start()
        start = time.monotonic()
        dedup_stage.signatures(many, threads=1)
        end = time.monotonic()
        over.set()
        thread.join()
        self.assertGreater(sum(start < at < end for at in beats), 3)

    def test_the_stage_over_a_table(self) -> None:
        pages = pa.table({"url": ["http://a/1", "http://b/1", "http://a/2"], "body": [f"<p>{text(1)}", f"<p>{text(1)}", f"<p>{text(2)}"]})
        with dedup_stage.Stage() as stage:
            verdicts = pa.table(stage.judge_table(pages))
        self.assertEqual(verdicts["verdict"].to_pylist(), ["unique", "exact", "unique"])
        self.assertEqual(verdicts["duplicate_of"].to_pylist(), [None, "http://a/1", None])


if __name__ == "__main__":
    unittest.main()
