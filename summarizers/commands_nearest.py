"""Commands of SummScreen's nearest neighbours and its content selector."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from eval_summaries.table import UnusableError

from . import documents
from .app import command
from .documents import Document
from .nearest import Index, by_characters, lines, reference_to_transcript
from .run import Asked, say, summarize
from .select import select

By = Annotated[str, typer.Option(help="what makes texts similar: bm25, rouge (for r2r also characters: BoC and BoR)")]
Train = Annotated[Path | None, typer.Option(help="table of training documents, with the columns of FILE")]
TrainDocuments = Annotated[Path | None, typer.Option(help="folder of training documents, NAME.txt")]
TrainReferences = Annotated[Path | None, typer.Option(help="folder of their references, NAME.txt")]


def _check(by: str, known: tuple[str, ...]) -> None:
    if by not in known:
        raise UnusableError(f"--by {by}: give {' or '.join(known)}")


@command("nearest")
def _nearest(
    asked: Asked,
    how: Annotated[str, typer.Argument(help="r2t, t2t or r2r")],
    by: By = "bm25",
    train: Train = None,
    train_documents: TrainDocuments = None,
    train_references: TrainReferences = None,
) -> int:
    """SummScreen's nearest neighbours.

    r2t: each sentence of the reference fetches the line of the document that is most like it (an oracle).

    t2t: the document fetches the most similar training document, whose reference is the answer.

    r2r: the reference fetches the most similar training reference (an oracle).
    """
    if how not in ("r2t", "t2t", "r2r"):
        raise UnusableError(f"nearest {how}: give r2t, t2t or r2r")
    _check(by, ("bm25", "rouge", "characters") if how == "r2r" else ("bm25", "rouge"))
    if how != "t2t":
        asked.need("references")
    if by == "characters":
        asked.need("characters")
    found = asked.read()
    name, parameters = f"nearest-{how}-{by}", {"by": by}
    if how == "r2t":

        def work(given: list[Document]) -> list[str]:
            return [_lines_of(document, asked, by) for document in given]

        return summarize(asked, name, work, parameters, found=found)
    known = _training(asked, train, train_documents, train_references)
    same = {one.text for one in known} & {one.text for one in found[0]}
    if same:
        say(f"note: {len(same)} of the documents are training documents too: their own reference is among the answers")
    recaps = [one.references[0] for one in known]
    index = None if by == "characters" else Index([one.text for one in known] if how == "t2t" else recaps, by)

    def fetch(document: Document) -> str:
        if by == "characters":
            values = by_characters(document.references[0], recaps, document.characters)
            return recaps[int(np.argmax(values))]
        return recaps[index.nearest(document.text if how == "t2t" else document.references[0])[0]]

    return summarize(asked, name, lambda given: [fetch(one) for one in given], parameters, found=found)


def _lines_of(document: Document, asked: Asked, by: str) -> str:
    """The lines that the sentences of the reference fetch."""
    transcript = lines(document.text, asked.lang)
    chosen = reference_to_transcript(transcript, asked.sentences(document.references[0]), by)
    return "\n".join(transcript[number] for number in chosen)


def _training(asked: Asked, train: Path | None, folder: Path | None, references: Path | None) -> list[Document]:
    """The documents among which neighbours are looked for, with their references."""
    if train and (folder or references):
        raise UnusableError("--train is a table, --train-documents and --train-references are folders: give one kind")
    if train:
        if asked.file is None or not asked.references:
            raise UnusableError("--train FILE has the columns of FILE: give a file, --documents and --references")
        columns = {"documents": asked.documents, "references": asked.references, "id": asked.id_column}
        found, failures = documents.read_file(train, columns, asked.encoding)
    elif folder and references:
        found, failures = documents.read_folders(folder, references, asked.encoding)
    else:
        raise UnusableError("give --train FILE, or --train-documents FOLDER and --train-references FOLDER")
    for failure in failures:
        say(f"left out of the training documents: {failure.id}: {failure.reason}")
    return found


@command("select")
def _select(
    asked: Asked,
    by: By = "bm25",
    nearest: Annotated[int, typer.Option(help="lines for each sentence of the reference")] = 3,
    context: Annotated[int, typer.Option(help="lines that are kept before and after each")] = 2,
) -> int:
    """SummScreen's content selector: documents cut down to the lines that their reference is about (an oracle).

    It writes documents, NAME.txt, for a model to be trained on: see examples/train_recap.py.
    """
    _check(by, ("bm25", "rouge"))
    asked.need("references")
    if nearest < 1 or context < 0:
        raise UnusableError("--nearest is 1 or more, --context 0 or more")

    def work(given: list[Document]) -> list[str]:
        found = []
        for document in given:
            transcript = lines(document.text, asked.lang)
            kept = select(transcript, asked.sentences(document.references[0]), nearest, context, by)
            found.append("\n".join(transcript[number] for number in kept))
        return found

    return summarize(asked, "select", work, {"by": by, "nearest": nearest, "context": context}, ending=".txt")
