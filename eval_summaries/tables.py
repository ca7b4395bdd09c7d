"""Results as tables that a person reads: means with intervals, comparisons, a paper's own layout."""

import re
from typing import Any, NamedTuple

import numpy as np

from .comparison import Comparison
from .inputs import Failure
from .score_table import Scores
from .shared import scores as shared_scores

CONFIDENCE = 0.95
LEVEL = 0.05  # below it a comparison is marked


# Control characters, which a terminal would obey, and those that turn the direction of what follows.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Text for a terminal: what would steer it is shown, not sent.

    >>> print(visible("a\x1b[31mb\u202ec"))
    a\x1b[31mb\u202ec
    """
    return _UNSEEN.sub(lambda match: repr(match[0])[1:-1], text)


class Row(NamedTuple):
    """One system on one key; nan where no example is defined, and a deviation of nan for a single one."""

    system: str
    key: str
    mean: float
    deviation: float
    low: float
    high: float
    n: int


def keys_of(scores: Scores) -> list[str]:
    """All scores that any example has, in the order of their metrics."""
    return Scores.of(scores).score_keys


def summarise(scores: Scores) -> list[Row]:
    """Mean, standard deviation (of the examples, n - 1), percentile bootstrap interval of the mean, and n.

    Means and intervals are those of the metrics themselves (``scores.aggregate``).
    """
    scores = Scores.of(scores)
    keys, rows = scores.score_keys, []
    for system in scores.systems:
        mine = scores.rows_of(system)
        values = {key: scores.column(key)[mine] for key in keys}
        means = shared_scores.aggregate(values, CONFIDENCE) if keys else {}
        for key in keys:
            known = values[key][~np.isnan(values[key])]
            deviation = float(known.std(ddof=1)) if len(known) > 1 else float("nan")
            rows.append(Row(system, key, means[key], deviation, means[f"{key}_low"], means[f"{key}_high"], len(known)))
    return rows


def number(value: float) -> str:
    """Three decimals; nothing where undefined."""
    return "" if value != value else f"{value:.3f}"


def _with_deviation(row: Row, sign: str = "±") -> str:
    return f"{number(row.mean)} {sign} {number(row.deviation)}" if row.n > 1 else number(row.mean)


def cells_of(row: Row) -> list[str]:
    interval = f"{number(row.low)} to {number(row.high)}" if row.n else ""
    return [row.system, row.key, number(row.mean), number(row.deviation), interval, str(row.n)]


HEADERS = ["system", "score", "mean", "sd", "95% interval", "n"]
COMPARE_HEADERS = ["score", "systems", "gap", "p (boot)", "p (rand)", "p (Holm)", "n"]


def compare_cells(found: Comparison) -> list[str]:
    mark = " *" if found.adjusted < LEVEL else ""
    p_values = ["" if value != value else f"{value:.4f}" for value in (found.bootstrap, found.randomization)]
    adjusted = f"{found.adjusted:.4f}{mark}"
    return [found.key, f"{found.one} - {found.other}", f"{found.difference:+.3f}", *p_values, adjusted, str(found.n)]


def _in_one_cell(text: str) -> str:
    """Text for a cell of a Markdown table."""
    return " ".join(text.replace("|", "\\|").split())


def markdown_table(headers: list[str], cells: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [headers, ["---"] * len(headers), *cells]
    return "\n".join(f"| {' | '.join(map(_in_one_cell, line))} |" for line in lines)


def markdown(
    rows: list[Row],
    comparisons: list[Comparison],
    failures: list[Failure],
    signatures: dict[str, Any],
    ranking: str = "",
    agreement: str = "",
) -> str:
    """The whole summary as a page.

    Args:
        ranking: the first section.
        agreement: the section on agreement with people, where there are ratings.
    """
    page = ranking + "# Scores\n\n" + markdown_table(HEADERS, [cells_of(row) for row in rows])
    if comparisons:
        page += "\n\n# Comparison of systems\n\n" + markdown_table(
            COMPARE_HEADERS, [compare_cells(c) for c in comparisons]
        )
        page += f"\n\n\\* differs at {LEVEL}, by the randomization test after Holm's correction within each score."
    page += f"\n{agreement.rstrip()}" if agreement else ""
    page += "\n\n# Signatures\n\n" + "\n".join(f"- `{signature}`" for signature in signatures.values() if signature)
    if failures:
        page += "\n\n# Not scored\n\n" + "\n".join(f"- {f.system} {f.id}: {f.reason}" for f in failures)
    return page + "\n"


_LATEX = {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}


def tex(text: str) -> str:
    r"""Text for LaTeX.

    >>> print(tex("a_b 5%"))
    a\_b 5\%
    """
    return "".join(f"\\{c}" if c in "#$%&_{}" else _LATEX.get(c, c) for c in " ".join(text.split()))


def latex(rows: list[Row]) -> str:
    """The scores as a LaTeX table: a line for each system, a column for each score, mean and standard deviation."""
    keys = list(dict.fromkeys(row.key for row in rows))
    lines = ["\\begin{tabular}{l" + "r" * len(keys) + "}", "\\hline"]
    lines.append(" & ".join(["system", *map(tex, keys)]) + " \\\\ \\hline")
    for system in dict.fromkeys(row.system for row in rows):
        cells = [_with_deviation(row, "$\\pm$") for row in rows if row.system == system]
        lines.append(" & ".join([tex(system), *cells]) + " \\\\")
    return "\n".join([*lines, "\\hline", "\\end{tabular}"]) + "\n"


LAYOUTS = {
    # columns of a paper's table: heading and key; the average of SummScreen is the plain mean of its four figures
    "summscreen": [
        ("BoC-p", "boc_precision"),
        ("BoC-r", "boc_recall"),
        ("BoR-p", "bor_precision"),
        ("BoR-r", "bor_recall"),
    ],
    "sss": [("BLEU", "bleu"), ("ROUGE-1", "rouge1"), ("ROUGE-2", "rouge2"), ("ROUGE-L", "rougeL"), ("SSS", "sss")],
}


LAYOUT_METRICS = {"summscreen": ("boc", "bor"), "sss": ("bleu", "rouge", "sss")}
# Columns of the SSS paper's table IX that are there where they were asked for; TS-SS alone is lower for closer texts.
_ON_REQUEST = [("BERTScore", "bertscore_f1"), ("TS-SS", "tsss")]
LAYOUT_ADDS = {"sss": ("bertscore", "tsss")}  # scored for a layout where no metrics are named


def layout(name: str, rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    """A paper's own table: SummScreen's row (times 100, with its average), or the SSS paper's (mean and deviation)."""
    columns = list(LAYOUTS[name])
    found = {(row.system, row.key): row for row in rows}
    systems = list(dict.fromkeys(row.system for row in rows))
    if name == "sss":
        columns += [column for column in _ON_REQUEST if (systems[0], column[1]) in found]
    lines = []
    for system in systems:
        cells = [found.get((system, key), Row(system, key, *[float("nan")] * 4, 0)) for _, key in columns]
        if name == "summscreen":
            means = [100 * row.mean for row in cells]
            lines.append([system, *(f"{mean:.1f}" for mean in [*means, sum(means) / len(means)])])
        else:
            lines.append([system, *map(_with_deviation, cells)])
    return ["system", *(heading for heading, _ in columns), *(["average"] if name == "summscreen" else [])], lines
