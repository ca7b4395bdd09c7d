"""Agreement with people as a person and a program read it: tables, JSON, one picture."""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from .agreement import LENGTH, LEVELS, Agreement
from .better import Difference
from .correlation import COEFFICIENTS
from .scoring import LOWER_IS_BETTER
from .store import write_whole
from .tables import LEVEL, markdown_table

AGREEMENT, TESTS = "agreement.json", "agreement_tests.json"
_NOTE = """\
Levels as Deutsch et al. (2021) name them: summary (the mean over documents of the correlation over their systems),
system (of the systems' means), pooled (of all summaries at once). In brackets 95% intervals of the bootstrap over
documents and systems. `no length`: the length in words held constant, at the first level that is shown. `p (best)`:
the test against the score that agrees best there (of those that are defined for at least half as much as any other),
after Holm's correction over all pairs of scores; a score of which lower is better counts by its negative.
"""


class Found(NamedTuple):
    """What the agreement of a run is."""

    agreements: list[Agreement]
    differences: list[Difference]


def number(value: float) -> str:
    """A coefficient as papers print it: .287, and nothing where it is undefined."""
    return "" if math.isnan(value) else f"{value:.3f}".replace("0.", ".", 1)


def _cell(found: Agreement) -> str:
    interval = "" if math.isnan(found.low) else f" [{found.low:.2f}, {found.high:.2f}]".replace("0.", ".")
    return number(found.value) + interval


def table(found: Found, human: str, coefficient: str) -> tuple[list[str], list[list[str]]]:
    """One rating by one coefficient: a line for each score, a column for each level, and the first level's test."""
    chosen = [a for a in found.agreements if (a.human, a.coefficient) == (human, coefficient)]
    levels = [level for level in LEVELS if any(a.level == level for a in chosen)]
    by_score: dict[str, dict[str, Agreement]] = {}
    for a in chosen:
        by_score.setdefault(a.score, {})[a.level] = a
    against = _against_the_best(found, human, coefficient, levels[0])
    headers = ["score", *levels, "no length", "p (best)"]
    lines = [
        [score, *(_cell(at[level]) for level in levels), number(at[levels[0]].without_length), against.get(score, "")]
        for score, at in by_score.items()
    ]
    return headers, lines


def _against_the_best(found: Found, human: str, coefficient: str, level: str) -> dict[str, str]:
    """{score: the adjusted p of its difference from the best score there}.

    The best is the one of the highest agreement, among those that are defined for at least half as much as any other: a
    count that is mostly 0 has a correlation on few documents, and a chance to be high there.
    """
    chosen = [a for a in found.agreements if (a.human, a.level, a.coefficient) == (human, level, coefficient)]
    enough = max((a.n for a in chosen), default=0) / 2
    values = {a.score: -a.value if a.score in LOWER_IS_BETTER else a.value for a in chosen if a.n >= enough}
    values = {score: value for score, value in values.items() if not math.isnan(value)}
    if not values:
        return {}
    best = max(values, key=values.__getitem__)
    shown = {best: "best"}
    for d in found.differences:
        if (d.human, d.level, d.coefficient) == (human, level, coefficient) and best in (d.one, d.other):
            shown[d.other if d.one == best else d.one] = f"{d.adjusted:.4f}" + (" *" if d.adjusted < LEVEL else "")
    return shown


def notes(found: Found) -> list[str]:
    """What a reader must know beside the tables: what was left out, and where."""
    told = []
    units = {"summary": ("document", "documents"), "system": ("system", "systems"), "pooled": ("summary", "summaries")}
    for level, (one, many) in units.items():
        left: dict[int, list[str]] = {}
        for a in found.agreements:
            if a.level == level and a.undefined and a.coefficient == "spearman":
                left.setdefault(a.undefined, []).append(f"{a.score} with {a.human}")
        for count, names in sorted(left.items(), reverse=True):
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            told.append(
                f"{level}: {count} {one if count == 1 else many} without a correlation for {', '.join(names[:3])}{more}"
            )
    if found.agreements and all(a.level == "pooled" for a in found.agreements):
        told.append("no document, or no system, has two summaries: only the pooled level is defined")
    if any(math.isnan(a.low) and a.level == "pooled" and not math.isnan(a.value) for a in found.agreements):
        told.append("Kendall's tau of more than 3,000 summaries has no interval at the pooled level")
    return told


def markdown(found: Found) -> str:
    """The section of summary.md."""
    page = "\n# Agreement with people\n\n" + _NOTE
    for human in dict.fromkeys(a.human for a in found.agreements):
        for coefficient in COEFFICIENTS:
            page += f"\n## {' '.join(human.split())}, {coefficient}\n\n"
            page += markdown_table(*table(found, human, coefficient)) + "\n"
    return page + "".join(f"\n- {note}" for note in notes(found)) + "\n"


def _objects(rows: list[Any]) -> str:
    """Named tuples as a JSON list of objects, a line each; null where a number is undefined."""

    def plain(value: Any) -> Any:
        return None if isinstance(value, float) and math.isnan(value) else value

    lines = [json.dumps({k: plain(v) for k, v in row._asdict().items()}, ensure_ascii=False) for row in rows]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def write(folder: Path, found: Found) -> None:
    """Write agreement.json and agreement_tests.json."""
    write_whole(folder / AGREEMENT, _objects(found.agreements))
    write_whole(folder / TESTS, _objects(found.differences))


def draw(found: Found, folder: Path) -> Path:
    """``agreement.png``: Spearman's rho of each score with each rating, and its interval, at the first level."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["text.parse_math"] = False
    level = next(level for level in LEVELS if any(a.level == level for a in found.agreements))
    chosen = [a for a in found.agreements if (a.level, a.coefficient) == (level, "spearman")]
    humans = list(dict.fromkeys(a.human for a in chosen))
    names = list(dict.fromkeys(a.score for a in chosen))
    figure = Figure(figsize=(2.5 + 2.5 * len(humans), 1.5 + 0.28 * len(names)), layout="constrained")
    panels = figure.subplots(1, len(humans), sharey=True, squeeze=False)[0]
    for axes, human in zip(panels, humans, strict=True):
        for place, name in enumerate(reversed(names)):
            a = next(a for a in chosen if (a.score, a.human) == (name, human))
            if math.isnan(a.value):
                continue
            color = "0.5" if name == LENGTH else "C0"
            axes.plot(a.value, place, "o", color=color)
            axes.plot([a.low, a.high], [place, place], "-", color=color)
        axes.axvline(0, color="0.7", linewidth=0.8)
        axes.set_title(human)
        axes.set_yticks(range(len(names)), names[::-1])
    figure.supxlabel(f"Spearman's rho, {level} level, with 95% interval")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "agreement.png"
    figure.savefig(path, dpi=100)
    return path
