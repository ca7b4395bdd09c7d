"""What has come since the run before: history.jsonl in --out has a line for each state that a finished run had."""

import json
from pathlib import Path
from typing import Any

from .inputs import WRITTEN_BY, Example
from .store import Digest, write_whole

HISTORY = "history.jsonl"


def state_of(examples: list[Example], metrics: list[str]) -> dict[str, Any]:
    """The systems of a run, each with the number of its examples and a digest of their texts, and its metrics."""
    of_system: dict[str, Digest] = {}
    for one in examples:
        texts = [one.id, one.prediction, one.references, one.documents, one.characters]
        of_system.setdefault(one.system, Digest()).add(texts)
    systems = {name: [found.count, found.hexdigest()] for name, found in of_system.items()}
    return {"written_by": WRITTEN_BY, "systems": systems, "metrics": metrics}


def read(folder: Path) -> list[dict[str, Any]]:
    """The states so far; a damaged line is left out, since it only tells what was."""
    try:
        lines = (folder / HISTORY).read_bytes().splitlines()
    except OSError:
        return []
    states = []
    for line in lines:
        try:
            state = json.loads(line)
            if isinstance(state["systems"], dict) and isinstance(state["metrics"], list):
                states.append(state)
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    return states


def record(folder: Path, state: dict[str, Any]) -> None:
    """Add a state, where it is not the last one's."""
    states = read(folder)
    if not states or states[-1] != state:
        lines = [json.dumps(one, ensure_ascii=False) for one in [*states, state]]
        write_whole(folder / HISTORY, "\n".join(lines) + "\n")


def news(states: list[dict[str, Any]]) -> str:
    """What the last state has that the one before had not, in a sentence; "" where there was none.

    >>> old = {"systems": {"a": [5, "x"]}, "metrics": ["boc"]}
    >>> news([old, {"systems": {"a": [5, "x"], "b": [4, "y"]}, "metrics": ["boc", "bor"]}])
    'New since the run before: system b (4 examples); metric bor.'
    """
    if len(states) < 2:
        return ""
    before, now = states[-2:]
    known = before["systems"]
    systems = [f"{name} ({found[0]:,} examples)" for name, found in now["systems"].items() if name not in known]
    changed = [name for name, found in now["systems"].items() if known.get(name, found) != found]
    gone = [name for name in known if name not in now["systems"]]
    added = [name for name in now["metrics"] if name not in before["metrics"]]
    dropped = [name for name in before["metrics"] if name not in now["metrics"]]
    parts = [
        f"{what if len(names) == 1 else many} {', '.join(names)}"
        for what, many, names in (
            ("system", "systems", systems),
            ("metric", "metrics", added),
            ("other texts of", "other texts of", changed),
            ("without the system", "without the systems", gone),
            ("without the metric", "without the metrics", dropped),
        )
        if names
    ]
    return f"New since the run before: {'; '.join(parts)}." if parts else ""
