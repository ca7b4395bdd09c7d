# Shared code: edit metrics/_shared/overlap.py, then run "make vendor".
"""Precision, recall and F1 of what two texts have in common: characters for BoC, pairs of them for BoR."""

import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from .scores import Statistic

NAMES = ("precision", "recall", "f1")


class Overlap(NamedTuple):
    """How many things both texts have, the prediction has, and the reference has."""

    both: int
    predicted: int
    expected: int


def overlap(predicted: Counter, expected: Counter) -> Overlap:
    """Count what two bags share; a bag with all counts 1 is a set.

    >>> overlap(Counter("aab"), Counter("abc"))
    Overlap(both=2, predicted=3, expected=3)
    """
    return Overlap((predicted & expected).total(), predicted.total(), expected.total())


def precision_recall_f1(counts: np.ndarray, zero_division: float) -> np.ndarray:
    """Turn counts (..., 3), as in ``Overlap``, into precision, recall and F1 (..., 3).

    Where one side is empty all three are 0; where both are, ``zero_division``.

    >>> precision_recall_f1(np.array([[1, 1, 2], [0, 0, 2], [0, 0, 0]]), zero_division=1.0).round(3).tolist()
    [[1.0, 0.5, 0.667], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    """
    both, predicted, expected = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    # F1 = 2pr / (p + r) = 2 both / (predicted + expected), which is exact where p and r are 0
    parts = [(both, predicted), (both, expected), (2 * both, predicted + expected)]
    ratios = [np.divide(up, down, out=np.zeros_like(up), where=down > 0) for up, down in parts]
    empty = (predicted == 0) & (expected == 0)
    return np.stack([np.where(empty, zero_division, ratio) for ratio in ratios], axis=-1)


def overlaps(predicted: Counter, references: list[Counter], multi_reference: str) -> list[Overlap]:
    """What a prediction shares with the references that count: the one with the best F1, or ("mean") all of them.

    >>> overlaps(Counter("ab"), [Counter("c"), Counter("abc")], "best")
    [Overlap(both=2, predicted=2, expected=3)]
    """
    chosen = references if multi_reference == "mean" else [references[best_overlap(predicted, references)]]
    return [overlap(predicted, expected) for expected in chosen]


def best_overlap(predicted: Counter, references: list[Counter]) -> int:
    """Index of the reference with the best F1. Agreeing on nothing at all is better than an F1 of 0."""
    counts = np.array([overlap(predicted, expected) for expected in references])
    ranks = np.nan_to_num(precision_recall_f1(counts, np.nan)[:, 2], nan=1e-9)
    return int(ranks.argmax())


def judge(predicted: Counter, expected: Counter) -> dict[str, list]:
    """What is matched, missed (by the prediction) and invented (by it), sorted."""
    return {
        "matched": sorted(predicted.keys() & expected.keys()),
        "missed": sorted(expected.keys() - predicted.keys()),
        "invented": sorted(predicted.keys() - expected.keys()),
    }


def values_of(metric: str, counts: list[list[Overlap]], zero_division: float) -> dict[str, list[float]]:
    """Per-example lists under ``<metric>_precision``, ``<metric>_recall`` and ``<metric>_f1``.

    Args:
        counts: for each example its overlaps with the references that count; the mean over these is its value, and
            those that are undefined (nan) are left out of it.
    """
    tables = [mean_defined(precision_recall_f1(np.array(row), zero_division)) for row in counts]
    return {f"{metric}_{name}": [float(row[column]) for row in tables] for column, name in enumerate(NAMES)}


def mean_defined(rows: np.ndarray) -> np.ndarray:
    """The mean of each column, nan left out, the same in any order of the rows; nan where a column has nothing else.

    >>> mean_defined(np.array([[0.5, np.nan], [1.0, np.nan]])).tolist()
    [0.75, nan]
    """
    columns = [column[~np.isnan(column)] for column in rows.T]
    return np.array([math.fsum(column) / len(column) if len(column) else np.nan for column in columns])


def micro(counts: list[list[Overlap]], zero_division: float) -> Statistic:
    """Precision, recall and F1 of the counts summed over the examples, of each the mean over its references."""
    table = np.array([np.mean(row, axis=0) for row in counts], dtype=np.float64)
    return lambda weights: precision_recall_f1(weights @ table, zero_division)


def check_zero_division(name: str, value: Any) -> float:
    """Accept nan (left out of the mean), 0 or 1, as scikit-learn does."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise TypeError(f"{name}={value!r}: give float('nan'), 0.0 or 1.0")
    if not (np.isnan(value) or value in (0, 1)):
        raise ValueError(f"{name}={value!r}: give float('nan'), 0.0 or 1.0")
    return float(value)
