# Shared code: edit spaces/_shared/look.py, then run "make vendor".
"""What the demos share: colours, HTML pieces, limits, messages in the page, and the tab that scores a file."""

import functools
import html
import json
import tempfile
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

import gradio as gr
import pandas as pd

LIMIT_CHARACTERS = 50_000  # of one text
LIMIT_ROWS = 500  # of a file
CHUNK = 25  # rows scored between two steps of the progress bar

# Marks have dark text on a light ground in both themes (contrast above 7:1) and differ in line style too, so that no
# reader depends on colour: blue, orange and purple of Okabe and Ito's palette for colour-blind readers, lightened.
CSS = """
.sm-score { font-size: 3rem; font-weight: 700; line-height: 1.1; }
.sm-note { opacity: .85; }
.sm-alert { background: #fff4e0; color: #4a2500; border: 2px solid #b35900; border-radius: 8px; padding: .75rem; }
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


class Refused(ValueError):
    """Something the user can mend; its message goes into the page."""


# ---- pieces of a page -----------------------------------------------------------------------------------------------


def escape(text: object) -> str:
    """Text for HTML."""
    return html.escape(str(text))


def alert(message: object) -> str:
    """A message that screen readers announce."""
    return f'<div class="sm-alert" role="alert">{escape(message)}</div>'


def big_score(name: str, value: float, note: str = "") -> str:
    """The primary score, large; ``data-score`` has all its digits."""
    shown = "undefined" if value != value else f"{value:.3f}"
    return (
        f'<div role="status"><div>{escape(name)}</div><div class="sm-score" data-score="{value!r}">{shown}</div>'
        f'<div class="sm-note">{escape(note)}</div></div>'
    )


def highlight(text: str, spans: Iterable[tuple[int, int, str, str]]) -> str:
    """A text in its own direction with marks: (start, end, class, what a screen reader says)."""
    parts, end = [], 0
    for start, stop, kind, said in sorted(spans):
        parts += [
            escape(text[end:start]),
            f'<mark class="sm-{kind}" title="{escape(said)}">{escape(text[start:stop])}</mark>',
        ]
        end = stop
    return f'<div class="sm-text" dir="auto">{"".join(parts)}{escape(text[end:])}</div>'


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


# ---- input ----------------------------------------------------------------------------------------------------------


def checked(text: str | None, name: str) -> str:
    """A text that is not blank and not over the limit; ``Refused`` otherwise."""
    if not (text or "").strip():
        raise Refused(f"{name} is empty: type or paste a text")
    if len(text) > LIMIT_CHARACTERS:
        raise Refused(
            f"{name} has {len(text):,} characters; this demo takes at most {LIMIT_CHARACTERS:,} (use the library)"
        )
    return text


def parse_characters(text: str) -> dict[str, list[str]]:
    """One character a line, aliases after a colon: ``House: Dr. House, Gregory House``."""
    characters = {}
    for line in (text or "").splitlines():
        name, _, aliases = line.partition(":")
        if name.strip():
            characters[name.strip()] = [alias.strip() for alias in aliases.split(",") if alias.strip()]
    if not characters:
        raise Refused("Characters is empty: write one name a line, with aliases after a colon")
    return characters


def in_page(outputs: int) -> Callable:
    """Turn a failure into a message in the first of a function's outputs; the others are emptied."""

    def wrap(function: Callable) -> Callable:
        @functools.wraps(function)
        def run(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except (ValueError, TypeError, OSError, ImportError) as error:  # what the metrics raise for bad input
                message = str(error)
            except Exception as error:
                traceback.print_exc()  # to the log of the Space; the page shows no trace
                message = f"Something went wrong here ({type(error).__name__}); the log has the details."
            return (alert(message), *[None] * (outputs - 1))

        return run

    return wrap


def read_rows(path: str | None, columns: list[str]) -> list[dict]:
    """Rows of an uploaded CSV or JSONL file; ``Refused`` says what is wrong with it, and in which line."""
    if not path:
        raise Refused("Choose a file first")
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(f"{file.name} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    if file.suffix.lower() == ".csv":
        try:
            rows = pd.read_csv(file, dtype=str, keep_default_na=False, encoding="utf-8-sig").to_dict("records")
        except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
            raise Refused(f"{file.name} cannot be read as CSV: {error}") from None
    elif file.suffix.lower() in (".jsonl", ".json", ".ndjson"):
        rows = []
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError as error:
                raise Refused(f"{file.name}, line {number} is not JSON: {error.msg}") from None
            if not isinstance(rows[-1], dict):
                raise Refused(f"{file.name}, line {number} is not an object with {', '.join(columns)}")
    else:
        raise Refused(f"{file.name}: give a .csv or .jsonl file")
    if not rows:
        raise Refused(f"{file.name} has no rows")
    if len(rows) > LIMIT_ROWS:
        raise Refused(f"{file.name} has {len(rows)} rows; this demo takes at most {LIMIT_ROWS} (use the library)")
    for number, row in enumerate(rows):
        missing = [column for column in columns if column not in row]
        if missing:
            raise Refused(f"{file.name}, row {number} has no column {' and '.join(missing)}; it has {', '.join(row)}")
        for column in ("predictions", "references"):
            longest = (
                max(map(len, row[column])) if isinstance(row[column], list) and row[column] else len(str(row[column]))
            )
            if longest > LIMIT_CHARACTERS:
                raise Refused(f"{file.name}, row {number}: {column} is over {LIMIT_CHARACTERS:,} characters")
    return rows


def text_box(label: str, value: str, name: str) -> gr.Textbox:
    """An input in which Enter scores, and Shift+Enter starts a line."""
    return gr.Textbox(value, label=label, max_lines=14, elem_id=name, elem_classes="sm-box")


def characters_box(value: str) -> gr.Textbox:
    """The list of characters, as ``parse_characters`` reads it."""
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


def file_tab(metric, primary: str, columns: list[str], options: Callable[..., dict], inputs: list) -> None:
    """The second tab: upload, progress, mean, histogram, table, download with the signature.

    Args:
        metric: the loaded metric; only its ``score`` and ``signature`` are used, which are safe for several users.
        primary: the key that the histogram shows.
        columns: that the file must have.
        options: from the values of ``inputs`` to the metric's options.
        inputs: the option components, shared with the first tab.
    """
    gr.Markdown(
        f"A CSV or JSONL file in UTF-8 with the columns **{'**, **'.join(columns)}**, at most {LIMIT_ROWS} rows."
    )
    upload = gr.File(label="File", file_types=[".csv", ".jsonl", ".json", ".ndjson"], elem_id="file")
    button = gr.Button("Score the file", variant="primary", elem_id="score-file")
    summary = gr.HTML(elem_id="file-summary")
    rows_out = gr.Dataframe(label="Scores", interactive=False, wrap=True, elem_id="file-table")
    download = gr.File(label="Download (CSV, with the signature)", interactive=False, elem_id="file-download")

    @in_page(3)
    def score_file(path, *values, progress=gr.Progress()):  # noqa: B008 (gradio finds the progress bar by its default)
        rows = read_rows(path, columns)
        chosen = options(*values)
        found: dict[str, list[float]] = {}
        named = {}
        if "characters" in columns:
            named["characters"] = [_characters_of(row["characters"], number) for number, row in enumerate(rows)]
        for start in progress.tqdm(range(0, len(rows), CHUNK), desc="scoring"):
            part = rows[start : start + CHUNK]
            extra = {name: lists[start : start + CHUNK] for name, lists in named.items()}
            scores = metric.score([r["predictions"] for r in part], [r["references"] for r in part], **chosen, **extra)
            for key, scored in scores.items():
                found.setdefault(key, []).extend(scored)
        known = [value for value in found[primary] if value == value]
        mean = sum(known) / len(known) if known else float("nan")
        signature = metric.signature(**chosen, **named)
        result = pd.DataFrame({"row": range(len(rows)), **found})
        folder = tempfile.mkdtemp(prefix="scores-")  # its own for each call: nobody gets another's file
        path_out = Path(folder) / f"{primary}_scores.csv"
        result.assign(signature=signature).to_csv(path_out, index=False)
        note = f"mean of {len(known)} rows" + (
            f", {len(rows) - len(known)} undefined" if len(known) < len(rows) else ""
        )
        shown = big_score(primary, mean, note) + histogram(found[primary], primary)
        shown += f'<details><summary>Signature</summary><code class="sm-long">{escape(signature)}</code></details>'
        return shown, result.round(4), str(path_out)

    button.click(score_file, [upload, *inputs], [summary, rows_out, download], api_name="score_file")


def _characters_of(value: object, row: int) -> object:
    """A row's characters: a JSON list or object, or names parted by semicolons."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except json.JSONDecodeError:
            names = [name.strip() for name in value.split(";") if name.strip()]
            if not names:
                raise Refused(
                    f"row {row}: characters is empty; write names parted by semicolons, or a JSON list"
                ) from None
            return names
    return value


MODELS = {
    "English: all-MiniLM-L6-v2": {"lang": "en", "model_name": None},
    "Arabic and 100 languages: multilingual-e5-small, 4 bits": {"lang": "ar", "model_name": "multilingual-e5-small-q4"},
    "Arabic: AraBERT (from the Hub)": {"lang": "ar", "model_name": None},
    "Other languages: paraphrase-multilingual-MiniLM (from the Hub)": {"lang": "fr", "model_name": None},
}


def model_choice() -> gr.Dropdown:
    """Which model embeds the texts; no free entry, since a demo must not read the server's folders."""
    return gr.Dropdown(list(MODELS), value=next(iter(MODELS)), label="Model", elem_id="model")


def launch(demo: gr.Blocks) -> None:
    """Start the app without analytics or fonts from elsewhere."""
    demo.queue(default_concurrency_limit=4).launch(theme=THEME, css=CSS, footer_links=[], max_file_size="20mb")
