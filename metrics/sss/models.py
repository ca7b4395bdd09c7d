# Shared code: edit metrics/_shared/models.py, then run "make vendor".
"""A model's options, the device that they mean, and what a model must pass before it scores anything."""

import hashlib
import json
import re
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .options import Option, language_code, one_of, whole_number


def _check_name(name: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, (str, Path)):
        raise TypeError(f"{name}={value!r}: give None or a string")
    if value is not None and not str(value).strip():
        raise ValueError(f"{name}={value!r}: give None or a string that is not empty")
    return None if value is None else str(value)


def _check_device(name: str, value: Any) -> Any:
    help_ = "give None, 'cpu', 'mps', 'cuda', 'cuda:1', a CUDA index such as 0, or a list of these"
    if isinstance(value, (list, tuple)):
        if not value or any(isinstance(entry, (list, tuple)) or entry is None for entry in value):
            raise ValueError(f"{name}={value!r}: {help_}")
        return tuple(_check_device(name, entry) for entry in value)
    if value is None:
        return None
    if hasattr(value, "__index__") and not isinstance(value, bool):
        value = f"cuda:{int(value)}"
    elif type(value).__name__ == "device":  # torch.device, told without importing torch
        value = str(value)
    if not isinstance(value, str):
        raise TypeError(f"{name}={value!r}: {help_}")
    if not re.fullmatch(r"(cpu|mps|cuda|xpu|meta)(:\d+)?", value) or value.startswith("meta"):
        raise ValueError(f"{name}={value!r}: {help_}")
    return value


MODEL_OPTIONS = {
    "lang": Option("en", language_code),
    "model_name": Option(None, _check_name),
    "model_revision": Option(None, _check_name),  # evaluate.load keeps `revision` for itself
    # it changes scores a little: a signature names it with the model (model_facts), and only where it is not the
    # default, so that what was kept under the signatures of earlier versions is still found
    "dtype": Option("float32", one_of("float32", "bfloat16", "float16"), changes_score=False),
    "device": Option(None, _check_device, changes_score=False),
    "batch_size": Option(32, whole_number(1), changes_score=False),
    "cache_bytes": Option(256 * 2**20, whole_number(0), changes_score=False),
}


def pick_device(device: str | None) -> Any:
    """A ``torch.device``: CUDA when present, then MPS, then CPU; ValueError for one that this machine lacks."""
    import torch

    if device is None:
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        wanted = torch.device(device)
    except RuntimeError as error:  # an index that is no device's
        raise ValueError(f"device={device!r}: {error}") from None
    have = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    if wanted.type == "xpu":
        have["xpu"] = torch.xpu.device_count()
    if (wanted.index or 0) >= have[wanted.type]:
        present = ", ".join(f"{count} {kind}" for kind, count in have.items() if count)
        raise ValueError(f"device={device!r} is not present: torch sees {present}; leave device out to let it choose")
    return wanted


# What a CPU must have for products of matrices in this type; without any of these torch converts back and forth.
_INSTRUCTIONS = {
    "bfloat16": ("avx512_bf16", "amx_bf16", "avx10_2", "bf16", "sve_bf16"),
    "float16": ("avx512_fp16", "amx_fp16", "avx10_2", "fp16_arith"),
}


def cpu_features() -> Mapping[str, Any]:
    """Instruction sets of this CPU by torch's names, True where it has them; empty where torch is too old to say."""
    import torch

    return getattr(torch.cpu, "get_capabilities", dict)()


def warn_of_slow_dtype(dtype: str, devices: list[Any]) -> None:
    """Say that a 16-bit type is slower than float32 on a CPU without instructions for it."""
    features = cpu_features() if dtype in _INSTRUCTIONS and any(device.type == "cpu" for device in devices) else {}
    if features and not any(features.get(name) for name in _INSTRUCTIONS[dtype]):
        needed = " or ".join(_INSTRUCTIONS[dtype][:2])
        warnings.warn(
            f"dtype={dtype!r} is several times slower than float32 on this CPU, which has no {needed}; leave it out, "
            "or use a GPU",
            stacklevel=2,
        )


# ---- checks ----------------------------------------------------------------------------------------------------------

OWN_CODE = "it brings Python code of its own, which is never run; choose one of a class that transformers has"
UNREADABLE = "its weights file is not one of tensors alone, and to read it could run code; get it as safetensors"


def matters(name: str) -> bool:
    """Whether a vector depends on the tensor of this name: the pooler comes after the token embeddings.

    Many checkpoints have none, and its weights are random then, other ones in each process.
    """
    return not name.startswith("pooler.")


# What a configuration says that no vector depends on.
_CIRCUMSTANCES = {"_name_or_path", "transformers_version", "architectures", "dtype", "torch_dtype"}


def fingerprint(model: Any, tokenizer: Any) -> str:
    """Hexadecimal digest of the tensors, the configuration and the vocabulary that vectors depend on.

    The same in every process, wherever the model's folder is and whichever version of transformers saved it.
    """
    digest = hashlib.sha256()
    config = {key: value for key, value in model.config.to_diff_dict().items() if key not in _CIRCUMSTANCES}
    digest.update(json.dumps(config, sort_keys=True, default=str).encode())
    for name, tensor in sorted(model.named_parameters()):
        if not matters(name):
            continue
        digest.update(f"{name}{tuple(tensor.shape)}".encode())
        digest.update(np.ascontiguousarray(tensor.detach().cpu().numpy()).data)
    for token, number in sorted(tokenizer.get_vocab().items()):
        # CANINE's tokens are all code points, lone surrogates among them
        digest.update(f"{token}\0{number}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


@contextmanager
def quiet_loading() -> Iterator[None]:
    """transformers without its bar for each of 103 weights, and its table of a pooler's tensors; then as before.

    The tensors that matter are checked.
    """
    from transformers.utils import logging

    bars, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def loading_reports() -> Iterator[list[tuple[Any, dict]]]:
    """Every model that this thread loads meanwhile, with what transformers says of its tensors.

    sentence-transformers does not pass the report on, so transformers' own function is wrapped for the moment. That
    also overrules a model's folder, whose sentence_bert_config.json may ask to unpickle anything (weights_only).
    """
    from transformers import PreTrainedModel

    original, thread, reports = PreTrainedModel.__dict__["from_pretrained"], threading.get_ident(), []

    def from_pretrained(cls, *args, **kwargs):
        load = original.__get__(None, cls)
        if threading.get_ident() != thread:
            return load(*args, **kwargs)
        kwargs.pop("weights_only", None)  # the default is True
        model, report = load(*args, **{**kwargs, "output_loading_info": True, "ignore_mismatched_sizes": True})
        reports.append((model, report))
        return model

    PreTrainedModel.from_pretrained = classmethod(from_pretrained)
    try:
        yield reports
    finally:
        PreTrainedModel.from_pretrained = original


def check_weights(model: Any, reports: list[tuple[Any, dict]]) -> None:
    """Refuse a model of which transformers made up a tensor that matters."""
    report = next((report for loaded, report in reports if loaded is model), None)
    if report is None:
        raise ValueError("transformers does not say which of its tensors were in its weights file")
    names = [name for name, _ in model.named_parameters() if matters(name)]
    missing = sorted(filter(matters, report["missing_keys"]))
    if len(missing) >= len(names):
        raise ValueError("none of its tensors is in its weights file, which belongs to another model than config.json")
    if missing:
        raise ValueError(
            f"{len(missing)} of its {len(names)} tensors are not in its weights file ({', '.join(missing[:3])}) and "
            "would be random; save the whole model there with model.save_pretrained(folder)"
        )
    for name, found, expected in sorted(entry for entry in report["mismatched_keys"] if matters(entry[0])):
        raise ValueError(
            f"its weights file has {name} in the shape {tuple(found)}, and config.json asks for {tuple(expected)}: "
            "the two belong to different models"
        )


def check_tokenizer(model: Any, tokenizer: Any) -> None:
    """Refuse a tokenizer that cannot tell words apart (transformers makes one up where there is none), or too large."""
    vocabulary, special = tokenizer.get_vocab(), set(tokenizer.all_special_tokens)
    own = sorted(vocabulary.keys() - special)
    words = [tokenizer.convert_tokens_to_string([token]) for token in own[:: max(1, len(own) // 100)]]
    found = tokenizer(" ".join(words), add_special_tokens=False, verbose=False)["input_ids"]
    if not set(found) - {tokenizer.unk_token_id}:
        raise ValueError(
            "its tokenizer is missing or knows no word, so that all texts look alike; save the one that the model was "
            "trained with there: tokenizer.save_pretrained(folder)"
        )
    try:
        rows, largest = model.get_input_embeddings().weight.shape[0], max(vocabulary.values())
    except NotImplementedError:  # CANINE hashes code points and has no table that could be too small
        return
    if largest >= rows:
        raise ValueError(
            f"its tokenizer numbers tokens up to {largest}, and the model has embeddings for {rows}: "
            "save the tokenizer there that the model was trained with"
        )


def check_code(folder: str) -> None:
    """Refuse a folder that names Python classes of its own: sentence-transformers before 6 runs them unasked."""
    modules = Path(folder) / "modules.json"
    for entry in json.loads(modules.read_text(encoding="utf-8")) if modules.is_file() else []:
        if not entry["type"].startswith("sentence_transformers."):
            raise ValueError(OWN_CODE)


def reason_of(error: Exception) -> str:
    """What went wrong, without a library's advice to run what a stranger wrote."""
    text = " ".join(str(error).split())
    if "trust_remote_code" in text:
        return OWN_CODE
    if re.search("weights_only|unpickl|safe_globals", text, re.IGNORECASE):
        return UNREADABLE
    return text[:300].rstrip(".") or type(error).__name__
