"""Check the CUDA path on a machine that has a GPU, and say how fast it is; exit status 1 where anything differs.

    python benchmarks/check_cuda.py

Scores and vectors are compared with the CPU's, memory is made scarce, and each dtype is measured: texts per second
beside SentenceTransformer.encode on the same device, and the most memory it took. On a machine without a GPU it says so
and exits with status 2: nothing was checked. `--device cpu` runs what needs no CUDA on the CPU, to try the script.
"""

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import evaluate
import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from metrics._shared.backends import EMBEDDED, Backend, folder_of, load_backends
from metrics._shared.embedder import Embedder
from metrics._shared.models import quiet_loading

TEXTS = [f"{'the river rose and the bridge fell ' * (1 + number % 40)}on day {number}" for number in range(600)]
TEXTS += ["", "!", "word " * 3000, "أكل سامي تفاحة", "今天天气很好"]
DTYPES = ("float32", "bfloat16", "float16")
ALLOWED = {"float32": 1e-4, "bfloat16": 0.01, "float16": 0.01}  # absolute in float32; 1 - cosine in 16 bits


class Checks:
    """What was checked, printed as it comes."""

    def __init__(self):
        self.failures: list[str] = []

    def __call__(self, name: str, passed: bool, detail: str = "") -> None:
        print(f"{'ok  ' if passed else 'FAIL'} {name} {detail}", flush=True)
        if not passed:
            self.failures.append(name)


def apart(found: np.ndarray, expected: np.ndarray, dtype: str = "float32") -> float:
    """How far vectors are from those of float32 on the CPU: the largest difference, or 1 - cosine in 16 bits.

    >>> apart(np.array([[3.0, 4.0]]), np.array([[3.0, 4.5]])), apart(np.array([[1.0]]), np.array([[2.0]]), "bfloat16")
    (0.5, 0.0)
    """
    if dtype == "float32":
        return float(np.abs(found - expected).max())
    lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    products = (found.astype(np.float64) * expected).sum(axis=1)
    return float((1 - np.divide(products, lengths, out=np.ones_like(products), where=lengths > 0)).max())


def vectors(check: Checks, device: str, texts: list[str], expected: np.ndarray) -> None:
    """Vectors in every dtype, and in batches of every size, beside float32 on the CPU."""
    for dtype in DTYPES:
        backends = load_backends("en", None, None, device, dtype)
        for batch_size in (1, 32, 512) if dtype == "float32" else (32,):
            far = apart(Embedder(backends, batch_size, 0).encode(texts), expected, dtype)
            name = f"vectors of {dtype} are near float32 on the CPU, batch_size={batch_size}"
            check(name, far < ALLOWED[dtype], f"({far:.1e})")


def scores(check: Checks, device: str, texts: list[str]) -> None:
    """The scores of both metrics that have a model, beside the CPU's."""
    for name in ("sss", "mss"):
        metric = evaluate.load(str(ROOT / "metrics" / name))
        count = len(texts) // 3
        pairs = texts[:count], texts[count // 2 : count // 2 + count]
        here, there = (np.array(metric.score(*pairs, device=one, cache_bytes=0)[name]) for one in (device, "cpu"))
        check(f"{name} equals the CPU's to 1e-5", float(np.abs(here - there).max()) < 1e-5)


def memory_of(device: str, work: Callable[[], object]) -> int | None:
    """The most bytes that torch held on a CUDA device while it worked; None on another device."""
    if torch.device(device).type != "cuda":
        work()
        return None
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    work()
    return torch.cuda.max_memory_allocated(device)


def speed(device: str, texts: list[str], rounds: int = 5) -> None:
    """Texts per second by dtype beside plain sentence-transformers in that dtype on the same device, in turn."""
    from sentence_transformers import SentenceTransformer

    for dtype in DTYPES:
        with quiet_loading():
            plain = SentenceTransformer(folder_of(EMBEDDED), device=device).to(getattr(torch, dtype))
        maker = Embedder(load_backends("en", None, None, device, dtype), 32, 0)
        sides = {"ours": lambda maker=maker: maker.encode(texts), "theirs": lambda plain=plain: plain.encode(texts)}
        peak = {side: memory_of(device, work) for side, work in sides.items()}  # warms up too
        seconds: dict[str, list[float]] = {side: [] for side in sides}
        for _ in range(rounds):
            for side, work in sides.items():  # both return arrays of numpy: what the device owes is done
                started = time.perf_counter()
                work()
                seconds[side].append(time.perf_counter() - started)
        ratios = [theirs / ours for ours, theirs in zip(seconds["ours"], seconds["theirs"], strict=True)]
        for side, name in (("ours", "ours"), ("theirs", "SentenceTransformer.encode")):
            held = "" if peak[side] is None else f", {peak[side] / 2**20:.0f} MiB at most"
            print(f"     {dtype}, {name}: {len(texts) / statistics.median(seconds[side]):.0f} texts/s{held}")
        print(f"     {dtype}: {statistics.median(ratios):.2f} times as fast ({min(ratios):.2f} to {max(ratios):.2f})")


def scarce_memory(check: Checks, backends: list[Backend], texts: list[str], expected: np.ndarray) -> None:
    """Little more than the model's own memory: the first batches do not fit, and must be halved."""
    _, total = torch.cuda.mem_get_info()
    torch.cuda.empty_cache()
    used = torch.cuda.memory_reserved()
    torch.cuda.set_per_process_memory_fraction(min(1.0, (used + 200 * 2**20) / total))
    freed, release = [], backends[0].free_memory
    backends[0].free_memory = lambda: (freed.append(1), release())
    try:
        far = apart(Embedder(backends, 4096, 0).encode(texts), expected)
    finally:
        backends[0].free_memory = release
        torch.cuda.set_per_process_memory_fraction(1.0)
    check("out of memory halves the batch", bool(freed) and far < 1e-4, f"({len(freed)} times)")


def run(device: str | None, texts: list[str], rounds: int = 5) -> int:
    """Every check that the device allows; the exit status."""
    warnings.filterwarnings("ignore", message="the English model|dtype=")
    if device is None and not torch.cuda.is_available():
        print("no CUDA device: nothing was checked (--device cpu tries the script)")
        return 2
    check = Checks()
    expected = Embedder(load_backends("en", None, None, "cpu"), 32, 0).encode(texts)
    if device is None:
        device = "cuda:0"
        print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, CUDA {torch.version.cuda}")
        check("CUDA is chosen when present", load_backends("en", None, None, None)[0].device.type == "cuda")
        every = tuple(f"cuda:{index}" for index in range(torch.cuda.device_count()))
        several = load_backends("en", None, None, every if len(every) > 1 else (*every, "cpu"))
        check("a list of devices", apart(Embedder(several, 32, 0).encode(texts), expected) < 1e-4)
    vectors(check, device, texts, expected)
    scores(check, device, texts)
    speed(device, texts, rounds)
    if device.startswith("cuda"):
        scarce_memory(check, load_backends("en", None, None, device), texts, expected)
    print(f"{len(check.failures)} of the checks failed" if check.failures else "all checks passed")
    return int(bool(check.failures))


def main() -> int:
    """Run every check and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", help="another device than the first GPU, such as cuda:1 or cpu")
    return run(parser.parse_args().device, TEXTS)


if __name__ == "__main__":
    sys.exit(main())
