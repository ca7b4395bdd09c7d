# Shared code: edit metrics/_shared/texts.py, then run "make vendor".
"""Words and sentences of text in any language: the same rules for every metric."""

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import regex

# Scripts written without spaces: each character, with its marks, is one word. U+30FC lengthens a kana vowel.
_UNSPACED = r"[[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]&&[\p{L}\p{N}]]"
_WORD = regex.compile(rf"(?V1){_UNSPACED}\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]--{_UNSPACED}]+")
_BLANK = regex.compile(r"[\s\p{Cc}\p{Cf}]*")

# Arabic: the vowel signs (tashkeel, with the Quranic signs) and tatweel go; spelling variants of one letter meet.
_ARABIC = regex.compile(r"[\u0621-\u064A\u0671]")
_TASHKEEL = regex.compile(r"[\u0610-\u061A\u0640\u064B-\u065F\u0670\u06D6-\u06DC\u06DF-\u06E8\u06EA-\u06ED]")
_ARABIC_LETTERS = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه"})

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
    """True where nothing can be seen: white space, control and format characters (such as right-to-left marks).

    >>> is_blank(" \\n\\u200f"), is_blank("!")
    (True, False)
    """
    return _BLANK.fullmatch(text) is not None


def normalise(text: str, fold_arabic: bool = True) -> str:
    """NFKC and casefold, so that texts that differ only in encoding or case are equal; Arabic letters folded.

    >>> normalise("ＡＢ ﬁne"), normalise("مَدْرَسَة")
    ('ab fine', 'مدرسه')
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    if fold_arabic and _ARABIC.search(text):
        text = _TASHKEEL.sub("", text).translate(_ARABIC_LETTERS)
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
    found = _WORD.findall(normalise(text, fold_arabic))
    if use_stemmer:
        stem = _porter_stem()
        found = [stem(word) if len(word) > 3 and word.isascii() else word for word in found]
    return found


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
        splitter: used instead of all this, ``text -> list of strings``; only its blank results are dropped.

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
    found = []
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
