"""The command line: one command for each summarizer."""

from typing import Annotated

import typer

from eval_summaries.table import UnusableError

from .clusters import embed_all, nearest_to_centres
from .documents import Document
from .encoder import load_embedder, unit
from .extractive import by_frequency, lead, shuffled
from .graph import by_centrality, word_cosines
from .lengths import Length, extract
from .oracle import greedy
from .run import Asked, command, limit, rank, summarize

HELP = """Summarize documents by baselines, to rank systems against them.

Documents are NAME.txt in a folder; the summaries are NAME_summary.txt in --out, as eval_summaries reads them:

  baseline_summaries lead --documents docs --out out/lead --sentences 3

  eval_summaries --summaries out/lead --summaries out/mine --documents docs --references refs

Or a file (JSONL, JSON, CSV, TSV, Parquet, Excel, also with gzip, or a folder that datasets saved), whose columns the
options name; with --out FILE.jsonl the summaries are rows, with their documents and references:

  baseline_summaries lead data.jsonl --documents article --references summary --id id --out lead.jsonl

Exit status: 0 all summarized, 1 some documents could not be (they are listed, the others are written), 2 the arguments
or the input cannot be used and nothing is written, 130 interrupted.
"""

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True, help=HELP)

Sentences = Annotated[int | None, typer.Option(help="the most sentences (3, where no length is given)")]
Words = Annotated[int | None, typer.Option(help="the most words")]
Ratio = Annotated[float | None, typer.Option(help="share of the document's sentences, such as 0.2")]
Encoder = Annotated[str | None, typer.Option(help="Hub id, folder, or multilingual-e5-small-q4; else as --lang says")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1 …; else the best that is there")]
Seed = Annotated[int, typer.Option(help="of what is drawn")]


@command(app, "lead")
def _lead(asked: Asked, sentences: Sentences = None, words: Words = None, ratio: Ratio = None) -> int:
    """The first sentences of the document."""
    length = limit(sentences, words, ratio)
    return rank(asked, "lead", lambda one, _: lead(one), length, pass_over=False)


@command(app, "random")
def _random(asked: Asked, sentences: Sentences = None, words: Words = None, ratio: Ratio = None, seed: Seed = 0) -> int:
    """Random sentences, drawn with a seed: the lowest bar."""
    length = limit(sentences, words, ratio)
    return rank(asked, "random", lambda one, _: shuffled(one, seed), length, {"seed": seed})


@command(app, "bag-of-words")
def _bag_of_words(asked: Asked, sentences: Sentences = None, words: Words = None, ratio: Ratio = None) -> int:
    """The sentences with the most frequent words of the document."""
    return rank(asked, "bag-of-words", lambda one, _: by_frequency(one), limit(sentences, words, ratio))


@command(app, "oracle")
def _oracle(asked: Asked, sentences: Sentences = None, words: Words = None, ratio: Ratio = None) -> int:
    """The sentences with which ROUGE-1 and -2 against the reference are highest (greedy): an upper bound.

    Without a length it takes sentences as long as they raise the score.
    """
    asked.need("references")
    length = limit(sentences, words, ratio, default=Length(ratio=1.0))
    # where no sentence shares a word with the reference all are equally bad, and the first stands for them
    return rank(asked, "oracle", lambda one, document: greedy(one, document.references, length) or [0], length)


@command(app, "kmeans")
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


@command(app, "textrank")
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
