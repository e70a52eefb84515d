#!/usr/bin/env python3
"""How much of the main text is found: ours beside others, on the pages of mozilla/readability.

    cargo run --release -p dedup-stage-crawler --example main_text -- PAGES OUT   # ours and the crates', as text files
    python3 bench.py PAGES OUT [--worst N]                            # adds the Python packages, prints the table

PAGES has one folder a page, with `source.html` and `expected.html`; OUT one folder a tool, with `NAME.txt` a page. Two
scores, each the mean over pages: of words (bags), and of 4-word shingles as zyte's article-extraction-benchmark has
them, which also sees order. The expected text is what a *readability* would give: ports of it have an advantage here.
"""
import argparse
import pathlib
import re
import time
from collections import Counter

import lxml.html

BLOCKS = "address article aside blockquote br caption dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul".split()


def plain(html):
    """The text of a document, words of different blocks kept apart."""
    tree = lxml.html.document_fromstring(html, parser=lxml.html.HTMLParser(encoding="utf-8"))
    for element in tree.xpath("//script|//style|//noscript|//template"):
        element.drop_tree()
    for element in tree.iter(*BLOCKS):
        element.text = " " + (element.text or "")
        element.tail = " " + (element.tail or "")
    return tree.text_content()


def words(text):
    return re.findall(r"\w+", text.lower())


def shingles(tokens):
    if len(tokens) < 4:
        return Counter([tuple(tokens)] if tokens else [])
    return Counter(tuple(tokens[i : i + 4]) for i in range(len(tokens) - 3))


def score(found, expected):
    common = sum((found & expected).values())
    precision = common / max(1, sum(found.values())) if found else 0.0
    recall = common / max(1, sum(expected.values()))
    return precision, recall, 2 * precision * recall / (precision + recall) if common else 0.0


def peers():
    """The Python packages that are installed."""
    found = {}
    try:
        import trafilatura

        found["trafilatura"] = lambda html: trafilatura.extract(html, include_comments=False) or ""
        found["trafilatura, recall"] = lambda html: trafilatura.extract(html, include_comments=False, favor_recall=True) or ""
    except ImportError:
        pass
    try:
        import justext

        def run_justext(html):
            paragraphs = justext.justext(html.encode(), justext.get_stoplist("English"))
            return "\n".join(p.text for p in paragraphs if not p.is_boilerplate)

        found["justext"] = run_justext
    except ImportError:
        pass
    try:
        from boilerpy3 import extractors

        article = extractors.ArticleExtractor(raise_on_failure=False)
        found["boilerpy3"] = article.get_content
    except ImportError:
        pass
    try:
        import readability

        found["readability-lxml"] = lambda html: plain(readability.Document(html).summary())
    except ImportError:
        pass
    try:
        from resiliparse.extract.html2text import extract_plain_text

        found["resiliparse"] = lambda html: extract_plain_text(html, main_content=True)
    except ImportError:
        pass
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--worst", type=int, default=0, help="also print the pages that a tool is worst at")
    parser.add_argument("--of", default="ours", help="the tool of --worst")
    arguments = parser.parse_args()
    names = sorted(path.parent.name for path in arguments.pages.glob("*/source.html"))
    seconds = {}
    for tool, extract in peers().items():
        folder = arguments.out / tool.replace(" ", "_")
        folder.mkdir(parents=True, exist_ok=True)
        start = time.process_time()
        for name in names:
            html = (arguments.pages / name / "source.html").read_text(encoding="utf-8", errors="replace")
            try:
                text = extract(html)
            except Exception as error:  # A peer that fails on a page has found nothing there.
                print(f"{tool} failed on {name}: {type(error).__name__}")
                text = ""
            (folder / f"{name}.txt").write_text(text, encoding="utf-8")
        seconds[folder.name] = time.process_time() - start
    expected = {name: words(plain((arguments.pages / name / "expected.html").read_bytes())) for name in names}
    rows, details = [], {}
    for folder in sorted(path for path in arguments.out.iterdir() if path.is_dir()):
        totals = [0.0] * 6
        details[folder.name] = []
        for name in names:
            path = folder / f"{name}.txt"
            found = words(path.read_text(encoding="utf-8", errors="replace")) if path.exists() else []
            bag = score(Counter(found), Counter(expected[name]))
            order = score(shingles(found), shingles(expected[name]))
            totals = [total + value for total, value in zip(totals, [*order, *bag])]
            details[folder.name].append((order[2], *order[:2], name))
        rows.append((totals[2] / len(names), folder.name, [total / len(names) for total in totals]))
    print(f"{len(names)} pages\n\n| tool | shingles: precision | recall | F1 | words: precision | recall | F1 | CPU s |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    for _, name, values in sorted(rows):
        timing = arguments.out / f"{name}.seconds"
        cpu = seconds.get(name, float(timing.read_text()) if timing.exists() else float("nan"))
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in values) + f" | {cpu:.1f} |")
    for f1, precision, recall, name in sorted(details.get(arguments.of, []))[: arguments.worst]:
        print(f"{name}: F1 {f1:.2f}, precision {precision:.2f}, recall {recall:.2f}")


if __name__ == "__main__":
    main()
