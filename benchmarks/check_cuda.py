"""Check the CUDA path on a machine that has a GPU; exit status 1 where anything differs.

    python benchmarks/check_cuda.py

On a machine without one it says so and exits with status 2: nothing was checked.
"""

import sys
from pathlib import Path

import evaluate
import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from metrics._shared.backends import load_backends
from metrics._shared.embedder import Embedder

TEXTS = [f"{'the river rose and the bridge fell ' * (1 + number % 40)}on day {number}" for number in range(600)]
TEXTS += ["", "!", "word " * 3000, "أكل سامي تفاحة", "今天天气很好"]


def main() -> int:
    """Run every check and print what was found."""
    if not torch.cuda.is_available():
        print("no CUDA device: nothing was checked")
        return 2
    failures = []

    def check(name: str, passed: bool, detail: str = "") -> None:
        print(f"{'ok  ' if passed else 'FAIL'} {name} {detail}")
        if not passed:
            failures.append(name)

    cpu = Embedder(load_backends("en", None, None, "cpu"), 32, 0).encode(TEXTS)
    chosen = load_backends("en", None, None, None)
    check("CUDA is chosen when present", chosen[0].device.type == "cuda")
    for batch_size in (1, 32, 512):
        found = Embedder(chosen, batch_size, 0).encode(TEXTS)
        difference = float(np.abs(found - cpu).max())
        check(
            f"vectors equal the CPU's, batch_size={batch_size}",
            difference < 1e-4,
            f"(largest difference {difference:.1e})",
        )
    every = tuple(f"cuda:{index}" for index in range(torch.cuda.device_count()))
    several = Embedder(load_backends("en", None, None, every if len(every) > 1 else (*every, "cpu")), 32, 0).encode(
        TEXTS
    )
    check("a list of devices", float(np.abs(several - cpu).max()) < 1e-4)
    for name in ("sss", "mss"):
        metric = evaluate.load(str(ROOT / "metrics" / name))
        pairs = TEXTS[:200], TEXTS[100:300]
        on_gpu, on_cpu = (metric.score(*pairs, device=device, cache_bytes=0)[name] for device in (0, "cpu"))
        check(f"{name} equals the CPU's to 1e-5", float(np.abs(np.array(on_gpu) - on_cpu).max()) < 1e-5)
    _, total = torch.cuda.mem_get_info()
    torch.cuda.empty_cache()
    # little more than the model: the first batches do not fit, and the embedder must halve them and go on
    used = torch.cuda.memory_reserved()
    torch.cuda.set_per_process_memory_fraction(min(1.0, (used + 200 * 2**20) / total))
    freed = []
    release = chosen[0].free_memory
    chosen[0].free_memory = lambda: (freed.append(1), release())
    found = Embedder(chosen, 4096, 0).encode(TEXTS)
    check(
        "out of memory halves the batch",
        bool(freed) and float(np.abs(found - cpu).max()) < 1e-4,
        f"({len(freed)} times)",
    )
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
