"""MB/s of CPU time of simhash and min-hash libraries for Python, on texts of 4 KB of one file.

python -m venv venv; venv/bin/pip install simhash datasketch rensa; venv/bin/python peers.py FILE
"""

import sys
import time

from datasketch import MinHash
from rensa import RMinHash
from simhash import Simhash

EACH = 4096


def measure(name, texts, fingerprint):
    size = sum(len(text.encode()) for text in texts)
    best = float("inf")
    for _ in range(3):
        start = time.thread_time()
        for text in texts:
            fingerprint(text)
        best = min(best, time.thread_time() - start)
    print(f"{name}: {size / best / 1e6:.1f} MB/s")


def datasketch(text):
    sketch = MinHash(num_perm=128)
    sketch.update_batch([word.encode() for word in text.split()])
    return sketch.digest()


def rensa(text):
    sketch = RMinHash(num_perm=128, seed=1)
    sketch.update(text.split())
    return sketch.digest()


def main():
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        text = file.read(200 * EACH)
    texts = [text[at : at + EACH] for at in range(0, len(text) - EACH, EACH)]
    measure("1e0ng simhash, 4-grams of characters", texts, lambda text: Simhash(text).value)
    measure("datasketch min-hash, 128 permutations, words", texts, datasketch)
    measure("rensa min-hash, 128 permutations, words", texts, rensa)


main()
