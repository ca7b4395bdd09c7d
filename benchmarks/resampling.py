"""Tests of systems: how often each finds a difference where there is none, and what the comparison costs.

    python benchmarks/resampling.py

The rates are of true null differences at the level .05, for three shapes of differences: a test that keeps its promise
marks at most 5% of them. They decide from how many examples on the paired bootstrap's p is given.
"""

import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from eval_summaries.comparison import compare_systems
from eval_summaries.resample import paired_bootstrap, randomization
from eval_summaries.tables import summarise

SHAPES = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "skewed": lambda rng, shape: rng.exponential(size=shape) - 1,
    "mostly 0": lambda rng, shape: rng.normal(size=shape) * (rng.random(shape) < 0.3),
}


def rates(columns: int = 4000, resamples: int = 1000) -> None:
    """The share of null differences that each test marks."""
    print("null differences marked at .05 (paired bootstrap / randomization)")
    for n in (3, 5, 10, 20, 30, 50, 100):
        shown = []
        for name, draw in SHAPES.items():
            gaps = draw(np.random.default_rng(n), (n, columns))
            found = ((test(gaps, resamples) < 0.05).mean() for test in (paired_bootstrap, randomization))
            shown.append(f"{name} " + " / ".join(f"{rate:5.1%}" for rate in found))
        print(f"  n = {n:>3}   {'   '.join(shown)}")


def cost() -> None:
    """CPU time and means of the comparison of many systems, and of many examples."""
    for systems, keys, examples in ((16, 17, 100), (2, 17, 100_000)):
        table = np.random.default_rng(0).random((systems, examples, keys))
        names = [f"score{key}" for key in range(keys)]
        scores = {
            (f"s{system}", str(example)): dict(zip(names, table[system, example].tolist(), strict=True))
            for system in range(systems)
            for example in range(examples)
        }
        title = f"{systems} systems, {keys} scores, {examples:,} examples"
        for what, job in (
            ("comparison", partial(compare_systems, scores, names)),
            ("means", partial(summarise, scores)),
        ):
            start, wall = time.process_time(), time.perf_counter()
            job()
            spent = time.process_time() - start, time.perf_counter() - wall
            print(f"  {title}: {what} {spent[0]:.1f} s of CPU, {spent[1]:.1f} s")


if __name__ == "__main__":
    rates()
    cost()
    import resource

    print(f"  at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB of memory")
