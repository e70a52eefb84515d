"""Python's Hamming indexes on the data that `hamming-peers data SET K DIR` wrote: `python peers.py DIR K [NAME]...`

Needs numpy, faiss-cpu, usearch, simhash.
"""
import os
import sys
import time

import numpy as np


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


def run(name, stored, queries, truth, k, build, ask, ask_all=None):
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
    n, batch = len(stored), "-"
    if ask_all:
        # Not more than one by one would take twenty seconds.
        some = queries[: len(times)]
        rounds = []
        for _ in range(3):
            start = time.process_time()
            ask_all(index, some)
            rounds.append(time.process_time() - start)
        batch = f"{min(rounds) / len(some) * 1e6:.2f}"
    print(
        f"{name:<28}{n:>11}{k:>3}{n / max(built, 1e-9):>13.0f}{p50:>10.2f}{p99:>10.2f}{batch:>10}{size / n:>9.1f}{found / max(expected, 1):>8.4f}",
        flush=True,
    )


def faiss_peers(k):
    """Name, maker, and the size up to which it fits into memory and patience."""
    import faiss

    faiss.omp_set_num_threads(1)

    def multi(tables, bits, flips):
        index = faiss.IndexBinaryMultiHash(64, tables, bits)
        index.nflip = flips
        return index

    # Exact where (flips + 1) * tables > k.
    four = k // 4
    return [
        ("faiss MultiHash 4x16" + (f" flip {four}" if four else ""), lambda: multi(4, 16, four), 100_000_000),
        (f"faiss MultiHash 2x32 flip {k // 2}", lambda: multi(2, 32, k // 2), 10_000_000),
        ("faiss BinaryFlat", lambda: faiss.IndexBinaryFlat(64), 100_000_000),
    ]


def main():
    folder, k, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    stored, queries, truth = (np.fromfile(os.path.join(folder, f), dtype="<u8") for f in ("stored", "queries", "truth"))
    rows = stored.view(np.uint8).reshape(-1, 8)
    ask_rows = queries.view(np.uint8).reshape(-1, 1, 8)
    n = len(stored)

    def wanted(name):
        return not names or any(name.startswith(prefix) for prefix in names)

    def ask_faiss(index, row):
        # Its radius is exclusive.
        return int(index.range_search(row, k + 1)[0][1])

    def ask_faiss_all(index, some):
        index.range_search(some.reshape(-1, 8), k + 1)

    for name, make, most in faiss_peers(k):
        if wanted(name) and n <= most:

            def build():
                index = make()
                index.add(rows)
                return index

            run(name, stored, ask_rows, truth, k, build, ask_faiss, ask_faiss_all)

    name = "usearch HNSW b1"
    if wanted(name) and n <= 1_000_000:
        from usearch.index import Index, MetricKind

        def build():
            index = Index(ndim=64, metric=MetricKind.Hamming, dtype="b1", connectivity=16)
            index.add(np.arange(n), rows, threads=1)
            return index

        def ask_usearch(index, row):
            return int((index.search(row[0], 64).distances <= k).sum())

        def ask_usearch_all(index, some):
            index.search(some.reshape(-1, 8), 64, threads=1)

        run(name, stored, ask_rows, truth, k, build, ask_usearch, ask_usearch_all)

    name = "1e0ng simhash"
    if wanted(name) and n <= 10_000_000:
        from simhash import Simhash, SimhashIndex

        def build():
            return SimhashIndex([(str(i), Simhash(int(f))) for i, f in enumerate(stored)], k=k)

        run(name, stored, queries, truth, k, build, lambda index, query: len(index.get_near_dups(Simhash(int(query)))))


main()
