"""How long a summary may be, and which sentences make it: taken by preference, put in the order of the document."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eval_summaries.shared import texts

DEFAULT = 3  # sentences


@dataclass(frozen=True)
class Length:
    """The most that a summary may have; one of the three, or 3 sentences.

    Args:
        sentences: their number, at least 1.
        words: their number (``texts.words``: a character counts in scripts without spaces), at least 1.
        ratio: share of the document's sentences, above 0 and at most 1, rounded, at least one sentence.

    Raises:
        ValueError: for more than one of them, or a value out of its range.
    """

    sentences: int | None = None
    words: int | None = None
    ratio: float | None = None

    def __post_init__(self):
        given = [f"--{name}" for name, value in vars(self).items() if value is not None]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} both limit the length: leave one out")
        for name in ("sentences", "words"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise ValueError(f"--{name} {value}: give 1 or more")
        if self.ratio is not None and not 0 < self.ratio <= 1:
            raise ValueError(f"--ratio {self.ratio}: give a number above 0 and at most 1, such as 0.2")

    def count(self, sentences: Sequence[str]) -> int:
        """How many of these sentences the limit is meant for; of a limit in words by the sentences' mean length.

        >>> Length(ratio=0.5).count(["a b", "c", "d e f"]), Length(words=4).count(["a b", "c", "d e f"])
        (2, 2)
        """
        if not sentences:
            return 0
        if self.words is not None:
            mean = sum(len(texts.words(sentence)) for sentence in sentences) / len(sentences)
            wanted = self.words / max(mean, 1)
        else:
            wanted = self.ratio * len(sentences) if self.ratio else self.sentences or DEFAULT
        return min(len(sentences), max(1, math.floor(wanted + 0.5)))


def choose(
    order: Iterable[int], sentences: Sequence[str], length: Length, pass_over: bool = True, block_trigrams: bool = False
) -> list[int]:
    """Take sentences in an order of preference as long as they fit.

    Args:
        order: numbers of sentences, the best first.
        pass_over: where a sentence does not fit in a limit of words, look for one that does; else stop there.
        block_trigrams: pass over a sentence that shares three words in a row with one that was taken (Paulus et al.
            2018).

    Returns:
        Their numbers in the order of the document; at least one where there is one in ``order``, even if it does not
        fit: ``write`` cuts it.

    >>> choose([2, 0, 1], ["a b", "c", "d e f"], Length(words=4))
    [1, 2]
    """
    taken: list[int] = []
    most = len(sentences) if length.words is not None else length.count(sentences)
    room, seen = length.words if length.words is not None else math.inf, set()
    for number in order:
        if len(taken) == most or room <= 0:
            break
        if length.words is None and not block_trigrams:
            taken.append(number)
            continue
        words = texts.words(sentences[number])
        trigrams = set(zip(words, words[1:], words[2:], strict=False)) if block_trigrams else set()
        if trigrams & seen:
            continue
        if len(words) > room and taken:
            if pass_over:
                continue
            break
        taken.append(number)
        room -= len(words)
        seen |= trigrams
    return sorted(taken)


def write(chosen: Sequence[int], sentences: Sequence[str], length: Length) -> str:
    """The summary: a sentence a line. A single sentence that is longer than a limit of words is cut there.

    >>> write([0], ["One, two and three."], Length(words=2))
    'One, two'
    """
    if length.words is not None and len(chosen) == 1:
        spans = texts.word_spans(sentences[chosen[0]])
        if len(spans) > length.words:
            return sentences[chosen[0]][: spans[length.words - 1][2]]
    return "\n".join(sentences[number] for number in chosen)


def extract(order: Iterable[int], sentences: Sequence[str], length: Length, **how: bool) -> str:
    """``choose``, then ``write``."""
    return write(choose(order, sentences, length, **how), sentences, length)
