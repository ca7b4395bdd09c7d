"""The one door to the metrics and their shared code: words, sentences, ROUGE, means, options, the metric itself.

A metric's folder lies inside the installed package, or beside it in a checkout. Its files are imported as a package of
their own, so that both are reached alike; nothing here imports torch.
"""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

_HERE = Path(__file__).resolve().parent
METRICS = ("sss", "mss", "boc", "bor")


def metric_folder(name: str) -> Path:
    """Where a metric's script is."""
    inside = _HERE / "metrics" / name
    return inside if inside.is_dir() else _HERE.parent / "metrics" / name


def module(metric: str, name: str) -> ModuleType:
    """A file of a metric's folder: ``module("mss", "alignment")``."""
    package = f"eval_summaries._{metric}"
    if package not in sys.modules:
        made = ModuleType(package)
        made.__path__ = [str(metric_folder(metric))]
        sys.modules[package] = made
    return importlib.import_module(f"{package}.{name}")


def options_of(metric: str) -> dict[str, Any]:
    """The options of a metric: {name: Option}."""
    script = module(metric, metric)
    (found,) = (
        thing.OPTIONS for thing in vars(script).values() if hasattr(thing, "OPTIONS") and hasattr(thing, "VERSION")
    )
    return found


def load_metric(name: str, options: dict[str, Any]) -> Any:
    """The metric as a user loads it."""
    import evaluate  # slow: not for --help, nor for an error in the arguments

    return evaluate.load(str(metric_folder(name)), **options)


def script_of(metric: Any) -> ModuleType:
    """The script of a loaded metric, as ``evaluate`` imported it: its embedder has the metric's models and vectors."""
    return sys.modules[type(metric).__module__]


texts = module("sss", "texts")
rouge = module("sss", "rouge")
options = module("sss", "options")
models = module("sss", "models")
backends = module("sss", "backends")
scores = module("sss", "scores")
characters = module("boc", "characters")
unsupported = module("mss", "unsupported")
