"""SAraBERT: a BERT encoder reads the whole document, a head gives each sentence a score.

Shames El Deen and Awad (arXiv:2608.20964), section III-A and Algorithm 1, after BERTSUM (Liu 2019): a [CLS] before
and a [SEP] after each sentence, segment ids that alternate from sentence to sentence, one pass, and the vectors at the
[CLS] tokens go to the head. Where the document is longer than the encoder's window, it is read in windows that begin
and end with a sentence (``windows.py``), and the head sees the sentences of all of them.
"""

import math
from typing import Any

import torch
from torch import nn
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

IGNORED = -100  # the label where a batch is padded, as everywhere in transformers


class SAraBertConfig(PretrainedConfig):
    """What a SAraBERT is.

    Args:
        encoder: the encoder's own configuration as a dictionary; None where the head reads sentence vectors that
            another model makes (then ``encoder_name`` is one of those that ``eval_summaries`` knows).
        encoder_name: where the encoder came from, for the card.
        vector_size: dimensions of a sentence's vector.
        head: "mlp", "rnn" (bidirectional LSTM) or "transformer" (layers over the sentences).
        head_size: units of the hidden layer, or of the LSTM in each direction.
        head_layers: of the LSTM or the transformer.
        dropout: in the head.
        window: tokens that the encoder reads in one pass.
        lower_case: whether texts are lower-cased before they reach the tokenizer.
        lang: of the sentence rules.
        length: what ``Length`` takes: of the labels in training, and of summaries unless another is asked for.
    """

    model_type = "sarabert"

    def __init__(
        self,
        encoder: dict[str, Any] | None = None,
        encoder_name: str = "",
        vector_size: int = 384,
        head: str = "mlp",
        head_size: int = 256,
        head_layers: int = 1,
        dropout: float = 0.1,
        window: int = 512,
        lower_case: bool = False,
        lang: str = "en",
        length: dict[str, Any] | None = None,
        **more: Any,
    ):
        self.encoder, self.encoder_name, self.vector_size = encoder, encoder_name, vector_size
        self.head, self.head_size, self.head_layers, self.dropout = head, head_size, head_layers, dropout
        self.window, self.lower_case, self.lang, self.length = window, lower_case, lang, length or {}
        super().__init__(**more)


class MlpHead(nn.Module):
    """Each sentence by itself: the paper's classifier, with one hidden layer."""

    def __init__(self, config: SAraBertConfig):
        super().__init__()
        self.hidden = nn.Linear(config.vector_size, config.head_size)
        self.dropout = nn.Dropout(config.dropout)
        self.out = nn.Linear(config.head_size, 1)

    def forward(self, vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Scores (documents, sentences) of vectors (documents, sentences, dimensions); mask is True at sentences."""
        return self.out(self.dropout(torch.relu(self.hidden(self.dropout(vectors))))).squeeze(-1)


class RnnHead(nn.Module):
    """A bidirectional LSTM over the document's sentences: the paper's best."""

    def __init__(self, config: SAraBertConfig):
        super().__init__()
        self.rnn = nn.LSTM(
            config.vector_size, config.head_size, config.head_layers, batch_first=True, bidirectional=True
        )
        self.dropout = nn.Dropout(config.dropout)
        self.out = nn.Linear(2 * config.head_size, 1)

    def forward(self, vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """As ``MlpHead.forward``."""
        # packed, so that the backward direction begins at each document's last sentence and not in the padding
        lengths = mask.sum(dim=1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(
            self.dropout(vectors), lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = nn.utils.rnn.pad_packed_sequence(
            self.rnn(packed)[0], batch_first=True, total_length=vectors.shape[1]
        )
        return self.out(self.dropout(states)).squeeze(-1)


class TransformerHead(nn.Module):
    """Transformer layers over the document's sentences, with sinusoidal positions (Vaswani et al. 2017)."""

    def __init__(self, config: SAraBertConfig):
        super().__init__()
        heads = next(count for count in (8, 6, 4, 3, 2, 1) if config.vector_size % count == 0)
        layer = nn.TransformerEncoderLayer(
            config.vector_size, heads, 2 * config.head_size, config.dropout, "gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, config.head_layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(config.vector_size)
        self.out = nn.Linear(config.vector_size, 1)

    def forward(self, vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """As ``MlpHead.forward``."""
        places = positions(vectors.shape[1], vectors.shape[2]).to(vectors)
        states = self.layers(vectors + places, src_key_padding_mask=~mask)
        return self.out(self.norm(states)).squeeze(-1)


def positions(count: int, size: int) -> torch.Tensor:
    """Sinusoidal positions, shape (count, size): sines in the even columns, cosines in the odd ones.

    >>> positions(2, 2).round(decimals=2).tolist()
    [[0.0, 1.0], [0.8399999737739563, 0.5400000214576721]]
    """
    columns = torch.arange(size)
    rates = torch.exp(-(columns - columns % 2) * math.log(10_000.0) / size)
    angles = torch.arange(count).unsqueeze(1) * rates
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos())


HEADS = {"mlp": MlpHead, "rnn": RnnHead, "transformer": TransformerHead}


class SAraBert(PreTrainedModel):
    """Scores of sentences; ``save_pretrained`` and ``from_pretrained`` as for any model of transformers."""

    config_class = SAraBertConfig
    base_model_prefix = "sarabert"

    def __init__(self, config: SAraBertConfig):
        super().__init__(config)
        if config.head not in HEADS:
            raise ValueError(f"head={config.head!r}: give one of {', '.join(HEADS)}")
        self.encoder = None
        if config.encoder is not None:
            given = dict(config.encoder)
            self.encoder = AutoModel.from_config(AutoConfig.for_model(given.pop("model_type"), **given))
            self.encoder.pooler = None  # it comes after the vectors, which are all that counts
        # a frozen encoder may give vectors that are all close together: the head gets them standardized
        self.register_buffer("shift", torch.zeros(config.vector_size))
        self.register_buffer("scale", torch.ones(config.vector_size))
        self.head = HEADS[config.head](config)
        self.post_init()

    @torch.no_grad()
    def standardize(self, vectors: torch.Tensor) -> None:
        """Take the mean and the deviation of these vectors, shape (sentences, dimensions), as those of all."""
        self.shift.copy_(vectors.mean(dim=0))
        self.scale.copy_(vectors.std(dim=0, correction=0).clamp(min=1e-6))

    def encode(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor, places: torch.Tensor
    ) -> torch.Tensor:
        """Vectors at the [CLS] tokens, shape (documents, sentences, dimensions).

        Args:
            input_ids, attention_mask, token_type_ids: shape (documents, windows, tokens); a window of padding alone
                is passed over.
            places: shape (documents, sentences): window * tokens + position of the sentence's [CLS]; 0 in the padding.
        """
        documents, windows, tokens = input_ids.shape
        kept = attention_mask.any(dim=-1).flatten()
        ids, mask, kinds = (one.flatten(0, 1)[kept] for one in (input_ids, attention_mask, token_type_ids))
        kinds = {"token_type_ids": kinds} if getattr(self.encoder.config, "type_vocab_size", 0) > 1 else {}
        found = self.encoder(input_ids=ids, attention_mask=mask, **kinds).last_hidden_state
        states = found.new_zeros(documents * windows, tokens, found.shape[-1])
        states[kept] = found
        states = states.view(documents, windows * tokens, -1)
        return states.gather(1, places.unsqueeze(-1).expand(-1, -1, states.shape[-1]))

    def forward(
        self,
        mask: torch.Tensor,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        token_type_ids: torch.Tensor | None = None,
        places: torch.Tensor | None = None,
        vectors: torch.Tensor | None = None,
        labels: torch.Tensor | None = None,
    ) -> SequenceClassifierOutput:
        """Scores as logits (documents, sentences), with labels also the mean binary cross-entropy over the sentences.

        Args:
            mask: shape (documents, sentences), True at sentences.
            input_ids, attention_mask, token_type_ids, places: as in ``encode``.
            vectors: of the sentences, in place of these.
            labels: 1 for a sentence of the oracle's, 0 for another, -100 in the padding.
        """
        if vectors is None:
            vectors = self.encode(input_ids, attention_mask, token_type_ids, places)
        vectors = (vectors.to(self.dtype) - self.shift) / self.scale
        logits = self.head(vectors, mask).masked_fill(~mask, 0.0)
        loss = None
        if labels is not None:
            kept = labels != IGNORED
            loss = nn.functional.binary_cross_entropy_with_logits(logits[kept], labels[kept].to(logits.dtype))
        return SequenceClassifierOutput(loss=loss, logits=logits)


AutoConfig.register(SAraBertConfig.model_type, SAraBertConfig, exist_ok=True)
AutoModel.register(SAraBertConfig, SAraBert, exist_ok=True)
