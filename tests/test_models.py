"""Models from strangers and models with holes: refused by name or scored right, in forks and in pickles too."""

import json
import os
import pickle
import shutil
import subprocess
import threading
import zipfile
from pathlib import Path

import evaluate
import numpy as np
import pytest
import tiny
import torch
from conftest import ROOT
from safetensors.torch import load_file, save_file

from eval_summaries.each import score_each
from metrics._shared import backends, embedder
from metrics._shared.backends import ModelUnavailableError, load_backends
from metrics._shared.embedder import Embedder


def load(folder):
    return load_backends("en", str(folder), None, "cpu")[0]


def refused(folder):
    """Why the model in this folder is not taken."""
    with pytest.raises(ModelUnavailableError) as caught:
        load(folder)
    assert repr(str(folder)) in str(caught.value)
    return str(caught.value)


def edit(folder, change):
    """Change the tensors of a saved model."""
    path = folder / "model.safetensors"
    tensors = load_file(path)
    changed = change(tensors)
    save_file(tensors if changed is None else changed, path, metadata={"format": "pt"})


def without_pooler(folder):
    edit(folder, lambda tensors: {name: tensor for name, tensor in tensors.items() if "pooler" not in name})
    return folder


@pytest.fixture(autouse=True)
def forget():
    yield
    backends._loaded.clear()
    embedder.CACHE.clear()


@pytest.fixture
def folder(tmp_path):
    return tiny.make_encoder(tmp_path / "model")


class TestFingerprint:
    @pytest.mark.thorough
    @pytest.mark.slow
    def test_two_processes_agree_on_a_checkpoint_without_pooler(self, folder, python, environment):
        code = (
            "import sys; from metrics._shared.backends import load_backends\n"
            "print(load_backends('en', sys.argv[1], None, 'cpu')[0].fingerprint)"
        )
        command = [python, "-c", code, str(without_pooler(folder))]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split()[-1] == load(folder).fingerprint

    def test_the_pooler_does_not_count(self, folder, tmp_path):
        bare = without_pooler(Path(shutil.copytree(folder, tmp_path / "bare")))
        assert load(bare).fingerprint == load(folder).fingerprint

    @pytest.mark.parametrize("kind", ["bert", "roberta", pytest.param("embedded", marks=pytest.mark.slow)])
    def test_what_counts_is_what_the_vector_depends_on(self, kind, tmp_path):
        """The oracle is torch: which tensors have a gradient."""
        backend = (
            load_backends("en", None, None, "cpu")[0]
            if kind == "embedded"
            else load(tiny.make_encoder(tmp_path / "model", kind=kind, positions=66))
        )
        names, tensors = zip(*backend.model.named_parameters(), strict=True)
        ids = torch.tensor([backend.split(["ab ba"])[0][0].payload])
        with torch.enable_grad():
            hidden = backend.model(input_ids=ids).last_hidden_state
            found = torch.autograd.grad(hidden.sum(), tensors, allow_unused=True)
        used = {name for name, gradient in zip(names, found, strict=True) if gradient is not None}
        assert len(used) > 10
        for name, tensor in zip(names, tensors, strict=True):
            if kind == "embedded" and ".layer." in name and ".layer.3." not in name:
                continue  # every layer is alike, and each change hashes 90 MB
            before = tensor.data.clone()
            tensor.data.view(-1)[-1] += 1
            changed = backends.fingerprint(backend.model, backend.tokenizer) != backend.fingerprint
            tensor.data.copy_(before)
            assert changed == (name in used), name

    def test_vocabulary_counts(self, folder):
        before = load(folder).fingerprint
        path = folder / "tokenizer.json"
        words = json.loads(path.read_text())
        vocabulary = words["model"]["vocab"]
        vocabulary["x"], vocabulary["z"] = vocabulary["z"], vocabulary["x"]
        path.write_text(json.dumps(words))
        backends._loaded.clear()
        assert load(folder).fingerprint != before


class TestHoles:
    def test_a_missing_tensor(self, folder):
        name = "encoder.layer.0.attention.self.query.weight"
        edit(folder, lambda tensors: {key: tensors[key] for key in tensors if key != name})
        message = refused(folder)
        assert f"({name})" in message and "would be random" in message and "save_pretrained" in message

    def test_a_missing_pooler_is_none(self, folder):
        before = Embedder([load(folder)], 32, 0).encode(["abc"])
        backends._loaded.clear()
        assert np.array_equal(Embedder([load(without_pooler(folder))], 32, 0).encode(["abc"]), before)

    def test_another_shape(self, folder):
        name = "embeddings.word_embeddings.weight"
        edit(folder, lambda tensors: tensors.update({name: tensors[name][:50].clone()}))
        message = refused(folder)
        assert name in message and "(50, 16)" in message and "different models" in message

    def test_another_architecture(self, folder, tmp_path):
        edit(folder, lambda tensors: {f"blocks.{number}": tensor for number, tensor in enumerate(tensors.values())})
        assert "none of its tensors is in its weights file" in refused(folder)

    def test_a_head_too_many_is_harmless(self, folder):
        before = load(folder).fingerprint
        edit(folder, lambda tensors: tensors.update({"classifier.weight": torch.ones(2, 16)}))
        backends._loaded.clear()
        assert load(folder).fingerprint == before

    def test_a_model_without_token_embeddings(self, tmp_path):
        """A head for another task, as sentence_bert_config.json can ask for."""
        from transformers import BertConfig, BertForMaskedLM

        words = tiny.tokenizer(64)
        shape = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
        BertForMaskedLM(BertConfig(vocab_size=len(words), **shape)).save_pretrained(tmp_path)
        words.save_pretrained(tmp_path)
        (tmp_path / "modules.json").write_text(
            json.dumps([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}])
        )
        (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"transformer_task": "fill-mask"}))
        assert "last_hidden_state" in refused(tmp_path)

    def test_nothing_is_printed_of_a_pooler_and_the_logs_are_as_before(self, folder, capfd):
        from transformers import PreTrainedModel
        from transformers.utils import logging

        before = logging.get_verbosity(), PreTrainedModel.__dict__["from_pretrained"]
        load(without_pooler(folder))
        assert capfd.readouterr().err == ""
        assert (logging.get_verbosity(), PreTrainedModel.__dict__["from_pretrained"]) == before

    def test_what_another_thread_loads_meanwhile_is_its_own(self, folder):
        from transformers import AutoModel

        found = []
        with backends.loading_reports() as reports:
            thread = threading.Thread(target=lambda: found.append(AutoModel.from_pretrained(folder)))
            thread.start()
            thread.join()
            mine = AutoModel.from_pretrained(folder)
        assert type(found[0]) is type(mine) and [model for model, _ in reports] == [mine]


class TestTokenizer:
    @pytest.mark.parametrize("kind", ["bert", "roberta"])
    def test_missing(self, kind, tmp_path):
        folder = tiny.make_encoder(tmp_path, kind=kind)
        for path in folder.glob("*token*"):
            path.unlink()
        message = refused(folder)
        assert "its tokenizer is missing or knows no word" in message and "tokenizer.save_pretrained" in message

    def test_every_word_unknown(self, folder):
        """A vocabulary of capitals, behind a normaliser that makes letters small."""
        path = folder / "tokenizer.json"
        words = json.loads(path.read_text())
        special = words["model"]["vocab"]
        small = {token: number for token, number in special.items() if token.startswith("[")}
        words["model"]["vocab"] = {**small, **{letter: 5 + number for number, letter in enumerate("ABCDEF")}}
        path.write_text(json.dumps(words))
        assert "knows no word" in refused(folder)

    def test_larger_than_the_model(self, folder):
        words = tiny.tokenizer()
        words.add_tokens(["summary", "bridge"])
        words.save_pretrained(folder)
        size = len(words)
        message = refused(folder)
        assert f"numbers tokens up to {size - 1}, and the model has embeddings for {size - 2}" in message

    def test_smaller_than_the_model_is_usual(self, tmp_path):
        from transformers import BertConfig, BertModel

        words = tiny.tokenizer(64)
        shape = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
        BertModel(BertConfig(vocab_size=len(words) + 10, **shape)).save_pretrained(tmp_path)
        words.save_pretrained(tmp_path)
        assert load(tmp_path).window == 64


# What a stranger's file would do if it were run: leave a mark.
class Mark:
    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


UNSAFE_ADVICE = ("weights_only", "trust_remote_code", "pickle", "safe_globals", "trusted source")


class TestStrangers:
    @pytest.fixture
    def mark(self, tmp_path):
        return tmp_path / "was-run"

    def pickled(self, folder, mark):
        """Replace the weights by a .bin that leaves a mark when it is unpickled."""
        tensors = load_file(folder / "model.safetensors")
        (folder / "model.safetensors").unlink()
        torch.save({**tensors, "extra": Mark(mark)}, folder / "pytorch_model.bin")

    def check(self, folder, mark):
        with pytest.raises(ModelUnavailableError) as caught:
            load(folder)
        assert not mark.exists()
        error = caught.value
        shown = str(error) + str("" if error.__suppress_context__ and not error.__cause__ else error.__cause__)
        assert not [advice for advice in UNSAFE_ADVICE if advice in shown]
        return str(error)

    def test_the_mark_works(self, folder, mark):
        self.pickled(folder, mark)
        torch.load(folder / "pytorch_model.bin", weights_only=False)
        assert mark.exists()

    def test_tensors_alone_in_a_bin_are_read(self, folder):
        before = load(folder).fingerprint
        torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
        backends._loaded.clear()
        assert load(folder).fingerprint == before

    def test_a_bin_with_more_is_never_run(self, folder, mark):
        self.pickled(folder, mark)
        assert zipfile.is_zipfile(folder / "pytorch_model.bin")
        assert "not one of tensors alone" in self.check(folder, mark)

    @pytest.mark.parametrize("key", ["model_args", "model_kwargs"])
    def test_nor_where_the_folder_itself_asks_for_it(self, folder, mark, key):
        self.pickled(folder, mark)
        (folder / "modules.json").write_text(
            json.dumps([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}])
        )
        (folder / "sentence_bert_config.json").write_text(json.dumps({key: {"weights_only": False}}))
        config = json.loads((folder / "config.json").read_text())
        del config[
            "dtype"
        ]  # transformers 5 obeys the wish where it must look into the file for the type of its numbers
        (folder / "config.json").write_text(json.dumps(config))
        assert "not one of tensors alone" in self.check(folder, mark)

    def test_nor_where_it_is_a_plain_one(self, folder, mark):
        (folder / "model.safetensors").unlink()
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Mark(mark), protocol=2))
        assert "not one of tensors alone" in self.check(folder, mark)

    def test_nor_in_a_later_module(self, folder, mark):
        from sentence_transformers import SentenceTransformer

        SentenceTransformer(str(folder)).save(str(folder.parent / "saved"))
        saved = folder.parent / "saved"
        modules = json.loads((saved / "modules.json").read_text())
        dense = {"in_features": 16, "out_features": 4, "activation_function": "torch.nn.modules.activation.Tanh"}
        modules.append({"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})
        (saved / "modules.json").write_text(json.dumps(modules))
        (saved / "2_Dense").mkdir()
        (saved / "2_Dense" / "config.json").write_text(json.dumps(dense))
        torch.save({"linear.weight": Mark(mark)}, saved / "2_Dense" / "pytorch_model.bin")
        self.check(saved, mark)

    @pytest.mark.parametrize("model_type", ["bert", "stranger"])
    def test_code_that_config_json_names(self, folder, mark, model_type):
        config = json.loads((folder / "config.json").read_text())
        names = {"AutoConfig": "modeling_own.OwnConfig", "AutoModel": "modeling_own.OwnModel"}
        (folder / "config.json").write_text(json.dumps({**config, "model_type": model_type, "auto_map": names}))
        (folder / "modeling_own.py").write_text(
            f"import os; os.mkdir({str(mark)!r})\n"
            "from transformers import BertConfig as OwnConfig, BertModel as OwnModel\n"
        )
        assert "Python code of its own, which is never run" in self.check(folder, mark)

    @pytest.mark.parametrize("trusting", [False, True])
    def test_code_that_modules_json_names(self, folder, mark, trusting, monkeypatch):
        if trusting:  # sentence-transformers before 6 trusts a local folder whatever it is told
            import sentence_transformers

            original = sentence_transformers.SentenceTransformer
            monkeypatch.setattr(
                sentence_transformers,
                "SentenceTransformer",
                lambda *args, **kwargs: original(*args, **{**kwargs, "trust_remote_code": True}),
            )
        (folder / "own.py").write_text(
            f"import os; os.mkdir({str(mark)!r})\nfrom sentence_transformers.models import Transformer as Own\n"
        )
        (folder / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": "own.Own"}]))
        assert "Python code of its own, which is never run" in self.check(folder, mark)


class TestNotFinite:
    @pytest.fixture
    def broken(self, folder):
        """A model to which the letter z is not a number."""
        row = tiny.tokenizer().convert_tokens_to_ids("z")
        edit(folder, lambda tensors: tensors["embeddings.word_embeddings.weight"].__setitem__((row, 0), float("nan")))
        return folder

    def test_the_others_keep_their_vectors(self, broken):
        backend = load(broken)
        maker = Embedder([backend], 32, 10**6)
        with pytest.raises(RuntimeError, match="not finite for the text 'z'"):
            maker.encode(["abc", "z", "de"])
        seen = []
        backend.split = lambda texts, split=backend.split: seen.extend(texts) or split(texts)
        vectors = maker.encode(["abc", "de"])
        assert seen == [] and np.isfinite(vectors).all()
        assert np.allclose(vectors, Embedder([backend], 32, 0).encode(["abc", "de"]), atol=1e-6)

    @pytest.mark.parametrize("cache_bytes", [0, 10**6])
    def test_through_score_each(self, broken, cache_bytes):
        metric = evaluate.load(
            str(ROOT / "metrics" / "sss"), model_name=str(broken), device="cpu", cache_bytes=cache_bytes
        )
        rows = [("abc", "abd"), ("z", "abc"), ("fgh", "fgh"), ("klm", "z")]

        def score(examples):
            return metric.score([text for text, _ in examples], [reference for _, reference in examples])

        found = score_each(score, rows, lambda row: f"line {rows.index(row) + 1}")
        assert "line 2: RuntimeError" in found[1] and "'z'" in found[1]
        assert "line 4: RuntimeError" in found[3] and "'z'" in found[3]
        alone = score([rows[0], rows[2]])
        for key, values in alone.items():
            assert [found[0][key], found[2][key]] == pytest.approx(values, abs=1e-6)
