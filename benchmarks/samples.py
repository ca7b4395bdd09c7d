"""What the benchmarks on real texts share: rows of a file, a seeded sample, partners, and how a number is shown."""

import json
import random
from pathlib import Path

SEED = 0


def read_rows(path: Path, sample: int | None = None) -> list[dict]:
    """The rows of a JSON Lines file, or so many of them, drawn with a seed and left in their order."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    if sample is None or sample >= len(rows):
        return rows
    return [rows[place] for place in sorted(random.Random(SEED).sample(range(len(rows)), sample))]


def partners(count: int) -> list[int]:
    """For each of so many rows another one, drawn with a seed; every row is somebody's partner once.

    >>> found = partners(5)
    >>> sorted(found), any(row == partner for row, partner in enumerate(found))
    ([0, 1, 2, 3, 4], False)
    """
    order = random.Random(SEED).sample(range(count), count)
    following = dict(zip(order, [*order[1:], *order[:1]], strict=True))
    return [following[row] for row in range(count)]


def best_and_worst(systems: list[dict]) -> tuple[str, str]:
    """The summaries that people rated best and worst, by the mean of their ratings; of equal ones the first."""
    rated = [(sum(system["human"].values()) / len(system["human"]), system["summary"]) for system in systems]
    return max(rated, key=lambda one: one[0])[1], min(rated, key=lambda one: one[0])[1]


def short(value: float, digits: int = 2, sign: str = "") -> str:
    """A number as the tables show it, without a 0 before the point.

    >>> short(0.466), short(-0.04), short(12.5, 1), short(0.001, sign="+")
    ('.47', '-.04', '12.5', '.00')
    """
    text = f"{value:{sign}.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("0.", ".", 1) if text.lstrip("+-").startswith("0.") else text
