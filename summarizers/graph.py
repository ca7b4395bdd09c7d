"""TextRank: a sentence is central that is like many central ones.

Mihalcea and Tarau (2004, "TextRank: Bringing Order into Texts"), with cosines as weights as in LexRank (Erkan and Radev
2004): of the TF-IDF vectors of MSS's alignment, or of sentence embeddings.
"""

from collections.abc import Sequence

import numpy as np

from eval_summaries.shared import module, texts

DAMPING = 0.85  # of both papers


def word_cosines(sentences: Sequence[str]) -> np.ndarray:
    """Cosines of the sentences' TF-IDF vectors, shape (sentences, sentences), in [0, 1].

    >>> word_cosines(["It rained.", "It rained!", "Dogs slept."]).round(2).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    bags = [texts.words(sentence) for sentence in sentences]
    return module("mss", "alignment").lexical_similarity(bags, bags)


def centrality(weights: np.ndarray) -> np.ndarray:
    """PageRank of an undirected weighted graph: the share of time that a random walk spends at each sentence.

    With probability 0.85 the walk goes to a neighbour in proportion to the weight, else (and from a sentence without
    neighbours always) to any sentence. The equations are solved, not iterated.

    Args:
        weights: shape (sentences, sentences); what is below 0 counts as 0, and so does a sentence's own.

    Returns:
        Shape (sentences,), summing to 1.

    >>> centrality(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]])).round(3).tolist()
    [0.257, 0.486, 0.257]
    """
    size = len(weights)
    if not size:
        return np.zeros(0)
    weights = np.clip(weights.astype(np.float64), 0, None)
    np.fill_diagonal(weights, 0)
    sums = weights.sum(axis=1, keepdims=True)
    steps = np.where(sums > 0, weights / np.where(sums > 0, sums, 1), 1 / size)
    return np.linalg.solve(np.eye(size) - DAMPING * steps.T, np.full(size, (1 - DAMPING) / size))


def by_centrality(weights: np.ndarray) -> list[int]:
    """Sentences, the most central first; of equal ones the earlier."""
    found = centrality(weights).round(12)
    return sorted(range(len(found)), key=lambda number: -found[number])
