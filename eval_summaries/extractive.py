"""How much of a summary was taken over from its documents, word for word; and how often it repeats itself.

Coverage and density are those of Grusky et al. 2018, "Newsroom: A Dataset of 1.3 Million Summaries with Diverse
Extractive Strategies": the summary is read from its start as a row of fragments, each the longest that a scan of the
document meets. Words are numbers here, and a word's places in the documents are looked up, not searched for.
"""

import math
from collections.abc import Sequence

import numpy as np

_NOWHERE, _BORDER = -2, -1  # a word that the documents lack; where a document ends, over which no fragment goes


class Source:
    """The words of a summary's documents, with their places: made once, asked by the summary of every system.

    Args:
        documents: each a list of words.
        largest: the size of the longest n-grams that ``novel`` is asked for.
    """

    def __init__(self, documents: Sequence[Sequence[str]], largest: int = 3):
        self.words: dict[str, int] = {}  # word: its number
        text = []
        for document in documents:
            text += [self.words.setdefault(word, len(self.words)) for word in document]
            text.append(_BORDER)
        self._text = np.array(text, dtype=np.int64)
        self._places = np.argsort(self._text, kind="stable")  # of the borders, of word 0, of word 1, ..., each in order
        self._starts = np.searchsorted(self._text[self._places], np.arange(len(self.words) + 1))
        self._grams: list[np.ndarray] = []  # of 2 words and more: the codes of those that there are, sorted
        numbers = self._text
        for _ in range(1, largest):
            codes, is_whole = self._longer(numbers, self._text)
            self._grams.append(np.unique(codes[is_whole]))
            numbers = np.where(is_whole, np.searchsorted(self._grams[-1], codes), _BORDER)

    def _longer(self, numbers: np.ndarray, text: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes of n-grams with one word more, and which of them are of known parts.

        Args:
            numbers: of the n-gram that begins at each place of the text, below 0 for an unknown one.
            text: numbers of words.
        """
        following = text[len(text) - len(numbers) + 1 :]
        numbers = numbers[: len(following)]
        return numbers * len(self.words) + following, (numbers >= 0) & (following >= 0)

    def _continued(self, summary: list[int], start: int) -> tuple[np.ndarray, np.ndarray]:
        """The places of the summary's word ``start``, and how many of its words stand in a row from there on."""
        word = summary[start]
        if word == _NOWHERE:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        places = self._places[self._starts[word] : self._starts[word + 1]]
        lengths, alive = np.ones(len(places), dtype=np.int64), np.arange(len(places))
        for size in range(1, len(summary) - start):
            alive = alive[self._text[places[alive] + size] == summary[start + size]]
            if not len(alive):
                break
            lengths[alive] = size + 1
        return places, lengths

    def _numbered(self, summary: Sequence[str]) -> list[int]:
        return [self.words.get(word, _NOWHERE) for word in summary]

    def fragments(self, summary: Sequence[str]) -> list[int]:
        """The lengths of the summary's extractive fragments, by the algorithm of the paper's Figure 4.

        For each word of the summary at which no fragment is going on, the document is scanned from its start for
        stretches that both have; the scan goes on behind each, and the longest is the fragment. (So it can miss a
        longer one that begins within another, as in "very very good" of "very very very good".)

        Time: linear in words and matches for what people write; at worst, where the documents repeat the summary's
        words all over, proportional to summary times documents, in numpy.

        >>> Source(["the cat sat on the mat".split()]).fragments("a cat sat on a mat".split())
        [3, 1]
        """
        numbered, found, start = self._numbered(summary), [], 0
        while start < len(numbered):
            places, lengths = self._continued(numbered, start)
            if (places[:-1] + lengths[:-1] > places[1:]).any():  # some begin within others, which the scan passes over
                is_place = np.zeros(len(self._text), dtype=np.int64)
                is_place[places] = 1
                behind = np.cumsum(is_place)[places + lengths - 1].tolist()  # the number of the first match behind each
                met, match, count = [], 0, len(places)
                while match < count:
                    met.append(match)
                    match = behind[match]
                lengths = lengths[met]
            longest = int(lengths.max(initial=0))
            if longest:
                found.append(longest)
            start += max(longest, 1)
        return found

    def novel(self, summary: Sequence[str]) -> list[float]:
        """For n from 1 to ``largest`` the share of the summary's distinct n-grams that no document has; nan for none.

        >>> Source(["the cat sat on the mat".split()]).novel("the cat sat the cat".split())
        [0.0, 0.3333333333333333, 0.6666666666666666]
        """
        text = numbers = np.array(self._numbered(summary), dtype=np.int64)
        shares = []
        for size, known in enumerate([None, *self._grams], start=1):
            if known is not None and len(numbers):
                codes, is_whole = self._longer(numbers, text)
                is_known = is_whole & np.isin(codes, known)
                numbers = np.where(is_known, np.searchsorted(known, codes), _NOWHERE)
            starts = range(len(numbers))
            grams = {tuple(summary[start : start + size]): numbers[start] >= 0 for start in starts}
            shares.append(sum(not is_known for is_known in grams.values()) / len(grams) if grams else math.nan)
        return shares


def coverage_and_density(fragments: Sequence[int], length: int) -> tuple[float, float]:
    """Share of a summary's words in fragments, and the mean over its words of the length of their fragment.

    Args:
        fragments: their lengths, of a summary of ``length`` words; nan for both where it has none.

    >>> coverage_and_density([3, 1], 5)
    (0.8, 2.0)
    """
    if not length:
        return math.nan, math.nan
    return sum(fragments) / length, sum(size**2 for size in fragments) / length


def repeated(summary: Sequence[str], size: int) -> float:
    """Share of the n-grams that stood in the summary before; nan where it has none.

    >>> repeated("so it goes so it goes".split(), 3)
    0.25
    """
    grams = [tuple(summary[start : start + size]) for start in range(len(summary) - size + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else math.nan
