#!/usr/bin/env python3
"""Near-duplicates among a million texts: dedup-stage beside datatrove's MinHash and text-dedup, in one run.

See README.md.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import texts
import truth as truths

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PEERS = ROOT / "target/peers"
#: Ours, and what it finds if only fingerprints make candidates.
OURS = {"ours": (), "fingerprints": ("--distance", "7")}


def cpu(command, **options):
    """Runs a program; its CPU seconds and wall seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    done = subprocess.run(command, check=False, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with code {done.returncode}")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, time.time() - start


def of_clusters(lines, count):
    """Labels and flags from lines of ``id`` and ``cluster``; the first of a cluster is not flagged."""
    label = list(range(count))
    first, flagged = {}, set()
    for number, cluster in lines:
        if cluster in first:
            flagged.add(number)
            label[number] = first[cluster]
        else:
            first[cluster] = number
    return label, flagged


def ours(program, folder, count, work, how=()):
    """Signatures, pairs with edges, clusters. ``how`` has more arguments of ``pairs``."""
    steps = {}
    signatures, edges, groups = work / "texts.sig", work / "edges", work / "groups.jsonl"
    inputs = sorted(folder.glob("*.jsonl"))
    steps["signatures"] = cpu([program, "signatures", *inputs, "-o", signatures])
    steps["pairs"] = cpu([program, "pairs", signatures, *how, "--edges", edges])
    steps["cluster"] = cpu([program, "cluster", signatures, "--edges", edges, "-o", groups])
    with open(groups, encoding="utf-8") as lines:
        members = [(row["id"], row["cluster"]) for row in map(json.loads, lines)]
    told = work / "pairs.jsonl"
    cpu([program, "pairs", signatures, *how, "-o", told])
    with open(told, encoding="utf-8") as lines:
        pairs = [(row["a"], row["b"]) for row in map(json.loads, lines)]
    label, flagged = of_clusters(members, count)
    return steps, label, flagged, pairs


def peer(script, python, folder, count, work):
    """A peer's script writes ``id``, ``cluster`` a line, and prints its steps as JSON."""
    groups, steps = work / f"{script}.tsv", work / f"{script}.json"
    environment = {**os.environ, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    cpu([python, HERE / f"{script}.py", folder, groups, steps, work / script], env=environment)
    with open(groups, encoding="utf-8") as lines:
        members = [tuple(map(int, line.split())) for line in lines]
    label, flagged = of_clusters(members, count)
    return {name: tuple(pair) for name, pair in json.loads(steps.read_text()).items()}, label, flagged, None


def report(name, result, truth, kinds):
    steps, label, flagged, pairs = result
    seconds = sum(cpu for cpu, _ in steps.values())
    each = ", ".join(f"{step} {cpu:.1f}" for step, (cpu, _) in steps.items())
    print(f"\n## {name}: {seconds:.1f} CPU s ({each}), {1e6 * seconds / len(label):.1f} us a text")
    sizes = Counter(Counter(label).values())
    print(f"largest cluster {max(sizes)}; largest true family {truth.largest}")
    for kind, select in kinds.items():
        together, there = truths.recall_of_pairs(truth, label, select=select)
        print(f"{kind}: pairs of resemblance >= .8 in one cluster: {together} of {there} = {together / max(1, there):.4f}")
        cells = []
        for (low, high), (n, found) in zip(truths.BANDS, truths.flags(truth, flagged, select), strict=True):
            cells.append(f"{low:.1f}: {found}/{n}" + (f" = {found / n:.3f}" if n else ""))
        print(f"{kind}: flagged, by best resemblance to an earlier text of the family: " + "; ".join(cells))
    if pairs is not None:
        good, told, bands = truths.precision_of_pairs(truth, pairs)
        print(f"pairs told with resemblance >= .6: {good} of {told} = {good / max(1, told):.4f}; by band {bands}")
    sys.stdout.flush()
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=1_000_000)
    parser.add_argument("--only", default="ours,fingerprints,datatrove,text_dedup", help="contenders, separated by commas")
    parser.add_argument("--program", type=Path, default=ROOT / "target/dist/dedup-stage")
    parser.add_argument("--python", type=Path, default=PEERS / "corpora/bin/python", help="where the peers are installed")
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data")
    arguments = parser.parse_args()
    if not arguments.data.exists():
        raise SystemExit(f"ignored: there is no {arguments.data}")
    folder, work = PEERS / f"texts-{arguments.texts}", PEERS / "work"
    work.mkdir(parents=True, exist_ok=True)
    if not (folder / "families.txt").exists():
        texts.write(arguments.data, folder, arguments.texts)
    families = (folder / "families.txt").read_text(encoding="utf-8").splitlines()
    every = []
    for path in sorted(folder.glob("*.jsonl")):
        with open(path, encoding="utf-8") as lines:
            every += [json.loads(line)["text"] for line in lines]
    truth = truths.Truth(every, families)
    print(f"{len(every)} texts, {len(set(families))} families, the largest of {truth.largest}")
    kinds = {
        "books": lambda number: families[number].startswith("book"),
        "wikipedia": lambda number: families[number].startswith("wikipedia"),
        "documentation": lambda number: families[number].startswith(("postgresql", "python")),
    }
    costs = {}
    for name in arguments.only.split(","):
        if name in OURS:
            result = ours(arguments.program, folder, len(every), work, OURS[name])
        else:
            result = peer(name, arguments.python, folder, len(every), work)
        costs[name] = report(name, result, truth, kinds)
    for name, seconds in costs.items():
        if "ours" in costs and name not in OURS:
            print(f"{name}: {seconds / costs['ours']:.1f} times our CPU")


if __name__ == "__main__":
    main()
