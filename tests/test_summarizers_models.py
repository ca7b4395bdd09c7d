"""K-means and TextRank: against slow or other ones, and by the command with a real encoder."""

import networkx
import numpy as np
import pytest
from conftest import SENTENCES, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from summarizing import call, make_stories, summaries
from tiny import make_encoder

from summarizers.clusters import embed_all, nearest_to_centres
from summarizers.encoder import load_embedder
from summarizers.graph import by_centrality, centrality, word_cosines

WEIGHTS = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 8)).map(lambda n: n * 2), elements=st.floats(-1, 1, width=16)
)


class TestTextRank:
    @given(WEIGHTS)
    @settings(max_examples=examples(100))
    def test_is_the_pagerank_of_networkx(self, weights):
        weights = (weights + weights.T) / 2
        graph = networkx.Graph()
        graph.add_nodes_from(range(len(weights)))
        positive = np.argwhere(np.triu(weights, 1) > 0)
        graph.add_weighted_edges_from((one, other, weights[one, other]) for one, other in positive.tolist())
        expected = networkx.pagerank(graph, alpha=0.85, tol=1e-12, max_iter=1000)
        assert centrality(weights) == pytest.approx([expected[number] for number in range(len(weights))], abs=1e-6)

    def test_by_hand(self):
        # the middle one shares words with both others
        assert by_centrality(word_cosines(["Amy met Raj.", "Raj saw the old bridge.", "The old bridge fell."])) == [
            1,
            2,
            0,
        ]
        assert by_centrality(word_cosines(["!!!", "..."])) == [0, 1] and by_centrality(word_cosines([])) == []

    @pytest.mark.parametrize("name", SENTENCES)
    def test_any_language(self, name):
        order = by_centrality(word_cosines([SENTENCES["English"], SENTENCES[name], SENTENCES[name]]))
        assert sorted(order) == [0, 1, 2] and (name in ("English", "emoji") or order[2] == 0)


class TestKMeans:
    def test_each_cluster_has_one_and_the_largest_is_first(self):
        centres = np.eye(5)[:3] * 4
        vectors = np.array(
            [
                centres[cluster] + np.random.default_rng(n).normal(0, 0.1, 5)
                for n, cluster in enumerate([2, 0, 1, 0, 0, 1])
            ]
        )
        found = nearest_to_centres(vectors, 3)
        assert {0} < set(found) and found[0] in (1, 3, 4) and found[1] in (2, 5) and found[2] == 0

    @given(
        arrays.arrays(np.float32, st.tuples(st.integers(1, 7), st.just(3)), elements=st.integers(-2, 2)),
        st.integers(1, 9),
        st.integers(0, 3),
    )
    @settings(max_examples=examples(50))
    def test_never_more_than_asked_for_each_once_and_the_same_again(self, vectors, count, seed):
        found = nearest_to_centres(vectors, count, seed)
        assert 1 <= len(found) <= min(count, len(vectors)) and len(set(found)) == len(found)
        assert found == nearest_to_centres(vectors, count, seed)

    def test_sentences_of_all_documents_are_encoded_as_each_alone(self, tmp_path):
        embedder = load_embedder("en", str(make_encoder(tmp_path / "tiny")))
        documents = [["It rained."], ["Dogs slept.", "Amy left.", "It rained."]]
        for sentences, vectors in zip(documents, embed_all(documents, embedder), strict=True):
            assert np.array_equal(vectors, embedder.encode(sentences))


def test_by_the_command(tmp_path):
    stories = make_stories(tmp_path)
    encoder = make_encoder(stories / "tiny")
    for name, more in (("kmeans", []), ("textrank", []), ("textrank", ["--vectors", "embeddings"])):
        more = [*more, "--encoder", encoder] if name == "kmeans" or more else more
        given = ["--documents", stories / "docs", "--out", stories / "out" / name, "--sentences", 2]
        assert call(name, *given, *more) == (0, "")
        for text in summaries(stories / "out" / name).values():
            assert len(text.strip().split("\n")) == 2


def test_a_model_that_cannot_be_had_is_said_before_anything_is_written(tmp_path):
    stories = make_stories(tmp_path)
    given = ["--documents", stories / "docs", "--out", stories / "out"]
    status, shown = call("kmeans", *given, "--encoder", "./nowhere")
    assert status == 2 and "--encoder ./nowhere: there is no such folder" in shown and not (stories / "out").exists()
    status, shown = call("kmeans", *given, "--lang", "ar")
    assert status == 2 and "bert-base-arabertv02" in shown and "with --encoder multilingual-e5-small-q4" in shown
    status, shown = call("textrank", *given, "--encoder", "x")
    assert status == 2 and "give --vectors embeddings" in shown
    assert call("textrank", *given, "--vectors", "letters")[0] == 2
