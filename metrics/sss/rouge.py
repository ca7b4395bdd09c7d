"""ROUGE over lists of words: the definitions of Lin (2004) as rouge-score 0.1.2 computes them, made fast.

SSS takes ROUGE-1, -2 and -L; `eval_summaries` also reports ROUGE-Lsum. It is edited here: no other metric's script
imports it.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from rapidfuzz.distance import LCSseq


class Rouge(NamedTuple):
    """Precision, recall and F1 of what a candidate shares with a reference, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


def share(overlap: int, candidate: int, reference: int) -> Rouge:
    """``overlap`` units shared by a candidate and a reference with that many units; 0 where either has none."""
    if not overlap:
        return Rouge(0.0, 0.0, 0.0)
    precision, recall = overlap / candidate, overlap / reference
    return Rouge(precision, recall, 2 * precision * recall / (precision + recall))


def _ngrams(words: list[str], n: int) -> Counter:
    # the words themselves for n = 1: a tuple around each would take twice the time
    return Counter(words if n == 1 else zip(*(words[start:] for start in range(n)), strict=False))


def rouge_n(candidate: list[str], reference: list[str], n: int, counting: str = "clipped") -> Rouge:
    """ROUGE-N of two lists of words.

    Args:
        counting: "clipped" counts an n-gram as often as both sides have it, as rouge-score does. "unique" counts each
            n-gram once, as the tables of the SSS paper did.

    >>> rouge_n(["a", "a", "b"], ["a", "b"], 1).recall, rouge_n(["a", "a", "b"], ["a", "b"], 1, "unique").f1
    (1.0, 1.0)
    """
    ours, theirs = _ngrams(candidate, n), _ngrams(reference, n)
    shared = ours.keys() & theirs.keys()
    if counting == "unique":
        return share(len(shared), len(ours), len(theirs))
    # what (ours & theirs).total() says, without a step of Python for each n-gram
    overlap = sum(map(min, map(ours.__getitem__, shared), map(theirs.__getitem__, shared)))
    return share(overlap, len(candidate) - n + 1, len(reference) - n + 1)


def _lcs_length(candidate: list[str], reference: list[str]) -> int:
    # rapidfuzz compares hashes, and a whole number is its own; a word that one side lacks is in no common subsequence
    numbers = dict(zip(set(candidate).intersection(reference), count(), strict=False))
    ours, theirs = ([numbers[word] for word in side if word in numbers] for side in (candidate, reference))
    return LCSseq.similarity(ours, theirs)


def rouge_l(candidate: list[str], reference: list[str], counting: str = "clipped") -> Rouge:
    """ROUGE-L of two lists of words: their longest common subsequence.

    With ``counting="unique"`` one side is reduced to the first place of each of its words, whichever side gives the
    longer common subsequence.

    >>> round(rouge_l(["a", "a", "b"], ["a", "b"]).f1, 3), rouge_l(["a", "a", "b"], ["a", "b"], "unique").f1
    (0.8, 1.0)
    """
    if counting == "unique":
        once, once_too = list(dict.fromkeys(candidate)), list(dict.fromkeys(reference))
        length = max(_lcs_length(once, reference), _lcs_length(candidate, once_too))
        return share(length, len(once), len(once_too))
    return share(_lcs_length(candidate, reference), len(candidate), len(reference))


def _lcs_places(reference: list[str], candidate: list[str]) -> Iterator[int]:
    """The places in ``reference`` of one longest common subsequence: the one that rouge-score reads off its table.

    The table is kept as one whole number for each row: a bit is 0 where the row's length grows (Hyyro 2004). Read
    backwards, a step goes left where that keeps the length and up does not.
    """
    where: dict[str, int] = {}
    for place, word in enumerate(candidate):
        where[word] = where.get(word, 0) | 1 << place
    full = (1 << len(candidate)) - 1
    rows = [full]
    for word in reference:
        met = rows[-1] & where.get(word, 0)
        rows.append(((rows[-1] + met) | (rows[-1] - met)) & full)

    def length(row: int, column: int) -> int:
        return column - (rows[row] & ((1 << column) - 1)).bit_count()

    row, column = len(reference), len(candidate)
    while row and column:
        if reference[row - 1] == candidate[column - 1]:
            row, column = row - 1, column - 1
            yield row
        elif length(row, column - 1) > length(row - 1, column):
            column -= 1
        else:
            row -= 1


def rouge_lsum(candidate: list[list[str]], reference: list[list[str]]) -> Rouge:
    """ROUGE-Lsum of two texts as lists of sentences, each a list of words: the union of what each sentence shares.

    For every sentence of the reference the words that are in its longest common subsequence with any sentence of the
    candidate count, each as often as both texts have it.

    >>> rouge_lsum([["c", "d"], ["a", "b"]], [["a", "b"], ["c", "d"]]).f1
    1.0
    """
    ours, theirs = (Counter(word for sentence in side for word in sentence) for side in (candidate, reference))
    if len(candidate) == len(reference) == 1:  # the union of one subsequence: its length is all that counts
        return rouge_l(candidate[0], reference[0])
    left, left_too, hits = Counter(ours), Counter(theirs), 0
    for sentence in reference:
        union = {place for other in candidate for place in _lcs_places(sentence, other)}
        for place in sorted(union):
            word = sentence[place]
            if left[word] > 0 and left_too[word] > 0:
                hits += 1
                left[word] -= 1
                left_too[word] -= 1
    return share(hits, ours.total(), theirs.total())
