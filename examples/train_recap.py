"""SummScreen's hybrid model at any size: a content selector cuts transcripts down, a sequence-to-sequence model learns.

    baseline_summaries select --documents transcripts --references recaps --out selected
    python examples/train_recap.py --documents selected --references recaps --characters characters.txt \\
        --model facebook/bart-base --out model

The Trainer logs BoC and BoR of the recaps that the model generates for held-out documents: does it name the right
characters, together with the right ones? These recaps are then in OUT/recaps, as `eval_summaries` reads them. The model
is one of the Hub or a local folder. Needs a GPU for a model of useful size.
"""

import argparse
from pathlib import Path

import numpy as np
from datasets import Dataset
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    DataCollatorForSeq2Seq,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
)

import eval_summaries
from summarizers.documents import characters_of, read_folders
from summarizers.output import OutFolder


def main(arguments: list[str] | None = None) -> Seq2SeqTrainer:
    """Train, evaluate, write; returns the Trainer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("documents", "references", "characters", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--model", default="facebook/bart-base")
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=5e-5)
    parser.add_argument("--held-out", type=float, default=0.2, help="share of the documents, the last ones")
    parser.add_argument("--words", type=int, default=200, help="tokens of a recap, at most")
    given = parser.parse_args(arguments)

    documents, failures = read_folders(given.documents, given.references)
    for failure in failures:
        print(f"left out: {failure.reason}")
    held = max(1, round(given.held_out * len(documents)))
    if held >= len(documents):
        parser.error(f"{len(documents)} documents are too few: some are to learn from, some are held out")
    learned, checked = documents[:-held], documents[-held:]
    tokenizer = AutoTokenizer.from_pretrained(given.model)
    model = AutoModelForSeq2SeqLM.from_pretrained(given.model)
    people = characters_of(str(given.characters), "utf-8")
    metrics = [eval_summaries.load(name, characters=people) for name in ("boc", "bor")]

    def tokenize(rows):
        inputs = tokenizer(rows["document"], truncation=True)
        inputs["labels"] = tokenizer(text_target=rows["recap"], truncation=True, max_length=given.words)["input_ids"]
        return {name: inputs[name] for name in ("input_ids", "attention_mask", "labels")}

    def data(some):
        table = Dataset.from_list([{"document": one.text, "recap": one.references[0]} for one in some])
        return table.map(tokenize, batched=True, remove_columns=table.column_names)

    def decode(ids):
        return tokenizer.batch_decode(np.where(ids == -100, tokenizer.pad_token_id, ids), skip_special_tokens=True)

    def compute_metrics(evaluation):
        texts = {"predictions": decode(evaluation.predictions), "references": decode(evaluation.label_ids)}
        return {key: value for metric in metrics for key, value in metric.compute(**texts).items()}

    trainer = Seq2SeqTrainer(
        model=model,
        args=Seq2SeqTrainingArguments(
            output_dir=str(given.out),
            num_train_epochs=given.epochs,
            per_device_train_batch_size=given.batch_size,
            per_device_eval_batch_size=given.batch_size,
            learning_rate=given.learning_rate,
            predict_with_generate=True,
            generation_max_length=given.words,
            eval_strategy="epoch",
            save_strategy="no",
            report_to="none",
            seed=0,
        ),
        train_dataset=data(learned),
        eval_dataset=data(checked),
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
        processing_class=tokenizer,
        compute_metrics=compute_metrics,
    )
    trainer.train()
    trainer.save_model()
    recaps = decode(trainer.predict(data(checked)).predictions)
    out = OutFolder(given.out / "recaps", [one.id for one in checked])
    out.write(list(zip(checked, recaps, strict=True)), {"summarizer": "train_recap", "model": str(given.model)})
    return trainer


if __name__ == "__main__":
    main()
