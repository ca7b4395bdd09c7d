"""Demo of BoR: a graph of who is put together with whom, rightly, by mistake, or not at all."""

import inspect
import math
from collections import Counter
from pathlib import Path

import evaluate
import gradio as gr
import look
import serving
from file_tab import file_tab

from eval_summaries import pieces

METRIC = evaluate.load(str(Path(__file__).resolve().parent / "bor.py"))
SCRIPT = inspect.getmodule(METRIC)
LIMIT_TOGETHER = 10_000  # times that two characters are in one sentence: more take too long to list
# that are shown
LIMIT_DRAWN = 40  # characters
LIMIT_PAIRS = 200
LIMIT_SENTENCES = 3  # of a pair
LIMIT_LETTERS = 300  # of these sentences together

EXAMPLES = [
    [
        "Tobias accuses Ines of putting out the light. Captain Orr and Mara take the boat. Ines accuses Orr.",
        "The lighthouse is dark. Ines accuses Captain Orr, who blames his brother. Mara sends Tobias out in the boat.",
        "Mara: Mara Lind\nTobias\nInes\nOrr: Captain Orr",
    ],
    [
        "ذهب سامي مع علي إلى المدرسة. بقيت ليلى في البيت.",
        "ذهب سامي مع ليلى إلى المدرسة. لعب سامي مع علي.",
        "سامي\nعلي\nليلى",
    ],
    ["王明和李华去了北京。张伟在家。", "王明和李华去了北京。李华给张伟写信。", "王明\n李华\n张伟"],
]
# dash pattern, what it means: told apart by line style, not by colour alone
STYLES = {
    "matched": ("", "in both texts (solid)"),
    "missed": ("10 6", "missed by the recap (dashed)"),
    "invented": ("2 6", "only in the recap (dotted)"),
}


def options(ignore_case, split_lines, lang):
    """The metric's options of the components' values."""
    return {"ignore_case": ignore_case, "split_lines": split_lines, "lang": lang.strip() or "en"}


def together(texts, people, chosen):
    """How often two characters are in one sentence."""
    names = SCRIPT.per_example(people, texts[:1], [texts[1:]], chosen["ignore_case"])[0]
    return sum(
        math.comb(len({mention.name for mention in mentions}), 2)
        for text in texts
        for _, mentions in SCRIPT.names_by_sentence(
            text, names.mentions(text), lambda masked: SCRIPT.sentences(masked, chosen["lang"], chosen["split_lines"])
        )
    )


def graph(evidence):
    """The characters on a circle, a line for each pair."""
    pairs = [pair for part in STYLES for pair in evidence[part]]
    often = Counter(name for pair in pairs for name in pair)
    if not often:
        return pieces.remark("No two of the characters are in one sentence, in either text.")
    names = sorted(name for name, _ in often.most_common(LIMIT_DRAWN))
    few = len(names) <= 12
    size, radius = 420, 140
    place, dots = {}, ""
    for number, name in enumerate(names):
        angle = 2 * math.pi * number / len(names) - math.pi / 2
        x, y = place[name] = (size / 2 + radius * math.cos(angle), size / 2 + radius * math.sin(angle))
        dots += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{9 if few else 4}" fill="currentColor"/>'
        if few:
            short, below = pieces.clip(name, 30), 26 if y >= size / 2 else -16
            fit = min(17, 230 / len(short))  # a long name stays inside the picture
            dots += f'<text x="{x:.1f}" y="{y + below:.1f}" text-anchor="middle" font-size="{fit:.1f}">'
        else:  # too many to stand side by side: each on a ray of its own, none upside down
            short, left = pieces.clip(name, 10), math.cos(angle) < 0
            turned = math.degrees(angle) + (180 if left else 0)
            dots += (
                f'<text transform="translate({x:.1f} {y:.1f}) rotate({turned:.0f}) translate({-9 if left else 9} 4)" '
                f'text-anchor="{"end" if left else "start"}" font-size="10">'
            )
        dots += f"{pieces.text(short)}</text>"
    lines = ""
    for part, (dash, meaning) in STYLES.items():
        for one, other in evidence[part]:
            if one in place and other in place:
                (x1, y1), (x2, y2) = place[one], place[other]
                lines += (
                    f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="sm-{part}" '
                    f'stroke-width="{4 if few else 2}" stroke-linecap="round" stroke-dasharray="{dash}">'
                    f"<title>{said([one, other])}: {meaning}</title></line>"
                )
    label = "; ".join(f"{part}: {', '.join(map(said, evidence[part][:LIMIT_DRAWN])) or 'none'}" for part in STYLES)
    rest = f"Drawn are the {LIMIT_DRAWN} of {len(often):,} characters that have the most pairs."
    drawn = f'<svg class="sm-graph" role="img" aria-label="{label}" viewBox="0 0 {size} {size}">{lines}{dots}</svg>'
    return pieces.Markup(drawn) + (pieces.remark(rest) if len(often) > LIMIT_DRAWN else "")


def said(pair):
    """A pair in HTML."""
    return pieces.text(" and ".join(pieces.clip(name, 20) for name in pair))


def key():
    """What the lines mean."""
    rows = ""
    for part, (dash, meaning) in STYLES.items():
        rows += (
            '<span class="sm-nowrap"><svg class="sm-graph sm-key" height="12" viewBox="0 0 60 12" aria-hidden="true">'
            f'<line x1="2" y1="6" x2="58" y2="6" class="sm-{part}" stroke-width="4" stroke-dasharray="{dash}"/></svg> '
            f"{meaning}</span> &nbsp; "
        )
    return pieces.Markup(f"<p>{rows}</p>")


def table_of_pairs(evidence):
    """The pairs with the sentences that have them, of both texts."""
    part_of = {tuple(pair): part for part in STYLES for pair in evidence[part]}
    relations = sorted(evidence["relations"], key=lambda one: list(STYLES).index(part_of[tuple(one["pair"])]))
    rows = []
    for relation in relations[:LIMIT_PAIRS]:
        found = [place["sentence"] for side in ("prediction", "reference") for place in relation[side]]
        text = pieces.clip(" / ".join(found[:LIMIT_SENTENCES]), LIMIT_LETTERS)
        more = f" (and {len(found) - LIMIT_SENTENCES:,} more)" if len(found) > LIMIT_SENTENCES else ""
        meaning = STYLES[part_of[tuple(relation["pair"])]][1]
        rows.append([said(relation["pair"]), meaning, text + more])
    rest = f"And {len(relations) - LIMIT_PAIRS:,} more pairs." if len(relations) > LIMIT_PAIRS else ""
    return pieces.table(["pair", "", "sentences"], rows) + (pieces.remark(rest) if rest else "")


@look.in_page(3)
def score(prediction, reference, characters, ignore_case, split_lines, lang):
    """Score one recap against one reference."""
    texts = [look.checked(prediction, "Recap"), look.checked(reference, "Reference")]
    people, chosen_options = look.checked_characters(characters), options(ignore_case, split_lines, lang)
    count = together(texts, people, chosen_options)
    if count <= LIMIT_TOGETHER:
        evidence = METRIC.explain(*texts, characters=people, **chosen_options)
        first, last = key() + graph(evidence), table_of_pairs(evidence)
    else:
        values = METRIC.score(texts[:1], texts[1:], characters=people, **chosen_options)
        evidence = {"scores": {name: value for name, (value,) in values.items()}}
        why = f"Two characters are in one sentence {count:,} times: too often to show here (up to {LIMIT_TOGETHER:,})."
        first, last = "", pieces.remark(why)
    scores = evidence["scores"]
    parts = [
        [name, f"{scores[f'bor_{name}']:.3f}", pieces.bar(scores[f"bor_{name}"])] for name in ("precision", "recall")
    ]
    page = first + pieces.table(["part", "value", ""], parts) + last
    note = (
        "F1 of precision and recall" if scores["bor_f1"] == scores["bor_f1"] else "neither text has a pair of the list"
    )
    return look.big_score("BoR F1", scores["bor_f1"], note), page, look.bounded(evidence)


with serving.page("BoR, bag of relations") as demo:
    gr.Markdown("# BoR, bag of relations\nDoes a recap put the right (fictional) characters together?")
    with gr.Accordion("Options", open=False):
        chosen = [
            gr.Checkbox(False, label="Ignore case"),
            gr.Checkbox(True, label="A line break ends a sentence"),
            gr.Textbox("en", label="Language code, for abbreviations"),
        ]
    with gr.Tabs():
        with gr.Tab("Two texts"):
            boxes = [
                look.text_box("Recap", EXAMPLES[0][0], "prediction"),
                look.text_box("Reference", EXAMPLES[0][1], "reference"),
                look.characters_box(EXAMPLES[0][2]),
            ]
            look.pair_tab(score, boxes, chosen, EXAMPLES, boxes)
        with gr.Tab("File"):
            file_tab(METRIC, "bor_f1", ["predictions", "references", "characters"], options, chosen)

if __name__ == "__main__":
    serving.launch(demo)
