"""Is one system better than another? Paired tests over the examples that both have, corrected for their number.

Corrected within each score: the comparisons of all systems on one score are one family.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

RESAMPLES = 10_000
SEED = 12345


class Comparison(NamedTuple):
    """Two systems on one key; p-values are two-sided, ``adjusted`` is the randomization test's after Holm (1979)."""

    key: str
    one: str
    other: str
    n: int
    difference: float
    bootstrap: float
    randomization: float
    adjusted: float = float("nan")


def paired_bootstrap(differences: np.ndarray, resamples: int = RESAMPLES, seed: int = SEED) -> float:
    """p-value of the paired bootstrap (Efron and Tibshirani 1993, chapter 16): differences moved to mean 0, resampled.

    >>> paired_bootstrap(np.zeros(5))
    1.0
    """
    rng, n = np.random.default_rng(seed), len(differences)
    centred, observed = differences - differences.mean(), abs(differences.mean())
    block = max(1, 5_000_000 // n)
    hits = 0
    for start in range(0, resamples, block):
        weights = rng.multinomial(n, np.full(n, 1 / n), size=min(block, resamples - start))
        hits += int((abs(weights @ centred) / n >= observed - 1e-12).sum())
    return (hits + 1) / (resamples + 1)


def approximate_randomization(differences: np.ndarray, resamples: int = RESAMPLES, seed: int = SEED) -> float:
    """p-value of the approximate randomization test (Noreen 1989): the sign of each difference drawn at random.

    >>> approximate_randomization(np.zeros(5))
    1.0
    """
    rng, n = np.random.default_rng(seed), len(differences)
    observed = abs(differences.mean())
    block = max(1, 5_000_000 // n)
    hits = 0
    for start in range(0, resamples, block):
        signs = rng.integers(0, 2, size=(min(block, resamples - start), n)) * 2 - 1
        hits += int((abs(signs @ differences) / n >= observed - 1e-12).sum())
    return (hits + 1) / (resamples + 1)


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


def compare_systems(scores: dict[tuple[str, str], dict[str, float]], keys: list[str]) -> list[Comparison]:
    """Every pair of systems on every key, over the examples that both have with a defined value."""
    systems = list(dict.fromkeys(system for system, _ in scores))
    results = []
    for key in keys:
        found: list[Comparison] = []
        for one, other in combinations(systems, 2):
            shared = [name for system, name in scores if system == one and (other, name) in scores]
            pairs = np.array(
                [(scores[one, n].get(key, np.nan), scores[other, n].get(key, np.nan)) for n in shared], dtype=np.float64
            ).reshape(-1, 2)
            pairs = pairs[~np.isnan(pairs).any(axis=1)]
            if len(pairs) < 2:
                continue
            gaps = pairs[:, 0] - pairs[:, 1]
            p_values = paired_bootstrap(gaps), approximate_randomization(gaps)
            found.append(Comparison(key, one, other, len(gaps), float(gaps.mean()), *p_values))
        adjusted = holm([comparison.randomization for comparison in found])
        results += [comparison._replace(adjusted=p) for comparison, p in zip(found, adjusted, strict=True)]
    return results
