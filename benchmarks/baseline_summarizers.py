"""The baselines on real texts: tables in the layouts of the papers, in Arabic, in English, and on transcripts.

    python benchmarks/baseline_summarizers.py --data FOLDER [--only easc,summeval,crd3] [--work FOLDER]

FOLDER holds easc_arabic.jsonl, summeval.jsonl and crd3_dialogue.jsonl (benchmarks/README.md says where they come from):
{"id", "document", "references"}, with "systems" in the second and "characters" in the third. Everything is done by the
two commands as a user would: documents are split by seed 0, the training part trains the heads and holds the
neighbours, and `eval_summaries` scores the rest.
"""

import argparse
import contextlib
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from recaps import without_shared_aliases
from samples import SEED, read_rows

from eval_summaries.cli import app as evaluate
from summarizers.cli import app as summarize

QUANTISED = "multilingual-e5-small-q4"
PARTS = ("easc", "summeval", "crd3")
COLUMNS = ["--documents", "document", "--references", "references", "--id", "id"]


def call(command, *arguments: object) -> float:
    """Run a command in this process; returns the seconds that it took."""
    start = time.perf_counter()
    status = command(args=[str(argument) for argument in arguments], standalone_mode=False)
    if status:
        raise SystemExit(f"status {status}: {' '.join(map(str, arguments))}")
    return time.perf_counter() - start


def split(rows: list[dict], share: float, group=lambda row: row["id"]) -> tuple[list[dict], list[dict]]:
    """A training and a test part of whole groups, by the seed."""
    groups = list(dict.fromkeys(map(group, rows)))
    drawn = set(random.Random(SEED).sample(groups, round(share * len(groups))))
    return [row for row in rows if group(row) in drawn], [row for row in rows if group(row) not in drawn]


def write(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def score(work: Path, rows: list[dict], metrics: str, *more: str) -> pd.DataFrame:
    """The scores of rows of several systems, by `eval_summaries`."""
    given = ["--predictions", "summary", "--references", "references", "--system", "system", "--id", "id"]
    file = write(work / "systems.jsonl", rows)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        call(evaluate, file, *given, "--metrics", metrics, "--out", work / "scores", *more)
    return pd.read_csv(work / "scores" / "scores.csv")


SSS_COLUMNS = {"BLEU": "bleu", "ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL", "SSS": "sss"}


def table(work: Path, columns: dict[str, str], order: list[str] | None = None) -> None:
    """Print means and standard deviations of the examples, with the ranking's letters and lengths; best SSS first."""
    scores = pd.read_csv(work / "scores" / "scores.csv")
    ranking = pd.read_csv(work / "scores" / "ranking.csv").set_index("system")
    print(f"| system | {' | '.join(columns)} | words |\n|{'---|' * (len(columns) + 2)}")
    for system in order or ranking.sort_values("sss", ascending=False).index:
        mine, cells = scores[scores["system"] == system], []
        for key in columns.values():
            digits = 4 if key == "tsss" else 3
            shown = f"{mine[key].mean():.{digits}f} ± {mine[key].std():.{digits - 1}f}"
            cells.append(f"{shown} {ranking[f'{key}_letters'][system]}" if f"{key}_letters" in ranking else shown)
        print(f"| {system} | {' | '.join(cells)} | {ranking['words'][system]:.0f} |")
    print()


def baselines(work: Path, train: Path, test: Path, length: list, encoder: list, trained: dict[str, list]) -> list[dict]:
    """The summaries of all extractive baselines: rows, as the commands write them; what each cost is printed."""
    rows, costs = [], {}

    def keep(name: str, file: Path) -> None:
        rows.extend({**json.loads(line), "system": name} for line in file.read_text(encoding="utf-8").splitlines())

    plain = {"Oracle": ("oracle",), "K-Means": ("kmeans", *encoder), "TextRank": ("textrank",)}
    plain |= {"bag of words": ("bag-of-words",), "lead": ("lead",), "random": ("random",)}
    for name, command in plain.items():
        out = work / f"{command[0]}.jsonl"
        costs[name] = call(summarize, command[0], test, *COLUMNS, *command[1:], *length, "--out", out)
        keep(name, out)
    for name, options in trained.items():
        model, out = work / name.replace(" ", "_"), work / f"{name}.jsonl"
        how = ["--validation", 0.15, "--seed", SEED]
        costs[f"{name}, training"] = call(
            summarize, "train", "sarabert", train, *COLUMNS, *options, *length, *how, "--out", model
        )
        costs[name] = call(summarize, "sarabert", test, *COLUMNS, "--model", model, "--out", out)
        keep(name, out)
    whole = sum(costs.values())
    print("Shares of the time: " + ", ".join(f"{name} {cost / whole:.1%}" for name, cost in costs.items()) + "\n")
    return rows


def arabic(data: Path, work: Path) -> None:
    """Table IX of the SSS paper: its rows and columns, on the encoder that works without a network."""
    train, test = split(read_rows(data / "easc_arabic.jsonl"), 0.7)
    print(f"## EASC, Arabic: {len(train)} documents to learn from, {len(test)} for the table, 5 references each\n")
    files = write(work / "train.jsonl", train), write(work / "test.jsonl", test)
    encoder, lang = ["--encoder", QUANTISED], ["--lang", "ar"]
    trained = {f"SAraBERT {head}": [*encoder, "--head", head] for head in ("mlp", "rnn", "transformer")}
    rows = baselines(work, *files, ["--ratio", 0.4, *lang], encoder, trained)
    options = [f"{metric}.{option}" for metric in ("sss", "tsss") for option in ("lang=ar", f"model_name={QUANTISED}")]
    sets = [part for option in options for part in ("--set", option)]
    score(work, rows, "bleu,rouge,sss,bertscore,tsss", *sets)
    columns = SSS_COLUMNS | {"BS": "bertscore_f1", "TS-SS": "tsss"}
    table(work, columns, ["Oracle", *trained, "K-Means", "TextRank", "bag of words", "lead", "random"])


def english(data: Path, work: Path) -> None:
    """The same on SummEval, ranked among its 16 systems."""
    documents = [{**row, "references": row["references"][:5]} for row in read_rows(data / "summeval.jsonl")]
    train, test = split(documents, 0.7)
    print(f"## SummEval, English: {len(train)} documents to learn from, {len(test)} for the table, 5 references each\n")
    strip = lambda rows: [{key: row[key] for key in ("id", "document", "references")} for row in rows]  # noqa: E731
    files = write(work / "train.jsonl", strip(train)), write(work / "test.jsonl", strip(test))
    trained = {f"SAraBERT {head}, frozen": ["--freeze", "--head", head] for head in ("mlp", "rnn", "transformer")}
    trained["SAraBERT rnn"] = ["--head", "rnn", "--epochs", 4, "--learning-rate", 1e-4]
    rows = baselines(work, *files, ["--sentences", 3], [], trained)
    for row in test:
        shared = {"id": row["id"], "references": row["references"]}
        rows += [{**shared, "system": one["system"], "summary": one["summary"]} for one in row["systems"]]
    score(work, rows, "bleu,rouge,sss")
    table(work, SSS_COLUMNS)


def transcripts(data: Path, work: Path) -> None:
    """SummScreen's rows: nearest neighbours on chunks of transcripts, split by episode."""
    rows = read_rows(data / "crd3_dialogue.jsonl")
    for row in rows:
        row["characters"] = without_shared_aliases({one["name"]: one["aliases"] for one in row["characters"]})
    train, test = split(rows, 0.75, group=lambda row: row["id"].split("-chunk")[0])
    print(f"## CRD3: {len(train)} chunks of transcripts to look in, {len(test)} of other episodes for the table\n")
    files = write(work / "train.jsonl", train), write(work / "test.jsonl", test)
    found, order = [], []
    runs = [(how, by) for how in ("r2t", "t2t", "r2r") for by in ("bm25", "rouge")] + [("r2r", "characters")]
    for how, by in runs:
        name, out = f"nearest {how}, {by}", work / f"{how}_{by}.jsonl"
        more = ["--train", files[0]] if how != "r2t" else []
        call(
            summarize, "nearest", how, files[1], *COLUMNS, "--characters", "characters", *more, "--by", by, "--out", out
        )
        found += [{**json.loads(line), "system": name} for line in out.read_text(encoding="utf-8").splitlines()]
        order.append(name)
    scores = score(work, found, "bleu,rouge,boc,bor", "--characters", "characters")
    keys = ["bleu", "rouge1", "rouge2", "rougeL", "boc_precision", "boc_recall", "bor_precision", "bor_recall"]
    scores[keys] *= 100
    means = scores.groupby("system")[keys].mean()
    print("| system | BLEU | R1 | R2 | RL | average | BoC-p | BoC-r | BoR-p | BoR-r | average |\n" + f"|{'---|' * 11}")
    for name in order:
        generic, names = means.loc[name, keys[:4]].tolist(), means.loc[name, keys[4:]].tolist()
        cells = [*generic, sum(generic) / 4, *names, sum(names) / 4]
        print(f"| {name} | {' | '.join(f'{value:.1f}' for value in cells)} |")
    print()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the files")
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--work", type=Path, help="empty folder for what is made on the way; else it is not kept")
    given = parser.parse_args()
    parts = {"easc": arabic, "summeval": english, "crd3": transcripts}
    with tempfile.TemporaryDirectory() as temporary:
        for name in given.only.split(","):
            work = (given.work or Path(temporary)) / name
            work.mkdir(parents=True)
            parts[name](given.data, work)


if __name__ == "__main__":
    main()
