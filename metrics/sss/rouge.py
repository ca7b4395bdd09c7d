"""ROUGE over lists of words: the definitions of Lin (2004) as rouge-score 0.1.2 computes them, made fast.

Only SSS uses this file, so it is edited here.
"""

from collections import Counter

from rapidfuzz.distance import LCSseq


def f1(overlap: int, candidate: int, reference: int) -> float:
    """F1 of ``overlap`` units shared by a candidate and a reference with that many units, 0 where either has none."""
    if not overlap:
        return 0.0
    precision, recall = overlap / candidate, overlap / reference
    return 2 * precision * recall / (precision + recall)


def _ngrams(words: list[str], n: int) -> Counter:
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


def _lcs_length(candidate: list[str], reference: list[str]) -> int:
    numbers = {word: number for number, word in enumerate({*candidate, *reference})}  # rapidfuzz compares hashes
    return LCSseq.similarity([numbers[word] for word in candidate], [numbers[word] for word in reference])


def rouge_f1(candidate: list[str], reference: list[str], counting: str = "clipped") -> tuple[float, float, float]:
    """F1 of ROUGE-1, ROUGE-2 and ROUGE-L, each in [0, 1]; the same with the two sides exchanged.

    Args:
        candidate, reference: words.
        counting: "clipped" counts an n-gram as often as both sides have it, as rouge-score does. "unique" counts each
            n-gram once, as the tables of the SSS paper did; for ROUGE-L one side is reduced to the first place of each
            of its words, whichever side gives the longer common subsequence.

    >>> [round(value, 3) for value in rouge_f1(["a", "a", "b"], ["a", "b"])]
    [0.8, 0.667, 0.8]
    >>> [round(value, 3) for value in rouge_f1(["a", "a", "b"], ["a", "b"], counting="unique")]
    [1.0, 0.667, 1.0]
    """
    scores = []
    for n in (1, 2):
        ours, theirs = _ngrams(candidate, n), _ngrams(reference, n)
        if counting == "unique":
            ours, theirs = Counter(set(ours)), Counter(set(theirs))
        scores.append(f1((ours & theirs).total(), ours.total(), theirs.total()))
    if counting == "unique":
        once, once_too = list(dict.fromkeys(candidate)), list(dict.fromkeys(reference))
        length = max(_lcs_length(once, reference), _lcs_length(candidate, once_too))
        scores.append(f1(length, len(once), len(once_too)))
    else:
        scores.append(f1(_lcs_length(candidate, reference), len(candidate), len(reference)))
    return tuple(scores)
