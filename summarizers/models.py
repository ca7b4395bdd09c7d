"""SAraBERT models: how one is to be trained, a new one on an encoder, a trained one from its folder."""

import copy
from dataclasses import asdict, dataclass
from pathlib import Path

import transformers
from transformers import AutoTokenizer

from eval_summaries.shared import models
from eval_summaries.table import UnusableError

from .encoder import load_embedder
from .lengths import Length
from .sarabert import HEADS, SAraBert, SAraBertConfig
from .windows import Reader


@dataclass
class Plan:
    """How a model is trained.

    Args:
        head: one of ``HEADS``.
        encoder: Hub id or folder of a BERT, or "multilingual-e5-small-q4", whose sentence vectors stand in for the
            [CLS] vectors; None for what ``lang`` means.
        lang: of the sentence rules and the default encoder.
        freeze: train the head alone, on vectors that are made once.
        window: tokens read in one pass; None for all that the encoder can.
        epochs: passes over the documents; None for 3, or 30 where the encoder is frozen.
        learning_rate: at its highest; None for 2e-5, or 1e-3 where the encoder is frozen.
        batch_size: documents in a step.
        validation: share of the documents, drawn with the seed, by whose loss the best epoch is chosen; 0 for none.
        patience: epochs without a better loss after which training ends; 0 for never.
        dropout, head_size, head_layers: of the head.
        device: None takes CUDA where there is one.
        seed: of everything that is drawn.
    """

    head: str = "rnn"
    encoder: str | None = None
    lang: str = "en"
    freeze: bool = False
    window: int | None = None
    epochs: int | None = None
    learning_rate: float | None = None
    batch_size: int = 8
    validation: float = 0.1
    patience: int = 3
    dropout: float = 0.1
    head_size: int = 256
    head_layers: int = 1
    device: str | None = None
    seed: int = 0

    def __post_init__(self):
        if self.head not in HEADS:
            raise UnusableError(f"--head {self.head}: give one of {', '.join(HEADS)}")
        least = {"epochs": 1, "batch_size": 1, "patience": 0, "window": 3, "head_size": 1, "head_layers": 1}
        for name, lowest in least.items():
            if (value := getattr(self, name)) is not None and value < lowest:
                raise UnusableError(f"--{name.replace('_', '-')} {value}: give {lowest} or more")
        if not 0 <= self.validation < 1 or not 0 <= self.dropout < 1:
            raise UnusableError("--validation and --dropout are shares: give a number from 0 to below 1")
        if self.learning_rate is not None and not 0 < self.learning_rate < 1:
            raise UnusableError(f"--learning-rate {self.learning_rate}: give a number between 0 and 1, such as 2e-5")


def build(plan: Plan, length: Length) -> tuple[SAraBert, Reader]:
    """A model with a new head on an encoder; ``UnusableError`` where the encoder cannot be had or is no BERT."""
    embedder = load_embedder(plan.lang, plan.encoder, plan.device)
    backend = embedder.backend
    transformers.set_seed(plan.seed)
    shape = {"head": plan.head, "head_size": plan.head_size, "head_layers": plan.head_layers, "dropout": plan.dropout}
    shape |= {"lang": plan.lang, "length": asdict(length), "encoder_name": backend.name}
    inner = getattr(backend, "model", None)
    if inner is None:
        size = embedder.encode(["a"]).shape[1]
        model = SAraBert(SAraBertConfig(vector_size=size, window=backend.window, **shape))
        return model, Reader(model, embedder=embedder)
    if backend.tokenizer.cls_token_id is None or backend.tokenizer.sep_token_id is None:
        raise UnusableError(f"encoder {backend.name!r} has no [CLS] and [SEP] tokens: give a BERT")
    most = min(backend.window, plan.window or backend.window)
    if plan.window and plan.window > backend.window:
        raise UnusableError(f"--window {plan.window}: the encoder {backend.name!r} reads {backend.window} tokens")
    config = SAraBertConfig(inner.config.to_dict(), vector_size=inner.config.hidden_size, window=most, **shape)
    config.lower_case = backend.lower_case
    model = SAraBert(config)
    weights = {name: tensor for name, tensor in inner.state_dict().items() if models.matters(name)}
    model.encoder.load_state_dict(weights)
    return model, Reader(model, backend.tokenizer)


def head_of(model: SAraBert) -> SAraBert:
    """The model's head as a model of its own that reads vectors; to train the one is to train the other.

    Its checkpoints do not hold an encoder that does not change.
    """
    config = copy.deepcopy(model.config)
    config.encoder = None
    alone = SAraBert(config)
    alone.shift, alone.scale, alone.head = model.shift, model.scale, model.head
    return alone


def load(folder: Path | str, device: str | None = None) -> tuple[SAraBert, Reader]:
    """A model as ``train`` saved it.

    Raises:
        UnusableError: for a folder that holds none, or not all of it.
    """
    config = Path(folder) / "config.json"
    if not config.is_file():
        raise UnusableError(f"--model {folder} holds no model: give a folder that `train sarabert` wrote")
    try:
        with models.quiet_loading():
            shape = SAraBertConfig.from_pretrained(folder)
            if transformers.PretrainedConfig.get_config_dict(folder)[0].get("model_type") != SAraBertConfig.model_type:
                raise ValueError("it is a model of another kind; give a folder that `train sarabert` wrote")
            model, report = SAraBert.from_pretrained(
                folder, config=shape, output_loading_info=True, use_safetensors=True
            )
            if report["missing_keys"] or report["mismatched_keys"]:
                lacking = sorted(map(str, [*report["missing_keys"], *report["mismatched_keys"]]))
                raise ValueError(f"its weights file lacks {', '.join(lacking[:3])}")
            model = model.to(models.pick_device(device)).eval()
            if model.encoder is not None:
                return model, Reader(model, AutoTokenizer.from_pretrained(folder))
    except Exception as error:  # files, formats, devices: each library raises its own
        raise UnusableError(f"--model {folder} cannot be used: {models.reason_of(error)}") from None
    return model, Reader(model, embedder=load_embedder(shape.lang, shape.encoder_name, device))
