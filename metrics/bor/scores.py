# Shared code: edit metrics/_shared/scores.py, then run "make vendor".
"""What all four metrics promise: checked inputs, options, means with intervals, and a signature.

A metric is ``class Name(ScoreContract, evaluate.Metric)``. ``ScoreContract`` checks what is added before
``evaluate`` casts it, keeps the options given at load, and leaves the object as new after a failed ``compute``.
"""

import importlib.metadata
import inspect
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import numpy as np

from .options import REPORT_OPTIONS, Option, check_options, refuse_what_would_be_lost

# The percentile bootstrap (Efron 1979): enough resamples for stable 95% limits, seeded so that they repeat.
N_RESAMPLES = 1000
BOOTSTRAP_SEED = 12345


def text_features() -> list:
    """Feature options (``datasets.Features``) of every metric: one reference for each prediction, or a list of them."""
    import datasets  # slow: not for those who only need the checks

    text = datasets.Value("string")
    return [
        datasets.Features({"predictions": text, "references": text}),
        datasets.Features({"predictions": text, "references": datasets.Sequence(text)}),
    ]


# ---- inputs ---------------------------------------------------------------------------------------------------------


def as_list(column: Any, name: str) -> list:
    """Turn a column (list, tuple, generator, array, Series, ``datasets`` column) into a list of its rows.

    Raises:
        TypeError: for None, one bare string, a mapping, a set, a table, or anything else that has no ordered rows.
    """
    if column is None:
        raise TypeError(f"{name} is None: give a list with one entry for each example")
    if isinstance(column, (str, bytes)):
        raise TypeError(f"{name} is one string, and a list of strings is expected: write {name}=[text]")
    if isinstance(column, (Mapping, set, frozenset)) or hasattr(column, "columns"):
        raise TypeError(f"{name} is a {type(column).__name__}, and a list of strings is expected")
    if hasattr(column, "to_pylist"):  # pyarrow arrays iterate over scalars of their own
        return column.to_pylist()
    try:
        return list(column)
    except TypeError:
        raise TypeError(f"{name} is a {type(column).__name__}, and a list of strings is expected") from None


def check_text(value: Any, where: str) -> str:
    """Return ``value`` as a plain ``str``.

    Raises:
        TypeError: where it is not a string.
        ValueError: where it holds a lone surrogate, which no UTF-8 file and no tokenizer can carry.
    """
    if not isinstance(value, str):
        found = "None" if value is None else f"of type {type(value).__name__} ({value!r:.60})"
        raise TypeError(f"{where} is {found}, and a string is expected; for a missing text give '' or drop the row")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{where} has a lone surrogate {value[error.start]!r} at character {error.start}, which is no valid "
            "Unicode text; clean it with text.encode('utf-8', 'replace').decode('utf-8')"
        ) from None
    return str(value)


def check_batch(
    predictions: Any, references: Any, multiple: bool | None = None, stored: int = 0
) -> tuple[list[str], list[str] | list[list[str]]]:
    """Check a batch and return it as plain lists.

    Args:
        predictions: n strings.
        references: n strings, or n lists of strings.
        multiple: what earlier batches had: lists (True) or strings (False); None for the first batch.
        stored: how many examples came before, to name a row by its place in all.

    Raises:
        TypeError, ValueError: with the row, what was found there, and what to do.
    """
    predictions = as_list(predictions, "predictions")
    references = as_list(references, "references")
    if len(predictions) != len(references):
        raise ValueError(
            f"predictions has {len(predictions)} rows and references has {len(references)}: "
            "give one reference (or one list of references) for each prediction"
        )
    if not predictions:
        raise ValueError("nothing to score: predictions and references are empty")
    texts, kept = [], []
    for row, (prediction, reference) in enumerate(zip(predictions, references, strict=True)):
        place = f"row {row}" + (f" (example {stored + row} in all)" if stored else "")
        texts.append(check_text(prediction, f"{place} of predictions"))
        is_list = isinstance(reference, (list, tuple, np.ndarray)) or (
            hasattr(reference, "__iter__") and not isinstance(reference, (str, bytes, Mapping, set, frozenset))
        )
        if multiple is None:
            multiple = is_list
        elif (is_list or isinstance(reference, str)) and is_list != multiple:
            expected, found = ("a list", "a string") if multiple else ("a string", "a list")
            raise ValueError(
                f"references mixes strings and lists: {place} is {found}, and {expected} is expected because the "
                "rows before it are; write every row as a string, or every row as a list such as [text]"
            )
        if not multiple:
            kept.append(check_text(reference, f"{place} of references"))
            continue
        if not is_list:
            check_text(reference, f"{place} of references")
        options = as_list(reference, f"{place} of references")
        if not options:
            raise ValueError(f"{place} of references is an empty list: give at least one reference")
        kept.append([check_text(text, f"{place} of references, entry {i}") for i, text in enumerate(options)])
    return texts, kept


# ---- results --------------------------------------------------------------------------------------------------------


# From how often each example counts, (resamples, examples), to the value of each key, (resamples, keys).
Statistic = Callable[[np.ndarray], np.ndarray]


def mean_of(values: Mapping[str, list[float]]) -> Statistic:
    """The mean of each key, undefined (nan) examples left out; nan only where every one is undefined."""
    table = np.array(list(values.values()), dtype=np.float64).T  # (examples, keys)
    defined = ~np.isnan(table)
    filled, counted = np.where(defined, table, 0.0), defined.astype(np.float64)

    def mean(weights: np.ndarray) -> np.ndarray:
        count = weights @ counted
        return np.divide(weights @ filled, count, out=np.full(count.shape, np.nan), where=count > 0)

    return mean


def resamples(n: int, count: int = N_RESAMPLES, seed: int = BOOTSTRAP_SEED) -> Iterator[np.ndarray]:
    """Draw n of n examples with replacement, ``count`` times: how often each example was drawn.

    The same n and seed give the same draws, however they are cut into blocks; a larger ``count`` only adds to them.

    Yields:
        Blocks (resamples, n) of float64, each row with the sum n; a block takes at most some 16 MB.
    """
    rng = np.random.default_rng(seed)
    size = max(1, 2_000_000 // n)
    for start in range(0, count, size):
        rows = min(size, count - start)
        drawn = rng.integers(0, n, size=(rows, n))
        drawn += np.arange(rows)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def aggregate(
    values: Mapping[str, list[float]], confidence: float | None = None, statistic: Statistic | None = None
) -> dict[str, float]:
    """One value for each key over all examples.

    Args:
        values: per-example values, n floats under each key.
        confidence: adds ``<key>_low`` and ``<key>_high``, the limits of the percentile bootstrap interval at this
            level; all keys share the same resamples.
        statistic: what to compute of the examples, instead of their mean.

    >>> aggregate({"score": [0.0, 0.5, 1.0]})
    {'score': 0.5}
    """
    keys, n = list(values), len(next(iter(values.values())))
    statistic = statistic or mean_of(values)
    whole = statistic(np.ones((1, n)))[0]
    result = {key: float(value) for key, value in zip(keys, whole, strict=True)}
    if confidence is None:
        return result
    samples = np.concatenate([statistic(weights) for weights in resamples(n)])
    for column, key in enumerate(keys):
        sample = samples[:, column][~np.isnan(samples[:, column])]
        tails = [(1 - confidence) / 2, (1 + confidence) / 2]
        low, high = np.quantile(sample, tails) if len(sample) else (np.nan, np.nan)
        result[f"{key}_low"], result[f"{key}_high"] = float(low), float(high)
    return result


def make_signature(metric: str, version: str, facts: Mapping[str, Any], packages: tuple[str, ...]) -> str:
    """One line from which a score can be reproduced: ``metric|version:...|option:value|...|package:version``."""

    def show(value: Any) -> str:
        if callable(value):
            value = f"{getattr(value, '__module__', '?')}.{getattr(value, '__qualname__', type(value).__name__)}"
        return quote(str(value), safe=" /.,+-_@()[]'<>=~")

    parts = [metric, f"version:{version}"]
    parts += [f"{name}:{show(value)}" for name, value in facts.items()]
    parts += [f"{package}:{importlib.metadata.version(package)}" for package in packages]
    return "|".join(parts)


# ---- the contract ---------------------------------------------------------------------------------------------------


# What evaluate keeps in a metric between the first ``add`` and the end of ``compute``, and some of it longer.
IN_PROGRESS = {
    **dict.fromkeys(("writer", "buf_writer", "data", "selected_feature_format", "cache_file_name", "file_paths")),
    **dict.fromkeys(("filelock", "filelocks", "rendez_vous_lock")),
}


class ScoreContract:
    """Mixin before ``evaluate.Metric``; the metric gives ``OPTIONS``, ``VERSION``, ``score`` and ``explain``."""

    OPTIONS: dict[str, Option]
    VERSION: str

    def __init__(self, *args, **kwargs):
        engine = inspect.signature(super().__init__).parameters  # evaluate's own: cache_dir, num_process, ...
        options = {name: kwargs.pop(name) for name in list(kwargs) if name not in engine}
        refuse_what_would_be_lost(self.OPTIONS, kwargs)
        self._loaded_options = check_options(self.OPTIONS, options)
        self.resolve({})  # also what options mean together
        super().__init__(*args, **kwargs)

    def resolve(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Defaults, overridden by what was given at load, overridden by ``options``; all checked."""
        defaults = {name: option.default for name, option in self.OPTIONS.items()}
        resolved = {**defaults, **self._loaded_options, **check_options(self.OPTIONS, options)}
        if resolved["confidence"] is not None and not resolved["use_aggregator"]:
            raise ValueError(
                "confidence needs use_aggregator=True: an interval belongs to the mean, not to single examples"
            )
        return resolved

    def prepare(self, predictions: Any, references: Any, options: Mapping[str, Any]) -> tuple[list, list, dict]:
        """What ``score`` and ``explain`` need: checked texts, references always as lists, resolved options."""
        for name in options:
            if name in REPORT_OPTIONS:
                raise TypeError(f"{name} is an option of compute(): score() and explain() give per-example values")
        if references is None and (isinstance(predictions, Mapping) or hasattr(predictions, "columns")):
            # one batch with all its columns, as Dataset.map and Ray Data hand it over
            missing = [name for name in ("predictions", "references") if name not in predictions]
            if missing:
                raise ValueError(f"the batch has no column {' and '.join(map(repr, missing))}")
            if "characters" in self.OPTIONS and "characters" in predictions and "characters" not in options:
                options = {**options, "characters": predictions["characters"]}
            predictions, references = predictions["predictions"], predictions["references"]
        resolved = self.resolve(options)
        texts, kept = check_batch(predictions, references)
        return texts, [entry if isinstance(entry, list) else [entry] for entry in kept], resolved

    def report(
        self, values: Mapping[str, list[float]], options: Mapping[str, Any], statistic: Statistic | None = None
    ) -> dict[str, Any]:
        """The end of ``_compute``: aggregate per-example values as the options say, and sign."""
        resolved = self.resolve(options)
        result = aggregate(values, resolved["confidence"], statistic) if resolved["use_aggregator"] else dict(values)
        if resolved["return_signature"]:
            result["signature"] = self.signature(**options)
        return result

    @staticmethod
    def without_report(options: Mapping[str, Any]) -> dict[str, Any]:
        """Those of ``compute``'s options that ``score`` takes."""
        return {name: value for name, value in options.items() if name not in REPORT_OPTIONS}

    def signature_facts(self, resolved: Mapping[str, Any]) -> dict[str, Any]:
        """Every option that changes the value, as it was used."""
        facts = {name: resolved[name] for name, option in self.OPTIONS.items() if option.changes_score}
        if facts["confidence"] is not None:
            facts.update(bootstrap="percentile", resamples=N_RESAMPLES, seed=BOOTSTRAP_SEED)
        return facts

    def _alone(self) -> threading.RLock:
        """The lock under which one thread at a time adds or computes: evaluate keeps both in one open file.

        A lock for each process: in a forked child nobody would release one that another thread of the parent held.
        """
        return self.__dict__.setdefault("_locks", {}).setdefault(os.getpid(), threading.RLock())

    def add_batch(self, *args, predictions=None, references=None, **kwargs):
        """Check a batch of examples and store it; a batch with a bad row is refused as a whole."""
        if args or kwargs:
            raise TypeError("add_batch takes predictions=[...] and references=[...] by name, and nothing else")
        with self._alone():
            multiple = None
            if self.writer is not None:
                multiple = hasattr(self.selected_feature_format["references"], "feature")  # a list of strings
            predictions, references = check_batch(predictions, references, multiple, len(self))
            super().add_batch(predictions=predictions, references=references)

    def add(self, *args, prediction=None, reference=None, **kwargs):
        """Check one example and store it."""
        # evaluate.combine hands a single example over under the plural names
        prediction = kwargs.pop("predictions", prediction)
        reference = kwargs.pop("references", reference)
        if args or kwargs:
            raise TypeError("add takes prediction=... and reference=... by name, and nothing else")
        self.add_batch(predictions=[prediction], references=[reference])

    def compute(self, *args, predictions=None, references=None, **options):
        """Score all that was added, and what is given here; see the arguments below."""
        if args:
            raise TypeError("compute takes its arguments by name: compute(predictions=[...], references=[...])")
        with self._alone():
            self.file_paths = self.filelocks = None  # of an earlier compute: no longer ours to remove
            try:
                self.resolve(options)  # before anything is stored or any model is loaded
                if predictions is None and references is None and self.writer is None:
                    raise ValueError("nothing to score: give predictions and references here, or add them first")
                return super().compute(predictions=predictions, references=references, **options)
            except BaseException:
                self._discard()
                raise

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled (for the workers of ``Dataset.map``, say): all but a computation's open files and locks."""
        return {**self.__dict__, **IN_PROGRESS, "_locks": {}}

    def _discard(self) -> None:
        """Be as good as new: drop what was added, remove its cache files, release its locks."""
        if self.writer is not None:
            self.writer.close()
        paths = {self.cache_file_name, *(self.file_paths or [])} - {None}
        locks = [lock for lock in (self.filelock, *(self.filelocks or []), self.rendez_vous_lock) if lock is not None]
        self.__dict__.update(IN_PROGRESS)
        for path in paths:
            if os.path.exists(path):
                os.remove(path)
        for lock in locks:
            lock.release(force=True)
