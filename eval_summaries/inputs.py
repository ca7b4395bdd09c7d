"""From folders and files to examples; a row that cannot be used becomes a failure with its reason."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SUFFIX = "_summary.txt"
# The block that the author's summarizer writes below a summary: a heading, then a score for each section.
_SECTION_SCORES = re.compile(r"^[ \t]*(?:-{3,}[ \t]*\n\s*)?Section Scores\b.*", re.I | re.M | re.S)


class UnusableError(Exception):
    """The input as a whole cannot be used; the command ends with status 2."""


@dataclass
class Example:
    """One summary of one system, with what it is compared with; None where the input does not have it."""

    id: str
    system: str
    prediction: str
    references: list[str] | None = None
    documents: list[str] | None = None
    characters: list | dict | None = None


@dataclass
class Failure:
    """A row that is not scored, and why."""

    id: str
    system: str
    reason: str


@dataclass
class Inputs:
    """Everything that was read."""

    examples: list[Example] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def checked(self) -> "Inputs":
        """Raise ``UnusableError`` where nothing was read, or one system has an id twice."""
        seen: set[tuple[str, str]] = set()
        for row in [*self.examples, *self.failures]:
            if (row.system, row.id) in seen:
                raise UnusableError(
                    f"system {row.system!r} has the id {row.id!r} twice: ids must differ within a system"
                )
            seen.add((row.system, row.id))
        if not seen:
            raise UnusableError("there is nothing to score: the input has no rows")
        return self


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """A text file without BOM and with plain line ends; ValueError names the byte that is not of the encoding."""
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding)
    except UnicodeDecodeError as error:
        found = f"0x{raw[error.start]:02x}"
        raise ValueError(
            f"{path} is not {encoding}: byte {error.start} is {found}; give --encoding, or convert the file"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def drop_section_scores(text: str) -> str:
    """A summary without the block of section scores at its end.

    >>> drop_section_scores("A river rose.\\n\\n---\\n\\nSection Scores for river:\\n- 12.5\\n- 9.1\\n")
    'A river rose.'
    """
    return _SECTION_SCORES.sub("", text).rstrip()


def read_parameters(folders: dict[str, Path]) -> dict[str, Any]:
    """JSON files beside each system's summaries, such as summarization_parameters.json: {system: {file: content}}."""
    found: dict[str, Any] = {}
    for system, folder in folders.items():
        for path in sorted(folder.glob("*.json")):
            try:
                found.setdefault(system, {})[path.name] = json.loads(read_text(path))
            except ValueError as error:
                raise UnusableError(f"{path} is not JSON: {error}") from None
    return found


def read_characters(path: Path) -> dict[str, list[str]]:
    """A file of characters for all examples: one a line, ``House: Dr. House, Gregory House``."""
    if not path.is_file():
        raise UnusableError(f"--characters {path}: there is no such file")
    found = {}
    try:
        for line in read_text(path).splitlines():
            name, _, aliases = line.partition(":")
            if name.strip():
                found[name.strip()] = [alias.strip() for alias in aliases.split(",") if alias.strip()]
    except ValueError as error:
        raise UnusableError(str(error)) from None
    if not found:
        raise UnusableError(f"--characters {path} names nobody: write one a line, aliases after a colon")
    return found


def read_folders(
    summaries: dict[str, Path],
    documents: Path | None,
    references: Path | None,
    encoding: str = "utf-8",
    without_section_scores: bool = False,
    characters: dict[str, list[str]] | None = None,
) -> Inputs:
    """Read NAME_summary.txt of each system's folder, with NAME.txt of the documents' and of the references' folder."""
    for folder in [*summaries.values(), *(folder for folder in (documents, references) if folder)]:
        if not folder.is_dir():
            raise UnusableError(f"there is no folder {folder}")
    inputs = Inputs()
    for system, folder in summaries.items():
        found = sorted(folder.glob(f"*{SUFFIX}"))
        if not found:
            raise UnusableError(f"{folder} has no file NAME{SUFFIX}")
        for path in found:
            name = path.name[: -len(SUFFIX)]
            try:
                prediction = read_text(path, encoding)
                if without_section_scores:
                    prediction = drop_section_scores(prediction)
                if not prediction.strip():
                    raise ValueError(f"{path} is empty")
                texts = []
                for side in (documents, references):
                    other = side / f"{name}.txt" if side else None
                    if other and not other.is_file():
                        raise ValueError(f"there is no {other} for {path.name}")
                    texts.append([read_text(other, encoding)] if other else None)
                example = Example(name, system, prediction, documents=texts[0], references=texts[1])
                example.characters = characters
                inputs.examples.append(example)
            except (ValueError, OSError) as error:
                inputs.failures.append(Failure(name, system, str(error)))
    return inputs.checked()


def read_file(path: Path, columns: dict[str, str | None], encoding: str) -> Inputs:
    """Read JSONL, CSV, Parquet, or a folder that ``datasets`` saved.

    Args:
        columns: for predictions, references, documents, characters, system and id the name of the column; None for one
            that was not asked for.
    """
    if not path.exists():
        raise UnusableError(f"there is no {path}")
    inputs = Inputs()
    present: set[str] | None = None
    rows_of: Counter[str] = Counter()
    for number, row in enumerate(_rows(path, encoding)):
        if present is None:
            present = set(row) if isinstance(row, dict) else set()
            for role, column in columns.items():
                if column and isinstance(row, dict) and column not in row:
                    raise UnusableError(
                        f"{path} has no column {column!r} (--{role}); it has {', '.join(map(str, row))}"
                    )
        if isinstance(row, ValueError):
            inputs.failures.append(Failure(f"row {number}", "", str(row)))
            continue
        named = {role: row.get(column) for role, column in columns.items() if column}
        system = str(named["system"]) if named.get("system") is not None else "system"
        # without ids the first rows of two systems are one example, and so on: systems are compared by id
        name = str(named["id"]) if named.get("id") is not None else str(rows_of[system])
        rows_of[system] += 1
        try:
            inputs.examples.append(_example(name, system, named, f"{path.name}, row {number}"))
        except ValueError as error:
            inputs.failures.append(Failure(name, system, str(error)))
    return inputs.checked()


def _example(name: str, system: str, named: dict[str, Any], where: str) -> Example:
    """One example of a row's values; ValueError for values of the wrong kind."""
    prediction = named["predictions"]
    if not isinstance(prediction, str):
        raise ValueError(f"{where}: predictions is {prediction!r:.40}, and a string is expected")
    texts: dict[str, list[str] | None] = {}
    for role in ("references", "documents"):
        value = named.get(role)
        if role not in named:
            texts[role] = None
            continue
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not value or not all(isinstance(text, str) for text in value):
            raise ValueError(f"{where}: {role} is {named[role]!r:.40}, and a string or a list of strings is expected")
        texts[role] = value
    characters = named.get("characters")
    if isinstance(characters, str):
        characters = [part.strip() for part in characters.split(";") if part.strip()]
    if "characters" in named and not isinstance(characters, (list, dict)):
        raise ValueError(f"{where}: characters is {characters!r:.40}; give names parted by semicolons, or a list")
    return Example(name, system, prediction, texts["references"], texts["documents"], characters)


def _rows(path: Path, encoding: str) -> Iterator[dict | ValueError]:
    """Rows as dictionaries; a row that cannot be read as a ValueError with its line."""
    if path.is_dir():
        import datasets

        try:
            yield from datasets.load_from_disk(str(path))
        except FileNotFoundError as error:
            raise UnusableError(f"{path} is no folder that datasets saved: {error}") from None
    elif path.suffix == ".parquet":
        import pyarrow.parquet

        try:
            yield from pyarrow.parquet.read_table(path).to_pylist()
        except pyarrow.ArrowException as error:
            raise UnusableError(f"{path} cannot be read as Parquet: {error}") from None
    elif path.suffix in (".jsonl", ".ndjson", ".csv"):
        try:
            text = read_text(path, encoding)
        except ValueError as error:
            raise UnusableError(str(error)) from None
        if path.suffix == ".csv":
            csv.field_size_limit(2**31 - 1)  # a document may be long
            yield from csv.DictReader(io.StringIO(text, newline=""))
            return
        for line, content in enumerate(text.split("\n"), 1):
            if not content.strip():
                continue
            try:
                row = json.loads(content)
            except json.JSONDecodeError as error:
                yield ValueError(f"{path.name}, line {line} is not JSON: {error.msg}")
                continue
            yield row if isinstance(row, dict) else ValueError(f"{path.name}, line {line} is not a JSON object")
    else:
        raise UnusableError(f"{path}: give a .jsonl, .csv or .parquet file, or a folder that datasets saved")
