"""The contract that every metric keeps: inputs, options, outputs, errors, threads, what is left behind."""

import os
import sys
import threading

import datasets
import evaluate
import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

PREDICTIONS = ["The old bridge was closed.", "A cat sleeps.", "Rain is expected on Friday."]
REFERENCES = ["The bridge was closed after the storm.", "Trains were late again.", "It will rain on Friday."]
PRIMARY = {"semantic_siamese_similarity": "sss", "max_salient_similarity": "mss"}
KEYS = {
    "sss": ["sss", "sss_cosine", "sss_rouge", "sss_l2", "sss_frequency_ratio"],
    "mss": ["mss", "mss_compression"],
}
# what each metric accepts, with a value that is wrong
BAD_OPTIONS = [
    {"nonsense": 1},
    {"use_aggregator": "yes"},
    {"confidence": 95},
    {"return_signature": 1},
    {"lang": "English language"},
    {"model_name": 3},
    {"device": "gpu"},
    {"batch_size": 0},
    {"cache_bytes": -1},
    {"confidence": 0.9, "use_aggregator": False},
]


def short(metric):
    return PRIMARY[metric.name]


def arrow_files(metric):
    return [name for name in os.listdir(metric.data_dir) if name.endswith(".arrow")]


@pytest.fixture
def expected(metric):
    return metric.compute(predictions=PREDICTIONS, references=REFERENCES)


class TestOutputs:
    def test_plain_floats_under_the_keys_of_the_design(self, metric, expected):
        assert list(expected) == KEYS[short(metric)]
        assert all(type(value) is float for value in expected.values())

    def test_aggregate_is_the_mean_of_the_scores(self, metric, expected):
        scores = metric.score(PREDICTIONS, REFERENCES)
        assert expected == {key: pytest.approx(np.mean(values)) for key, values in scores.items()}
        assert metric.compute(predictions=PREDICTIONS, references=REFERENCES, use_aggregator=False) == scores
        assert all(type(value) is float for values in scores.values() for value in values)

    def test_confidence_adds_an_interval_to_each_key(self, metric, expected):
        result = metric.compute(predictions=PREDICTIONS, references=REFERENCES, confidence=0.95)
        for key, value in expected.items():
            assert result[f"{key}_low"] <= value <= result[f"{key}_high"]
        assert len(result) == 3 * len(expected)
        assert result == metric.compute(predictions=PREDICTIONS, references=REFERENCES, confidence=0.95)

    def test_signature_names_every_option_that_changes_the_value(self, metric):
        result = metric.compute(predictions=PREDICTIONS, references=REFERENCES, return_signature=True, device="cpu")
        parts = dict(part.split(":", 1) for part in result["signature"].split("|")[1:])
        assert result["signature"].startswith(f"{short(metric)}|version:{metric.VERSION}|")
        changing = {name for name, option in metric.OPTIONS.items() if option.changes_score}
        assert changing <= parts.keys()
        assert parts["model"] == "all-MiniLM-L6-v2" and len(parts["weights"]) == 16
        for name in ("device", "batch_size", "cache_bytes", "use_aggregator", "return_signature"):
            assert name not in parts
        assert {"numpy", "torch", "transformers", "sentence-transformers", "regex"} <= parts.keys()
        assert metric.signature(device="cpu") == result["signature"] == metric.signature(batch_size=1)
        assert metric.signature(confidence=0.9) != metric.signature()

    def test_keys_of_the_metrics_do_not_collide(self):
        assert not set(KEYS["sss"]) & {*KEYS["mss"], "mss_support", "mss_coverage", "mss_f1"}

    def test_names(self, metric):
        assert metric.name in PRIMARY and metric.module_type == "metric"
        assert metric.description and metric.inputs_description and list(metric.features[0]) == list(metric.features[1])


class TestInputs:
    @pytest.mark.parametrize(
        "convert",
        [
            tuple,
            iter,
            np.array,
            lambda rows: pd.Series(rows, index=[5, 6, 7]),
            lambda rows: datasets.Dataset.from_dict({"x": rows})["x"],
        ],
        ids=["tuple", "generator", "array", "series", "column"],
    )
    def test_columns_of_every_kind(self, metric, expected, convert):
        assert metric.compute(predictions=convert(PREDICTIONS), references=convert(REFERENCES)) == expected
        lists = [(text,) for text in REFERENCES]
        assert metric.compute(predictions=convert(PREDICTIONS), references=lists) == pytest.approx(expected)

    def test_add_and_add_batch_equal_compute(self, metric, expected):
        metric.add_batch(predictions=PREDICTIONS[:2], references=REFERENCES[:2])
        metric.add(prediction=PREDICTIONS[2], reference=REFERENCES[2])
        assert len(metric) == 3 and metric.compute() == pytest.approx(expected)
        for prediction, reference in zip(PREDICTIONS, REFERENCES, strict=True):
            metric.add(prediction=prediction, reference=[reference])
        assert metric.compute() == pytest.approx(expected)
        metric.add_batch(predictions=PREDICTIONS[:1], references=REFERENCES[:1])
        assert metric.compute(predictions=PREDICTIONS[1:], references=REFERENCES[1:]) == pytest.approx(expected)

    def test_in_memory(self, metric, expected):
        kept = evaluate.load(str(ROOT / "metrics" / short(metric)), keep_in_memory=True)
        assert kept.compute(predictions=PREDICTIONS, references=REFERENCES) == pytest.approx(expected)
        with pytest.raises(TypeError):
            kept.compute(predictions=["a", None], references=["a", "b"])
        assert kept.compute(predictions=PREDICTIONS, references=REFERENCES) == pytest.approx(expected)

    def test_a_bad_batch_is_refused_whole_and_the_good_ones_kept(self, metric, expected):
        metric.add_batch(predictions=PREDICTIONS[:2], references=REFERENCES[:2])
        for bad in [
            dict(predictions=["a", None], references=["a", "b"]),
            dict(predictions=["a"], references=[["b"]]),
            dict(predictions=["a", "b"], references=["a"]),
            dict(predictions=[], references=[]),
        ]:
            with pytest.raises((TypeError, ValueError)):
                metric.add_batch(**bad)
        with pytest.raises(TypeError, match="example 2 in all"):
            metric.add(prediction=None, reference="a")
        metric.add(prediction=PREDICTIONS[2], reference=REFERENCES[2])
        assert metric.compute() == pytest.approx(expected)

    def test_a_batch_as_dataset_map_gives_it(self, metric):
        scores = metric.score(PREDICTIONS, REFERENCES)
        batch = {"predictions": PREDICTIONS, "references": REFERENCES, "other": [1, 2, 3]}
        assert metric.score(batch) == scores
        assert metric.score(pd.DataFrame(batch)) == scores
        assert metric.score({name: np.array(column) for name, column in batch.items()}) == scores  # as Ray Data
        with pytest.raises(ValueError, match="no column 'references'"):
            metric.score({"predictions": PREDICTIONS})

    @pytest.mark.parametrize(
        "arguments",
        [
            dict(predictions="abc", references=["a"]),
            dict(predictions=["a", None], references=["a", "b"]),
            dict(predictions=["a", "b"], references=["a", ["b"]]),
            dict(predictions=["a"], references=[[]]),
            dict(predictions=["a"], references=["a", "b"]),
            dict(predictions=["\ud800"], references=["a"]),
            dict(predictions=[1], references=["a"]),
            dict(predictions=[], references=[]),
            dict(predictions=["a"]),
            dict(references=["a"]),
            dict(),
        ],
    )
    def test_compute_works_again_after_bad_input(self, metric, expected, arguments):
        with pytest.raises((TypeError, ValueError)):
            metric.compute(**arguments)
        assert len(metric) == 0 and not arrow_files(metric)
        assert metric.compute(predictions=PREDICTIONS, references=REFERENCES) == expected

    def test_positional_arguments_get_a_clear_message(self, metric):
        with pytest.raises(TypeError, match=r"by name: compute\(predictions=\[...\], references=\[...\]\)"):
            metric.compute(PREDICTIONS, REFERENCES)
        for call in (metric.add, metric.add_batch):
            with pytest.raises(TypeError, match="by name, and nothing else"):
                call("a", "b")
            with pytest.raises(TypeError, match="by name, and nothing else"):
                call(sources=["a"])


class TestOptions:
    @pytest.mark.parametrize("options", BAD_OPTIONS, ids=lambda options: next(iter(options)))
    def test_bad_options_are_named_before_any_model_is_loaded(self, metric, expected, options, monkeypatch):
        module = sys.modules[type(metric).__module__]
        monkeypatch.setattr(module.Embedder, "from_options", None)  # a model would be a TypeError of its own
        name = next(iter(options))
        with pytest.raises((TypeError, ValueError), match=name) as caught:
            metric.compute(predictions=PREDICTIONS, references=REFERENCES, **options)
        if name == "nonsense":
            assert "the options are" in str(caught.value) and "batch_size" in str(caught.value)
        assert not arrow_files(metric) and len(metric) == 0
        with pytest.raises((TypeError, ValueError), match=name):
            evaluate.load(str(ROOT / "metrics" / short(metric)), **options)
        monkeypatch.undo()
        assert metric.compute(predictions=PREDICTIONS, references=REFERENCES) == expected

    def test_given_at_load_and_overridden_at_compute(self, metric, expected):
        name = str(ROOT / "metrics" / short(metric))
        loaded = evaluate.load(name, use_aggregator=False, batch_size=2)
        result = loaded.compute(predictions=PREDICTIONS, references=REFERENCES)
        assert isinstance(result[short(metric)], list)
        result = loaded.compute(predictions=PREDICTIONS, references=REFERENCES, use_aggregator=True)
        assert result == pytest.approx(expected)

    def test_a_failure_inside_the_model_leaves_nothing_behind(self, metric, expected, monkeypatch):
        module = sys.modules[type(metric).__module__]

        def fail(*args):
            raise RuntimeError("the device is gone")

        monkeypatch.setattr(module.Embedder, "encode", fail)
        metric.add_batch(predictions=PREDICTIONS, references=REFERENCES)
        with pytest.raises(RuntimeError, match="the device is gone"):
            metric.compute()
        assert not arrow_files(metric) and len(metric) == 0
        monkeypatch.undo()
        assert metric.compute(predictions=PREDICTIONS, references=REFERENCES) == expected

    def test_a_failed_compute_does_not_touch_another_instance(self, metric, expected):
        """Both share a data folder; an instance that computed before must not remove what is another's now."""
        metric.compute(predictions=PREDICTIONS, references=REFERENCES)
        other = evaluate.load(str(ROOT / "metrics" / short(metric)))
        other.add_batch(predictions=PREDICTIONS, references=REFERENCES)
        with pytest.raises(TypeError):
            metric.compute(predictions=[None], references=["a"])
        assert other.compute() == expected


class TestThreads:
    def test_score_in_many_threads(self, metric):
        expected = {number: metric.score(PREDICTIONS[number:], REFERENCES[number:]) for number in range(3)}
        found, failures = {}, []

        def work(thread):
            try:
                for number in range(3):
                    scores = metric.score(PREDICTIONS[number:], REFERENCES[number:], cache_bytes=thread % 2 * 2**20)
                    found[thread, number] = scores
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert not failures and len(found) == 24
        for (_, number), scores in found.items():
            for key, values in scores.items():
                assert values == pytest.approx(expected[number][key], abs=1e-5)


def test_loading_again_loads_no_model_again(metric):
    """One model and one bounded cache for the process, however often a metric is loaded."""
    metric.compute(predictions=PREDICTIONS, references=REFERENCES)
    backends = sys.modules[type(metric).__module__.rpartition(".")[0] + ".backends"]
    models = list(backends._loaded.values())
    for _ in range(3):
        again = evaluate.load(str(ROOT / "metrics" / short(metric)))
        assert type(again) is type(metric)
        again.compute(predictions=PREDICTIONS, references=REFERENCES)
    assert [model is kept for model, kept in zip(models, backends._loaded.values(), strict=True)] == [True] * len(
        models
    )
