"""The tab that scores a file: read as by the command eval_summaries, each row scored or listed with the reason."""

import csv
import gzip
import inspect
import io
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import gradio as gr
import look
import pandas as pd

from eval_summaries import each, pieces
from eval_summaries.each import score_each
from eval_summaries.inputs import Example, Failure, Inputs, read_file
from eval_summaries.rows import KINDS, UnusableError, kind_of, read_bytes

LIMIT_ROWS = 500
LIMIT_COLUMNS = 50
LIMIT_HEADER = 100_000  # characters in which columns are counted
LIMIT_REFERENCES = 50  # of a row
LIMIT_SECONDS = 120  # of a file, looked at between two parts of it: what is scored by then is shown
LIMIT_UNPACKED = 50_000_000  # bytes: as many as rows with two texts at their limits have
LIMIT_REASONS = 20  # rows without a score that are listed
CHUNK = 25  # rows scored between two steps of the progress bar, fewer where they have more characters than
CHUNK_TEXT = 200_000


def file_tab(
    metric: Any,
    primary: str,
    columns: list[str],
    options: Callable[..., dict],
    inputs: list,
    check: Callable[[str, list[str], dict], None] | None = None,
) -> None:
    """The second tab: upload, progress, mean, histogram, rows without a score, table, download with the signature.

    Args:
        metric: the loaded metric; only its ``score`` and ``signature`` are used, which are safe for several users.
        primary: the key that the histogram shows.
        columns: that the file must have.
        options: from the values of ``inputs`` to the metric's options.
        inputs: the option components, shared with the first tab.
        check: of a row's prediction, references and options: ValueError where the demo does not take them.
    """
    gr.Markdown(
        f"A file in UTF-8 with the columns **{'**, **'.join(columns)}**: {', '.join(KINDS)}, or one of them with .gz. "
        f"At most {LIMIT_ROWS} rows, and {look.LIMIT_TEXT:,} characters in a text."
    )
    upload = gr.File(label="File", file_types=[*KINDS, ".gz"], elem_id="file")
    button = gr.Button("Score the file", variant="primary", elem_id="score-file")
    summary = gr.HTML(elem_id="file-summary")
    table = gr.Dataframe(label="Scores", interactive=False, wrap=True, elem_id="file-table")
    download = gr.File(label="Download (CSV, with the signature)", interactive=False, elem_id="file-download")

    given = inspect.signature(options).parameters.values()
    file, bar = (inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("file", "progress"))
    # Gradio names a function's inputs by its signature, and finds the progress bar by its default
    signature = inspect.Signature([file, *given, bar.replace(default=gr.Progress())])

    def score_file(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        path, *values, progress = bound.args
        chosen, start = options(*values), clock()
        found = read(path, columns, lambda texts: check(*texts, chosen) if check else None)
        metric.signature(**chosen)  # options that do not go together, a model that cannot be had: no row's fault

        def score(examples: list[Example]) -> dict[str, list[float]]:
            texts = [e.prediction for e in examples], [e.references for e in examples]
            return metric.score(*texts, **chosen, **characters_of(examples, columns))

        scored, rows = [], []
        for part in progress.tqdm(list(parts(found.examples)), desc="scoring"):
            if clock() - start > LIMIT_SECONDS:
                late = f"not reached in the {LIMIT_SECONDS} seconds that a file has here (use the library)"
                found.failures += [Failure(e.id, e.system, f"{e.where}: {late}") for e in part]
                continue
            for example, result in zip(part, score_each(score, part, place), strict=True):
                if isinstance(result, str):
                    found.failures.append(Failure(example.id, example.system, result))
                else:
                    scored.append(example)
                    rows.append({"row": example.where, **result})
        if not rows:
            _refuse_where_none_is_left(found.failures)
        signed = metric.signature(**chosen, **characters_of(scored, columns))
        result = pd.DataFrame(rows)
        with tempfile.TemporaryDirectory(prefix="scores-") as folder:
            path_out = Path(folder) / f"{primary}_scores.csv"
            result.assign(signature=signed).to_csv(path_out, index=False)
            # Gradio's copy, in a folder named by its content; delete_cache takes it away
            kept = download.move_resource_to_block_cache(path_out)
        return page(result, primary, found, signed), result.round(4), kept

    score_file.__signature__ = signature
    function = look.in_page(3)(score_file)
    button.click(function, [upload, *inputs], [summary, table, download], api_name="score_file")


def clock() -> float:
    """Seconds, for the time limit."""
    return time.monotonic()


def parts(examples: list[Example]) -> Iterator[list[Example]]:
    """Examples in parts that are soon scored, so that a time limit and a progress bar mean something."""
    return each.parts(examples, Example.size, CHUNK_TEXT, CHUNK)


def place(example: Example) -> str:
    """The file and line of a row."""
    return example.where


def characters_of(examples: list[Example], columns: list[str]) -> dict[str, list]:
    """Each example's list of characters as the metric's option, where the file has them."""
    return {"characters": [example.characters for example in examples]} if "characters" in columns else {}


def read(path: str | None, columns: list[str], check: Callable[[tuple[str, list[str]]], None]) -> Inputs:
    """The rows of an uploaded file; a row over a limit is a failure, as one that cannot be read.

    Args:
        path: None where nobody has chosen a file.
        columns: that the file must have.
        check: of a row's prediction and references: ValueError where they are over a limit of this demo.

    Raises:
        look.Refused: for a file without a usable row, and for one over the limits.
    """
    if not path:
        raise look.Refused("Choose a file first")
    file = Path(path)
    if not file.exists():
        raise look.Refused("The file is no longer here: choose it again")
    check_size(file)
    check_table(file)
    try:
        found = read_file(file, {column: column for column in columns})
    except UnusableError as error:
        raise look.Refused(str(error).replace(str(file), file.name)) from None  # without the server's folder
    count = len(found.examples) + len(found.failures)
    refuse_many(file, count, LIMIT_ROWS, "rows")

    def check_row(examples: list[Example]) -> dict:
        (example,) = examples
        look.check_length(example.prediction, "predictions")
        if len(example.references or []) > LIMIT_REFERENCES:
            raise look.Refused(f"references has {len(example.references):,} texts; at most {LIMIT_REFERENCES} here")
        for text in example.references or []:
            look.check_length(text, "references")
        if example.characters is not None:
            look.check_list(example.characters, "characters")
        check((example.prediction, example.references))
        return {}

    usable = []
    for example in found.examples:
        (reason,) = score_each(check_row, [example], place)  # the reason with its place, as for any other row
        if reason:
            found.failures.append(Failure(example.id, example.system, reason))
        else:
            usable.append(example)
    found.examples = usable
    if not usable:
        _refuse_where_none_is_left(found.failures)
    return found


def in_order(failures: list[Failure]) -> list[Failure]:
    """Failures by their rows: the file has no column of ids, so a row's id is its number."""
    return sorted(failures, key=lambda failure: int(failure.id))


def _refuse_where_none_is_left(failures: list[Failure]) -> None:
    try:
        Inputs(failures=in_order(failures)).checked()
    except UnusableError as error:
        raise look.Refused(str(error)) from None


def check_size(file: Path) -> None:
    """``Refused`` for a packed file that would take too much memory unpacked: a small one may grow a thousand times."""
    size = 0
    try:
        if file.suffix.lower() == ".gz":
            with gzip.open(file) as packed:
                while size <= LIMIT_UNPACKED and (part := packed.read(1_000_000)):
                    size += len(part)
        if size <= LIMIT_UNPACKED and kind_of(file) == ".xlsx":
            with zipfile.ZipFile(io.BytesIO(read_bytes(file))) as book:
                size = sum(part.file_size for part in book.infolist())
        elif size <= LIMIT_UNPACKED and kind_of(file) == ".parquet":
            import pyarrow.parquet

            metadata = pyarrow.parquet.read_metadata(io.BytesIO(read_bytes(file)))
            size = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    except Exception:  # gzip, zip and Arrow each raise their own for a damaged file: the reader says what is wrong
        return
    if size > LIMIT_UNPACKED:
        raise look.Refused(f"{file.name} has over {LIMIT_UNPACKED // 1_000_000} MB unpacked: use the library")


def check_table(file: Path) -> None:
    """``Refused`` for too many columns or rows before they take memory: a line of two bytes becomes a row."""
    try:
        columns, rows = counted(file)
    except Exception:  # as above
        return
    refuse_many(file, columns, LIMIT_COLUMNS, "columns")
    refuse_many(file, rows, LIMIT_ROWS, "rows")


def counted(file: Path) -> tuple[int, int]:
    """Columns and rows of a file, counted no further than the limits need; JSON and workbooks are not looked at."""
    kind = kind_of(file)
    if kind == ".parquet":
        import pyarrow.parquet

        metadata = pyarrow.parquet.read_metadata(io.BytesIO(read_bytes(file)))
        return metadata.num_columns, metadata.num_rows
    if kind not in (".csv", ".tsv", ".jsonl", ".ndjson"):
        return 0, 0
    by_line = kind in (".jsonl", ".ndjson")
    with (
        (gzip.open if file.suffix.lower() == ".gz" else open)(file, "rb") as raw,
        io.TextIOWrapper(raw, "utf-8-sig", "replace", newline="\n" if by_line else "") as text,
    ):
        if by_line:
            return 0, sum(1 for _ in islice(filter(str.strip, text), LIMIT_ROWS + 1))
        csv.field_size_limit(2**31 - 1)  # as the reader does
        delimiter = "\t" if kind == ".tsv" else ","
        head = csv.reader(io.StringIO(text.read(LIMIT_HEADER), newline=""), delimiter=delimiter)
        columns = len(next(head, []))
        if columns > LIMIT_COLUMNS:
            return columns, 0
        text.seek(0)
        rows = filter(None, csv.reader(text, delimiter=delimiter))
        return columns, sum(1 for _ in islice(rows, LIMIT_ROWS + 2)) - 1


def refuse_many(file: Path, count: int, most: int, what: str) -> None:
    """``Refused`` where a file has more of something than this demo takes."""
    if count > most:
        raise look.Refused(f"{file.name} has over {most} {what}: use the library")


def page(result: pd.DataFrame, primary: str, found: Inputs, signature: str) -> pieces.Markup:
    """Mean, histogram, notes, the rows without a score, and the signature."""
    values = result[primary].tolist()
    known = [value for value in values if value == value]
    mean = sum(known) / len(known) if known else float("nan")
    undefined = f", {len(values) - len(known)} undefined" if len(known) < len(values) else ""
    shown = look.big_score(primary, mean, f"mean of {len(known)} rows{undefined}") + pieces.histogram(values, primary)
    shown += pieces.Markup("").join(map(pieces.remark, found.notes))
    if found.failures:
        shown += not_scored([failure.reason for failure in in_order(found.failures)])
    return pieces.Markup('{}<details><summary>Signature</summary><code class="sm-long">{}</code></details>').format(
        shown, pieces.text(signature)
    )


def not_scored(reasons: list[str]) -> pieces.Markup:
    """Why rows have no score, for the first of them."""
    items = pieces.Markup("").join(
        pieces.Markup('<li dir="auto">{}</li>').format(pieces.text(pieces.clip(look.plain(reason), 500)))
        for reason in reasons[:LIMIT_REASONS]
    )
    more = pieces.remark(f"and {len(reasons) - LIMIT_REASONS} more") if len(reasons) > LIMIT_REASONS else ""
    return pieces.Markup(
        '<div class="sm-alert" role="alert"><p>Rows without a score: {}</p><ul>{}</ul>{}</div>'
    ).format(len(reasons), items, more)
