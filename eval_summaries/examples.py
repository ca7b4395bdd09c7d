"""Examples, few of them in memory and many on disk, so that a run's memory does not grow with its texts."""

import pickle
import tempfile
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

IN_MEMORY = 10_000  # examples
IN_MEMORY_TEXT = 20_000_000  # characters of theirs
_BLOCK = 1_000_000  # bytes that are read, or written, at once


@dataclass
class Example:
    """One summary of one system, with what it is compared with; None where the input does not have it."""

    id: str
    system: str
    prediction: str
    references: list[str] | None = None
    documents: list[str] | None = None
    characters: list | dict | None = None
    where: str = ""  # the file and line that it was read from
    ratings: dict[str, float] = field(default_factory=dict)  # by people; nan where one is missing

    def origin(self) -> str:
        """The file and line that it was read from, or its id where there is none."""
        return self.where or self.id

    def size(self) -> int:
        """Characters of all its texts."""
        return len(self.prediction) + sum(map(len, (*(self.references or ()), *(self.documents or ()))))


class Examples(Sequence):
    """Examples one after the other, as in a list; from so many on in a temporary file, from which each pass reads them.

    What is read from the file is equal to what was added, and no longer the same object; ``shared`` always is.

    Args:
        shared: characters of all examples, of which there is one object.
    """

    def __init__(self, shared: list | dict | None = None):
        self._shared = shared
        self._listed: list[Example] = []
        self._characters = 0  # of the listed ones
        self._file: Any = None
        self._ends, self._waiting, self._size = array("q", [0]), [], 0

    def append(self, example: Example) -> None:
        """Add an example at the end."""
        if self._file:
            self._put(example)
            return
        self._listed.append(example)
        self._characters += example.size()
        if len(self._listed) > IN_MEMORY or self._characters > IN_MEMORY_TEXT:
            self._file = tempfile.TemporaryFile(prefix="eval_summaries-")  # noqa: SIM115 - as long as this object
            for one in self._listed:
                self._put(one)
            self._listed = []

    def _put(self, example: Example) -> None:
        own = () if example.characters is self._shared else (example.characters,)
        facts = example.id, example.system, example.prediction, example.references, example.documents
        packed = pickle.dumps((*facts, own, example.where, example.ratings), pickle.HIGHEST_PROTOCOL)
        self._waiting.append(packed)
        self._size += len(packed)
        self._ends.append(self._ends[-1] + len(packed))
        if self._size > _BLOCK:
            self._write()

    def _write(self) -> None:
        self._file.seek(self._ends[-1] - self._size)
        self._file.write(b"".join(self._waiting))
        self._file.flush()  # a full disk is told here
        self._waiting, self._size = [], 0

    def _read(self, start: int, end: int) -> Iterator[Example]:
        """The examples from ``start`` up to ``end``, from the file."""
        if self._waiting:
            self._write()
        first = self._ends[start]
        self._file.seek(first)
        block = memoryview(self._file.read(self._ends[end] - first))
        for one, other in pairwise(self._ends[start : end + 1]):
            *facts, own, where, ratings = pickle.loads(block[one - first : other - first])
            yield Example(*facts, *(own or (self._shared,)), where, ratings)

    def __len__(self) -> int:
        return len(self._ends) - 1 if self._file else len(self._listed)

    def __getitem__(self, place: Any) -> Any:
        if not self._file:
            return self._listed[place]
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        number = range(len(self))[place]  # also from the end; IndexError for none
        return next(self._read(number, number + 1))

    def __iter__(self) -> Iterator[Example]:
        if not self._file:
            yield from self._listed
            return
        start = 0
        while start < len(self):
            end = max(start + 1, bisect_right(self._ends, self._ends[start] + _BLOCK) - 1)
            yield from self._read(start, end)
            start = end

    def __eq__(self, other: object) -> bool:
        """Whether a list, or the like, has equal examples in the same order."""
        if not isinstance(other, (list, Examples)):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))
