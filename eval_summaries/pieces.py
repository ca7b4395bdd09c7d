"""Pieces of HTML that the demos and the report share: marked texts, tables, bars, shades, histograms.

All texts are escaped on the way in (markupsafe). ``marks.css`` styles the pieces; none has a style of its own in it, so
that a page may forbid inline styles.
"""

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

LIMIT_MARKS = 1000  # in one text, so that no input makes a page that a browser cannot hold

Span = tuple[int, int, str, str]  # start, end, kind of mark, what a screen reader says ("" for nothing)

# Control characters as the pictures that Unicode has of them: browsers drop or replace them.
_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"} | {0x7F: 0x2421}


def text(content: object) -> Markup:
    """Text for HTML, with control characters as their pictures."""
    return escape(str(content).translate(_PICTURES))


def clip(content: str, most: int) -> str:
    """The beginning of a long text."""
    return content if len(content) <= most else f"{content[:most]}…"


def heading(level: int, content: str) -> Markup:
    """A heading."""
    return Markup("<h{0}>{1}</h{0}>").format(level, text(content))


def remark(content: str) -> Markup:
    """A line that says what is not shown, and the like."""
    return Markup('<p class="sm-note">{}</p>').format(content)


def some(names: Sequence[str], most: int = 50) -> str:
    """Names in a row, the first of many."""
    shown = ", ".join(clip(name, 30) for name in names[:most])
    return f"{shown}, and {len(names) - most:,} more" if len(names) > most else shown


def mark(content: str, kind: str, said: str = "") -> Markup:
    """A marked piece of a text: ``kind`` is match, miss, invent, or a shade."""
    title = Markup(' title="{}"').format(text(said)) if said else ""
    return Markup('<mark class="sm-{}"{}>{}</mark>').format(kind, title, text(content))


def highlight(content: str, spans: Iterable[Span]) -> Markup:
    """A text in its own direction with marks."""
    spans = sorted(spans)
    parts, end = [], 0
    for start, stop, kind, said in spans[:LIMIT_MARKS]:
        if start < end:  # two words in one character, as in ½
            continue
        parts += [text(content[end:start]), mark(content[start:stop], kind, said)]
        end = stop
    parts.append(text(content[end:]))
    more = f"Only the first {LIMIT_MARKS:,} of {len(spans):,} marks are drawn." if len(spans) > LIMIT_MARKS else ""
    return Markup('{}<div class="sm-text" dir="auto">{}</div>').format(
        remark(more) if more else "", Markup("").join(parts)
    )


def legend(**kinds: str) -> Markup:
    """What the marks mean: ``legend(match="in both")``."""
    return Markup('<p class="sm-legend">{}</p>').format(
        Markup(" &nbsp; ").join(mark(meaning, kind) for kind, meaning in kinds.items())
    )


def table(headers: Iterable[object], rows: Iterable[Iterable[object]]) -> Markup:
    """A table; a cell that is ``Markup`` is taken as HTML."""

    def shown(value: object) -> Markup:
        return value if isinstance(value, Markup) else text(value)

    head = Markup("").join(Markup('<th scope="col">{}</th>').format(shown(header)) for header in headers)
    lines = (Markup("").join(Markup("<td>{}</td>").format(shown(value)) for value in row) for row in rows)
    body = Markup("").join(Markup("<tr>{}</tr>").format(line) for line in lines)
    return Markup(
        '<div class="sm-scroll" tabindex="0"><table class="sm-table"><thead><tr>{}</tr></thead><tbody>{}</tbody>'
        "</table></div>"
    ).format(head, body)


def bar(share: float) -> Markup:
    """A bar of a share between 0 and 1."""
    width = 100 * min(1.0, max(0.0, share))
    return Markup(
        '<svg class="sm-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect width="{:.1f}" height="10"/></svg>'
    ).format(width)


def shade(value: float) -> str:
    """The class of one of eleven light blues that deepen from 0 to 1, all light enough for dark text."""
    return f"shade-{round(10 * min(1.0, max(0.0, value)))}"


def supported(sentence: str, similarity: float, source: object, opened: bool = False) -> Markup:
    """A sentence of a summary, shaded by its similarity to its best source sentence, which opens below it."""
    return Markup(
        '<details class="sm-sentence"{}><summary dir="auto">{} {:.2f}</summary><div dir="auto">{}</div></details>'
    ).format(Markup(" open" if opened else ""), mark(sentence, shade(similarity)), similarity, source)


def histogram(values: list[float], label: str, span: tuple[float, float] | None = None) -> Markup:
    """Ten bars as a picture with a description; nothing where no value is defined.

    Args:
        span: lowest and highest value of the axis; those of ``values`` unless given.
    """
    known = [value for value in values if value == value]
    if not known:
        return Markup("")
    low, high = span or (min(known), max(known))
    width = (high - low) / 10 or 1
    counts = [0] * 10
    for value in known:
        counts[min(9, max(0, int((value - low) / width)))] += 1
    tall = [90 * count / max(counts) for count in counts]
    bars = Markup("").join(
        Markup('<rect x="{}" y="{:.1f}" width="24" height="{:.1f}"><title>{:.3f} to {:.3f}: {}</title></rect>').format(
            20 + 26 * i, 110 - tall[i], tall[i], low + width * i, low + width * (i + 1), count
        )
        for i, count in enumerate(counts)
    )
    said = (
        f"{label}: {len(known)} values from {min(known):.3f} to {max(known):.3f}; counts {', '.join(map(str, counts))}"
    )
    return Markup(
        '<svg class="sm-graph sm-histogram" role="img" aria-label="{}" viewBox="0 0 300 130">{}'
        '<text x="20" y="126" font-size="11">{:.3f}</text>'
        '<text x="280" y="126" font-size="11" text-anchor="end">{:.3f}</text></svg>'
    ).format(text(said), bars, low, high)
