"""Agreement with people: every score against every rating, at the levels of Deutsch et al. (2021).

- ``summary``: for each document the correlation over its systems, averaged over the documents.
- ``system``: the correlation of the systems' means.
- ``pooled``: the correlation over all summaries at once.

Intervals are of the percentile bootstrap, over documents and systems together (``low``, ``high``: for another
collection and other systems), and over documents alone. The partial correlation, length held constant, stands beside.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from . import correlation
from .correlation import COEFFICIENTS
from .inputs import Example
from .scoring import Scores
from .shared import scores as shared_scores
from .shared import texts

LEVELS = ("summary", "system", "pooled")
LENGTH = "length_in_words"  # stands beside every score
RESAMPLES = 1000
CONFIDENCE = 0.95
_SYSTEMS_SEED = shared_scores.BOOTSTRAP_SEED + 1  # documents are drawn with the seed of all intervals
_BLOCK = 4_000_000  # numbers in an array of one block of resamples

# (documents, systems): a score, a rating, a length; nan where there is none
Table = np.ndarray


class Agreement(NamedTuple):
    """One score against one rating; nan where undefined."""

    score: str
    human: str
    level: str
    coefficient: str
    value: float
    low: float
    high: float
    low_documents: float
    high_documents: float
    without_length: float
    n: int  # documents with a correlation, systems, or summaries
    undefined: int  # documents, systems or summaries that had to be left out


def levels_of(lengths: Table) -> tuple[str, ...]:
    """The levels that the data have: only the pooled one where no document, or no system, has two summaries."""
    known = ~np.isnan(lengths)
    return LEVELS if known.sum(axis=1).max() > 1 and known.sum(axis=0).max() > 1 else ("pooled",)


class Rated(NamedTuple):
    """Tables (documents, systems) under their names; nan where a system has no such document, or no value for it."""

    scores: dict[str, Table]
    ratings: dict[str, Table]
    lengths: Table  # of the summaries, in words


def tables_of(scores: Scores, examples: list[Example], human: list[str]) -> Rated:
    """The scores as tables, with the ratings and lengths of their examples."""
    documents = {name: place for place, name in enumerate(dict.fromkeys(e.id for e in examples))}
    systems = {name: place for place, name in enumerate(dict.fromkeys(e.system for e in examples))}
    keys = list(dict.fromkeys(key for values in scores.values() for key in values))
    values, ratings = ({name: np.full((len(documents), len(systems)), np.nan) for name in n} for n in (keys, human))
    lengths = np.full((len(documents), len(systems)), np.nan)
    for example in examples:
        place = documents[example.id], systems[example.system]
        lengths[place] = len(texts.words(example.prediction))
        for name in human:
            ratings[name][place] = example.ratings[name]
        for key, value in scores.get((example.system, example.id), {}).items():
            values[key][place] = value
    return Rated(values, ratings, lengths)


def agree(rated: Rated, progress: Callable[[list], Iterable] = iter) -> list[Agreement]:
    """Agreement of each score, and of the length, with each rating.

    Args:
        progress: wraps the list of steps, for a bar.
    """
    scores, ratings, lengths = {**rated.scores, LENGTH: rated.lengths}, rated.ratings, rated.lengths
    steps = [(coefficient, level) for coefficient in COEFFICIENTS for level in levels_of(lengths)]
    found = [each for name, level in progress(steps) for each in _LEVEL[level](name, scores, ratings, lengths)]
    places = {name: place for place, name in enumerate(ratings)}
    order = {name: place for place, name in enumerate(scores)}
    return sorted(
        found, key=lambda a: (places[a.human], LEVELS.index(a.level), COEFFICIENTS.index(a.coefficient), order[a.score])
    )


class Draws:
    """How often each document and each system was drawn; the same at every pass.

    A pass yields blocks (rows, documents) and (rows, systems) of float64, so that an array (rows, ``width``) has
    at most ``_BLOCK`` numbers. In between a count is kept in one byte: 1,000 resamples of a million documents are 1 GB.
    """

    def __init__(self, documents: int, systems: int, width: int):
        self._documents, self._systems = (
            np.concatenate([block.astype(np.uint8) for block in shared_scores.resamples(n, RESAMPLES, seed)])
            for n, seed in ((documents, shared_scores.BOOTSTRAP_SEED), (systems, _SYSTEMS_SEED))
        )
        self._rows = max(1, _BLOCK // width)

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for start in range(0, RESAMPLES, self._rows):
            part = slice(start, start + self._rows)
            yield self._documents[part].astype(np.float64), self._systems[part].astype(np.float64)


def _interval(values: np.ndarray) -> tuple[float, float]:
    values = values[~np.isnan(values)]
    if not len(values):
        return np.nan, np.nan
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def _mean_over_documents(each: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted mean over the documents (last axis) with a correlation; nan where none has one."""
    known = ~np.isnan(each)
    total = (weights * known).sum(axis=-1)
    summed = (weights * np.where(known, each, 0.0)).sum(axis=-1)
    return np.divide(summed, total, out=np.full(total.shape, np.nan), where=total > 0)


def _summary(
    coefficient: str, scores: dict[str, Table], ratings: dict[str, Table], lengths: Table
) -> Iterator[Agreement]:
    documents, systems = lengths.shape
    plain, drawn = np.ones((1, systems)), Draws(documents, systems, documents * systems)
    for human, rated in ratings.items():
        length_rated = correlation.within(coefficient, lengths, rated, plain)[0]
        for score, table in scores.items():
            each = correlation.within(coefficient, table, rated, plain)[0]
            both = np.concatenate(
                [
                    _mean_over_documents(correlation.within(coefficient, table, rated, by_system), by_document)
                    for by_document, by_system in drawn
                ]
            )
            over_documents = np.concatenate([_mean_over_documents(each, by_document) for by_document, _ in drawn])
            score_length = correlation.within(coefficient, table, lengths, plain)[0]
            partial = correlation.without(each, score_length, length_rated)
            known = int((~np.isnan(each)).sum())
            yield Agreement(
                score,
                human,
                "summary",
                coefficient,
                float(_mean_over_documents(each, np.ones(documents))),
                *_interval(both),
                *_interval(over_documents),
                np.nan if score == LENGTH else float(_mean_over_documents(partial, np.ones(documents))),
                known,
                documents - known,
            )


def system_means(table: Table, known: Table, weights: np.ndarray) -> np.ndarray:
    """Means over the known documents, each counted as often as weights (rows, documents) say: (rows, systems)."""
    total = weights @ known
    return np.divide(weights @ np.where(known, table, 0.0), total, out=np.full(total.shape, np.nan), where=total > 0)


def _system(
    coefficient: str, scores: dict[str, Table], ratings: dict[str, Table], lengths: Table
) -> Iterator[Agreement]:
    documents, systems = lengths.shape
    drawn = Draws(documents, systems, max(documents, systems**2))

    def compare(one: Table, other: Table, by_document: np.ndarray, by_system: np.ndarray) -> np.ndarray:
        known = ~(np.isnan(one) | np.isnan(other))
        means = (system_means(side, known, by_document) for side in (one, other))
        return correlation.between(coefficient, *means, by_system)

    plain = np.ones((1, documents)), np.ones((1, systems))
    for human, rated in ratings.items():
        for score, table in scores.items():
            value = compare(table, rated, *plain)[0]
            both = np.concatenate([compare(table, rated, *each) for each in drawn])
            alone = np.concatenate([compare(table, rated, d, np.ones((len(d), systems))) for d, _ in drawn])
            partial = correlation.without(value, compare(table, lengths, *plain)[0], compare(lengths, rated, *plain)[0])
            known = int((~(np.isnan(table) | np.isnan(rated))).any(axis=0).sum())
            yield Agreement(
                score,
                human,
                "system",
                coefficient,
                float(value),
                *_interval(both),
                *_interval(alone),
                np.nan if score == LENGTH else float(partial),
                known,
                systems - known,
            )


def _pooled(
    coefficient: str, scores: dict[str, Table], ratings: dict[str, Table], lengths: Table
) -> Iterator[Agreement]:
    there = ~np.isnan(lengths)
    # by which summaries are known: most scores have all of them, and then one pass serves all pairs
    groups: dict[bytes, list[tuple[str, str]]] = {}
    for human, rated in ratings.items():
        for score, table in scores.items():
            known = there & ~(np.isnan(table) | np.isnan(rated))
            groups.setdefault(known.tobytes(), []).append((score, human))
    for mask, pairs in groups.items():
        known = np.frombuffer(mask, dtype=bool).reshape(lengths.shape)
        count, nothing = int(known.sum()), np.array([np.nan])
        points = {("score", score): scores[score][known] for score, _ in pairs} | {LENGTH: lengths[known]}
        points |= {("human", human): ratings[human][known] for _, human in pairs}
        wanted = {(("score", score), ("human", human)) for score, human in pairs}
        beside = {(side, LENGTH) for pair in wanted for side in pair}
        values, both, alone = ({} for _ in range(3))
        if count > 1:
            values = _correlate(coefficient, points, wanted | beside, [np.ones((1, count))])
            if coefficient == "kendall":
                plain = {(a, b): correlation.kendall_of_many(points[a], points[b]) for a, b in wanted | beside}
                values = {pair: np.array([value]) for pair, value in plain.items()}
            drawn = Draws(*lengths.shape, lengths.size)
            both = _correlate(coefficient, points, wanted, (_of_points(known, d, s) for d, s in drawn))
            alone = _correlate(coefficient, points, wanted, (_of_points(known, d, np.ones(s.shape)) for d, s in drawn))
        for score, human in pairs:
            sides = ("score", score), ("human", human)
            value, *controls = (values.get(pair, nothing)[0] for pair in (sides, *((side, LENGTH) for side in sides)))
            yield Agreement(
                score,
                human,
                "pooled",
                coefficient,
                float(value),
                *_interval(both.get(sides, nothing)),
                *_interval(alone.get(sides, nothing)),
                np.nan if score == LENGTH else float(correlation.without(value, *controls)),
                count,
                int(there.sum()) - count,
            )


def _of_points(known: np.ndarray, by_document: np.ndarray, by_system: np.ndarray) -> np.ndarray:
    """Weights of the known summaries, (rows, summaries): as often as document and system were drawn together."""
    return (by_document[:, :, None] * by_system[:, None, :])[:, known]


def _correlate(coefficient: str, points: dict, pairs: set[tuple], blocks: Iterable[np.ndarray]) -> dict:
    """{pair: its correlation for each row of all blocks of weights}."""
    parts: dict[tuple, list[np.ndarray]] = {pair: [] for pair in pairs}
    for weights in blocks:
        forms = {name: correlation.form(coefficient, values, weights) for name, values in points.items()}
        for one, other in pairs:
            parts[one, other].append(correlation.pooled(coefficient, forms[one], forms[other], weights))
    return {pair: np.concatenate(found) for pair, found in parts.items()}


def values(coefficient: str, level: str, scores: dict[str, Table], rated: Table) -> dict[str, float]:
    """The agreement of each score with one rating at one level, and nothing beside it."""
    plain = np.ones((1, len(rated))), np.ones((1, rated.shape[1]))
    found = {}
    for score, table in scores.items():
        known = ~(np.isnan(table) | np.isnan(rated))
        if level == "summary":
            each = correlation.within(coefficient, table, rated, plain[1])[0]
            value = _mean_over_documents(each, np.ones(len(rated)))
        elif level == "system":
            means = (system_means(side, known, plain[0]) for side in (table, rated))
            value = correlation.between(coefficient, *means, plain[1])[0]
        elif coefficient == "kendall":
            value = correlation.kendall_of_many(table[known], rated[known])
        else:
            ones = np.ones((1, int(known.sum())))
            sides = (correlation.form(coefficient, side[known], ones) for side in (table, rated))
            value = correlation.pooled(coefficient, *sides, ones)[0] if known.sum() > 1 else np.nan
        found[score] = float(value)
    return found


_LEVEL = {"summary": _summary, "system": _system, "pooled": _pooled}
