"""SummScreen's nearest neighbours: what of a transcript, or of other recaps, is most like what is asked for?

Chen, Chu, Wiseman and Gimpel (2022, "SummScreen: A Dataset for Abstractive Screenplay Summarization", ACL), section
4.2: ``r2t`` (reference to transcript), ``t2t`` (transcript to training transcripts), ``r2r`` (reference to training
recaps).
"""

from collections.abc import Sequence

import numpy as np

from eval_summaries.shared import load_metric, rouge, texts


class Index:
    """Texts among which the most similar ones are looked for.

    Args:
        found: the texts.
        by: "bm25" (Robertson's, as Lucene computes it, by the package bm25s), or "rouge" (the mean F1 of ROUGE-1, -2
            and -L).

    >>> Index(["The bridge was closed.", "Amy met Raj."], by="rouge").nearest("Raj saw Amy.", 1)
    [1]
    """

    def __init__(self, found: Sequence[str], by: str = "bm25"):
        if by not in ("bm25", "rouge"):
            raise ValueError(f"by={by!r}: give bm25 or rouge")
        self.bags, self.by = [texts.words(text) for text in found], by
        self.vocabulary = {word for bag in self.bags for word in bag}
        if by == "bm25" and self.vocabulary:
            import bm25s

            self.bm25 = bm25s.BM25(method="lucene")
            self.bm25.index(self.bags, show_progress=False)

    def scores(self, query: str) -> np.ndarray:
        """How similar each text is, shape (texts,); 0 where no word is shared."""
        words = texts.words(query)
        if self.by == "rouge":
            return np.array([mean_rouge(bag, words) for bag in self.bags])
        known = [word for word in words if word in self.vocabulary]
        return np.asarray(self.bm25.get_scores(known)) if known else np.zeros(len(self.bags))

    def nearest(self, query: str, count: int = 1) -> list[int]:
        """The numbers of the most similar texts, best first; of equal ones the earlier."""
        return np.argsort(-self.scores(query), kind="stable")[:count].tolist()


def mean_rouge(one: list[str], other: list[str]) -> float:
    """The mean F1 of ROUGE-1, -2 and -L of two lists of words.

    >>> mean_rouge(["amy", "left"], ["amy", "left"])
    1.0
    """
    parts = [rouge.rouge_n(one, other, 1), rouge.rouge_n(one, other, 2), rouge.rouge_l(one, other)]
    return sum(part.f1 for part in parts) / 3


def by_characters(query: str, found: Sequence[str], characters: list | dict) -> np.ndarray:
    """How similar texts are by who is in them: the mean F1 of BoC and BoR, shape (texts,).

    Where neither text names anybody, or no pair, that F1 counts as 0.

    >>> by_characters("Amy met Raj.", ["Penny slept.", "Raj left Amy."], ["Amy", "Raj", "Penny"]).tolist()
    [0.0, 1.0]
    """
    total = np.zeros(len(found))
    for name in ("boc", "bor"):
        metric = load_metric(name, {"characters": characters})
        total += np.nan_to_num(metric.score(list(found), [query] * len(found))[f"{name}_f1"])
    return total / 2


def lines(text: str, lang: str = "en") -> list[str]:
    """The lines of a transcript; the sentences of a text that has only one line.

    >>> lines("AMY: Hello. Sit down.\\nRAJ: No."), lines("It rained. Amy left.")
    (['AMY: Hello. Sit down.', 'RAJ: No.'], ['It rained.', 'Amy left.'])
    """
    found = [line.strip() for line in text.splitlines() if not texts.is_blank(line)]
    return found if len(found) > 1 else texts.sentences(text, lang)


def reference_to_transcript(transcript: Sequence[str], reference: Sequence[str], by: str = "bm25") -> list[int]:
    """For each sentence of the reference the line of the transcript that is most like it: an oracle.

    Returns:
        Numbers of lines in the order of the reference, each once.

    >>> reference_to_transcript(["AMY: Hello.", "RAJ: I am late."], ["Raj is late.", "Raj is late again."])
    [1]
    """
    index = Index(transcript, by)
    return list(dict.fromkeys(index.nearest(sentence)[0] for sentence in reference))
