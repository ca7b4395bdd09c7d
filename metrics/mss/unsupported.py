"""Numbers and names of a summary that its documents lack: evidence of what was made up, in any script.

Numbers are digits of any script, with the marks that part thousands and begin a fraction, so that 1,000, 1000, 1.000
and ١٬٠٠٠ are one. Signs, percent, currencies and number words are not looked at. Names are runs of capitalised words;
what stands only at the start of a sentence says nothing there. Only MSS and `eval_summaries` use this file, so it is
edited here.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable
from itertools import pairwise
from typing import NamedTuple

import regex

from .texts import UNSPACED, Places, unify, word_spans, words


class Found(NamedTuple):
    """What the documents lack, as the summary writes it: ``summary[start:end]``."""

    text: str
    start: int
    end: int


class Number(NamedTuple):
    """A number of a text: its value in plain ASCII digits, and the values of its parts where spaces part them."""

    value: str
    parts: tuple[str, ...]
    start: int
    end: int


# ---- numbers ---------------------------------------------------------------------------------------------------------

_DIGITS = regex.compile(r"\p{Nd}+")
_OF_VALUE = [regex.compile(rf"\p{{Numeric_Value={value}}}") for value in range(10)]
_BEGIN_FRACTION = ".,٫،，．"
_PART_BY_TWO = ",٬،，"  # also India's lakh: 1,00,000
_MARK = "[.,'٬٫،，．]"
# Thousands parted by spaces, or digits with any other marks between them.
_NUMBER = regex.compile(
    rf"\p{{Nd}}{{1,3}}(?: \p{{Nd}}{{3}}(?!\p{{Nd}}))++(?:[{_BEGIN_FRACTION}]\p{{Nd}}++(?!{_MARK}\p{{Nd}}))?"
    rf"|\p{{Nd}}++(?:{_MARK}\p{{Nd}}++)*+"
)


def _plain(digits: str) -> str:
    """Digits of any script as those of ASCII."""
    if not digits.isascii():
        for value, pattern in enumerate(_OF_VALUE):  # not by unicodedata, which is older than regex and knows fewer
            digits = pattern.sub(str(value), digits)
    return digits


def _whole(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _are_groups(groups: list[str], marks: list[str]) -> bool:
    """Whether equal marks part thousands: groups of three digits, in India of two before the last three."""
    sizes = {len(group) for group in groups[1:-1]}
    return (
        len(set(marks)) == 1
        and marks[0] != "٫"
        and len(groups[0]) <= 3
        and not groups[0].startswith("0")
        and len(groups[-1]) == 3
        and (sizes <= {3} or (sizes == {2} and marks[0] in _PART_BY_TWO))
    )


def _read(written: str, start: int) -> list[Number]:
    """The numbers of a stretch of digits and marks that begins at ``start``."""
    pieces = list(_DIGITS.finditer(written))
    groups, marks = [_plain(piece[0]) for piece in pieces], [written[piece.end()] for piece in pieces[:-1]]
    end, parts = start + len(written), tuple(map(_whole, groups))
    for whole in (len(groups), len(groups) - 1):  # all of it is thousands, or the last group is a fraction
        fraction = groups[-1].rstrip("0") if whole < len(groups) else ""
        if whole < len(groups) and (not marks or marks[-1] in marks[:-1] or marks[-1] not in _BEGIN_FRACTION):
            break
        if whole == 1 or (whole > 1 and _are_groups(groups[:whole], marks[: whole - 1])):
            value = _whole("".join(groups[:whole])) + (f".{fraction}" if fraction else "")
            return [Number(value, parts if " " in marks else (value,), start, end)]
    return [
        Number(value, (value,), start + piece.start(), start + piece.end())
        for value, piece in zip(parts, pieces, strict=True)
    ]


def numbers(text: str) -> list[Number]:
    """The numbers of a text, with their places after the rule of letters (``unify``), which is applied first.

    Three digits after a comma, dot, apostrophe or space are thousands (so 2.125 is read as 2125 on both sides), unless
    a 0 stands before; other digits after one comma or dot are a fraction; anything else (dates, versions, lists) is
    several numbers.

    >>> [number.value for number in numbers("1,000 of 1.234,50 on 12.05.2019; १२,३४,५६७ or ٣٫٥ or 10 000")]
    ['1000', '1234.5', '12', '5', '2019', '1234567', '3.5', '10000']
    """
    return [number for match in _NUMBER.finditer(unify(text)[0]) for number in _read(match[0], match.start())]


def known_numbers(documents: Iterable[str]) -> frozenset[str]:
    """The values of the documents' numbers, as ``unsupported_numbers`` compares them."""
    return frozenset(v for document in documents for number in numbers(document) for v in (number.value, *number.parts))


def unsupported_numbers(summary: str, known: frozenset[str]) -> list[Found]:
    """Each mention of a number whose value is not ``known`` from the documents (``known_numbers``).

    Where spaces part it, it may also be known as several numbers ("June 5 300 came").

    >>> unsupported_numbers("Of 1000 people 12% voted.", known_numbers(["1,000 people"]))
    [Found(text='12', start=15, end=17)]
    """
    places = unify(summary)[1]
    lacking = [n for n in numbers(summary) if n.value not in known and not known.issuperset(n.parts)]
    return [_as_written(summary, places, number.start, number.end) for number in lacking]


def _as_written(text: str, places: Places | None, start: int, end: int) -> Found:
    """What stands at a place of the unified text, as it was given."""
    start, end = (start, end) if places is None else (places[start], places[end - 1] + 1)
    return Found(text[start:end], start, end)


# ---- names -----------------------------------------------------------------------------------------------------------

_WORD = regex.compile(rf"(?V1)[[\p{{L}}\p{{N}}]--{UNSPACED}][[\p{{L}}\p{{M}}\p{{N}}]--{UNSPACED}]*")
_CAPITAL = regex.compile(r"[\p{Lu}\p{Lt}]")
_LETTER = regex.compile(r"\p{L}")
_CASED = regex.compile(r"(?V1)[[\p{Lu}\p{Ll}\p{Lt}]--\p{Georgian}]")  # Georgian has capitals, and no name begins so
_JOIN = regex.compile(r"\.?[ '-]?")  # between words of one name: Jean-Luc, O'Brien, J. K. Rowling
_OPENING = regex.compile('[:"]')  # speech begins as a sentence does
_NEAR = 300  # characters: a sentence is looked for so far behind the one before


def has_case(text: str) -> bool:
    """Whether most letters of a text are of scripts that write names with a capital; True where there is no letter.

    >>> has_case("Париж"), has_case("今天 BBC 说天气很好"), has_case("")
    (True, False, True)
    """
    return 2 * len(_CASED.findall(text)) >= len(_LETTER.findall(text))


def _sentence_starts(text: str, sentences: list[str]) -> list[int]:
    """Where the first word of each sentence stands in the unified text that they were cut from."""
    starts, place = [0], 0
    for sentence in sentences:
        sentence = unify(sentence)[0]
        word = _WORD.search(sentence)
        if word:
            found = text.find(word[0], place, place + _NEAR)
            if found >= 0:
                starts.append(found)
                place = found + len(sentence) - word.start() - 2  # the cut may have put a space before a closing mark
    return sorted(set(starts))


def _names(text: str, starts: list[int]) -> list[list[regex.Match]]:
    """Runs of capitalised words, those at the start of a sentence only where they are names by the rule below."""
    runs: list[list[regex.Match]] = []
    doubtful, certain = [], set()  # runs of one word that begins a sentence; words with a capital within one
    found = list(_WORD.finditer(text))
    for number, word in enumerate(found):
        capital = _CAPITAL.search(word[0])
        if not capital or not _LETTER.match(word[0]):
            continue
        gap = text[found[number - 1].end() : word.start()] if number else ""
        first = bisect_left(starts, word.start() + 1) > bisect_left(starts, found[number - 1].end() if number else 0)
        first = first or bool(_OPENING.search(gap))
        if not first and runs and runs[-1][-1].end() + len(gap) == word.start() and _JOIN.fullmatch(gap):
            runs[-1].append(word)
        else:
            runs.append([word])
        if not first or _CAPITAL.search(word[0], 1):
            certain.add(word[0].casefold())
        elif runs[-1] == [word]:
            doubtful.append(runs[-1])
    dropped = {id(run) for run in doubtful if len(run) == 1 and run[0][0].casefold() not in certain}
    return [run for run in runs if id(run) not in dropped]


def unsupported_names(summary: str, sentences: list[str], known: Iterable[str]) -> list[Found] | None:
    """Each mention of a name of which the documents lack a word; None where the summary's script has no capitals.

    A name is a run of words that begin with a letter and have a capital, joined by a space, hyphen, apostrophe or an
    abbreviation's dot. A single word at the start of a sentence, or of speech, is one only where it has a capital
    inside (NATO) or stands with a capital elsewhere in the summary. A sentence all in capitals has none. Case is not
    compared, and words of one letter (initials, I) are not.

    Args:
        summary: any language.
        sentences: of the summary.
        known: the words of its documents (``texts.words``).

    >>> text = "Yesterday Berlin voted. Turnout was low, Jean-Luc O'Brien said."
    >>> [found.text for found in unsupported_names(text, text.split(". "), ["berlin", "said", "jean", "luc"])]
    ['Yesterday Berlin', "Jean-Luc O'Brien"]
    """
    if not has_case(summary):
        return None
    known = known if isinstance(known, (set, frozenset, dict)) else frozenset(known)
    text, places = unify(summary)
    starts = _sentence_starts(text, sentences)
    shouted = [text[a:b].isupper() and " " in text[a:b].strip() for a, b in pairwise([*starts, len(text)])]
    suspects = [
        _as_written(summary, places, run[0].start(), run[-1].end())
        for run in _names(text, starts)
        if not shouted[bisect_left(starts, run[0].start() + 1) - 1]
        and any(_is_lacking(part, known) for word in run for part in words(word[0]))
    ]
    if not suspects:
        return []
    # a word alone may be another one than beside its neighbours (Apple™ is appletm): as they stand, which takes longer
    spans = word_spans(summary)
    begins, ends = [start for _, start, _ in spans], [end for _, _, end in spans]
    inside = [spans[bisect_right(ends, found.start) : bisect_left(begins, found.end)] for found in suspects]
    return [
        found
        for found, parts in zip(suspects, inside, strict=True)
        if any(_is_lacking(part, known) for part, _, _ in parts)
    ]


def _is_lacking(word: str, known: Container[str]) -> bool:
    return len(word) > 1 and word not in known
