"""From a document's sentences to what SAraBERT reads: tokens in windows at sentence borders, padded batches."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from .sarabert import IGNORED, SAraBert

PADDED_TO = 8  # lengths are rounded up to this


class Windows(NamedTuple):
    """One document as its encoder reads it."""

    ids: list[list[int]]  # tokens of each window
    segments: list[list[int]]  # 0 and 1 in turn from sentence to sentence, 0 where a window begins
    places: list[tuple[int, int]]  # of each sentence's [CLS]: window, position


def cut(sentences: Sequence[Sequence[int]], window: int, cls: int, sep: int) -> Windows:
    """Put tokenized sentences into windows, as many whole ones into each as fit.

    Each window is to the encoder what a short document is: positions and segments begin anew. A sentence that alone is
    longer than a window is read as far as it goes.

    >>> found = cut([[7], [8, 9], [5]], window=7, cls=1, sep=2)
    >>> found.ids, found.segments
    ([[1, 7, 2, 1, 8, 9, 2], [1, 5, 2]], [[0, 0, 0, 1, 1, 1, 1], [0, 0, 0]])
    >>> found.places
    [(0, 0), (0, 3), (1, 0)]
    """
    ids, segments, places, inside = [[]], [[]], [], 0
    for sentence in sentences:
        tokens = [cls, *sentence[: window - 2], sep]
        if ids[-1] and len(ids[-1]) + len(tokens) > window:
            ids.append([])
            segments.append([])
            inside = 0
        places.append((len(ids) - 1, len(ids[-1])))
        ids[-1] += tokens
        segments[-1] += [inside % 2] * len(tokens)
        inside += 1
    return Windows(ids, segments, places)


class Reader:
    """Makes a model's inputs of sentences.

    Args:
        model: the SAraBERT.
        tokenizer: of its encoder.
        embedder: of the sentence vectors, for a model without an encoder of its own.
    """

    def __init__(self, model: SAraBert, tokenizer: Any = None, embedder: Any = None):
        self.model, self.tokenizer, self.embedder = model, tokenizer, embedder

    def read(self, sentences: Sequence[str]) -> dict[str, Any]:
        """One document: ``windows``, or ``vectors`` (sentences, dimensions)."""
        if self.model.encoder is None:
            return {"vectors": self.embedder.encode(sentences)}
        config = self.model.config
        texts = [sentence.lower() for sentence in sentences] if config.lower_case else list(sentences)
        # a text that has "[CLS]" in it must not get the token; and no warning of long texts, which are windowed
        encoded = self.tokenizer(texts, add_special_tokens=False, split_special_tokens=True, verbose=False)["input_ids"]
        return {"windows": cut(encoded, config.window, self.tokenizer.cls_token_id, self.tokenizer.sep_token_id)}

    @torch.inference_mode()
    def frozen(self, sentences: Sequence[str]) -> dict[str, Any]:
        """One document's ``vectors`` as the encoder makes them now, so that a head alone can be trained on them."""
        found = self.read(sentences)
        if "vectors" in found:
            return found
        was, _ = self.model.training, self.model.eval()
        batch = {name: tensor.to(self.model.device) for name, tensor in collate([found]).items()}
        batch.pop("mask")
        vectors = self.model.encode(**batch)[0].cpu().numpy()
        self.model.train(was)
        return {"vectors": vectors}

    @torch.inference_mode()
    def scores(self, documents: Sequence[Sequence[str]], batch_size: int = 8) -> list[np.ndarray]:
        """The scores of each document's sentences, as probabilities; documents of like length go together."""
        was, _ = self.model.training, self.model.eval()
        found: list[np.ndarray] = [np.zeros(0)] * len(documents)
        order = sorted(range(len(documents)), key=lambda number: -len(documents[number]))
        order = [number for number in order if len(documents[number])]
        for start in range(0, len(order), batch_size):
            numbers = order[start : start + batch_size]
            batch = collate([self.read(documents[number]) for number in numbers])
            logits = self.model(**{name: tensor.to(self.model.device) for name, tensor in batch.items()}).logits
            for number, row in zip(numbers, torch.sigmoid(logits).float().cpu().numpy(), strict=True):
                found[number] = row[: len(documents[number])]
        self.model.train(was)
        return found


def collate(rows: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
    """Pad documents to one batch: the arguments of ``SAraBert.forward``.

    Args:
        rows: each with ``windows`` or ``vectors``, and in training ``labels`` (one for each sentence).
    """
    by_tokens = "windows" in rows[0]
    counts = [len(row["windows"].places if by_tokens else row["vectors"]) for row in rows]
    most = max(counts)
    batch = {"mask": torch.arange(most) < torch.tensor(counts).unsqueeze(1)}
    if by_tokens:
        windows = [row["windows"] for row in rows]
        deep = max(len(one.ids) for one in windows)
        wide = max(len(ids) for one in windows for ids in one.ids)
        wide = -(-wide // PADDED_TO) * PADDED_TO
        shape = (len(rows), deep, wide)
        for name in ("input_ids", "attention_mask", "token_type_ids"):
            batch[name] = torch.zeros(shape, dtype=torch.long)  # what a padded position holds is never looked at
        batch["places"] = torch.zeros(len(rows), most, dtype=torch.long)
        for row, one in enumerate(windows):
            for number, (ids, segments) in enumerate(zip(one.ids, one.segments, strict=True)):
                batch["input_ids"][row, number, : len(ids)] = torch.tensor(ids)
                batch["attention_mask"][row, number, : len(ids)] = 1
                batch["token_type_ids"][row, number, : len(ids)] = torch.tensor(segments)
            batch["places"][row, : counts[row]] = torch.tensor([window * wide + place for window, place in one.places])
    else:
        size = rows[0]["vectors"].shape[1]
        batch["vectors"] = torch.zeros(len(rows), most, size)
        for row, one in enumerate(rows):
            batch["vectors"][row, : counts[row]] = torch.as_tensor(one["vectors"])
    if "labels" in rows[0]:
        batch["labels"] = torch.full((len(rows), most), IGNORED, dtype=torch.long)
        for row, one in enumerate(rows):
            batch["labels"][row, : counts[row]] = torch.tensor(one["labels"])
    return batch
