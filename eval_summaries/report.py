"""Results: a table for people, and files for programs (JSONL, CSV, Markdown, LaTeX, SQLite)."""

import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .compare import Comparison
from .inputs import Example, Failure, UnusableError
from .scoring import write_whole

CONFIDENCE = 0.95
RESAMPLES = 1000
SEED = 12345
LEVEL = 0.05  # below it a comparison is marked


class Row(NamedTuple):
    """One system on one key; nan where no example is defined."""

    system: str
    key: str
    mean: float
    deviation: float
    low: float
    high: float
    n: int


def summarise(scores: dict[tuple[str, str], dict[str, float]]) -> list[Row]:
    """Mean, standard deviation (of the examples, n - 1), percentile bootstrap interval of the mean, and n."""
    keys = list(dict.fromkeys(key for values in scores.values() for key in values))
    rows = []
    for system in dict.fromkeys(system for system, _ in scores):
        for key in keys:
            values = [found[key] for (name, _), found in scores.items() if name == system and key in found]
            known = np.array([value for value in values if value == value])
            if not len(known):
                rows.append(Row(system, key, *[float("nan")] * 4, 0))
                continue
            rng, n = np.random.default_rng(SEED), len(known)
            means = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES) @ known / n
            low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
            deviation = float(known.std(ddof=1)) if n > 1 else 0.0
            rows.append(Row(system, key, float(known.mean()), deviation, float(low), float(high), n))
    return rows


def _shown(value: float) -> str:
    return "" if value != value else f"{value:.3f}"


def cells_of(row: Row) -> list[str]:
    interval = f"{_shown(row.low)} to {_shown(row.high)}" if row.n else ""
    return [row.system, row.key, _shown(row.mean), _shown(row.deviation), interval, str(row.n)]


HEADERS = ["system", "score", "mean", "sd", "95% interval", "n"]
COMPARE_HEADERS = ["score", "systems", "gap", "p (boot)", "p (rand)", "p (Holm)", "n"]


def compare_cells(found: Comparison) -> list[str]:
    mark = " *" if found.adjusted < LEVEL else ""
    p_values = [f"{value:.4f}" for value in (found.bootstrap, found.randomization)]
    adjusted = f"{found.adjusted:.4f}{mark}"
    return [found.key, f"{found.one} - {found.other}", f"{found.difference:+.3f}", *p_values, adjusted, str(found.n)]


def markdown(
    rows: list[Row], comparisons: list[Comparison], failures: list[Failure], signatures: dict[str, Any]
) -> str:
    """The whole summary as a page."""

    def table(headers: list[str], cells: list[list[str]]) -> str:
        lines = [headers, ["---"] * len(headers), *cells]
        return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)

    page = "# Scores\n\n" + table(HEADERS, [cells_of(row) for row in rows])
    if comparisons:
        page += "\n\n# Comparison of systems\n\n" + table(COMPARE_HEADERS, [compare_cells(c) for c in comparisons])
        page += f"\n\n\\* differs at {LEVEL}, by the randomization test after Holm's correction within each score."
    page += "\n\n# Signatures\n\n" + "\n".join(f"- `{signature}`" for signature in signatures.values() if signature)
    if failures:
        page += "\n\n# Not scored\n\n" + "\n".join(f"- {f.system} {f.id}: {f.reason}" for f in failures)
    return page + "\n"


def latex(rows: list[Row]) -> str:
    """The scores as a LaTeX table: a line for each system, a column for each score, mean and standard deviation."""

    def escape(text: str) -> str:
        return "".join(
            f"\\{c}" if c in "#$%&_{}" else {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}"}.get(c, c)
            for c in text
        )

    keys = list(dict.fromkeys(row.key for row in rows))
    lines = ["\\begin{tabular}{l" + "r" * len(keys) + "}", "\\hline"]
    lines.append(" & ".join(["system", *map(escape, keys)]) + " \\\\ \\hline")
    for system in dict.fromkeys(row.system for row in rows):
        cells = [f"{_shown(row.mean)} $\\pm$ {_shown(row.deviation)}" for row in rows if row.system == system]
        lines.append(" & ".join([escape(system), *cells]) + " \\\\")
    return "\n".join([*lines, "\\hline", "\\end{tabular}"]) + "\n"


LAYOUTS = {
    # columns of a paper's table: heading and key; the average of SummScreen is the plain mean of its four figures
    "summscreen": [
        ("BoC-p", "boc_precision"),
        ("BoC-r", "boc_recall"),
        ("BoR-p", "bor_precision"),
        ("BoR-r", "bor_recall"),
    ],
    "sss": [("BLEU", "bleu"), ("ROUGE-1", "rouge1"), ("ROUGE-2", "rouge2"), ("ROUGE-L", "rougeL"), ("SSS", "sss")],
}


def layout(name: str, rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    """A paper's own table: SummScreen's row (times 100, with its average), or the SSS paper's (mean and deviation).

    Raises:
        UnusableError: where a score of the table was not computed.
    """
    columns = list(LAYOUTS[name])
    found = {(row.system, row.key): row for row in rows}
    systems = list(dict.fromkeys(row.system for row in rows))
    if name == "sss" and (systems[0], "bertscore_f1") in found:
        columns.append(("BERTScore", "bertscore_f1"))  # where it is available
    missing = [key for _, key in columns if (systems[0], key) not in found]
    if missing:
        raise UnusableError(f"--layout {name} needs the scores {', '.join(missing)}: add their metrics to --metrics")
    lines = []
    for system in systems:
        cells = [found[system, key] for _, key in columns]
        if name == "summscreen":
            means = [100 * row.mean for row in cells]
            lines.append([system, *(f"{mean:.1f}" for mean in [*means, sum(means) / len(means)])])
        else:
            lines.append([system, *(f"{row.mean:.3f} ± {row.deviation:.3f}" for row in cells)])
    return ["system", *(heading for heading, _ in columns), *(["average"] if name == "summscreen" else [])], lines


def as_table(scores: dict[tuple[str, str], dict[str, float]]) -> pd.DataFrame:
    """Columns ``system``, ``id``, and one for each score; nan where a score is undefined or could not be computed."""
    return pd.DataFrame([{"system": system, "id": name, **values} for (system, name), values in scores.items()])


def write_files(
    folder: Path,
    examples: list[Example],
    scores: dict[tuple[str, str], dict[str, float]],
    page: str,
    rows: list[Row],
    failures: list[Failure],
) -> None:
    """Write scores.jsonl, scores.csv, summary.md, summary.tex, and failures.csv where there are any; each whole."""
    keys = list(dict.fromkeys(key for values in scores.values() for key in values))
    lines, table = io.StringIO(), io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(["system", "id", *keys])
    for example in examples:
        values = scores[example.system, example.id]
        # an undefined score is null in JSON and empty in CSV
        defined = {key: value if value == value else None for key, value in values.items()}
        lines.write(json.dumps({"system": example.system, "id": example.id, **defined}, ensure_ascii=False) + "\n")
        writer.writerow(
            [example.system, example.id, *("" if defined.get(k) is None else repr(defined[k]) for k in keys)]
        )
    write_whole(folder / "scores.jsonl", lines.getvalue())
    write_whole(folder / "scores.csv", table.getvalue())
    write_whole(folder / "summary.md", page)
    write_whole(folder / "summary.tex", latex(rows))
    if failures:
        listed = io.StringIO(newline="")
        csv.writer(listed).writerows([["system", "id", "reason"], *([f.system, f.id, f.reason] for f in failures)])
        write_whole(folder / "failures.csv", listed.getvalue())


def write_sqlite(path: Path, plan: dict[str, Any], scores: dict[tuple[str, str], dict[str, float]]) -> int:
    """Add a run to a database, in one transaction; what is there is kept. Returns the run's number.

    Tables: runs(run, started, plan) and scores(run, system, example, score, value), one row for each run, example and
    score; value is NULL where the score is undefined.
    """
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE TABLE IF NOT EXISTS runs "
            "(run INTEGER PRIMARY KEY, started TEXT DEFAULT CURRENT_TIMESTAMP, plan TEXT)"
        )
        database.execute(
            "CREATE TABLE IF NOT EXISTS scores (run INTEGER REFERENCES runs, system TEXT, example TEXT, score TEXT, "
            "value REAL, PRIMARY KEY (run, system, example, score))"
        )
        run = database.execute("INSERT INTO runs (plan) VALUES (?)", [json.dumps(plan)]).lastrowid
        database.executemany(
            "INSERT INTO scores VALUES (?, ?, ?, ?, ?)",
            [
                (run, system, name, key, value if value == value else None)
                for (system, name), values in scores.items()
                for key, value in values.items()
            ],
        )
    return run
