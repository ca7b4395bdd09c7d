"""Where the encoder's time goes, and the limit of its largest part.

    python benchmarks/profile_encoder.py [--data FOLDER]

The time of SSS and MSS is the encoder's. Printed are the share of each kind of operation in it, and how many operations
on floating-point numbers the linear layers do in a second, beside one large matrix product alone: the machine's best.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import speed_texts

from metrics._shared import backends
from metrics._shared.embedder import Embedder

KINDS = {
    "linear layers": ("aten::addmm", "aten::mm", "aten::linear"),
    "attention": ("aten::_scaled_dot_product_flash_attention_for_cpu", "aten::bmm", "aten::_softmax"),
    "activation (GELU)": ("aten::gelu",),
    "layer norm": ("aten::native_layer_norm",),
}


def shares(found: dict[str, float], whole: float) -> list[tuple[str, float]]:
    """The share of each kind of operation in the time, and of the rest: other operations, Python, tokenizing.

    Args:
        found: seconds in each operation itself.
        whole: seconds in all.

    >>> shares({"aten::addmm": 6.0, "aten::gelu": 1.0, "aten::add": 1.0}, 10.0)[:3]
    [('linear layers', 0.6), ('attention', 0.0), ('activation (GELU)', 0.1)]
    """
    kinds = [(kind, sum(found.get(name, 0.0) for name in names) / whole) for kind, names in KINDS.items()]
    return [*kinds, ("all else", 1 - sum(share for _, share in kinds))]


def best_product(size: int = 2048, times: int = 5) -> float:
    """Floating-point operations a second of one product of two square matrices, the best of several."""
    import torch

    one, other = torch.randn(2, size, size)
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        one @ other
        seconds.append(time.perf_counter() - started)
    return 2 * size**3 / min(seconds)


def main() -> None:
    """Print the table."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with summeval.jsonl; else texts are made up")
    news = speed_texts.news(parser.parse_args().data, 20)
    texts = list(dict.fromkeys(text for summaries in news.summaries for text in summaries))
    (backend,) = backends.load_backends("en", None, None, "cpu")
    maker = Embedder([backend], 32, 0)
    maker.encode(texts[:50])  # warm
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        started = time.perf_counter()
        maker.encode(texts)
        whole = time.perf_counter() - started
    found = {event.key: event.self_cpu_time_total / 1e6 for event in seen.key_averages()}
    tokens = sum(piece.size for parts in backend.split(texts) for piece in parts)
    layers = [module for module in backend.model.modules() if isinstance(module, torch.nn.Linear)]
    weights = sum(layer.weight.numel() for layer in layers if layer is not getattr(backend.model.pooler, "dense", None))
    print(f"{len(texts):,} summaries ({news.what}), {tokens:,} tokens, {torch.get_num_threads()} threads\n")
    print("| part | share of the time |\n|---|---|")
    for kind, share in (parts := shares(found, whole)):
        print(f"| {kind} | {share:.0%} |")
    rate, best = 2 * weights * tokens / (parts[0][1] * whole), best_product()
    print(f"\nlinear layers: {rate / 1e9:.0f} GFLOP/s; one product alone: {best / 1e9:.0f} GFLOP/s ({rate / best:.0%})")


if __name__ == "__main__":
    main()
