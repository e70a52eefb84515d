"""The three steps in a datatrove pipeline."""

import tempfile
import unittest
from pathlib import Path

from datatrove.data import Document
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.writers import JsonlWriter

from dedup_stage.datatrove import DropDuplicates, FindDuplicates, SignDocuments


class Texts(PipelineStep):
    """The documents of each task. Every fourth document is the same in all tasks."""

    name = "texts"

    def run(self, data=None, rank: int = 0, world_size: int = 1):
        for number in range(40):
            seed = 7 * 1000 + number if number % 4 == 0 else rank * 1000 + number
            yield Document(text=" ".join(f"w{seed * 200 + n}" for n in range(80)), id=f"{rank}/{number}")


class Pipeline(unittest.TestCase):
    def test_copies_are_dropped_once(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            signatures, removals, kept = (str(root / name) for name in ("signatures", "removals", "kept"))

            def run(tasks: int, *steps: PipelineStep) -> None:
                LocalPipelineExecutor(list(steps), tasks=tasks, logging_dir=str(root / "logs" / str(len(steps)))).run()

            run(3, Texts(), SignDocuments(signatures, batch=16))
            run(1, FindDuplicates(signatures, removals))
            run(3, Texts(), DropDuplicates(removals), JsonlWriter(kept, compression=None))
            lines = [line for path in Path(kept).glob("*.jsonl") for line in path.read_text().splitlines()]
            # Of 120 documents, ten occur three times.
            self.assertEqual(len(lines), 100)
            self.assertIn('"0/4"', "".join(lines))
            self.assertNotIn('"1/4"', "".join(lines))


if __name__ == "__main__":
    unittest.main()
