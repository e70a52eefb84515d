"""text-dedup's MinHash with its defaults (256 permutations, 5-grams, a Jaccard threshold of .7), and its clusters.

text_dedup.py FOLDER GROUPS STEPS WORK
"""

import json
import pickle
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

folder, groups, steps, work = map(Path, sys.argv[1:])
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
start = time.time()
# One process, as its CPU is counted; the file of this name must not be found as the package.
command = [sys.executable, "-P", "-m", "text_dedup.minhash", "--path", "json", "--data_files", str(folder.resolve() / "*.jsonl")]
command += ["--split", "train", "--cache_dir", str(work / "cache"), "--output", str(work / "out"), "--column", "text"]
subprocess.run([*command, "--batch_size", "10000", "--num_proc", "1", "--debug"], check=True, cwd=work)
children = resource.getrusage(resource.RUSAGE_CHILDREN)
# The folder of this file is searched first, and the pickle names the package.
sys.path.pop(0)
with open(work / "out/uf.pkl", "rb") as file:
    union = pickle.load(file)
find = union.find if hasattr(union, "find") else union.get
nodes = union.parent if hasattr(union, "parent") else union
# The rows are those of the files in their order, which is that of the ids.
with open(groups, "w", encoding="utf-8") as out:
    out.writelines(f"{node}\t{find(node)}\n" for node in sorted(nodes))
steps.write_text(json.dumps({"minhash": (children.ru_utime + children.ru_stime, time.time() - start)}))
