"""Demo of SSS: a score, the effect of each factor, the words that both texts share."""

from pathlib import Path

import evaluate
import gradio as gr
import look
import serving
from file_tab import file_tab

from eval_summaries import pieces

METRIC = evaluate.load(str(Path(__file__).resolve().parent / "sss.py"))
BANDS = ((0.1, "below 0.1"), (0.2, "0.1 to 0.2"), (0.5, "0.2 to 0.5"), (2, "0.5 and above"))

EXAMPLES = [
    [
        "The bridge was closed after the storm because its pillars had cracked.",
        "The old bridge was closed after the storm when cracks were found in its pillars.",
        "English: all-MiniLM-L6-v2",
    ],
    [
        "تناول سامي تفاحة في المدرسة صباحا",
        "أكل التلميذ سامي تفاحة في المدرسة صباح الثلاثاء",
        "Arabic and 100 languages: multilingual-e5-small, 4 bits",
    ],
    ["the the the bridge bridge", "The bridge was closed.", "English: all-MiniLM-L6-v2"],
]


def options(model, rouge_measure, rouge_counting, use_stemmer, fold_arabic):
    """The metric's options of the components' values."""
    chosen = {"rouge_measure": rouge_measure, "rouge_counting": rouge_counting}
    return {**chosen, "use_stemmer": use_stemmer, "fold_arabic": fold_arabic, **look.MODELS[model]}


@look.in_page(3)
def score(prediction, reference, model, rouge_measure, rouge_counting, use_stemmer, fold_arabic):
    """Score one text against one reference."""
    texts = look.checked(prediction, "Text"), look.checked(reference, "Reference")
    chosen = options(model, rouge_measure, rouge_counting, use_stemmer, fold_arabic)
    evidence = METRIC.explain(*texts, **chosen)["references"][0]
    cosine, rouge, ratio = evidence["sss_cosine"], evidence["sss_rouge"], evidence["sss_frequency_ratio"]
    nearness = 1 / (evidence["sss_l2"] + 1) ** 0.5
    rows, product = [], 1.0
    for name, factor in (
        ("cosine of the embeddings", cosine),
        (f"ROUGE (mean {rouge_measure} of 1, 2, L)", rouge),
        ("ratio of unique words", ratio),
        (f"1 / sqrt(L2 distance {evidence['sss_l2']:.2f} + 1)", nearness),
    ):
        product *= factor
        rows.append([name, f"{factor:.3f}", pieces.bar(factor), f"{product:.3f}"])
    band = next(name for limit, name in BANDS if evidence["sss"] < limit)
    page = pieces.heading(3, "Factors") + pieces.table(["factor", "value", "", "product so far"], rows)
    page += pieces.heading(3, "Words") + pieces.legend(match="in both texts")
    for title, side, text in (("Text", "prediction", texts[0]), ("Reference", "reference", texts[1])):
        spans = [(start, end, "match", "in both texts") for start, end in evidence["places"][side]]
        page += pieces.heading(4, title) + pieces.highlight(text, spans)
    note = f"Band of the paper: {band}. Its bands hold for vectors like AraBERT's, not for every model."
    return look.big_score("SSS", evidence["sss"], note), page, look.bounded(evidence)


with serving.page("SSS, semantic siamese similarity") as demo:
    gr.Markdown("# SSS, semantic siamese similarity\nHow close is a text to its reference, in meaning and in words?")
    with gr.Accordion("Options", open=False):
        model = look.model_choice()
        measure = gr.Radio(["f1", "recall", "precision"], value="f1", label="ROUGE measure (f1 is the paper's)")
        counting = gr.Radio(["clipped", "unique"], value="clipped", label="ROUGE counting")
        stemmer = gr.Checkbox(False, label="Porter stemmer (English)")
        fold = gr.Checkbox(True, label="Unite Arabic spelling variants")
    chosen = [model, measure, counting, stemmer, fold]
    with gr.Tabs():
        with gr.Tab("Two texts"):
            boxes = [
                look.text_box("Text", EXAMPLES[0][0], "prediction"),
                look.text_box("Reference", EXAMPLES[0][1], "reference"),
            ]
            look.pair_tab(score, boxes, chosen, EXAMPLES, [*boxes, chosen[0]])
        with gr.Tab("File"):
            file_tab(METRIC, "sss", ["predictions", "references"], options, chosen)

if __name__ == "__main__":
    serving.launch(demo)
