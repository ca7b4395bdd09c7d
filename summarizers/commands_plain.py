"""Commands of the summarizers that need no training."""

from typing import Annotated

import typer

from eval_summaries.table import UnusableError

from .app import Device, Encoder, Ratio, Seed, Sentences, Words, command, limit
from .clusters import embed_all, nearest_to_centres
from .documents import Document
from .encoder import load_embedder, unit
from .extractive import by_frequency, lead, shuffled
from .graph import by_centrality, word_cosines
from .lengths import Length, extract
from .oracle import greedy
from .run import Asked, rank, summarize


@command("lead")
def _lead(asked: Asked, sentences: Sentences = None, words: Words = None, ratio: Ratio = None) -> int:
    """The first sentences of the document."""
    length = limit(sentences, words, ratio)
    return rank(asked, "lead", lambda one, _: lead(one), length, pass_over=False)


@command("random")
def _random(asked: Asked, sentences: Sentences = None, words: Words = None, ratio: Ratio = None, seed: Seed = 0) -> int:
    """Random sentences, drawn with a seed: the lowest bar."""
    length = limit(sentences, words, ratio)
    return rank(asked, "random", lambda one, _: shuffled(one, seed), length, {"seed": seed})


@command("bag-of-words")
def _bag_of_words(asked: Asked, sentences: Sentences = None, words: Words = None, ratio: Ratio = None) -> int:
    """The sentences with the most frequent words of the document."""
    return rank(asked, "bag-of-words", lambda one, _: by_frequency(one), limit(sentences, words, ratio))


@command("oracle")
def _oracle(asked: Asked, sentences: Sentences = None, words: Words = None, ratio: Ratio = None) -> int:
    """The sentences with which ROUGE-1 and -2 against the reference are highest (greedy): an upper bound.

    Without a length it takes sentences as long as they raise the score.
    """
    asked.need("references")
    length = limit(sentences, words, ratio, default=Length(ratio=1.0))
    # where no sentence shares a word with the reference all are equally bad, and the first stands for them
    return rank(asked, "oracle", lambda one, document: greedy(one, document.references, length) or [0], length)


@command("kmeans")
def _kmeans(
    asked: Asked,
    sentences: Sentences = None,
    words: Words = None,
    ratio: Ratio = None,
    encoder: Encoder = None,
    device: Device = None,
    seed: Seed = 0,
) -> int:
    """The sentences nearest to the centres of k clusters of sentence embeddings."""
    length = limit(sentences, words, ratio)
    found, embedder = asked.read(), load_embedder(asked.lang, encoder, device)

    def work(documents: list[Document]) -> list[str]:
        cut = [asked.sentences(document.text) for document in documents]
        pairs = zip(cut, embed_all(cut, embedder), strict=True)
        return [extract(nearest_to_centres(v, length.count(one), seed), one, length) for one, v in pairs]

    parameters = {**vars(length), "encoder": embedder.backend.name, "seed": seed}
    return summarize(asked, "kmeans", work, parameters, found=found)


@command("textrank")
def _textrank(
    asked: Asked,
    sentences: Sentences = None,
    words: Words = None,
    ratio: Ratio = None,
    vectors: Annotated[str, typer.Option(help="what is compared: words (TF-IDF), or embeddings")] = "words",
    encoder: Encoder = None,
    device: Device = None,
) -> int:
    """The sentences that are most like the others: PageRank over their cosines."""
    length = limit(sentences, words, ratio)
    if vectors not in ("words", "embeddings"):
        raise UnusableError(f"--vectors {vectors}: give words or embeddings")
    if vectors == "words":
        if encoder:
            raise UnusableError(f"--encoder {encoder} has no effect with --vectors words: give --vectors embeddings")
        return rank(asked, "textrank", lambda one, _: by_centrality(word_cosines(one)), length, {"vectors": vectors})
    found, embedder = asked.read(), load_embedder(asked.lang, encoder, device)

    def work(documents: list[Document]) -> list[str]:
        cut = [asked.sentences(document.text) for document in documents]
        cosines = [units @ units.T for units in map(unit, embed_all(cut, embedder))]
        return [extract(by_centrality(weights), one, length) for weights, one in zip(cosines, cut, strict=True)]

    parameters = {**vars(length), "vectors": vectors, "encoder": embedder.backend.name}
    return summarize(asked, "textrank", work, parameters, found=found)
