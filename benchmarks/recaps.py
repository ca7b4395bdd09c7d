"""BoC and BoR on real recaps: a narrator's recap against the wiki's of the same episode, and of the next as a negative.

    python benchmarks/recaps.py --data FOLDER

FOLDER holds crd3_recaps.jsonl, JSON Lines in UTF-8 (benchmarks/README.md says where it comes from):
{"recap_narrator", "recap_wiki", "characters": [{"name", "aliases": [...]}]}
"""

import argparse
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import evaluate

METRICS = Path(__file__).resolve().parent.parent / "metrics"


def without_shared_aliases(characters: dict[str, list[str]]) -> dict[str, list[str]]:
    """Take out aliases that belong to two characters, which the metrics refuse; a character keeps its own name."""
    owners = Counter(alias for name, aliases in characters.items() for alias in {name, *aliases})
    return {name: [alias for alias in aliases if owners[alias] == 1] for name, aliases in characters.items()}


def main() -> None:
    """Print a table: right and wrong episode, macro and micro."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with crd3_recaps.jsonl")
    path = parser.parse_args().data / "crd3_recaps.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    lists = [without_shared_aliases({entry["name"]: entry["aliases"] for entry in row["characters"]}) for row in rows]
    narrator, wiki = ([row[name] for row in rows] for name in ("recap_narrator", "recap_wiki"))
    boc = evaluate.load(str(METRICS / "boc"))
    named = [
        bool(any(boc.explain(text, text, characters=c)["mentions"])) for text, c in zip(narrator, lists, strict=True)
    ]
    pairs = {
        "right episode": (narrator, wiki, lists),
        "right episode, narrator names somebody": tuple(
            [value for value, some in zip(column, named, strict=True) if some] for column in (narrator, wiki, lists)
        ),
        "next episode, its list": (narrator[:-1], wiki[1:], lists[1:]),
        "next episode, both lists": (
            narrator[:-1],
            wiki[1:],
            [without_shared_aliases({**one, **other}) for one, other in pairwise(lists)],
        ),
    }
    print(f"{len(rows)} episodes; in {named.count(False)} the narrator names nobody, which counts as 0\n")
    print(f"| against | average | BoC-p | BoC-r | BoC-F1 | BoR-p | BoR-r | BoR-F1 |\n|{'---|' * 8}")
    for label, (predictions, references, characters) in pairs.items():
        for average in ("macro", "micro"):
            result = {}
            for name in ("boc", "bor"):
                metric = evaluate.load(str(METRICS / name), average=average)
                result |= metric.compute(predictions=predictions, references=references, characters=characters)
            print(f"| {label} | {average} | {' | '.join(f'{value:.3f}' for value in result.values())} |")


if __name__ == "__main__":
    main()
