"""The texts that the contenders are given, with what is known of them.

Pieces of books; 30 % are copies of an earlier text with some words edited, one in five carries one of twenty pieces of
boilerplate; after them the versions of the Wikipedia articles and the documentation pages of the shared test data.
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


def books(data):
    """The words of all books."""
    words = []
    with tarfile.open(data / "prose/books.tar.xz") as archive:
        for member in archive:
            if member.isfile():
                words.append(archive.extractfile(member).read().decode("utf-8", "replace").split())
    return words


def made(data, count, seed):
    """Texts of about 180 words as (family, words)."""
    rng = random.Random(seed)
    library = books(data)
    starts = [(book, at) for book, words in enumerate(library) for at in range(0, len(words) - 200, 180)]
    rng.shuffle(starts)
    vocabulary = sorted({word for words in library[:20] for word in words})
    boilerplate = [library[-1][at : at + 60] for at in range(0, 20 * 400, 400)]
    texts = []
    fresh = 0
    for number in range(count):
        if texts and rng.random() < COPIES:
            family, words = texts[rng.randrange(len(texts))]
            words = list(words)
            for at in rng.sample(range(len(words)), round(len(words) * rng.choice(EDITS))):
                words[at] = rng.choice(vocabulary)
        else:
            # There are more texts than pieces: then a piece is told in another order of its sentences' halves.
            book, at = starts[fresh % len(starts)]
            words = library[book][at : at + 180 + rng.randrange(20)]
            for _ in range(fresh // len(starts)):
                rng.shuffle(words)
            fresh += 1
            family = number
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
