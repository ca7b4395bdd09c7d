"""BERTScore in the command: bert-score's own values, without a network as it is installed."""

import importlib.util
import json

import pytest
import tiny
from command import COLUMNS, ROWS, call, scored, write_rows
from safetensors.torch import load_file, save_file

from eval_summaries.bertscore import LAYERS
from metrics._shared.backends import EMBEDDED, folder_of

pytest.importorskip("bert_score", reason="bert-score is not installed: the extra [bertscore]")
PREDICTIONS, REFERENCES = [row["summary"] for row in ROWS], [row["reference"] for row in ROWS]
KEYS = ["bertscore_precision", "bertscore_recall", "bertscore_f1"]


def package(folder, layers, references=REFERENCES, **options):
    """What bert-score itself says."""
    from bert_score import BERTScorer

    return BERTScorer(model_type=str(folder), num_layers=layers, **options).score(PREDICTIONS, references)


def run(path, *more, rows=ROWS, status=0):
    settings = [part for one in more if "." in str(one) for part in ("--set", one)]
    others = [one for one in more if "." not in str(one)]
    arguments = [write_rows(path / "x.jsonl", rows), *COLUMNS, "--metrics", "bertscore", *settings, *others]
    found, shown = call(*arguments, "--out", path / "out")
    assert found == status, shown
    return scored(path / "out")[KEYS].to_numpy().T if status == 0 else shown


@pytest.fixture
def model(tmp_path):
    return tiny.make_encoder(tmp_path / "model", positions=256, max_length=256)


@pytest.mark.slow
class TestValues:
    def test_as_installed_it_is_the_last_layer_of_the_embedded_encoder(self, tmp_path):
        expected = package(folder_of(EMBEDDED), LAYERS)
        for found, part in zip(run(tmp_path), expected, strict=True):
            assert found == pytest.approx(part.tolist(), abs=1e-5)
        (signature,) = json.loads((tmp_path / "out" / "run.json").read_text())["signatures"].values()
        assert f"model:{EMBEDDED}" in signature and "layers:6" in signature and "window:" in signature

    def test_a_model_of_ones_own_and_the_papers_table(self, tmp_path, model):
        found = run(tmp_path, f"bertscore.model_type={model}", "bertscore.num_layers=1")
        for ours, part in zip(found, package(model, 1), strict=True):
            assert ours == pytest.approx(part.tolist(), abs=1e-5)

    def test_several_references(self, tmp_path, model):
        several = [[reference, "The bridge."] for reference in REFERENCES]
        rows = [{**row, "reference": pair} for row, pair in zip(ROWS, several, strict=True)]
        options = [f"bertscore.model_type={model}", "bertscore.num_layers=1"]
        best = run(tmp_path, *options, rows=rows)
        assert best[2] == pytest.approx(package(model, 1, several)[2].tolist(), abs=1e-5)
        mean = run(tmp_path, *options, "bertscore.multi_reference=mean", rows=rows)
        alone = [package(model, 1, [pair[side] for pair in several])[2].numpy() for side in (0, 1)]
        assert mean[2] == pytest.approx(sum(alone) / 2, abs=1e-5)

    def test_idf(self, tmp_path, model):
        found = run(tmp_path, f"bertscore.model_type={model}", "bertscore.num_layers=1", "bertscore.idf=true")
        expected = package(model, 1, idf=True, idf_sents=REFERENCES, nthreads=0)
        assert found[2] == pytest.approx(expected[2].tolist(), abs=1e-5)
        assert found[2].tolist() != package(model, 1)[2].tolist()

    def test_rescaled_with_a_baseline(self, tmp_path, model):
        baseline = tmp_path / "baseline.tsv"
        baseline.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.5,0.4,0.3\n")
        options = [f"bertscore.model_type={model}", "bertscore.num_layers=1", "bertscore.rescale=true"]
        found = run(tmp_path, *options, f"bertscore.baseline={baseline}")
        for ours, part, base in zip(found, package(model, 1), (0.5, 0.4, 0.3), strict=True):
            assert ours == pytest.approx(((part - base) / (1 - base)).tolist(), abs=1e-4)
        # the same file with other values: what --out kept is not taken for theirs
        baseline.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.2,0.2,0.2\n")
        again = run(tmp_path, *options, f"bertscore.baseline={baseline}")
        assert again[2] == pytest.approx(((package(model, 1)[2] - 0.2) / 0.8).tolist(), abs=1e-4)

    def test_a_folder_whose_path_names_another_kind_is_what_it_is(self, tmp_path, model):
        """bert-score would load it as a T5 model, with random weights."""
        place = tmp_path / "mt5 work" / "model"
        place.parent.mkdir()
        model.rename(place)
        found = run(tmp_path, f"bertscore.model_type={place}", "bertscore.num_layers=1")
        place.rename(model)
        assert found[2] == pytest.approx(package(model, 1)[2].tolist(), abs=1e-5)

    def test_other_weights_in_the_same_folder_are_scored_anew(self, tmp_path, model):
        options = [f"bertscore.model_type={model}", "bertscore.num_layers=1"]
        before = run(tmp_path, *options)
        tiny.make_encoder(model, positions=256, max_length=256, seed=5)
        assert abs(run(tmp_path, *options) - before).max() > 1e-4


class TestRefused:
    def test_what_cannot_be_used(self, tmp_path, model, monkeypatch):
        own = f"bertscore.model_type={model}"
        assert "num_layers" in run(tmp_path, own, status=2)
        assert "would have no effect" in run(tmp_path, "bertscore.baseline=x.tsv", status=2)
        assert "no such file" in run(tmp_path, "bertscore.baseline=x.tsv", "bertscore.rescale=true", status=2)
        assert "Baseline not Found" in run(tmp_path, "bertscore.rescale=true", status=2)
        assert "cannot load its model" in run(tmp_path, "bertscore.lang=ar", status=2)  # which is on the Hub
        assert "num_layers" in run(tmp_path, own, "bertscore.num_layers=9", status=2)
        path = model / "model.safetensors"
        tensors = load_file(path)
        save_file({name: t for name, t in tensors.items() if "query" not in name}, path, metadata={"format": "pt"})
        assert "lacks 2 tensors" in run(tmp_path, own, "bertscore.num_layers=1", status=2)
        find_spec = importlib.util.find_spec
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "bert_score" else find_spec(name))
        assert "pip install bert-score" in run(tmp_path, status=2)
