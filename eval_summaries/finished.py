"""A finished run as --out holds it: what is needed to show it again, without its input and without scoring."""

import csv
import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import agreement_tables
from .agreement import Agreement
from .agreement_tables import Found
from .better import Difference
from .comparison import Comparison
from .inputs import Failure
from .options import Asked
from .ranking import rank, shown_scores
from .report import KEPT, read_kept
from .result import Result
from .score_table import Scores
from .store import RUN
from .table import UnusableError
from .tables import summarise


def read_finished(
    asked: Asked, compare: Callable[[Scores], list[Comparison]], say: Callable[[str], Any]
) -> tuple[Result, list[dict]]:
    """The run that ``asked.out`` holds, ranked as ``asked`` says, and the examples that its page shows.

    Raises:
        UnusableError: where there is none, or a file of it cannot be read.
    """
    folder = asked.out
    kept = read_kept(folder)
    if not (folder / RUN).is_file() or kept is None:
        raise UnusableError(
            f"{folder} holds no finished run (its {RUN if kept else KEPT} is missing or damaged): give the input again"
        )
    try:
        plan = json.loads((folder / RUN).read_bytes())
        scores = _scores(folder / "scores.jsonl")
        failures = _failures(folder / "failures.csv")
        rows = summarise(scores)
        comparisons = compare(scores)
        agreement = _agreement(folder) if (folder / agreement_tables.AGREEMENT).exists() else None
        keys, sort = shown_scores(list(dict.fromkeys(row.key for row in rows)), asked.sort, asked.all_scores, say)
        ranking = rank(rows, comparisons, kept["words"], keys, sort, asked.baseline)
        result = Result(asked, plan, plan["signatures"], scores, failures, rows, comparisons, ranking, agreement, [])
        return result, kept["examples"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
        raise UnusableError(
            f"{folder} holds a run of which not all can be read ({error}): give the input again"
        ) from None


def _scores(path: Path) -> Scores:
    found = Scores()
    with open(path, encoding="utf-8", newline="\n") as lines:  # a name may have another line end in it
        for line in filter(str.strip, lines):
            entry = json.loads(line)
            place = entry.pop("system"), entry.pop("id")
            found.put(place, {key: math.nan if value is None else value for key, value in entry.items()})
    return found


def _failures(path: Path) -> list[Failure]:
    if not path.exists():
        return []
    rows = csv.reader(io.StringIO(path.read_text("utf-8"), newline=""))
    return [Failure(name, system, reason) for system, name, reason in list(rows)[1:]]


def _agreement(folder: Path) -> Found:
    def objects(name: str, kind: type) -> list:
        rows = json.loads((folder / name).read_bytes())
        return [kind(**{key: math.nan if value is None else value for key, value in row.items()}) for row in rows]

    return Found(objects(agreement_tables.AGREEMENT, Agreement), objects(agreement_tables.TESTS, Difference))
