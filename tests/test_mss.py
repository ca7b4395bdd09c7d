"""MSS: a plain loop as the oracle, pooled documents, alignment, defined cases, explain."""

import math

import numpy as np
import pytest
from conftest import SENTENCES
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics._shared.backends import EMBEDDED, folder_of
from metrics._shared.texts import sentences, words
from metrics.mss.alignment import lexical_similarity, support_and_coverage

DOCUMENT = (
    "The river rose all night. By dawn the old town was under water. Firemen carried forty people out in boats. "
    "Schools stayed closed on Monday. The mayor asked the army for help. Nobody was hurt. Shops sold out of bread. "
    "The rain is expected to stop on Friday."
)
SUMMARIES = [
    "The old town was flooded by dawn. Forty people were rescued in boats.",
    "Schools stayed closed on Monday.",
    "A new museum opens in May. It shows paintings.",
    DOCUMENT,
]
KEYS = ["mss", "mss_compression", "mss_support", "mss_coverage", "mss_f1"]

word_matrix = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def encode():
    """One text at a time through sentence-transformers, unit length, windows not needed here."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(folder_of(EMBEDDED), device="cpu")
    return lambda text: model.encode(text).astype(np.float64)


def plain_mss(encode, summary, documents, strategy="joined", doc=5, own=1, pooling="max", distance="cosine"):
    """The oracle: one chunk after another."""
    pooled = []
    for texts, size in (([summary], own), (documents, doc)):
        vectors = []
        for text in texts:
            found = sentences(text)
            for start in range(0, len(found), size):
                chunk = found[start : start + size]
                for piece in [" ".join(chunk)] if strategy == "joined" else chunk:
                    vector = encode(piece)
                    vectors.append(vector / np.linalg.norm(vector))
        result = vectors[0]
        for vector in vectors[1:]:
            result = np.maximum(result, vector) if pooling == "max" else result + vector
        pooled.append(result if pooling == "max" else result / len(vectors))
    product = float(pooled[0] @ pooled[1])
    return product if distance == "dot" else product / np.linalg.norm(pooled[0]) / np.linalg.norm(pooled[1])


class TestScore:
    @pytest.mark.slow
    @pytest.mark.parametrize("strategy", ["joined", "sentences"])
    @pytest.mark.parametrize(
        "options", [{}, {"doc_chunk_size": 2, "summary_chunk_size": 2}, {"distance": "dot"}, {"pooling": "mean"}]
    )
    def test_equals_a_plain_loop(self, mss, encode, strategy, options):
        short = {"doc_chunk_size": "doc", "summary_chunk_size": "own"}
        plain = {short.get(name, name): value for name, value in options.items()}
        expected = [plain_mss(encode, text, [DOCUMENT], strategy, **plain) for text in SUMMARIES]
        found = mss.score(SUMMARIES, [DOCUMENT] * len(SUMMARIES), strategy=strategy, **options)
        assert found["mss"] == pytest.approx(expected, abs=1e-5)

    def test_pooled_documents_equal_the_union_of_their_chunks(self, mss, encode):
        found = sentences(DOCUMENT)
        parts = [" ".join(found[:5]), " ".join(found[5:])]  # cut where a chunk ends
        whole = mss.score(SUMMARIES, [DOCUMENT] * 4, alignment="hybrid")
        pooled = mss.score(SUMMARIES, [parts] * 4, alignment="hybrid")
        for key in KEYS:
            tolerance = 0.05 if key == "mss_compression" else 1e-6  # the space between the two documents is gone
            assert pooled[key] == pytest.approx(whole[key], abs=tolerance)
        reordered = mss.score(SUMMARIES, [[*parts[::-1], "", parts[0]]] * 4)
        assert reordered["mss"] == pytest.approx(whole["mss"], abs=1e-6)  # neither order nor repetition matters
        odd = [" ".join(found[:3]), " ".join(found[3:])]
        assert mss.score(SUMMARIES[:1], [odd])["mss"] == pytest.approx([plain_mss(encode, SUMMARIES[0], odd)], abs=1e-5)

    @pytest.mark.parametrize("language", list(SENTENCES))
    def test_identity_with_equal_chunks_is_one(self, mss, language):
        text = SENTENCES[language]
        result = mss.score([text], [text], doc_chunk_size=1, alignment="semantic")
        assert [result[key][0] for key in KEYS] == pytest.approx([1.0] * 5)

    def test_related_above_unrelated(self, mss):
        result = mss.score(SUMMARIES, [DOCUMENT] * 4, alignment="hybrid")
        for key in ("mss", "mss_support", "mss_coverage", "mss_f1"):
            assert result[key][2] < min(result[key][0], result[key][3])
        assert result["mss_support"][2] < result["mss_support"][1]
        assert result["mss_support"][3] == pytest.approx(1) and result["mss_coverage"][3] == pytest.approx(1)

    def test_an_invented_word_lowers_support(self, mss):
        summaries = ["Schools stayed closed on Monday.", "Schools stayed closed on Doomsday."]
        for alignment in ("lexical", "hybrid"):
            true, invented = mss.score(summaries, [DOCUMENT] * 2, alignment=alignment)["mss_support"]
            assert true == pytest.approx(1) and invented < 0.95

    @pytest.mark.parametrize("blank", ["", " \n", "\u200f"])
    def test_blank_texts(self, mss, blank):
        for pair in [(blank, DOCUMENT), (DOCUMENT, blank), (blank, blank)]:
            result = mss.score([pair[0]], [pair[1]], alignment="hybrid")
            assert [result[key][0] for key in KEYS if key != "mss_compression"] == [0.0] * 4
            assert math.isnan(result["mss_compression"][0])
        assert mss.score([SUMMARIES[0]], [[blank, blank]])["mss"] == [0.0]

    def test_undefined_compression_is_left_out_of_the_mean(self, mss):
        result = mss.compute(predictions=["four", ""], references=["twelve chars", "x"], confidence=0.9)
        assert result["mss_compression"] == result["mss_compression_low"] == 3.0

    def test_compression_folds_white_space(self, mss):
        assert mss.score(["ab  c\n"], [["abcd \n\n e", "fg"]])["mss_compression"] == [(6 + 2) / 4]

    def test_alignment_keys_come_only_with_alignment(self, mss):
        assert list(mss.score(["a"], ["a"])) == KEYS[:2]
        assert list(mss.score(["a"], ["a"], alignment="lexical")) == KEYS

    def test_hybrid_is_the_mean_of_the_two_matrices(self, mss):
        matrices = [
            np.array(mss.explain(SUMMARIES[0], DOCUMENT, alignment=kind)["alignment"])
            for kind in ("hybrid", "semantic", "lexical")
        ]
        np.testing.assert_allclose(matrices[0], (matrices[1] + matrices[2]) / 2, atol=1e-6)

    @pytest.mark.slow
    @settings(max_examples=15)
    @given(
        summary=st.lists(st.sampled_from([*SENTENCES.values(), "Cats sleep.", "\n", "!"]), max_size=5).map(" ".join),
        source=st.lists(st.sampled_from([*SENTENCES.values(), "Dogs bark.", "\n"]), max_size=9).map(" ".join),
        alignment=st.sampled_from(["hybrid", "semantic", "lexical"]),
    )
    def test_ranges(self, mss, summary, source, alignment):
        result = {key: values[0] for key, values in mss.score([summary], [source], alignment=alignment).items()}
        for key in ("mss", "mss_support", "mss_coverage", "mss_f1"):
            assert type(result[key]) is float and -1 <= result[key] <= 1 + 1e-9

    @pytest.mark.thorough
    @pytest.mark.slow
    def test_batch_size_order_neighbours_and_cache_do_not_matter(self, mss):
        summaries = [*SUMMARIES, *SENTENCES.values(), "", "word " * 600]
        sources = [DOCUMENT, "word " * 700 + DOCUMENT, *SENTENCES.values()][: len(summaries)]
        pairs = [(summary, source) for summary in summaries for source in sources[::4]]
        options = {"alignment": "hybrid", "lang": "en"}
        alone = [mss.score([one], [other], cache_bytes=0, batch_size=1, **options) for one, other in pairs]
        rng = np.random.default_rng(0)
        for batch_size in (1, 7, 64):
            for cache_bytes in (0, 2**28, 2**28):
                order = rng.permutation(len(pairs))
                result = mss.score(
                    [pairs[number][0] for number in order],
                    [pairs[number][1] for number in order],
                    batch_size=batch_size,
                    cache_bytes=cache_bytes,
                    **options,
                )
                for key in KEYS:
                    found = np.array(result[key])[np.argsort(order)]
                    np.testing.assert_allclose(found, [row[key][0] for row in alone], atol=1e-5)

    def test_own_splitter_and_lines(self, mss):
        text = "one two\nthree four"
        cut = mss.explain(text, text, splitter=lambda given: given.split(" "))
        assert cut["summary_sentences"] == ["one", "two\nthree", "four"]
        assert mss.explain(text, text)["summary_sentences"] == ["one two", "three four"]
        assert mss.explain(text, text, split_lines=False)["summary_sentences"] == ["one two three four"]
        with pytest.raises(TypeError, match="splitter returned"):
            mss.score(["a"], ["b"], splitter=lambda given: given)


class TestLexical:
    @given(word_matrix, word_matrix)
    def test_equals_the_formula_plainly(self, summary, source):
        """The oracle: dictionaries and loops."""
        n = len(source)
        df = {word: sum(word in sentence for sentence in source) for word in "abcdef"}

        def vector(sentence):
            return {
                word: (1 + math.log(sentence.count(word))) * (math.log((1 + n) / (1 + df[word])) + 1)
                for word in set(sentence)
            }

        def cosine(one, other):
            lengths = [math.sqrt(sum(value**2 for value in side.values())) for side in (one, other)]
            dot = sum(value * other.get(word, 0) for word, value in one.items())
            return dot / lengths[0] / lengths[1] if all(lengths) else 0.0

        expected = [[cosine(vector(one), vector(other)) for other in source] for one in summary]
        np.testing.assert_allclose(lexical_similarity(summary, source), expected, atol=1e-12)

    def test_equals_scikit_learn_where_it_has_the_words(self):
        from sklearn.feature_extraction.text import TfidfVectorizer

        source = [words(text) for text in sentences(DOCUMENT)]
        tfidf = TfidfVectorizer(analyzer=lambda tokens: tokens, sublinear_tf=True).fit(source)
        expected = (tfidf.transform(source[:3]) @ tfidf.transform(source).T).toarray()
        np.testing.assert_allclose(lexical_similarity(source[:3], source), expected, atol=1e-12)

    def test_a_neighbour_in_the_summary_does_not_matter(self):
        source = [["a", "b"], ["c"]]
        alone = lexical_similarity([["a", "x"]], source)
        np.testing.assert_allclose(lexical_similarity([["a", "x"], ["x", "x", "b"]], source)[:1], alone)


def test_support_and_coverage_by_hand():
    matrix = np.array([[0.9, 0.1, 0.2], [0.3, 0.5, 0.0]])
    result = support_and_coverage(matrix)
    assert result["mss_support"] == pytest.approx((0.9 + 0.5) / 2)
    assert result["mss_coverage"] == pytest.approx((0.9 + 0.5 + 0.2) / 3)
    assert result["mss_f1"] == pytest.approx(2 * 0.7 * (1.6 / 3) / (0.7 + 1.6 / 3))
    assert support_and_coverage(np.array([[-0.2]]))["mss_f1"] == 0.0
    assert support_and_coverage(np.zeros((0, 3))) == {"mss_support": 0.0, "mss_coverage": 0.0, "mss_f1": 0.0}


class TestExplain:
    def test_evidence(self, mss):
        found = sentences(DOCUMENT)
        result = mss.explain(SUMMARIES[0], [" ".join(found[:3]), " ".join(found[3:])])
        assert result["summary_sentences"] == sentences(SUMMARIES[0]) and result["source_sentences"] == found
        assert result["source_documents"] == [0] * 3 + [1] * 5
        matrix = np.array(result["alignment"])
        assert matrix.shape == (2, 8)
        assert [entry["source_sentence"] for entry in result["best_source"]] == [1, 2]
        for row, entry in zip(matrix, result["best_source"], strict=True):
            assert entry["similarity"] == row.max()
        assert result["scores"]["mss_support"] == pytest.approx(matrix.max(axis=1).mean())
        scores = mss.score([SUMMARIES[0]], [DOCUMENT], alignment="hybrid")
        assert result["scores"]["mss_support"] == pytest.approx(scores["mss_support"][0])

    def test_blank(self, mss):
        result = mss.explain("", DOCUMENT)
        assert result["summary_sentences"] == [] and result["alignment"] == [] and result["best_source"] == []
        assert result["scores"]["mss"] == 0.0
