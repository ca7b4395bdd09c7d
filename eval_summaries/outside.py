"""Scores that are not the four metrics': ROUGE, BLEU and BERTScore, each in the shape that scoring.py asks for."""

import importlib.util
from importlib.metadata import version
from typing import Any

from .inputs import Example
from .shared import options as checks
from .shared import rouge, texts
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

    def start(self, examples: list[Example]) -> None:
        """Load what is needed to score these examples."""

    def sign(self, examples: list[Example]) -> str:
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


def _text(name: str, value: Any) -> str | None:
    if value is not None and not (isinstance(value, str) and value.strip()):
        raise TypeError(f"{name}={value!r}: give a text")
    return value


def _layer(name: str, value: Any) -> int | None:
    return None if value is None else checks.whole_number(1)(name, value)


class BertScore(Outside):
    """BERTScore (Zhang et al. 2020) by the package bert-score, where it is installed; the best reference counts."""

    OPTIONS = {
        "lang": Option("en", checks.language_code),
        "model_type": Option(None, _text),
        "num_layers": Option(None, _layer),
        "device": Option(None, _text, changes_score=False),
    }

    def __init__(self, name: str, options: dict[str, Any]):
        super().__init__(name, options)
        if importlib.util.find_spec("bert_score") is None:
            raise UnusableError("bertscore needs the package bert-score: pip install bert-score")

    def start(self, examples: list[Example]) -> None:
        from bert_score import BERTScorer

        chosen = {name: value for name, value in self.options.items() if value is not None}
        if "model_type" in chosen and "lang" not in self.given:
            del chosen["lang"]  # the model is named; its language would only choose one
        try:
            self.scorer = BERTScorer(**chosen)
        except Exception as error:  # files, network, a layer that the model lacks: each library raises its own
            reason = " ".join(str(error).split())[:300]
            shown = ", ".join(f"bertscore.{name}={value}" for name, value in chosen.items())
            raise UnusableError(f"bertscore: cannot load its model ({shown}): {reason}") from None
        facts = "|".join(f"{name}:{value}" for name, value in sorted(chosen.items()) if name != "device")
        self.signature = f"bertscore|{facts}|{self.scorer.hash}|bert-score:{version('bert-score')}"

    def score(self, examples: list[Example]) -> dict[str, list[float]]:
        found = self.scorer.score([e.prediction for e in examples], [e.references for e in examples])
        names = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
        return {name: [float(value) for value in values] for name, values in zip(names, found, strict=True)}
