"""The report: one HTML file that opens without a network, made of templates/report.html.j2, report.css and report.js.

Texts are escaped by the template engine and by ``pieces``; the page's own policy (CSP) names its one style and its one
script by their digests and forbids everything else.
"""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from .. import agreement_tables, pieces
from ..ranking import heading, note
from ..result import Result
from ..score_table import Scores
from ..scoring import LOWER_IS_BETTER, NO_BETTER_SIDE
from ..shared import texts as shared_texts
from ..tables import number
from .evidence import KINDS, LIMIT

GENERATOR = '<meta name="generator" content="eval_summaries">'  # by which a report is known
LIMIT_PAGE = 4_900_000  # bytes: a page of 5 MB opens in a second or two
LIMIT_VALUES = 150_000  # scores of single examples that the page holds
LIMIT_FAILURES = 200  # that are listed
_HERE = Path(__file__).resolve().parent
_SAID = {"match": "in both texts", "miss": "missed by the summary", "invent": "only in the summary"}
# The view that shows why a score is what it is, by the beginning of its name; else the shared words.
VIEW_OF = {"mss": "support", "boc": "names", "bor": "pairs", "stats": "unsupported"}


def render(result: Result, shown: list[dict[str, Any]]) -> str:
    """The whole page.

    Args:
        shown: examples with their texts and evidence, as ``examples.collect`` makes them.
    """
    environment = _environment()
    style = (_HERE.parent / "marks.css").read_text("utf-8") + (_HERE / "templates" / "report.css").read_text("utf-8")
    script = (_HERE / "templates" / "report.js").read_text("utf-8")
    ranking = result.ranking
    distributions = _distributions(result)
    ids = result.scores.ids
    numbers = _numbers(result, ids, {one["id"] for one in shown})
    room = LIMIT_PAGE - len(style + script + json.dumps(numbers)) - sum(len("".join(d)) for d in distributions.values())
    drawn = _examples(shown, ranking.systems, environment.get_template("example.html.j2"), room)
    numbers["templates"] = {one["id"]: place for place, one in enumerate(shown[: len(drawn)])}
    page = environment.get_template("report.html.j2").render(
        generator=Markup(GENERATOR),
        style=Markup(style),
        script=Markup(script),
        style_digest=_digest(style),
        script_digest=_digest(script),
        ranking=ranking,
        heads=[_head(key) for key in ranking.keys],
        note=note(ranking),
        new=result.new,
        number=number,
        count=len(ids),
        distributions=distributions,
        examples=drawn,
        left_out=len(shown) - len(drawn),
        data=jinja2.utils.htmlsafe_json_dumps(numbers, allow_nan=False, separators=(",", ":")),
        agreement=_agreement(result),
        signatures=result.signatures,
        options={name: given for name, given in result.plan["options"].items() if given},
        failures=result.failures[:LIMIT_FAILURES],
        all_failures=len(result.failures),
    )
    return page.encode("utf-8", "backslashreplace").decode()  # a lone surrogate, which no file can hold


def _environment() -> jinja2.Environment:
    """Templates that escape whatever is not HTML of ours, and show control characters as their pictures."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        finalize=lambda value: value if isinstance(value, Markup) or not isinstance(value, str) else pieces.text(value),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _digest(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _head(key: str) -> dict[str, Any]:
    """A column of the ranking."""
    side = "lower is better" if key in LOWER_IS_BETTER else "" if key in NO_BETTER_SIDE else "higher is better"
    return {"key": key, "shown": heading(key), "side": side}


def _distributions(result: Result) -> dict[str, list[Markup]]:
    """For each system a small histogram of each score that is ranked by, all of one score on one axis."""
    scores, drawn = result.scores, {system: [] for system in result.ranking.systems}
    rows = {system: scores.rows_of(system) for system in drawn}
    for key in result.ranking.keys:
        column = scores.column(key)
        known = column[~np.isnan(column)]
        span = (float(known.min()), float(known.max())) if len(known) else None
        for system, pictures in drawn.items():
            pictures.append(pieces.histogram(column[rows[system]].tolist(), f"{system}, {key}", span))
    return drawn


# ---- numbers for the script -----------------------------------------------------------------------------------------


def _short(value: float | None) -> float | None:
    return None if value is None or value != value else float(f"{value:.4g}")


def _numbers(result: Result, ids: list[str], shown: set[str]) -> dict[str, Any]:
    """What the script sorts and compares: means, p-values, and each example's scores, as far as the page holds them.

    Args:
        shown: the ids whose scores are there in any case.
    """
    systems = result.ranking.systems
    keys = [*dict.fromkeys([*result.ranking.keys, *(row.key for row in result.rows)])]
    place = {name: number for number, name in enumerate(systems)}
    kept, listed = ids, keys
    if len(systems) * len(kept) * len(listed) > LIMIT_VALUES:
        listed = result.ranking.keys
    if len(systems) * len(kept) * len(listed) > LIMIT_VALUES:
        kept = [name for name in ids if name in shown]
    means = {(row.system, row.key): row.mean for row in result.rows}
    pairs: dict[str, dict[str, list]] = {key: {} for key in keys}
    for one in result.comparisons:
        found = [one.n, _short(one.difference), _short(one.randomization), _short(one.adjusted)]
        pairs[one.key][f"{place[one.one]} {place[one.other]}"] = found
    return {
        "systems": systems,
        "keys": keys,
        "primary": result.ranking.keys,
        "lower": [key for key in keys if key in LOWER_IS_BETTER],
        "neutral": [key for key in keys if key in NO_BETTER_SIDE],
        "views": {
            key: next((view for start, view in VIEW_OF.items() if key.startswith(start)), "words") for key in keys
        },
        "means": {key: [_short(means.get((name, key))) for name in systems] for key in keys},
        "pairs": pairs,
        "ids": kept,
        "all": len(ids),
        "scores": {key: _per_example(result.scores, key, systems, kept) for key in listed},
    }


def _per_example(scores: Scores, key: str, systems: list[str], ids: list[str]) -> list[list[float | None]]:
    """For each id the score of each system, null where it has none."""
    rows = {system: number for number, system in enumerate(scores.systems)}
    columns = {name: number for number, name in enumerate(scores.ids)}
    table = scores.table(key)[np.ix_([rows[system] for system in systems], [columns[name] for name in ids])]
    return [[_short(value) for value in values] for values in table.T.tolist()]


def _agreement(result: Result) -> list[tuple[str, Markup]]:
    """A table for each rating, where there are ratings."""
    if not result.agreement:
        return []
    return [
        (human, pieces.table(*agreement_tables.table(result.agreement, human, "spearman")))
        for human in dict.fromkeys(one.human for one in result.agreement.agreements)
    ]


# ---- examples -------------------------------------------------------------------------------------------------------


def _legends() -> dict[str, Markup]:
    return {
        "words": pieces.legend(match="in the summary and in the reference"),
        "support": pieces.legend(**{"shade-1": "little support", "shade-5": "some", "shade-10": "a sentence like it"}),
        "names": pieces.legend(**_SAID),
        "unsupported": pieces.legend(invent="a number or name that the document lacks"),
    }


def _examples(shown: list[dict[str, Any]], order: list[str], template: jinja2.Template, room: int) -> list[Markup]:
    """The examples with their evidence as HTML, as many as fit into ``room`` bytes."""
    drawn: list[Markup] = []
    all_legends = _legends()
    for place, one in enumerate(shown):
        sides = []
        for side in sorted(one["systems"], key=lambda side: order.index(side["name"])):
            compared = one["texts"][side["texts"]]
            views = {name: _view(name, view, side["summary"], compared) for name, view in side["views"].items()}
            if not set(views) - {"failed"}:
                views["plain"] = pieces.highlight(side["summary"], [])
            system = {"system": order.index(side["name"]), "name": side["name"], "texts": side["texts"]}
            sides.append({**system, "views": views})
        used = {name for side in sides for name in side["views"]}
        legends = {name: legend for name, legend in all_legends.items() if name in used}
        texts = [_compared(kept) for kept in one["texts"]]
        html = template.render(place=place, chosen=one["chosen"], legends=legends, sides=sides, texts=texts)
        room -= len(html.encode("utf-8", "backslashreplace"))
        if room < 0:
            break
        drawn.append(Markup(html))
    return drawn


def _view(name: str, view: dict[str, Any], summary: str, compared: dict[str, Any]) -> Markup:
    if name == "support":
        return _support(view, summary, compared)
    if name == "pairs":
        return pieces.table(["relations", ""], [[part, pieces.some(view[part]) or "none"] for part in KINDS])
    if name == "failed":
        return pieces.remark("No evidence: " + "; ".join(f"{metric}: {why}" for metric, why in view.items()))
    if name == "unsupported":
        spans = [(start, end, "invent", "") for start, end in view["summary"]]
        return pieces.highlight(summary, spans) + ("" if spans else pieces.remark("Nothing is unsupported."))
    if name == "names":
        spans = {
            side: [(a, b, kind, f"{pieces.clip(who, 20)}: {_SAID[kind]}") for a, b, kind, who in view[side]]
            for side in ("summary", "reference")
        }
        listed = pieces.table(["characters", ""], [[part, pieces.some(view[part]) or "nobody"] for part in KINDS])
    else:
        texts = {"summary": summary, "reference": compared["references"][view["number"]]}
        spans = {side: _joined([(a, b, "match", "") for a, b in view[side]], text) for side, text in texts.items()}
        listed = Markup("")
    return (
        pieces.highlight(summary, spans["summary"])
        + _reference(view["number"], compared["references"], spans["reference"])
        + listed
    )


def _joined(spans: list[pieces.Span], text: str) -> list[pieces.Span]:
    """Neighbours that only white space parts, as one: fewer marks, and easier to read."""
    found: list[pieces.Span] = []
    for span in spans:
        if found and not text[found[-1][1] : span[0]].strip():
            found[-1] = (found[-1][0], max(found[-1][1], span[1]), *span[2:])
        else:
            found.append(span)
    return found


def _reference(number: int, references: list[str], spans: list[pieces.Span]) -> Markup:
    title = "Reference" if len(references) == 1 else f"Reference {number + 1} of {len(references)}, the closest"
    shown = [span for span in spans if span[1] <= LIMIT]
    return Markup('<div class="reference">{}{}</div>').format(
        pieces.heading(5, title), pieces.highlight(references[number], shown)
    )


def _support(view: dict[str, Any], summary: str, compared: dict[str, Any]) -> Markup:
    """Each sentence shaded, its best source sentence below it with a button that scrolls the document there."""
    parts, end = [], 0
    for start, stop, similarity, where in view["summary"]:
        document, first, last = compared["sources"][where]
        source = compared["documents"][document][first:last] if first >= 0 else ""
        go = Markup('<button type="button" class="goto" data-source="{}">Source sentence {}</button> {}').format(
            where, where + 1, pieces.text(pieces.clip(source, 300))
        )
        parts.append(pieces.supported(summary[start:stop], similarity, go, opened=True))
        end = stop
    rest = summary[end:] if shared_texts.words(summary[end:]) else ""
    return Markup("").join(parts) + (pieces.highlight(rest, []) if rest or not parts else "")


def _compared(kept: dict[str, Any]) -> Markup:
    """The documents, their sentences named so that the page can scroll to them."""
    parts = []
    for which, document in enumerate(kept["documents"]):
        title = "Document" if len(kept["documents"]) == 1 else f"Document {which + 1}"
        marked, end = [], 0
        for where, (of, start, stop) in enumerate(kept["sources"]):
            if of == which and 0 <= start < stop <= LIMIT:
                sentence = Markup('<span class="source" data-source="{}">{}</span>')
                marked += [pieces.text(document[end:start]), sentence.format(where, pieces.text(document[start:stop]))]
                end = stop
        marked.append(pieces.text(document[end:]))
        body = Markup('<div class="sm-text" dir="auto">{}</div>').format(Markup("").join(marked))
        parts.append(pieces.heading(5, title) + body)
    return Markup("").join(parts)
