"""Summaries out: files that `eval_summaries` reads, without ever touching a file of somebody else."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval_summaries.inputs import SUFFIX, Failure
from eval_summaries.store import write_whole
from eval_summaries.table import UnusableError

from .documents import Document

WRITTEN_BY = "baseline_summaries"
OWN = ".baseline_summaries"  # in --out: which files there are this command's, with a digest of each
PARAMETERS = "summarization_parameters.json"  # eval_summaries records it beside the scores


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
