"""What a summary copied, what is new in it, what it repeats: by hand, against a plain loop, in any script."""

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_summaries.extractive import Source, coverage_and_density, repeated
from eval_summaries.inputs import Example
from eval_summaries.stats import Stats

few_words = st.lists(st.sampled_from("abc"), max_size=14)
nan = pytest.approx(math.nan, nan_ok=True)


def figure_4(document, summary):
    """The oracle: the paper's procedure, a step at a time, without an index."""
    found, i = [], 0
    while i < len(summary):
        fragment, j = 0, 0
        while j < len(document):
            length = 0
            while (
                i + length < len(summary) and j + length < len(document) and summary[i + length] == document[j + length]
            ):
                length += 1
            fragment = max(fragment, length)
            j += max(length, 1)
        if fragment:
            found.append(fragment)
        i += max(fragment, 1)
    return found


class TestFragments:
    @given(few_words, few_words)
    def test_equal_the_papers_procedure(self, document, summary):
        found = Source([document]).fragments(summary)
        assert found == figure_4(document, summary)
        coverage, density = coverage_and_density(found, len(summary))
        assert not summary or (0 <= coverage <= min(1, density) and density <= len(summary))

    def test_the_scan_goes_on_behind_a_match(self):
        """By hand: "a a" is met first, and the "a a b" that begins within it is passed over; then b."""
        assert Source(["aaab"]).fragments("aab") == [2, 1] == figure_4("aaab", "aab")
        assert Source(["aaaab"]).fragments("aab") == [3]  # behind "a a" stands the whole

    def test_no_fragment_goes_over_the_border_of_two_documents(self):
        assert Source(["ab", "cd"]).fragments("abcd") == [2, 2]
        assert Source(["abcd"]).fragments("abcd") == [4]
        assert Source(["ab", "cd"]).novel("abcd") == [0, 1 / 3, 1]

    def test_nothing_to_compare(self):
        assert Source([]).fragments("ab") == Source([[], []]).fragments("ab") == Source(["ab"]).fragments("") == []
        assert coverage_and_density([], 0) == (nan, nan) and coverage_and_density([], 2) == (0, 0)

    @pytest.mark.parametrize(
        ("document", "summary"),
        [
            (["a"] * 20_000, ["a"] * 500),
            (["a"] * 20_000, [word for n in range(250) for word in ("a", str(n))]),
            (["a"] * 20_000 + [str(n) for n in range(200)], [w for n in range(166) for w in ("a", "a", str(n))]),
            (["a", "x"] * 10_000 + list("aaab"), list("aab") * 166),
            ((["a"] * 50 + ["b"]) * 392, (["a"] * 51 + ["c"]) * 10),
        ],
    )
    def test_repetition_takes_no_time(self, document, summary):
        started = time.process_time()
        source = Source([document])
        source.fragments(summary)
        source.novel(summary)
        assert time.process_time() - started < 2  # measured: 0.1 to 0.5 s


class TestGrams:
    @given(few_words, few_words)
    def test_novel_ones_equal_sets(self, document, summary):
        for size, share in zip((1, 2, 3), Source([document]).novel(summary), strict=True):
            ours, theirs = (
                {tuple(text[n : n + size]) for n in range(len(text) - size + 1)} for text in (summary, document)
            )
            assert share == (pytest.approx(len(ours - theirs) / len(ours)) if ours else nan)

    def test_words_that_no_document_has_differ_from_each_other(self):
        assert Source(["ab"]).novel("axyx") == [2 / 3, 1, 1]

    @pytest.mark.parametrize(("summary", "share"), [("abcabc", 1 / 4), ("aaaa", 1 / 2), ("abc", 0), ("ab", nan)])
    def test_repeated_ones_by_hand(self, summary, share):
        assert repeated(summary, 3) == share


KEYS = [
    *("words", "sentences", "coverage", "density", "novel_1grams", "novel_2grams", "novel_3grams", "repeated_3grams"),
    *("unsupported_numbers", "unsupported_names"),
]


def columns(summary, *documents):
    """The columns of one example, in the order of KEYS."""
    stats = Stats("stats", {})
    example = Example("1", "s", summary, documents=list(documents))
    stats.start([example])
    found = stats.score([example])
    return [found[f"stats_{key}"][0] for key in KEYS]


class TestColumns:
    def test_by_hand(self):
        # fragments: by dawn the, town was under, water: 7 of 12 words, 9 + 9 + 1; new: 3, metres, of, in, kyiv;
        # of 11 pairs by dawn, dawn the, town was, was under are known; of 10 triples by dawn the, town was under
        found = columns(
            "By dawn the town was under 3 metres of water in Kyiv.",
            "The river rose all night. By dawn the old town was under water.",
        )
        assert found == pytest.approx([12, 1, 7 / 12, 19 / 12, 5 / 12, 7 / 11, 8 / 10, 0, 1, 1])

    @pytest.mark.parametrize(
        ("summary", "document", "expected"),
        [
            # Arabic: 1000 in its own digits is known, 20 is not; وعشرون is no digit. No capitals: names undefined
            ("غرق 1000 بيت و٢٠ مدرسة", "غرق ١٬٠٠٠ بيت.", [5, 1, 2 / 5, 2 / 5, 3 / 5, 1, 1, 0, 1, nan]),
            # Hindi: the same number in other digits is another word, and no unsupported number
            ("बाढ़ में १२ लोग मरे", "बाढ़ में 12 लोग मरे।", [5, 1, 4 / 5, 8 / 5, 1 / 5, 1 / 2, 1, 0, 0, nan]),
            # Chinese: a word is a character
            ("天气很好。天气很好。", "今天天气很好。", [8, 2, 1, 4, 0, 1 / 4, 1 / 2, 2 / 6, 0, nan]),
            # Russian: В Казани is a name that the document lacks
            (
                "В Казани река вышла из берегов.",
                "Река вышла из берегов.",
                [6, 1, 4 / 6, 16 / 6, 2 / 6, 2 / 5, 2 / 4, 0, 0, 1],
            ),
            ("😀 🎉", "😀 🎉", [0, 1, nan, nan, nan, nan, nan, nan, 0, 0]),
            ("", "Snow fell.", [0, 0, nan, nan, nan, nan, nan, nan, 0, 0]),
            (" \u200f", "Snow fell.", [0, 0, nan, nan, nan, nan, nan, nan, 0, 0]),
            ("Two words", "", [2, 1, 0, 0, 1, 1, nan, nan, 0, 0]),
            ("On 5 May, NATO met.", " ", [5, 1, 0, 0, 1, 1, 1, 0, 1, 2]),
        ],
    )
    def test_any_script_and_what_is_undefined(self, summary, document, expected):
        assert columns(summary, document) == pytest.approx(expected, nan_ok=True)

    def test_documents_are_one_source_of_numbers_and_names(self):
        assert columns("Ada and Bob ate 3 or 4.", "Ada ate 3.", "Bob ate 4.")[-2:] == [0, 0]

    @given(st.text(max_size=60))
    def test_a_text_supports_itself(self, text):
        found = dict(zip(KEYS, columns(text, text), strict=True))
        assert found["unsupported_numbers"] == 0 and found["unsupported_names"] in (0, nan)
        if found["words"]:
            assert found["coverage"] == 1 and found["novel_1grams"] == 0
