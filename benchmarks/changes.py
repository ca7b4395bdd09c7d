"""Changes that make a summary worse, for perturbations.py: each takes a ``Base`` and a random generator.

A change returns the new text, or None where the text has nothing to change: one sentence to shuffle, no number.
"""

import re
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from eval_summaries.shared import texts, unsupported


class Base(NamedTuple):
    """A summary as it was, with what it is compared with."""

    text: str
    reference: str
    document: str | None
    lang: str = "en"
    names: list[tuple[int, int, str]] = []  # place in the text, and whose name it is
    other: "Base | None" = None  # another text of the set
    characters: dict[str, list[str]] | None = None


def names_of(text: str, document: str) -> list[tuple[int, int, str]]:
    """Where a text has a name of its document, in any case, as many systems write no capitals.

    The document's names are its capitalised ones by the rules of ``stats_unsupported_names``, so days are among them,
    without words that it writes small too ("Gone With The Wind" makes a name of every "The" that begins a sentence).

    >>> names_of("raj met amy lee.", "Yesterday Raj saw Amy Lee. He and Raj left.")
    [(0, 3, 'Raj'), (8, 15, 'Amy Lee')]
    """
    found = unsupported.unsupported_names(document, texts.sentences(document), ()) or []
    words = set(re.findall(r"\w+", document))
    known = {name.text.casefold(): name.text for name in found if len(name.text) > 1 and name.text.lower() not in words}
    if not known:
        return []
    pattern = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    found = re.finditer(rf"(?<!\w)({pattern})(?!\w)", text, flags=re.IGNORECASE)
    return [(match.start(), match.end(), known[match[0].casefold()]) for match in found]


def repeat_words(base: Base, rng: Random) -> str:
    """A fifth of the words, one at least, three times each."""
    words = base.text.split()
    for place in sorted(rng.sample(range(len(words)), max(1, len(words) // 5)), reverse=True):
        words[place : place + 1] = [words[place]] * 3
    return " ".join(words)


def repeat_sentence(base: Base, rng: Random) -> str:
    """One of the sentences once more, at the end."""
    return f"{base.text} {rng.choice(texts.sentences(base.text, base.lang))}"


def shuffle_words(base: Base, rng: Random) -> str | None:
    """All words in another order."""
    return _shuffled(base.text.split(), rng)


def shuffle_sentences(base: Base, rng: Random) -> str | None:
    """All sentences in another order."""
    return _shuffled(texts.sentences(base.text, base.lang), rng)


def _shuffled(parts: list[str], rng: Random) -> str | None:
    if len(set(parts)) < 2:
        return None
    found = list(parts)
    while found == parts:
        rng.shuffle(found)
    return " ".join(found)


def drop_sentence(base: Base, rng: Random) -> str | None:
    """Without one of the sentences."""
    sentences = texts.sentences(base.text, base.lang)
    if len(sentences) < 2:
        return None
    sentences.pop(rng.randrange(len(sentences)))
    return " ".join(sentences)


def cut_in_half(base: Base, rng: Random) -> str | None:
    """The first half of the words."""
    words = base.text.split()
    return " ".join(words[: len(words) // 2]) or None


def swap_names(base: Base, rng: Random) -> str | None:
    """Every name becomes another name of the same text."""
    names = sorted(_spelled(base))
    if len(names) < 2:
        return None
    rng.shuffle(names)
    return _rename(base, dict(zip(names, map(_spelled(base).get, [*names[1:], names[0]]), strict=True)))


def foreign_names(base: Base, rng: Random) -> str | None:
    """Every name becomes one of another text, which this one lacks."""
    ours, theirs = _spelled(base), _spelled(base.other)
    new = [theirs[name] for name in sorted(theirs) if name not in ours]
    return _rename(base, {name: rng.choice(new) for name in sorted(ours)}) if ours and new else None


def _spelled(base: Base) -> dict[str, str]:
    """The names of a text, as it writes them at first."""
    return {name: base.text[start:end] for start, end, name in sorted(base.names, reverse=True)}


def _rename(base: Base, new: dict[str, str]) -> str:
    text = base.text
    for start, end, name in sorted(base.names, reverse=True):
        text = text[:start] + new[name] + text[end:]
    return text


def change_numbers(base: Base, rng: Random) -> str:
    """Each run of digits becomes another one of its length, in its script."""

    def another(run: re.Match) -> str:
        found = run[0]
        while found == run[0]:
            found = "".join(chr(ord(digit) - int(digit) + rng.randint(1, 9)) for digit in run[0])
        return found

    return re.sub(r"\d+", another, base.text)


_AUXILIARY = re.compile(
    r"\b(is|are|was|were|has|have|had|will|would|can|could|may|might|must|should|do|does|did)"
    r"(?P<no> not\b| ?n['’]t\b|\b(?!['’]))"
)


def negate(base: Base, rng: Random) -> str | None:
    """The opposite of each sentence: "not" after its first auxiliary verb, or taken away; Arabic: "not true that"."""
    sentences = texts.sentences(base.text, base.lang)
    if base.lang == "ar":
        return " ".join(f"ليس صحيحا أن {sentence}" for sentence in sentences)
    turned = [
        _AUXILIARY.sub(lambda verb: verb[1] if verb["no"].strip() else f"{verb[1]} not", s, count=1) for s in sentences
    ]
    return None if turned == sentences else " ".join(turned)


def append_document(base: Base, rng: Random) -> str | None:
    """The whole document behind the summary."""
    return None if base.document is None else f"{base.text} {base.document}"


def other_summary(base: Base, rng: Random) -> str:
    """Another text of the set."""
    return base.other.text


CHANGES: dict[str, Callable[[Base, Random], str | None]] = {
    "words repeated": repeat_words,
    "a sentence repeated": repeat_sentence,
    "words shuffled": shuffle_words,
    "sentences shuffled": shuffle_sentences,
    "a sentence dropped": drop_sentence,
    "cut in half": cut_in_half,
    "names swapped": swap_names,
    "names of another text": foreign_names,
    "numbers changed": change_numbers,
    "negated": negate,
    "document appended": append_document,
    "another text": other_summary,
}
