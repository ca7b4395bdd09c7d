# Shared code: edit metrics/_shared/options.py, then run "make vendor".
"""Options of a metric: each has a name, a default and a check, and is checked before anything is loaded."""

import difflib
import inspect
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np


class Option(NamedTuple):
    """One keyword of a metric: its default, its check, and whether the score depends on it."""

    default: Any
    check: Callable[[str, Any], Any]
    changes_score: bool = True


def one_of(*choices: Any) -> Callable[[str, Any], Any]:
    """Accept exactly these values."""

    def check(name: str, value: Any) -> Any:
        if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
            raise ValueError(f"{name}={value!r}: give one of {', '.join(map(repr, choices))}")
        return value

    return check


def flag(name: str, value: Any) -> bool:
    """Accept True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}={value!r}: give True or False")
    return bool(value)


def whole_number(minimum: int) -> Callable[[str, Any], int]:
    """Accept an integer (also numpy's) of at least ``minimum``."""

    def check(name: str, value: Any) -> int:
        if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
            raise TypeError(f"{name}={value!r}: give a whole number of at least {minimum}")
        if int(value) < minimum:
            raise ValueError(f"{name}={value!r}: give a whole number of at least {minimum}")
        return int(value)

    return check


def share(name: str, value: Any) -> float | None:
    """Accept None or a number strictly between 0 and 1."""
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise TypeError(f"{name}={value!r}: give None or a number between 0 and 1, such as 0.95")
    if not 0 < value < 1:
        raise ValueError(f"{name}={value!r}: give None or a number between 0 and 1, such as 0.95")
    return float(value)


REPORT_OPTIONS = {
    "use_aggregator": Option(True, flag, changes_score=False),
    "confidence": Option(None, share),
    "return_signature": Option(False, flag, changes_score=False),
}


def language_code(name: str, value: Any) -> str:
    """Accept an ISO 639 code, with or without a region, and return it without."""
    if not isinstance(value, str):
        raise TypeError(f"{name}={value!r}: give a language code such as 'en', 'ar' or 'hi'")
    if not re.fullmatch(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*", value):
        raise ValueError(f"{name}={value!r}: give a language code such as 'en', 'ar' or 'hi'")
    return re.split("[-_]", value)[0].lower()


def callable_or_none(name: str, value: Any) -> Any:
    """Accept None or anything that can be called."""
    if value is not None and not callable(value):
        raise TypeError(f"{name}={value!r}: give None or a function")
    return value


def check_options(known: Mapping[str, Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked values of ``given``; TypeError for a name that is not in ``known``."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}? T" if near else "t"
            raise TypeError(f"unknown option {name!r}: {hint}he options are {', '.join(sorted(known))}")
    return {name: known[name].check(name, value) for name, value in given.items()}


# Parameters that evaluate hands to every metric, and that would change nothing here.
_WITHOUT_EFFECT = {
    "config_name": "this metric has no configurations; its options are {options}",
    "seed": "nothing is random but the bootstrap of confidence=, whose seed is fixed",
}


def refuse_what_would_be_lost(known: Mapping[str, Option], given: Mapping[str, Any]) -> None:
    """TypeError for what evaluate takes for itself and a user means for the metric.

    ``evaluate.load`` has a ``revision`` of its own, the metric script's on the Hub. For a script in a local folder it
    drops that without a word, and never tells the metric; so the caller is looked at.
    """
    for name, why in _WITHOUT_EFFECT.items():
        if given.get(name) is not None:
            why = why.format(options=", ".join(sorted(known)))
            raise TypeError(f"{name}={given[name]!r} would have no effect: {why}; leave it out")
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "load" and frame.f_globals.get("__name__") == "evaluate.loading":
            path, revision = frame.f_locals.get("path"), frame.f_locals.get("revision")
            if revision is not None and os.path.exists(str(path)):
                meant = " For a revision of the model write model_revision=." if "model_revision" in known else ""
                raise TypeError(
                    f"revision={revision!r} would have no effect: it is the revision of a metric script on the Hub, "
                    f"and {str(path)!r} is a local folder; leave it out.{meant}"
                )
        frame = frame.f_back
