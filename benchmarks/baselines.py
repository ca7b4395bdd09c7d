"""Plain ways to the same numbers, against which speed.py measures: nothing batched, nothing reused, no trick.

Each is what one would write first from the formulas of the cards, and stands by itself: of this project it takes only
how texts are cut into sentences and words, and where the encoder's files are.
"""

import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from metrics._shared.backends import EMBEDDED, folder_of
from metrics._shared.models import quiet_loading
from metrics._shared.texts import sentences, words


class OneByOne:
    """The embedded encoder by sentence-transformers, one text a call; a vector is the mean of the token embeddings."""

    def __init__(self):
        from sentence_transformers import SentenceTransformer

        with quiet_loading():
            whole = SentenceTransformer(folder_of(EMBEDDED), device="cpu")
        self.model = SentenceTransformer(modules=list(whole)[:2], device="cpu")  # without Normalize: SSS needs lengths
        self.transformer, self.tokenizer = whole[0].auto_model, whole.tokenizer
        self.room = whole.max_seq_length - 2  # beside [CLS] and [SEP]

    def encode(self, text: str) -> np.ndarray:
        """One vector (384) of one text; a long text's is the mean of its windows', weighted by their tokens."""
        if len(text) <= self.room:  # no more tokens than characters
            return self.model.encode(text, show_progress_bar=False)
        ids = self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        count = math.ceil(len(ids) / self.room)
        if count <= 1:
            return self.model.encode(text, show_progress_bar=False)
        step = math.ceil(len(ids) / count)
        windows = [ids[start : start + step] for start in range(0, len(ids), step)]
        return np.average([self._window(one) for one in windows], axis=0, weights=list(map(len, windows)))

    def _window(self, ids: list[int]) -> np.ndarray:
        import torch

        framed = [self.tokenizer.cls_token_id, *ids, self.tokenizer.sep_token_id]
        with torch.inference_mode():
            return self.transformer(input_ids=torch.tensor([framed])).last_hidden_state[0].mean(dim=0).numpy()


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(_unit(one) @ _unit(other))


def mss(encoder: OneByOne, summaries: Sequence[str], documents: Sequence[str], strategy: str = "joined") -> list[float]:
    """MSS of each summary and its document: every chunk of both is encoded by a call of its own, pair after pair.

    Args:
        strategy: "joined" encodes chunks of 5 sentences of a document and 1 of a summary, "sentences" each sentence.
    """

    def pooled(text: str, size: int) -> np.ndarray:
        found = sentences(text)
        chunks = [" ".join(found[start : start + size]) for start in range(0, len(found), size)]
        return np.max([_unit(encoder.encode(chunk)) for chunk in chunks], axis=0)

    size = 5 if strategy == "joined" else 1
    return [_cosine(pooled(ours, 1), pooled(theirs, size)) for ours, theirs in zip(summaries, documents, strict=True)]


def sss(encoder: OneByOne, candidates: Sequence[str], references: Sequence[str]) -> list[float]:
    """SSS of each pair by rouge-score 0.1.2, with a call of the encoder for each of its two texts; of English."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer, found = RougeScorer(["rouge1", "rouge2", "rougeL"]), []
    for candidate, reference in zip(candidates, references, strict=True):
        c, r = encoder.encode(candidate), encoder.encode(reference)
        rouge = sum(part.fmeasure for part in scorer.score(reference, candidate).values()) / 3
        shares = [len(set(side)) / len(side) for side in (words(candidate), words(reference))]
        apart = math.sqrt(float(np.linalg.norm(c - r)) + 1)
        found.append(_cosine(c, r) * rouge * min(shares) / max(shares) / apart)
    return found


def rouge(pairs: Sequence[tuple[str, str]]) -> list[tuple[float, ...]]:
    """F1 of ROUGE-1, -2 and -L of each (candidate, reference) by rouge-score 0.1.2."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"])
    return [tuple(part.fmeasure for part in scorer.score(theirs, ours).values()) for ours, theirs in pairs]


def names(listed: Sequence[str], text: str) -> Counter:
    """How often a text has each name as a whole word: one regular expression for each, one after the other."""
    return Counter({name: len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", text)) for name in listed})


def boc_f1(listed: Sequence[str], predictions: Sequence[str], references: Sequence[str]) -> list[float]:
    """F1 of BoC with counting="multiset" by ``names``; one side names somebody in each example."""
    found = []
    for prediction, reference in zip(predictions, references, strict=True):
        ours, theirs = names(listed, prediction), names(listed, reference)
        found.append(2 * (ours & theirs).total() / (ours.total() + theirs.total()))
    return found


def bertscore() -> Any:
    """The scorer of bert-score 0.3.13 on the embedded encoder's last layer: its ``score`` takes two lists of texts."""
    from bert_score import BERTScorer

    with quiet_loading():
        return BERTScorer(model_type=folder_of(EMBEDDED), num_layers=6, device="cpu")


def forward(model: Any, pieces: Sequence[list[int]], budget: int) -> np.ndarray:
    """Mean token embeddings (pieces, dimensions) of lists of token numbers: torch's forward pass and nothing else.

    The pieces are sorted by length, so that a batch of at most ``budget`` tokens has hardly any padding.
    """
    import torch

    order = sorted(range(len(pieces)), key=lambda number: len(pieces[number]), reverse=True)
    found, start = [], 0
    while start < len(order):
        width = len(pieces[order[start]])
        batch = [pieces[number] for number in order[start : start + max(1, budget // width)]]
        start += len(batch)
        ids = torch.tensor([[*piece, *[0] * (width - len(piece))] for piece in batch])
        mask = torch.tensor([[1] * len(piece) + [0] * (width - len(piece)) for piece in batch])
        with torch.inference_mode():
            hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
            found.append(((hidden * mask[:, :, None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)).numpy())
    return np.concatenate(found)[np.argsort(order)]
