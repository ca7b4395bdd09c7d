"""Baselines without training or model: the first sentences, random ones, those of the most frequent words.

Each function takes a document as a list of sentences and returns their numbers in an order of preference, best first.
"""

import random
from collections import Counter
from collections.abc import Sequence

from eval_summaries.shared import texts


def lead(sentences: Sequence[str]) -> list[int]:
    """The document's own order: its beginning is the summary. Hard to beat on news.

    >>> lead(["The river rose.", "It rained."])
    [0, 1]
    """
    return list(range(len(sentences)))


def shuffled(sentences: Sequence[str], seed: int = 0) -> list[int]:
    """A random order that depends on the seed and on this document alone, not on its neighbours: the lowest bar.

    >>> shuffled(["a", "b", "c"]) == shuffled(["a", "b", "c"]), sorted(shuffled(["a", "b", "c"], seed=1))
    (True, [0, 1, 2])
    """
    order = list(range(len(sentences)))
    random.Random("\n".join([str(seed), *sentences])).shuffle(order)
    return order


def stop_words(sentences: Sequence[Sequence[str]]) -> set[str]:
    """Words that say little, told in any language by their frequency alone: they are in over a third of the sentences.

    In fewer than three sentences a word is never one, so that the subject of a short text is not lost.

    Args:
        sentences: as lists of words.

    >>> sorted(stop_words([["the", "river"], ["the", "old", "town"], ["the", "river"], ["rain"]]))
    ['the']
    """
    found = Counter(word for sentence in sentences for word in set(sentence))
    return {word for word, count in found.items() if count >= 3 and count > len(sentences) / 3}


def by_frequency(sentences: Sequence[str]) -> list[int]:
    """Sentences by the mean frequency, in the document, of those of their words that are not stop words.

    The "bag of words" of the SSS paper's table IX, as Luhn (1958) and SumBasic (Nenkova and Vanderwende 2005) weigh
    words. Of equals the earlier one comes first; a sentence without such a word is last.

    >>> by_frequency(["It rained.", "A river town.", "River!"])
    [2, 1, 0]
    """
    bags = [texts.words(sentence) for sentence in sentences]
    ignored = stop_words(bags)
    bags = [[word for word in bag if word not in ignored] for bag in bags]
    counts = Counter(word for bag in bags for word in bag)
    means = [sum(counts[word] for word in bag) / len(bag) if bag else 0.0 for bag in bags]
    return sorted(range(len(sentences)), key=lambda number: -means[number])
