"""Files to rows, strictly: a row that cannot be read as it stands keeps its place, with its line and the reason.

CSV and TSV are read by the standard library's ``csv`` with ``strict=True``, and fields are counted here. pandas shifts
or pads a row with too many or too few fields without a word, and both pandas and pyarrow join what follows a closing
quote to the cell. Parquet is pyarrow's, a saved folder is datasets', a workbook openpyxl's.
"""

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

KINDS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".xlsx", ".parquet")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")  # what a byte that is not UTF-8 was decoded to
_EDGES = re.compile("^[\\s\ufeff\u200b\u200e\u200f]+|[\\s\ufeff\u200b\u200e\u200f]+$")


class UnusableError(Exception):
    """The input as a whole cannot be used; the command ends with status 2."""


class Unreadable(NamedTuple):
    """A row that cannot be read: why, and the cells or the line as far as they could be told."""

    reason: str
    found: list[str] | str = ""


class Row(NamedTuple):
    """A row's place in its file ("data.csv, line 3") and its values by column."""

    where: str
    values: dict[str, Any] | Unreadable


def is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


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


def decode(path: Path, encoding: str = "utf-8", errors: str = "strict") -> str:
    """A text file without BOM; ValueError names the byte that is not of the encoding."""
    raw = read_bytes(path)
    try:
        text = raw.decode("utf-8" if is_utf8(encoding) else encoding, errors if is_utf8(encoding) else "strict")
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


def read_rows(path: Path, encoding: str = "utf-8", split: str | None = None) -> list[Row]:
    """Read every row of a file, or of a folder that ``datasets`` saved.

    Args:
        path: one of ``KINDS``, also with .gz after it, or a folder.
        encoding: of text files.
        split: of a saved ``DatasetDict``, or the sheet of a workbook; needed where there are several.

    Raises:
        UnusableError: where it cannot be told what the rows are.
    """
    if not path.exists():
        raise UnusableError(f"there is no {path}")
    kind = kind_of(path)
    if split and not (path.is_dir() or kind == ".xlsx"):
        raise UnusableError(
            f"--split {split}: {path} is one table; a split belongs to a saved DatasetDict or a workbook"
        )
    if path.is_dir():
        return _saved(path, split)
    try:
        if kind == ".parquet":
            return _parquet(path)
        if kind == ".xlsx":
            return _workbook(path, split)
        if kind in (".csv", ".tsv"):
            return list(_separated(path, decode(path, encoding, "surrogateescape"), "\t" if kind == ".tsv" else ","))
        if kind in (".jsonl", ".ndjson"):
            return list(_json_lines(path, decode(path, encoding, "surrogateescape")))
        if kind == ".json":
            return _json(path, read_text(path, encoding))
    except (ValueError, OSError) as error:
        raise UnusableError(str(error)) from None
    raise UnusableError(f"{path}: give a {', '.join(KINDS)} file (or .gz), or a folder that datasets saved")


def _header(path: Path, names: list[Any]) -> list[str]:
    """Column names without what surrounds them unseen; each once."""
    cleaned = [_EDGES.sub("", "" if name is None else str(name)) for name in names]
    for name in cleaned:
        if name and cleaned.count(name) > 1:
            raise UnusableError(f"{path} has the column {name!r} twice: rename one of them")
    return cleaned


# ---- CSV and TSV ----------------------------------------------------------------------------------------------------


def _separated(path: Path, text: str, delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(2**31 - 1)  # a document may be long
    if "\n" not in text:  # lines as they ended on old computers
        text = text.replace("\r", "\n")
    # else a lone \r belongs to its cell, where csv refuses it: a character that the text lacks stands in for it
    stand_in = next(chr(code) for code in range(0xE000, 0xF900) if chr(code) not in text)
    text = re.sub("\r(?!\n)", stand_in, text)
    lines = text.split("\n")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
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
            raw = lines[start - 1]
            reason = why if "expected after" in str(error) else str(error)
            yield Row(where, Unreadable(f"{where}: {reason}", raw.split(delimiter)))
            continue
        if not cells:  # an empty line
            continue
        if header is None:
            if any(map(_NOT_UTF8.search, cells)):
                raise UnusableError(f"{where} is not UTF-8: give --encoding, or convert the file")
            header = _header(path, cells)
            continue
        likes = [like for like in likes if like(cells[0])]
        if reader.line_num > start and _swallows_rows(cells, delimiter, header, likes):
            raise UnusableError(_swallowed(where, reader.line_num))
        if bad := next(filter(None, map(_NOT_UTF8.search, cells)), None):
            yield Row(where, Unreadable(_not_utf8(where, bad[0]), cells))
        elif len(cells) != len(header):
            why = f"{where} has {len(cells)} fields and the header has {len(header)}"
            sign = "tabs" if delimiter == "\t" else "commas"
            yield Row(where, Unreadable(f"{why}; a text with {sign} in it must stand in quotation marks", cells))
        else:
            yield Row(where, dict(zip(header, cells, strict=True)))


def _swallowed(where: str, last: int) -> str:
    return (
        f"{where}: a quotation mark opens a cell that runs on to line {last}, over what look like rows of their own; "
        "close it, or take it out (if it is one cell, give the table as JSONL or Parquet)"
    )


def _swallows_rows(cells: list[str], delimiter: str, header: list[str], likes: list[Callable[[str], bool]]) -> bool:
    """Whether a cell of several lines holds rows that a stray quotation mark swallowed, and not a text's own lines.

    Then each line between its first and its last is a whole row, and its last one has the fields up to the closing
    mark, which stands in a column of the same number. A row has no white space beside a delimiter, as prose has after a
    comma, and a first field like those of the other rows.
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
        if all(is_row(line, len(header)) for line in whole) and any(is_row(last, size) for size in sizes):
            return True
    return False


def _is_one_word(cell: str) -> bool:
    return not re.search(r"\s", cell)


def _not_utf8(where: str, character: str) -> str:
    return f"{where} is not UTF-8: it has the byte 0x{ord(character) - 0xDC00:02x}; give --encoding, or mend the line"


# ---- JSON -----------------------------------------------------------------------------------------------------------


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"has the key {next(name for name in names if names.count(name) > 1)!r} twice")
    return found


def _loads(text: str, where: str) -> Any:
    """Parsed JSON; ValueError says what is wrong at ``where``."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise ValueError(f"{where} is not JSON: {error.msg} (character {error.pos})") from None
    except (ValueError, RecursionError) as error:  # a key twice, a number of thousands of digits, nested too deep
        raise ValueError(f"{where} cannot be read: {str(error)[:200]}") from None


def _json_lines(path: Path, text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):  # str.splitlines would also cut at U+2028, inside a string
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        if bad := _NOT_UTF8.search(line):
            yield Row(where, Unreadable(_not_utf8(where, bad[0]), line))
            continue
        try:
            row = _loads(line, where)
        except ValueError as error:
            yield Row(where, Unreadable(str(error), line))
            continue
        wrong = Unreadable(f"{where} is not a JSON object but a {type(row).__name__}", line)
        yield Row(where, row if isinstance(row, dict) else wrong)


def _json(path: Path, text: str) -> list[Row]:
    """A list of objects; an object of columns (lists, or objects by index as pandas writes); or JSON Lines."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > 1 and lines[0].lstrip().startswith("{"):
        try:
            if isinstance(json.loads(lines[0]), dict):  # a whole object, and more after it
                return list(_json_lines(path, text))
        except (ValueError, RecursionError):
            pass  # the first line of one object that is written over several
    content = _loads(text, path.name)
    if isinstance(content, dict) and content and all(isinstance(column, list) for column in content.values()):
        columns = {name: dict(enumerate(column)) for name, column in content.items()}
    elif isinstance(content, dict) and content and all(isinstance(column, dict) for column in content.values()):
        columns = content
    elif isinstance(content, dict) and content:
        return [Row(f"{path.name}, object 0", content)]
    elif isinstance(content, list):
        places = [f"{path.name}, object {number}" for number in range(len(content))]
        return [
            Row(where, row if isinstance(row, dict) else Unreadable(f"{where} is not a JSON object but {row!r:.40}"))
            for where, row in zip(places, content, strict=True)
        ]
    else:
        raise UnusableError(f"{path} is JSON, but no list of objects: write [{{...}}, {{...}}]")
    first = next(iter(columns.values()))
    if any(list(column) != list(first) for column in columns.values()):
        raise UnusableError(f"{path} has columns of different lengths: {_lengths(columns)}")
    return [
        Row(f"{path.name}, row {number}", {name: column[index] for name, column in columns.items()})
        for number, index in enumerate(first)
    ]


def _lengths(columns: dict[str, Any]) -> str:
    return ", ".join(f"{name} {len(column)}" for name, column in columns.items())


# ---- tables with types ----------------------------------------------------------------------------------------------


def _parquet(path: Path) -> list[Row]:
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(read_bytes(path)))
        rows = table.to_pylist()
    except pyarrow.ArrowException as error:
        raise UnusableError(f"{path} cannot be read as Parquet: {error}") from None
    _header(path, table.column_names)
    return [Row(f"{path.name}, row {number}", row) for number, row in enumerate(rows)]


def _saved(path: Path, split: str | None) -> list[Row]:
    import datasets

    try:
        found = datasets.load_from_disk(str(path))
    except FileNotFoundError as error:
        raise UnusableError(f"{path} is no folder that datasets saved: {error}") from None
    except Exception as error:  # a damaged folder: Arrow, JSON and datasets each raise their own
        raise UnusableError(f"{path} cannot be read as a folder that datasets saved: {error}") from None
    if isinstance(found, datasets.DatasetDict):
        found = found[_one_of("split", path, list(found), split)]
    elif split:
        raise UnusableError(f"--split {split}: {path} is one data set without splits")
    return [Row(f"{path.name}, row {number}", row) for number, row in enumerate(found.with_format(None))]


def _one_of(kind: str, path: Path, names: list[str], chosen: str | None) -> str:
    """The name that ``--split`` chooses, or the only one."""
    if chosen in names:
        return chosen
    if chosen is None and len(names) == 1:
        return names[0]
    given = f"has no {kind} {chosen!r}" if chosen else f"has several {kind}s"
    raise UnusableError(f"{path} {given}: give --split with one of {', '.join(names)}")


def _workbook(path: Path, sheet: str | None) -> list[Row]:
    try:
        import openpyxl
    except ImportError:
        raise UnusableError(f"{path}: Excel files need the package openpyxl (the extra [xlsx])") from None
    try:
        book = openpyxl.load_workbook(io.BytesIO(read_bytes(path)), read_only=True)
        name = _one_of("sheet", path, book.sheetnames, sheet)
        lines = [(number, list(cells)) for number, cells in enumerate(book[name].iter_rows(), 1)]
    except UnusableError:
        raise
    except Exception as error:  # a zip, XML or openpyxl error of its own kind
        raise UnusableError(f"{path} cannot be read as an Excel workbook: {error}") from None
    lines = [(number, cells) for number, cells in lines if any(cell.value is not None for cell in cells)]
    if not lines:
        return []
    titles = [cell.value for cell in lines[0][1]]
    while titles[-1] is None:
        titles.pop()
    header, rows = _header(path, titles), []
    for number, cells in lines[1:]:
        where = f"{path.name}, row {number} of sheet {name}"
        odd = next((cell for cell in cells if cell.data_type in ("f", "e")), None)
        if odd is not None:
            what = "a formula" if odd.data_type == "f" else "an error"
            rows.append(Row(where, Unreadable(f"{where} has {what} ({odd.value}): put its value there as text")))
            continue
        # an empty cell is an empty text, as in CSV; a row may end before the header does, and not after it
        values = ["" if cell.value is None else cell.value for cell in cells]
        if any(value != "" for value in values[len(header) :]):
            rows.append(Row(where, Unreadable(f"{where} has {len(values)} cells and the header has {len(header)}")))
            continue
        values += [""] * (len(header) - len(values))
        rows.append(Row(where, dict(zip(header, values, strict=False))))
    return rows
