"""Baselines without a model, and the lengths of summaries: answers by hand, and what holds for every text."""

import pytest
from conftest import SENTENCES, examples
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_summaries.shared import texts
from summarizers.extractive import by_frequency, lead, shuffled, stop_words
from summarizers.lengths import Length, choose, extract, write

DOCUMENT = ["The river rose.", "It rained.", "The old bridge over the river was closed.", "Schools stayed open."]
LENGTHS = st.one_of(
    st.builds(Length, sentences=st.integers(1, 9)),
    st.builds(Length, words=st.integers(1, 30)),
    st.builds(Length, ratio=st.floats(0.01, 1)),
)
TEXTS = st.lists(st.text("ab .!今ن", min_size=1, max_size=30), min_size=1, max_size=8)


class TestLength:
    def test_of_sentences_words_and_shares(self):
        order = [2, 0, 1, 3]
        assert choose(order, DOCUMENT, Length()) == [0, 1, 2]
        assert choose(order, DOCUMENT, Length(sentences=1)) == [2]
        assert choose(order, DOCUMENT, Length(sentences=9)) == [0, 1, 2, 3]
        assert choose(order, DOCUMENT, Length(ratio=0.5)) == [0, 2]
        assert choose(order, DOCUMENT, Length(ratio=0.01)) == [2]
        assert choose(order, DOCUMENT, Length(words=11)) == [0, 2]  # 8 and 3
        assert choose(order, DOCUMENT, Length(words=10)) == [1, 2]  # the next that fits
        assert choose(order, DOCUMENT, Length(words=10), pass_over=False) == [2]

    def test_a_half_is_rounded_up(self):
        assert [Length(ratio=0.5).count(["a"] * size) for size in (1, 2, 3, 4, 5)] == [1, 1, 2, 2, 3]

    def test_a_sentence_that_is_too_long_alone_is_cut(self):
        assert extract([2], DOCUMENT, Length(words=3)) == "The old bridge"
        assert extract([0, 1], DOCUMENT, Length(words=1)) == "The"
        assert extract([0], ["暴风雨过后，旧桥关闭了。"], Length(words=6)) == "暴风雨过后，旧"

    def test_a_trigram_blocks(self):
        twice = ["Amy met Raj today.", "Amy met Raj again.", "Penny slept."]
        assert choose([0, 1, 2], twice, Length(sentences=2)) == [0, 1]
        assert choose([0, 1, 2], twice, Length(sentences=2), block_trigrams=True) == [0, 2]

    @pytest.mark.parametrize(
        "given, said",
        [
            ({"sentences": 0}, "--sentences 0: give 1 or more"),
            ({"words": -1}, "--words -1"),
            ({"ratio": 1.5}, "--ratio 1.5"),
            ({"ratio": float("nan")}, "--ratio nan"),
            ({"words": 3, "ratio": 0.2}, "--words and --ratio both limit"),
        ],
    )
    def test_what_is_no_length(self, given, said):
        with pytest.raises(ValueError, match=said):
            Length(**given)

    @given(TEXTS, LENGTHS, st.randoms(), st.booleans(), st.booleans())
    @settings(max_examples=examples(200))
    def test_keeps_the_limit_and_the_order_of_the_document(self, sentences, length, random, pass_over, blocked):
        order = list(range(len(sentences)))
        random.shuffle(order)
        chosen = choose(order, sentences, length, pass_over, blocked)
        summary = write(chosen, sentences, length)
        assert chosen == sorted(set(chosen)) and order[0] in chosen
        if length.words:
            assert len(texts.words(summary)) <= length.words
        else:
            assert len(chosen) <= length.count(sentences)
            assert blocked or len(chosen) == length.count(sentences)


class TestExtractive:
    def test_lead(self):
        assert extract(lead(DOCUMENT), DOCUMENT, Length(sentences=2)) == "The river rose.\nIt rained."

    def test_random_depends_on_seed_and_document_alone(self):
        orders = {tuple(shuffled(DOCUMENT, seed)) for seed in range(20)}
        assert len(orders) > 5 and all(sorted(order) == [0, 1, 2, 3] for order in orders)
        assert shuffled(DOCUMENT, 3) == shuffled(list(DOCUMENT), 3)

    def test_bag_of_words_by_hand(self):
        # river 2, the other words 1 (the: in 2 sentences, no stop word); the 3: means 2, 1, 12 / 8, 1
        assert by_frequency(DOCUMENT) == [0, 2, 1, 3]
        assert by_frequency(["..."]) == [0] and by_frequency([]) == []

    def test_stop_words_are_told_by_frequency_in_any_language(self):
        assert stop_words([["the", "a"], ["the", "b"], ["the", "c"]]) == {"the"}
        assert stop_words([["في", "نهر"], ["في", "جسر"], ["في", "نهر"], ["مطر"], ["ليل"]]) == {"في"}
        assert stop_words([["a"], ["a"]]) == set()
        assert stop_words([["a"], ["a"], ["a"], *[["b"]] * 6]) == {"b"}  # a: 3 of 9 is no more than a third

    @pytest.mark.parametrize("name", SENTENCES)
    def test_any_language(self, name):
        found = texts.sentences(f"{SENTENCES[name]}\n{SENTENCES[name]}\n{SENTENCES['English']}")
        for order in (lead(found), shuffled(found), by_frequency(found)):
            assert sorted(order) == [0, 1, 2]
