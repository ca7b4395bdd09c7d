"""Files to rows, strictly: a row that cannot be read as it stands keeps its place, with its line and the reason.

CSV and TSV are read by the standard library's ``csv`` with ``strict=True``, and fields are counted here. pandas shifts
or pads a row with too many or too few fields without a word, and both pandas and pyarrow join what follows a closing
quote to the cell. Parquet is pyarrow's, a saved folder is datasets', a workbook openpyxl's.

JSON Lines, CSV, TSV and Parquet are read a piece at a time, in each pass over their rows.
"""

import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import typed
from .cells import Twice, loads
from .table import Row, Rows, Unreadable, UnusableError, header_of, opened, read_bytes

KINDS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".xlsx", ".parquet")
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")  # what a byte that is not UTF-8 was decoded to


def _escapes(encoding: str) -> str:
    """How bytes that are not of an encoding are read: marked, so that they cost their row only, where that can be."""
    return "strict" if codecs.lookup(encoding).name.startswith(("utf-16", "utf-32")) else "surrogateescape"


def decode(path: Path, encoding: str = "utf-8", errors: str = "strict") -> str:
    """A text file without BOM; ValueError names the byte that is not of the encoding."""
    raw = read_bytes(path)
    try:
        text = raw.decode(encoding, errors)
    except UnicodeDecodeError as error:
        found = f"0x{raw[error.start]:02x}"
        raise ValueError(
            f"{path} is not {encoding}: byte {error.start} is {found}; give --encoding, or convert the file"
        ) from None
    return text.removeprefix("\ufeff")


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """A text file without BOM and with plain line ends; ValueError as in ``decode``."""
    return decode(path, encoding).replace("\r\n", "\n").replace("\r", "\n")


def kind_of(path: Path) -> str:
    """The ending that says how a file is read, without .gz."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()


def read_rows(
    path: Path, encoding: str = "utf-8", split: str | None = None, wanted: Collection[str] | None = None
) -> Rows:
    """Every row of a file, or of a folder that ``datasets`` saved.

    Args:
        path: one of ``KINDS``, also with .gz after it, or a folder.
        encoding: of text files.
        split: of a saved ``DatasetDict``, or the sheet of a workbook; needed where there are several.
        wanted: the columns that are needed; of tables with types the others are None, and nothing in them can fail.

    Raises:
        UnusableError: where it cannot be told what the rows are, here or in a pass over them.
    """
    if not path.exists():
        raise UnusableError(f"there is no {path}")
    kind = kind_of(path)
    if split and not (path.is_dir() or kind == ".xlsx"):
        raise UnusableError(
            f"--split {split}: {path} is one table; a split belongs to a saved DatasetDict or a workbook"
        )
    if path.is_dir():
        return Rows(typed.read_saved(path, split, wanted)).without_last_blanks()
    if kind not in KINDS:
        raise UnusableError(f"{path}: give a {', '.join(KINDS)} file (or .gz), or a folder that datasets saved")
    if kind in (".json", ".xlsx"):  # which cannot be read but as a whole
        whole = list(_read(path, kind, encoding, split, wanted))
        return Rows(lambda: whole).without_last_blanks()
    return Rows(lambda: _read(path, kind, encoding, split, wanted)).without_last_blanks()


def _read(path: Path, kind: str, encoding: str, split: str | None, wanted: Collection[str] | None) -> Iterator[Row]:
    try:
        if kind == ".parquet":
            yield from typed.read_parquet(path, wanted)
        elif kind == ".xlsx":
            yield from typed.read_workbook(path, split, wanted)
        elif kind == ".json":
            yield from _json(path, read_text(path, encoding))
        elif kind in (".csv", ".tsv"):
            yield from _separated(path, encoding, "\t" if kind == ".tsv" else ",")
        else:
            with _text(path, encoding) as lines:
                yield from _json_lines(path, lines)
    except (ValueError, OSError) as error:
        raise UnusableError(str(error)) from None


@contextmanager
def _text(path: Path, encoding: str) -> Iterator[Iterator[str]]:
    """A text file without BOM, line by line: each up to its line feed, nothing in it translated."""
    if _escapes(encoding) == "strict":  # then a wrong byte is named by its place in the whole
        yield iter(io.StringIO(decode(path, encoding), newline="\n"))
        return
    with opened(path) as file:
        text = io.TextIOWrapper(file, encoding, "surrogateescape", newline="\n")
        yield (line if number else line.removeprefix("\ufeff") for number, line in enumerate(text))
        text.detach()


# ---- CSV and TSV ----------------------------------------------------------------------------------------------------


def _separated(path: Path, encoding: str, delimiter: str) -> Iterator[Row]:
    private, old = set(), False
    with _text(path, encoding) as lines:
        for number, line in enumerate(lines):
            private.update(_PRIVATE.findall(line))
            old = not number and "\n" not in line  # one line: perhaps of lines as they ended on old computers
    # a lone \r belongs to its cell, where csv refuses it: a character that the text lacks stands in for it
    stand_in = next(chr(code) for code in range(0xE000, 0xF900) if chr(code) not in private)
    with _text(path, encoding) as lines:
        if old:
            lines = io.StringIO("".join(lines).replace("\r", "\n"), newline="\n")
        yield from _cells(path, (re.sub("\r(?!\n)", stand_in, line) for line in lines), delimiter, stand_in)


def _cells(path: Path, lines: Iterator[str], delimiter: str, stand_in: str) -> Iterator[Row]:
    csv.field_size_limit(2**31 - 1)  # a document may be long
    last = [""]  # the line that was read last, for what csv refuses

    def read() -> Iterator[str]:
        for last[0] in lines:
            yield last[0]

    reader = csv.reader(read(), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    likes = [str.isdigit, _is_one_word]  # what the first fields of all rows so far have in common
    while True:
        start = reader.line_num + 1
        where = f"{path.name}, line {start}"
        try:
            cells = [cell.replace(stand_in, "\r") for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            if "end of data" in str(error):
                raise UnusableError(f"{where}: a quotation mark opens a cell and is never closed") from None
            if reader.line_num > start:
                raise UnusableError(_swallowed(where, reader.line_num)) from None
            why = "text follows a closing quotation mark; write a quotation mark inside a quoted cell twice"
            reason = why if "expected after" in str(error) else str(error)
            yield Row(where, Unreadable(f"{where}: {reason}", last[0].removesuffix("\n").split(delimiter), header))
            continue
        if not cells:
            yield Row(where, Unreadable(f"{where} is empty", blank=True))
            continue
        if header is None:
            if any(map(_NOT_UTF8.search, cells)):
                raise UnusableError(f"{where} is not UTF-8: give --encoding, or convert the file")
            header = header_of(path, cells)
            continue
        likes = [like for like in likes if like(cells[0])]
        if reader.line_num > start and _swallows_rows(cells, delimiter, header, likes):
            raise UnusableError(_swallowed(where, reader.line_num))
        if bad := next(filter(None, map(_NOT_UTF8.search, cells)), None):
            yield Row(where, Unreadable(_not_utf8(where, bad[0]), cells, header))
        # of a file that was joined to another; a text is long, and is looked at only where the rest agrees
        elif len(cells[0]) < 2 * len(header[0]) + 20 and header_of(path, cells, once=False) == header:
            yield Row(where, Unreadable(f"{where} repeats the header", cells, header))
        elif len(cells) != len(header):
            why = f"{where} has {len(cells)} fields and the header has {len(header)}"
            sign = "tabs" if delimiter == "\t" else "commas"
            yield Row(
                where, Unreadable(f"{why}; a text with {sign} in it must stand in quotation marks", cells, header)
            )
        else:
            yield Row(where, dict(zip(header, cells, strict=True)))


def _swallowed(where: str, last: int) -> str:
    return (
        f"{where}: a quotation mark opens a cell that runs on to line {last}, over what look like rows of their own; "
        "close it, or take it out (if it is one cell, give the table as JSONL or Parquet)"
    )


def _swallows_rows(cells: list[str], delimiter: str, header: list[str], likes: list[Callable[[str], bool]]) -> bool:
    """Whether a cell of several lines holds rows that a stray quotation mark swallowed, and not a text's own lines.

    Then a line between its first and its last is a whole row, or its last one has the fields up to the closing mark,
    which stands in a column of the same number. A row has no white space beside a delimiter, as prose has after a
    comma, and a first field like those of the other rows. One such line is enough where these are known to be alike;
    else all must be.
    """

    def is_row(line: str, size: int) -> bool:
        fields = line.rstrip("\r").split(delimiter)
        tight = all(field == field.strip(" ") for field in fields)
        return len(fields) == size and tight and (size == 1 or all(like(fields[0]) for like in likes))

    for column, cell in enumerate(cells):
        _, *between = [line for line in cell.split("\n") if line.strip()] or [""]
        if not between or delimiter not in "".join(between):
            continue
        # where the row has other fields than the header the number of the last line's is unknown
        sizes = {column + 1} if len(cells) == len(header) else {column + 1, len(header)}
        *whole, last = between
        ends_row = any(is_row(last, size) for size in sizes) and (column > 0 or len(cells) != len(header))
        if likes and (any(is_row(line, len(header)) for line in whole) or ends_row):
            return True
        if all(is_row(line, len(header)) for line in whole) and any(is_row(last, size) for size in sizes):
            return True
    return False


def _is_one_word(cell: str) -> bool:
    return not re.search(r"\s", cell)


def _not_utf8(where: str, character: str) -> str:
    return f"{where} is not UTF-8: it has the byte 0x{ord(character) - 0xDC00:02x}; give --encoding, or mend the line"


# ---- JSON -----------------------------------------------------------------------------------------------------------


def _loads(text: str, where: str) -> Any:
    """Parsed JSON; ValueError says what is wrong at ``where``."""
    try:
        return loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{where} is not JSON: {error.msg} (character {error.pos})") from None
    except ValueError as error:  # a number of thousands of digits, nested too deep
        raise ValueError(f"{where} cannot be read: {str(error)[:200]}") from None


def _object(row: Any, where: str, line: str = "") -> dict[str, Any] | Unreadable:
    """A row of JSON, or what is wrong with it."""
    if isinstance(row, Twice):
        return Unreadable(f"{where} has the key {row.key!r} twice", line)
    return row if isinstance(row, dict) else Unreadable(f"{where} is not a JSON object but {row!r:.40}", line)


def _json_lines(path: Path, lines: Iterable[str]) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\n")
        where = f"{path.name}, line {number}"
        if not line.strip():
            yield Row(where, Unreadable(f"{where} is empty", blank=True))
            continue
        if bad := _NOT_UTF8.search(line):
            yield Row(where, Unreadable(_not_utf8(where, bad[0]), line))
            continue
        try:
            row = _loads(line, where)
        except ValueError as error:
            yield Row(where, Unreadable(str(error), line))
            continue
        yield Row(where, _object(row, where, line))


def _json(path: Path, text: str) -> list[Row]:
    """A list of objects; an object of columns (lists, or objects by index as pandas writes); or JSON Lines."""
    try:
        content = _loads(text, path.name)
    except ValueError:
        lines = [line for line in text.split("\n") if line.strip()]
        if sum(line[0] == "{" and line.rstrip()[-1] == "}" for line in lines) * 2 > len(lines) > 1:
            return list(_json_lines(path, text.split("\n")))  # splitlines would also cut at U+2028, inside a string
        raise
    if isinstance(content, dict) and content and all(isinstance(column, list) for column in content.values()):
        columns = {name: dict(enumerate(column)) for name, column in content.items()}
    elif isinstance(content, dict) and content and all(isinstance(column, dict) for column in content.values()):
        columns = content
    elif isinstance(content, dict) and content:
        return [Row(f"{path.name}, object 0", content)]
    elif isinstance(content, list):
        places = [f"{path.name}, object {number}" for number in range(len(content))]
        return [Row(where, _object(row, where)) for where, row in zip(places, content, strict=True)]
    else:
        raise UnusableError(f"{path} is JSON, but no list of objects: write [{{...}}, {{...}}]")
    first = next(iter(columns.values()))
    if any(column.keys() != first.keys() for column in columns.values()):
        raise UnusableError(f"{path} has columns of different lengths: {_lengths(columns)}")
    return [
        Row(f"{path.name}, row {number}", {name: column[index] for name, column in columns.items()})
        for number, index in enumerate(first)
    ]


def _lengths(columns: dict[str, Any]) -> str:
    return ", ".join(f"{name} {len(column)}" for name, column in columns.items())
