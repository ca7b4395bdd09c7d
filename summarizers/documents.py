"""Documents in, summaries out: what `eval_summaries` reads and what it takes, by its own readers."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from eval_summaries.cells import as_characters, as_texts, is_blank, label
from eval_summaries.inputs import SUFFIX, Failure, find_columns, listing, read_characters, valid
from eval_summaries.rows import read_rows, read_text
from eval_summaries.store import write_whole
from eval_summaries.table import Row, Unreadable, UnusableError

WRITTEN_BY = "baseline_summaries"
OWN = ".baseline_summaries"  # in --out: which files there are this command's, with a digest of each
PARAMETERS = "summarization_parameters.json"  # eval_summaries records it beside the scores


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
    rows = [row for row in rows if isinstance(row.values, dict) or not row.values.blank]
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


# ---- out ------------------------------------------------------------------------------------------------------------


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


class OutFolder:
    """The folder of --out: NAME_summary.txt for each document, and what made them.

    A file there that this command did not write, or that was changed since, is never touched; its own files of an
    earlier run go, so that the folder holds one run. Nothing is written before everything is computed.

    Args:
        ending: of the files, ``SUFFIX`` for summaries.

    Raises:
        UnusableError: where it is no folder, or one of its files is in the way.
    """

    def __init__(self, folder: Path, names: Sequence[str], ending: str = SUFFIX):
        self.folder, self.ending = folder, ending
        if folder.exists() and not folder.is_dir():
            raise UnusableError(f"--out {folder} is a file: give a folder, or a name that ends in .jsonl")
        self.known = self._read()
        for name in [*(f"{name}{ending}" for name in names if not _unfit(name, ending)), PARAMETERS]:
            path = folder / name
            if path.exists() and not self._is_own(path):
                raise UnusableError(
                    f"{path} is there and was not written by this command, or was changed since: choose another --out"
                )

    def _read(self) -> set[tuple[str, str]]:
        """Names and digests of the files that this command wrote; none where the list cannot be read."""
        try:
            return {(name, digest) for name, digest in json.loads((self.folder / OWN).read_bytes())["files"]}
        except (OSError, ValueError, KeyError, TypeError):
            return set()

    def _is_own(self, path: Path) -> bool:
        return path.is_file() and (path.name, _digest(path.read_bytes())) in self.known

    def write(self, summaries: list[tuple[Document, str]], parameters: dict[str, Any]) -> list[Failure]:
        """Write all of them; those whose name cannot be a file's are returned."""
        unwritten = [Failure(one.id, "", reason) for one, _ in summaries if (reason := _unfit(one.id, self.ending))]
        lost = {failure.id for failure in unwritten}
        told = json.dumps({"written_by": WRITTEN_BY, **parameters}, indent=1) + "\n"
        contents = {f"{one.id}{self.ending}": f"{text}\n" for one, text in summaries if one.id not in lost}
        contents[PARAMETERS] = told
        fresh = {(name, _digest(text.encode())) for name, text in contents.items()}
        self.folder.mkdir(parents=True, exist_ok=True)
        self._record(self.known | fresh)  # first, so that a run that was interrupted here knows its files
        for name in {name for name, _ in self.known} - contents.keys():
            if self._is_own(self.folder / name):
                (self.folder / name).unlink()
        for name, text in contents.items():
            path = self.folder / name
            if not path.is_file() or path.read_bytes() != text.encode():
                write_whole(path, text)
        self._record(fresh)
        return unwritten

    def _record(self, files: set[tuple[str, str]]) -> None:
        write_whole(self.folder / OWN, json.dumps({"written_by": WRITTEN_BY, "files": sorted(files)}))


class OutRows:
    """A file of rows, one for each summary with its document and references: a table that ``eval_summaries`` reads.

    Raises:
        UnusableError: where a file of this name is there that this command did not write, or that has other rows too.
    """

    def __init__(self, path: Path):
        self.path = path
        if path.exists() and not self._is_own():
            raise UnusableError(f"{path} is there and has rows that this command did not write: choose another --out")

    def _is_own(self) -> bool:
        try:
            lines = self.path.read_bytes().split(b"\n")
            return all(json.loads(line)["written_by"] == WRITTEN_BY for line in lines if line.strip())
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def write(self, summaries: list[tuple[Document, str]], parameters: dict[str, Any]) -> list[Failure]:
        """Write all rows, in their order; there is none that cannot be written."""
        lines = ""
        for one, text in summaries:
            row = {"id": one.id, "system": parameters["summarizer"], "summary": text, "document": one.text}
            row |= {"references": one.references} if one.references is not None else {}
            row |= {"characters": one.characters} if one.characters is not None else {}
            lines += json.dumps({**row, "written_by": WRITTEN_BY}, ensure_ascii=False) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self.path, lines)
        return []


def _unfit(name: str, ending: str) -> str:
    """Why a name cannot be a file's, or ""."""
    if "/" in name or "\0" in name or "\\" in name or len(f"{name}{ending}".encode()) > 240:
        return f"the id {name!r:.60} cannot be the name of a file: give --out FILE.jsonl, which takes any id"
    return ""
