# Shared code: edit metrics/_shared/texts.py, then run "make vendor".
"""Letters, words and sentences of text in any language: the same rules for every metric.

The rule of letters, for words and for names: format characters (Unicode category Cf: soft hyphen, zero-width space and
joiners, marks of direction; and what Unicode calls ignorable by default: variation selectors, fillers) are passed over,
any run of white space is one space, the apostrophes of Unicode are one, and so are its hyphens and dashes, its double
quotation marks and its middle dots.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import regex

# Scripts written without spaces: each character, with its marks, is one word. U+30FC lengthens a kana vowel.
UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]"
_UNSPACED = rf"[{UNSPACED}&&[\p{{L}}\p{{N}}]]"
_WORD = regex.compile(
    rf"(?V1){_UNSPACED}\p{{M}}*|[[\p{{L}}\p{{N}}]--{_UNSPACED}][[\p{{L}}\p{{M}}\p{{N}}]--{_UNSPACED}]*"
)
_ASCII_WORD = re.compile("[a-z0-9]+")  # the standard library is the faster one here
_BLANK = regex.compile(r"[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]*")
_UNIT = regex.compile(r"\p{Hangul}[\p{Hangul}\p{M}]*|\X")  # what no normalisation joins to its neighbours

# What people and their software write for an apostrophe: quotation marks, primes, accents that stand alone, and the
# modifier letters of transliteration; for a hyphen: category Pd, the minus, the hyphen bullet.
APOSTROPHES = "`´ʹʻʼʽʾʿˈ׳՚᾽᾿‘’‛′＇｀΄‵Ꞌꞌ\u1fef\u1ffd\u1ffe"
QUOTES = "“”„‟«»″״〝〞〟＂"
DOTS = "・･•‧∙⋅･ꞏ\u0387"
DASHES = "֊־᐀᠆‐‑‒–—―⸗⸚⸺⸻⹀⹝〜〰゠︱︲﹘﹣－𐵮𐺭˗⁃−"
_FORMAT = regex.compile(r"[\p{Cf}\p{Default_Ignorable_Code_Point}]+")
_ONE_OF_EACH = {
    mark: one for marks, one in ((APOSTROPHES, "'"), (DASHES, "-"), (QUOTES, '"'), (DOTS, "·")) for mark in marks
}
_MARK = re.compile(f"[{re.escape(''.join(_ONE_OF_EACH))}]")
_SPACE = regex.compile(r"[^\S ]")
_MARKS = regex.compile(r"\p{M}{31,}")
_HIDDEN = r"\p{Cf}\p{Default_Ignorable_Code_Point}\u0640"  # with tatweel, which only stretches an Arabic word
_GAP = regex.compile(rf"[\s{_HIDDEN}]{{2,}}|[{_HIDDEN}]")  # what changes the length of a text
_HIDDEN_ONE = regex.compile(rf"[{_HIDDEN}]")
_TWO_SPACES = re.compile(r"\s\s")

# Arabic: the vowel signs (tashkeel, with the Quranic signs) and tatweel go; spelling variants of one letter meet.
_TASHKEEL = regex.compile(r"[\u0610-\u061A\u0640\u064B-\u065F\u0670\u06D6-\u06DC\u06DF-\u06E8\u06EA-\u06ED]")
_ARABIC_LETTERS = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه"})
_VARIANT = regex.compile("[أإآٱىة]")

# Sentences
MAX_SENTENCE = 1000  # a longer stretch without a sentence end is looked at again
_BLOCK = 2000  # sentencex takes time quadratic in the text after an unclosed quotation mark: it gets no more at once
_LIST_MARKER = regex.compile(r"(?:[-*+•‣◦▪●–—]|\(?\p{N}{1,3}[.)]|\(?[a-z]\))\s")
_ENDS = r".!?…؟۔।॥。！？｡։።၊။"
_PUNCTUATION = regex.compile(r"[\p{P}\s]+")
_ANY_END = regex.compile(rf"[{_ENDS}]")
# One sentence end that stands alone between spaces, as tokenised corpora write it, with the closing marks after it.
_SPACED_END = regex.compile(rf"(?<=[^{_ENDS}]\s)[{_ENDS}](?:\s(?:''|[”’»)\]]))*+(?=\s)(?!\s[{_ENDS}])")
# Possessive quantifiers (++) and the look-behind keep this linear on long runs.
_PLAIN_END = regex.compile(
    rf"(?<![{_ENDS}])[{_ENDS}]++[\"'”’»)\]]*+(?:\s|(?<=[。！？｡][\"'”’»)\]]{{0,9}}))|\s(?=[•‣◦▪●])"
)


def is_blank(text: str) -> bool:
    """True where nothing can be seen: white space, control, format and ignorable characters.

    >>> is_blank(" \\n\\u200f"), is_blank("!")
    (True, False)
    """
    return _BLANK.fullmatch(text) is not None


def without_format(text: str) -> str:
    """The text without its format characters and others that Unicode calls ignorable, which nobody sees.

    >>> without_format("co\u00adop\u200f")
    'coop'
    """
    return text if text.isascii() else _FORMAT.sub("", text)


def compose(text: str, form: str = "NFC") -> str:
    """``unicodedata.normalize``, in linear time: a run of combining marks is taken 30 at a time.

    Marks are put in order by sorting, which takes time quadratic in a run. No language has so many on a letter (Unicode
    Standard Annex 15 sets the same limit for streams).
    """
    if not _MARKS.search(text):
        return unicodedata.normalize(form, text)
    parts, end = [], 0
    for run in _MARKS.finditer(text):
        places = [end, *range(run.start() + 30, run.end(), 30), run.end()]
        parts += [text[a:b] for a, b in pairwise(places)]
        end = run.end()
    return "".join(unicodedata.normalize(form, part) for part in [*parts, text[end:]])


def _one_mark(text: str) -> str:
    """One apostrophe, hyphen, double quotation mark and middle dot for all; no length changes."""
    for mark in set(_MARK.findall(text)):  # most texts have few of them
        text = text.replace(mark, _ONE_OF_EACH[mark])
    return text


class Places:
    """Where the characters of a changed text stood in the text as it was given."""

    def __init__(self):
        self._starts, self._shifts = [0], [0]

    def add(self, start: int, given: int) -> None:
        """From ``start`` of the changed text on, what follows stood at ``given`` and on."""
        self._starts.append(start)
        self._shifts.append(given - start)

    def __getitem__(self, place: int) -> int:
        return place + self._shifts[bisect_right(self._starts, place) - 1]


def unify(text: str) -> tuple[str, Places | None]:
    """A text by the rule of letters above, and the original place of each of its characters (None: the same place).

    >>> text, places = unify("Jean\\u2011Luc  O\\u2019\\u00adBrien")
    >>> text, places[9], places[11]
    ("Jean-Luc O'Brien", 10, 13)
    """
    # a look at each character that occurs, once, spares slow searches for what a long text has not
    places, seen = None, "".join(set(text))
    plain = not _SPACE.search(seen)  # the space is the only white space
    if _HIDDEN_ONE.search(seen) or ("  " in text if plain else _TWO_SPACES.search(text)):
        places, parts, end, length = Places(), [], 0, 0
        for gap in _GAP.finditer(text):
            parts.append(text[end : gap.start()])
            length += gap.start() - end
            end = gap.end()
            if any(map(str.isspace, gap[0])):
                parts.append(" ")
                length += 1
            places.add(length, end)
        text = "".join([*parts, text[end:]])
    text = _one_mark(text)
    return text if plain else _SPACE.sub(" ", text), places


def normalise(text: str, fold_arabic: bool = True) -> str:
    """NFKC and casefold after the rule of letters, so that texts that differ only in encoding or case are equal.

    >>> normalise("ＡＢ ﬁne co\u00adop"), normalise("مَدْرَسَة")
    ('ab fine coop', 'مدرسه')
    """
    if not text.isascii():
        text = _one_mark(without_format(text))
    text = compose(compose(text, "NFKC").casefold(), "NFKC")
    if not text.isascii():
        text = _one_mark(text)  # NFKC makes some of its own (ŉ)
    if fold_arabic and not text.isascii():  # letter by letter: no other letter of the text matters
        text = _TASHKEEL.sub("", text)
        text = text.translate(_ARABIC_LETTERS) if _VARIANT.search(text) else text
    return text


@lru_cache(maxsize=1)
def _porter_stem() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer  # first use: nltk loads slowly

    # one stemmer's cache keeps growing with the vocabulary; ours is bounded
    return lru_cache(maxsize=100_000)(PorterStemmer().stem)


def words(text: str, fold_arabic: bool = True, use_stemmer: bool = False) -> list[str]:
    """Cut a text into words: runs of letters, marks and digits, or single characters where a script has no spaces.

    Args:
        text: any language.
        fold_arabic: drop tashkeel and tatweel and unite the forms of alif, alif maqsura with ya, ta marbuta with ha.
        use_stemmer: Porter's stems for ASCII words of more than three letters, as rouge-score does; English only.

    On ASCII text the result equals the tokenizer of rouge-score 0.1.2.

    >>> words("Tom's 2 cats")
    ['tom', 's', '2', 'cats']
    >>> words("今天 good"), words("أكلَ التُفّاحة")
    (['今', '天', 'good'], ['اكل', 'التفاحه'])
    """
    # nothing in ASCII text needs to be united: the same words, several times as fast
    found = _ASCII_WORD.findall(text.lower()) if text.isascii() else _WORD.findall(normalise(text, fold_arabic))
    return [_stemmed(word) for word in found] if use_stemmer else found


def _stemmed(word: str) -> str:
    return _porter_stem()(word) if len(word) > 3 and word.isascii() else word


def word_spans(text: str, fold_arabic: bool = True, use_stemmer: bool = False) -> list[tuple[str, int, int]]:
    """The words of ``words`` with their places: ``text[start:end]`` of the text as it was given.

    >>> word_spans("Co\u00adop, ﬁne")
    [('coop', 0, 5), ('fine', 7, 10)]
    """
    kept = [place for place, character in enumerate(text) if not _FORMAT.match(character)]
    parts, places = [], []
    for unit in _UNIT.finditer("".join(text[place] for place in kept)):
        part = normalise(unit[0], fold_arabic)
        parts.append(part)
        places += [(kept[unit.start()], kept[unit.end() - 1] + 1)] * len(part)
    found = _WORD.finditer("".join(parts))
    spans = [(match[0], places[match.start()][0], places[match.end() - 1][1]) for match in found]
    return [(_stemmed(word), start, end) for word, start, end in spans] if use_stemmer else spans


def _segment(line: str, lang: str) -> list[str]:
    """sentencex over one line, in blocks of bounded length; the pieces join to the line."""
    import sentencex

    pieces, start = [], 0
    while len(line) - start > _BLOCK:
        block = line[start : start + _BLOCK]
        found = sentencex.segment(lang, block)
        if len(found) > 1:
            found.pop()  # perhaps cut by the block's end: the next block begins with it
        else:
            found = [block[: block.rfind(" ") + 1] or block]
        pieces += found
        start += sum(map(len, found))
    return pieces + sentencex.segment(lang, line[start:])


def _cut(text: str, ends: regex.Pattern) -> list[str]:
    places = [0, *(match.end() for match in ends.finditer(text)), len(text)]
    return [text[a:b] for a, b in pairwise(places) if a < b]


def sentences(
    text: str, lang: str = "en", split_lines: bool = True, splitter: Callable[[str], list[str]] | None = None
) -> list[str]:
    """Cut a text into sentences, none of them blank, without the white space around them.

    Args:
        text: any language; 1 MB takes under a second and no text takes quadratic time.
        lang: ISO 639 code, for the abbreviations that sentencex knows.
        split_lines: a line break ends a sentence, and a list marker at the start of a line is taken off. False for
            hard-wrapped text, where only an empty line ends one.
        splitter: used instead of all this, ``text -> list of strings``; only its blank results are dropped. It sees
            the text as given; otherwise format characters are taken out first.

    Raises:
        TypeError: where ``splitter`` returns anything but a list of strings.

    >>> sentences("Dr. House calls. Wilson comes .\\n2. they talk")
    ['Dr. House calls.', 'Wilson comes .', 'they talk']
    """
    if splitter is not None:
        found = splitter(text)
        found = None if isinstance(found, str) else list(found)
        if found is None or not all(isinstance(sentence, str) for sentence in found):
            raise TypeError(f"splitter returned {found!r:.80} for {text!r:.40}: it must return a list of strings")
        return [sentence.strip() for sentence in found if not is_blank(sentence)]
    text, found = without_format(text), []
    for line in text.splitlines() if split_lines else regex.split(r"\n\s*\n", text):
        line = " ".join(line.split())
        if split_lines:
            line = _LIST_MARKER.sub("", line, count=1) if _LIST_MARKER.match(line) else line
        if len(line) <= MAX_SENTENCE and not _ANY_END.search(line):  # headings, verses, list items
            found.append(line)
            continue
        for part in _cut(line, _SPACED_END):
            for piece in _segment(part, lang):
                found += _cut(piece, _PLAIN_END) if len(piece) > MAX_SENTENCE else [piece]
    groups: list[list[str]] = []
    for sentence in (piece.strip() for piece in found if not is_blank(piece)):
        if groups and _PUNCTUATION.fullmatch(sentence):  # a stray quote or dot belongs to what it closes
            groups[-1].append(sentence)
        else:
            groups.append([sentence])
    return [" ".join(group) for group in groups]
