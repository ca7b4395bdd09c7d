"""Train a SAraBERT on a greedy oracle's labels, by transformers' own Trainer."""

import contextlib
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import transformers
from tqdm import tqdm
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments

from eval_summaries.inputs import Example
from eval_summaries.outside import Rouge
from eval_summaries.shared import load_metric, models
from eval_summaries.store import digest, write_whole
from eval_summaries.table import UnusableError

from .card import write_card
from .lengths import Length, extract
from .models import Plan, build, head_of
from .oracle import greedy
from .sarabert import IGNORED
from .windows import collate

CHECKPOINTS = "checkpoints"
PLAN = "training.txt"  # a digest of data and options in the checkpoints' folder: only the same training is gone on with


@dataclass
class Story:
    """A document to learn from: its sentences and its references."""

    sentences: list[str]
    references: list[str]


def label(stories: Sequence[Story], length: Length) -> list[list[int]]:
    """1 for each sentence that the greedy oracle takes, 0 for the others."""
    found = []
    for story in tqdm(stories, desc="labels", unit="document", delay=1, disable=None, file=sys.stderr):
        chosen = set(greedy(story.sentences, story.references, length))
        found.append([int(number in chosen) for number in range(len(story.sentences))])
    return found


def measure(stories: Sequence[Story], length: Length, plan: Plan):
    """A ``compute_metrics`` for the Trainer: SSS and ROUGE of the summaries that the scores mean."""
    sss = load_metric("sss", {"lang": plan.lang, "model_name": plan.encoder, "device": plan.device})
    rouge = Rouge("rouge", {})

    def compute_metrics(found: transformers.EvalPrediction) -> dict[str, float]:
        summaries = []
        for story, scores, labels in zip(stories, found.predictions, found.label_ids, strict=True):
            order = np.argsort(-scores[labels != IGNORED], kind="stable")
            summaries.append(extract(order.tolist(), story.sentences, length))
        given = [Example("", "", text, story.references) for text, story in zip(summaries, stories, strict=True)]
        values = sss.score(summaries, [story.references for story in stories]) | rouge.score(given)
        return {key: float(np.mean(values[key])) for key in ("sss", "rouge1", "rouge2", "rougeL")}

    return compute_metrics


def train(stories: Sequence[Story], plan: Plan, length: Length, out: Path, resume: bool = False) -> Trainer:
    """Train a model and save it into ``out``; its checkpoints stay there, so that a training can be gone on with.

    Returns:
        The Trainer, with the best model and the log.

    Raises:
        UnusableError: where there is nothing to learn, or ``out`` has another training.
    """
    model, reader = build(plan, length)
    frozen = plan.freeze or model.encoder is None
    labels = label(stories, length)
    if not any(map(any, labels)):
        raise UnusableError("no sentence of any document shares a word with its reference: there is nothing to learn")
    seen = [digest("training", [asdict(plan) | {"epochs": 0}, vars(length), [vars(one) for one in stories]])]
    last = _checkpoint(out, seen[0], resume)
    order = random.Random(plan.seed).sample(range(len(stories)), len(stories))
    held = max(1, round(plan.validation * len(stories))) if plan.validation and len(stories) > 1 else 0
    parts = sorted(order[held:]), sorted(order[:held])
    model.to(models.pick_device(plan.device))
    read = reader.frozen if frozen else reader.read
    bar = tqdm(range(len(stories)), desc="reading", unit="document", delay=1, disable=None, file=sys.stderr)
    rows = [{**read(stories[number].sentences), "labels": labels[number]} for number in bar]
    learned, checked = ([rows[number] for number in part] for part in parts)
    on_cpu = models.pick_device(plan.device).type == "cpu"
    arguments = TrainingArguments(
        output_dir=str(out / CHECKPOINTS),
        num_train_epochs=plan.epochs or (30 if frozen else 3),
        learning_rate=plan.learning_rate or (1e-3 if frozen else 2e-5),
        per_device_train_batch_size=plan.batch_size,
        per_device_eval_batch_size=plan.batch_size,
        warmup_steps=0.1,
        weight_decay=0.01,
        seed=plan.seed,
        eval_strategy="epoch" if held else "no",
        save_strategy="epoch",
        logging_strategy="epoch",
        save_total_limit=2,
        load_best_model_at_end=bool(held),
        metric_for_best_model="loss",
        label_names=["labels"],
        remove_unused_columns=False,
        report_to="none",
        use_cpu=on_cpu,
        dataloader_pin_memory=not on_cpu,
        disable_tqdm=not sys.stderr.isatty(),
    )
    stop = [EarlyStoppingCallback(plan.patience)] if held and plan.patience else []
    watched = measure([stories[number] for number in parts[1]], length, plan) if held else None
    if frozen:
        seen_vectors = np.concatenate([row["vectors"] for row in learned])
        model.standardize(torch.from_numpy(seen_vectors).to(model.device))
    learner = head_of(model) if frozen else model
    trainer = Trainer(learner, arguments, collate, learned, checked or None, compute_metrics=watched, callbacks=stop)
    # the log goes to stderr; and no bar for the writing of each checkpoint
    with contextlib.redirect_stdout(sys.stderr), models.quiet_loading():
        trainer.train(resume_from_checkpoint=last)
        model.save_pretrained(out)
    if reader.tokenizer is not None:
        reader.tokenizer.save_pretrained(out)
    write_card(out, plan, trainer, reader, len(learned), len(checked))
    return trainer


def _checkpoint(out: Path, seen: str, resume: bool) -> str | None:
    """The checkpoint to go on from; marks ``out`` as this training's."""
    folder = out / CHECKPOINTS
    known = (folder / PLAN).read_text() if (folder / PLAN).is_file() else None
    if resume and known is None:
        raise UnusableError(f"--resume: there are no checkpoints in {out}")
    if resume and known != seen:
        raise UnusableError(
            f"--resume: the checkpoints in {out} are of other documents or options: choose another --out"
        )
    if not resume and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UnusableError(f"--out {out} is not empty: choose another, or go on with --resume")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / PLAN, seen)
    whole = folder.glob("checkpoint-*/trainer_state.json")  # written last: without it a checkpoint was cut short
    steps = sorted(int(path.parent.name.split("-")[1]) for path in whole)
    return str(folder / f"checkpoint-{steps[-1]}") if resume and steps else None
