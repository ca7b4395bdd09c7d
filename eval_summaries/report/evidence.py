"""Why an example has its scores: places in its texts, from the metrics' own ``explain``, small enough to be kept.

A view is a dictionary that JSON can write; places are ``[start, end]`` in the text that it is about:

- ``words``: places in the ``summary`` and in the ``reference`` (``number`` of it) of the words that both have;
- ``support``: for each summary sentence its place, its similarity to the best source sentence, and that one's number;
  ``sources``: for each source sentence its document and place ([-1, -1] where a splitter made it up);
- ``names``: places with the kind (match, miss, invent) and the name, in both, and the lists of names;
- ``pairs``: lists of pairs of names;
- ``unsupported``: places of the numbers and names that the documents lack.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ..inputs import Example
from ..scoring import NEEDS
from ..shared import texts
from ..stats import lacking

LIMIT = 50_000  # characters of a text that are shown; a longer summary has no evidence
KINDS = {"matched": "match", "missed": "miss", "invented": "invent"}

View = dict[str, Any]


def views_of(example: Example, explain: dict[str, Callable[..., dict]], options: dict[str, dict]) -> dict[str, View]:
    """All evidence of one example.

    Args:
        explain: the metrics' ``explain`` by name, for those that scored this example.
        options: of all metrics that scored it, by name; its keys are their names.

    Returns:
        Views by name; ``failed`` has what an ``explain`` said where it failed.
    """
    if len(example.prediction) > LIMIT:
        return {"failed": {"all": f"the summary has {len(example.prediction):,} characters: too long to show evidence"}}
    found: dict[str, View] = {}
    failed: dict[str, str] = {}
    if any("references" in NEEDS[name] and "characters" not in NEEDS[name] for name in options) and example.references:
        fold = options.get("sss", options.get("rouge", {})).get("fold_arabic", True)
        stem = options.get("sss", options.get("rouge", {})).get("use_stemmer", False)
        found["words"] = shared_words(example.prediction, example.references, fold, stem)
    for name, make in (("mss", _support), ("boc", _names), ("bor", _pairs)):
        if name in explain:
            try:
                found |= make(example, explain[name])
            except Exception as error:  # a model or library of any kind; the scores are there, this view is not
                failed[name] = " ".join(str(error).split()) or type(error).__name__
    if example.documents and "unsupported" not in found and "stats" in options:
        cut = texts.sentences(example.prediction, options["stats"].get("lang", "en"))
        numbers, names = lacking(example.prediction, cut, tuple(example.documents))
        found["unsupported"] = {"summary": sorted([one.start, one.end] for one in [*numbers, *(names or [])])}
    return found | ({"failed": failed} if failed else {})


def shared_words(summary: str, references: list[str], fold_arabic: bool = True, use_stemmer: bool = False) -> View:
    """Where the words stand that a summary shares with a reference: the one that shares most (ROUGE-1 of unique words).

    >>> shared_words("The bridge fell.", ["It rained.", "The old bridge is closed."])
    {'number': 1, 'summary': [[0, 3], [4, 10]], 'reference': [[0, 3], [8, 14]]}
    """
    ours = texts.word_spans(summary, fold_arabic, use_stemmer)
    mine = {word for word, _, _ in ours}
    best = None
    for number, reference in enumerate(references):
        theirs = texts.word_spans(reference, fold_arabic, use_stemmer)
        other = {word for word, _, _ in theirs}
        shared = mine & other
        share = len(shared) / max(1, len(mine) + len(other))
        if best is None or share > best[0]:
            best = share, number, shared, theirs
    _, number, shared, theirs = best
    places = ([[start, end] for word, start, end in side if word in shared] for side in (ours, theirs))
    return {"number": number, **dict(zip(("summary", "reference"), places, strict=True))}


def _support(example: Example, explain: Callable[..., dict]) -> dict[str, View]:
    found = explain(example.prediction, example.documents)
    best, cut = found["best_source"], locate(example.prediction, tuple(found["summary_sentences"]))
    listed = [
        [*place, round(one["similarity"], 3), one["source_sentence"]]
        for place, one in zip(cut, best, strict=False)  # no best where the source is empty
        if place
    ]
    sources = []
    for number, document in enumerate(example.documents):
        pairs = zip(found["source_sentences"], found["source_documents"], strict=True)
        mine = tuple(sentence for sentence, where in pairs if where == number)
        sources += [[number, *(place or (-1, -1))] for place in locate(document, mine)]
    names = found["unsupported_names"] or []
    lacks = sorted(each["place"] for each in [*found["unsupported_numbers"], *names])
    return {"support": {"summary": listed, "sources": sources}, "unsupported": {"summary": lacks}}


def _names(example: Example, explain: Callable[..., dict]) -> dict[str, View]:
    found = _explained(example, explain)
    kind = {name: KINDS[part] for part in KINDS for name in found[part]}
    view: View = {"number": found["best_reference"], **{part: list(found[part]) for part in KINDS}}
    for side, key in (("prediction", "summary"), ("reference", "reference")):
        view[key] = sorted(
            [start, end, kind[name], name] for name, places in found["mentions"].items() for start, end in places[side]
        )
    return {"names": view}


def _pairs(example: Example, explain: Callable[..., dict]) -> dict[str, View]:
    found = _explained(example, explain)
    return {"pairs": {part: [" and ".join(pair) for pair in found[part]] for part in KINDS}}


def _explained(example: Example, explain: Callable[..., dict]) -> dict:
    extra = {} if example.characters is None else {"characters": example.characters}
    return explain(example.prediction, example.references, **extra)


_GAP = re.compile(r"\s+")


@lru_cache(maxsize=64)  # many systems summarise the same documents
def locate(text: str, sentences: tuple[str, ...]) -> list[tuple[int, int] | None]:
    """Where sentences stand in the text that they were cut from, whatever white space and unseen signs were taken out.

    >>> locate("1. They  talk.\\nHe sleeps.", ("They talk.", "He sleeps."))
    [(3, 14), (15, 25)]
    """
    seen = [index for index, sign in enumerate(text) if not sign.isspace() and texts.without_format(sign)]
    compact = "".join(text[index] for index in seen)
    found: list[tuple[int, int] | None] = []
    after = 0
    for sentence in sentences:
        short = _GAP.sub("", texts.without_format(sentence))
        start = compact.find(short, after) if short else -1
        if start < 0:
            found.append(None)
            continue
        after = start + len(short)
        found.append((seen[start], seen[after - 1] + 1))
    return found
