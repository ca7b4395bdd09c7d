# Shared code: edit metrics/_shared/embedder.py, then run "make vendor".
"""Text to vectors: each distinct text once, long texts whole, batches of equal lengths, a cache for the process."""

import hashlib
import os
import threading
import warnings
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import regex
from tqdm.auto import tqdm

from .backends import EMBEDDED, Backend, Piece, load_backends
from .texts import compose, without_format

PROGRESS_DELAY = 5  # seconds of work before a bar appears

_LATIN = regex.compile(r"\p{Latin}")
_LETTER = regex.compile(r"\p{L}")


class VectorCache:
    """Least recently used vectors, bounded in bytes, for all threads of the process."""

    _ENTRY = 250  # bytes that an entry costs beside its vector

    def __init__(self):
        self._vectors: OrderedDict[bytes, np.ndarray] = OrderedDict()
        self.bytes = 0
        self.renew_lock()

    def renew_lock(self) -> None:
        """A lock that nobody holds."""
        self._lock = threading.Lock()

    @staticmethod
    def _key(fingerprint: str, text: str) -> bytes:
        return hashlib.blake2b(f"{fingerprint}\0{text}".encode(), digest_size=20).digest()

    def find(self, fingerprint: str, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """The vectors of those texts that are known."""
        found = {}
        with self._lock:
            for text in texts:
                key = self._key(fingerprint, text)
                if key in self._vectors:
                    self._vectors.move_to_end(key)
                    found[text] = self._vectors[key]
        return found

    def store(self, fingerprint: str, vectors: dict[str, np.ndarray], limit: int) -> None:
        """Keep these vectors; the least recently used go until all fit in ``limit`` bytes."""
        with self._lock:
            for text, vector in vectors.items():
                key = self._key(fingerprint, text)
                if key not in self._vectors:
                    self.bytes += vector.nbytes + self._ENTRY
                self._vectors[key] = vector
                self._vectors.move_to_end(key)
            while self.bytes > limit and self._vectors:
                _, oldest = self._vectors.popitem(last=False)
                self.bytes -= oldest.nbytes + self._ENTRY

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._vectors.clear()
            self.bytes = 0


CACHE = VectorCache()
_model_lock = threading.Lock()  # tokenizers and models are used by one thread at a time
_warned_of_script = False


def _renew_locks() -> None:
    """In a forked child: another thread of the parent may have held a lock, and is not here to release it."""
    global _model_lock
    _model_lock = threading.Lock()
    CACHE.renew_lock()
    tqdm.set_lock(threading.RLock())


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_renew_locks)


def batches(pieces: Sequence[Piece], budget: int) -> Iterator[list[int]]:
    """Group pieces of equal size, largest first, so that a batch holds at most ``budget`` tokens.

    >>> list(batches([Piece(None, 8, 3), Piece(None, 16, 9), Piece(None, 8, 5)], budget=100))
    [[1], [0, 2]]
    """
    by_size = defaultdict(list)
    for number, piece in enumerate(pieces):
        by_size[piece.size].append(number)
    for size, numbers in sorted(by_size.items(), reverse=True):
        count = max(1, budget // size)
        for start in range(0, len(numbers), count):
            yield numbers[start : start + count]


def is_out_of_memory(error: BaseException) -> bool:
    """True for MemoryError, torch's OutOfMemoryError on any device, and the CPU allocator's RuntimeError."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return bool(kinds & {"MemoryError", "OutOfMemoryError"}) or "can't allocate memory" in str(error)


class Embedder:
    """Encode texts with one model, on one or several devices.

    Args:
        backends: from ``load_backends``; copies of one model, one for each device.
        batch_size: how many full windows go through the model at once; shorter texts share their room.
        cache_bytes: the most that cached vectors may take; 0 neither reads nor writes the cache.
    """

    def __init__(self, backends: list[Backend], batch_size: int, cache_bytes: int):
        self.backends, self.cache_bytes = backends, cache_bytes
        self.backend = backends[0]
        self.budget = batch_size * self.backend.window

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> "Embedder":
        """The embedder that a metric's resolved options mean; its model is loaded once in this process."""
        names = ("lang", "model_name", "model_revision", "device", "dtype")
        backends = load_backends(*(options[name] for name in names))
        return cls(backends, options["batch_size"], options["cache_bytes"])

    def windows(self, texts: Sequence[str]) -> list[int]:
        """How many windows of the model each text takes."""
        with _model_lock:
            return [sum(piece.windows for piece in pieces) for pieces in self.backend.split(_compose(texts))]

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 vectors of shape (texts, dimensions), in the order of the texts.

        Texts are composed (NFC) and lose their format characters first: not every tokenizer does it, and texts that
        nobody can tell apart must have equal vectors.

        Raises:
            RuntimeError: where the model gives anything but finite numbers.
        """
        texts = _compose(texts)
        unique = list(dict.fromkeys(texts))
        vectors = self._known(unique)
        if len(vectors) < len(unique):
            with _model_lock:
                vectors |= self._known([text for text in unique if text not in vectors])  # another thread's work
                fresh = self._encode_unique([text for text in unique if text not in vectors])
            finite = {text: vector for text, vector in fresh.items() if np.isfinite(vector).all()}
            if self.cache_bytes:  # also beside a bad text: who leaves it out has the others at once
                CACHE.store(self.backend.fingerprint, finite, self.cache_bytes)
            if len(finite) < len(fresh):
                bad = next(text for text in fresh if text not in finite)
                raise RuntimeError(
                    f"model {self.backend.name!r} gave a vector that is not finite for the text {bad!r:.60}; "
                    "try device='cpu' with dtype='float32', and report the model"
                )
            vectors |= fresh
        return np.stack([vectors[text] for text in texts])

    def _known(self, texts: list[str]) -> dict[str, np.ndarray]:
        return CACHE.find(self.backend.fingerprint, texts) if self.cache_bytes else {}

    def _encode_unique(self, texts: list[str]) -> dict[str, np.ndarray]:
        if not texts:
            return {}
        if self.backend.name == EMBEDDED:
            _warn_of_script(texts)
        split = self.backend.split(texts)
        pieces = [piece for parts in split for piece in parts]
        encoded = self._encode_pieces(pieces)
        vectors, start = {}, 0
        for text, parts in zip(texts, split, strict=True):
            part = encoded[start : start + len(parts)]
            start += len(parts)
            if len(parts) > 1:  # the token-weighted mean of the windows
                part = np.average(part.astype(np.float64), axis=0, weights=[piece.weight for piece in parts])[None]
            vectors[text] = part[0].astype(np.float32)
        return vectors

    def _encode_pieces(self, pieces: list[Piece]) -> np.ndarray:
        waiting = deque(batches(pieces, self.budget))
        results: dict[int, np.ndarray] = {}
        limits = {"tokens": self.budget}
        # disable=None: only where stderr is a terminal (a notebook always shows it)
        with tqdm(total=len(pieces), desc="encoding", unit="text", delay=PROGRESS_DELAY, disable=None) as bar:

            def work(backend: Backend) -> None:
                while waiting:
                    try:
                        batch = waiting.popleft()
                    except IndexError:  # another device took the last one
                        return
                    size = pieces[batch[0]].size * len(batch)
                    if len(batch) > 1 and size > limits["tokens"]:
                        waiting.extendleft([batch[len(batch) // 2 :], batch[: len(batch) // 2]])
                        continue
                    failure = None
                    try:
                        encoded = backend.encode([pieces[number] for number in batch])
                    except Exception as error:
                        if len(batch) == 1 or not is_out_of_memory(error):
                            waiting.clear()  # the other devices stop too
                            raise
                        failure = str(error)
                    if failure is not None:  # outside the handler: its traceback no longer holds the tensors
                        backend.free_memory()
                        limits["tokens"] = size // 2
                        waiting.appendleft(batch)
                        continue
                    results.update(zip(batch, encoded, strict=True))
                    bar.update(len(batch))

            if len(self.backends) == 1:
                work(self.backend)
            else:
                with ThreadPoolExecutor(len(self.backends)) as pool:
                    for done in [pool.submit(work, backend) for backend in self.backends]:
                        done.result()
        return np.stack([results[number] for number in range(len(pieces))])


def _compose(texts: Sequence[str]) -> list[str]:
    return [compose(without_format(text)) for text in texts]


def _warn_of_script(texts: list[str]) -> None:
    """Say once that the English model met text that is mostly in another script."""
    global _warned_of_script
    if _warned_of_script:
        return
    for text in texts:
        if text.isascii():
            continue
        letters = len(_LETTER.findall(text[:2000]))
        if letters and len(_LATIN.findall(text[:2000])) < letters / 2:
            _warned_of_script = True
            warnings.warn(
                f"the English model {EMBEDDED} met text in another script ({text.strip()[:30]!r}): its scores mean "
                "little there; set lang= (for example lang='ar') or model_name='multilingual-e5-small-q4'",
                stacklevel=2,
            )
            return


def unit(vectors: np.ndarray) -> np.ndarray:
    """Scale vectors (n, dimensions) to unit length in float64; a zero vector stays zero."""
    vectors = vectors.astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
