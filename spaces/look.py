"""What the demos share: colours, HTML pieces, limits, messages in the page, and the tab that scores two texts."""

import contextlib
import functools
import html
import json
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import gradio as gr

from eval_summaries.cells import parse_characters
from eval_summaries.rows import UnusableError

# What is taken in
LIMIT_TEXT = 50_000  # characters of one text
LIMIT_LIST = 15_000  # characters of a list of names: the time to find names grows with it
LIMIT_NAMES = 500  # of a list: the time to compare who is with whom grows with its square
LIMIT_NAME = 200  # characters of a name or alias
# What is shown, so that no input makes a page that a browser cannot hold (1 MB in all)
LIMIT_MARKS = 1000  # in one text
LIMIT_VALUES = 100_000  # bytes of the JSON under "All values"
LIMIT_MESSAGE = 5000  # characters

# Marks have dark text on a light ground in both themes (contrast above 7:1) and differ in line style too, so that no
# reader depends on colour: blue, orange and purple of Okabe and Ito's palette for colour-blind readers, lightened.
CSS = """
.sm-score { font-size: 3rem; font-weight: 700; line-height: 1.1; }
.sm-note { opacity: .85; }
.sm-alert { background: #fff4e0; color: #4a2500; border: 2px solid #b35900; border-radius: 8px; padding: .75rem;
  white-space: pre-line; overflow-wrap: anywhere; }
.sm-text { white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.9; padding: .5rem 0; }
.sm-text mark, .sm-legend mark { color: #111; padding: .1em .2em; border-radius: 3px; }
mark.sm-match { background: #cfe8fb; border-bottom: 3px solid #0072b2; }
mark.sm-miss { background: #fde6c4; border-bottom: 3px dashed #b35900; }
mark.sm-invent { background: #f3d9ea; border-bottom: 3px double #8a2a6a; }
.sm-scroll { overflow-x: auto; }
.sm-scroll table { border-collapse: collapse; }
.sm-scroll th, .sm-scroll td { padding: .3rem .6rem; text-align: start; border-bottom: 1px solid #8886; }
.sm-bar { display: inline-block; height: .8em; background: #0072b2; border-radius: 2px; vertical-align: middle; }
.dark .sm-bar { background: #56b4e9; }
.sm-cell { color: #111; text-align: center !important; min-width: 2.6em; }
details.sm-sentence { margin: .25rem 0; border-inline-start: .5rem solid var(--support); padding-inline-start: .5rem; }
details.sm-sentence summary { cursor: pointer; }
.sm-graph text { fill: currentColor; }
.sm-graph { width: 100%; max-width: 420px; }
/* one selector a rule: Gradio puts a prefix of its own before each rule, which misses the .dark in a list */
.sm-graph rect { fill: #0072b2; }
.sm-graph .sm-matched { stroke: #0072b2; }
.sm-graph .sm-missed { stroke: #b35900; }
.sm-graph .sm-invented { stroke: #8a2a6a; }
.dark .sm-graph rect { fill: #56b4e9; }
.dark .sm-graph .sm-matched { stroke: #56b4e9; }
.dark .sm-graph .sm-missed { stroke: #ffb454; }
.dark .sm-graph .sm-invented { stroke: #e79ccb; }
.sm-graph.sm-key { width: 60px; display: inline-block; vertical-align: middle; }
.sm-nowrap { white-space: nowrap; }
.sm-long { overflow-wrap: anywhere; }
.sm-box textarea { min-height: 5.5em; }
textarea { unicode-bidi: plaintext; text-align: start; } /* each paragraph in its own direction */
.dark button[role=tab].selected { color: #93c5fd !important; }
@media (max-width: 480px) { .sm-score { font-size: 2.2rem; } .gradio-container { padding: 4px !important; } }
"""
THEME = gr.themes.Default(
    primary_hue="blue", font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]
).set(
    color_accent="*primary_700",
    button_primary_background_fill="*primary_700",
    button_primary_background_fill_dark="*primary_700",
    button_primary_background_fill_hover="*primary_800",
    button_primary_text_color="white",
    block_label_text_color="*neutral_700",
    block_title_text_color="*neutral_700",
    block_info_text_color="*neutral_600",
)


# What the reader of the command says of its options, as somebody who has only a page can do it
IN_A_PAGE = (
    ("give --encoding, or ", ""),
    ("convert the file", "convert the file to UTF-8"),
    ("give --split with one of", "leave only one of them there:"),
    (", or name a column of ids with --id", ""),
)


class Refused(ValueError):
    """Something the user can mend; its message goes into the page."""


# ---- pieces of a page -----------------------------------------------------------------------------------------------


def escape(text: object) -> str:
    """Text for HTML."""
    return html.escape(str(text))


def clip(text: str, most: int) -> str:
    """The beginning of a long text."""
    return text if len(text) <= most else f"{text[:most]}…"


def plain(message: object) -> str:
    """A message without the command's options, which a page does not have."""
    text = str(message)
    for option, instead in IN_A_PAGE:
        text = text.replace(option, instead)
    return text


def alert(message: object) -> str:
    """A message that screen readers announce."""
    return f'<div class="sm-alert" role="alert">{escape(clip(plain(message), LIMIT_MESSAGE))}</div>'


def remark(text: str) -> str:
    """A line that says what is not shown, and the like."""
    return f'<p class="sm-note">{escape(text)}</p>'


def some(names: Sequence[str], most: int = 50) -> str:
    """Names in a row, the first of many."""
    shown = ", ".join(clip(name, 30) for name in names[:most])
    return f"{shown}, and {len(names) - most:,} more" if len(names) > most else shown


def big_score(name: str, value: float, note: str = "") -> str:
    """The primary score, large; ``data-score`` has all its digits."""
    shown = "undefined" if value != value else f"{value:.3f}"
    return (
        f'<div role="status"><div>{escape(name)}</div><div class="sm-score" data-score="{value!r}">{shown}</div>'
        f'<div class="sm-note">{escape(note)}</div></div>'
    )


def highlight(text: str, spans: Iterable[tuple[int, int, str, str]]) -> str:
    """A text in its own direction with marks: (start, end, class, what a screen reader says)."""
    spans = sorted(spans)
    parts, end = [], 0
    for start, stop, kind, said in spans[:LIMIT_MARKS]:
        if start < end:  # two words in one character, as in ½
            continue
        parts += [
            html.escape(text[end:start], quote=False),
            f'<mark class="sm-{kind}" title="{escape(said)}">{html.escape(text[start:stop], quote=False)}</mark>',
        ]
        end = stop
    parts.append(html.escape(text[end:], quote=False))
    more = f"Only the first {LIMIT_MARKS:,} of {len(spans):,} marks are drawn." if len(spans) > LIMIT_MARKS else ""
    return f'{remark(more) if more else ""}<div class="sm-text" dir="auto">{"".join(parts)}</div>'


def legend(**kinds: str) -> str:
    """What the marks mean: ``legend(match="in both")``."""
    marks = (f'<mark class="sm-{kind}">{escape(meaning)}</mark>' for kind, meaning in kinds.items())
    return f'<p class="sm-legend">{" &nbsp; ".join(marks)}</p>'


def table(headers: list[str], rows: Iterable[Iterable[object]]) -> str:
    """A table; a cell that is a ``Markup`` is taken as HTML."""

    def cell(value: object) -> str:
        return value if isinstance(value, Markup) else escape(value)

    head = "".join(f'<th scope="col">{escape(header)}</th>' for header in headers)
    body = "".join(f"<tr>{''.join(f'<td>{cell(value)}</td>' for value in row)}</tr>" for row in rows)
    return f'<div class="sm-scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


class Markup(str):
    """HTML that is not to be escaped again."""


def bar(share: float) -> Markup:
    """A bar of a share between 0 and 1, at most 8 em long."""
    return Markup(f'<span class="sm-bar" style="width:{8 * min(1.0, max(0.0, share)):.2f}em"></span>')


def shade(value: float) -> str:
    """A light blue that deepens from 0 to 1, always light enough for dark text."""
    part = min(1.0, max(0.0, value))
    return f"rgb({round(247 - 110 * part)},{round(251 - 60 * part)},{round(255 - 15 * part)})"


def histogram(values: list[float], label: str) -> str:
    """Ten bars from the lowest to the highest value, as a picture with a description."""
    known = [value for value in values if value == value]
    if not known:
        return ""
    low, high = min(known), max(known)
    width = (high - low) / 10 or 1
    counts = [0] * 10
    for value in known:
        counts[min(9, int((value - low) / width))] += 1
    bars = "".join(
        f'<rect x="{20 + 26 * i}" y="{110 - 90 * n / max(counts):.1f}" width="24" height="{90 * n / max(counts):.1f}" '
        f"><title>{low + width * i:.3f} to {low + width * (i + 1):.3f}: {n}</title></rect>"
        for i, n in enumerate(counts)
    )
    said = f"{label}: {len(known)} values from {low:.3f} to {high:.3f}; counts {', '.join(map(str, counts))}"
    return (
        f'<svg class="sm-graph sm-histogram" role="img" aria-label="{escape(said)}" viewBox="0 0 300 130">'
        f'{bars}<text x="20" y="126" font-size="11">{low:.3f}</text>'
        f'<text x="280" y="126" font-size="11" text-anchor="end">{high:.3f}</text></svg>'
    )


class _OverBudget(Exception):
    pass


def bounded(value: Any, budget: int = LIMIT_VALUES) -> Any:
    """A value for the JSON view: long lists, mappings and texts are cut, and say so, until it fits the budget."""
    for most in (1000, 300, 100, 30, 10, 3):
        with contextlib.suppress(_OverBudget):
            return _cut(value, most, [budget])
    return f"over {budget:,} bytes: not shown (use the library)"


def _cut(value: Any, most: int, left: list[int]) -> Any:
    """The first ``most`` entries of each list, and as much of mappings and texts, but never less than a few keys.

    Args:
        left: one number, the bytes that may still be used; counted on the way, so that no more is ever looked at.
    """

    def spend(shown: Any) -> Any:
        left[0] -= len(json.dumps(shown)) + 2  # a comma or colon, and a space
        if left[0] < 0:
            raise _OverBudget
        return shown

    if isinstance(value, str):
        length = 10 * most
        return spend(value if len(value) <= length else f"{value[:length]}… ({len(value) - length:,} more characters)")
    if isinstance(value, dict):
        found: dict[str, Any] = spend({})
        for number, (key, entry) in enumerate(value.items()):
            if number == max(most, 12):
                found["…"] = spend(f"{len(value) - number:,} more")
                break
            short = _cut(str(key), most, left)
            short = f"{short} [{number}]" if short in found else short  # two that begin alike
            found[short] = _cut(entry, most, left)
        return found
    if isinstance(value, (list, tuple)):
        shown = spend([])
        shown += [_cut(entry, most, left) for entry in value[:most]]
        return [*shown, spend(f"… {len(value) - most:,} more")] if len(value) > most else shown
    return spend(value)


# ---- input ----------------------------------------------------------------------------------------------------------


def checked(text: str | None, name: str) -> str:
    """A text that is not blank and not over the limit; ``Refused`` otherwise."""
    if not (text or "").strip():
        raise Refused(f"{name} is empty: type or paste a text")
    check_length(text, name)
    return text


def check_length(text: str, name: str) -> None:
    """``Refused`` for a text over the limit."""
    if len(text) > LIMIT_TEXT:
        raise Refused(f"{name} has {len(text):,} characters; this demo takes at most {LIMIT_TEXT:,} (use the library)")


def check_list(people: list | dict, name: str) -> None:
    """``Refused`` for a list of characters over the limits."""
    if len(people) > LIMIT_NAMES:
        raise Refused(f"{name} has {len(people):,} names; this demo takes at most {LIMIT_NAMES} (use the library)")
    if len(str(people)) > LIMIT_LIST:
        raise Refused(
            f"{name}: the names and aliases take {len(str(people)):,} letters and signs; this demo takes at most "
            f"{LIMIT_LIST:,} (use the library)"
        )
    listed = people.values() if isinstance(people, dict) else []
    aliases = [alias for one in listed if isinstance(one, list) for alias in one]
    for one in map(str, [*people, *aliases]):
        if len(one) > LIMIT_NAME:
            raise Refused(
                f"{name}: {clip(one, 30)!r} has {len(one):,} characters; a name has at most {LIMIT_NAME} here"
            )


def checked_characters(text: str | None) -> list | dict:
    """The characters of the box, as the command reads them; ValueError where it names nobody or too many."""
    people = parse_characters(text or "", "Characters")
    check_list(people, "Characters")
    return people


def in_page(outputs: int) -> Callable:
    """Turn a failure into a message in the first of a function's outputs; the others are emptied."""

    def wrap(function: Callable) -> Callable:
        @functools.wraps(function)
        def run(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except (ValueError, TypeError, OSError, ImportError, UnusableError) as error:  # bad input
                message = str(error)
            except Exception as error:
                traceback.print_exc()  # to the log of the Space; the page shows no trace
                message = f"Something went wrong here ({type(error).__name__}); the log has the details."
            return (alert(message), *[None] * (outputs - 1))

        return run

    return wrap


def text_box(label: str, value: str, name: str) -> gr.Textbox:
    """An input in which Enter scores, and Shift+Enter starts a line."""
    return gr.Textbox(value, label=label, max_lines=14, elem_id=name, elem_classes="sm-box")


def characters_box(value: str) -> gr.Textbox:
    """The list of characters, as ``checked_characters`` reads it."""
    info = "One a line; aliases after a colon, parted by commas."
    return gr.Textbox(value, label="Characters", info=info, lines=4, max_lines=12, elem_id="characters")


def pair_tab(score: Callable, inputs: list, options: list, examples: list[list], example_inputs: list) -> None:
    """The rest of the first tab, below its inputs: button, score, evidence, examples.

    Args:
        score: from the values of ``inputs`` and ``options`` to the score's HTML, the evidence's HTML, and all values.
        examples: rows of values for ``example_inputs``.
    """
    button = gr.Button("Score", variant="primary", elem_id="score")
    number = gr.HTML(elem_id="number")
    evidence = gr.HTML(elem_id="evidence")
    with gr.Accordion("All values", open=False):
        values = gr.JSON(elem_id="values")
    gr.Examples(examples, example_inputs, label="Examples")
    events = [button.click, *(box.submit for box in inputs[:2])]
    gr.on(events, score, [*inputs, *options], [number, evidence, values], api_name="score")


MODELS = {
    "English: all-MiniLM-L6-v2": {"lang": "en", "model_name": None},
    "Arabic and 100 languages: multilingual-e5-small, 4 bits": {"lang": "ar", "model_name": "multilingual-e5-small-q4"},
    "Arabic: AraBERT (from the Hub)": {"lang": "ar", "model_name": None},
    "Other languages: paraphrase-multilingual-MiniLM (from the Hub)": {"lang": "fr", "model_name": None},
}


def model_choice() -> gr.Dropdown:
    """Which model embeds the texts; no free entry, since a demo must not read the server's folders."""
    return gr.Dropdown(list(MODELS), value=next(iter(MODELS)), label="Model", elem_id="model")
