"""What the readers of files share: rows with their places, and what cannot be read."""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

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


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file's content as a stream, unpacked where its name ends in .gz.

    Raises:
        ValueError: while it is read, for a damaged or cut gzip file.
    """
    with open(path, "rb") as raw:
        if path.suffix.lower() != ".gz":
            yield raw
            return
        try:
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield unpacked
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is damaged or cut short: {error}") from None


def read_bytes(path: Path) -> bytes:
    """A file's content, unpacked where its name ends in .gz.

    Raises:
        ValueError: for a damaged or cut gzip file.
    """
    with opened(path) as file:
        return file.read()


class Rows:
    """The rows of a file, read anew in each pass over them, so that they are never all in memory.

    Args:
        read: begins a pass.
    """

    def __init__(self, read: Callable[[], Iterable[Row]]):
        self._read = read

    def __iter__(self) -> Iterator[Row]:
        return iter(self._read())

    def without_blanks(self) -> "Rows":
        """The same rows without the empty lines between them."""
        return Rows(lambda: (row for row in self if not _is_blank(row)))

    def without_last_blanks(self) -> "Rows":
        """The same rows without the empty lines after the last one."""

        def read() -> Iterator[Row]:
            blanks: list[Row] = []
            for row in self:
                if _is_blank(row):
                    blanks.append(row)
                    continue
                yield from blanks
                blanks.clear()
                yield row

        return Rows(read)


def _is_blank(row: Row) -> bool:
    return isinstance(row.values, Unreadable) and row.values.blank


def header_of(path: Path, names: list[Any], once: bool = True) -> list[str]:
    """Column names without what surrounds them unseen; each once."""
    cleaned = [EDGES.sub("", "" if name is None else str(name)) for name in names]
    for name in cleaned:
        if once and name and cleaned.count(name) > 1:
            raise UnusableError(f"{path} has the column {name!r} twice: rename one of them")
    return cleaned
