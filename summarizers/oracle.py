"""The oracle: which sentences would a summarizer take that knows the reference? A bound, and labels for training.

Greedy, by the mean of ROUGE-1 and ROUGE-2 F1 (Nallapati, Zhai and Zhou 2017, "SummaRuNNer", section 3.2): the sentence
that raises it most is taken, until none does. The summary is scored as ROUGE of this project scores it: its sentences
in the order of the document, n-grams across their borders included.

Counts of n-grams are rows of a table with a column for each n-gram of the reference, and the gain of every sentence is
found at once; a sentence between two others changes at most three bigrams at its borders.
"""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from eval_summaries.shared import texts

from .lengths import Length

LEAST_GAIN = 1e-9


class _Counts:
    """N-grams of sentences, in the columns of those that one reference has; what it lacks is column 0."""

    def __init__(self, sentences: list[list[str]], reference: list[str], n: int):
        grams = list(zip(*(reference[start:] for start in range(n)), strict=False))
        self.column = {gram: number for number, gram in enumerate(dict.fromkeys(grams), start=1)}
        self.wanted = np.zeros(len(self.column) + 1, dtype=np.int64)
        np.add.at(self.wanted, [self.column[gram] for gram in grams], 1)
        self.size, self.n = len(grams), n
        self.table = np.zeros((len(sentences), len(self.wanted)), dtype=np.int64)
        for row, words in enumerate(sentences):
            for gram in zip(*(words[start:] for start in range(n)), strict=False):
                self.table[row, self.column.get(gram, 0)] += 1
        self.taken = np.zeros(len(self.wanted), dtype=np.int64)

    def joined(self, one: list[str] | None, other: list[str] | None) -> int:
        """The column of the bigram where one sentence ends and another begins; 0 where either is missing."""
        return self.column.get((one[-1], other[0]), 0) if one and other else 0


def greedy(sentences: Sequence[str], references: Sequence[str], length: Length | None = None) -> list[int]:
    """Sentences in the order in which the oracle takes them.

    Args:
        sentences: the document.
        references: at least one; of several the mean counts.
        length: the most that it may take; without one it stops where nothing raises the mean any more.

    Returns:
        Their numbers; none where no sentence shares a word with a reference.

    >>> greedy(["It rained.", "The river rose.", "A dog slept."], ["After rain the river rose."])
    [1]
    """
    bags = [texts.words(sentence) for sentence in sentences]
    theirs = [texts.words(reference) for reference in references]
    sizes = np.array([len(bag) for bag in bags], dtype=np.int64)
    counts = [_Counts(bags, words, n) for words in theirs for n in (1, 2)]
    free = sizes > 0
    most = len(sentences) if length is None or length.words is not None else length.count(sentences)
    room = length.words if length is not None and length.words is not None else int(sizes.sum())
    order: list[int] = []
    best, total = 0.0, 0
    while len(order) < most:
        fitting = np.flatnonzero(free & (sizes <= room - total))
        if not len(fitting):
            break
        values, grown = _values(fitting, order, bags, sizes, counts, total)
        place = int(values.argmax())  # of equal ones the first
        if values[place] <= best + LEAST_GAIN:
            break
        best, number = float(values[place]), int(fitting[place])
        for count, rows in zip(counts, grown, strict=True):
            count.taken = rows[place]
        order.append(number)
        total += int(sizes[number])
        free[number] = False
    return order


def _values(
    candidates: np.ndarray,
    order: list[int],
    bags: list[list[str]],
    sizes: np.ndarray,
    counts: list[_Counts],
    total: int,
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The mean of the F1 with each candidate added, and its rows of counts by reference and n."""
    chosen = sorted(order)
    places = [bisect_left(chosen, number) for number in candidates]
    before = [bags[chosen[place - 1]] if place else None for place in places]
    after = [bags[chosen[place]] if place < len(chosen) else None for place in places]
    values, grown = np.zeros(len(candidates)), []
    for count in counts:
        rows = count.taken + count.table[candidates]
        if count.n == 2:
            for row, (number, one, other) in enumerate(zip(candidates, before, after, strict=True)):
                rows[row, count.joined(one, bags[number])] += 1
                rows[row, count.joined(bags[number], other)] += 1
                rows[row, count.joined(one, other)] -= 1
        overlap = np.minimum(rows, count.wanted)[:, 1:].sum(axis=1)
        ours = np.maximum(total + sizes[candidates] - (count.n - 1), 0)
        values += np.divide(2 * overlap, ours + count.size, out=np.zeros(len(candidates)), where=overlap > 0)
        grown.append(rows)
    return values / max(1, len(counts)), grown
