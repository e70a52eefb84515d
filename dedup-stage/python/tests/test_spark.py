"""Spark with several executor processes, one of which is killed on the way, gives the results of one process.

The test prints what signing costs: the CPU of this package, of the rest of the Python workers, and of the JVM.
TRY_SPARK_TEXTS is the number of documents.
"""

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import dedup_stage
from dedup_stage import spark as near

COUNT = int(os.environ.get("TRY_SPARK_TEXTS", "20000"))
FILES = 8
#: Spark does not keep the order of files, so the first document is not the same for it.
KEEP = "smallest-url"


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
                self.run_all(Path(folder) / "a folder")
            finally:
                self.session.stop()

    def run_all(self, folder: Path) -> None:
        numbers = list(range(COUNT))
        urls = [f"http://a/{number:09}" for number in numbers]
        table = pa.table({"id": numbers, "text": [text(number) for number in numbers], "url": urls})
        (folder / "documents").mkdir(parents=True)
        for part in range(FILES):
            some = table.slice(COUNT * part // FILES, COUNT * (part + 1) // FILES - COUNT * part // FILES)
            pq.write_table(some, folder / "documents" / f"{part}.parquet")
        # A task for each file.
        self.session.conf.set("spark.sql.files.openCostInBytes", str(1 << 30))
        frame = self.session.read.parquet(str(folder / "documents"))

        killed, tracker = [], self.session.sparkContext.statusTracker()

        def kill() -> None:
            """Kills an executor when some of the tasks of a stage are done, and others run."""
            end = time.monotonic() + 120
            while time.monotonic() < end and not killed:
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                executors = self.executors()
                if len(executors) > 1 and any(stage and stage.numCompletedTasks and stage.numActiveTasks for stage in stages):
                    os.kill(executors[0], signal.SIGKILL)
                    killed.append(executors[0])
                time.sleep(0.01)

        killer = threading.Thread(target=kill)
        killer.start()
        near.signatures(frame).write.parquet(str(folder / "signatures"))
        before = self.shuffled()
        pairs = near.near_duplicates(self.session, str(folder / "signatures"), blocks=4)
        pairs.write.parquet(str(folder / "pairs"))
        of_pairs = {stage: count for stage, count in self.shuffled().items() if stage not in before}
        self.assertTrue(of_pairs and not any(of_pairs.values()), f"shuffle bytes of the pairs by stage: {of_pairs}")
        decided = near.clusters(self.session, str(folder / "signatures"), str(folder / "pairs"), keep=KEEP).toPandas()
        killer.join()
        self.assertEqual(len(killed), 1, "no executor was killed")

        signed = dedup_stage.signatures(table)
        columns = ["id", "representative", "keep", "distance"]
        alone = rows(pa.table(dedup_stage.clusters(signed, keep=KEEP)).select(columns))
        self.assertEqual(rows(pa.Table.from_pandas(decided[columns], preserve_index=False)), alone)
        print(f"{COUNT} texts, one executor killed; shuffle bytes by stage: {self.shuffled()}")
        self.costs(frame)

    def costs(self, frame: DataFrame) -> None:
        """Prints what signing costs, without writing: the CPU of our part, and what Spark adds."""

        def timed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            """Signs as ``near.signatures`` does; a row of CPU seconds: those of this package, and all of the task."""
            from dedup_stage import _blocks

            start, ours = time.process_time(), 0.0
            for batch in batches:
                begun = time.process_time()
                _blocks.sign(batch, text="text", id="id")
                ours += time.process_time() - begun
            yield pa.RecordBatch.from_pydict({"ours": [ours], "all": [time.process_time() - start]})

        def passed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield pa.RecordBatch.from_pydict({"rows": [sum(batch.num_rows for batch in batches)]})

        # The virtual machines compile what they run often, so what they do at first is not counted.
        self.assertEqual(frame.mapInArrow(passed, "rows bigint").toPandas()["rows"].sum(), COUNT)
        before = self.cpu()
        costs = frame.mapInArrow(timed, "ours double, all double").toPandas().sum()
        parts = {
            "this package": costs["ours"],
            "pipe and the rest of Python": costs["all"] - costs["ours"],
            "virtual machines": self.cpu() - before,
        }
        print("CPU us a text: " + ", ".join(f"{part} {1e6 * seconds / COUNT:.1f}" for part, seconds in parts.items()))

    def cpu(self) -> float:
        """The CPU seconds that the virtual machines of the executors used."""
        fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in self.executors()]
        return sum(int(field[11]) + int(field[12]) for field in fields) / os.sysconf("SC_CLK_TCK")

    def shuffled(self) -> dict[int, int]:
        """Shuffle bytes written, by stage."""
        return {stage["stageId"]: stage["shuffleWriteBytes"] for stage in self.stages()}

    def stages(self) -> list[dict]:
        """What Spark's own interface tells of the stages."""
        context = self.session.sparkContext
        with urllib.request.urlopen(f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages") as reply:
            return json.load(reply)


def rows(table: pa.Table) -> list[tuple]:
    """The rows of a table, sorted."""
    return sorted(tuple(row.values()) for row in table.to_pylist())


if __name__ == "__main__":
    unittest.main()
