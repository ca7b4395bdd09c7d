"""The encoder of the metrics, for summarizers: one model in memory for both, and the metrics' own errors."""

import re
from typing import Any

import numpy as np

from eval_summaries.shared import load_metric, module, script_of
from eval_summaries.table import UnusableError


def load_embedder(lang: str, name: str | None = None, device: str | None = None, batch_size: int = 32) -> Any:
    """The ``Embedder`` that SSS takes with these options (metrics/_shared/embedder.py).

    Args:
        lang: chooses the model where no name is given: the embedded one for "en", AraBERT for "ar".
        name: a Hub id, a local folder, or "multilingual-e5-small-q4".
        device: None takes CUDA where there is one.
        batch_size: windows that go through the model at once.

    Raises:
        UnusableError: where the model cannot be had; it says why, and what works offline.
    """
    options = {"lang": lang, "model_name": name, "device": device, "batch_size": batch_size}
    try:
        metric = load_metric("sss", options)
        return script_of(metric).Embedder.from_options(metric.resolve({}))
    except Exception as error:  # hub, files, torch each raise their own
        # the metrics speak of their options: these are the command's
        said = re.sub(r"model_name='([^']*)'", r"--encoder \1", str(error))
        raise UnusableError(said.replace("no lang, no model_name", "no --lang, no --encoder")) from None


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors (sentences, dimensions) at unit length, in float64; a zero vector stays zero."""
    return module("sss", "embedder").unit(vectors)
