"""SSS: the paper's tables, rouge-score as the oracle, invariants, defined cases, explain."""

import math

import numpy as np
import pytest
from conftest import SENTENCES, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from metrics._shared.texts import words
from metrics.sss.rouge import rouge_l, rouge_lsum, rouge_n
from metrics.sss.sss import combine, frequency_ratio, mean_rouge

KEYS = ["sss", "sss_cosine", "sss_rouge", "sss_l2", "sss_frequency_ratio"]

# Restated from tables I to III and X of Shames El Deen and Awad (arXiv:2608.20964): reference, candidate, and what can
# be recomputed without the model: ROUGE with unique n-grams (the tables'), with clipped ones, and the frequency ratio.
ATE = "أكل التلميذ سامي طعامه في المدرسة صباحا يوم الثلاثاء. طعامه كان تفاحة"
APPLE = "أكل سامي تفاحة"
PAPER = [
    ("علي يأكل الطعام في الليل", "هو يتناول الطعام مساء", 0.1481, 0.1481, 1.0),
    ("تناول الولد تفاحة", "أكل الطفل قطة", 0.0, 0.0, 1.0),
    ("تناول الولد تفاحة", "أكل الطفل تفاحة", 0.2222, 0.2222, 1.0),
    ("تناول الولد تفاحة", "تناول تناول الولد تفاحة تفاحة", 0.8889, 0.7222, 0.6),
    (ATE, "هرب", 0.0, 0.0, 0.9167),
    (ATE, "أكل", 0.1111, 0.1026, 0.9167),
    (ATE, ATE, 1.0, 1.0, 1.0),
    (ATE, ATE.replace("أكل", "تناول"), 0.9091, 0.9141, 1.0),
    (ATE, "أكل سامي", 0.2051, 0.1905, 0.9167),
    (ATE, "في المدرسة أكل سامي", 0.3143, 0.2976, 0.9167),
    (ATE, " ".join([APPLE] * 5), 0.2857, 0.1481, 0.2182),
    (
        ATE,
        "أكل أكل أكل أكل أكل أكل التلميذ سامي سامي سامي طعامه المدرسة المدرسة في المدرسة المدرسة صباحا يوم الثلاثاء "
        "يوم يوم يوم. طعامه كان تفاحة تفاحة تفاحة تفاحة تفاحة",
        0.8736,
        0.5441,
        0.4138,
    ),
]

word_lists = st.lists(st.sampled_from(["a", "b", "c", "d", "the", "cat", "sat"]), max_size=30)
some_text = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.lists(st.sampled_from([*SENTENCES.values(), "cat", "dog", " ", "!"]), max_size=4).map(" ".join),
)


class TestPaper:
    @pytest.mark.parametrize(("reference", "candidate", "unique", "clipped", "ratio"), PAPER)
    def test_rouge_by_both_counting_rules_and_ratio(self, reference, candidate, unique, clipped, ratio):
        ours, theirs = words(candidate), words(reference)
        assert mean_rouge(ours, theirs, "unique") == pytest.approx(unique, abs=6e-5)
        assert mean_rouge(ours, theirs, "clipped") == pytest.approx(clipped, abs=6e-5)
        assert frequency_ratio(ours, theirs) == pytest.approx(ratio, abs=6e-5)

    @pytest.mark.parametrize(
        ("cosine", "rouge", "l2", "ratio", "expected"),
        [
            (0.957, 0.2222, 3.637, 1.0, 0.0988),  # table III, first candidate
            (0.930, 0.8889, 5.005, 0.6, 0.2024),  # second, unique counting; Algorithm 2 divides min by max
            (0.930, 0.7222, 5.005, 0.6, 0.1645),  # second, clipped counting
        ],
    )
    def test_combination_of_the_printed_parts(self, cosine, rouge, l2, ratio, expected):
        assert combine(cosine, rouge, l2, ratio) == pytest.approx(expected, abs=6e-5)

    def test_the_metric_uses_the_rule_that_is_asked(self, sss):
        pair = [PAPER[3][1]], [PAPER[3][0]]
        assert sss.score(*pair)["sss_rouge"] == pytest.approx([0.7222], abs=6e-5)
        assert sss.score(*pair, rouge_counting="unique")["sss_rouge"] == pytest.approx([0.8889], abs=6e-5)
        assert sss.score(*pair)["sss_frequency_ratio"] == pytest.approx([0.6])


def rouge_f1(one, other, counting="clipped"):
    """F1 of ROUGE-1, -2 and -L."""
    parts = rouge_n(one, other, 1, counting), rouge_n(one, other, 2, counting), rouge_l(one, other, counting)
    return tuple(part.f1 for part in parts)


class TestRouge:
    SCORER = RougeScorer(["rouge1", "rouge2", "rougeL"])

    @settings(max_examples=examples(1000))
    @given(
        st.text(st.characters(max_codepoint=127), max_size=60), st.text(st.characters(max_codepoint=127), max_size=60)
    )
    def test_equals_rouge_score_on_any_ascii(self, one, other):
        expected = self.SCORER.score(other, one)
        assert rouge_f1(words(one), words(other)) == tuple(
            expected[kind].fmeasure for kind in ("rouge1", "rouge2", "rougeL")
        )

    @pytest.mark.slow
    @settings(max_examples=examples(1000))
    @given(word_lists, word_lists)
    def test_equals_rouge_score_on_words_that_repeat(self, one, other):
        expected = self.SCORER.score(" ".join(other), " ".join(one))
        assert rouge_f1(one, other) == tuple(expected[kind].fmeasure for kind in ("rouge1", "rouge2", "rougeL"))

    def test_equals_rouge_score_with_stemmer(self):
        one, other = "The runners were running happily", "A runner runs happy races"
        expected = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True).score(other, one)
        found = rouge_f1(words(one, use_stemmer=True), words(other, use_stemmer=True))
        assert found == tuple(expected[kind].fmeasure for kind in ("rouge1", "rouge2", "rougeL"))

    @pytest.mark.parametrize("language", [name for name in SENTENCES if name != "emoji"])
    @pytest.mark.parametrize("counting", ["clipped", "unique"])
    def test_identical_sentences_of_any_language(self, language, counting):
        text = words(SENTENCES[language])
        assert len(text) > 3 and rouge_f1(text, text, counting) == (1.0, 1.0, 1.0)

    @given(word_lists, word_lists)
    def test_unique_counting_plainly(self, one, other):
        """The oracle: sets of n-grams."""
        found = rouge_f1(one, other, "unique")
        for n in (1, 2):
            ours, theirs = ({tuple(side[i : i + n]) for i in range(len(side) - n + 1)} for side in (one, other))
            total = len(ours) + len(theirs)
            assert found[n - 1] == pytest.approx(2 * len(ours & theirs) / total if total else 0.0)
        assert found == rouge_f1(other, one, "unique")
        assert found[2] <= found[0] + 1e-12  # a common subsequence has at most the common words

    @settings(max_examples=examples(1000))
    @given(st.lists(word_lists, max_size=5), st.lists(word_lists, max_size=5))
    def test_lsum_equals_rouge_score(self, one, other):
        """Precision and recall too; which of several longest subsequences is taken decides what the union holds."""
        expected = RougeScorer(["rougeLsum"]).score(*("\n".join(map(" ".join, side)) for side in (other, one)))
        assert rouge_lsum([line for line in one if line], [line for line in other if line]) == expected["rougeLsum"]

    @settings(max_examples=examples(500))
    @given(
        st.text(st.characters(max_codepoint=127), max_size=60), st.text(st.characters(max_codepoint=127), max_size=60)
    )
    def test_lsum_equals_rouge_score_on_any_ascii(self, one, other):
        expected = RougeScorer(["rougeLsum"]).score(other, one)["rougeLsum"]
        assert rouge_lsum(*([words(line) for line in side.split("\n")] for side in (one, other))) == expected

    def test_precision_and_recall_equal_rouge_score(self):
        one, other = "the cat sat on the mat today", "a cat was on the mat"
        expected = self.SCORER.score(other, one)
        a, b = words(one), words(other)
        assert (rouge_n(a, b, 1), rouge_n(a, b, 2), rouge_l(a, b)) == tuple(expected.values())

    @pytest.mark.slow
    def test_long_texts_are_exact(self):
        rng = np.random.default_rng(0)
        one, other = ([f"w{number}" for number in rng.integers(0, 300, 2000)] for _ in range(2))
        expected = RougeScorer(["rougeL"]).score(" ".join(other), " ".join(one))["rougeL"].fmeasure
        assert rouge_f1(one, other)[2] == expected


class TestScore:
    @pytest.mark.slow
    @settings(max_examples=examples(40))
    @given(text=some_text)
    def test_identity_is_one(self, sss, text):
        result = sss.score([text], [text])
        assert result["sss"] == pytest.approx([1.0], abs=1e-6)
        assert result["sss_l2"] == pytest.approx([0.0], abs=1e-5)

    @pytest.mark.slow
    @settings(max_examples=examples(40))
    @given(one=some_text, other=some_text)
    def test_symmetric_within_range_and_the_product_of_its_parts(self, sss, one, other):
        found, swapped = sss.score([one], [other]), sss.score([other], [one])
        for key in KEYS:
            assert type(found[key][0]) is float and math.isfinite(found[key][0])
            assert found[key] == pytest.approx(swapped[key], abs=1e-6)
        assert -1 <= found["sss"][0] <= 1 and -1 <= found["sss_cosine"][0] <= 1
        assert 0 <= found["sss_rouge"][0] <= 1 and 0 <= found["sss_frequency_ratio"][0] <= 1
        assert found["sss_l2"][0] >= 0
        parts = [found[key][0] for key in ("sss_cosine", "sss_rouge", "sss_l2", "sss_frequency_ratio")]
        assert found["sss"][0] == pytest.approx(combine(*parts))

    def test_algorithm_2_plainly(self, sss):
        """The oracle: sentence-transformers and rouge-score, one pair at a time."""
        from sentence_transformers import SentenceTransformer

        from metrics._shared.backends import EMBEDDED, folder_of

        model = SentenceTransformer(modules=list(SentenceTransformer(folder_of(EMBEDDED)))[:2], device="cpu")
        pairs = [("The bridge closed after a storm.", SENTENCES["English"]), ("the the cat", "a cat sat on the mat")]
        for candidate, reference in pairs:
            c, r = model.encode(candidate), model.encode(reference)
            rouge = TestRouge.SCORER.score(reference, candidate)
            share = [len(set(words(text))) / len(words(text)) for text in (candidate, reference)]
            expected = (
                float(c @ r / np.linalg.norm(c) / np.linalg.norm(r))
                * sum(score.fmeasure for score in rouge.values())
                / 3
                * min(share)
                / max(share)
                / math.sqrt(np.linalg.norm(c - r) + 1)
            )
            assert sss.score([candidate], [reference])["sss"] == pytest.approx([expected], abs=1e-5)

    @pytest.mark.parametrize("blank", ["", " \n\t", "\u200f\u200b"])
    def test_blank_texts(self, sss, blank):
        assert sss.score([blank], [" "]) == {
            "sss": [1.0],
            "sss_cosine": [1.0],
            "sss_rouge": [1.0],
            "sss_l2": [0.0],
            "sss_frequency_ratio": [1.0],
        }
        for pair in [(blank, "word"), ("word", blank)]:
            result = sss.score([pair[0]], [pair[1]])
            assert [result[key][0] for key in KEYS if key != "sss_l2"] == [0.0] * 4
            assert result["sss_l2"][0] > 0  # a blank text is the zero vector

    def test_texts_without_words_are_all_or_nothing(self, sss):
        result = sss.score(["!?", "🌧️", "! ?", "!?"], ["!?", "🌉", "!?", "word"])
        assert result["sss"][0] == pytest.approx(1) and result["sss"][1:] == [0.0, 0.0, 0.0]

    def test_one_word(self, sss):
        """Neither text has two words, so ROUGE-2 says nothing and is left out."""
        result = sss.score(["Bridge", "bridge", "bridge"], ["bridge.", "river", "old bridge"])
        assert result["sss_rouge"] == pytest.approx([1.0, 0.0, (2 / 3 + 0 + 2 / 3) / 3])

    def test_several_references_are_averaged_or_the_best_one_counts(self, sss):
        references = ["Trains were late.", "The old bridge closed after a storm.", "A storm closed it."]
        alone = sss.score([SENTENCES["English"]] * 3, references)
        mean = sss.score([SENTENCES["English"]], [references])
        assert mean == {key: [pytest.approx(sum(alone[key]) / 3)] for key in KEYS}
        assert mean == sss.score([SENTENCES["English"]], [references[::-1]])  # to the last bit
        best, row = (
            sss.score([SENTENCES["English"]], [references], multi_reference="best"),
            int(np.argmax(alone["sss"])),
        )
        assert row == 1 and best == {key: [pytest.approx(alone[key][row])] for key in KEYS}
        assert sss.score(["a b"], [["a b", "a b"]])["sss"] == [pytest.approx(1)]  # equal references: no nan
        assert sss.score(["", ""], [["x", ""], ["x", "y"]])["sss"] == [0.5, 0.0]
        assert sss.score(["", ""], [["x", ""], ["x", "y"]], multi_reference="best")["sss"] == [1.0, 0.0]

    def test_the_measure_of_rouge(self, sss):
        """a b c d against a b x: ROUGE-1 2/4 and 2/3, ROUGE-2 1/3 and 1/2, ROUGE-L 2/4 and 2/3."""
        found = {
            measure: sss.score(["a b c d"], ["a b x"], rouge_measure=measure)["sss_rouge"][0]
            for measure in ("precision", "recall", "f1")
        }
        assert found["precision"] == pytest.approx((2 / 4 + 1 / 3 + 2 / 4) / 3)
        assert found["recall"] == pytest.approx((2 / 3 + 1 / 2 + 2 / 3) / 3)
        assert found["f1"] == pytest.approx((4 / 7 + 2 / 5 + 4 / 7) / 3)
        assert "rouge_measure:recall" in sss.signature(rouge_measure="recall")
        assert "multi_reference:mean" in sss.signature()

    @pytest.mark.thorough
    @pytest.mark.slow
    def test_batch_size_order_neighbours_and_cache_do_not_matter(self, sss):
        texts = [*SENTENCES.values(), "", "word " * 600, "the old bridge", "!"]
        pairs = [(one, other) for one in texts for other in texts[::3]]
        alone = [sss.score([one], [other], cache_bytes=0, batch_size=1) for one, other in pairs[:20]]
        rng = np.random.default_rng(0)
        for batch_size in (1, 7, 64):
            for cache_bytes in (0, 2**28, 2**28):
                order = rng.permutation(len(pairs))
                result = sss.score(
                    [pairs[number][0] for number in order],
                    [pairs[number][1] for number in order],
                    batch_size=batch_size,
                    cache_bytes=cache_bytes,
                )
                place = np.argsort(order)
                for key in KEYS:
                    found = np.array(result[key])[place]
                    assert found[:20].tolist() == pytest.approx([row[key][0] for row in alone], abs=1e-5)

    def test_options_change_what_they_name(self, sss):
        pair = ["She was running"], ["She runs"]
        assert sss.score(*pair, use_stemmer=True)["sss_rouge"] > sss.score(*pair)["sss_rouge"]
        pair = ["مدرسة احمد"], ["مدرسه أحمد"]
        assert sss.score(*pair)["sss_rouge"] == [1.0]
        assert sss.score(*pair, fold_arabic=False)["sss_rouge"] == [0.0]

    def test_stemmer_is_for_english(self, sss):
        with pytest.raises(ValueError, match=r"English only.*lang='ar'"):
            sss.compute(predictions=["a"], references=["a"], use_stemmer=True, lang="ar")


class TestExplain:
    def test_parts_words_and_windows(self, sss):
        references = ["Trains were late.", "the old bridge closed"]
        result = sss.explain("The OLD bridge is closed, closed", references)
        assert result["best_reference"] == 1 and result["windows"] == 1
        other, best = result["references"]
        assert best["shared"] == ["the", "old", "bridge", "closed"]
        assert best["only_in_prediction"] == ["is"] and best["only_in_reference"] == []
        assert other["shared"] == [] and other["only_in_reference"] == ["trains", "were", "late"]
        scores = sss.score(["The OLD bridge is closed, closed"], [references], multi_reference="best")
        assert {key: [best[key]] for key in KEYS} == {key: pytest.approx(scores[key]) for key in KEYS}

    def test_windows_of_long_and_blank_texts(self, sss):
        result = sss.explain("word " * 600, ["", "short"])
        assert result["windows"] == 3 and [row["windows"] for row in result["references"]] == [0, 1]
        assert sss.explain("", "")["references"][0]["sss"] == 1.0

    def test_report_options_are_refused(self, sss):
        for name in ("use_aggregator", "confidence", "return_signature"):
            with pytest.raises(TypeError, match=f"{name} is an option of compute"):
                sss.explain("a", "b", **{name: None})
