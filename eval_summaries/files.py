"""What --out holds and what a database gets: results for programs (JSONL, CSV, Parquet, SQLite)."""

import csv
import io
import json
import math
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from .cells import harmless
from .ranking import latex as ranking_latex
from .ranking import table as ranking_table
from .result import Result
from .score_table import Scores
from .store import write_whole
from .tables import keys_of, latex


def as_table(scores: Scores) -> pd.DataFrame:
    """Columns ``system``, ``id``, and one for each score; nan where a score is undefined or could not be computed."""
    scores = Scores.of(scores)
    systems, ids = zip(*scores, strict=True)
    return pd.DataFrame({"system": systems, "id": ids, **{key: scores.column(key) for key in scores.score_keys}})


def _json_lines(scores: Scores) -> Iterator[str]:
    """A line for each example; an undefined score is null."""
    for (system, name), values in scores.items():
        defined = {key: value if value == value else None for key, value in values.items()}
        yield json.dumps({"system": system, "id": name, **defined}, ensure_ascii=False) + "\n"


def _cells(scores: Scores) -> Iterator[list[str]]:
    """The header, and a row for each example; an undefined score, or one that it does not have, is empty."""
    keys = keys_of(scores)
    yield ["system", "id", *keys]
    for (system, name), values in scores.items():
        known = (values.get(key, math.nan) for key in keys)
        yield [harmless(system), harmless(name), *("" if value != value else repr(value) for value in known)]


def _csv_lines(rows: Iterable[list[str]]) -> Iterator[str]:
    """Rows as lines of CSV."""
    line = io.StringIO(newline="")
    writer = csv.writer(line)
    for row in rows:
        writer.writerow(row)
        yield line.getvalue()
        line.seek(0)
        line.truncate()


def write_files(folder: Path, result: Result) -> None:
    """Write scores.jsonl and .csv, summary.md and .tex, ranking.csv and .tex, and failures.csv; each whole.

    Where there are no failures those of an earlier run go.
    """
    failures = result.failures
    write_whole(folder / "scores.jsonl", _json_lines(result.scores))
    write_whole(folder / "scores.csv", _csv_lines(_cells(result.scores)))
    write_whole(folder / "summary.md", result.page)
    write_whole(folder / "summary.tex", latex(result.rows))
    write_whole(folder / "ranking.csv", ranking_table(result.ranking, harmless))
    write_whole(folder / "ranking.tex", ranking_latex(result.ranking))
    if failures:
        cells = (list(map(harmless, [f.system, f.id, f.reason])) for f in failures)
        write_whole(folder / "failures.csv", _csv_lines(chain([["system", "id", "reason"]], cells)))
    else:  # those of an earlier run are no longer so
        (folder / "failures.csv").unlink(missing_ok=True)


_TABLES = (
    "CREATE TABLE IF NOT EXISTS runs (run INTEGER PRIMARY KEY, started TEXT DEFAULT CURRENT_TIMESTAMP, plan TEXT)",
    "CREATE TABLE IF NOT EXISTS scores (run INTEGER REFERENCES runs, system TEXT, example TEXT, score TEXT, "
    "value REAL, PRIMARY KEY (run, system, example, score))",
)


def remove(folder: Path, names: list[str]) -> None:
    """Delete what an earlier run wrote: a file, or a folder of pictures."""
    for name in names:
        path = folder / name
        for part in path.glob("*.png") if path.is_dir() else [path]:
            part.unlink()
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def check_sqlite(path: Path) -> None:
    """Make the tables where they are missing; sqlite3.Error where the database cannot be written to."""
    if path.is_file():
        with open(path, "rb") as file:
            start = file.read(16)
        new = not start and path.suffix.lower() in (".db", ".sqlite", ".sqlite3")
        if start != b"SQLite format 3\0" and not new:
            raise sqlite3.DatabaseError("the file is there and is no database")
    with closing(sqlite3.connect(path)) as database, database:
        for table in _TABLES:
            database.execute(table)
        database.execute("INSERT INTO runs (plan) VALUES ('')")  # an old table of another shape fails here
        database.rollback()


def write_sqlite(path: Path, plan: dict[str, Any], scores: Scores) -> int:
    """Add a run to a database, in one transaction; what is there is kept. Returns the run's number.

    Tables: runs(run, started, plan) and scores(run, system, example, score, value), one row for each run, example and
    score; value is NULL where the score is undefined.
    """
    with closing(sqlite3.connect(path)) as database, database:
        for table in _TABLES:
            database.execute(table)
        run = database.execute("INSERT INTO runs (plan) VALUES (?)", [json.dumps(plan)]).lastrowid
        database.executemany(
            "INSERT INTO scores VALUES (?, ?, ?, ?, ?)",
            (
                (run, system, name, key, value if value == value else None)
                for (system, name), values in scores.items()
                for key, value in values.items()
            ),
        )
    return run
