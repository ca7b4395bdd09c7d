"""Peak memory of the command as the number of examples grows.

    python benchmarks/scale_memory.py [--examples 20000 200000] [--metrics rouge,boc] [--kind jsonl] [--out]

For each number writes a file of so many short examples of two systems (a summary of some 15 words, a reference of 20, a
list of names for all), made up with a seed, runs the command on it in a process of its own, and prints the peak of that
process's resident memory, its ratio to the first number's, the seconds, and the examples per second. With --out the
command keeps its results in a folder, so that it could go on. Its temporary files take some 500 bytes for each example.
"""

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("Amy", "Raj", "Penny", "Leonard", "Howard", "Priya", "Stuart", "Bernadette")
_VOCABULARY = """told asked met saw heard left found lost gave took that then when after before while since the a his
her their old new last small red bridge river town storm letter train night house dinner"""
WORDS = _VOCABULARY.split()
SEED = 0


def rows(count: int) -> Iterator[dict[str, str]]:
    """Examples: each document has a summary of both systems; no two texts are alike."""
    draw = random.Random(SEED)
    for number in range(count):
        reference = [draw.choice(NAMES), *draw.choices(WORDS, k=18), draw.choice(NAMES)]
        kept = [word for word in reference if draw.random() < 0.6]
        summary = [*kept, draw.choice(NAMES), *draw.choices(WORDS, k=4), str(number)]
        system = "one" if number % 2 else "other"
        yield {
            "id": f"d{number // 2}",
            "model": system,
            "summary": " ".join(summary) + ".",
            "reference": " ".join(reference) + ".",
        }


def write(path: Path, count: int) -> None:
    """A file of so many rows, of the kind that its name says."""
    if path.suffix == ".parquet":
        import pandas as pd

        pd.DataFrame(rows(count)).to_parquet(path, row_group_size=10_000)
        return
    with open(path, "w", encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            writer = csv.DictWriter(file, ["id", "model", "summary", "reference"])
            writer.writeheader()
            writer.writerows(rows(count))
        else:
            file.writelines(json.dumps(row) + "\n" for row in rows(count))


def run(command: list[str]) -> tuple[int, float]:
    """Peak resident memory in bytes and seconds of a command; ends with it where it fails."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    start = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, env=environment, stdout=said, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)  # what this one child used, and no other
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            sys.exit(said.read().decode(errors="replace")[-2000:])
    unit = 1 if sys.platform == "darwin" else 1024
    return used.ru_maxrss * unit, time.monotonic() - start


def main() -> None:
    """Print a line for each number of examples."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, nargs="+", default=[20_000, 200_000], help="how many, each in turn")
    parser.add_argument("--metrics", default="rouge,boc")
    parser.add_argument("--kind", choices=["jsonl", "csv", "parquet"], default="jsonl", help="of file")
    parser.add_argument("--out", action="store_true", help="with results that are kept")
    given = parser.parse_args()
    print(f"{'examples':>10} {'peak MB':>9} {'ratio':>6} {'seconds':>8} {'examples/s':>11}")
    first = 0
    for count in given.examples:
        with tempfile.TemporaryDirectory(prefix="scale-") as folder:
            data, people = Path(folder) / f"data.{given.kind}", Path(folder) / "people.txt"
            people.write_text("\n".join(NAMES))
            write(data, count)
            columns = ["--predictions", "summary", "--references", "reference", "--system", "model", "--id", "id"]
            command = [sys.executable, "-m", "eval_summaries", str(data), *columns, "--characters", str(people)]
            command += ["--metrics", given.metrics, *(["--out", str(Path(folder) / "out")] if given.out else [])]
            peak, seconds = run(command)
        first = first or peak
        line = f"{count:>10,} {peak / 1e6:>9.0f} {peak / first:>6.2f} {seconds:>8.0f} {count / seconds:>11.0f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
