"""Which examples the report shows, and everything that it shows of them: texts and evidence, as JSON can write it."""

import random
from collections.abc import Callable, Iterable
from functools import cache
from itertools import combinations, islice
from typing import Any

import numpy as np

from ..inputs import Example
from ..score_table import Scores
from ..scoring import LOWER_IS_BETTER
from ..store import digest
from .evidence import LIMIT, views_of

SEED = 0
DIFFERENT, SAMPLE = "most different", "random sample"

Progress = Callable[[Iterable], Iterable]


def choose(scores: Scores, systems: list[str], keys: list[str], count: int) -> dict[str, str]:
    """The ids that are shown, and why: two thirds where systems differ most, and a seeded sample of the others.

    Pairs of systems and scores take turns, each for the example with the widest gap that is not chosen yet. Of a single
    system those with the worst scores are taken.

    Args:
        systems: in their order; the pairs of the first ones come first.
        keys: the scores that count.
    """
    scores = Scores.of(scores)
    ids = scores.ids
    chosen: dict[str, str] = {}
    wanted = min(count, len(ids)) if len(ids) <= count else -(-2 * count // 3)
    gaps = list(islice(_gaps(scores, systems, keys), 2 * wanted))  # as many as get a turn, and some that are nan
    while len(chosen) < wanted:
        before = len(chosen)
        for gap in gaps:
            if len(chosen) == wanted:
                break
            best = int(np.argmax(gap))
            if gap[best] > -np.inf:
                chosen.setdefault(ids[best], DIFFERENT)
                for other in gaps:
                    other[best] = -np.inf
        if len(chosen) == before:  # nothing differs, or is defined
            break
    rest = [name for name in ids if name not in chosen]
    drawn = random.Random(SEED).sample(rest, min(len(rest), count - len(chosen)))
    return chosen | dict.fromkeys(sorted(drawn, key=rest.index), SAMPLE)


def _gaps(scores: Scores, systems: list[str], keys: list[str]) -> Iterable[np.ndarray]:
    """For each pair of systems and score how far the two are apart on each id; -inf where that is undefined or 0."""

    table, place = cache(scores.table), {system: number for number, system in enumerate(scores.systems)}

    def values(system: str, key: str) -> np.ndarray:
        return table(key)[place[system]]

    if len(systems) == 1:
        for key in keys:
            turn = 1 if key in LOWER_IS_BETTER else -1
            yield np.nan_to_num(turn * values(systems[0], key), nan=-np.inf)
        return
    pairs = sorted(combinations(range(len(systems)), 2), key=lambda pair: (sum(pair), pair))
    for one, other in pairs:
        for key in keys:
            gap = np.abs(values(systems[one], key) - values(systems[other], key))
            yield np.where(np.nan_to_num(gap) > 0, gap, -np.inf)


def collect(
    chosen: dict[str, str],
    examples: list[Example],
    scores: Scores,
    scorers: list[Any],
    progress: Progress = iter,
) -> list[dict[str, Any]]:
    """Texts and evidence of the chosen ids, in their order; of each all systems that have it.

    Args:
        scorers: of the run; those of MSS, BoC and BoR have a ``metric`` that explains.
        progress: wraps the ids, for a bar.
    """
    of_id: dict[str, list[Example]] = {name: [] for name in chosen}
    for example in examples:
        if example.id in of_id:
            of_id[example.id].append(example)
    options = {scorer.name: scorer.given for scorer in scorers}
    explain = {scorer.name: scorer.metric.explain for scorer in scorers if scorer.name in ("mss", "boc", "bor")}
    found = []
    for name in progress(list(chosen)):
        listed = of_id[name]
        shown: dict[str, Any] = {"id": name, "chosen": chosen[name], "texts": [], "systems": []}
        for example in listed:
            used = {name for name in options if any(key.startswith(name) for key in scores[example.system, example.id])}
            views = views_of(
                example,
                {name: make for name, make in explain.items() if name in used},
                {name: given for name, given in options.items() if name in used},
            )
            # what a summary is compared with is the same for most systems: each such set of texts is kept once
            compared = {"documents": _short(example.documents), "references": _short(example.references)}
            compared["sources"] = views.get("support", {}).pop("sources", [])
            if compared not in shown["texts"]:
                shown["texts"].append(compared)
            place, (summary,) = shown["texts"].index(compared), _short([example.prediction])
            shown["systems"].append({"name": example.system, "summary": summary, "texts": place, "views": views})
        found.append(shown)
    return found


def key_of(chosen: dict[str, str], examples: list[Example], signatures: dict[str, str], known: Scores) -> str:
    """What the shown texts and evidence depend on."""
    parts = [
        [example.system, example.id, example.prediction, example.documents, example.references, example.characters]
        for example in examples
        if example.id in chosen
    ]
    keys = [sorted(known[system, name]) for system, name, *_ in parts]
    return digest("report 1", list(chosen.items()), signatures, parts, keys)


def _short(texts: list[str] | None) -> list[str]:
    return [
        text if len(text) <= LIMIT else f"{text[:LIMIT]}…\n\n[{len(text):,} characters; the first {LIMIT:,} are shown]"
        for text in texts or []
    ]
