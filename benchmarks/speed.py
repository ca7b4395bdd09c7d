"""How fast the parts are, as ratios within one run (best of several): against a named baseline, or of doubled input.

python benchmarks/speed.py
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rouge_score.rouge_scorer import RougeScorer, _lcs_table

from metrics._shared import backends, embedder
from metrics._shared.characters import CharacterList
from metrics._shared.texts import sentences, words
from metrics.sss.rouge import _lcs_length, rouge_l, rouge_lsum, rouge_n

PROSE = (
    "The river rose all night, and by dawn the old town stood under water. Dr. Amal counted 40 people in the school. "
    "“Nobody is missing,” she said. Would the bridge hold? The engineers, who had come at 5 a.m., did not know.\n"
)


def best(work: Callable[[], object], times: int = 3) -> float:
    """Seconds of the fastest of several runs."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        found.append(time.perf_counter() - started)
    return min(found)


def rouge() -> None:
    """ROUGE against rouge-score 0.1.2, which fills its LCS table in Python."""
    rng, scorer = np.random.default_rng(0), RougeScorer(["rouge1", "rouge2", "rougeL"])
    for count in (50, 200, 1000):
        one, other = (" ".join(f"w{number}" for number in rng.integers(0, count, count)) for _ in range(2))
        theirs = best(lambda one=one, other=other: scorer.score(other, one))

        def rouge(one: str = one, other: str = other) -> tuple:
            a, b = words(one), words(other)
            return rouge_n(a, b, 1), rouge_n(a, b, 2), rouge_l(a, b)

        ours = best(rouge, 10)
        print(f"  ROUGE-1, -2, -L of {count:>4} words: {theirs / ours:5.0f} times as fast as rouge-score 0.1.2")
        one, other = words(one), words(other)
        theirs = best(lambda one=one, other=other: _lcs_table(other, one))
        ours = best(lambda one=one, other=other: _lcs_length(one, other), 10)
        print(f"  longest common subsequence: {theirs / ours:5.0f} times as fast as its table")
    lines = ["\n".join(" ".join(f"w{n}" for n in rng.integers(0, 400, 20)) for _ in range(30)) for _ in range(2)]
    cut = [[words(line) for line in text.split("\n")] for text in lines]
    theirs = best(lambda: RougeScorer(["rougeLsum"]).score(*lines))
    print(
        f"  ROUGE-Lsum of 30 sentences each: {theirs / best(lambda: rouge_lsum(cut[1], cut[0]), 10):5.0f} times as fast"
    )


def texts() -> None:
    """Sentences and words of 1 MB, and what doubling the text costs."""
    hostile = {"prose": PROSE, "unclosed quotes": "“x. ", "full stops": ".", "spaced stops": ". ", "blank lines": "\n"}
    for name, unit in hostile.items():
        half, whole = ((unit * (size // len(unit) + 1))[:size] for size in (500_000, 1_000_000))
        first, second = best(lambda half=half: sentences(half)), best(lambda whole=whole: sentences(whole))
        print(f"  sentences, {name:>15}: {second:5.2f} s for 1 MB, {second / first:4.1f} times its half")
    whole = (PROSE * (1_000_000 // len(PROSE) + 1))[:1_000_000]
    print(f"  words,     {'prose':>15}: {best(lambda: words(whole)):5.2f} s for 1 MB")


def characters() -> None:
    """Names in 10 MB of text: what doubling the text and the names costs."""
    rng = np.random.default_rng(0)
    vocabulary = words(PROSE)
    names = [
        f"{first}{second}{number}" for number, (first, second) in enumerate(rng.choice(["Ka", "Lo", "Mi"], (1000, 2)))
    ]

    def text(size: int, count: int) -> str:
        drawn = rng.choice([*vocabulary * 100, *names[:count]], size // 4)
        return " ".join(drawn)[:size]

    small, large = text(5_000_000, 500), text(10_000_000, 500)
    few, many = CharacterList(names[:500]), CharacterList(names)
    base = best(lambda: few.mentions(large))
    print(f"  500 names, 10 MB: {10 / base:.0f} MB/s, {len(few.mentions(large))} mentions")
    print(f"  twice the text: {base / best(lambda: few.mentions(small)):.1f} times the time")
    print(f"  twice the names: {best(lambda: many.mentions(large)) / base:.1f} times the time")
    compiled = best(lambda: CharacterList([f"Name{number}" for number in range(10_000)]))
    print(f"  compiling 10,000 names: {compiled:.2f} s")
    hostile = {
        "names within names, one word": (["a" * k for k in range(1, 101)], "a"),
        "names within names, unspaced": (["王" * k for k in range(1, 101)], "王"),
        "names within names, phrases": ([" ".join("a" * k) for k in range(1, 101)], "a "),
        "a look far ahead each time": (["a", " ".join("a" * 100) + " x"], "a "),
        "runs of combining marks": (["a"], "\u0301\u0323"),
    }
    for what, (listed, unit) in hostile.items():
        found = CharacterList(listed)
        half, whole = (unit * (size // len(unit)) for size in (500_000, 1_000_000))
        first, second = (best(lambda text=text, found=found: found.mentions(text)) for text in (half, whole))
        print(f"  {what}: {second:4.2f} s for 1 MB, {second / first:.1f} times its half")
    half, whole = ([f"N{number}x" for number in range(size)] for size in (125_000, 250_000))
    first, second = (best(lambda listed=listed: CharacterList(listed), 1) for listed in (half, whole))
    print(f"  compiling 250,000 names: {second:.1f} s, {second / first:.1f} times their half")


def embeddings() -> None:
    """The embedder against sentence-transformers' encode, on summaries of documents that come again."""
    from sentence_transformers import SentenceTransformer

    rng = np.random.default_rng(0)
    vocabulary = words(PROSE)
    documents = [" ".join(rng.choice(vocabulary, rng.integers(100, 180))) for _ in range(10)]
    summaries = [" ".join(rng.choice(vocabulary, rng.integers(5, 60))) for _ in range(80)]
    inputs = [text for number, summary in enumerate(summaries) for text in (documents[number % 10], summary)]
    model = SentenceTransformer(backends.folder_of(backends.EMBEDDED), device="cpu")
    backend = backends.load_backends("en", None, None, "cpu")
    maker = embedder.Embedder(backend, 32, 0)
    theirs = best(lambda: model.encode(inputs, batch_size=32))
    ours = best(lambda: maker.encode(inputs))
    print(f"  80 summaries of 10 documents: {theirs / ours:4.1f} times as fast as SentenceTransformer.encode")
    pieces = [piece for parts in backend[0].split(list(dict.fromkeys(inputs))) for piece in parts]
    padded = sum(piece.size for piece in pieces)
    print(f"  padding in the batches: {1 - sum(len(piece.payload) for piece in pieces) / padded:.1%}")
    warm = embedder.Embedder(backend, 32, 2**28)
    warm.encode(inputs)
    print(f"  again with the cache: {ours / best(lambda: warm.encode(inputs)):4.0f} times as fast as without")


if __name__ == "__main__":
    for part in (rouge, texts, characters, embeddings):
        print(part.__doc__)
        part()
