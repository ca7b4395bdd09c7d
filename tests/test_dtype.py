"""dtype: close to float32, never mixed with it, named by signatures, refused or warned of where it makes no sense."""

import warnings

import numpy as np
import pytest
import tiny
from conftest import SENTENCES, load

from eval_summaries.inputs import Example
from eval_summaries.outside import TsSs
from metrics._shared import backends, embedder, models
from metrics._shared.embedder import Embedder
from metrics._shared.options import check_options

HALF = ("bfloat16", "float16")
# Without such instructions torch computes each product alike in any batch; what those of newer CPUs do was not seen.
NATIVE = any(models.cpu_features().get(name) for names in models._INSTRUCTIONS.values() for name in names)
TEXTS = [*SENTENCES.values(), "the bridge", "water " * 300, *(f"{'the river rose ' * (n % 7)}{n}" for n in range(40))]


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No model and no vector of another test; a CPU that has all instructions, whatever this one has."""
    embedder.CACHE.clear()
    monkeypatch.setattr(models, "cpu_features", lambda: {"avx512_bf16": True, "avx512_fp16": True})
    yield
    backends._loaded.clear()
    embedder.CACHE.clear()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(tiny.make_encoder(tmp_path_factory.mktemp("tiny")))


def maker(folder, dtype, cache_bytes=0, batch_size=32):
    return Embedder(backends.load_backends("en", folder, None, "cpu", dtype), batch_size, cache_bytes)


def errors(found, expected):
    """1 - cosine of each pair of vectors."""
    lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    return 1 - (found.astype(np.float64) * expected).sum(axis=1) / lengths


def same(found, expected):
    """To the last bit; where the CPU computes in 16 bits itself, closer to each other than to float32."""
    assert np.abs(errors(found, expected)).max() < 1e-3
    assert NATIVE or np.array_equal(found, expected)


@pytest.mark.parametrize("dtype", HALF)
def test_vectors_are_float32_and_close_to_it_but_not_equal(folder, dtype):
    expected, found = maker(folder, "float32").encode(TEXTS), maker(folder, dtype).encode(TEXTS)
    assert found.dtype == np.float32 and 0 < np.abs(errors(found, expected)).max() < 0.01
    half = backends.load_backends("en", folder, None, "cpu", dtype)[0]
    assert {str(tensor.dtype) for tensor in half.model.parameters()} == {f"torch.{dtype}"}


@pytest.mark.slow
def test_each_dtype_has_its_own_model_loaded_once_and_its_own_vectors(folder):
    made = {dtype: maker(folder, dtype, cache_bytes=10**6) for dtype in ("float32", *HALF)}
    assert len(backends._loaded) == 3
    assert all(maker(folder, dtype).backend is one.backend for dtype, one in made.items())
    alone = {dtype: maker(folder, dtype).encode(TEXTS) for dtype in made}
    for _ in range(2):  # from the model, then from the cache
        for dtype, one in made.items():
            assert np.array_equal(one.encode(TEXTS), alone[dtype])
    assert len({one.backend.fingerprint for one in made.values()}) == 3
    assert len({one.backend.fingerprint[:16] for one in made.values()}) == 1  # the weights are the same


@pytest.mark.parametrize("dtype", HALF)
def test_neighbours_in_the_batch_do_not_matter(folder, dtype):
    expected = np.stack([maker(folder, dtype, batch_size=1).encode([text])[0] for text in TEXTS])
    same(maker(folder, dtype).encode(TEXTS), expected)


@pytest.mark.slow
def test_of_the_embedded_model_neither():
    texts = TEXTS[:25]
    made = [backends.load_backends("en", None, None, "cpu", dtype) for dtype in ("float32", "bfloat16")]
    expected, found = (Embedder(backend, 32, 0).encode(texts) for backend in made)
    assert 0 < np.abs(errors(found, expected)).max() < 0.01
    same(np.stack([Embedder(made[1], 1, 0).encode([text])[0] for text in texts]), found)


@pytest.mark.parametrize("name", ["sss", "mss"])
def test_signature_names_it_where_it_is_not_the_default(folder, name):
    metric = load(name, model_name=folder, device="cpu")
    plain, half = metric.signature(), metric.signature(dtype="bfloat16")
    assert "dtype" not in plain and plain == metric.signature(dtype="float32")
    parts = half.split("|")
    assert "dtype:bfloat16" in parts and [part for part in parts if part != "dtype:bfloat16"] == plain.split("|")
    texts = {"predictions": ["abc de. fg"], "references": ["abc. de fg hij"]}
    scores = [metric.score(**texts, dtype=dtype)[name][0] for dtype in ("float32", "bfloat16")]
    assert scores[0] == pytest.approx(scores[1], abs=0.01) and scores[0] != scores[1]


def test_ts_ss_of_the_command_has_it_too(folder):
    def made(**options):
        found = TsSs("tsss", {"model_name": folder, "device": "cpu", **options})
        example = Example("1", "s", "abc de", ["abc df"])
        found.start([example])
        return found.sign([example]), found.score([example])["tsss"][0]

    (plain, one), (half, other) = made(), made(dtype="bfloat16")
    assert "dtype" not in plain and "|dtype:bfloat16|" in half
    assert one == pytest.approx(other, rel=0.1) and one != other


def test_what_is_no_dtype_and_a_model_that_has_one_alone_are_refused():
    for given in ("half", "int8", None, 16):
        with pytest.raises(ValueError, match="give one of 'float32', 'bfloat16', 'float16'"):
            check_options(models.MODEL_OPTIONS, {"dtype": given})
    with pytest.raises(ValueError, match="4 bits and cannot be cast; leave dtype out"):
        backends.load_backends("ar", backends.QUANTISED, None, None, "bfloat16")


class TestWarning:
    def test_once_where_the_cpu_has_no_such_instructions(self, folder, monkeypatch):
        monkeypatch.setattr(models, "cpu_features", lambda: {"avx2": True, "avx512_bf16": False})
        with pytest.warns(UserWarning, match="dtype='bfloat16' is several times slower.*avx512_bf16") as caught:
            for _ in range(2):
                maker(folder, "bfloat16").encode(["abc"])
        assert len(caught) == 1
        with pytest.warns(UserWarning, match="dtype='float16'.*avx512_fp16"):
            maker(folder, "float16")

    @pytest.mark.parametrize(
        ("features", "dtype"),
        [
            ({"avx2": True}, "float32"),
            ({"avx512_bf16": True}, "bfloat16"),
            ({"amx_bf16": True}, "bfloat16"),
            ({"architecture": "aarch64", "bf16": True}, "bfloat16"),
            ({"avx512_fp16": True}, "float16"),
            ({}, "bfloat16"),  # a torch that does not say
        ],
    )
    def test_not_elsewhere(self, folder, monkeypatch, features, dtype):
        monkeypatch.setattr(models, "cpu_features", lambda: features)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            maker(folder, dtype)

    def test_not_for_a_gpu(self, monkeypatch):
        class Device:
            type = "cuda"

        monkeypatch.setattr(models, "cpu_features", lambda: {"avx2": True})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            models.warn_of_slow_dtype("bfloat16", [Device()])

    def test_torch_names_the_instruction_sets_that_are_asked_for(self, monkeypatch):
        monkeypatch.undo()
        found = models.cpu_features()
        assert not found or (found["architecture"] and any(isinstance(value, bool) for value in found.values()))
