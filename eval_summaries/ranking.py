"""The ranking: systems as rows, scores as columns, and by letters which of them the tests can tell apart.

Systems that share a letter on a score do not differ on it (Holm-corrected randomization tests; a compact letter
display, Piepho 2004). ``a`` has the best system and all that do not differ from it. With a baseline each system is
compared with that one alone, and Holm's correction is for these fewer tests.
"""

import csv
import io
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .comparison import Comparison, holm
from .inputs import Example
from .scoring import LOWER_IS_BETTER, NO_BETTER_SIDE
from .shared import texts
from .tables import LEVEL, Row, markdown_table, number, tex

# What a metric is known by, where not all of its scores are asked for.
PRIMARY = ("sss", "mss", "boc_f1", "bor_f1", "rouge1", "bleu", "chrf", "bertscore_f1", "tsss", "stats_coverage")
WORDS = "words"  # the mean length of the summaries stands beside every score


class Place(NamedTuple):
    """One system on one score."""

    mean: float
    letters: str  # groups of systems that do not differ; "" where there is one system, or nothing was compared
    best: bool  # the best one, or not different from it
    sign: str  # against the baseline: "+" better, "-" worse, "=" not different, "" without one


class Ranking(NamedTuple):
    """Systems in their order, and for each score and system its place."""

    systems: list[str]
    keys: list[str]
    places: dict[tuple[str, str], Place]  # (system, key)
    words: dict[str, float]
    baseline: str | None


def primary(keys: Iterable[str]) -> list[str]:
    """The primary scores among ``keys``; all of them where there is none (all keys of a metric that was cut down)."""
    keys = list(keys)
    return [key for key in keys if key in PRIMARY] or keys


def shown_scores(
    keys: list[str], sort: str | None = None, every: bool = False, say: Callable[[str], Any] | None = None
) -> tuple[list[str], str | None]:
    """The scores that a ranking shows and the one that it is sorted by.

    Args:
        keys: all that there are.
        sort: the one that is asked for, or "words"; where it is none of ``keys``, ``say`` is told, and it is dropped.
        every: all scores, not the primary one of each metric alone.
    """
    if sort and sort != WORDS and sort not in keys:
        say(f"--sort {sort}: there is no such score ({', '.join(keys)}): sorted by the first one")
        sort = None
    shown = keys if every else primary(keys)
    return (shown if sort in (None, WORDS, *shown) else [sort, *shown]), sort


def rank(
    rows: list[Row],
    comparisons: list[Comparison],
    words: dict[str, float],
    keys: list[str] | None = None,
    sort: str | None = None,
    baseline: str | None = None,
) -> Ranking:
    """Order the systems and mark what differs.

    Args:
        rows: means, as from ``tables.summarise``.
        comparisons: of all pairs, as from ``compare.compare_systems``.
        words: mean length of each system's summaries.
        keys: the scores that are shown; the primary ones unless given.
        sort: the score by which systems are ordered, best first; the first of ``keys`` unless given; or "words".
        baseline: the system with which all others are compared.
    """
    systems = list(words)  # also one of which no example could be scored
    keys = keys or primary(dict.fromkeys(row.key for row in rows))
    means = {(row.system, row.key): row.mean for row in rows}
    sort = sort or next(iter(keys), WORDS)
    found = [one for one in comparisons if not baseline or baseline in (one.one, one.other)]
    places: dict[tuple[str, str], Place] = {}
    for key in keys:
        family = [one for one in found if one.key == key]
        if baseline:
            adjusted = holm([one.randomization for one in family])
            family = [one._replace(adjusted=p) for one, p in zip(family, adjusted, strict=True)]
        order = _order(systems, {name: means.get((name, key), float("nan")) for name in systems}, key)
        apart = {frozenset((one.one, one.other)) for one in family if one.adjusted < LEVEL}
        known = [name for name in order if means.get((name, key)) == means.get((name, key), float("nan"))]
        letters = (
            {}
            if baseline or len(known) < 2 or not family
            else letter_groups(known, {pair for pair in apart if pair <= {*known}})
        )
        for name in systems:
            mean = means.get((name, key), float("nan"))
            best = key not in NO_BETTER_SIDE and mean == mean and frozenset((name, known[0])) not in apart
            sign = _sign(name, baseline, means, key, apart, family) if baseline else ""
            places[name, key] = Place(mean, letters.get(name, ""), best and len(known) > 1, sign)
    by = words if sort == WORDS else {name: means.get((name, sort), float("nan")) for name in systems}
    return Ranking(_order(systems, by, sort), keys, places, words, baseline)


def mean_words(examples: list[Example]) -> dict[str, float]:
    """The mean number of words in each system's summaries."""
    counts: dict[str, list[int]] = {}
    for example in examples:
        counts.setdefault(example.system, []).append(len(texts.words(example.prediction)))
    return {system: sum(found) / len(found) for system, found in counts.items()}


def _order(systems: list[str], values: dict[str, float], key: str) -> list[str]:
    """Best first; what is undefined last; equal ones in the order given."""
    turn = 1 if key in LOWER_IS_BETTER else -1
    return sorted(systems, key=lambda name: (values[name] != values[name], turn * values[name]))


def _sign(
    name: str,
    baseline: str,
    means: dict[tuple[str, str], float],
    key: str,
    apart: set[frozenset[str]],
    family: list[Comparison],
) -> str:
    if name == baseline or not any(name in (one.one, one.other) for one in family):
        return ""
    if frozenset((name, baseline)) not in apart:
        return "="
    gap = next(
        (one.difference if one.one == name else -one.difference) for one in family if name in (one.one, one.other)
    )
    return "+" if (gap > 0) != (key in LOWER_IS_BETTER) else "-"


def letter_groups(order: list[str], apart: set[frozenset[str]]) -> dict[str, str]:
    """Letters such that two names share one exactly where they are not apart.

    >>> letter_groups(["x", "y", "z"], {frozenset("xz")})
    {'x': 'a', 'y': 'ab', 'z': 'b'}
    """
    groups = [frozenset(order)]
    for pair in sorted(apart, key=lambda pair: sorted(map(order.index, pair))):
        one, other = sorted(pair, key=order.index)
        split = [part for group in groups for part in ((group - {one}, group - {other}) if pair <= group else (group,))]
        split = list(dict.fromkeys(split))
        groups = [group for group in split if not any(group < larger for larger in split)]
    groups.sort(key=lambda group: [order.index(name) for name in order if name in group])
    return {name: "".join(_letter(n) for n, group in enumerate(groups) if name in group) for name in order}


def _letter(number: int) -> str:
    """a to z, then a1 to z1, and so on."""
    return "abcdefghijklmnopqrstuvwxyz"[number % 26] + (str(number // 26) if number >= 26 else "")


# ---- as text --------------------------------------------------------------------------------------------------------


def heading(key: str) -> str:
    """The score with the direction that is better: ↑, ↓, or none."""
    return key if key in NO_BETTER_SIDE else f"{key} {'↓' if key in LOWER_IS_BETTER else '↑'}"


def cell(place: Place) -> str:
    """A mean with its letters, or its sign against the baseline."""
    return f"{number(place.mean)} {place.letters or place.sign}".strip()


def blocks(found: Ranking, width: int = 100) -> list[tuple[list[str], list[list[str]]]]:
    """Headers and lines that fit ``width`` columns of a terminal each; the system and its length stand in all."""
    names = max(6, *(len(name) for name in found.systems))
    room, parts, used = width - min(names, 30) - 14, [[]], 0
    for key in found.keys:
        size = 3 + max(len(heading(key)), *(len(cell(found.places[name, key])) for name in found.systems))
        if parts[-1] and used + size > room:
            parts.append([])
            used = 0
        parts[-1].append(key)
        used += size
    return [
        (
            ["system", *map(heading, keys), WORDS],
            [
                [name, *(cell(found.places[name, key]) for key in keys), f"{found.words[name]:.1f}"]
                for name in found.systems
            ],
        )
        for keys in parts
    ]


def note(found: Ranking) -> str:
    """How to read the letters or signs."""
    test = "randomization test, after Holm's correction within each score"
    if found.baseline:
        return f"Against {found.baseline}: + better, - worse, = not different ({test})."
    if not any(place.letters for place in found.places.values()):
        return ""
    return f"Systems that share a letter do not differ on that score ({test}); a has the best mean."


def markdown(found: Ranking) -> str:
    """The ranking for summary.md; the best, and all that do not differ from it, in bold."""
    lines = [
        [name, *(_bold(found.places[name, key]) for key in found.keys), f"{found.words[name]:.1f}"]
        for name in found.systems
    ]
    page = "# Ranking\n\n" + markdown_table(["system", *map(heading, found.keys), WORDS], lines)
    return page + (f"\n\n{note(found)}" if note(found) else "") + "\n\n"


def _bold(place: Place) -> str:
    return f"**{number(place.mean)}** {place.letters or place.sign}".strip() if place.best else cell(place)


def latex(found: Ranking) -> str:
    """The same table in LaTeX, for the package booktabs; letters are superscripts."""

    def one(place: Place) -> str:
        mean = f"\\textbf{{{number(place.mean)}}}" if place.best else number(place.mean)
        mark = place.letters or place.sign
        return f"{mean}$^{{\\mathrm{{{mark}}}}}$" if mark else mean

    arrows = {"↑": " $\\uparrow$", "↓": " $\\downarrow$"}
    heads = [
        tex(key) + "".join(f" {arrow}" for sign, arrow in arrows.items() if sign in heading(key)) for key in found.keys
    ]
    lines = ["\\begin{tabular}{l" + "r" * (len(found.keys) + 1) + "}", "\\toprule"]
    lines += [" & ".join(["system", *heads, WORDS]) + " \\\\", "\\midrule"]
    for name in found.systems:
        cells = [one(found.places[name, key]) for key in found.keys]
        lines.append(" & ".join([tex(name), *cells, f"{found.words[name]:.1f}"]) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"]) + "\n"


def table(found: Ranking, harmless=str) -> str:
    """The same as CSV: for each score its mean, its letters (or sign) and whether it is among the best."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    heads = [f"{key}{end}" for key in found.keys for end in ("", "_sign" if found.baseline else "_letters", "_best")]
    writer.writerow(["system", *heads, WORDS])
    for name in found.systems:
        cells = []
        for key in found.keys:
            place = found.places[name, key]
            cells += [
                "" if place.mean != place.mean else repr(place.mean),
                place.letters or place.sign,
                int(place.best),
            ]
        writer.writerow([harmless(name), *cells, repr(found.words[name])])
    return out.getvalue()
