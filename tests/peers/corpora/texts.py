"""The texts that the contenders are given, with what is known of them.

Sentences of books, drawn at random; 30 % are copies of an earlier text with some words edited, one in five carries one of
twenty pieces of boilerplate; after them the versions of the Wikipedia articles and the documentation pages of the shared test data.
"""

import html
import json
import random
import re
import subprocess
import tarfile
from pathlib import Path

#: Share of words edited in a copy.
EDITS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
COPIES = 0.3
BOILERPLATE = 0.2


def sentences(data):
    """The sentences of all books, as words: six at least, forty at most."""
    found = []
    with tarfile.open(data / "prose/books.tar.xz") as archive:
        for member in archive:
            if member.isfile():
                text = archive.extractfile(member).read().decode("utf-8", "replace")
                cut = (sentence.split() for sentence in re.split(r"(?<=[.!?])\s", text))
                found += [words for words in cut if 6 <= len(words) <= 40]
    return found


def made(data, count, seed):
    """Texts of about 180 words as (family, text)."""
    rng = random.Random(seed)
    pool = sentences(data)
    vocabulary = sorted({word for words in pool[:20_000] for word in words})
    boilerplate = [sum((rng.choice(pool) for _ in range(4)), []) for _ in range(20)]
    texts = []
    for number in range(count):
        if texts and rng.random() < COPIES:
            family, words = texts[rng.randrange(len(texts))]
            words = list(words)
            for at in rng.sample(range(len(words)), round(len(words) * rng.choice(EDITS))):
                words[at] = rng.choice(vocabulary)
        else:
            family, words = number, []
            while len(words) < 170:
                words = words + rng.choice(pool)
            if rng.random() < BOILERPLATE:
                words = words + rng.choice(boilerplate)
        texts.append((family, words))
    return [(f"book {family}", " ".join(words)) for family, words in texts]


def wikipedia(data):
    """The versions of articles."""
    lines = subprocess.run(["xz", "-dc", data / "neardup/wikipedia-versions.jsonl.xz"], capture_output=True, check=True)
    return [(f"wikipedia {page['cluster']}", page["text"]) for page in map(json.loads, lines.stdout.splitlines())]


def documentation(data):
    """The pages of documentation, as text; a family is a page in two versions."""
    texts = []
    for name in ("postgresql", "python"):
        with tarfile.open(data / f"docs/{name}.tar.xz") as archive:
            for member in archive:
                if member.isfile() and member.name.endswith(".html"):
                    page = archive.extractfile(member).read().decode("utf-8", "replace")
                    page = re.sub(r"(?s)<(script|style).*?</\1>", " ", page)
                    text = html.unescape(re.sub(r"(?s)<[^>]+>", " ", page))
                    path = member.name.split("/", 1)[1]
                    texts.append((f"{name} {path}", " ".join(text.split())))
    return texts


def write(data, folder, count, seed=7, parts=4):
    """Writes the texts as JSON Lines in some files; their families beside them, a line each."""
    data, folder = Path(data), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    texts = made(data, count, seed) + wikipedia(data) + documentation(data)
    with open(folder / "families.txt", "w", encoding="utf-8") as families:
        families.writelines(f"{family}\n" for family, _ in texts)
    size = -(-len(texts) // parts)
    for part in range(parts):
        with open(folder / f"{part:03}.jsonl", "w", encoding="utf-8") as out:
            for number in range(part * size, min(len(texts), (part + 1) * size)):
                out.write(json.dumps({"id": number, "text": texts[number][1]}) + "\n")
    return len(texts)
