"""The report of a run: one HTML page with the ranking, the tests, and examples with the evidence of the metrics."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..inputs import WRITTEN_BY
from ..result import Result
from ..store import write_whole
from ..table import UnusableError
from .examples import choose, collect, key_of
from .page import GENERATOR, render

KEPT, PAGE = "report.json", "report.html"


def check_page(path: Path) -> None:
    """``UnusableError`` where no report can be written, or a file of somebody else would be lost."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise UnusableError(f"--report {path}: give a file that ends in .html")
    if not path.resolve().parent.is_dir():
        raise UnusableError(f"--report {path}: there is no folder {path.parent}")
    if path.is_dir() or (path.exists() and GENERATOR.encode() not in path.read_bytes()[:2000]):
        raise UnusableError(f"--report {path} is there and is no report of this command: choose another name")


def shown_examples(result: Result, count: int, folder: Path | None, progress: Callable[[list], Iterable]) -> list[dict]:
    """Texts and evidence of the examples that the page shows; those that ``folder`` keeps are not made again.

    Args:
        count: how many examples.
        folder: of --out, where they are kept in report.json.
        progress: wraps the examples, for a bar.
    """
    chosen = choose(result.scores, result.ranking.systems, result.ranking.keys, count)
    key = key_of(chosen, result.examples, result.signatures, result.scores)
    kept = read_kept(folder) if folder else None
    if kept and kept["key"] == key:
        return kept["examples"]
    asked = result.asked
    scorers = [asked.scorer(name) for name in result.plan["metrics"]]
    found = collect(chosen, result.examples, result.scores, scorers, progress)
    if folder:
        content = {"written_by": WRITTEN_BY, "key": key, "words": result.ranking.words, "examples": found}
        write_whole(folder / KEPT, json.dumps(content, ensure_ascii=False))
    return found


def read_kept(folder: Path) -> dict[str, Any] | None:
    """What report.json keeps; None where there is none, or it is damaged."""
    try:
        kept = json.loads((folder / KEPT).read_bytes())
        return kept if {"key", "words", "examples"} <= kept.keys() else None
    except (OSError, ValueError, AttributeError, RecursionError):
        return None


def write_pages(result: Result, shown: list[dict], paths: list[Path]) -> None:
    """Write the page, to each of the paths."""
    page = render(result, shown)
    for path in paths:
        write_whole(path, page)
