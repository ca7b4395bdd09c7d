"""Demo of SSS: a score, the effect of each factor, the words that both texts share."""

from pathlib import Path

import evaluate
import gradio as gr
import look
import regex
from texts import words

METRIC = evaluate.load(str(Path(__file__).resolve().parent / "sss.py"))
BANDS = ((0.1, "below 0.1"), (0.2, "0.1 to 0.2"), (0.5, "0.2 to 0.5"), (2, "0.5 and above"))
_RUN = regex.compile(r"[\p{L}\p{M}\p{N}]+")

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


def options(model, rouge_counting, use_stemmer, fold_arabic):
    """The metric's options of the components' values."""
    chosen = {"rouge_counting": rouge_counting, "use_stemmer": use_stemmer, "fold_arabic": fold_arabic}
    return {**chosen, **look.MODELS[model]}


def shared_spans(text, shared, use_stemmer, fold_arabic):
    """Places of the words that both texts have."""
    for run in _RUN.finditer(text):
        whole = words(run[0], fold_arabic, use_stemmer)
        if len(whole) <= 1:
            if whole and whole[0] in shared:
                yield run.start(), run.end(), "match", "in both texts"
            continue
        for place, character in enumerate(run[0], run.start()):  # a script without spaces
            if any(word in shared for word in words(character, fold_arabic, use_stemmer)):
                yield place, place + 1, "match", "in both texts"


@look.in_page(3)
def score(prediction, reference, model, rouge_counting, use_stemmer, fold_arabic):
    """Score one text against one reference."""
    texts = look.checked(prediction, "Text"), look.checked(reference, "Reference")
    chosen = options(model, rouge_counting, use_stemmer, fold_arabic)
    evidence = METRIC.explain(*texts, **chosen)["references"][0]
    cosine, rouge, ratio = evidence["sss_cosine"], evidence["sss_rouge"], evidence["sss_frequency_ratio"]
    nearness = 1 / (evidence["sss_l2"] + 1) ** 0.5
    rows, product = [], 1.0
    for name, factor in (
        ("cosine of the embeddings", cosine),
        ("ROUGE (mean of 1, 2, L)", rouge),
        ("ratio of unique words", ratio),
        (f"1 / sqrt(L2 distance {evidence['sss_l2']:.2f} + 1)", nearness),
    ):
        product *= factor
        rows.append([name, f"{factor:.3f}", look.bar(factor), f"{product:.3f}"])
    band = next(name for limit, name in BANDS if evidence["sss"] < limit)
    shared = set(evidence["shared"])
    page = "<h3>Factors</h3>" + look.table(["factor", "value", "", "product so far"], rows)
    page += "<h3>Words</h3>" + look.legend(match="in both texts")
    for title, text in zip(("Text", "Reference"), texts, strict=True):
        marked = look.highlight(text, shared_spans(text, shared, use_stemmer, fold_arabic))
        page += f"<h4>{title}</h4>{marked}"
    note = f"Band of the paper: {band}. Its bands hold for vectors like AraBERT's, not for every model."
    return look.big_score("SSS", evidence["sss"], note), page, evidence


with gr.Blocks(title="SSS, semantic siamese similarity", analytics_enabled=False) as demo:
    gr.Markdown("# SSS, semantic siamese similarity\nHow close is a text to its reference, in meaning and in words?")
    with gr.Accordion("Options", open=False):
        model = look.model_choice()
        counting = gr.Radio(["clipped", "unique"], value="clipped", label="ROUGE counting")
        stemmer = gr.Checkbox(False, label="Porter stemmer (English)")
        fold = gr.Checkbox(True, label="Unite Arabic spelling variants")
    chosen = [model, counting, stemmer, fold]
    with gr.Tabs():
        with gr.Tab("Two texts"):
            boxes = [
                look.text_box("Text", EXAMPLES[0][0], "prediction"),
                look.text_box("Reference", EXAMPLES[0][1], "reference"),
            ]
            look.pair_tab(score, boxes, chosen, EXAMPLES, [*boxes, chosen[0]])
        with gr.Tab("File"):
            look.file_tab(METRIC, "sss", ["predictions", "references"], options, chosen)

if __name__ == "__main__":
    look.launch(demo)
