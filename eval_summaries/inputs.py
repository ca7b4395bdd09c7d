"""From folders and files to examples; a row that cannot be used becomes a failure with its reason and its place.

The command and the demos read by this module alone, so that a file means the same in both.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise, repeat
from pathlib import Path
from typing import Any

from .cells import as_characters, as_rating, as_texts, is_blank, label, parse_characters
from .examples import Example, Examples
from .rows import read_rows, read_text
from .table import Row, Unreadable, UnusableError

SUFFIX = "_summary.txt"
WRITTEN_BY = "eval_summaries"  # in the JSON files of --out, which may be a folder of summaries too
ROLES = ("predictions", "references", "documents", "characters", "system", "id")
# The block that the author's summarizer writes below a summary: a heading, then a score for each section.
_SECTION_SCORES = re.compile(r"^[ \t]*(?:-{3,}[ \t]*\n\s*)?Section Scores\b.*", re.I | re.M | re.S)

_SIDES = {
    "summaries": lambda example: [example.prediction],
    "references": lambda example: example.references or [],
    "documents": lambda example: example.documents or [],
}


@dataclass
class Failure:
    """A row that is not scored, and why."""

    id: str
    system: str
    reason: str

    def __post_init__(self):
        # a file name that is not UTF-8 must not end the run where it is written
        for part in ("id", "system", "reason"):
            setattr(self, part, getattr(self, part).encode("utf-8", "backslashreplace").decode())


@dataclass
class Inputs:
    """Everything that was read, in its order, and what a user should know of it."""

    examples: Sequence[Example] = field(default_factory=Examples)
    failures: list[Failure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def checked(self) -> "Inputs":
        """Raise ``UnusableError`` where nothing was read, nothing can be used, or one system has an id twice."""
        seen: dict[str, set[str]] = {}
        blank = dict.fromkeys(_SIDES, 0)
        for row in chain(self.examples, self.failures):
            ids = seen.setdefault(row.system, set())
            if row.id in ids:
                raise UnusableError(
                    f"system {row.system!r} has the id {row.id!r} twice: ids must differ within a system"
                )
            ids.add(row.id)
            if isinstance(row, Example):
                for side, texts in _SIDES.items():
                    blank[side] += any(map(is_blank, texts(row)))
        if not seen:
            raise UnusableError("there is nothing to score: the input has no rows")
        if not self.examples:
            reasons = [failure.reason for failure in self.failures]
            more = f"\n  and {len(reasons) - 10} more" if len(reasons) > 10 else ""
            raise UnusableError(f"no row can be scored ({len(reasons)}):\n  " + "\n  ".join(reasons[:10]) + more)
        for side, count in blank.items():
            if count:
                told = f"{count} of {len(self.examples)} {side} are empty"
                self.notes.append(f"{told}: they count, with each card's value")
        return self


def drop_section_scores(text: str) -> str:
    """A summary without the block of section scores at its end.

    >>> drop_section_scores("A river rose.\\n\\n---\\n\\nSection Scores for river:\\n- 12.5\\n- 9.1\\n")
    'A river rose.'
    """
    return _SECTION_SCORES.sub("", text).rstrip()


# ---- folders --------------------------------------------------------------------------------------------------------


def read_parameters(folders: dict[str, Path], inputs: Inputs) -> dict[str, Any]:
    """JSON objects beside each system's summaries, such as summarization_parameters.json: {system: {file: content}}.

    What is no JSON object is left alone and noted; files that this command writes (run.json) are not read.
    """
    found: dict[str, Any] = {}
    for system, folder in folders.items():
        for path in sorted(folder.glob("*.json")):
            try:
                content = json.loads(read_text(path))
            except (ValueError, RecursionError, OSError):
                content = None
            if not isinstance(content, dict):
                inputs.notes.append(label(f"{path} is no JSON object: it is not recorded as parameters"))
            elif content.get("written_by") != WRITTEN_BY:
                found.setdefault(system, {})[label(path.name)] = content
    return found


def read_characters(path: Path, encoding: str = "utf-8") -> list | dict:
    """A file of characters for all examples: one a line, ``House: Dr. House, Gregory House``; or JSON."""
    if not path.is_file():
        raise UnusableError(f"--characters {path}: there is no such file")
    try:
        return parse_characters(read_text(path, encoding), f"--characters {path}")
    except (ValueError, OSError) as error:
        raise UnusableError(str(error)) from None


def listing(folder: Path, suffix: str) -> dict[str, Path]:
    """{name without the suffix, composed (NFC): path}: file systems write one name in two ways."""
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        name = unicodedata.normalize("NFC", path.name)
        if name.lower().endswith(suffix) and found.setdefault(name[: -len(suffix)], path) != path:
            raise UnusableError(f"{folder} has the name {label(name)!r} twice, composed and decomposed: rename one")
    return found


def read_folders(
    summaries: dict[str, Path],
    documents: Path | None,
    references: Path | None,
    encoding: str = "utf-8",
    without_section_scores: bool = False,
    characters: list | dict | None = None,
) -> Inputs:
    """Read NAME_summary.txt of each system's folder, with NAME.txt of the documents' and of the references' folder."""
    for folder in [*summaries.values(), *(folder for folder in (documents, references) if folder)]:
        if not folder.is_dir():
            raise UnusableError(f"there is no folder {folder}")
    inputs = Inputs(Examples(characters))
    others = {side: listing(side, ".txt") for side in (documents, references) if side}
    for system, folder in summaries.items():
        found = listing(folder, SUFFIX)
        if not found:
            raise UnusableError(f"{folder} has no file NAME{SUFFIX}")
        for name, path in found.items():
            try:
                prediction = valid(read_text(path, encoding), path)
                if without_section_scores:
                    prediction = drop_section_scores(prediction)
                texts = []
                for side in (documents, references):
                    if side and name not in others[side]:
                        raise ValueError(f"there is no {side / name}.txt for {path.name}")
                    other = others[side][name] if side else None
                    texts.append([valid(read_text(other, encoding), other)] if other else None)
                documents_, references_ = texts
                inputs.examples.append(
                    Example(
                        label(name), label(system), prediction, references_, documents_, characters, label(str(path))
                    )
                )
            except (ValueError, OSError) as error:
                inputs.failures.append(Failure(label(name), label(system), str(error)))
    return inputs.checked()


def valid(text: str, where: Any) -> str:
    """The text; ValueError for a lone surrogate, which no other text file and no model can carry."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        found = f"{text[error.start]!r} at character {error.start}"
        raise ValueError(f"{where} has a lone surrogate, {found}: it is no valid Unicode text") from None
    return text


# ---- files ----------------------------------------------------------------------------------------------------------


def read_file(
    path: Path,
    columns: dict[str, str | None],
    encoding: str = "utf-8",
    split: str | None = None,
    without_section_scores: bool = False,
    human: Sequence[str] = (),
) -> Inputs:
    """Read a table: JSONL, JSON, CSV, TSV, Excel, Parquet, also with gzip, or a folder that ``datasets`` saved.

    Args:
        columns: for each of ``ROLES`` the name of the column, or None for one that was not asked for; characters may
            also be a file of names for all examples.
        encoding: of text files.
        split: of a saved ``DatasetDict``, or the sheet of a workbook.
        human: columns of ratings by people.
    """
    columns = {**columns, **{f"human {name}": name for name in human}}
    rows = read_rows(path, encoding, split, {column for column in columns.values() if column})
    columns, people = find_columns(path, rows, columns, encoding)
    inputs, places = Inputs(Examples(people)), Counter()
    by_order = not columns.get("id")
    if not (by_order and columns.get("system")):  # else an empty line may have been a row
        rows = rows.without_blanks()
    systems = _systems(rows, columns["system"], by_order) if columns.get("system") else None
    for row, system in _with_systems(path, rows, systems):
        # without ids the first rows of two systems are one example, and so on: systems are compared by id
        name = str(places[system]) if not columns.get("id") else row.where
        places[system] += 1
        try:
            if isinstance(row.values, Unreadable):
                raise ValueError(row.values.reason)
            named = {role: row.values.get(column) for role, column in columns.items() if column}
            if columns.get("id"):
                name = _required(named["id"], "id", row.where)
            if columns.get("system"):
                _required(named["system"], "system", row.where)
            if without_section_scores and isinstance(named["predictions"], str):
                named["predictions"] = drop_section_scores(named["predictions"])
            example = _example(name, system, named, row.where)
            example.characters = people if people is not None else example.characters
            example.ratings = {each: as_rating(row.values.get(each), f"{row.where}: {each}") for each in human}
            inputs.examples.append(example)
        except ValueError as error:
            inputs.failures.append(Failure(name, system, str(error)))
    sizes = {system: count for system, count in places.items() if system}
    if not columns.get("id") and len(set(sizes.values())) > 1:
        told = ", ".join(f"{system} {count}" for system, count in sizes.items())
        inputs.notes.append(f"systems are paired by the order of their rows, and have unlike numbers of them ({told})")
    return inputs.checked()


def find_columns(
    path: Path, rows: Iterable[Row], columns: dict[str, str | None], encoding: str
) -> tuple[dict[str, str | None], list | dict | None]:
    """The columns that the table has, and the characters where they are a file; ``UnusableError`` for any other."""
    present, missing = {}, {column for column in columns.values() if column}
    for row in rows:
        if isinstance(row.values, dict):
            present.update(dict.fromkeys(row.values))
            missing.difference_update(row.values)
        if not missing:
            break
    people = None
    for role, column in columns.items():
        if not column or column in present or not present:
            continue
        if role == "characters" and Path(column).is_file():
            people, columns = read_characters(Path(column), encoding), {**columns, role: None}
            continue
        shown = ", ".join(map(str, present))
        hint = "; its fields seem to be parted by semicolons, and commas are expected" if ";" in shown else ""
        also = f", and there is no file {column!r}" if role == "characters" else ""
        raise UnusableError(f"{path} has no column {column!r} (--{role.split()[0]}){also}; it has {shown}{hint}")
    return columns, people


def _required(value: Any, role: str, where: str) -> str:
    """A name as text; ValueError where it is missing."""
    name = label(value)
    if not name:
        raise ValueError(f"{where} has no {role}")
    return name


def _example(name: str, system: str, named: dict[str, Any], where: str) -> Example:
    """One example of a row's values; ValueError for values of the wrong kind."""
    prediction = named["predictions"]
    if not isinstance(prediction, str):
        raise ValueError(f"{where}: predictions is {prediction!r:.40}, and a string is expected")
    if (texts := as_texts(prediction, f"{where}: predictions")) != [prediction]:
        raise ValueError(f"{where}: predictions is a list of {len(texts)} texts in one cell; give one text")
    found: dict[str, list[str] | None] = {"references": None, "documents": None}
    for role in found:
        if role in named:
            found[role] = as_texts(named[role], f"{where}: {role}")
    for text in [prediction, *(text for texts in found.values() for text in texts or [])]:
        valid(text, where)
    people = as_characters(named["characters"], f"{where}: characters") if "characters" in named else None
    return Example(name, system, prediction, found["references"], found["documents"], people, where)


def _with_systems(path: Path, rows: Iterable[Row], systems: list[str] | None) -> Iterator[tuple[Row, str]]:
    """Each row with its system; ``UnusableError`` where the file has other rows than when its systems were read."""
    try:
        yield from zip(rows, repeat("system") if systems is None else systems, strict=systems is not None)
    except ValueError:
        raise UnusableError(f"{path} changed while it was read: give the same command again") from None


def _systems(rows: Iterable[Row], column: str, by_order: bool) -> list[str]:
    """The system of each row, that of a row which cannot be read by the rows around it ("" where it cannot be told).

    Raises:
        UnusableError: where systems are paired by the order of their rows, and it cannot be told whose a row is.
    """
    found: list[str] = []
    names: dict[str, str] = {}  # each system's name, of which there is one object
    unnamed: dict[int, Row] = {}
    for number, row in enumerate(rows):
        name = label(row.values.get(column)) if isinstance(row.values, dict) else ""
        found.append(names.setdefault(name, name))
        if not name:
            unnamed[number] = row
    known = list(dict.fromkeys(filter(None, found)))
    for number, row in unnamed.items():
        if isinstance(row.values, Unreadable):
            found[number] = _system_in(row.values, column, known)
    known = list(dict.fromkeys(filter(None, found)))
    if "" not in found:
        return found
    if len(known) == 1:
        return [name or known[0] for name in found]
    # tables have a row of each system in turn, or all rows of one and then of the next
    layouts = [[number % len(known) for number in range(len(found))]] if known else []
    if known and len(found) % len(known) == 0:
        layouts.append([number * len(known) // len(found) for number in range(len(found))])
    fitting = []
    for layout in layouts:
        pairs = {(part, name) for part, name in zip(layout, found, strict=True) if name}
        if len(pairs) == len(known) == len({part for part, _ in pairs}):
            fitting.append([name or dict(pairs)[part] for part, name in zip(layout, found, strict=True)])
    if fitting and all(one == fitting[0] for one in fitting):
        return fitting[0]
    found = found if fitting else _fill_blocks(found, len(known))
    if by_order and len(known) > 1 and "" in found:
        where = unnamed[found.index("")].where
        raise UnusableError(
            f"{where} cannot be read, nor which system it belongs to, and without ids systems are paired by the order "
            f"of their rows: mend it, or name a column of ids with --id"
        )
    return found


def _fill_blocks(found: list[str], systems: int) -> list[str]:
    """Name the unnamed inside a block of one system's rows, where each system has one block."""
    named = [name for name in found if name]
    if sum(one != other for one, other in pairwise(named)) != systems - 1:
        return found
    before, after = [*accumulate(found, lambda last, name: name or last)], found[::-1]
    after = [*accumulate(after, lambda last, name: name or last)][::-1]
    return [name or (one if one == other else "") for name, one, other in zip(found, before, after, strict=True)]


def _system_in(row: Unreadable, column: str, known: list[str]) -> str:
    """The system that a row which cannot be read still shows, or ""."""
    if isinstance(row.found, str):  # a line of JSON
        name = re.escape(json.dumps(column, ensure_ascii=False))
        match = re.search(name + r'\s*:\s*("(?:[^"\\]|\\.)*")', row.found)
        try:
            return label(json.loads(match[1])) if match else ""
        except ValueError:
            return ""
    if row.header and column in row.header and row.found:
        # its column counted from the left and from the right: the fields too many or too few are between
        place = row.header.index(column)
        ends = {label(row.found[i]) for i in (place, place - len(row.header)) if -len(row.found) <= i < len(row.found)}
        shown = ends & set(known) or (ends if len(ends) == 1 else {label(row.found[0])} if place == 0 else set())
        if len(shown) == 1:
            return shown.pop()
    shown = {label(cell) for cell in row.found} & set(known)
    return shown.pop() if len(shown) == 1 else ""
