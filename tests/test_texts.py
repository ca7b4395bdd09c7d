"""Words and sentences, in any language."""

import sys
import unicodedata

import pytest
from conftest import SENTENCES, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.tokenizers import DefaultTokenizer

from metrics._shared import texts
from metrics._shared.texts import (
    APOSTROPHES,
    DASHES,
    MAX_SENTENCE,
    compose,
    is_blank,
    normalise,
    sentences,
    unify,
    without_format,
    word_spans,
    words,
)

ascii_text = st.text(st.characters(max_codepoint=127), max_size=80)
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
multilingual = st.lists(st.sampled_from([*SENTENCES.values(), " ", "\n", "a", "\u0301", "\u200f", "«", "“", ". "])).map(
    "".join
)


def visible(text: str) -> str:
    return "".join(character for character in text if not is_blank(character))


class TestWords:
    @given(ascii_text)
    def test_ascii_has_a_shorter_way_to_the_same(self, text):
        assert words(text) == words(f"{text} é")[:-1] == texts._WORD.findall(texts.normalise(text))

    @given(ascii_text)
    @settings(max_examples=examples(1000))
    def test_equal_to_rouge_score_on_ascii(self, text):
        assert words(text) == DefaultTokenizer().tokenize(text)

    @given(
        st.lists(st.sampled_from(["running", "Runs", "flies", "a-bout", "12s", "relational", "the", "?"])).map(" ".join)
    )
    def test_stemmer_equal_to_rouge_score(self, text):
        assert words(text, use_stemmer=True) == DefaultTokenizer(use_stemmer=True).tokenize(text)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),  # combining marks stay with their letters
            ("今天天气很好", list("今天天气很好")),
            ("コーヒーを飲む", ["コ", "ー", "ヒ", "ー", "を", "飲", "む"]),
            ("東京Tower2020年", ["東", "京", "tower2020", "年"]),
            ("กินข้าว", ["กิ", "น", "ข้", "า", "ว"]),  # a Thai mark belongs to its consonant
            ("тест тест привет", ["тест", "тест", "привет"]),
            ("안녕 세계", ["안녕", "세계"]),
            ("don't stop", ["don", "t", "stop"]),
            ("Straße STRASSE", ["strasse", "strasse"]),
            ("ﬁne ＡＢＣ", ["fine", "abc"]),
            ("🌉!", []),
            ("\u200fمرحبا\u200e", ["مرحبا"]),
        ],
    )
    def test_scripts(self, text, expected):
        assert words(text) == expected

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("مَدْرَسَةٌ", "مدرسة"),  # tashkeel
            ("مـــدرسة", "مدرسة"),  # tatweel
            ("أحمد إلى آخر ٱلكتاب", "احمد الى اخر الكتاب"),  # alif with hamza, madda, wasla
            ("مستشفى", "مستشفي"),  # alif maqsura
            ("مدرسة", "مدرسه"),  # ta marbuta
        ],
    )
    def test_arabic_folding(self, one, other):
        assert words(one) == words(other)
        assert words(one, fold_arabic=False) != words(other, fold_arabic=False)

    def test_folding_leaves_other_scripts_alone(self):
        for name, text in SENTENCES.items():
            if name != "Arabic":
                assert words(text) == words(text, fold_arabic=False)

    @given(multilingual)
    def test_equal_for_composed_and_decomposed(self, text):
        assert words(unicodedata.normalize("NFC", text)) == words(unicodedata.normalize("NFD", text))

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("the old har\u00adbour", "the old harbour"),  # wink-nlp#133
            ("සත්‍ය", "සත්ය"),  # sinling#10: the joiner is no border
            ("می‌روم", "میروم"),  # Persian: one word, as it is one
            ("a\u2060b \ufeffc\u200e", "ab c"),
            ("Tomʼs rock´n`roll", "Tom's rock'n'roll"),
            ("ŉ", "'n"),
        ],
    )
    def test_format_characters_and_apostrophes(self, one, other):
        assert words(one) == words(other)

    def test_two_words_with_a_joiner_share_none(self):
        assert not set(words("සත්‍ය")) & set(words("වාක්‍ය"))

    @given(any_text | multilingual, st.booleans())
    def test_spans_are_the_words_in_their_places(self, text, fold_arabic):
        found = word_spans(text, fold_arabic)
        assert [word for word, _, _ in found] == words(text, fold_arabic)
        end = 0
        for word, start, stop in found:
            assert end <= stop and start < stop <= len(text) and word in "".join(words(text[start:stop], fold_arabic))
            end = stop

    def test_spans_of_stems(self):
        assert word_spans("Runners run", use_stemmer=True) == [("runner", 0, 7), ("run", 8, 11)]

    @given(any_text)
    def test_unified_text_has_no_format_and_single_spaces(self, text):
        unified, places = unify(text)
        assert unify(unified)[0] == unified == without_format(unified) and "  " not in unified
        if places is None:
            assert len(unified) == len(text)
        else:
            kept = [text[places[place]] for place in range(len(unified))]
            assert [unify(c)[0] or " " for c in kept] == list(unified)  # the first of a gap may be a format character

    def test_marks_are_all_that_unicode_calls_so(self):
        dashes = {chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Pd"}
        assert dashes - {"-"} <= set(DASHES) and not set(APOSTROPHES) & set(DASHES)
        assert len(set(APOSTROPHES)) == len(APOSTROPHES) and len(set(DASHES)) == len(DASHES)

    @given(
        st.text(st.sampled_from("ae\u0301\u0323\u0308\u1100\u1161ﬁ한"), max_size=40), st.sampled_from(["NFC", "NFKC"])
    )
    def test_composing_is_unicodes(self, text, form):
        assert compose(text, form) == unicodedata.normalize(form, text)

    def test_long_runs_of_marks_are_taken_in_parts(self):
        text = "e" + "\u0301\u0323" * 20_000 + "e\u0301"
        assert compose(text)[0] == "ẹ" and compose(text).endswith("é")

    @given(any_text)
    def test_idempotent_and_blank_has_none(self, text):
        assert words(" ".join(words(text))) == words(text)
        assert normalise(normalise(text)) == normalise(text)
        if is_blank(text):
            assert words(text) == []


class TestSentences:
    @pytest.mark.parametrize(
        ("text", "lang", "expected"),
        [
            ("Dr. House calls. Wilson comes.", "en", ["Dr. House calls.", "Wilson comes."]),
            ("He left at 5 p.m. on Jan. 5. She stayed.", "en", ["He left at 5 p.m. on Jan. 5.", "She stayed."]),
            ("أكل سامي تفاحة. ذهب علي؟ نعم!", "ar", ["أكل سامي تفاحة.", "ذهب علي؟", "نعم!"]),
            ("यह एक है। वह दो है।", "hi", ["यह एक है।", "वह दो है।"]),
            ("今天天气很好。我们去吧！好吗？", "zh", ["今天天气很好。", "我们去吧！", "好吗？"]),
            ("Мост закрыт. Когда откроют?", "ru", ["Мост закрыт.", "Когда откроют?"]),
            ("", "en", []),
            (" \n\t\u200f\n", "en", []),
            ("🌧️", "en", ["🌧"]),  # without the selector of its form
        ],
    )
    def test_languages(self, text, lang, expected):
        assert sentences(text, lang) == expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("the man left . he came back . he slept .", ["the man left .", "he came back .", "he slept ."]),
            ("what ! he said . ” then", ["what !", "he said . ”", "then"]),
            ("`` yes '' . '' he went", ["`` yes '' . ''", "he went"]),
            ("it rained . . . and rained", ["it rained . . . and rained"]),
            ("أكل تفاحة . ذهب علي ؟ نعم", ["أكل تفاحة .", "ذهب علي ؟", "نعم"]),
        ],
    )
    def test_tokenised_text_with_spaces_before_the_end(self, text, expected):
        assert sentences(text) == expected

    def test_lines_and_list_markers(self):
        text = "Heading\n- one thing\n* another\n2. third. And more.\n(a) fourth\n\nA. Smith went home"
        expected = ["Heading", "one thing", "another", "third.", "And more.", "fourth", "A. Smith went home"]
        assert sentences(text) == expected

    def test_hard_wrapped_text(self):
        text = "This sentence is\nwrapped. So is\nthis.\n\nNew paragraph"
        assert sentences(text, split_lines=False) == ["This sentence is wrapped.", "So is this.", "New paragraph"]

    def test_a_stretch_over_the_limit_is_cut_at_unicode_ends(self):
        clause = "and so it went on … " * 20  # sentencex sees no end before a small letter
        found = sentences(clause * 5)
        assert len(found) == 100 and max(map(len, found)) < MAX_SENTENCE

    def test_a_long_sentence_is_not_cut_inside_a_word(self):
        text = " ".join(f"word{number}" for number in range(2000))
        found = sentences(text)
        assert " ".join(found) == text

    @given(multilingual, st.sampled_from(["en", "ar", "hi", "zh"]))
    def test_nothing_visible_is_lost(self, text, lang):
        found = sentences(text, lang, split_lines=False)
        assert visible("".join(found)) == visible(text)
        assert not any(is_blank(sentence) for sentence in found)

    @given(st.integers(1, 60), st.integers(20, 300))
    @settings(max_examples=examples(20))
    def test_blocks_change_nothing(self, count, length):
        """A text longer than a block is cut as its sentences are."""
        expected = [f"Sentence {number} {'x' * length}." for number in range(count)]
        assert sentences(" ".join(expected)) == expected

    def test_own_splitter(self):
        assert sentences("a|b| |c", splitter=lambda text: text.split("|")) == ["a", "b", "c"]
        assert sentences("a b", splitter=lambda text: (word for word in text.split())) == ["a", "b"]

    @pytest.mark.parametrize("result", ["one string", ["a", None], [1]])
    def test_own_splitter_must_return_strings(self, result):
        with pytest.raises(TypeError, match="list of strings"):
            sentences("a", splitter=lambda text: result)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u00a0\u3000", "\u200b\u200f\ufeff", "\0"])
def test_blank(text):
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", ".", "🌧️", "ـ", "\u0301"])
def test_not_blank(text):
    assert not is_blank(text)
