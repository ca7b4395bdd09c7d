"""Demo of BoR: a graph of who is put together with whom, rightly, by mistake, or not at all."""

import math
from pathlib import Path

import evaluate
import gradio as gr
import look

METRIC = evaluate.load(str(Path(__file__).resolve().parent / "bor.py"))

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


def graph(names, evidence):
    """The characters on a circle, a line for each pair."""
    size, radius = 420, 140
    place = {}
    for number, name in enumerate(names):
        angle = 2 * math.pi * number / len(names) - math.pi / 2
        place[name] = (size / 2 + radius * math.cos(angle), size / 2 + radius * math.sin(angle))
    lines = ""
    for part, (dash, meaning) in STYLES.items():
        for one, other in evidence[part]:
            (x1, y1), (x2, y2) = place[one], place[other]
            lines += (
                f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="sm-{part}" '
                f'stroke-width="4" stroke-linecap="round" stroke-dasharray="{dash}"><title>{look.escape(one)} and '
                f"{look.escape(other)}: {meaning}</title></line>"
            )
    dots = ""
    for name, (x, y) in place.items():
        below = 26 if y >= size / 2 else -16
        dots += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="currentColor"/>'
        fit = min(17, 230 / len(name))  # a long name stays inside the picture
        dots += f'<text x="{x:.1f}" y="{y + below:.1f}" text-anchor="middle" font-size="{fit:.1f}">'
        dots += f"{look.escape(name)}</text>"
    said = "; ".join(f"{part}: {', '.join(' and '.join(pair) for pair in evidence[part]) or 'none'}" for part in STYLES)
    return (
        f'<svg class="sm-graph" role="img" aria-label="{look.escape(said)}" viewBox="0 0 {size} {size}">'
        f"{lines}{dots}</svg>"
    )


def key():
    """What the lines mean."""
    rows = ""
    for part, (dash, meaning) in STYLES.items():
        rows += (
            '<span class="sm-nowrap"><svg class="sm-graph sm-key" height="12" viewBox="0 0 60 12" aria-hidden="true">'
            f'<line x1="2" y1="6" x2="58" y2="6" class="sm-{part}" stroke-width="4" stroke-dasharray="{dash}"/></svg> '
            f"{meaning}</span> &nbsp; "
        )
    return f"<p>{rows}</p>"


@look.in_page(3)
def score(prediction, reference, characters, *values):
    """Score one recap against one reference."""
    texts = look.checked(prediction, "Recap"), look.checked(reference, "Reference")
    names = look.parse_characters(characters)
    evidence = METRIC.explain(*texts, characters=names, **options(*values))
    scores = evidence["scores"]
    parts = [
        [name, f"{scores[f'bor_{name}']:.3f}", look.bar(scores[f"bor_{name}"])] for name in ("precision", "recall")
    ]
    page = key() + graph(names, evidence) + look.table(["part", "value", ""], parts)
    rows = []
    for part, (_, meaning) in STYLES.items():
        for relation in evidence["relations"]:
            if relation["pair"] in evidence[part]:
                sentences = [found["sentence"] for side in ("prediction", "reference") for found in relation[side]]
                rows.append([" and ".join(relation["pair"]), meaning, " / ".join(sentences)])
    page += look.table(["pair", "", "sentences"], rows)
    note = (
        "F1 of precision and recall" if scores["bor_f1"] == scores["bor_f1"] else "neither text has a pair of the list"
    )
    return look.big_score("BoR F1", scores["bor_f1"], note), page, evidence


with gr.Blocks(title="BoR, bag of relations", analytics_enabled=False) as demo:
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
            look.file_tab(METRIC, "bor_f1", ["predictions", "references", "characters"], options, chosen)

if __name__ == "__main__":
    look.launch(demo)
