"""Running the command inside the tests: small data of our own, and a call."""

import json

import pandas as pd
from conftest import load
from typer.testing import CliRunner

from eval_summaries.cli import app

ROWS = [
    {
        "id": f"d{number}",
        "model": system,
        "summary": f"{text} {number}.",
        "reference": f"Amy told Raj that the bridge was closed after the storm of day {number}.",
        "article": f"The river rose all night. By dawn of day {number} the bridge was closed. Amy told Raj of it.",
        "people": ["Amy", "Raj", "Penny"],
    }
    for system, text in (("good", "Amy told Raj that the bridge was closed on day"), ("bad", "Penny bought tea on day"))
    for number in range(8)
]
COLUMNS = ["--predictions", "summary", "--references", "reference", "--system", "model", "--id", "id"]
ALL = [*COLUMNS, "--documents", "article", "--characters", "people"]


def call(*arguments, command=app):
    """Run the command in this process; returns (exit status, what it printed)."""
    result = CliRunner(env={"COLUMNS": "200"}).invoke(command, list(map(str, arguments)))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, " ".join((result.output + result.stderr).split())


def expected(names):
    """The Python interface's scores: {(system, id): {key: value}}."""
    scores = {(row["model"], row["id"]): {} for row in ROWS}
    for name in names:
        side = "article" if name == "mss" else "reference"
        metric = load(name, **({"characters": ROWS[0]["people"]} if name in ("boc", "bor") else {}))
        found = metric.score([row["summary"] for row in ROWS], [row[side] for row in ROWS])
        for key, values in found.items():
            for row, value in zip(ROWS, values, strict=True):
                scores[row["model"], row["id"]][key] = value
    return scores


# Short names of columns, for small files of a test's own.
SHORT = ["--predictions", "p", "--references", "r", "--id", "id", "--system", "model"]


def write(path, content):
    """Write text or bytes; returns the path."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def write_rows(path, rows):
    """Write JSON Lines; returns the path."""
    return write(path, "\n".join(json.dumps(row, ensure_ascii=False) for row in rows))


def scored(out):
    """The scores that a run wrote, by system and id."""
    return pd.read_csv(out / "scores.csv", dtype={"id": str}).set_index(["system", "id"])
