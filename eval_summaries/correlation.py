"""Correlation coefficients with weights, many at once: of each resample, document and pair of variables.

Pearson's r is the weighted correlation of deviations from the mean, Spearman's rho that of mid-ranks, and Kendall's
tau-b that of the signs of differences, over pairs. A weight says how often a resample drew a point: all weights 1 give
the plain coefficient (as scipy's), and whole numbers that of the points repeated. Undefined (a side without any
variation, or fewer than two points): nan.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

COEFFICIENTS = ("spearman", "kendall", "pearson")
_NOISE = 1e-13  # a spread this small beside the values is rounding, and not variation
_MAX_PAIRS = 9_000_000  # of points that Kendall's tau looks at for each resample


def _ratio(both: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    defined = (left > 0) & (right > 0)
    root = np.sqrt(np.where(defined, left, 1.0)) * np.sqrt(np.where(defined, right, 1.0))
    return np.where(defined, np.clip(both / root, -1.0, 1.0), np.nan)


def _weighted(weights: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.einsum("...i,...i,...i->...", weights, left, right)


def correlation(left: np.ndarray, right: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weighted correlation over the last axis of what ``deviations`` or ``midranks`` gave."""
    squares = (_weighted(weights, side, side) for side in (left, right))
    return _ratio(_weighted(weights, left, right), *squares)


def deviations(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Deviations from the weighted mean over the last axis; 0 where a weight is 0, and for mere rounding."""
    total = weights.sum(axis=-1, keepdims=True)
    mean = (weights * values).sum(axis=-1, keepdims=True) / np.where(total > 0, total, 1.0)
    found = np.where(weights > 0, values - mean, 0.0)
    spread = np.sqrt(_weighted(weights, found, found))[..., None]
    size = np.sqrt((weights * values**2).sum(axis=-1, keepdims=True))
    return np.where(spread > _NOISE * size, found, 0.0)


def signs(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The signs of all differences (..., n, n) of values (..., n); 0 beside a value that is not known.

    >>> signs(np.array([1.0, 3.0]), np.array([True, True])).tolist()
    [[0.0, -1.0], [1.0, 0.0]]
    """
    found = np.sign(values[..., :, None] - values[..., None, :])
    return np.where(known[..., :, None] & known[..., None, :], found, 0.0)


def midranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Mid-ranks of values (n,) among points drawn as often as weights (resamples, n) say, less their mean.

    >>> midranks(np.array([5.0, 1.0, 5.0]), np.ones((1, 3))).tolist()
    [[0.5, -1.0, 0.5]]
    """
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(values[order]) != 0])
    equal = np.add.reduceat(weights[:, order], starts, axis=1)  # the weight of each distinct value
    middle = np.cumsum(equal, axis=1) - equal / 2
    place = np.empty(len(values), dtype=int)
    place[order] = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(values)]))
    return middle[:, place] - weights.sum(axis=1, keepdims=True) / 2


def within(coefficient: str, x: np.ndarray, z: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """For each document the correlation over its systems.

    Args:
        x, z: (documents, systems); nan where undefined, and then the other's value does not count either.
        weights: (resamples, systems).

    Returns:
        (resamples, documents); nan where undefined.

    >>> within("kendall", np.array([[1, 2, 3]]), np.array([[1, 3, 2]]), np.ones((1, 3))).round(3).tolist()
    [[0.333]]
    """
    known = ~(np.isnan(x) | np.isnan(z))
    if coefficient == "pearson":
        each = weights[:, None, :] * known
        return correlation(*(deviations(np.where(known, side, 0.0), each) for side in (x, z)), each)
    one, other = signs(x, known), signs(z, known)
    documents, systems = x.shape
    if coefficient == "spearman":  # half the weighted sum of its signs is a point's mid-rank less the mean
        ranks = [
            (weights @ side.transpose(2, 0, 1).reshape(systems, -1)).reshape(-1, documents, systems) / 2
            for side in (one, other)
        ]
        return correlation(*ranks, weights[:, None, :] * known)
    pairs = (weights[:, :, None] * weights[:, None, :]).reshape(len(weights), -1)
    sums = [pairs @ product.reshape(documents, -1).T for product in (one * other, one * one, other * other)]
    return _ratio(*sums)


def between(coefficient: str, x: np.ndarray, z: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The correlation over the last axis of x, z and weights, all (resamples, systems): one for each resample.

    A mean that is not known is nan, and its system does not count in that resample.
    """
    known = ~(np.isnan(x) | np.isnan(z))
    weights = weights * known
    x, z = (np.where(known, side, 0.0) for side in (x, z))
    if coefficient == "pearson":
        return correlation(deviations(x, weights), deviations(z, weights), weights)
    one, other = signs(x, known), signs(z, known)
    if coefficient == "spearman":
        return correlation(*(np.einsum("bij,bj->bi", side, weights) / 2 for side in (one, other)), weights)
    pairs = weights[:, :, None] * weights[:, None, :]
    sums = [(pairs * product).sum(axis=(1, 2)) for product in (one * other, one * one, other * other)]
    return _ratio(*sums)


class Form(NamedTuple):
    """A variable as ``pooled`` needs it: deviations, mid-ranks or signs, and its product with itself."""

    values: np.ndarray
    square: np.ndarray


def form(coefficient: str, values: np.ndarray, weights: np.ndarray) -> Form:
    """Prepare values (n,) for ``pooled`` under weights (resamples, n): a variable is compared with many others."""
    if coefficient == "kendall":
        found = np.zeros((0, 0)) if len(values) ** 2 > _MAX_PAIRS else signs(values, np.ones(len(values), dtype=bool))
        found = found.astype(np.float32)  # whole numbers: exact
    else:
        found = (deviations if coefficient == "pearson" else midranks)(values, weights)
    return Form(found, _product(coefficient, found, found, weights))


def _product(coefficient: str, one: np.ndarray, other: np.ndarray, weights: np.ndarray) -> np.ndarray:
    if coefficient != "kendall":
        return _weighted(weights, one, other)
    if not one.size:
        return np.full(len(weights), np.nan)
    drawn = weights.astype(np.float32)
    return np.einsum("bi,bi->b", (drawn @ (one * other)).astype(np.float64), weights)


def pooled(coefficient: str, one: Form, other: Form, weights: np.ndarray) -> np.ndarray:
    """The correlation over all points, for each row of weights (resamples, n).

    Kendall's tau looks at every pair: beyond 3,000 points it is nan, and ``kendall_of_many`` gives the plain one.
    """
    return _ratio(_product(coefficient, one.values, other.values, weights), one.square, other.square)


def kendall_of_many(x: np.ndarray, z: np.ndarray) -> float:
    """Kendall's tau-b of any number of points, without weights; nan where a side is constant."""
    return float(stats.kendalltau(x, z).statistic) if len(x) > 1 and min(np.ptp(x), np.ptp(z)) > 0 else np.nan


def without(r_xz: np.ndarray, r_xc: np.ndarray, r_zc: np.ndarray) -> np.ndarray:
    """Partial correlation of x and z, a control c held constant; nan where c explains either one whole.

    >>> without(np.array(0.5), np.array(0.5), np.array(0.5)).round(4).tolist()
    0.3333
    """
    left = (1 - r_xc**2) * (1 - r_zc**2)
    defined = left > 1e-12
    return np.where(defined, np.clip((r_xz - r_xc * r_zc) / np.sqrt(np.where(defined, left, 1.0)), -1, 1), np.nan)
