"""Companion measures of a summary: none needs a reference, and each is undefined (nan) where it does not apply."""

import hashlib
import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib.metadata import version
from itertools import chain
from typing import Any

import numpy as np
import regex

from .extractive import Source, coverage_and_density, repeated
from .inputs import Example
from .outside import Option, Outside
from .shared import options as checks
from .shared import texts, unsupported
from .table import UnusableError

SEED = 0
SAMPLE = 20_000  # documents from which topics are learned
COLUMNS = 2  # the edition of the keys below: what a run of an earlier one kept lacks some
NOVEL = 3  # n-grams of up to so many words
_SCRIPTS = {"ar": "Arabic", "fa": "Arabic", "ru": "Cyrillic"}  # other languages of the spelling lists are Latin


@lru_cache(maxsize=4)
def _spelling(lang: str) -> Any:
    from spellchecker import SpellChecker

    return SpellChecker(language=lang) if lang in SpellChecker.languages() else None


@lru_cache(maxsize=128)  # many systems summarise the same documents; some are books, so not all are kept
def _source(documents: tuple[str, ...]) -> tuple[Source, frozenset[str]]:
    """What every summary of these documents is compared with: their words, and their numbers."""
    return Source([texts.words(document) for document in documents], NOVEL), unsupported.known_numbers(documents)


def lacking(summary: str, sentences: list[str], documents: tuple[str, ...]) -> tuple[list, list | None]:
    """The numbers and the names of a summary that its documents lack; names are None in scripts without capitals."""
    source, known_numbers = _source(documents)
    names = unsupported.unsupported_names(summary, sentences, source.words)
    return unsupported.unsupported_numbers(summary, known_numbers), names


def _grams(text: str) -> tuple[Counter, int]:
    """How often each 1- to 3-gram of words stands in a text, and the sum of the squares."""
    words = texts.words(text)
    counts = Counter(chain.from_iterable(zip(*(words[start:] for start in range(n)), strict=False) for n in (1, 2, 3)))
    return counts, sum(count * count for count in counts.values())


_grams_of_document = lru_cache(maxsize=128)(_grams)  # as ``_source``


def tfidf_cosine(summary: str, document: str) -> float:
    """Cosine of the TF-IDF vectors of two texts over their 1- to 3-grams, in [0, 1]; nan where one has no word.

    As scikit-learn's ``TfidfVectorizer`` has it of these two texts alone, so that no other example matters: an n-gram
    of both has the weight ln(3 / 3) + 1, one of a single text ln(3 / 2) + 1.

    >>> round(tfidf_cosine("a b", "a c"), 4)
    0.202
    """
    (ours, length), (theirs, other_length) = _grams(summary), _grams_of_document(document)
    if not ours or not theirs:
        return math.nan
    shared = [(ours[gram], theirs[gram]) for gram in ours.keys() & theirs.keys()]
    alone = (math.log(3 / 2) + 1) ** 2
    squares = [
        alone * whole + (1 - alone) * sum(counts[side] ** 2 for counts in shared)
        for side, whole in enumerate((length, other_length))
    ]
    return sum(one * other for one, other in shared) / math.sqrt(squares[0] * squares[1])


def sample(documents: Iterable[str], most: int) -> tuple[list[str], bool]:
    """Different documents, sorted, at most so many, and whether there are more.

    Those with the lowest digests (with ``SEED``) are taken: as good as drawn at random, in one pass, the same whatever
    the order of the documents and however often each stands there.

    >>> sample(["b", "a", "b"], 2), sample("abc", 1)[1]
    ((['a', 'b'], False), True)
    """
    taken: dict[int, str] = {}
    highest: list[int] = []  # a heap of the negative digests
    more = False
    for document in documents:
        key = int.from_bytes(hashlib.blake2b(document.encode(), digest_size=16, salt=bytes([SEED])).digest(), "big")
        if key in taken:
            continue
        if len(taken) == most:
            more = True
            if key > -highest[0]:
                continue
            del taken[-heapq.heappop(highest)]
        taken[key] = document
        heapq.heappush(highest, -key)
    # sorted: a system more, or less, must not change the order in which the topics' sums are made
    return sorted(taken.values()), more


class Stats(Outside):
    """Scores examples; topics are learned once, from the documents of the run, a sample of them where there are many.

    Keys: ``stats_words`` and ``stats_sentences`` of the summary; ``stats_coverage`` and ``stats_density`` of extractive
    fragments; ``stats_novel_1grams`` to ``stats_novel_3grams`` and ``stats_repeated_3grams``, shares of the summary's
    n-grams; ``stats_unsupported_numbers`` and ``stats_unsupported_names``, counts of what the document lacks;
    ``stats_tfidf_cosine`` of summary and document over their 1- to 3-grams; ``stats_topic_similarity``;
    ``stats_compression``, characters of the document over those of the summary; ``stats_flesch_kincaid`` and
    ``stats_gunning_fog``, English only (readability); ``stats_spelling_errors``, share of words that the list of
    pyspellchecker lacks, capitalised words and words with digits left out.
    """

    OPTIONS = {
        "lang": Option("en", checks.language_code),
        "topics": Option(10, checks.whole_number(2)),
        "topic_model": Option("nmf", checks.one_of("nmf", "lda", "lsa")),
        "topic_distance": Option("jensen-shannon", checks.one_of("jensen-shannon", "cosine")),
    }

    def __init__(self, name: str, options: dict[str, Any]):
        super().__init__(name, options)
        if self.options["topic_model"] == "lsa" and self.options["topic_distance"] == "jensen-shannon":
            raise UnusableError(
                "stats.topic_model=lsa has negative weights, which are no distribution: set stats.topic_distance=cosine"
            )

    def start(self, examples: Iterable[Example]) -> None:
        documents, drawn = sample(map(self._document, examples), SAMPLE)
        self.topics = self._learn_topics(documents)
        learned = hashlib.sha256("\0".join(documents).encode()).hexdigest()[:16]
        packages = [
            f"{name}:{version(name)}"
            for name in ("regex", "sentencex", "scikit-learn", "readability", "pyspellchecker")
        ]
        facts = {"columns": COLUMNS, **self.options, "topics_from": learned, "seed": SEED}
        facts |= {"topics_sample": SAMPLE} if drawn else {}
        self.signature = "|".join(["stats", *(f"{name}:{value}" for name, value in facts.items()), *packages])

    def score(self, examples: list[Example]) -> dict[str, list[float]]:
        """Per-example values."""
        rows = [
            {
                **self._against_documents(example.prediction, tuple(example.documents)),
                **self._one(example.prediction, self._document(example)),
            }
            for example in examples
        ]
        return {key: [row[key] for row in rows] for key in rows[0]}

    @staticmethod
    def _document(example: Example) -> str:
        return "\n\n".join(example.documents)

    def _against_documents(self, summary: str, documents: tuple[str, ...]) -> dict[str, float]:
        """Lengths, what was copied, what is new, what is repeated, what no document has."""
        source, _ = _source(documents)
        words, found = texts.words(summary), texts.sentences(summary, self.options["lang"])
        coverage, density = coverage_and_density(source.fragments(words), len(words))
        numbers, names = lacking(summary, found, documents)
        return {
            "stats_words": float(len(words)),
            "stats_sentences": float(len(found)),
            "stats_coverage": coverage,
            "stats_density": density,
            **{f"stats_novel_{n}grams": share for n, share in enumerate(source.novel(words), start=1)},
            "stats_repeated_3grams": repeated(words, 3),
            "stats_unsupported_numbers": float(len(numbers)),
            "stats_unsupported_names": math.nan if names is None else float(len(names)),
        }

    def _one(self, summary: str, document: str) -> dict[str, float]:
        summary, document = texts.without_format(summary), texts.without_format(document)
        lengths = [len(" ".join(text.split())) for text in (summary, document)]
        return {
            "stats_tfidf_cosine": tfidf_cosine(summary, document),
            "stats_topic_similarity": self.topics(summary, document),
            "stats_compression": lengths[1] / lengths[0] if all(lengths) else math.nan,
            **self._readability(summary),
            "stats_spelling_errors": self._spelling_errors(summary),
        }

    def _learn_topics(self, documents: list[str]) -> Callable[[str, str], float]:
        from sklearn.decomposition import NMF, LatentDirichletAllocation, TruncatedSVD
        from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

        documents = [document for document in documents if texts.words(document)]
        kind = self.options["topic_model"]
        maker = CountVectorizer if kind == "lda" else TfidfVectorizer
        vectorizer = maker(tokenizer=texts.words, token_pattern=None, lowercase=False)
        counts = vectorizer.fit_transform(documents) if documents else np.zeros((0, 0))
        count = min(self.options["topics"], *counts.shape)
        if count < 2:  # one document, or one word, has no topics to tell apart
            return lambda summary, document: math.nan
        model = {
            "nmf": lambda: NMF(count, init="nndsvda", random_state=SEED, max_iter=500),
            "lda": lambda: LatentDirichletAllocation(count, random_state=SEED),
            "lsa": lambda: TruncatedSVD(count, random_state=SEED),
        }[kind]()
        model.fit(counts)

        def similarity(summary: str, document: str) -> float:
            from scipy.spatial.distance import jensenshannon

            counts = vectorizer.transform([summary, document])
            one, other = model.transform(counts)
            if 0 in np.diff(counts.indptr) or not np.any(one) or not np.any(other):
                return math.nan  # no word of any topic
            if self.options["topic_distance"] == "cosine":
                return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
            # the root of what should be 0 and is a little less: scipy calls it nan
            return float(1 - np.nan_to_num(jensenshannon(one, other, base=2)))

        return similarity

    def _is_written_in(self, text: str) -> bool:
        """Whether most letters are of the script of the option ``lang``."""
        letters = regex.findall(r"\p{L}", text)
        script = _SCRIPTS.get(self.options["lang"], "Latin")
        return bool(letters) and len(regex.findall(rf"\p{{{script}}}", "".join(letters))) > len(letters) / 2

    def _readability(self, text: str) -> dict[str, float]:
        names = {"stats_flesch_kincaid": "Kincaid", "stats_gunning_fog": "GunningFogIndex"}
        found = texts.sentences(text)
        lines = [" ".join(regex.findall(r"[\p{L}\p{M}\p{N}'’-]+|[^\s\p{L}\p{M}\p{N}]", sentence)) for sentence in found]
        if (
            self.options["lang"] != "en"
            or not self._is_written_in(text)
            or not any(texts.words(line) for line in lines)
        ):
            return dict.fromkeys(names, math.nan)
        import readability

        grades = readability.getmeasures("\n".join(lines), lang="en")["readability grades"]
        return {key: float(grades[name]) for key, name in names.items()}

    def _spelling_errors(self, text: str) -> float:
        speller = _spelling(self.options["lang"])
        if speller is None or not self._is_written_in(text):
            return math.nan
        found = [w for w in regex.findall(r"[\p{L}\p{M}'’]+", text) if len(w) > 1 and w == w.lower()]
        found = [word.replace("’", "'").strip("'") for word in found]
        return len([word for word in found if word not in speller]) / len(found) if found else math.nan
