"""Python's Hamming indexes on the data that `hamming-peers data N K DIR` wrote: `python peers.py DIR K [NAME]...`

Needs numpy, faiss-cpu, usearch, simhash.
"""
import os
import sys
import time

import numpy as np


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


def run(name, stored, queries, truth, k, build, ask):
    memory, start = resident(), time.process_time()
    index = build()
    built = time.process_time() - start
    size = resident() - memory
    times, found, expected = [], 0, 0
    for i, query in enumerate(queries):
        start = time.perf_counter()
        n = ask(index, query)
        times.append(time.perf_counter() - start)
        if i < len(truth):
            found += min(n, int(truth[i]))
            expected += int(truth[i])
        if i >= 50 and sum(times) > 20:
            break
    p50, p99 = np.percentile(times, [50, 99]) * 1e6
    n = len(stored)
    print(f"{name:<28}{n:>11}{k:>3}{n / built:>13.0f}{p50:>11.2f}{p99:>11.2f}{size / n:>9.1f}{found / max(expected, 1):>9.4f}", flush=True)


def main():
    folder, k, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    stored, queries, truth = (np.fromfile(os.path.join(folder, f), dtype="<u8") for f in ("stored", "queries", "truth"))
    rows = stored.view(np.uint8).reshape(-1, 8)
    ask_rows = queries.view(np.uint8).reshape(-1, 1, 8)
    n = len(stored)

    def wanted(name):
        return not names or any(name.startswith(prefix) for prefix in names)

    def faiss_index(make):
        def build():
            index = make()
            index.add(rows)
            return index
        return build

    def ask_faiss(index, row):
        # Its radius is exclusive.
        return int(index.range_search(row, k + 1)[0][1])

    import faiss
    faiss.omp_set_num_threads(1)

    def multi(tables, bits, flips):
        def make():
            index = faiss.IndexBinaryMultiHash(64, tables, bits)
            index.nflip = flips
            return index
        return faiss_index(make)

    peers = [
        ("faiss MultiHash 4x16", multi(4, 16, max(0, (k - 3 + 3) // 4)), ask_faiss, 10_000_000),
        ("faiss MultiHash 2x32 flip 1", multi(2, 32, 1), ask_faiss, 10_000_000),
        ("faiss BinaryFlat", faiss_index(lambda: faiss.IndexBinaryFlat(64)), ask_faiss, 100_000_000),
    ]
    for name, build, ask, most in peers:
        if wanted(name) and n <= most:
            run(name, stored, ask_rows, truth, k, build, ask)

    name = "usearch HNSW b1"
    if wanted(name) and n <= 1_000_000:
        from usearch.index import Index, MetricKind

        def build():
            index = Index(ndim=64, metric=MetricKind.Hamming, dtype="b1", connectivity=16)
            index.add(np.arange(n), rows, threads=1)
            return index

        def ask_usearch(index, row):
            return int((index.search(row[0], 64).distances <= k).sum())

        run(name, stored, ask_rows, truth, k, build, ask_usearch)

    name = "1e0ng simhash"
    if wanted(name) and n <= 1_000_000:
        from simhash import Simhash, SimhashIndex

        def build():
            return SimhashIndex([(str(i), Simhash(int(f))) for i, f in enumerate(stored)], k=k)

        run(name, stored, queries, truth, k, build, lambda index, query: len(index.get_near_dups(Simhash(int(query)))))


main()
