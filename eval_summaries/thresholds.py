"""Limits for continuous integration: a mean below a value, or a system that is worse than another one."""

import math

from .comparison import Comparison
from .ranking import primary, rank
from .scoring import LOWER_IS_BETTER, NEEDS, NO_BETTER_SIDE
from .table import UnusableError
from .tables import Row, number


def parse_limits(given: list[str], names: list[str]) -> dict[str, float]:
    """``SCORE=VALUE`` of each ``--fail-under``; ``UnusableError`` for what could never hold."""
    limits: dict[str, float] = {}
    for setting in given:
        key, equals, value = setting.partition("=")
        try:
            limit = float(value)
        except ValueError:
            limit = math.nan
        if not equals or not math.isfinite(limit):
            raise UnusableError(f"--fail-under {setting}: write SCORE=NUMBER, such as sss=0.3")
        if not key.startswith(tuple(names or NEEDS)):
            raise UnusableError(f"--fail-under {setting}: {key} is no score of {', '.join(names or NEEDS)}")
        if key in LOWER_IS_BETTER or key in NO_BETTER_SIDE:
            side = "lower is better" if key in LOWER_IS_BETTER else "neither side is better"
            raise UnusableError(f"--fail-under {setting}: of {key} {side}")
        if key in limits:
            raise UnusableError(f"--fail-under {setting}: {key} is given twice")
        limits[key] = limit
    return limits


def broken(rows: list[Row], comparisons: list[Comparison], limits: dict[str, float], other: str | None) -> list[str]:
    """What does not hold, a line each.

    Args:
        limits: of ``--fail-under``; a score that no example has is below any.
        other: of ``--fail-if-worse-than``: no system may be worse on a primary score, or on one with a limit, by the
            randomization test after Holm's correction.
    """
    told = []
    systems = list(dict.fromkeys(row.system for row in rows))
    means = {(row.system, row.key): row.mean for row in rows}
    for key, limit in limits.items():
        for system in systems:
            mean = means.get((system, key), math.nan)
            if not mean >= limit:
                told.append(f"{system}: {key} is {number(mean) or 'undefined'}, under {limit:g} (--fail-under)")
    if other is not None and rows:
        keys = [*primary(dict.fromkeys(row.key for row in rows)), *limits]
        keys = [key for key in dict.fromkeys(keys) if key not in NO_BETTER_SIDE]
        found = rank(rows, comparisons, dict.fromkeys(systems, math.nan), keys, baseline=other)
        for (system, key), place in found.places.items():
            if place.sign == "-":
                told.append(
                    f"{system}: {key} is {number(place.mean)}, worse than {other} with "
                    f"{number(means[other, key])} (--fail-if-worse-than)"
                )
    return told
