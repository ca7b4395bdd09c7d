"""Sentences of a summary against sentences of its source: the lexical matrix, and what is read off any matrix.

Only MSS uses this file, so it is edited here.
"""

from collections import Counter

import numpy as np
from scipy.sparse import csr_array


def lexical_similarity(summary: list[list[str]], source: list[list[str]]) -> np.ndarray:
    """Cosines of TF-IDF vectors, float64 of shape (summary sentences, source sentences), in [0, 1].

    tf = 1 + ln(count); idf = ln((1 + N) / (1 + df)) + 1, with N and df from the source's sentences alone, so that no
    neighbour in a batch matters. A word that the source lacks has df 0 and lengthens its sentence's vector.

    Args:
        summary, source: sentences as lists of words; a sentence without words is similar to none (0).

    >>> lexical_similarity([["a", "b"], []], [["a", "b"], ["c"]]).round(3).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    # dict.fromkeys, not a set: the same order, and so the same sums, in every process
    df = Counter(word for sentence in source for word in dict.fromkeys(sentence))
    vocabulary = {word: number for number, word in enumerate({**df, **dict.fromkeys(w for s in summary for w in s)})}
    idf = {word: np.log((1 + len(source)) / (1 + df[word])) + 1 for word in vocabulary}

    def vectors(sentences: list[list[str]]) -> csr_array:
        rows, columns, values = [], [], []
        for row, sentence in enumerate(sentences):
            weights = {word: (1 + np.log(count)) * idf[word] for word, count in Counter(sentence).items()}
            length = np.sqrt(sum(weight**2 for weight in weights.values()))
            for word, weight in weights.items():
                rows.append(row)
                columns.append(vocabulary[word])
                values.append(weight / length)
        return csr_array((values, (rows, columns)), shape=(len(sentences), max(1, len(vocabulary))), dtype=np.float64)

    return (vectors(summary) @ vectors(source).T).toarray().clip(0, 1)


def support_and_coverage(matrix: np.ndarray) -> dict[str, float]:
    """Read the alignment off a matrix (summary sentences, source sentences); all 0 where either side is empty.

    ``mss_support``: each summary sentence's best source sentence, averaged. ``mss_coverage``: each source sentence's
    best summary sentence, averaged. ``mss_f1``: their harmonic mean, 0 where one of them is not positive.

    >>> support_and_coverage(np.array([[1.0, 0.0]]))
    {'mss_support': 1.0, 'mss_coverage': 0.5, 'mss_f1': 0.6666666666666666}
    """
    if not matrix.size:
        return {"mss_support": 0.0, "mss_coverage": 0.0, "mss_f1": 0.0}
    support, coverage = float(matrix.max(axis=1).mean()), float(matrix.max(axis=0).mean())
    f1 = 2 * support * coverage / (support + coverage) if support > 0 and coverage > 0 else 0.0
    return {"mss_support": support, "mss_coverage": coverage, "mss_f1": f1}
