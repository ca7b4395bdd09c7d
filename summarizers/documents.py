"""Documents in: folders and files, by the readers of `eval_summaries`."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from eval_summaries.cells import as_characters, as_texts, is_blank, label
from eval_summaries.inputs import Failure, find_columns, listing, read_characters, valid
from eval_summaries.rows import read_rows, read_text
from eval_summaries.table import Row, Unreadable, UnusableError


class Document(NamedTuple):
    """One document, with what is known of it; None where the input does not have it."""

    id: str
    text: str  # several documents of one cell are joined by an empty line
    references: list[str] | None = None
    characters: list | dict | None = None
    where: str = ""  # the file and line that it was read from


Read = tuple[list[Document], list[Failure]]


def read_folders(
    documents: Path, references: Path | None = None, encoding: str = "utf-8", characters: list | dict | None = None
) -> Read:
    """NAME.txt of a folder of documents, each with NAME.txt of the folder of references.

    Raises:
        UnusableError: where there is no such folder, or nothing in it.
    """
    for folder in filter(None, (documents, references)):
        if not folder.is_dir():
            raise UnusableError(f"there is no folder {folder}")
    found = listing(documents, ".txt")
    if not found:
        raise UnusableError(f"{documents} has no file NAME.txt")
    others = listing(references, ".txt") if references else {}

    def read(name: str) -> Document:
        text = valid(read_text(found[name], encoding), found[name])
        if references and name not in others:
            raise ValueError(f"there is no {references / name}.txt for {found[name].name}")
        reference = [valid(read_text(others[name], encoding), others[name])] if references else None
        return _whole(Document(label(name), text, reference, characters, label(str(found[name]))))

    return _each(found, read, label)


def read_file(path: Path, columns: dict[str, str | None], encoding: str = "utf-8", split: str | None = None) -> Read:
    """The rows of a table, as ``eval_summaries`` reads it.

    Args:
        columns: names of the columns of ``documents``, ``references``, ``characters`` (or a file of names) and
            ``id``; None for what was not asked for. Without ids a row is named by its place, from 0 on.

    Raises:
        UnusableError: for a file or a column that is not there, or an id that stands there twice.
    """
    rows = read_rows(path, encoding, split, {column for column in columns.values() if column})
    columns, people = find_columns(path, rows, columns, encoding)
    rows = list(rows.without_blanks())
    names = {f"{number}": row for number, row in enumerate(rows)}
    if columns.get("id"):
        names = {}
        for row in rows:
            name = label(row.values.get(columns["id"])) if isinstance(row.values, dict) else row.where
            if name in names and name:
                raise UnusableError(f"{path} has the id {name!r} twice, in {names[name].where} and in {row.where}")
            names[name or row.where] = row

    def read(name: str) -> Document:
        row: Row = names[name]
        if isinstance(row.values, Unreadable):
            raise ValueError(row.values.reason)
        if columns.get("id") and not label(row.values.get(columns["id"])):
            raise ValueError(f"{row.where} has no id")
        found: dict[str, Any] = {"documents": None, "references": None}
        for role in found:
            if columns.get(role):
                found[role] = as_texts(row.values.get(columns[role]), f"{row.where}: {role}")
                for text in found[role]:
                    valid(text, row.where)
        own = people
        if columns.get("characters"):
            own = as_characters(row.values.get(columns["characters"]), f"{row.where}: characters")
        text = "\n\n".join(found["documents"] or [])
        return _whole(Document(name, text, found["references"], own, row.where))

    return _each(names, read, str)


def _whole(document: Document) -> Document:
    """The document; ValueError where there is nothing to summarize, or nothing to compare it with."""
    if is_blank(document.text):
        raise ValueError(f"{document.where}: the document is empty")
    if document.references is not None and all(map(is_blank, document.references)):
        raise ValueError(f"{document.where}: its reference is empty")
    return document


def _each(names: Iterable[str], read: Callable[[str], Document], shown: Callable[[str], str]) -> Read:
    documents, failures = [], []
    seen: dict[str, str] = {}
    for name in names:
        if seen.setdefault(shown(name), name) != name:
            raise UnusableError(f"{seen[shown(name)]!r} and {name!r} are the same name but for white space: rename one")
        try:
            documents.append(read(name))
        except (ValueError, OSError) as error:
            failures.append(Failure(shown(name), "", str(error)))
    if not documents:
        reasons = [failure.reason for failure in failures]
        more = f"\n  and {len(reasons) - 10} more" if len(reasons) > 10 else ""
        listed = "\n  ".join(reasons[:10]) + more if reasons else "the input has no rows"
        raise UnusableError(f"there is nothing to summarize:\n  {listed}")
    return documents, failures


def characters_of(given: str | None, encoding: str) -> list | dict | None:
    """The characters of folders: a file of names for all documents."""
    return read_characters(Path(given), encoding) if given else None
