"""What the demos share: colours, limits, messages in the page, and the tab that scores two texts."""

import contextlib
import functools
import json
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

from eval_summaries import pieces
from eval_summaries.cells import parse_characters
from eval_summaries.rows import UnusableError

# What is taken in
LIMIT_TEXT = 50_000  # characters of one text
LIMIT_LIST = 15_000  # characters of a list of names: the time to find names grows with it
LIMIT_NAMES = 500  # of a list: the time to compare who is with whom grows with its square
LIMIT_NAME = 200  # characters of a name or alias
# What is shown, so that no input makes a page that a browser cannot hold (1 MB in all)
LIMIT_VALUES = 100_000  # bytes of the JSON under "All values"
LIMIT_MESSAGE = 5000  # characters

CSS = (
    (Path(pieces.__file__).parent / "marks.css").read_text(encoding="utf-8")
    + """
.sm-score { font-size: 3rem; font-weight: 700; line-height: 1.1; }
.sm-alert { background: #fff4e0; color: #4a2500; border: 2px solid #b35900; border-radius: 8px; padding: .75rem;
  white-space: pre-line; overflow-wrap: anywhere; }
.sm-graph .sm-matched { stroke: #0072b2; }
.sm-graph .sm-missed { stroke: #b35900; }
.sm-graph .sm-invented { stroke: #8a2a6a; }
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
)
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


def plain(message: object) -> str:
    """A message without the command's options, which a page does not have."""
    text = str(message)
    for option, instead in IN_A_PAGE:
        text = text.replace(option, instead)
    return text


def alert(message: object) -> pieces.Markup:
    """A message that screen readers announce."""
    shown = pieces.clip(plain(message), LIMIT_MESSAGE)
    return pieces.Markup('<div class="sm-alert" role="alert">{}</div>').format(pieces.text(shown))


def big_score(name: str, value: float, note: str = "") -> pieces.Markup:
    """The primary score, large; ``data-score`` has all its digits."""
    shown = "undefined" if value != value else f"{value:.3f}"
    return pieces.Markup(
        '<div role="status"><div>{}</div><div class="sm-score" data-score="{!r}">{}</div>'
        '<div class="sm-note">{}</div></div>'
    ).format(name, value, shown, note)


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
                f"{name}: {pieces.clip(one, 30)!r} has {len(one):,} characters; a name has at most {LIMIT_NAME} here"
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
    """An input in which Enter scores, and Shift+Enter starts a line; ``pair_tab`` puts it in its place."""
    return gr.Textbox(value, label=label, max_lines=14, elem_id=name, elem_classes="sm-box", render=False)


def characters_box(value: str) -> gr.Textbox:
    """The list of characters, as ``checked_characters`` reads it; ``pair_tab`` puts it in its place."""
    info = "One a line; aliases after a colon, parted by commas."
    return gr.Textbox(value, label="Characters", info=info, lines=4, max_lines=12, elem_id="characters", render=False)


def pair_tab(score: Callable, inputs: list, options: list, examples: list[list], example_inputs: list) -> None:
    """The first tab: inputs and button, beside them on a wide screen score and evidence; examples.

    Args:
        score: from the values of ``inputs`` and ``options`` to the score's HTML, the evidence's HTML, and all values.
        inputs: boxes that are not in the page yet.
        examples: rows of values for ``example_inputs``.
    """
    with gr.Row():
        with gr.Column(min_width=320):
            for box in inputs:
                box.render()
            button = gr.Button("Score", variant="primary", elem_id="score")
            gr.Examples(examples, example_inputs, label="Examples")
        with gr.Column(min_width=320):
            number = gr.HTML(elem_id="number")
            evidence = gr.HTML(elem_id="evidence")
            with gr.Accordion("All values", open=False):
                values = gr.JSON(elem_id="values")
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
