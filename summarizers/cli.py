"""The command line: one command for each summarizer."""

from typing import Annotated

import typer

from .extractive import by_frequency, lead, shuffled
from .lengths import Length
from .oracle import greedy
from .run import Asked, command, limit, rank

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
