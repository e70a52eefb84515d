"""What is true of the texts: the 5-word resemblance of pairs, and how well groups and flags agree with it."""

import re
from collections import Counter, defaultdict

WORDS = re.compile(r"\w+")
BANDS = [(1.0, 1.01), (0.9, 1.0), (0.8, 0.9), (0.7, 0.8), (0.6, 0.7), (0.5, 0.6), (0.0, 0.5)]


def shingles(text):
    """The set of hashes of five words in a row."""
    words = WORDS.findall(text.lower())
    return {hash(tuple(words[at : at + 5])) for at in range(max(1, len(words) - 4))}


def resemblance(a, b):
    """Jaccard's."""
    common = len(a & b)
    return common / (len(a) + len(b) - common) if a or b else 1.0


class Truth:
    """The texts, and for each the best resemblance to an earlier one."""

    def __init__(self, texts, families):
        self.families = families
        self.sets = {}
        self.texts = texts
        members = defaultdict(list)
        for number, family in enumerate(families):
            members[family].append(number)
        self.largest = max(map(len, members.values()))
        # Within a family each text is compared with all earlier ones.
        self.best = [0.0] * len(texts)
        self.pairs = {}
        for group in members.values():
            if len(group) > 1:
                sets = [shingles(texts[number]) for number in group]
                for j, b in enumerate(group):
                    for i in range(j):
                        alike = resemblance(sets[i], sets[j])
                        self.best[b] = max(self.best[b], alike)
                        if alike >= 0.5:
                            self.pairs[group[i], b] = alike

    def of(self, a, b):
        """The resemblance of two texts, whatever their families."""
        key = (min(a, b), max(a, b))
        if key in self.pairs:
            return self.pairs[key]
        return resemblance(shingles(self.texts[a]), shingles(self.texts[b]))


def band(value):
    """The number of the band of a resemblance."""
    return next(i for i, (low, _) in enumerate(BANDS) if value >= low)


def flags(truth, flagged, select=lambda number: True):
    """By bands of the best resemblance to an earlier text of the family: how many there are, and the share flagged."""
    there, found = Counter(), Counter()
    for number, best in enumerate(truth.best):
        if select(number):
            there[band(best)] += 1
            found[band(best)] += number in flagged
    return [(there[i], found[i]) for i in range(len(BANDS))]


def recall_of_pairs(truth, label, least=0.8, select=lambda number: True):
    """Share of the pairs of a family of at least this resemblance that stand in one group."""
    pairs = [pair for pair, alike in truth.pairs.items() if alike >= least and select(pair[0])]
    together = sum(label[a] == label[b] for a, b in pairs)
    return together, len(pairs)


def precision_of_pairs(truth, edges, least=0.6):
    """Share of the pairs told that have at least this resemblance, and the number told by bands."""
    good, bands = 0, Counter()
    for a, b in edges:
        alike = truth.of(a, b)
        good += alike >= least
        bands[band(alike)] += 1
    return good, len(edges), [bands[i] for i in range(len(BANDS))]
