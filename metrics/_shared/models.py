# Shared code: edit metrics/_shared/model_options.py, then run "make vendor".
"""The options of a metric that uses a model, and the device that they mean."""

import re
from pathlib import Path
from typing import Any

from .options import Option, language_code, whole_number


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
