"""Demo of MSS: a score, which source sentence supports each summary sentence, and the matrix of them all."""

from pathlib import Path

import evaluate
import gradio as gr
import look
import serving
from file_tab import file_tab
from texts import sentences

from eval_summaries import pieces

METRIC = evaluate.load(str(Path(__file__).resolve().parent / "mss.py"))
LIMIT_SENTENCES = 2000  # that are taken, on each side
# that are shown
LIMIT_LISTED = 100
LIMIT_MAP = 40
LIMIT_LETTERS = 300  # of a sentence

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


def check(summary, documents, chosen):
    """Refuse texts of more sentences than are compared here, before a model works on them."""
    for name, texts in (("Summary", [summary]), ("Document", documents)):
        count = sum(len(sentences(text, chosen["lang"], chosen["split_lines"])) for text in texts)
        if count > LIMIT_SENTENCES:
            raise look.Refused(
                f"{name} has {count:,} sentences; this demo takes at most {LIMIT_SENTENCES:,} (use the library)"
            )


def shown(sentence):
    """A sentence as it is listed."""
    return pieces.clip(sentence, LIMIT_LETTERS)


def by_support(evidence):
    """Each summary sentence with the source sentence that supports it best."""
    sources, found = evidence["source_sentences"], evidence["summary_sentences"]
    page = pieces.heading(3, "Summary, by support")
    page += pieces.Markup("<p>Select a sentence to see the source sentence that supports it best.</p>")
    for sentence, best in list(zip(found, evidence["best_source"], strict=True))[:LIMIT_LISTED]:
        where = best["source_sentence"]
        source = f"Source sentence {where + 1}: {shown(sources[where])}"
        page += pieces.supported(shown(sentence), best["similarity"], pieces.text(source))
    if len(found) > LIMIT_LISTED:
        support = [best["similarity"] for best in evidence["best_source"]]
        page += pieces.remark(f"And {len(found) - LIMIT_LISTED:,} more sentences. The support of all {len(found):,}:")
        page += pieces.histogram(support, "support")
    return page


def unsupported(summary, evidence):
    """The summary with its numbers and names that the document lacks marked; nothing where there are none."""
    found = [*evidence["unsupported_numbers"], *(evidence["unsupported_names"] or [])]
    if not found:
        return pieces.Markup("")
    spans = [(*each["place"], "invent", "not in the document") for each in found]
    return (
        pieces.heading(3, "Numbers and names without support")
        + pieces.legend(invent="a number or name that the document lacks")
        + pieces.highlight(summary, spans)
    )


def heat_map(evidence):
    """Summary sentences against source sentences, and the list of the latter."""
    matrix, sources = evidence["alignment"], evidence["source_sentences"]
    page = pieces.heading(3, "Every sentence against every sentence")
    if max(len(matrix), len(sources)) > LIMIT_MAP:
        size = f"{len(matrix):,} summary and {len(sources):,} source sentences"
        page += pieces.remark(f"Of {size}, the first {LIMIT_MAP} of each are drawn.")
    columns = range(1, min(len(sources), LIMIT_MAP) + 1)
    head = "".join(f'<th scope="col">source {number}</th>' for number in columns)
    body = ""
    for number, row in enumerate(matrix[:LIMIT_MAP], 1):
        cells = "".join(f'<td class="sm-cell sm-{pieces.shade(value)}">{value:.2f}</td>' for value in row[:LIMIT_MAP])
        body += f'<tr><th scope="row">summary {number}</th>{cells}</tr>'
    rows = f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody>"
    page += pieces.Markup(f'<div class="sm-scroll" tabindex="0"><table class="sm-table">{rows}</table></div>')
    items = (pieces.Markup('<li dir="auto">{}</li>').format(pieces.text(shown(one))) for one in sources[:LIMIT_LISTED])
    page += pieces.Markup("<ol>{}</ol>").format(pieces.Markup("").join(items))
    if len(sources) > LIMIT_LISTED:
        page += pieces.remark(f"And {len(sources) - LIMIT_LISTED:,} more source sentences.")
    return page


@look.in_page(3)
def score(
    summary, document, model, strategy, doc_chunk_size, summary_chunk_size, distance, pooling, alignment, split_lines
):
    """Score one summary against its document."""
    texts = look.checked(summary, "Summary"), look.checked(document, "Document")
    chosen_options = options(
        model, strategy, doc_chunk_size, summary_chunk_size, distance, pooling, alignment, split_lines
    )
    check(texts[0], [texts[1]], chosen_options)
    evidence = METRIC.explain(*texts, **chosen_options)
    scores = evidence["scores"]
    names = {"mss_support": "support", "mss_coverage": "coverage", "mss_f1": "F1", "mss_compression": "compression"}
    rows = [
        [name, f"{scores[key]:.3f}", pieces.bar(scores[key] if key != "mss_compression" else 0)]
        for key, name in names.items()
    ]
    page = pieces.table(["part", "value", ""], rows) + by_support(evidence) + unsupported(texts[0], evidence)
    if evidence["alignment"]:
        page += heat_map(evidence)
    note = "No penalty for long summaries: look at the compression too."
    return look.big_score("MSS", scores["mss"], note), page, look.bounded(evidence)


with serving.page("MSS, max salient similarity") as demo:
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
            file_tab(METRIC, "mss", ["predictions", "references"], options, chosen, check)

if __name__ == "__main__":
    serving.launch(demo)
