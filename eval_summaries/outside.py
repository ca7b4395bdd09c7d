"""Scores that are not the four metrics': ROUGE, BLEU, chrF and TS-SS, in the shape that scoring.py asks for."""

import math
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from .inputs import Example
from .shared import load_metric, models, rouge, script_of, texts
from .shared import options as checks
from .table import UnusableError

Option = checks.Option


class Outside:
    """A score with options of its own; ``start`` loads what it needs."""

    OPTIONS: dict[str, Any] = {}
    signature: str

    def __init__(self, name: str, options: dict[str, Any]):
        self.name, self.given = name, options
        self.options = {**{name: option.default for name, option in self.OPTIONS.items()}, **options}

    @classmethod
    def options_of(cls, name: str) -> tuple[dict[str, Any], dict[str, str]]:
        """The options that there are, and those that would have no effect, with the reason."""
        return cls.OPTIONS, {}

    def start(self, examples: Sequence[Example]) -> None:
        """Load what is needed to score these examples."""

    def sign(self, examples: Iterable[Example]) -> str:
        """What these examples' scores depend on beside their texts."""
        return self.signature

    def score(self, examples: list[Example]) -> dict[str, list[float]]:
        """Per-example values."""
        raise NotImplementedError


class Rouge(Outside):
    """ROUGE-1, -2, -L and -Lsum over the words of SSS, so that every script is seen; on ASCII equal to rouge-score.

    The best reference by F1 counts, for each of the four. A line is a sentence of ROUGE-Lsum, as in rouge-score.
    """

    OPTIONS = {
        "use_stemmer": Option(False, checks.flag),
        "fold_arabic": Option(True, checks.flag),
        "parts": Option(False, checks.flag, changes_score=False),
    }

    def start(self, examples: list[Example]) -> None:
        chosen = "|".join(f"{name}:{self.options[name]}" for name in ("use_stemmer", "fold_arabic"))
        packages = ("regex", "rapidfuzz", *(["nltk"] if self.options["use_stemmer"] else []))
        parts = ["parts"] if self.options["parts"] else []
        self.signature = "|".join(
            ["rouge", chosen, "best_reference", *parts, *(f"{name}:{version(name)}" for name in packages)]
        )

    def score(self, examples: list[Example]) -> dict[str, list[float]]:
        rows = [self._best(example.prediction, example.references) for example in examples]
        return {key: [row[key] for row in rows] for key in rows[0]}

    def _best(self, prediction: str, references: list[str]) -> dict[str, float]:
        ours = self._lines(prediction)
        compared = [self._compare(ours, self._lines(reference)) for reference in references]
        found = {}
        for kind in compared[0]:
            best = max((scores[kind] for scores in compared), key=lambda score: score.f1)
            found[kind] = best.f1
            if self.options["parts"]:
                found[f"{kind}_precision"], found[f"{kind}_recall"] = best.precision, best.recall
        return found

    def _lines(self, text: str) -> list[list[str]]:
        fold, stem = self.options["fold_arabic"], self.options["use_stemmer"]
        return [texts.words(line, fold, stem) for line in text.split("\n")]

    @staticmethod
    def _compare(ours: list[list[str]], theirs: list[list[str]]) -> dict[str, Any]:
        candidate, reference = ([word for line in side for word in line] for side in (ours, theirs))
        return {
            "rouge1": rouge.rouge_n(candidate, reference, 1),
            "rouge2": rouge.rouge_n(candidate, reference, 2),
            "rougeL": rouge.rouge_l(candidate, reference),
            "rougeLsum": rouge.rouge_lsum(ours, theirs),
        }


class Bleu(Outside):
    """sacrebleu's sentence BLEU of each example (effective order), over 100."""

    OPTIONS = {
        "tokenize": Option(
            "13a",
            checks.one_of("13a", "intl", "char", "zh", "none", "ja-mecab", "ko-mecab", "flores101", "flores200", "spm"),
        ),
        "lowercase": Option(False, checks.flag),
    }

    def __init__(self, name: str, options: dict[str, Any]):
        super().__init__(name, options)
        from sacrebleu import BLEU

        try:
            self.scorer = BLEU(effective_order=True, **self.options)
        except Exception as error:  # a tokenizer whose package or model is not there
            raise UnusableError(f"bleu.tokenize={self.options['tokenize']}: {' '.join(str(error).split())}") from None
        chosen = "".join(f"|{name}:{value}" for name, value in sorted(options.items()))
        self.signature = f"bleu|sentence|effective_order{chosen}|sacrebleu:{version('sacrebleu')}"

    def score(self, examples: list[Example]) -> dict[str, list[float]]:
        found = [self.scorer.sentence_score(example.prediction, example.references).score for example in examples]
        return {"bleu": [value / 100 for value in found]}


def _word_order(name: str, value: Any) -> int:
    found = checks.whole_number(0)(name, value)
    if found > 2:
        raise ValueError(f"{name}={value!r}: give 0 (chrF), 1, or 2 (chrF++)")
    return found


class Chrf(Outside):
    """sacrebleu's sentence chrF of each example (Popovic 2015), over 100; chrF++ with ``word_order=2``.

    The best reference counts, as sacrebleu has it.
    """

    OPTIONS = {"word_order": Option(0, _word_order), "lowercase": Option(False, checks.flag)}

    def start(self, examples: list[Example]) -> None:
        from sacrebleu import CHRF

        self.scorer = CHRF(**self.options)
        chosen = "".join(f"|{name}:{value}" for name, value in self.options.items())
        self.signature = f"chrf|sentence|best_reference{chosen}|sacrebleu:{version('sacrebleu')}"

    def score(self, examples: list[Example]) -> dict[str, list[float]]:
        found = [self.scorer.sentence_score(example.prediction, example.references).score for example in examples]
        return {"chrf": [value / 100 for value in found]}


def ts_ss(one: np.ndarray, other: np.ndarray) -> float:
    """TS-SS, triangle area times sector area (Heidarian and Dinneen 2016), of two vectors: 0 for equal ones.

        theta = arccos(cos(one, other)) + 10 degrees
        TS = |one| |other| sin(theta) / 2
        SS = pi (ED + MD)^2 theta / 360 degrees

    ED is the Euclidean distance, MD the difference of the lengths. At least 0, lower is closer, up to an angle of 170
    degrees; beyond it sin(theta), and so the value, turns negative. nan where one vector alone is zero and has no
    angle: the formula would give 0, as if they were equal.

    >>> round(ts_ss(np.array([1.0, 0.0]), np.array([0.0, 1.0])), 4)
    0.8594
    >>> ts_ss(np.array([3.0, 4.0]), np.array([3.0, 4.0]))
    0.0
    """
    one, other = one.astype(np.float64), other.astype(np.float64)
    if np.array_equal(one, other):
        return 0.0
    lengths = float(np.linalg.norm(one)), float(np.linalg.norm(other))
    if not all(lengths):
        return math.nan
    cosine = float((one / lengths[0]) @ (other / lengths[1]))
    theta = math.acos(min(1.0, max(-1.0, cosine))) + math.radians(10)
    triangle = lengths[0] * lengths[1] * math.sin(theta) / 2
    apart = float(np.linalg.norm(one - other)) + abs(lengths[0] - lengths[1])
    return triangle * math.pi * apart**2 * theta / math.tau


class TsSs(Outside):
    """TS-SS of summary and reference, on the vectors of SSS: means of token embeddings, not of unit length.

    The mean over the references. A blank text has the zero vector, as in SSS: two blank texts have 0; of a blank and
    another it is undefined, and such a reference is left out of the mean.
    """

    OPTIONS = models.MODEL_OPTIONS

    def __init__(self, name: str, options: dict[str, Any]):
        super().__init__(name, options)
        self.script = script_of(load_metric("sss", options))  # its models and vectors, so that none is made twice

    def start(self, examples: list[Example]) -> None:
        try:
            backend = self.script.Embedder.from_options(self.options).backend
        except Exception as error:  # a model that cannot be had: hub, files, torch each raise their own
            chosen = ", ".join(f"{option}={value}" for option, value in self.given.items())
            raise UnusableError(f"{self.name}{f' ({chosen})' if chosen else ''}: {error}") from None
        facts = {name: self.options[name] for name, option in self.OPTIONS.items() if option.changes_score}
        facts |= {"references": "mean", **self.script.model_facts(backend)}
        self.signature = self.script.make_signature("tsss", "1", facts, ("numpy", "regex", *backend.packages))

    def score(self, examples: list[Example]) -> dict[str, list[float]]:
        seen = dict.fromkeys(text for example in examples for text in (example.prediction, *example.references))
        seen = [text for text in seen if not texts.is_blank(text)]
        embedder = self.script.Embedder.from_options(self.options)
        vectors = dict(zip(seen, embedder.encode(seen), strict=True)) if seen else {}
        zero = np.zeros(next(iter(vectors.values()), np.zeros(1)).shape)

        def compare(prediction: str, references: list[str]) -> float:
            ours = vectors.get(prediction, zero)
            found = [ts_ss(ours, vectors.get(reference, zero)) for reference in references]
            defined = [value for value in found if value == value]
            return sum(defined) / len(defined) if defined else math.nan

        return {"tsss": [compare(example.prediction, example.references) for example in examples]}
