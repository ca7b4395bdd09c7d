"""Copy shared files into the folders whose script imports them; `make vendor` runs this.

A metric folder must be complete on its own, because `evaluate.load` copies a script and its direct relative imports
and nothing else. So shared code is edited in `_shared` and copied byte for byte. With --check nothing is written, and
the exit status is 1 where a copy differs, is missing, or is left over.
"""

import ast
import sys
from pathlib import Path

METRICS = Path(__file__).resolve().parent
SHARED = METRICS / "_shared"


def relative_imports(path: Path) -> set[str]:
    """Names of the files that a Python file imports from its own folder."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 1}


def metric_folders() -> list[Path]:
    """Folders that hold a script of their own name."""
    return sorted(path.parent for path in METRICS.glob("*/*.py") if path.stem == path.parent.name)


def copies() -> dict[Path, Path]:
    """Every vendored file that should exist, with its source."""
    shared = {path.stem: path for path in SHARED.glob("*.py")}
    return {
        folder / f"{name}.py": shared[name]
        for folder in metric_folders()
        for name in sorted(relative_imports(folder / f"{folder.name}.py") & shared.keys())
    }


def main(check: bool = False) -> int:
    """Bring the copies up to date, or report those that are not."""
    wanted = copies()
    names = {path.name for path in SHARED.glob("*.py")}
    present = {path for folder in metric_folders() for path in folder.glob("*.py") if path.name in names}
    stale = [path for path, source in wanted.items() if not path.exists() or path.read_bytes() != source.read_bytes()]
    left_over = sorted(present - wanted.keys())
    for path in [*stale, *left_over]:
        print(f"{'differs' if check else 'updated'}: {path.relative_to(METRICS.parent)}")
    if check:
        if stale or left_over:
            print("run: make vendor")
        return int(bool(stale or left_over))
    for path in stale:
        path.write_bytes(wanted[path].read_bytes())
    for path in left_over:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
