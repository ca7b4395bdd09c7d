"""How fast the metrics are: one table of ratios against the plain baselines of baselines.py.

    python benchmarks/speed.py [--data FOLDER] [--quick] [--rounds N] [--only WORD] [--json FILE]

The two sides of a row run in turn in one process, N times (5, or 3 where the baseline is slow); a row shows the median
of the ratios and the lowest and highest. Before a row is timed, both sides must give the same numbers (of a slow
baseline: for a dozen examples). FOLDER holds summeval.jsonl and squality_humaneval.jsonl (benchmarks/README.md);
without it texts of the same sizes are made up. --quick takes few documents: for a look, not for a claim. What doubled
input costs: benchmarks/growth.py.
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import baselines
import speed_processes
import speed_texts

from eval_summaries.shared import load_metric, script_of
from metrics._shared import backends, models
from metrics._shared.embedder import Embedder
from metrics._shared.texts import words
from metrics.sss.rouge import rouge_l, rouge_n

Work = Callable[[], Any]


class Row(NamedTuple):
    """A line of the table: two ways to do something, and the ratio that is asked for."""

    work: str
    against: str
    ours: Work
    theirs: Work
    check: Callable[[], None]  # SystemExit where the two sides differ
    target: float | None = None
    least: bool = True  # times as fast, at least the target; else a share of the other's time, under it
    rounds: int = 5
    note: Callable[[list[float]], str] = lambda seconds: ""  # said of our seconds


def _same(what: str, ours: Any, theirs: Any, within: float = 1e-4) -> None:
    ours, theirs = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    apart = float(np.abs(ours - theirs).max()) if ours.shape == theirs.shape else float("inf")
    if not apart <= within:
        raise SystemExit(f"{what}: the two sides differ by {apart:.2g}, so there is nothing to compare in time")


def _forget(metric: Any) -> None:
    """No vector from an earlier run."""
    sys.modules[script_of(metric).Embedder.__module__].CACHE.clear()


def _fresh(metric: Any, *texts: list[str], **options: Any) -> dict[str, list[float]]:
    _forget(metric)
    return metric.score(*texts, **options)


# ---- rows ------------------------------------------------------------------------------------------------------------


def mss_rows(news: speed_texts.Texts, stories: speed_texts.Texts) -> Iterator[Row]:
    """MSS against one call of the encoder for each chunk of each pair."""
    mss, encoder = load_metric("mss", {"device": "cpu"}), baselines.OneByOne()
    for texts, strategy, target in ((news, "joined", 12.0), (stories, "joined", 20.0), (news, "sentences", None)):
        ours, theirs = texts.pairs()
        systems = len(texts.summaries[0])
        if target is None:
            ours, theirs = ours[: 10 * systems], theirs[: 10 * systems]

        def check(ours: list[str] = ours, theirs: list[str] = theirs, strategy: str = strategy) -> None:
            few = slice(None, None, max(1, len(ours) // 12))
            plain = baselines.mss(encoder, ours[few], theirs[few], strategy)
            _same("MSS", _fresh(mss, ours, theirs, strategy=strategy)["mss"][few], plain)

        yield Row(
            f"MSS `{strategy}`, {systems} summaries of each of {len(ours) // systems} documents ({texts.what})",
            "an encode call for each chunk",
            lambda ours=ours, theirs=theirs, strategy=strategy: _fresh(mss, ours, theirs, strategy=strategy),
            lambda ours=ours, theirs=theirs, strategy=strategy: baselines.mss(encoder, ours, theirs, strategy),
            check,
            target,
            rounds=3,
        )


def rouge_rows() -> Iterator[Row]:
    """ROUGE and the words that it needs against rouge-score."""

    def ours(pairs: list[tuple[str, str]]) -> list[tuple[float, ...]]:
        cut = [(words(one), words(other)) for one, other in pairs]
        return [(rouge_n(a, b, 1).f1, rouge_n(a, b, 2).f1, rouge_l(a, b).f1) for a, b in cut]

    for length, count, target in ((60, 200, 12.0), (1000, 4, 250.0)):
        pairs = speed_texts.random_pairs(count, length)
        yield Row(
            f"ROUGE-1, -2, -L with its words, pairs of {length:,} words",
            "rouge-score 0.1.2",
            lambda pairs=pairs: ours(pairs),
            lambda pairs=pairs: baselines.rouge(pairs),
            lambda pairs=pairs: _same("ROUGE", ours(pairs), baselines.rouge(pairs), 1e-12),
            target,
        )


def sss_rows(news: speed_texts.Texts) -> Iterator[Row]:
    """SSS against its own plain loop and against BERTScore on the same encoder."""
    sss, encoder = load_metric("sss", {"device": "cpu"}), baselines.OneByOne()
    ours, theirs = news.with_references()
    pairs = f"SSS, {len(ours):,} pairs ({news.what})"

    def check() -> None:
        few = slice(None, None, max(1, len(ours) // 50))
        _same("SSS", _fresh(sss, ours, theirs)["sss"][few], baselines.sss(encoder, ours[few], theirs[few]))

    yield Row(
        pairs,
        "rouge-score, an encode call for each text",
        lambda: _fresh(sss, ours, theirs),
        lambda: baselines.sss(encoder, ours, theirs),
        check,
        rounds=3,
    )
    scorer = baselines.bertscore()

    def check_half() -> None:
        half, whole = (_fresh(sss, ours, theirs, dtype=dtype)["sss"] for dtype in ("bfloat16", "float32"))
        _same("SSS in bfloat16", half, whole, 0.01)

    rows = [("float32", 1.35, check)]
    if any(models.cpu_features().get(name) for name in ("avx512_bf16", "amx_bf16", "bf16")):
        rows.append(("bfloat16", 2.3, check_half))
    for dtype, target, checked in rows:
        yield Row(
            f"{pairs}, {dtype}",
            "bert-score 0.3.13, same encoder, float32",
            lambda dtype=dtype: _fresh(sss, ours, theirs, dtype=dtype),
            lambda: scorer.score(ours, theirs),
            checked,
            target,
        )


def again_rows(news: speed_texts.Texts) -> Iterator[Row]:
    """The second time: the same references or documents, and texts of another system."""
    sss, mss = load_metric("sss", {"device": "cpu"}), load_metric("mss", {"device": "cpu"})
    first, second = ([found[number] for found in news.summaries] for number in (0, 1))
    for metric, fixed, what, target in (
        (sss, news.references, "SSS, second system, as many references as texts", 0.55),
        (mss, news.documents, "MSS, second system on the same documents", 0.25),
    ):
        key = what[:3].lower()

        def check(metric: Any = metric, fixed: list[str] = fixed, key: str = key) -> None:
            alone = _fresh(metric, second, fixed)[key]
            _fresh(metric, first, fixed)
            _same(key, metric.score(second, fixed)[key], alone, 0.0)

        yield Row(
            what,
            "the first",
            # runs after the first, whose vectors it finds
            lambda metric=metric, fixed=fixed: metric.score(second, fixed),
            lambda metric=metric, fixed=fixed: _fresh(metric, first, fixed),
            check,
            target,
            least=False,
        )


def encoder_rows(news: speed_texts.Texts) -> Iterator[Row]:
    """Tokens per second, from texts to vectors, against the model's forward pass alone on tokens made before."""
    (backend,) = backends.load_backends("en", None, None, "cpu")
    texts = list(dict.fromkeys(text for found in news.summaries for text in found))
    pieces = [piece for parts in backend.split(texts) for piece in parts]
    ids, maker = [piece.payload for piece in pieces], Embedder([backend], 32, 0)

    def bare(budget: int) -> float:
        started = time.perf_counter()
        baselines.forward(backend.model, ids, budget)
        return time.perf_counter() - started

    budget = 0

    def check() -> None:
        nonlocal budget
        bare(4096)  # warm
        budget = min((1024, 2048, 4096, 8192), key=lambda size: min(bare(size) for _ in range(2)))
        if len(pieces) == len(texts):  # no text has several windows
            _same("vectors", maker.encode(texts), baselines.forward(backend.model, ids, budget))

    tokens = sum(map(len, ids))
    padding = 1 - tokens / sum(piece.size for piece in pieces)
    yield Row(
        f"encoder, {len(texts):,} summaries of {tokens / len(ids):.0f} tokens ({news.what}), from texts to vectors",
        "bare forward loop over sorted batches of the best size, tokenized before",
        lambda: maker.encode(texts),
        lambda: baselines.forward(backend.model, ids, budget),
        check,
        0.95,
        note=lambda seconds: f"{padding:.1%} of our tokens are padding; best size {budget:,} tokens",
    )


def names_rows(quick: bool) -> Iterator[Row]:
    """BoC against one regular expression for each name."""
    listed, text = speed_texts.with_names(200_000 if quick else 2_000_000, 500)
    predictions, references = [text], [text[: len(text) // 2]]
    boc = load_metric("boc", {"characters": listed, "counting": "multiset"})
    megabytes = sum(map(len, predictions + references)) / 1e6

    def check() -> None:
        plain = baselines.boc_f1(listed, predictions, references)
        _same("BoC", boc.score(predictions, references)["boc_f1"], plain, 1e-12)

    yield Row(
        f"BoC, 500 names, one word in seven a name, {megabytes:.1f} MB",
        "a regular expression for each name",
        lambda: boc.score(predictions, references),
        lambda: baselines.boc_f1(listed, predictions, references),
        check,
        100.0,
        rounds=3,
        note=lambda seconds: f"{megabytes / statistics.median(seconds):.0f} MB/s, at least 10 asked",
    )


# ---- the table -------------------------------------------------------------------------------------------------------


def measure(row: Row, rounds: int | None) -> dict[str, Any]:
    """Both sides in turn, so often, after the check: the ratio of each round."""
    row.check()
    seconds: dict[str, list[float]] = {"theirs": [], "ours": []}
    for _ in range(rounds or row.rounds):
        for side, work in (("theirs", row.theirs), ("ours", row.ours)):
            started = time.perf_counter()
            work()
            seconds[side].append(time.perf_counter() - started)
    both = zip(seconds["theirs"], seconds["ours"], strict=True)
    ratios = [theirs / ours if row.least else ours / theirs for theirs, ours in both]
    return _told(row.work, row.against, ratios, row.target, row.least, row.note(seconds["ours"])) | {"seconds": seconds}


def _told(
    work: str, against: str, ratios: list[float], target: float | None, least: bool, note: str = ""
) -> dict[str, Any]:
    median = statistics.median(ratios)
    reached = None if target is None else median >= target if least else median < target
    found = {"work": work, "against": against, "ratios": ratios, "median": median, "low": min(ratios)}
    return found | {"high": max(ratios), "target": target, "least": least, "reached": reached, "note": note}


def show(found: dict[str, Any]) -> str:
    """A line of the table.

    >>> print(show(_told("a", "b", [9.0, 12.5, 130.0], 12, True, "fast")))
    | a | b | 12x (9.0x to 130x) | at least 12x | yes | fast |
    >>> print(show(_told("a", "b", [0.5, 0.6, 0.61], 0.55, False)))
    | a | b | 0.60 (0.50 to 0.61) | under 0.55 | **no** | |
    """
    unit = "x" if found["least"] else ""

    def number(value: float) -> str:
        return f"{value:.{0 if value >= 10 and unit else 1 if value >= 2 else 2}f}{unit}"

    spread = f"{number(found['median'])} ({number(found['low'])} to {number(found['high'])})"
    asked = "" if found["target"] is None else f"{'at least' if unit else 'under'} {found['target']:g}{unit}"
    reached = {None: "", True: "yes", False: "**no**"}[found["reached"]]
    cells = (found["work"], found["against"], spread, asked, reached, found["note"])
    return f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |")


def rows_of(given: argparse.Namespace) -> Iterator[Row]:
    """All rows that are measured in this process, made one after the other: a model is loaded when its row comes."""
    if given.quick:
        news, stories = speed_texts.news(given.data, 3).of(8), speed_texts.stories(given.data, 1).of(3)
    else:
        news, stories = speed_texts.news(given.data, 100), speed_texts.stories(given.data, 20)
    yield from mss_rows(news, stories)
    yield from rouge_rows()
    yield from sss_rows(news)
    yield from again_rows(news)
    yield from encoder_rows(news)
    yield from names_rows(given.quick)


def process_rows(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The rows that start processes of their own, measured."""
    systems = "2 systems, 3 documents" if given.quick else "16 systems, 100 documents"
    work = f"`eval_summaries`: {systems}, sss, mss, rouge, bleu, stats, comparisons, report"
    if given.only in work:
        news = speed_texts.news(given.data, 3).of(2) if given.quick else speed_texts.news(given.data, 100)
        ratios = speed_processes.command_ratios(news, given.rounds or 3)
        yield _told(work, "the model's forward pass in it", ratios, 1.5, False, "from the start of the process")
    work = "`evaluate.load`, slowest of the four"
    if given.only in work:
        ratios = speed_processes.load_ratios(given.rounds or 5)
        yield _told(work, "`import evaluate`", ratios, 0.1, False, "no metric imports torch")


def main() -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the files")
    parser.add_argument("--quick", action="store_true", help="few documents, two rounds")
    parser.add_argument("--rounds", type=int, help="how often each row is measured")
    parser.add_argument("--only", default="", help="only rows with this word")
    parser.add_argument("--json", type=Path, help="also write every round's seconds and ratios there")
    given = parser.parse_args()
    given.rounds = given.rounds or (2 if given.quick else None)
    print("| work | against | median (lowest to highest) | asked | reached | |\n|---|---|---|---|---|---|", flush=True)
    found = []
    for row in rows_of(given):
        if given.only in row.work:
            found.append(measure(row, given.rounds))
            print(show(found[-1]), flush=True)
    for told in process_rows(given):
        found.append(told)
        print(show(told), flush=True)
    if given.json:
        import torch

        about = {"python": sys.version.split()[0], "torch": torch.__version__, "threads": torch.get_num_threads()}
        about |= {"cores": os.cpu_count(), "quick": given.quick, "data": given.data is not None}
        given.json.write_text(json.dumps({**about, "rows": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
