"""Results in --out, kept by what they were computed from, so that a run goes on, grows, and computes nothing twice.

``results.jsonl`` has a line for each example and metric. Its key is a digest of the metric's signature and of the texts
that the score depends on: a changed text or option is another key, and a new system or metric only adds lines. A line
reaches the disk before the next chunk begins. What cannot be read of the file is passed over, said, and scored again.
"""

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import filelock

from .inputs import WRITTEN_BY, Example
from .table import UnusableError

RESULTS, RUN, COMPARISON = "results.jsonl", "run.json", "comparison.json"
_OLD = "journal.jsonl"  # of version 0.1, whose scores may differ from today's
WRITTEN = (
    *("scores.jsonl", "scores.csv", "scores.parquet", "summary.md", "summary.tex", "failures.csv"),
    *("ranking.csv", "ranking.tex", "agreement.json", "agreement_tests.json", COMPARISON, RUN),
    *("report.html", "report.json", "history.jsonl"),
)


def write_whole(path: Path, text: str | Iterable[str]) -> None:
    """Write a file so that it is there whole or not at all, also after a power cut.

    Args:
        text: all of it, or its parts one after the other.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            for part in [text] if isinstance(text, str) else text:
                file.write(part.encode("utf-8", "backslashreplace"))  # a lone surrogate, as JSON would escape it
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def digest(*parts: Any) -> str:
    """Hexadecimal digest of anything that JSON can write."""
    return hashlib.blake2b(_content(parts).encode(), digest_size=16).hexdigest()


def _content(thing: Any) -> str:
    """A thing as JSON."""
    try:
        return json.dumps(thing, ensure_ascii=True, sort_keys=True)
    except (TypeError, ValueError):  # what no metric will take: it fails with its row
        return repr(thing)


class Digest:
    """``digest(*before, items)`` of items that come one after the other, so that none of them need be kept."""

    def __init__(self, *before: Any):
        self.count, self._found = 0, hashlib.blake2b(digest_size=16)
        self._found.update(_content(before)[:-1].encode() + (b", [" if before else b"["))

    def add(self, item: Any) -> None:
        """One more item."""
        self._found.update(f"{', ' if self.count else ''}{_content(item)}".encode())
        self.count += 1

    def hexdigest(self) -> str:
        """The digest of all items; the last call."""
        self._found.update(b"]]")
        return self._found.hexdigest()


def _check(key: str, result: dict[str, float | None]) -> str:
    """Tells a line that is as it was written from one in which a digit has changed."""
    return digest(key, result)[:8]


class Store:
    """The folder of --out, held by this process alone until ``close``.

    Args:
        folder: made where it does not exist.
        needs: from a metric's name to the fields of an example that its scores depend on.
        say: tells the user what was found there.

    Raises:
        UnusableError: where it cannot be written to, or holds files of these names that are not this command's.
    """

    def __init__(self, folder: Path, needs: Callable[[str], tuple[str, ...]], say: Callable[[str], Any]):
        self.folder, self.path, self._needs = folder, folder / RESULTS, needs
        self.done: dict[str, dict[str, float]] = {}
        self.used: set[str] = set()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            foreign = [name for name in (RESULTS, *WRITTEN) if (folder / name).exists()]
            if foreign and not self._is_ours():
                raise UnusableError(
                    f"{folder} has a {foreign[0]} that this command did not write: choose another --out"
                )
            self._lock = filelock.FileLock(folder / ".lock")
            try:
                self._lock.acquire(timeout=0)
            except filelock.Timeout:
                say(f"another run is using {folder}: waiting until it ends")
                self._lock.acquire()
            if not self.path.exists():
                self.path.touch()
                if (folder / _OLD).exists():
                    say(f"{folder} is of version 0.1: its scores are computed anew")
            self._read(say)
        except OSError as error:
            raise UnusableError(f"cannot write to {folder}: {error.strerror or error}") from None

    def _is_ours(self) -> bool:
        """Whether a folder with files of these names is this command's: its run.json says so, or a line of results."""
        try:
            plan = json.loads((self.folder / RUN).read_bytes())
            if "written_by" in plan or {"signatures", "metrics"} <= plan.keys():  # of version 0.1
                return True
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            pass
        if (self.folder / _OLD).exists():
            return True
        if not self.path.exists():
            return False
        content = self.path.read_bytes()
        return not content.strip(b"\0\r\n ") or (b'"check": "' in content and b'"result": ' in content)

    def close(self) -> None:
        """Let the next run have the folder."""
        self._lock.release()

    def _read(self, say: Callable[[str], Any]) -> None:
        content, damaged = self.path.read_bytes(), 0
        for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):  # JSON leaves U+2028 in a string
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
                key, result = entry["key"], entry["result"]
                if entry["check"] != _check(key, result):
                    raise ValueError("a changed line")
                self.done[key] = {name: math.nan if value is None else value for name, value in result.items()}
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                damaged += 1
        if damaged:
            what = "1 line" if damaged == 1 else f"{damaged} lines"
            say(f"{what} of {self.path} cannot be read; what is missing is scored again")
        self._torn = bool(content) and not content.endswith(b"\n")

    def _key(self, metric: str, basis: str, example: Example) -> str:
        return digest(metric, basis, [getattr(example, field) for field in self._needs(metric)])

    def find(self, metric: str, basis: str, examples: list[Example]) -> list[dict[str, float] | None]:
        """The known scores of each example, or None."""
        keys = [self._key(metric, basis, example) for example in examples]
        self.used.update(keys)
        return [self.done.get(key) for key in keys]

    def add(self, metric: str, basis: str, results: list[tuple[Example, dict[str, float] | str]]) -> None:
        """Write new scores; an OSError (a full disk) leaves the earlier ones whole. Failures are not kept."""
        fresh = {self._key(metric, basis, e): found for e, found in results if not isinstance(found, str)}
        lines = "\n" if self._torn else ""
        for key, found in fresh.items():
            values = {name: None if math.isnan(value) else value for name, value in found.items()}
            entry = {"key": key, "metric": metric, "result": values, "check": _check(key, values)}
            lines += json.dumps(entry) + "\n"
        self._torn = True  # until the lines are whole on disk
        with open(self.path, "ab") as file:
            file.write(lines.encode())
            file.flush()
            os.fsync(file.fileno())
        self._torn = False
        self.done.update(fresh)

    def prune(self) -> int:
        """Delete what this run did not use, damaged lines too; returns how many scores went."""
        kept = {}
        for line in self.path.read_bytes().split(b"\n"):
            try:
                key = json.loads(line.removeprefix(b"\xef\xbb\xbf"))["key"]
            except (ValueError, TypeError, KeyError, RecursionError):
                continue
            if key in self.used and key in self.done:
                kept[key] = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        gone = len(self.done) - len(kept)
        write_whole(self.path, "".join(f"{line}\n" for line in kept.values()))
        self.done, self._torn = {key: self.done[key] for key in kept}, False
        return gone

    def record(self, plan: dict[str, Any]) -> None:
        """Say in ``run.json`` what the run uses."""
        plan = {"written_by": WRITTEN_BY, **plan}
        write_whole(self.folder / RUN, json.dumps(plan, ensure_ascii=False, indent=1))

    def remember(self, key: str, make: Callable[[], list]) -> list:
        """What ``make`` computes (lists of numbers and texts), once for each key: the comparison of a run."""
        path = self.folder / COMPARISON
        try:
            kept = json.loads(path.read_bytes())
            if kept["key"] == key:
                return kept["found"]
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            pass  # none yet, or a damaged one: it is computed again
        found = make()
        write_whole(path, json.dumps({"written_by": WRITTEN_BY, "key": key, "found": found}))
        return found
