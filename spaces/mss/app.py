"""Demo of MSS: a score, which source sentence supports each summary sentence, and the matrix of them all."""

from pathlib import Path

import evaluate
import gradio as gr
import look

METRIC = evaluate.load(str(Path(__file__).resolve().parent / "mss.py"))

DOCUMENT = (
    "The ferry between the two islands stopped on Monday after its only engine failed in heavy rain. Forty passengers "
    "waited on board for six hours until fishing boats brought them ashore. Nobody was hurt. A new engine will arrive "
    "on Friday."
)
ENGLISH, MULTILINGUAL = list(look.MODELS)[:2]
EXAMPLES = [
    ["The ferry's engine failed. Fishing boats brought forty passengers ashore.", DOCUMENT, ENGLISH],
    ["The ferry sank in heavy rain. Twelve passengers drowned.", DOCUMENT, ENGLISH],
    [
        "تعطل محرك العبارة. نقلت قوارب الصيد الركاب إلى الشاطئ.",
        "توقفت العبارة بين الجزيرتين بعد أن تعطل محركها. "
        "انتظر أربعون راكبا ست ساعات حتى نقلتهم قوارب الصيد إلى الشاطئ. لم يصب أحد بأذى.",
        MULTILINGUAL,
    ],
]


def options(model, strategy, doc_chunk_size, summary_chunk_size, distance, pooling, alignment, split_lines):
    """The metric's options of the components' values."""
    return {
        "strategy": strategy,
        "doc_chunk_size": int(doc_chunk_size),
        "summary_chunk_size": int(summary_chunk_size),
        "distance": distance,
        "pooling": pooling,
        "alignment": alignment,
        "split_lines": split_lines,
        **look.MODELS[model],
    }


def heat_map(matrix):
    """Summary sentences against source sentences."""
    head = "".join(f'<th scope="col">source {number}</th>' for number in range(1, len(matrix[0]) + 1))
    body = ""
    for number, row in enumerate(matrix, 1):
        cells = "".join(f'<td class="sm-cell" style="background:{look.shade(value)}">{value:.2f}</td>' for value in row)
        body += f'<tr><th scope="row">summary {number}</th>{cells}</tr>'
    rows = f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="sm-scroll" tabindex="0"><table>{rows}</table></div>'


@look.in_page(3)
def score(summary, document, *values):
    """Score one summary against its document."""
    evidence = METRIC.explain(look.checked(summary, "Summary"), look.checked(document, "Document"), **options(*values))
    scores, sources = evidence["scores"], evidence["source_sentences"]
    names = {"mss_support": "support", "mss_coverage": "coverage", "mss_f1": "F1", "mss_compression": "compression"}
    rows = [
        [name, f"{scores[key]:.3f}", look.bar(scores[key] if key != "mss_compression" else 0)]
        for key, name in names.items()
    ]
    page = look.table(["part", "value", ""], rows)
    page += "<h3>Summary, by support</h3><p>Select a sentence to see the source sentence that supports it best.</p>"
    for sentence, best in zip(evidence["summary_sentences"], evidence["best_source"], strict=True):
        colour, where = look.shade(best["similarity"]), best["source_sentence"]
        page += (
            f'<details class="sm-sentence" style="--support:{colour}"><summary dir="auto">'
            f'<mark class="sm-cell" style="background:{colour}">{look.escape(sentence)}</mark> '
            f"{best['similarity']:.2f}</summary>"
            f'<div dir="auto">Source sentence {where + 1}: {look.escape(sources[where])}</div></details>'
        )
    if evidence["alignment"]:
        page += "<h3>Every sentence against every sentence</h3>" + heat_map(evidence["alignment"])
        page += "<ol>" + "".join(f'<li dir="auto">{look.escape(source)}</li>' for source in sources) + "</ol>"
    return (
        look.big_score("MSS", scores["mss"], "No penalty for long summaries: look at the compression too."),
        page,
        evidence,
    )


with gr.Blocks(title="MSS, max salient similarity", analytics_enabled=False) as demo:
    gr.Markdown(
        "# MSS, max salient similarity\nDoes a summary carry what stands out in its document? No reference is needed."
    )
    with gr.Accordion("Options", open=False):
        chosen = [
            look.model_choice(),
            gr.Radio(["joined", "sentences"], value="joined", label="Strategy"),
            gr.Slider(1, 20, value=5, step=1, label="Sentences in a chunk of the document"),
            gr.Slider(1, 20, value=1, step=1, label="Sentences in a chunk of the summary"),
            gr.Radio(["cosine", "dot"], value="cosine", label="Distance"),
            gr.Radio(["max", "mean"], value="max", label="Pooling"),
            gr.Radio(["hybrid", "semantic", "lexical"], value="hybrid", label="Alignment"),
            gr.Checkbox(True, label="A line break ends a sentence"),
        ]
    with gr.Tabs():
        with gr.Tab("Two texts"):
            boxes = [
                look.text_box("Summary", EXAMPLES[0][0], "prediction"),
                look.text_box("Document", EXAMPLES[0][1], "reference"),
            ]
            look.pair_tab(score, boxes, chosen, EXAMPLES, [*boxes, chosen[0]])
        with gr.Tab("File"):
            look.file_tab(METRIC, "mss", ["predictions", "references"], options, chosen)

if __name__ == "__main__":
    look.launch(demo)
