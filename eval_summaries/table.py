"""What the readers of files share: rows with their places, and what cannot be read."""

import gzip
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from .cells import EDGES


class UnusableError(Exception):
    """The input as a whole cannot be used; the command ends with status 2."""


class Unreadable(NamedTuple):
    """A row that cannot be read: why, and the cells or the line as far as they could be told."""

    reason: str
    found: list[str] | str = ""
    header: list[str] | None = None  # of the columns, where ``found`` are cells
    blank: bool = False  # an empty line: no row, but where rows are paired by their order it may have been one


class Row(NamedTuple):
    """A row's place in its file ("data.csv, line 3") and its values by column."""

    where: str
    values: dict[str, Any] | Unreadable


def read_bytes(path: Path) -> bytes:
    """A file's content, unpacked where its name ends in .gz.

    Raises:
        ValueError: for a damaged or cut gzip file.
    """
    raw = path.read_bytes()
    if path.suffix.lower() != ".gz":
        return raw
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is damaged or cut short: {error}") from None


def header_of(path: Path, names: list[Any], once: bool = True) -> list[str]:
    """Column names without what surrounds them unseen; each once."""
    cleaned = [EDGES.sub("", "" if name is None else str(name)) for name in names]
    for name in cleaned:
        if once and name and cleaned.count(name) > 1:
            raise UnusableError(f"{path} has the column {name!r} twice: rename one of them")
    return cleaned
