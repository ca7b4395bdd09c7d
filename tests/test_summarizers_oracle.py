"""The greedy oracle against a slow and plain one that scores every candidate summary anew."""

import time

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_summaries.shared import rouge, texts
from summarizers.lengths import Length
from summarizers.oracle import LEAST_GAIN, greedy

# few words, so that n-grams repeat within sentences and over their borders; a sentence may have no word at all
SENTENCE = st.lists(st.sampled_from(["a", "b", "c", "今", "نص", "..."]), max_size=6).map(" ".join)


def value(chosen, sentences, references):
    """Mean of ROUGE-1 and -2 F1 of a summary, by the definition."""
    words = [word for number in sorted(chosen) for word in texts.words(sentences[number])]
    found = [rouge.rouge_n(words, texts.words(one), n).f1 for one in references for n in (1, 2)]
    return sum(found) / len(found)


def slow(sentences, references, most, room=10**9):
    chosen, best = [], 0.0
    while len(chosen) < most:
        tried = []
        for number, sentence in enumerate(sentences):
            size = len(texts.words(sentence))
            used = sum(len(texts.words(sentences[one])) for one in chosen)
            if number not in chosen and size and used + size <= room:
                tried.append((value([*chosen, number], sentences, references), -number))
        if not tried or max(tried)[0] <= best + LEAST_GAIN:
            break
        # of values that are equal but for rounding the first sentence
        top = max(tried)[0]
        number = min(-place for found, place in tried if found >= top - LEAST_GAIN / 10)
        best = value([*chosen, number], sentences, references)
        chosen.append(number)
    return chosen


@given(st.lists(SENTENCE, min_size=1, max_size=7), st.lists(SENTENCE, min_size=1, max_size=3), st.integers(1, 7))
@settings(max_examples=examples(300))
def test_takes_what_the_slow_one_takes(sentences, references, most):
    fast, plain = greedy(sentences, references, Length(sentences=most)), slow(sentences, references, most)
    assert len(fast) == len(plain)
    for size in range(1, len(fast) + 1):
        # two orders may differ where sums of floats tie; what they reach may not
        assert value(fast[:size], sentences, references) == pytest.approx(value(plain[:size], sentences, references))


@given(st.lists(SENTENCE, min_size=1, max_size=7), SENTENCE, st.integers(1, 12))
@settings(max_examples=examples(100))
def test_keeps_to_a_limit_of_words(sentences, reference, room):
    fast = greedy(sentences, [reference], Length(words=room))
    assert sum(len(texts.words(sentences[number])) for number in fast) <= room
    plain = slow(sentences, [reference], len(sentences), room)
    assert value(fast, sentences, [reference]) == pytest.approx(value(plain, sentences, [reference]))


def test_by_hand():
    sentences = ["The river rose.", "It rained all night.", "The bridge was closed.", "Dogs slept."]
    reference = ["It rained all night and the bridge was closed."]
    # second: 4 of 9 words, 3 of 8 bigrams; third then adds 4 words and 3 bigrams; the first would only lengthen it
    assert greedy(sentences, reference) == [1, 2]
    assert greedy(sentences, reference, Length(sentences=1)) == [1]
    assert greedy(sentences, ["Nothing of it."]) == [1]  # one word is shared, "it"
    assert greedy(sentences, ["Owls fly."]) == []
    assert greedy([], ["Owls fly."]) == [] == greedy(["!!!", "..."], ["Owls fly."])


def test_several_references_count_by_their_mean():
    sentences = ["Amy met Raj.", "Penny slept late today."]
    assert greedy(sentences, ["Amy met Raj."]) == [0]
    assert greedy(sentences, ["Amy met Raj.", "Penny slept late today.", "Penny slept late today."])[0] == 1


def test_three_hundred_sentences_are_a_matter_of_moments():
    sentences = [" ".join(f"w{(line * 7 + place * place) % 701}" for place in range(25)) for line in range(300)]
    reference = " ".join(word for line in range(0, 300, 12) for word in sentences[line].split()[:15])
    greedy(sentences[:3], [reference])
    start = time.perf_counter()
    found = greedy(sentences, [reference])
    assert time.perf_counter() - start < 3 and len(found) > 10
