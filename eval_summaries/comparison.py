"""Is one system better than another? Paired tests over the examples that both have, corrected for their number.

Corrected within each score: the comparisons of all systems on one score are one family.
"""

from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from .resample import BOOTSTRAP_FROM, Progress, _plain, paired_bootstrap, randomization
from .score_table import Scores

COLUMNS = 10_000_000  # numbers in the table of differences: so many at once, which bounds the memory


class Comparison(NamedTuple):
    """Two systems on one key; p-values are two-sided, ``adjusted`` is the randomization test's after Holm (1979).

    ``bootstrap`` is nan below ``BOOTSTRAP_FROM`` examples, where it cannot be trusted.
    """

    key: str
    one: str
    other: str
    n: int
    difference: float
    bootstrap: float
    randomization: float
    adjusted: float = float("nan")


def holm(p_values: list[float]) -> list[float]:
    """Adjusted p-values of Holm's step-down procedure, in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = highest
    return adjusted


def compare_systems(scores: Scores, keys: list[str], progress: Progress = _plain) -> list[Comparison]:
    """Every pair of systems on every key, over the examples that both have with a defined value; from two on.

    Args:
        scores: {(system, id): {key: value}}.
        progress: wraps the blocks of resamples, for a bar: (blocks, resamples in all) -> blocks.
    """
    scores = Scores.of(scores)
    systems, pairs = scores.systems, list(combinations(range(len(scores.systems)), 2))
    jobs = [(key, one, other) for key in range(len(keys)) for one, other in pairs]
    tables = [scores.table(key) for key in keys] if jobs else []
    found: list[Comparison] = []
    for part in _parts(jobs, max(1, COLUMNS // max(1, len(scores.ids)))):
        found += _compare(part, tables, systems, keys, progress)
    result = []
    for key in keys:
        family = [comparison for comparison in found if comparison.key == key]
        adjusted = holm([comparison.randomization for comparison in family])
        result += [comparison._replace(adjusted=p) for comparison, p in zip(family, adjusted, strict=True)]
    return result


def _parts(jobs: list, size: int) -> Iterable[list]:
    return (jobs[start : start + size] for start in range(0, len(jobs), size))


def _compare(
    jobs: list, tables: list[np.ndarray], systems: list[str], keys: list[str], progress: Progress
) -> list[Comparison]:
    key, one, other = zip(*jobs, strict=True)
    gaps = np.stack([tables[k][a] - tables[k][b] for k, a, b in jobs]).T
    counts = (~np.isnan(gaps)).sum(axis=0)
    kept = np.flatnonzero(counts >= 2)
    if not len(kept):
        return []
    gaps, counts = gaps[:, kept], counts[kept]
    present = ~np.isnan(gaps).all(axis=1)  # examples that no pair has need not be drawn
    gaps = gaps[present]
    by_sign = randomization(gaps, progress=progress)
    by_draw, enough = np.full(len(kept), np.nan), np.flatnonzero(counts >= BOOTSTRAP_FROM)
    if len(enough):
        by_draw[enough] = paired_bootstrap(gaps[:, enough], progress=progress)
    return [
        Comparison(
            keys[key[job]], systems[one[job]], systems[other[job]], int(n), float(np.nansum(gap) / n), draw, sign
        )
        for job, n, gap, draw, sign in zip(kept, counts, gaps.T, by_draw.tolist(), by_sign.tolist(), strict=True)
    ]


def strangers(scores: Scores) -> list[tuple[str, str, int]]:
    """Pairs of systems that have no example in common, or a single one, which no test can compare, and how many."""
    ids: dict[str, set[str]] = {}
    for system, name in scores:
        ids.setdefault(system, set()).add(name)
    common = [(one, other, len(ids[one] & ids[other])) for one, other in combinations(ids, 2)]
    return [found for found in common if found[2] < 2]
