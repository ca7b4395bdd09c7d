"""Results in --out, kept by what they were computed from, so that a run goes on, grows, and computes nothing twice.

``results.jsonl`` has a line for each example and metric. Its key is a digest of the metric's signature and of the texts
that the score depends on: a changed text or option is another key, and a new system or metric only adds lines. A line
reaches the disk before the next chunk begins. What cannot be read of the file is passed over, said, and scored again.
In memory is only where the line of each key is.
"""

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import filelock

from .inputs import WRITTEN_BY, Example
from .offsets import Offsets
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


_BOM = b"\xef\xbb\xbf"
_DAMAGE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)  # what ``_parse`` raises


def _parse(line: bytes) -> tuple[str, dict[str, float]]:
    """Key and scores of a line of results; one of ``_DAMAGE`` where it is not as it was written."""
    entry = json.loads(line.removeprefix(_BOM))
    key, result = entry["key"], entry["result"]
    if entry["check"] != _check(key, result):
        raise ValueError("a changed line")
    return key, {name: math.nan if value is None else value for name, value in result.items()}


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
        self._offsets = Offsets()
        # of the chunk that was looked for last, so that no text is digested twice: {number of the object: it, its key}
        self._chunk: tuple[str, str, dict[int, tuple[Example, str]]] = ("", "", {})
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
        blank = True
        with open(self.path, "rb") as lines:
            for line in lines:
                if b'"check": "' in line and b'"result": ' in line:
                    return True
                blank = blank and not line.strip(b"\0\r\n ")
        return blank

    def close(self) -> None:
        """Let the next run have the folder."""
        self._file.close()
        self._lock.release()

    def _read(self, say: Callable[[str], Any]) -> None:
        damaged, line = 0, b"\n"
        self._file = open(self.path, "rb")  # noqa: SIM115 - until close(), for what is needed of it
        for offset, line in self._lines():
            if line.removeprefix(_BOM).strip():
                try:
                    key, _ = _parse(line)
                    self._offsets[key] = offset
                except _DAMAGE:
                    damaged += 1
        if damaged:
            what = "1 line" if damaged == 1 else f"{damaged} lines"
            say(f"{what} of {self.path} cannot be read; what is missing is scored again")
        self._torn = not line.endswith(b"\n")

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Each line, up to its line feed (JSON leaves U+2028 in a string), with its place in the file."""
        self._file.seek(0)
        offset = 0
        for line in self._file:
            yield offset, line
            offset += len(line)

    def _key(self, metric: str, basis: str, example: Example) -> str:
        return digest(metric, basis, [getattr(example, field) for field in self._needs(metric)])

    def find(self, metric: str, basis: str, examples: list[Example]) -> list[dict[str, float] | None]:
        """The known scores of each example, or None."""
        keys = [self._key(metric, basis, example) for example in examples]
        self._chunk = metric, basis, {id(e): (e, key) for e, key in zip(examples, keys, strict=True)}
        known = {key: offset for key in keys if (offset := self._offsets.get(key)) is not None}
        found = {key: self._load(key, offset) for key, offset in sorted(known.items(), key=itemgetter(1))}
        for key in found:
            self._offsets.use(key)
        return [found.get(key) for key in keys]

    def _load(self, key: str, offset: int) -> dict[str, float] | None:
        """The scores of a line; None where it is no longer what it was."""
        self._file.seek(offset)
        try:
            found, result = _parse(self._file.readline())
            return result if found == key else None
        except _DAMAGE:
            return None

    def _key_of(self, metric: str, basis: str, example: Example) -> str:
        """``_key``, which ``find`` has just made."""
        known = self._chunk[2].get(id(example)) if self._chunk[:2] == (metric, basis) else None
        return known[1] if known and known[0] is example else self._key(metric, basis, example)

    def add(self, metric: str, basis: str, results: list[tuple[Example, dict[str, float] | str]]) -> None:
        """Write new scores; an OSError (a full disk) leaves the earlier ones whole. Failures are not kept."""
        fresh = {self._key_of(metric, basis, e): found for e, found in results if not isinstance(found, str)}
        lines = []
        for key, found in fresh.items():
            values = {name: None if math.isnan(value) else value for name, value in found.items()}
            entry = {"key": key, "metric": metric, "result": values, "check": _check(key, values)}
            lines.append(json.dumps(entry).encode() + b"\n")
        start = b"\n" if self._torn else b""
        self._torn = True  # until the lines are whole on disk
        with open(self.path, "ab") as file:
            offset = file.tell() + len(start)
            file.write(start + b"".join(lines))
            file.flush()
            os.fsync(file.fileno())
        self._torn = False
        for key, line in zip(fresh, lines, strict=True):
            self._offsets[key] = offset
            self._offsets.use(key)
            offset += len(line)

    def prune(self) -> int:
        """Delete what this run did not use, damaged lines too; returns how many scores went."""
        before = len(self._offsets)
        write_whole(self.path, self._used_lines())
        self._file.close()
        self._offsets = Offsets()
        self._read(lambda told: None)
        return before - len(self._offsets)

    def _used_lines(self) -> Iterator[str]:
        for offset, line in self._lines():
            try:
                key, _ = _parse(line)
            except _DAMAGE:
                continue
            if self._offsets.get(key) == offset and self._offsets.is_used(key):
                yield line.removeprefix(_BOM).decode().rstrip("\r\n") + "\n"

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
