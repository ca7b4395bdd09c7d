"""How the cost grows: what twice the text, or twice the names, costs, in prose and in hostile input.

    python benchmarks/growth.py

Linear work takes about 2 times as long for twice as much, quadratic work 4 times. The fastest of three runs each.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from speed_texts import PROSE, with_names

from metrics._shared.characters import CharacterList
from metrics._shared.texts import sentences, words

MEGABYTE = 1_000_000


class Sized(NamedTuple):
    """Work whose input can be made in any size."""

    what: str
    size: int
    make: Callable[[int], Any]
    run: Callable[[Any], object]


def best(run: Callable[[Any], object], given: Any, times: int = 3) -> float:
    """Seconds of the fastest of several runs."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        run(given)
        found.append(time.perf_counter() - started)
    return min(found)


def filled(unit: str) -> Callable[[int], str]:
    """Texts that repeat a piece, of so many characters."""
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def texts() -> Iterator[Sized]:
    """Sentences and words of 1 MB."""
    hostile = {"prose": PROSE, "unclosed quotes": "“x. ", "full stops": ".", "spaced stops": ". ", "blank lines": "\n"}
    for name, unit in hostile.items():
        yield Sized(f"sentences, {name}, characters", MEGABYTE, filled(unit), sentences)
    yield Sized("words, prose, characters", MEGABYTE, filled(PROSE), words)


def characters() -> Iterator[Sized]:
    """Names in text, in twice as much of it and twice as many of them; and what has names within names."""
    few, text = with_names(10 * MEGABYTE, 500)
    yield Sized("500 names in prose, characters", len(text), lambda size: text[:size], CharacterList(few).mentions)
    many, sought = with_names(5 * MEGABYTE, 1000)
    yield Sized("names sought in 5 MB", 1000, lambda size: CharacterList(many[:size]), lambda one: one.mentions(sought))
    hostile = {
        "names within names, one word": (["a" * k for k in range(1, 101)], "a"),
        "names within names, unspaced": (["王" * k for k in range(1, 101)], "王"),
        "names within names, phrases": ([" ".join("a" * k) for k in range(1, 101)], "a "),
        "a look far ahead each time": (["a", " ".join("a" * 100) + " x"], "a "),
        "runs of combining marks": (["a"], "\u0301\u0323"),
    }
    for what, (names, unit) in hostile.items():
        yield Sized(f"{what}, characters", MEGABYTE, filled(unit), CharacterList(names).mentions)
    yield Sized("names compiled", 250_000, lambda size: [f"N{number}x" for number in range(size)], CharacterList)


def rows(parts: Iterable[Callable[[], Iterator[Sized]]], scale: float = 1.0) -> Iterator[str]:
    """The lines of the table; ``scale`` makes every size smaller."""
    for part in parts:
        for row in part():
            size = max(2, int(row.size * scale))
            once, twice = (best(row.run, row.make(count)) for count in (size // 2, size))
            yield f"| {row.what} | {size:,} | {twice:.2f} s | {twice / once:.1f} times |"


def main() -> None:
    """Print the table."""
    print("| work | how many | takes | as long as half of it |\n|---|---|---|---|")
    for line in rows((texts, characters)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
