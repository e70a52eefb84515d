"""Spark with several executor processes, one of which is killed on the way, gives the results of one process."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

import dedup_stage
from dedup_stage import spark as near

COUNT = int(os.environ.get("TRY_SPARK_TEXTS", "20000"))


def text(number: int) -> str:
    """The text of a document. Of every three documents, the second and third are edited copies of the first."""
    family, edits = (number - number % 3, number % 3)
    words = [f"w{family * 7919 % 65_521 + n}" for n in range(120)]
    for n in range(edits):
        words[n * 50] = f"edited{number}"
    return " ".join(words)


class Spark(unittest.TestCase):
    def executors(self) -> list[int]:
        found = subprocess.run(["pgrep", "-f", f"CoarseGrainedExecutorBackend.*{self.session.sparkContext.applicationId}"], capture_output=True, text=True, check=False)
        return [int(pid) for pid in found.stdout.split()]

    def test_results_equal_those_of_one_process(self) -> None:
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "true")
        builder = builder.config("spark.executor.memory", "512m").config("spark.ui.port", "0")
        with tempfile.TemporaryDirectory() as folder:
            os.environ.setdefault("PYSPARK_PYTHON", os.sys.executable)
            self.session = builder.getOrCreate()
            try:
                self.run_all(Path(folder))
            finally:
                self.session.stop()

    def run_all(self, folder: Path) -> None:
        documents = [(number, text(number)) for number in range(COUNT)]
        slices = self.session.sparkContext.parallelize(documents, 8)
        frame = self.session.createDataFrame(slices, "id bigint, text string")
        killed = []

        def kill() -> None:
            for _ in range(200):
                executors = self.executors()
                if len(executors) > 1:
                    os.kill(executors[0], signal.SIGKILL)
                    killed.append(executors[0])
                    return
                time.sleep(0.05)

        killer = threading.Thread(target=kill)
        killer.start()
        near.signatures(frame).write.parquet(str(folder / "signatures"))
        near.near_duplicates(self.session, str(folder / "signatures"), blocks=4).write.parquet(str(folder / "pairs"))
        decided = near.clusters(self.session, str(folder / "signatures"), str(folder / "pairs")).toPandas()
        killer.join()
        self.assertEqual(len(killed), 1, "no executor was killed")

        table = pa.table({"id": [number for number, _ in documents], "text": [words for _, words in documents]})
        alone = pa.table(dedup_stage.clusters(dedup_stage.signatures(table)))
        groups = lambda ids, clusters: {frozenset(group) for group in _by(ids, clusters)}  # noqa: E731
        self.assertEqual(
            groups(decided["id"].tolist(), decided["cluster"].tolist()),
            groups(alone["id"].to_pylist(), alone["cluster"].to_pylist()),
        )
        shuffled = self.shuffled()
        print(f"{COUNT} texts, one executor killed; shuffle bytes by stage: {shuffled}")

    def shuffled(self) -> dict[str, int]:
        """Shuffle bytes written, by stage, from Spark's own interface."""
        import urllib.request

        context = self.session.sparkContext
        url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
        with urllib.request.urlopen(url) as reply:
            return {f"{stage['stageId']} {stage['name'][:40]}": stage["shuffleWriteBytes"] for stage in json.load(reply)}


def _by(ids: list[int], clusters: list[int]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for number, cluster in zip(ids, clusters, strict=True):
        groups.setdefault(cluster, []).append(number)
    return list(groups.values())


if __name__ == "__main__":
    unittest.main()
