"""Companion measures: values, other languages, what does not apply."""

import numpy as np
import pandas as pd
import pytest
from conftest import examples as how_many
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from eval_summaries import stats as stats_module
from eval_summaries.inputs import Example
from eval_summaries.rows import UnusableError
from eval_summaries.stats import Stats

words = st.lists(st.sampled_from(["a", "b", "c", "القطار", "天"]), min_size=1, max_size=12).map(" ".join)


@settings(max_examples=how_many(100))
@given(words, words)
def test_tfidf_cosine_as_scikit_learn_has_it(summary, document):
    vectors = TfidfVectorizer(tokenizer=str.split, token_pattern=None, ngram_range=(1, 3))
    one, other = vectors.fit_transform([summary, document]).toarray()
    assert stats_module.tfidf_cosine(summary, document) == pytest.approx(one @ other, abs=1e-12)


class TestStats:
    def scores(self, pairs, **options):
        examples = [Example(str(n), "s", summary, documents=[document]) for n, (summary, document) in enumerate(pairs)]
        stats = Stats("stats", options)
        stats.start(examples)
        return pd.DataFrame(stats.score(examples))

    DOCUMENTS = [
        "The river rose all night. By dawn the old town was under water.",
        "A museum opened its new wing with paintings from Spain and Peru.",
        "Trains were late because of snow in the mountains near the lake.",
    ]

    def test_values(self):
        summaries = ["By dawn the twon was under water.", "Paintings from Spain.", "Trains were late."]
        found = self.scores(list(zip(summaries, self.DOCUMENTS, strict=True)))
        assert found["stats_spelling_errors"].tolist() == pytest.approx([1 / 6, 0, 0])  # By is capitalised; twon
        assert found["stats_compression"].tolist() == pytest.approx([63 / 33, 64 / 21, 64 / 17], abs=0.01)
        vectors = TfidfVectorizer(ngram_range=(1, 3), token_pattern=r"\w+").fit_transform(
            [summaries[1], self.DOCUMENTS[1]]
        )
        assert found["stats_tfidf_cosine"][1] == pytest.approx((vectors[0] @ vectors[1].T).toarray()[0, 0])
        # Flesch-Kincaid by hand: one sentence of three words; Paintings has 2 syllables, from 1, Spain 1
        assert found["stats_flesch_kincaid"][1] == pytest.approx(0.39 * 3 + 11.8 * 4 / 3 - 15.59, abs=0.01)
        assert found["stats_gunning_fog"][1] == pytest.approx(0.4 * 3, abs=0.01)
        assert found["stats_topic_similarity"].between(0.8, 1 + 1e-9).all()
        crossed = self.scores(list(zip(summaries, self.DOCUMENTS[1:] + self.DOCUMENTS[:1], strict=True)))
        assert (crossed["stats_topic_similarity"] < found["stats_topic_similarity"]).all()

    @pytest.mark.parametrize("model", ["nmf", "lda", "lsa"])
    def test_topics_repeat_and_do_not_depend_on_neighbours(self, model):
        distance = "cosine" if model == "lsa" else "jensen-shannon"
        pairs = [(document.split(".")[0], document) for document in self.DOCUMENTS]
        options = {"topic_model": model, "topic_distance": distance}
        assert self.scores(pairs, **options).equals(self.scores(pairs, **options))

    @pytest.mark.parametrize("summary", ["", " \n", "!?", "القطار تأخر", "今天天气很好"])
    def test_what_does_not_apply_is_empty_and_never_made_up(self, summary):
        for options in ({}, {"topic_model": "lda"}):
            found = self.scores([(summary, self.DOCUMENTS[0]), ("Snow.", self.DOCUMENTS[2])], **options).loc[0]
            for key in ("stats_topic_similarity", "stats_flesch_kincaid", "stats_gunning_fog", "stats_spelling_errors"):
                assert np.isnan(found[key])
            assert np.isnan(found["stats_compression"]) == (not summary.strip())
            assert np.isnan(found["stats_tfidf_cosine"]) or found["stats_tfidf_cosine"] == 0

    def test_other_languages(self):
        found = self.scores([("القطار تأخر كثيرا", "القطار تأخر كثيرا في الجبال")], lang="ar").loc[0]
        assert 0 <= found["stats_spelling_errors"] <= 1 and np.isnan(found["stats_flesch_kincaid"])
        assert found["stats_tfidf_cosine"] > 0.3
        assert np.isnan(self.scores([("a b c", "a b c")], lang="xx").loc[0, "stats_spelling_errors"])

    def test_topics_of_many_documents_are_learned_from_a_sample(self, monkeypatch):
        """The same whatever the order and the systems, and said by the signature; of fewer nothing is said."""
        documents = [f"The {word} rose over the town of {word}. Day {n}." for n in range(8) for word in ("sun", "ice")]

        def learned(documents):
            stats = Stats("stats", {"topics": 2})
            stats.start([Example(str(n), "s", "The sun.", documents=[text]) for n, text in enumerate(documents)])
            return stats.signature, stats.topics("The sun rose.", "Sun over the town.")

        whole = learned(documents)
        assert "topics_sample" not in whole[0] and learned(documents[::-1]) == whole
        monkeypatch.setattr(stats_module, "SAMPLE", 5)
        drawn = learned(documents)
        assert "|topics_sample:5|" in drawn[0] and drawn[0] != whole[0]
        assert learned(documents[::-1] * 2) == drawn
        chosen, more = stats_module.sample(documents, 5)
        assert more and len(chosen) == 5 and {*chosen} < {*documents} and chosen == sorted(chosen)
        assert learned(chosen)[1] == drawn[1]
        assert stats_module.sample(documents, 16) == (sorted(documents), False)

    def test_too_few_words_have_no_topics(self):
        """litstudy#65, Top2Vec#266: fewer words than topics."""
        for words in (["snow"] * 3, ["snow", "snow", "ice"]):
            for model in ("nmf", "lda"):
                found = self.scores([("snow", word) for word in words], topic_model=model)["stats_topic_similarity"]
                assert found.isna().all() == (len(set(words)) == 1) and found.dropna().between(0, 1 + 1e-9).all()

    def test_what_nobody_sees_changes_nothing(self):
        pairs = list(zip(["By dawn the town was wet.", "Paintings.", "Late."], self.DOCUMENTS, strict=True))
        dirty = [tuple(text.replace("a", "\u00ada\u2060") for text in pair) for pair in pairs]
        pd.testing.assert_frame_equal(self.scores(pairs), self.scores(dirty))

    def test_options_that_do_not_go_together(self):
        with pytest.raises(UnusableError, match=r"stats.topic_distance=cosine"):
            self.scores([("a", "b")], topic_model="lsa")
