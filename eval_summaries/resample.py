"""Resampling tests over paired differences: one set of resamples for all pairs of systems and all scores.

The means and their intervals are those of the metrics themselves (``scores.aggregate``), whose draws are used here too.
"""

from collections.abc import Callable, Iterable
from itertools import product

import numpy as np

from .shared import scores

RESAMPLES = 10_000
SEED = scores.BOOTSTRAP_SEED
EXACT = 16  # up to so many differences that are not 0, all patterns of their signs (65,536) are looked at
# With fewer examples the paired bootstrap finds differences that are not there too often: at level .05 it marked 31% of
# normal null differences with n = 3, 16% with 5, 11% with 10, and 6% from 30 on (python benchmarks/resampling.py).
BOOTSTRAP_FROM = 30
_BLOCK = 2_000_000  # numbers in a block, which bounds the memory

Progress = Callable[[Iterable, int], Iterable]


def _plain(blocks: Iterable, total: int) -> Iterable:
    return blocks


def paired_bootstrap(differences: np.ndarray, count: int = RESAMPLES, progress: Progress = _plain) -> np.ndarray:
    """Two-sided p-values of the paired bootstrap (Efron and Tibshirani 1993, chapter 16), one for each column.

    Each column's differences are moved to mean 0 and its examples drawn with replacement; p is how often a mean as far
    from 0 as the observed one comes up.

    Args:
        differences: (examples, columns); nan where a pair does not have an example.

    >>> paired_bootstrap(np.zeros((5, 1))).tolist()
    [1.0]
    """
    n, columns = differences.shape
    known = ~np.isnan(differences)
    means = np.nansum(differences, axis=0) / known.sum(axis=0)
    centred = np.where(known, differences - means, 0.0)
    whole = known.all()
    counted = known.astype(np.float64)
    hits = np.zeros(columns)
    for drawn in progress(scores.resamples(n, count, SEED), count):
        for part in _columns(len(drawn), columns):
            sums = abs(drawn @ centred[:, part])
            sizes = float(n) if whole else drawn @ counted[:, part]
            hits[part] += (sums >= abs(means[part]) * sizes * (1 - 1e-9) - 1e-12).sum(axis=0)
    return (hits + 1) / (count + 1)


def randomization(differences: np.ndarray, count: int = RESAMPLES, progress: Progress = _plain) -> np.ndarray:
    """Two-sided p-values of the randomization test of paired differences, one for each column.

    If two systems are alike, each difference may as well have the other sign. With at most ``EXACT`` differences that
    are not 0 every pattern of signs is looked at (Fisher 1935); else ``count`` are drawn (Noreen 1989).

    Args:
        differences: (examples, columns); nan where a pair does not have an example.

    >>> randomization(np.array([[1.0], [2.0], [3.0]])).tolist()
    [0.25]
    """
    filled = np.nan_to_num(differences)
    nonzero = (filled != 0).sum(axis=0)
    result = np.ones(filled.shape[1])
    for size in np.unique(nonzero[(nonzero > 0) & (nonzero <= EXACT)]):
        chosen = np.flatnonzero(nonzero == size)
        table = np.stack([filled[filled[:, column] != 0, column] for column in chosen], axis=1)
        result[chosen] = _exact(table)
    chosen = np.flatnonzero(nonzero > EXACT)
    if len(chosen):
        result[chosen] = _drawn(filled[:, chosen], count, progress)
    return result


def _exact(table: np.ndarray) -> np.ndarray:
    """p-values over all patterns of signs; the first sign is fixed, since the opposite pattern is as extreme."""
    size = len(table)
    patterns = np.array(list(product((1.0, -1.0), repeat=size - 1))).reshape(2 ** (size - 1), size - 1)
    limits, hits = abs(table.sum(axis=0)) * (1 - 1e-9) - 1e-12, np.zeros(table.shape[1])
    for part in _columns(len(patterns), table.shape[1]):
        hits[part] = (abs(table[0, part] + patterns @ table[1:, part]) >= limits[part]).sum(axis=0)
    return hits / len(patterns)


def _drawn(table: np.ndarray, count: int, progress: Progress) -> np.ndarray:
    n, columns = table.shape
    limits, hits = abs(table.sum(axis=0)) * (1 - 1e-9) - 1e-12, np.zeros(columns)
    for signs in progress(random_signs(n, count), count):
        for part in _columns(len(signs), columns):
            hits[part] += (abs(signs @ table[:, part]) >= limits[part]).sum(axis=0)
    return (hits + 1) / (count + 1)


def random_signs(n: int, count: int) -> Iterable[np.ndarray]:
    """Blocks (patterns, n) of 1 and -1."""
    rng, size = np.random.default_rng(SEED), max(1, _BLOCK // n)
    for start in range(0, count, size):
        rows = min(size, count - start)
        bits = np.frombuffer(rng.bytes(rows * ((n + 7) // 8)), dtype=np.uint8).reshape(rows, -1)
        yield np.unpackbits(bits, axis=1, count=n).astype(np.float64) * 2 - 1


def _columns(rows: int, columns: int) -> Iterable[slice]:
    """Parts of the columns, so that a block of ``rows`` sums stays bounded."""
    size = max(1, 4 * _BLOCK // rows)
    return (slice(start, start + size) for start in range(0, columns, size))
