"""A scale for readers: what texts whose worth is known get under each metric.

    python benchmarks/scale.py --data FOLDER [--sample 50] [--only summeval]

FOLDER holds any of these files, JSON Lines in UTF-8 (benchmarks/README.md says where they come from):

- summeval.jsonl, realsumm.jsonl, easc_arabic.jsonl: {"document", "references": [...]}, and where there are any
  "systems": [{"summary", "human": {...}}]. Arabic is scored with the offline model multilingual-e5-small-q4.
- crd3_recaps.jsonl: {"id", "recap_narrator", "recap_wiki", "characters": [{"name", "aliases": [...]}]}

For each kind of text, such as the reference itself, another reference, or another document's, prints the mean of each
score over the documents and, in brackets, the 5th to 95th percentile. SSS compares with the first reference, MSS
(alignment hybrid) with the document, BoC and BoR with the wiki's recap.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from recaps import without_shared_aliases
from samples import best_and_worst, partners, read_rows, short

from eval_summaries.shared import load_metric, texts

LANGUAGES = {"summeval": "en", "realsumm": "en", "easc_arabic": "ar"}
RECAPS = "crd3_recaps"
MULTILINGUAL = "multilingual-e5-small-q4"
Columns = dict[str, list[float]]  # score: its value for each example


def candidates(rows: list[dict], lang: str) -> dict[str, list[str]]:
    """The kinds of text, each with one for every document."""
    found = {"the reference itself": [row["references"][0] for row in rows]}
    if all(len(row["references"]) > 1 for row in rows):
        found["another reference"] = [row["references"][1] for row in rows]
    if all(row.get("systems") for row in rows):
        rated = [best_and_worst(row["systems"]) for row in rows]
        found["the system's summary rated best"] = [best for best, _ in rated]
        found["the system's summary rated worst"] = [worst for _, worst in rated]
    found["first 3 sentences of the document"] = [lead(row["document"], lang) for row in rows]
    found["the document whole"] = [row["document"] for row in rows]
    found["another document's reference"] = [rows[other]["references"][0] for other in partners(len(rows))]
    return found


def lead(text: str, lang: str) -> str:
    """The first three sentences.

    >>> lead("One ran. Two sat. Three ate. Four slept.", "en")
    'One ran. Two sat. Three ate.'
    """
    return " ".join(texts.sentences(text, lang)[:3])


def by_models(rows: list[dict], lang: str) -> dict[str, dict[str, Columns]]:
    """SSS and MSS of each kind of text: {metric: {kind: scores}}."""
    chosen = {"lang": lang} if lang == "en" else {"lang": lang, "model_name": MULTILINGUAL}
    sss, mss = load_metric("sss", chosen), load_metric("mss", {**chosen, "alignment": "hybrid"})
    references, documents = [row["references"][0] for row in rows], [row["document"] for row in rows]
    kinds = candidates(rows, lang)
    return {
        "SSS": {kind: sss.score(found, references) for kind, found in kinds.items()},
        "MSS": {kind: mss.score(found, documents) for kind, found in kinds.items()},
    }


def recaps(rows: list[dict]) -> dict[str, dict[str, Columns]]:
    """BoC and BoR of each kind of recap against the wiki's, with the list of characters of its episode."""
    lists = [without_shared_aliases({entry["name"]: entry["aliases"] for entry in row["characters"]}) for row in rows]
    wiki, narrator = ([row[name] for row in rows] for name in ("recap_wiki", "recap_narrator"))
    kinds = {
        "the wiki's recap itself": wiki,
        "the narrator's recap": narrator,
        "first 3 sentences of the wiki's recap": [lead(recap, "en") for recap in wiki],
        "another episode's wiki recap, same campaign": _elsewhere(rows, wiki, same=True),
        "another episode's narrator recap, same campaign": _elsewhere(rows, narrator, same=True),
        "another campaign's wiki recap": _elsewhere(rows, wiki, same=False),
    }
    found = {}
    for name in ("boc", "bor"):
        metric = load_metric(name, {})
        found[{"boc": "BoC", "bor": "BoR"}[name]] = {
            kind: metric.score(recap, wiki, characters=lists) for kind, recap in kinds.items() if recap
        }
    return found


def _elsewhere(rows: list[dict], recaps: list[str], same: bool) -> list[str]:
    """For each episode another one's recap, of its campaign or of another; none where some episode has no other.

    The campaign is what stands before the E of an id such as crd3-C1E001, each with a cast of its own.
    """
    campaigns = [row["id"].rpartition("E")[0] for row in rows]
    order, chosen = partners(len(rows)), []
    for row, campaign in enumerate(campaigns):
        other = order[row]
        while other != row and (campaigns[other] == campaign) != same:
            other = order[other]
        if other == row:
            return []
        chosen.append(recaps[other])
    return chosen


def spread(values: list[float]) -> str:
    """Mean, and 5th to 95th percentile, of the values that are defined.

    >>> spread([0.0, 0.5, 1.0, float("nan")])
    '.50 (.05-.95)'
    >>> spread([1.0, 1.0])
    '1.00'
    """
    found = [value for value in values if value == value]
    if not found:
        return ""
    low, high = (short(limit) for limit in np.percentile(found, [5, 95]))
    mean = short(float(np.mean(found)))
    return mean if low == high == mean else f"{mean} ({low}-{high})"


def show(metric: str, kinds: dict[str, Columns], unit: str) -> None:
    """Print the table of one metric."""
    keys = [key for key in next(iter(kinds.values())) if key != "mss_compression"]
    print(f"\n{metric}, {len(next(iter(kinds.values()))[keys[0]])} {unit}\n")
    print(f"| text | {' | '.join(f'`{key}`' for key in keys)} |\n|{'---|' * (len(keys) + 1)}")
    for kind, scores in kinds.items():
        undefined = max(sum(value != value for value in scores[key]) for key in keys)
        told = f" ({undefined} undefined)" if undefined else ""
        print(f"| {kind}{told} | {' | '.join(spread(scores[key]) for key in keys)} |")


def main() -> None:
    """Print the tables of each file that is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the files")
    parser.add_argument("--sample", type=int, help="so many documents of each file, drawn with a seed; else all")
    parser.add_argument("--only", choices=[*LANGUAGES, RECAPS], help="one of the files")
    given = parser.parse_args()
    names = [name for name in (*LANGUAGES, RECAPS) if given.only in (None, name)]
    present = [name for name in names if (given.data / f"{name}.jsonl").is_file()]
    if not present:
        parser.error(f"none of the files is in {given.data}")
    for name in present:
        rows = read_rows(given.data / f"{name}.jsonl", given.sample)
        unit = "episodes" if name == RECAPS else "documents"
        for metric, kinds in (recaps(rows) if name == RECAPS else by_models(rows, LANGUAGES[name])).items():
            show(f"{name}: {metric}", kinds, unit)


if __name__ == "__main__":
    main()
