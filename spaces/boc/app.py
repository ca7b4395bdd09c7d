"""Demo of BoC: which characters a recap names rightly, misses and invents, marked in both texts."""

from pathlib import Path

import evaluate
import gradio as gr
import look
import serving
from file_tab import file_tab

from eval_summaries import pieces

METRIC = evaluate.load(str(Path(__file__).resolve().parent / "boc.py"))

EXAMPLES = [
    [
        "Ines accuses Orr of putting out the light. Tobias takes the boat, and Bruno watches.",
        "The lighthouse is dark. Ines accuses Captain Orr, who blames his brother. Mara sends Tobias out in the boat.",
        "Mara: Mara Lind\nTobias\nInes\nOrr: Captain Orr\nBruno",
    ],
    ["ذهب سامي مع علي إلى المدرسة. بقيت ليلى في البيت.", "سامي وليلى في المدرسة. علي مريض.", "سامي\nعلي\nليلى: وليلى"],
    ["王明和李华去了北京。", "王明一个人去了北京，李华和张伟留在家里。", "王明\n李华\n张伟"],
]


def options(ignore_case, counting):
    """The metric's options of the components' values."""
    return {"ignore_case": ignore_case, "counting": counting}


@look.in_page(3)
def score(prediction, reference, characters, ignore_case, counting):
    """Score one recap against one reference."""
    texts = look.checked(prediction, "Recap"), look.checked(reference, "Reference")
    people = look.checked_characters(characters)
    evidence = METRIC.explain(*texts, characters=people, **options(ignore_case, counting))
    said = {"match": "in both texts", "miss": "missed by the recap", "invent": "only in the recap"}
    kind = {
        **dict.fromkeys(evidence["matched"], "match"),
        **dict.fromkeys(evidence["missed"], "miss"),
        **dict.fromkeys(evidence["invented"], "invent"),
    }
    scores = evidence["scores"]
    page = pieces.table(
        ["part", "value", ""],
        [[name, f"{scores[f'boc_{name}']:.3f}", pieces.bar(scores[f"boc_{name}"])] for name in ("precision", "recall")],
    )
    page += pieces.legend(**said)
    for title, side, text in (("Recap", "prediction", texts[0]), ("Reference", "reference", texts[1])):
        spans = [
            (start, end, kind[name], f"{pieces.clip(name, 20)}: {said[kind[name]]}")
            for name, places in evidence["mentions"].items()
            for start, end in places[side]
        ]
        page += pieces.heading(3, title) + pieces.highlight(text, spans)
    lists = [[part, pieces.some(evidence[part]) or "nobody"] for part in ("matched", "missed", "invented")]
    page += pieces.table(["characters", "names"], lists)
    note = (
        "F1 of precision and recall"
        if scores["boc_f1"] == scores["boc_f1"]
        else "neither text names anybody of the list"
    )
    return look.big_score("BoC F1", scores["boc_f1"], note), page, look.bounded(evidence)


with serving.page("BoC, bag of characters") as demo:
    gr.Markdown("# BoC, bag of characters\nDoes a recap name the right (fictional) characters?")
    with gr.Accordion("Options", open=False):
        chosen = [
            gr.Checkbox(False, label="Ignore case"),
            gr.Radio(["set", "multiset"], value="set", label="Counting (each character once, or each mention)"),
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
            file_tab(METRIC, "boc_f1", ["predictions", "references", "characters"], options, chosen)

if __name__ == "__main__":
    serving.launch(demo)
