"""Plant faults one by one and see whether the quick tests find them: ``make mutants``, or run.py NAME... for some.

Each [[mutant]] of mutants.toml has a name, a file, the text ``old`` (once in that file), what is written instead
(``new``), and the tests that should fail. All happens in a copy of the checkout.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import tomli

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
QUICK = "not slow and not install and not thorough"
SECONDS = 240  # a fault may make a test wait for ever


def read_mutants() -> list[dict[str, str]]:
    """The list, in its order."""
    return tomli.loads((HERE / "mutants.toml").read_text(encoding="utf-8"))["mutant"]


def misfit(mutant: dict[str, str], root: Path = ROOT) -> str:
    """Why a mutant cannot be planted, or an empty text."""
    path = root / mutant["file"]
    count = path.read_text(encoding="utf-8").count(mutant["old"]) if path.is_file() else 0
    if mutant["old"] == mutant["new"]:
        return "it changes nothing"
    return "" if count == 1 else f"its old text is {count} times in {mutant['file']}"


def run_tests(root: Path, tests: str) -> tuple[int, str]:
    """Exit status of the quick ones of these tests (-1: too slow), and what failed or was printed last."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", QUICK, "-p", "no:cacheprovider", *tests.split()]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return -1, f"longer than {SECONDS} seconds"
    failed = re.search(r"^FAILED (\S+)", done.stdout, re.MULTILINE)
    return done.returncode, failed[1] if failed else (done.stdout.strip().splitlines() or [done.stderr[-200:]])[-1]


def vendor(root: Path) -> None:
    """Copy the shared files into the metrics' folders."""
    subprocess.run([sys.executable, "metrics/vendor.py"], cwd=root, check=True, capture_output=True)


def try_mutant(mutant: dict[str, str], root: Path) -> tuple[str, str]:
    """What became of a mutant, planted for the moment, and the test that says so."""
    if reason := misfit(mutant, root):
        return "does not apply", reason
    path = root / mutant["file"]
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace(mutant["old"], mutant["new"]), encoding="utf-8")
    try:
        vendor(root)
        status, said = run_tests(root, mutant["tests"])
    finally:
        path.write_text(before, encoding="utf-8")
        vendor(root)
    return {0: "SURVIVED", 1: "caught"}.get(status, "not clear"), said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="only the mutants with one of these texts in their names")
    names = parser.parse_args().names
    mutants = [m for m in read_mutants() if not names or any(name in m["name"] for name in names)]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "checkout"
        # neither what git keeps nor what is built: no mutant is there
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "build", "__pycache__", ".venv", "venv"))
        tests = " ".join(dict.fromkeys(test for mutant in mutants for test in mutant["tests"].split()))
        status, said = run_tests(copy, tests)
        print(f"{'nothing planted':<50} {'passed' if status == 0 else 'FAILED'}: {said}", flush=True)
        if status:
            return 1
        results = []
        for mutant in mutants:
            result, said = try_mutant(mutant, copy)
            print(f"{mutant['name']:<50} {result}: {said}", flush=True)
            results.append(result)
    caught = results.count("caught")
    print(f"{caught} of {len(results)} caught")
    return int(caught < len(results))


if __name__ == "__main__":
    sys.exit(main())
