"""datatrove's MinHash with its defaults, 14 buckets of 8 hashes, 5-grams: its four steps, as a pipeline of their own.

datatrove.py FOLDER GROUPS STEPS WORK
"""

import json
import resource
import shutil
import sys
import time
from collections import defaultdict
from pathlib import Path

# The file has the name of the package.
sys.path.pop(0)

from datatrove.executor import LocalPipelineExecutor  # noqa: E402
from datatrove.pipeline.dedup import MinhashDedupCluster, MinhashDedupSignature  # noqa: E402
from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets, MinhashDedupFilter  # noqa: E402
from datatrove.pipeline.readers import JsonlReader  # noqa: E402
from datatrove.pipeline.writers import JsonlWriter  # noqa: E402
from datatrove.utils.hashing import HashConfig  # noqa: E402

folder, groups, steps, work = map(Path, sys.argv[1:])
shutil.rmtree(work, ignore_errors=True)
config = MinhashConfig(hash_config=HashConfig(precision=64))


def reader():
    return JsonlReader(str(folder), glob_pattern="*.jsonl")


pipelines = {
    "signatures": [reader(), MinhashDedupSignature(str(work / "signatures"), config=config)],
    "buckets": [MinhashDedupBuckets(str(work / "signatures"), str(work / "buckets"), config=config)],
    "cluster": [MinhashDedupCluster(str(work / "buckets"), str(work / "clusters"), config=config, save_cluster_id=True)],
    "filter": [
        reader(),
        MinhashDedupFilter(str(work / "clusters"), load_cluster_ids=True, exclusion_writer=JsonlWriter(str(work / "dropped"), compression=None)),
        JsonlWriter(str(work / "kept"), compression=None),
    ],
}
tasks = {"signatures": 4, "buckets": config.num_buckets, "cluster": 1, "filter": 4}


def used():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    took = {}
    for name, pipeline in pipelines.items():
        cpu, start = used(), time.time()
        LocalPipelineExecutor(pipeline, tasks=tasks[name], workers=1, logging_dir=str(work / "logs" / name)).run()
        took[name] = (used() - cpu, time.time() - start)
    clusters = defaultdict(list)
    for path in [*sorted((work / "kept").glob("*")), *sorted((work / "dropped").glob("**/*"))]:
        if path.is_file():
            with open(path, encoding="utf-8") as lines:
                for document in map(json.loads, lines):
                    cluster = document.get("metadata", {}).get("minhash_cluster_id", -1)
                    if cluster != -1:
                        clusters[cluster].append(int(document["id"]))
    with open(groups, "w", encoding="utf-8") as out:
        for cluster, members in clusters.items():
            out.writelines(f"{member}\t{cluster}\n" for member in sorted(members))
    steps.write_text(json.dumps(took))
