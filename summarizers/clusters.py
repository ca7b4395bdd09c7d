"""K-means over sentence embeddings: the sentence nearest to each centre, so that each subject has one.

The SSS paper's "AraBERT embeddings + K-Means" (table IX), after Miller (2019, "Leveraging BERT for Extractive Text
Summarization on Lectures").
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .encoder import unit


def nearest_to_centres(vectors: np.ndarray, count: int, seed: int = 0) -> list[int]:
    """Sentences that stand for clusters, that of the largest cluster first.

    Args:
        vectors: of the sentences, shape (sentences, dimensions); they are brought to unit length.
        count: how many clusters; where fewer sentences differ, as many as do.
        seed: of the start of k-means (10 starts, the best counts).

    Returns:
        Their numbers, each once.

    >>> nearest_to_centres(np.array([[1.0, 0.0], [0.9, 0.1], [1.0, 0.1], [0.0, 1.0]]), 2)
    [2, 3]
    """
    from sklearn.cluster import KMeans

    if not len(vectors):
        return []
    units = unit(vectors)
    count = min(count, len(np.unique(units, axis=0)))
    found = KMeans(count, n_init=10, random_state=seed).fit(units)
    distances = found.transform(units)
    chosen = {}
    for cluster, size in enumerate(np.bincount(found.labels_, minlength=count)):
        members = np.flatnonzero(found.labels_ == cluster)
        if len(members):
            chosen[int(members[distances[members, cluster].argmin()])] = int(size)
    return sorted(chosen, key=lambda number: (-chosen[number], number))


def embed_all(documents: Sequence[Sequence[str]], embedder: Any) -> list[np.ndarray]:
    """Vectors of each document's sentences, shape (sentences, dimensions); all are encoded in one call.

    Args:
        documents: lists of sentences.
        embedder: from ``encoder.load_embedder``.
    """
    vectors = embedder.encode([sentence for sentences in documents for sentence in sentences])
    ends = np.cumsum([len(sentences) for sentences in documents])
    return np.split(vectors, ends[:-1])
