"""What a cell of a table means: a text, a list of texts, a list of characters, a name."""

import ast
import json
import math
import re
import tokenize
import unicodedata
import warnings
from io import StringIO
from itertools import pairwise
from typing import Any

import regex

# White space and what nobody sees, around a name or a column title.
EDGES = re.compile("^[\\s\ufeff\u200b\u200e\u200f]+|[\\s\ufeff\u200b\u200e\u200f]+$")
# Latin, Arabic, Ethiopic, full-width and small marks
_COLON = re.compile("[:：﹕፥]")
_SEMICOLON = re.compile("[;؛；﹔;፤\n\r\t\v\f\x85\u2028\u2029]")
_COMMA = re.compile("[,،，、､﹐﹑፣]")
_MARKER = re.compile(r"(?:[-*•]|\d+[.)])\s+")  # of a list
_QUOTED = re.compile("""["'“”‘’([{].*["'“”‘’)\\]}]""", re.S)
# What a list, array or mapping looks like where a program printed it: a bracket, perhaps after a type, then a quote.
_PRINTED = re.compile(r"""(?:(?:\w+\()*[\[{]|(?:\w+\()+\()\s*(?:[\[({]|[\w.]+\()*\s*(?:['"]|(?:None|nan|null)\b)""")
_NO_RATING = ("", "nan", "na", "n/a", "none", "null")
_BLANK = regex.compile(r"[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]*")
_FORMULA = re.compile(r"[=+@-](?!\d*[.,]?\d+\Z)")  # what a spreadsheet would compute, and not a number


class Repeated(ValueError):
    """A mapping in a cell has a key twice."""


class Twice(dict):
    """A JSON object that has a key twice, so that it cannot be told which value is meant."""

    key = ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        found = Twice(found)
        found.key = next(name for name in names if names.count(name) > 1)
    return found


def loads(text: str) -> Any:
    """Parsed JSON, an object with a key twice as ``Twice``; ValueError for whatever cannot be parsed."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def is_blank(text: str) -> bool:
    """True where nothing can be seen: white space, control, format and ignorable characters (as in the metrics)."""
    return _BLANK.fullmatch(text) is not None


def harmless(name: str) -> str:
    """A name for a CSV file: what a spreadsheet would run as a formula gets an apostrophe, which ``label`` takes off.

    >>> harmless("=1+1"), harmless("-5"), label(harmless("@x"))
    ("'=1+1", '-5', '@x')
    """
    return f"'{name}" if _FORMULA.match(name) else name


def label(value: Any) -> str:
    """An id or a system's name as text: composed (NFC), without what surrounds it unseen; "" where it is missing.

    A whole number is written as one even where a table made it a float; what no UTF-8 file can hold is escaped.

    >>> label(7.0), label(" cafe\\u0301 "), label(None), label("x\\udce9")
    ('7', 'café', '', 'x\\\\udce9')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).encode("utf-8", "backslashreplace").decode()
    text = EDGES.sub("", unicodedata.normalize("NFC", text))
    return text[1:] if text[:1] == "'" and _FORMULA.match(text[1:]) else text


def as_rating(value: Any, where: str) -> float:
    """A person's rating; of a list (several people) the mean; nan where it is missing.

    Raises:
        ValueError: for anything else than finite numbers.

    >>> as_rating("4.5", "row 1"), as_rating([4, 5], "row 1"), as_rating("n/a", "row 1")
    (4.5, 4.5, nan)
    """
    if isinstance(value, str):
        text = EDGES.sub("", value)
        if text.lower() in _NO_RATING:
            return math.nan
        found = literal(text, where)
        value = text if found is None else found
    if value is None:
        return math.nan
    if isinstance(value, (list, tuple)):
        given = [rating for entry in value if not math.isnan(rating := _number(entry, where))]
        return math.fsum(given) / len(given) if given else math.nan
    return _number(value, where)


def _number(value: Any, where: str) -> float:
    if value is None:
        return math.nan
    try:
        number = float(value.replace("_", "x") if isinstance(value, str) else value)  # Python reads 1_0 as 10
        if not isinstance(value, (bool, bytes)) and not math.isinf(number):
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    hint = "; write it with a point" if isinstance(value, str) and re.fullmatch(r"-?\d+,\d+", value) else ""
    raise ValueError(f"{where} is {value!r:.40}, and a number is expected{hint}; leave a missing rating empty")


def literal(text: str, where: str) -> Any:
    """The list or mapping that a cell holds, as JSON or as Python writes it; None where it is a text.

    Tables keep lists in this way: ``DataFrame.to_csv`` writes ``['Amy', 'Raj']``.

    Raises:
        ValueError: for what looks like a list and cannot be read as one, and for an array as numpy prints it, which
            has no commas (Python would join its strings).

    >>> literal('["Amy", "Raj"]', "row 1"), literal("['Amy', 'Raj']", "row 1"), literal("[sic] Amy", "row 1")
    (['Amy', 'Raj'], ['Amy', 'Raj'], None)
    """
    stripped = text.strip()
    if stripped[-1:] not in ("]", "}", ")"):
        return None
    found = _parsed(stripped, where)
    if found is None and _PRINTED.match(stripped):
        how = "an array as numpy prints it" if stripped.startswith("array(") else "a list as a program printed it"
        raise ValueError(f"{where} looks like {how} ({stripped[:40]!r}…) and cannot be read as one: write a JSON list")
    return found


def _parsed(stripped: str, where: str) -> Any:
    """The list or mapping, or None."""
    if (stripped[0], stripped[-1]) not in {("[", "]"), ("{", "}"), ("(", ")")}:
        return None
    try:
        found = loads(stripped)
        if isinstance(found, Twice):
            raise Repeated(f"{where} has the key {found.key!r} twice")
        return found
    except Repeated:
        raise
    except ValueError:
        pass  # perhaps Python's way
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # a backslash in a text
            found = ast.literal_eval(stripped)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    if not isinstance(found, (list, tuple, set, dict)):
        return None  # one text in brackets
    if isinstance(found, dict):
        keys = [ast.dump(key) for key in ast.parse(stripped, mode="eval").body.keys]
        if len(set(keys)) < len(keys):
            raise Repeated(f"{where} has a key twice ({stripped[:40]!r}…)")
    kinds = [token.type for token in tokenize.generate_tokens(StringIO(stripped).readline) if token.type != tokenize.NL]
    if any(one == other == tokenize.STRING for one, other in pairwise(kinds)):
        raise ValueError(f"{where} is a list without commas ({stripped[:30]}…), as numpy prints it: write a JSON list")
    return sorted(found, key=str) if isinstance(found, set) else list(found) if isinstance(found, tuple) else found


def as_texts(value: Any, where: str) -> list[str]:
    """The texts of a cell: one, or a list of at least one.

    >>> as_texts("A cat sat. [1]", "row 1"), as_texts("['A cat sat.', 'A cat lay.']", "row 1")
    (['A cat sat. [1]'], ['A cat sat.', 'A cat lay.'])
    """
    if isinstance(value, str):
        found = literal(value, where)
        # a list of numbers is a note or a year in brackets
        numbers = bool(found) and isinstance(found, list) and all(isinstance(entry, (int, float)) for entry in found)
        is_list = isinstance(found, list) and not numbers
        value = found if is_list else [value]
    if not isinstance(value, list) or not value or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{where} is {value!r:.40}, and a string or a list of strings is expected")
    return value


def as_characters(value: Any, where: str) -> list | dict:
    """The characters of a cell: a list, a mapping, or a text that ``parse_characters`` reads."""
    if isinstance(value, str):
        return parse_characters(value, where)
    if isinstance(value, Twice):
        raise ValueError(f"{where} has the key {value.key!r} twice")
    if not isinstance(value, (list, dict)):
        raise ValueError(f"{where} is {value!r:.40}; give names parted by semicolons, or a list")
    return value


def parse_characters(text: str, where: str) -> list | dict:
    """Characters as people write them, in a cell, a file or a demo's box.

    Semicolons, tabs and line breaks part characters, a colon the name from its aliases, commas aliases (or names, where
    there is no colon); Arabic and full-width marks do likewise. A list or mapping as JSON or Python writes it is taken
    as it is, which also allows for a name with such a mark in it.

    >>> parse_characters("House: Dr. House, Greg\\nAmy; Raj", "characters")
    {'House': ['Dr. House', 'Greg'], 'Amy': [], 'Raj': []}
    >>> parse_characters("王明：小王、老王", "characters"), parse_characters("Amy, Raj", "characters")
    ({'王明': ['小王', '老王']}, {'Amy': [], 'Raj': []})
    """
    found = literal(text, where)
    if isinstance(found, (list, dict)):
        return found
    if text.strip()[:1] in ("[", "{"):
        raise ValueError(f"{where} looks like a list and cannot be read as one: {text.strip()[:60]!r}")
    characters: dict[str, list[str]] = {}
    for entry in _SEMICOLON.split(text):
        entry = EDGES.sub("", entry)
        marker = _MARKER.match(entry)
        entry = entry[marker.end() :] if marker else entry
        name, *rest = _COLON.split(entry, maxsplit=1)
        aliases = [EDGES.sub("", part) for part in _COMMA.split(rest[0] if rest else name)]
        aliases = [alias for alias in aliases if alias]
        if rest and EDGES.sub("", name):
            characters.setdefault(EDGES.sub("", name), []).extend(aliases)
        elif rest and aliases:
            raise ValueError(f"{where}: there is no name before the colon in {entry.strip()!r:.60}")
        elif not rest:
            for alias in aliases:
                characters.setdefault(alias, [])
    odd = next((n for name, aliases in characters.items() for n in (name, *aliases) if _QUOTED.fullmatch(n)), None)
    if odd:
        raise ValueError(
            f"{where} has a name in quotation marks or brackets, {odd!r:.60}: take them off, or write JSON"
        )
    if not characters:
        raise ValueError(f"{where} names nobody: write one name a line, or parted by semicolons, aliases after a colon")
    return characters
