"""Does one score agree better with people than another? A test for each pair of scores and each rating.

- ``summary``: the two scores' correlations within each document are paired, and their differences get random signs.
- ``system``: Williams' test (1959; Graham and Baldwin 2014) of two correlations with one variable in common, Pearson's.
- ``pooled``: the two scores, brought to one scale (standardised, or ranked), are swapped for all summaries of a random
  half of the documents; Pearson's and Spearman's.

Holm's correction is over all pairs of scores for one rating, level and coefficient. A score of which lower is better is
compared by its negative, so that an agreement of -.4 is not worse than one of .3.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import stats

from . import correlation
from .agreement import LENGTH, Rated, Table, levels_of, system_means
from .comparison import holm
from .correlation import COEFFICIENTS
from .resample import RESAMPLES, random_signs, randomization
from .scoring import LOWER_IS_BETTER


class Difference(NamedTuple):
    """The agreement of ``one`` less that of ``other``; p is two-sided, ``adjusted`` after Holm (1979)."""

    human: str
    level: str
    coefficient: str
    one: str
    other: str
    difference: float
    p: float
    n: int
    adjusted: float = float("nan")


def compare_scores(rated: Rated) -> list[Difference]:
    """Every pair of scores, the length in words among them.

    A pair without two documents (or four systems) that both scores have is left out, as are levels and coefficients
    for which there is no test.
    """
    tables = {name: -table if name in LOWER_IS_BETTER else table for name, table in rated.scores.items()}
    tables = {**tables, LENGTH: rated.lengths}
    tests = {"summary": _summary, "system": _system, "pooled": _pooled}
    found = []
    for human, table in rated.ratings.items():
        for level in levels_of(rated.lengths):
            for coefficient in COEFFICIENTS:
                family = list(tests[level](coefficient, tables, table))
                adjusted = holm([p for *_, p, _ in family])
                found += [
                    Difference(human, level, coefficient, *each, adjusted=p)
                    for each, p in zip(family, adjusted, strict=True)
                ]
    return found


# one, other, difference, p, n
Test = Iterator[tuple[str, str, float, float, int]]


def _summary(coefficient: str, tables: dict[str, Table], rated: Table) -> Test:
    plain = np.ones((1, rated.shape[1]))
    each = {name: correlation.within(coefficient, table, rated, plain)[0] for name, table in tables.items()}
    pairs = list(combinations(each, 2))
    gaps = np.stack([each[one] - each[other] for one, other in pairs], axis=1)
    counts = (~np.isnan(gaps)).sum(axis=0)
    kept = np.flatnonzero(counts > 1)
    if len(kept):
        for column, p in zip(kept, randomization(gaps[:, kept]), strict=True):
            yield *pairs[column], float(np.nanmean(gaps[:, column])), float(p), int(counts[column])


def _system(coefficient: str, tables: dict[str, Table], rated: Table) -> Test:
    if coefficient != "pearson":
        return
    for one, other in combinations(tables, 2):
        known = ~(np.isnan(tables[one]) | np.isnan(tables[other]) | np.isnan(rated))
        means = [system_means(side, known, np.ones((1, len(known))))[0] for side in (tables[one], tables[other], rated)]
        there = ~np.isnan(means[0])
        a, b, human = (mean[None, there] for mean in means)
        if there.sum() < 4:
            continue
        weights = np.ones_like(a)
        r_a, r_b, r_ab = (
            float(correlation.between("pearson", *pair, weights)[0]) for pair in ((a, human), (b, human), (a, b))
        )
        if not np.isnan(r_a + r_b + r_ab):
            yield one, other, r_a - r_b, williams(r_a, r_b, r_ab, int(there.sum())), int(there.sum())


def williams(r_a: float, r_b: float, r_ab: float, n: int) -> float:
    """Two-sided p of Williams' test that r_a = r_b, correlations of a and of b with one variable over n points.

    >>> round(williams(0.9, 0.5, 0.6, 20), 3), williams(0.5, 0.5, 1.0, 20)
    (0.001, 1.0)
    """
    if r_a == r_b:
        return 1.0
    rest = max(0.0, 1 - r_a**2 - r_b**2 - r_ab**2 + 2 * r_a * r_b * r_ab)
    spread = 2 * rest * (n - 1) / (n - 3) + (r_a + r_b) ** 2 / 4 * (1 - r_ab) ** 3
    if spread <= 0:
        return 1.0  # one is the other, up to its scale
    t = (r_a - r_b) * np.sqrt((n - 1) * (1 + r_ab) / spread)
    return float(2 * stats.t.sf(abs(t), n - 3))


def _pooled(coefficient: str, tables: dict[str, Table], rated: Table) -> Test:
    if coefficient == "kendall":
        return
    kept, whole, gaps, human = [], [], [], []
    for one, other in combinations(tables, 2):
        known = ~(np.isnan(tables[one]) | np.isnan(tables[other]) | np.isnan(rated))
        if known.any(axis=1).sum() < 2:
            continue
        a, b, z = (_on_one_scale(coefficient, table, known) for table in (tables[one], tables[other], rated))
        if not (a.any() and b.any() and z.any()):
            continue  # a constant has no correlation
        # of each document: sums, sums of squares, and products with the rating, which has mean 0
        sums = [np.stack([side.sum(axis=1), (side**2).sum(axis=1), (side * z).sum(axis=1)], axis=1) for side in (a, b)]
        kept.append((one, other, int(known.sum())))
        whole.append([side.sum(axis=0) for side in sums])
        gaps.append(sums[1] - sums[0])
        human.append((z**2).sum())
    if not kept:
        return
    sizes, squares = np.array([n for *_, n in kept], dtype=float), np.array(human)

    def correlate(total: np.ndarray) -> np.ndarray:
        spread = np.maximum(total[..., 1] - total[..., 0] ** 2 / sizes, 1e-300)
        return total[..., 2] / np.sqrt(spread * squares)

    ours, theirs = np.array(whole).transpose(1, 0, 2)  # (pairs, 3)
    observed = correlate(ours) - correlate(theirs)
    columns = np.concatenate(gaps, axis=1)  # (documents, 3 for each pair)
    hits = np.zeros(len(kept))
    for signs in random_signs(len(rated), RESAMPLES):
        moved = ((signs > 0).astype(np.float64) @ columns).reshape(len(signs), len(kept), 3)
        drawn = correlate(ours + moved) - correlate(theirs - moved)
        hits += (abs(drawn) >= abs(observed) * (1 - 1e-9) - 1e-12).sum(axis=0)
    for (one, other, n), gap, count in zip(kept, observed, hits, strict=True):
        yield one, other, float(gap), float((count + 1) / (RESAMPLES + 1)), n


def _on_one_scale(coefficient: str, table: Table, known: np.ndarray) -> Table:
    """Mean 0 and variance 1 over the known summaries, of the values or of their ranks; 0 where not known."""
    values = stats.rankdata(table[known]) if coefficient == "spearman" else table[known]
    centred = correlation.deviations(values, np.ones_like(values, dtype=float))
    spread = np.sqrt((centred**2).mean())
    result = np.zeros(table.shape)
    result[known] = centred / spread if spread > 0 else 0.0
    return result
