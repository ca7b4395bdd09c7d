"""The scores of a run, a column of numbers for each score: a million examples take little more than ids and numbers."""

from array import array
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

Place = tuple[str, str]  # system, id


class Scores(Mapping):
    """{(system, id): {key: value}}, nan where a score is undefined; a score that an example does not have is no key.

    >>> scores = Scores([("a", "1"), ("b", "1")])
    >>> scores.put(("a", "1"), {"f": 0.5})
    >>> dict(scores), scores.systems, scores.ids
    ({('a', '1'): {'f': 0.5}, ('b', '1'): {}}, ['a', 'b'], ['1'])
    >>> scores.table("f").tolist()
    [[0.5], [nan]]
    """

    def __init__(self, places: Any = ()):
        """Start with these places, in their order, none of which has a score."""
        self._systems: dict[str, int] = {}
        self._ids: dict[str, int] = {}
        self._rows: list[array] = []  # of each system, by the number of the id: the row, or -1
        self._system_of, self._id_of = array("q"), array("q")  # of each row
        self._values: dict[str, array] = {}  # as long as the last row that has the score
        self._has: dict[str, bytearray] = {}
        for place in places:
            self._row(place)

    @classmethod
    def of(cls, scores: Mapping[Place, Mapping[str, float]]) -> "Scores":
        """The same scores in this form; what is in it already is returned as it is."""
        if isinstance(scores, cls):
            return scores
        found = cls()
        for place, values in scores.items():
            found.put(place, values)
        return found

    def _find(self, place: Place) -> int:
        system, name = place
        rows, number = self._rows[self._systems[system]], self._ids[name]
        if number >= len(rows) or rows[number] < 0:
            raise KeyError(place)
        return rows[number]

    def _row(self, place: Place) -> int:
        """The row of a place, a new one where it has none."""
        system, name = place
        of_system = self._systems.setdefault(system, len(self._systems))
        if of_system == len(self._rows):
            self._rows.append(array("q"))
        rows, number = self._rows[of_system], self._ids.setdefault(name, len(self._ids))
        if number >= len(rows):
            rows.extend([-1] * (number + 1 - len(rows)))
        if rows[number] < 0:
            rows[number] = len(self._id_of)
            self._system_of.append(of_system)
            self._id_of.append(number)
        return rows[number]

    def put(self, place: Place, values: Mapping[str, float]) -> None:
        """Add an example's values to those that it has."""
        row = self._row(place)
        for key, value in values.items():
            if key not in self._values:
                self._values[key], self._has[key] = array("d"), bytearray()
            column, has = self._values[key], self._has[key]
            if row >= len(column):
                column.extend([np.nan] * (row + 1 - len(column)))
                has.extend(bytes(row + 1 - len(has)))
            column[row], has[row] = value, 1

    def __getitem__(self, place: Place) -> dict[str, float]:
        return self._at(self._find(place))

    def _at(self, row: int) -> dict[str, float]:
        return {key: self._values[key][row] for key, has in self._has.items() if row < len(has) and has[row]}

    def __contains__(self, place: object) -> bool:
        try:
            return self._find(place) >= 0
        except (KeyError, TypeError, ValueError):
            return False

    def __len__(self) -> int:
        return len(self._id_of)

    def __iter__(self) -> Iterator[Place]:
        systems, ids = self.systems, self.ids
        for system, name in zip(self._system_of, self._id_of, strict=True):
            yield systems[system], ids[name]

    def items(self) -> Iterator[tuple[Place, dict[str, float]]]:
        """Places with their values, in their order; one pass."""
        return ((place, self._at(row)) for row, place in enumerate(self))

    def values(self) -> Iterator[dict[str, float]]:
        """The values of each place."""
        return (self._at(row) for row in range(len(self)))

    @property
    def systems(self) -> list[str]:
        """The systems, as they first came."""
        return list(self._systems)

    @property
    def ids(self) -> list[str]:
        """The ids of all systems, each once, as they first came."""
        return list(self._ids)

    @property
    def score_keys(self) -> list[str]:
        """All scores that any example has: those of the first example, then those that the next one has beside."""
        first = {key: has.find(1) for key, has in self._has.items()}
        return sorted(first, key=first.__getitem__)

    def column(self, key: str) -> np.ndarray:
        """(examples,) values of one score, nan where an example does not have it."""
        found = np.full(len(self), np.nan)
        column = self._values.get(key, ())
        found[: len(column)] = column
        return found

    def table(self, key: str) -> np.ndarray:
        """(systems, ids) values of one score, nan where a system does not have the id, or the score."""
        found = np.full((len(self._systems), len(self._ids)), np.nan)
        found[np.asarray(self._system_of), np.asarray(self._id_of)] = self.column(key)
        return found

    def rows_of(self, system: str) -> np.ndarray:
        """The places of a system's examples in a column, in their order."""
        return np.flatnonzero(np.asarray(self._system_of) == self._systems[system])
