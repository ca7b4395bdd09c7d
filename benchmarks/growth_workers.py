"""What more examples and more workers cost: the command's scoring in one process, and on Ray.

    python benchmarks/growth_workers.py [--metric boc] [--megabytes 25] [--examples 1,2,4,8] [--workers 1,2]

Synthetic recaps (seeded words and names, no one's texts), MEGABYTES of them at the first number of examples, scored by
one process and then by --ray local, --rounds times; the table has medians over that of one process with the fewest
examples, of Ray with its start and that of its actors. Below, how many times as fast the most workers are on the
largest text, also from the first batch on that comes back (batches are of about 1 MB: with few of them that is too
good). The scores must be equal.

The extra `ray` is needed. `--megabytes 200 --examples 1` is the row of 200 MB. Run it on a quiet machine.
"""

import argparse
import random
import statistics
import sys
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from eval_summaries.engine import Engine
from eval_summaries.inputs import Example
from eval_summaries.score_table import Scores
from eval_summaries.scoring import SCORERS, run

NAMES = [f"{first}{last}" for first in ("Am", "Be", "Ro", "Ka", "Lu") for last in ("ra", "lin", "tor", "den", "mia")]
WORDS = 1000  # in each text


def make(megabytes: float, times: int) -> list[Example]:
    """Examples whose summaries and references are so long together; one word in seven is a name.

    >>> sum(len(e.prediction) + len(e.references[0]) for e in make(0.1, 2)) > 200_000
    True
    """
    draw = random.Random(0)
    words = ["".join(draw.choices("aeioulnrstdm", k=draw.randint(2, 9))) for _ in range(5000)]

    def text() -> str:
        return " ".join(draw.choice(NAMES) if draw.random() < 1 / 7 else draw.choice(words) for _ in range(WORDS))

    examples, letters = [], 0
    while letters <= megabytes * times * 1e6:
        one, other = text(), text()
        examples.append(Example(str(len(examples)), "one", one, [other], [other], NAMES))
        letters += len(one) + len(other)
    return examples


def seconds(metric: str, examples: list[Example], engine: Engine | None) -> tuple[float, Scores]:
    """Time of the scoring, on Ray from the first batch that comes back; and the scores."""
    started = ended = 0.0

    def watch(_: str, batches: Iterable, total: int) -> Iterable:
        nonlocal started, ended
        started = 0.0 if engine else time.perf_counter()
        for batch in batches:
            started = started or (time.perf_counter() if batch else 0.0)
            yield batch
        ended = time.perf_counter()

    scores, failures, _ = run([SCORERS[metric](metric, {})], examples, None, watch, engine)
    assert not failures
    return ended - started, scores


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metric", default="boc", choices=list(SCORERS))
    parser.add_argument("--megabytes", type=float, default=25)
    parser.add_argument("--examples", default="1,2,4,8", help="multiples of the text")
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    multiples = [int(part) for part in given.examples.split(",")]
    workers = [int(part) for part in given.workers.split(",")]
    whole: dict[tuple[int, int], list[float]] = {}
    started: dict[tuple[int, int], list[float]] = {}
    for _ in range(given.rounds):
        for times in multiples:
            examples, here = make(given.megabytes, times), {}
            for count in (0, *workers):
                start = time.perf_counter()
                if count:
                    with Engine("local", count, 0) as engine:
                        took, scores = seconds(given.metric, examples, engine)
                else:
                    took, scores = seconds(given.metric, examples, None)
                    here = scores
                assert scores == here, "Ray gives other scores"
                whole.setdefault((times, count), []).append(time.perf_counter() - start)
                started.setdefault((times, count), []).append(took)
    medians = {key: statistics.median(values) for key, values in whole.items()}
    first = medians[multiples[0], 0]
    print(f"\n{given.metric}, {given.megabytes:g} MB at 1x, time over that of one process at {multiples[0]}x\n")
    print(f"| examples | one process | {' | '.join(f'Ray, {count} workers' for count in workers)} |")
    print("|---|" + "---|" * (1 + len(workers)))
    for times in multiples:
        print(f"| {times}x | " + " | ".join(f"{medians[times, count] / first:.2f}" for count in (0, *workers)) + " |")
    most, last = max(workers), multiples[-1]
    gain = medians[last, 0] / medians[last, most]
    then = statistics.median(started[last, 0]) / statistics.median(started[last, most])
    print(f"\n{most} workers at {last}x: {gain:.2f} times as fast as one process")
    print(f"from the first batch on that comes back: {then:.2f} times")


if __name__ == "__main__":
    main()
