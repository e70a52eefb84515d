"""Ray on this machine gives the results of one process."""

import tempfile
import unittest

import pyarrow as pa
import ray

import dedup_stage
from dedup_stage import ray as near


class Ray(unittest.TestCase):
    def test_results_equal_those_of_one_process(self) -> None:
        texts = [" ".join(f"w{(number - number % 3) * 200 + n if n > number % 3 else n}" for n in range(100)) for number in range(600)]
        table = pa.table({"id": list(range(600)), "text": texts})
        ray.init(num_cpus=2, include_dashboard=False)
        try:
            with tempfile.TemporaryDirectory() as folder:
                near.signatures(ray.data.from_arrow([table.slice(0, 250), table.slice(250)])).write_parquet(folder)
                pairs = near.near_duplicates(folder, blocks=2)
                decided = near.clusters(folder, pairs)
        finally:
            ray.shutdown()
        alone = pa.table(dedup_stage.clusters(dedup_stage.signatures(table)))
        sizes = lambda decided: sorted(decided.group_by("cluster").aggregate([("id", "min"), ("id", "count")]).select(["id_min", "id_count"]).to_pylist(), key=str)  # noqa: E731
        self.assertEqual(sizes(decided), sizes(alone))


if __name__ == "__main__":
    unittest.main()
