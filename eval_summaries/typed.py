"""Tables with types: Parquet, folders that datasets saved, workbooks."""

import io
import json
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from .table import Row, Unreadable, UnusableError, header_of, read_bytes

_BATCH = 1000  # rows of a Parquet file at once


def read_parquet(path: Path, wanted: Collection[str] | None) -> Iterator[Row]:
    import pyarrow.parquet

    packed = path.suffix.lower() == ".gz"
    # a stream of its own for each column of a row group: else it would be in memory as a whole
    options = {} if packed else {"buffer_size": 1 << 16, "pre_buffer": False}
    source = pyarrow.BufferReader(read_bytes(path)) if packed else path
    try:
        with pyarrow.parquet.ParquetFile(source, **options) as file:
            names = header_of(path, file.schema_arrow.names)
            labels = _labels(file.schema_arrow.metadata or {})
            kept = [name for name in names if wanted is None or name in wanted]
            if not kept:
                yield from _typed(path, range(file.metadata.num_rows), names, lambda number: {}, labels)
                return
            start = 0
            for batch in file.iter_batches(_BATCH, columns=kept):
                numbers, first = range(start, start + len(batch)), start
                yield from _typed(path, numbers, names, lambda n: batch.slice(n - first, 1).to_pylist()[0], labels)  # noqa: B023
                start += len(batch)
    except pyarrow.ArrowException as error:
        raise UnusableError(f"{path} cannot be read as Parquet: {error}") from None


def _labels(metadata: dict[bytes, bytes]) -> dict[str, list[str]]:
    """The names behind the numbers of a column of classes, which datasets writes beside a table."""
    try:
        features = json.loads(metadata[b"huggingface"])["info"]["features"]
        return {name: feature["names"] for name, feature in features.items() if feature.get("_type") == "ClassLabel"}
    except (KeyError, ValueError, TypeError, AttributeError):
        return {}


def _typed(
    path: Path, numbers: range, names: list[str], get: Callable[[int], dict[str, Any]], labels: dict[str, list[str]]
) -> Iterator[Row]:
    """Rows of a table with types, one by one: a value that Python cannot hold costs its row."""
    for number in numbers:
        where = f"{path.name}, row {number}"
        try:
            values = {**dict.fromkeys(names), **get(number)}
            for name, known in labels.items():
                if isinstance(values.get(name), int) and 0 <= values[name] < len(known):
                    values[name] = known[values[name]]
        except Exception as error:  # dates out of range, bytes that are not UTF-8: each library raises its own
            values = Unreadable(f"{where} cannot be read: {error}")
        yield Row(where, values)


def read_saved(path: Path, split: str | None, wanted: Collection[str] | None) -> Callable[[], Iterator[Row]]:
    """What begins a pass over the rows: datasets maps them into memory, and loading is slow."""
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
    names, classes = found.column_names, datasets.ClassLabel
    labels = {name: kind.names for name, kind in found.features.items() if isinstance(kind, classes)}
    table = found.with_format(None)
    kept = [name for name in names if wanted is None or name in wanted]
    get = table.select_columns(kept).__getitem__ if kept else lambda number: {}
    return lambda: _typed(path, range(len(found)), names, get, labels)


def _one_of(kind: str, path: Path, names: list[str], chosen: str | None) -> str:
    """The name that ``--split`` chooses, or the only one."""
    if chosen in names:
        return chosen
    if chosen is None and len(names) == 1:
        return names[0]
    given = f"has no {kind} {chosen!r}" if chosen else f"has several {kind}s"
    raise UnusableError(f"{path} {given}: give --split with one of {', '.join(names)}")


def read_workbook(path: Path, sheet: str | None, wanted: Collection[str] | None) -> list[Row]:
    try:
        import openpyxl
        from openpyxl.utils.escape import unescape  # a line end may stand there as _x000D_
    except ImportError:
        raise UnusableError(f"{path}: Excel files need the package openpyxl (the extra [xlsx])") from None
    try:
        book = openpyxl.load_workbook(io.BytesIO(read_bytes(path)), read_only=True)
        name = _one_of("sheet", path, book.sheetnames, sheet)
        book[name].reset_dimensions()  # what the file says of its size may be wrong, and rows would be lost
        lines = [(number, list(cells)) for number, cells in enumerate(book[name].iter_rows(), 1)]
    except UnusableError:
        raise
    except Exception as error:  # a zip, XML or openpyxl error of its own kind
        raise UnusableError(f"{path} cannot be read as an Excel workbook: {error}") from None
    while lines and all(cell.value is None for cell in lines[-1][1]):
        lines.pop()
    while lines and all(cell.value is None for cell in lines[0][1]):
        lines.pop(0)
    if not lines:
        return []
    titles = [cell.value for cell in lines[0][1]]
    while titles[-1] is None:
        titles.pop()
    header, rows = header_of(path, titles), []
    for number, cells in lines[1:]:
        where = f"{path.name}, row {number} of sheet {name}"
        if all(cell.value is None for cell in cells):
            rows.append(Row(where, Unreadable(f"{where} is empty", blank=True)))
            continue
        pairs = zip(header, cells, strict=False)
        asked = [cell for title, cell in pairs if wanted is None or title in wanted]
        odd = next((cell for cell in asked if cell.data_type in ("f", "e")), None)
        if odd is not None:
            what = "a formula" if odd.data_type == "f" else "an error"
            rows.append(Row(where, Unreadable(f"{where} has {what} ({odd.value}): put its value there as text")))
            continue
        # an empty cell is an empty text, as in CSV; a row may end before the header does, and not after it
        values = ["" if cell.value is None else cell.value for cell in cells]
        values = [unescape(value) if isinstance(value, str) else value for value in values]
        if any(value != "" for value in values[len(header) :]):
            rows.append(Row(where, Unreadable(f"{where} has {len(values)} cells and the header has {len(header)}")))
            continue
        values += [""] * (len(header) - len(values))
        rows.append(Row(where, dict(zip(header, values, strict=False))))
    return rows
