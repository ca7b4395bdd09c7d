"""Commands of SAraBERT: train, and summarize. torch and transformers are loaded when one of them runs."""

from pathlib import Path
from typing import Annotated

import typer

from eval_summaries.table import UnusableError

from .app import Device, Encoder, Ratio, Seed, Sentences, Words, app, command, limit
from .documents import Document
from .lengths import Length, extract
from .run import Asked, say, summarize

training_app = typer.Typer(no_args_is_help=True, help="Train a summarizer.")
app.add_typer(training_app, name="train")


@command("sarabert", training_app)
def _train(
    asked: Asked,
    head: Annotated[str, typer.Option(help="mlp, rnn (bidirectional LSTM) or transformer")] = "rnn",
    encoder: Encoder = None,
    freeze: Annotated[bool, typer.Option("--freeze", help="train the head alone: minutes on a CPU")] = False,
    sentences: Sentences = None,
    words: Words = None,
    ratio: Ratio = None,
    epochs: Annotated[int | None, typer.Option(help="passes over the documents (3; with --freeze 30)")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="at its highest (2e-5; with --freeze 1e-3)")] = None,
    batch_size: Annotated[int, typer.Option(help="documents in a step")] = 8,
    window: Annotated[int | None, typer.Option(help="tokens that the encoder reads at once; else all it can")] = None,
    validation: Annotated[float, typer.Option(help="share of the documents by which the best epoch is chosen")] = 0.1,
    patience: Annotated[int, typer.Option(help="epochs without gain after which training ends; 0 for never")] = 3,
    head_size: Annotated[int, typer.Option(help="units of the head")] = 256,
    head_layers: Annotated[int, typer.Option(help="layers of the rnn or transformer head")] = 1,
    dropout: Annotated[float, typer.Option(help="in the head")] = 0.1,
    resume: Annotated[bool, typer.Option("--resume", help="go on from the last checkpoint in --out")] = False,
    device: Device = None,
    seed: Seed = 0,
) -> int:
    """Train a SAraBERT on the sentences that the oracle takes; the model is saved in --out.

    The length (--sentences, --words, --ratio) is that of the labels, and of summaries unless another is asked for then.
    """
    asked.need("references")
    length = limit(sentences, words, ratio)
    from .models import Plan
    from .training import Story, train

    plan = Plan(
        head, encoder, asked.lang, freeze, window, epochs, learning_rate, batch_size, validation, patience, dropout,
        head_size, head_layers, device, seed,
    )  # fmt: skip
    documents, failures = asked.read()
    for failure in failures:
        say(f"left out: {failure.id}: {failure.reason}")
    stories = [Story(asked.sentences(document.text), document.references) for document in documents]
    try:
        train(stories, plan, length, asked.out, resume)
    except KeyboardInterrupt:
        say(f"the same command with --resume goes on from the last epoch in {asked.out}")
        raise
    say(f"the model is in {asked.out}: baseline_summaries sarabert --model {asked.out} --documents …")
    return 1 if failures else 0


@command("sarabert")
def _sarabert(
    asked: Asked,
    model: Annotated[Path | None, typer.Option(help="folder that `train sarabert` wrote")] = None,
    sentences: Sentences = None,
    words: Words = None,
    ratio: Ratio = None,
    block_trigrams: Annotated[
        bool, typer.Option("--block-trigrams", help="pass over a sentence that repeats three words in a row")
    ] = False,
    batch_size: Annotated[int, typer.Option(help="documents that are read at once")] = 8,
    device: Device = None,
) -> int:
    """The sentences with the highest scores of a trained SAraBERT; language and length are the model's own."""
    if model is None:
        raise UnusableError("give --model FOLDER, which `baseline_summaries train sarabert` writes")
    limit(sentences, words, ratio)  # an error in them is told before anything is loaded
    if batch_size < 1:
        raise UnusableError(f"--batch-size {batch_size}: give 1 or more")
    found = asked.read()
    from .models import load

    loaded, reader = load(model, device)
    asked.lang = loaded.config.lang
    length = limit(sentences, words, ratio, default=Length(**loaded.config.length))

    def work(documents: list[Document]) -> list[str]:
        cut = [asked.sentences(document.text) for document in documents]
        orders = [(-scores).argsort(kind="stable").tolist() for scores in reader.scores(cut, batch_size)]
        return [
            extract(order, one, length, block_trigrams=block_trigrams) for order, one in zip(orders, cut, strict=True)
        ]

    parameters = {**vars(length), "model": str(model), "head": loaded.config.head, "block_trigrams": block_trigrams}
    return summarize(asked, "sarabert", work, {**parameters, "encoder": loaded.config.encoder_name}, found=found)
