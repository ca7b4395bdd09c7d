"""What all commands share: their common arguments, reading, the loop over documents, writing, what the user is told."""

import codecs
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from tqdm import tqdm

from eval_summaries.each import score_each
from eval_summaries.inputs import SUFFIX, Failure
from eval_summaries.shared import options as checks
from eval_summaries.shared import texts
from eval_summaries.table import UnusableError

from . import documents
from .documents import Document, Read
from .lengths import Length, extract
from .output import OutFolder, OutRows

CHUNK = 64  # documents that are given to a summarizer at once
SHOWN = 60  # more failures than these are not for a terminal


@dataclass
class Asked:
    """The arguments that every command has."""

    file: Annotated[
        Path | None, typer.Argument(help="a table, or a folder that datasets saved; options name its columns")
    ] = None
    documents: Annotated[str | None, typer.Option(help="folder of NAME.txt, or column, of the documents")] = None
    references: Annotated[str | None, typer.Option(help="folder of NAME.txt, or column, of the references")] = None
    characters: Annotated[str | None, typer.Option(help="file of names, or column of them")] = None
    id_column: Annotated[str | None, typer.Option("--id", help="column of the document's id; else its place")] = None
    split: Annotated[str | None, typer.Option(help="split of a saved DatasetDict, or sheet of a workbook")] = None
    encoding: Annotated[str, typer.Option(help="of text files")] = "utf-8"
    lang: Annotated[str, typer.Option(help="language, for sentences and for the model that is used: en, ar, hi …")] = (
        "en"
    )
    out: Annotated[Path | None, typer.Option(help="folder for NAME_summary.txt, or a file .jsonl for rows")] = None

    def __post_init__(self):
        """Raise ``UnusableError`` for what can be told without reading anything."""
        if not self.documents:
            raise UnusableError("give --documents FOLDER, or FILE --documents COLUMN (see --help)")
        if not self.out:
            raise UnusableError("give --out FOLDER, or --out FILE.jsonl")
        if self.file is None and (self.id_column or self.split):
            raise UnusableError(f"--{'id' if self.id_column else 'split'} belongs to a file: folders have none")
        try:
            codecs.lookup(self.encoding)
            self.lang = checks.language_code("--lang", self.lang)
        except LookupError:
            raise UnusableError(
                f"--encoding {self.encoding}: there is no such encoding; give utf-8, cp1256 …"
            ) from None
        except (TypeError, ValueError) as error:
            raise UnusableError(str(error)) from None
        for side in [self.file] if self.file else [self.documents, self.references]:
            if side and Path(side).resolve() == self.out.resolve():
                raise UnusableError(f"--out {self.out} is the input: choose another")

    def read(self) -> Read:
        """The documents, and those that cannot be used."""
        if self.file is None:
            people = documents.characters_of(self.characters, self.encoding)
            sides = [Path(side) if side else None for side in (self.documents, self.references)]
            return documents.read_folders(*sides, self.encoding, people)
        columns = {"documents": self.documents, "references": self.references, "characters": self.characters}
        return documents.read_file(self.file, {**columns, "id": self.id_column}, self.encoding, self.split)

    def sentences(self, text: str) -> list[str]:
        """A text's sentences, by the metrics' own rules."""
        return texts.sentences(text, self.lang)

    def need(self, *sides: str) -> None:
        """``UnusableError`` where one of these arguments was not given."""
        for side in sides:
            if not getattr(self, side):
                raise UnusableError(f"this summarizer needs --{side}: give it")


def summarize(
    asked: Asked,
    name: str,
    work: Callable[[list[Document]], list[str]],
    parameters: dict[str, Any],
    ending: str = SUFFIX,
    found: Read | None = None,
) -> int:
    """Read, summarize, write; returns the exit status.

    Args:
        name: the summarizer's, and so the system's in rows.
        work: from some documents to a summary of each.
        parameters: what the summaries depend on beside the texts.
        ending: of the files that are written.
        found: the documents, where they have been read.
    """
    given, failures = found or asked.read()
    failures = list(failures)
    is_rows = asked.out.suffix.lower() == ".jsonl"
    out = OutRows(asked.out) if is_rows else OutFolder(asked.out, [d.id for d in given], ending)
    done: list[tuple[Document, str]] = []
    with tqdm(total=len(given), desc=name, unit="document", delay=1, disable=None, file=sys.stderr) as bar:
        for start in range(0, len(given), CHUNK):
            chunk = given[start : start + CHUNK]
            made = score_each(lambda some: {"text": work(some)}, chunk, lambda document: document.where)
            for document, result in zip(chunk, made, strict=True):
                if isinstance(result, str):
                    failures.append(Failure(document.id, "", result))
                else:
                    done.append((document, result["text"]))
            bar.update(len(chunk))
    if not done:
        listed = "\n  ".join(failure.reason for failure in failures[:10])
        raise UnusableError(f"no document could be summarized ({len(failures)}):\n  {listed}")
    try:
        failures += out.write(done, {"summarizer": name, "lang": asked.lang, **parameters})
    except OSError as error:  # a full disk, say
        raise UnusableError(f"{error}: not all could be written; the same command again writes all") from None
    if failures:
        say(f"Not summarized: {len(failures)}")
        for failure in failures[:SHOWN]:
            say(f"  {failure.id}: {failure.reason}")
        if len(failures) > SHOWN:
            say(f"  and {len(failures) - SHOWN} more")
    return 1 if failures else 0


def rank(
    asked: Asked,
    name: str,
    order: Callable[[list[str], Document], list[int]],
    length: Length,
    parameters: dict[str, Any] | None = None,
    **how: bool,
) -> int:
    """``summarize`` by a function from a document's sentences to their numbers in order of preference."""

    def work(given: list[Document]) -> list[str]:
        found = [(asked.sentences(document.text), document) for document in given]
        return [extract(order(one, document), one, length, **how) for one, document in found]

    return summarize(asked, name, work, {**vars(length), **(parameters or {}), **how})


def say(message: str) -> None:
    """Tell the user, on stderr, with nothing that would steer a terminal."""
    from eval_summaries.tables import visible  # slow, and mostly there is nothing to say

    print("\n".join(visible(line) for line in message.split("\n")), file=sys.stderr)
