"""Score examples so that a bad one does not take its neighbours with it; the command and the demos use it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

Thing = TypeVar("Thing")


def parts(things: Iterable[Thing], size: Callable[[Thing], int], largest: int, most: int) -> Iterator[list[Thing]]:
    """Things in parts that are scored together: the same ones in every run.

    Args:
        size: of one thing, in characters.
        largest: characters in a part; one thing with more is a part of its own.
        most: things in a part.

    >>> list(parts(["a", "b", "cc", "dddd", "e"], len, 3, 2))
    [['a', 'b'], ['cc'], ['dddd'], ['e']]
    """
    part: list[Thing] = []
    room = largest
    for thing in things:
        taken = size(thing)
        if part and (len(part) == most or taken > room):
            yield part
            part, room = [], largest
        part.append(thing)
        room -= taken
    if part:
        yield part


def score_each(
    score: Callable[[list], dict[str, list[float]]], examples: Sequence[Any], place: Callable[[Any], str]
) -> list[dict[str, float] | str]:
    """Scores of each example, or why it has none.

    All are scored together first. Where that fails they are halved until each bad one is alone; what its metric says
    of row 0 is then said of its ``place``.

    Args:
        score: from a list of examples to {key: value of each}.
        place: from an example to the file and line that it came from.
    """
    try:
        scores = score(list(examples))
    except Exception as error:  # any: models and libraries of all kinds are asked
        if len(examples) == 1:
            where = place(examples[0])
            reason = " ".join(str(error).split()) or "no reason given"
            reason = reason if isinstance(error, (TypeError, ValueError)) else f"{type(error).__name__}: {reason}"
            return [reason.replace("row 0", where) if "row 0" in reason else f"{where}: {reason}"]
        half = len(examples) // 2
        return [found for part in (examples[:half], examples[half:]) for found in score_each(score, part, place)]
    return [{key: values[row] for key, values in scores.items()} for row in range(len(examples))]
