"""Tiny models, made in a moment with random weights, for tests that need a model's shape and not its skill."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
)

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789ابتثجحخدذرزسشصضطظعغفقكلمنهويأإآةىءئؤ"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def tokenizer(max_length: int = 10**30) -> PreTrainedTokenizerFast:
    """A character-piece tokenizer, so that every text has as many tokens as letters."""
    pieces = [*SPECIAL, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    inner = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    inner.normalizer = normalizers.Lowercase()
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        model_max_length=max_length,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def make_encoder(
    folder: Path, kind: str = "bert", positions: int = 64, max_length: int = 10**30, seed: int = 0
) -> Path:
    """Save a plain transformers encoder, without any sentence-transformers file."""
    torch.manual_seed(seed)
    words = tokenizer(max_length)
    shape = dict(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=positions,
        pad_token_id=0,
    )
    model = BertModel(BertConfig(**shape)) if kind == "bert" else RobertaModel(RobertaConfig(**shape))
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def make_summarizer() -> tuple[BartForConditionalGeneration, PreTrainedTokenizerFast]:
    """A sequence-to-sequence model of a few thousand weights, for a Trainer."""
    torch.manual_seed(0)
    words = tokenizer(64)
    config = BartConfig(
        vocab_size=len(words),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=80,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        decoder_start_token_id=2,
        forced_eos_token_id=3,
    )
    return BartForConditionalGeneration(config), words
