"""The model card of a trained SAraBERT: what it is, what it was trained on and how, how to use it."""

from pathlib import Path
from typing import Any

from eval_summaries.shared import backends
from eval_summaries.store import write_whole

_CARD = """\
---
language: {lang}
library_name: transformers
tags: [summarization, extractive, sarabert]
---

# SAraBERT ({head} head), {lang}

An extractive summarizer: it gives each sentence of a document a score; the best ones are the summary. After Shames El
Deen and Awad, "Extractive Summarization for Arabic Documents Using SAraBERT with a Semantic Siamese Similarity
Evaluation Metric" (arXiv:2608.20964), section III-A and Algorithm 1.

{encoder}

## Use

```
baseline_summaries sarabert --model THIS_FOLDER --documents docs --out out/sarabert
```

From Python: `model, reader = summarizers.models.load("THIS_FOLDER")`, then `reader.scores([sentences])`.

## Training

| | |
|---|---|
{rows}

Labels are those of a greedy oracle: the sentences that raise the mean of ROUGE-1 and ROUGE-2 F1 against the reference
most (Nallapati et al. 2017). The loss is binary cross-entropy over the sentences.

{results}

## Limits

- It was trained on what `--documents` and `--references` were: say here what texts these are, and under which licence.
- It copies sentences: what they refer to may be missing in the summary.
- The score of a sentence is no measure of its truth.
"""


def write_card(out: Path, plan: Any, trainer: Any, reader: Any, learned: int, checked: int) -> None:
    """Write README.md into a model's folder; what only its maker knows is left to be filled in."""
    config, arguments = reader.model.config, trainer.args
    rows = {
        "encoder": config.encoder_name,
        "encoder trained": "no, the head alone" if plan.freeze or reader.embedder else "yes, with the head",
        "head": f"{config.head}, {config.head_size} units, {config.head_layers} layer(s), dropout {config.dropout}",
        "window": f"{config.window} tokens, at sentence borders",
        "documents": f"{learned} to learn from, {checked} for validation",
        "length of labels and summaries": ", ".join(f"{v} {k}" for k, v in config.length.items() if v) or "3 sentences",
        "epochs": f"{trainer.state.epoch:g} of at most {arguments.num_train_epochs:g}",
        "learning rate": f"{arguments.learning_rate:g}",
        "batch": f"{arguments.per_device_train_batch_size} documents",
        "seed": arguments.seed,
    }
    if reader.embedder:
        encoder = (
            f"**This is not the paper's encoder.** The head reads vectors that `{config.encoder_name}` makes of each "
            "sentence alone, in place of the [CLS] vectors of a BERT that reads the whole document: a sentence's "
            "vector knows nothing of the sentences around it."
        )
    elif config.encoder_name == backends.ARABIC:
        encoder = "The encoder is AraBERT, the paper's family."
    else:
        encoder = f"The encoder is `{config.encoder_name}`; the paper's is AraBERT."
    best = [entry for entry in trainer.state.log_history if "eval_loss" in entry]
    results = "No documents were held out, so nothing is known of how good it is."
    if best:
        entry = min(best, key=lambda one: one["eval_loss"])
        values = ", ".join(f"{key[5:]} {entry[key]:.3f}" for key in entry if key in _SHOWN)
        results = f"On the {checked} validation documents, at the best epoch ({entry['epoch']:g}): {values}."
    table = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    filled = _CARD.format(lang=config.lang, head=config.head, encoder=encoder, rows=table, results=results)
    write_whole(out / "README.md", filled)


_SHOWN = ("eval_loss", "eval_sss", "eval_rouge1", "eval_rouge2", "eval_rougeL")
