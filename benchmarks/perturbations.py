"""A stress test: which scores fall when a summary is made worse in a known way.

    python benchmarks/perturbations.py --data FOLDER [--sample 20] [--only summeval] [--fast]

FOLDER holds any of these files, JSON Lines in UTF-8 (benchmarks/README.md says where they come from):

- summeval.jsonl: the summary that people rated best, against the first reference and the document
- easc_arabic.jsonl: the first extract, against the second and the document, by the offline model
  multilingual-e5-small-q4; names are not changed, as nothing in the script tells them
- crd3_recaps.jsonl: the narrator's recap, against the wiki's: BoC and BoR, with the wiki's list of characters

Prints for each change and score the share of examples in which the score gets worse (it falls; of `tsss` and the
counts of `stats_` it rises), in brackets the share in which it stays (within 1e-5) where there is one; then the mean
change. n is how many examples the change really changed. `--fast` leaves out the scores that need a model.
"""

import argparse
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import changes
from changes import Base
from recaps import without_shared_aliases
from samples import SEED, best_and_worst, partners, read_rows, short

from eval_summaries.bertscore import BertScore
from eval_summaries.inputs import Example
from eval_summaries.outside import Bleu, Chrf, Outside, Rouge, TsSs
from eval_summaries.shared import load_metric
from eval_summaries.stats import Stats

SAME = 1e-5  # what the metrics promise to repeat
MULTILINGUAL = "multilingual-e5-small-q4"
RISES = ("tsss", "stats_repeated_3grams", "stats_unsupported_numbers", "stats_unsupported_names")
Scores = dict[str, list[float]]


class Table(NamedTuple):
    """Scores that are shown together: what they compare with, their keys, and how they are computed."""

    title: str
    keys: tuple[str, ...]
    score: Callable[[list[Example]], Scores]


def bases_of(rows: list[dict], name: str) -> list[Base]:
    """The texts that are changed, each with what it is compared with and another one of the set."""
    if name == "crd3_recaps":
        rows = [row for row in rows if row["recap_narrator"].strip()]
        boc = load_metric("boc", {})
        made = []
        for row in rows:
            people = without_shared_aliases({entry["name"]: entry["aliases"] for entry in row["characters"]})
            found = boc.explain(row["recap_narrator"], row["recap_wiki"], characters=people)["mentions"]
            names = sorted((a, b, who) for who, places in found.items() for a, b in places["prediction"])
            made.append(Base(row["recap_narrator"], row["recap_wiki"], None, "en", names, characters=people))
    else:
        lang = "ar" if name == "easc_arabic" else "en"
        made = []
        for row in rows:
            text, reference = row["references"][:2]
            if row.get("systems"):
                text, reference = best_and_worst(row["systems"])[0], row["references"][0]
            made.append(
                Base(
                    text,
                    reference,
                    row["document"],
                    lang,
                    changes.names_of(text, row["document"]) if lang == "en" else [],
                )
            )
    return [base._replace(other=made[other]) for base, other in zip(made, partners(len(made)), strict=True)]


def tables_of(name: str, fast: bool) -> list[Table]:
    """The scores of a set."""
    if name == "crd3_recaps":
        keys = tuple(f"{metric}_{part}" for metric in ("boc", "bor") for part in ("precision", "recall", "f1"))
        return [Table("against the reference", keys, _people)]
    model = {} if name == "summeval" else {"lang": "ar", "model_name": MULTILINGUAL}
    outside: list[Outside] = [Rouge("rouge", {}), Bleu("bleu", {}), Chrf("chrf", {})]
    stats = [Stats("stats", {} if name == "summeval" else {"lang": "ar"})]
    keys, noticing = ("rouge1", "rouge2", "rougeL", "bleu", "chrf"), RISES[1:]
    if fast:
        metrics = [{}, {}]
    else:
        outside += [TsSs("tsss", model), *([BertScore("bertscore", {})] if name == "summeval" else [])]
        metrics = [{"sss": model}, {"mss": {**model, "alignment": "hybrid"}}]
        keys = ("sss", *keys, *(("bertscore_f1",) if name == "summeval" else ()), "tsss")
        noticing = ("mss", "mss_support", "mss_coverage", "mss_f1", *noticing)
    return [
        Table("against the reference", keys, _scorer(metrics[0], outside)),
        Table("against the document", noticing, _scorer(metrics[1], stats)),
    ]


def _scorer(metrics: dict[str, dict[str, Any]], outside: list[Outside]) -> Callable[[list[Example]], Scores]:
    def score(examples: list[Example]) -> Scores:
        found: Scores = {}
        texts = [example.prediction for example in examples]
        for name, options in metrics.items():
            against = [e.references[0] if name == "sss" else e.documents[0] for e in examples]
            found |= load_metric(name, options).score(texts, against)
        for scorer in outside:
            scorer.start(examples)
            found |= scorer.score(examples)
        return found

    return score


def _people(examples: list[Example]) -> Scores:
    columns = [e.prediction for e in examples], [e.references[0] for e in examples]
    people = [e.characters for e in examples]
    return {
        key: values
        for name in ("boc", "bor")
        for key, values in load_metric(name, {}).score(*columns, characters=people).items()
    }


def perturb(bases: list[Base]) -> dict[str, dict[int, str]]:
    """{change: {number of the base: changed text}}, only where the text did change; the same in every run."""
    found: dict[str, dict[int, str]] = {}
    for name, change in changes.CHANGES.items():
        made = {row: change(base, random.Random(f"{SEED} {name} {row}")) for row, base in enumerate(bases)}
        found[name] = {row: text for row, text in made.items() if text is not None and text != bases[row].text}
    return {name: texts for name, texts in found.items() if texts}


def worse(before: list[float], after: list[float], rises: bool = False) -> tuple[float, float, float, int]:
    """Share of the examples that got worse, share that stayed, mean change, and how many are defined in both.

    >>> worse([0.5, 0.5, 0.5, float("nan")], [0.25, 0.5, 0.75, 0.1])
    (0.3333333333333333, 0.3333333333333333, 0.0, 3)
    """
    moved = np.subtract(after, before)
    moved = moved[~np.isnan(moved)]
    if not moved.size:
        return np.nan, np.nan, np.nan, 0
    down = moved > SAME if rises else moved < -SAME
    return float(down.mean()), float((np.abs(moved) <= SAME).mean()), float(moved.mean()), moved.size


def show(name: str, bases: list[Base], table: Table) -> None:
    """Score the texts as they were and all changed ones, and print what got worse and by how much."""
    changed = perturb(bases)
    examples = [_example(base, base.text) for base in bases]
    examples += [_example(bases[row], text) for texts in changed.values() for row, text in texts.items()]
    scores = table.score(examples)
    keys = [key for key in table.keys if not np.isnan(scores[key][: len(bases)]).all()]
    header = f"| change | n | {' | '.join(f'`{key}`' for key in keys)} |\n|{'---|' * (len(keys) + 2)}"
    shares, means = [], []
    unchanged = [short(float(np.nanmean(scores[key][: len(bases)]))) for key in keys]
    start = len(bases)
    for change, texts in changed.items():
        end = start + len(texts)
        found = [worse([scores[key][row] for row in texts], scores[key][start:end], rises=key in RISES) for key in keys]
        start = end
        shares.append(f"| {change} | {len(texts)} | {' | '.join(map(_cell, found))} |")
        means.append(f"| {change} | {len(texts)} | {' | '.join(_mean(one) for one in found)} |")
    print(f"\n{name}, {len(bases)} texts, {table.title}: share that gets worse (and that stays)\n\n{header}")
    print("\n".join(shares))
    print(f"\n{name}, {table.title}: mean change\n\n{header}\n| unchanged: mean | {len(bases)} | ", end="")
    print(" | ".join(unchanged), "|\n" + "\n".join(means))


def _example(base: Base, text: str) -> Example:
    documents = None if base.document is None else [base.document]
    return Example("", "", text, [base.reference], documents, base.characters)


def _cell(found: tuple[float, float, float, int]) -> str:
    share, same, _, defined = found
    if not defined:
        return ""
    return short(share) + (f" ({short(same)})" if same else "")


def _mean(found: tuple[float, float, float, int]) -> str:
    return short(found[2], sign="+") if found[3] else ""


def main() -> None:
    """Print the tables of each file that is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sets = ("summeval", "easc_arabic", "crd3_recaps")
    parser.add_argument("--data", type=Path, required=True, help="folder with the files")
    parser.add_argument("--sample", type=int, help="so many rows of each file, drawn with a seed; else all")
    parser.add_argument("--only", choices=sets, help="one of the files")
    parser.add_argument("--fast", action="store_true", help="only scores that need no model")
    given = parser.parse_args()
    present = [name for name in sets if (given.data / f"{name}.jsonl").is_file() and given.only in (None, name)]
    if not present:
        parser.error(f"none of the files is in {given.data}")
    for name in present:
        bases = bases_of(read_rows(given.data / f"{name}.jsonl", given.sample), name)
        for table in tables_of(name, given.fast):
            show(name, bases, table)


if __name__ == "__main__":
    main()
