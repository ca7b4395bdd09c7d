"""Companion measures of a summary: none needs a reference, and each is undefined (nan) where it does not apply."""

import importlib.util
import math
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import regex

from .inputs import Example, UnusableError

CHOICES = {
    "topic_model": ("nmf", "lda", "lsa"),
    "topic_distance": ("jensen-shannon", "cosine"),
}
DEFAULTS: dict[str, Any] = {"lang": "en", "topics": 10, "topic_model": "nmf", "topic_distance": "jensen-shannon"}
SEED = 0
_SCRIPTS = {"ar": "Arabic", "fa": "Arabic", "ru": "Cyrillic"}  # other languages of the spelling lists are Latin


def _texts(folder: Path) -> ModuleType:
    """The words and sentences of the metrics, from a metric's own copy."""
    spec = importlib.util.spec_from_file_location("eval_summaries_texts", folder / "texts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options with their defaults; ``UnusableError`` names what is wrong and what is valid."""
    for name, value in options.items():
        if name not in DEFAULTS:
            raise UnusableError(f"stats: unknown option {name!r}: the options are {', '.join(DEFAULTS)}")
        if name in CHOICES and value not in CHOICES[name]:
            raise UnusableError(f"stats: {name}={value!r}: give one of {', '.join(CHOICES[name])}")
        if name == "topics" and (not isinstance(value, int) or value < 2):
            raise UnusableError(f"stats: topics={value!r}: give a whole number of at least 2")
    found = {**DEFAULTS, **options}
    if found["topic_model"] == "lsa" and found["topic_distance"] == "jensen-shannon":
        raise UnusableError("stats: lsa has negative weights, which are no distribution: set topic_distance=cosine")
    return found


@lru_cache(maxsize=4)
def _spelling(lang: str) -> Any:
    from spellchecker import SpellChecker

    return SpellChecker(language=lang) if lang in SpellChecker.languages() else None


class Stats:
    """Scores examples; topics are learned once, from all documents of the run.

    Keys: ``stats_tfidf_cosine`` of summary and document over their 1- to 3-grams; ``stats_topic_similarity``;
    ``stats_compression``, characters of the document over those of the summary; ``stats_flesch_kincaid`` and
    ``stats_gunning_fog``, English only (readability); ``stats_spelling_errors``, share of words that the list of
    pyspellchecker lacks, capitalised words and words with digits left out.
    """

    def __init__(self, options: dict[str, Any], examples: list[Example], folder: Path):
        self.options = check_options(options)
        self.texts = _texts(folder)
        self.topics = self._learn_topics(list(dict.fromkeys(self._document(example) for example in examples)))
        packages = [f"{name}:{version(name)}" for name in ("scikit-learn", "readability", "pyspellchecker")]
        self.signature = "|".join(["stats", *(f"{k}:{v}" for k, v in self.options.items()), f"seed:{SEED}", *packages])

    def score(self, examples: list[Example]) -> dict[str, list[float]]:
        """Per-example values."""
        rows = [self._one(example.prediction, self._document(example)) for example in examples]
        return {key: [row[key] for row in rows] for key in rows[0]}

    @staticmethod
    def _document(example: Example) -> str:
        return "\n\n".join(example.documents)

    def _one(self, summary: str, document: str) -> dict[str, float]:
        lengths = [len(" ".join(text.split())) for text in (summary, document)]
        return {
            "stats_tfidf_cosine": self._tfidf_cosine(summary, document),
            "stats_topic_similarity": self.topics(summary, document),
            "stats_compression": lengths[1] / lengths[0] if all(lengths) else math.nan,
            **self._readability(summary),
            "stats_spelling_errors": self._spelling_errors(summary),
        }

    def _tfidf_cosine(self, summary: str, document: str) -> float:
        from sklearn.feature_extraction.text import TfidfVectorizer

        if not self.texts.words(summary) or not self.texts.words(document):
            return math.nan
        vectorizer = TfidfVectorizer(
            tokenizer=self.texts.words, token_pattern=None, lowercase=False, ngram_range=(1, 3)
        )
        vectors = vectorizer.fit_transform([summary, document])  # the pair alone, so that no other example matters
        return float((vectors[0] @ vectors[1].T).toarray()[0, 0])

    def _learn_topics(self, documents: list[str]) -> Callable[[str, str], float]:
        from sklearn.decomposition import NMF, LatentDirichletAllocation, TruncatedSVD
        from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

        documents = [document for document in documents if self.texts.words(document)]
        count = min(self.options["topics"], len(documents))
        if count < 2:
            return lambda summary, document: math.nan  # one document has no topics to tell apart
        kind = self.options["topic_model"]
        maker = CountVectorizer if kind == "lda" else TfidfVectorizer
        vectorizer = maker(tokenizer=self.texts.words, token_pattern=None, lowercase=False)
        model = {
            "nmf": lambda: NMF(count, init="nndsvda", random_state=SEED, max_iter=500),
            "lda": lambda: LatentDirichletAllocation(count, random_state=SEED),
            "lsa": lambda: TruncatedSVD(count, random_state=SEED),
        }[kind]()
        model.fit(vectorizer.fit_transform(documents))

        def similarity(summary: str, document: str) -> float:
            from scipy.spatial.distance import jensenshannon

            counts = vectorizer.transform([summary, document])
            one, other = model.transform(counts)
            if 0 in np.diff(counts.indptr) or not np.any(one) or not np.any(other):
                return math.nan  # no word of any topic
            if self.options["topic_distance"] == "cosine":
                return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
            return float(1 - jensenshannon(one, other, base=2))

        return similarity

    def _is_written_in(self, text: str) -> bool:
        """Whether most letters are of the script of the option ``lang``."""
        letters = regex.findall(r"\p{L}", text)
        script = _SCRIPTS.get(self.options["lang"], "Latin")
        return bool(letters) and len(regex.findall(rf"\p{{{script}}}", "".join(letters))) > len(letters) / 2

    def _readability(self, text: str) -> dict[str, float]:
        names = {"stats_flesch_kincaid": "Kincaid", "stats_gunning_fog": "GunningFogIndex"}
        found = self.texts.sentences(text)
        lines = [" ".join(regex.findall(r"[\p{L}\p{M}\p{N}'’-]+|[^\s\p{L}\p{M}\p{N}]", sentence)) for sentence in found]
        if (
            self.options["lang"] != "en"
            or not self._is_written_in(text)
            or not any(self.texts.words(line) for line in lines)
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
