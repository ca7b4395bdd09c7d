"""The contract that every metric keeps: inputs, options, outputs, errors, threads, what is left behind."""

import os
import pickle
import sys
import threading

import datasets
import numpy as np
import pandas as pd
import pytest
from conftest import load

PREDICTIONS = ["Amy and Raj closed the old bridge.", "A cat sleeps, says Amy.", "Amy told Raj of the rain on Friday."]
REFERENCES = ["The bridge was closed by Raj and Amy.", "Trains were late again for Raj.", "Amy and Penny saw rain."]
PRIMARY = {
    "semantic_siamese_similarity": "sss",
    "max_salient_similarity": "mss",
    "bag_of_characters": "boc",
    "bag_of_relations": "bor",
}
KEYS = {
    "sss": ["sss", "sss_cosine", "sss_rouge", "sss_l2", "sss_frequency_ratio"],
    "mss": ["mss", "mss_compression"],
    "boc": ["boc_precision", "boc_recall", "boc_f1"],
    "bor": ["bor_precision", "bor_recall", "bor_f1"],
}
WITH_MODEL = ("sss", "mss")
# options with a value that is wrong
BAD_OPTIONS = [
    {"nonsense": 1},
    {"use_aggregator": "yes"},
    {"confidence": 95},
    {"return_signature": 1},
    {"confidence": 0.9, "use_aggregator": False},
    {"lang": "English language"},
    {"model_name": 3},
    {"device": "gpu"},
    {"batch_size": 0},
    {"cache_bytes": -1},
    {"characters": "Amy"},
    {"ignore_case": 1},
    {"average": "mean"},
    {"zero_division": 2},
    {"splitter": "lines"},
]


def model_calls(metric):
    """Where a metric's work happens, to watch or to break."""
    module = sys.modules[type(metric).__module__]
    return (module.Embedder, "encode") if short(metric) in WITH_MODEL else (module, "per_example")


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
        assert expected == {key: pytest.approx(np.nanmean(values)) for key, values in scores.items()}
        lists = metric.compute(predictions=PREDICTIONS, references=REFERENCES, use_aggregator=False)
        assert lists.keys() == scores.keys()
        for key, values in scores.items():
            assert values == pytest.approx(lists[key], nan_ok=True)
        assert all(type(value) is float for values in scores.values() for value in values)

    def test_confidence_adds_an_interval_to_each_key(self, metric, expected):
        result = metric.compute(predictions=PREDICTIONS, references=REFERENCES, confidence=0.95)
        for key, value in expected.items():
            assert result[f"{key}_low"] <= value <= result[f"{key}_high"]
        assert len(result) == 3 * len(expected)
        assert result == metric.compute(predictions=PREDICTIONS, references=REFERENCES, confidence=0.95)

    def test_signature_names_every_option_that_changes_the_value(self, metric):
        result = metric.compute(predictions=PREDICTIONS, references=REFERENCES, return_signature=True)
        parts = dict(part.split(":", 1) for part in result["signature"].split("|")[1:])
        assert result["signature"].startswith(f"{short(metric)}|version:{metric.VERSION}|")
        changing = {name for name, option in metric.OPTIONS.items() if option.changes_score}
        assert changing <= parts.keys()
        for name in ("device", "batch_size", "cache_bytes", "use_aggregator", "return_signature"):
            assert name not in parts
        assert {"numpy", "regex"} <= parts.keys()
        assert metric.signature() == result["signature"] != metric.signature(confidence=0.9)
        if short(metric) in WITH_MODEL:
            assert parts["model"] == "all-MiniLM-L6-v2" and len(parts["weights"]) == 16
            assert {"torch", "transformers", "sentence-transformers"} <= parts.keys()
            assert metric.signature(device="cpu") == result["signature"] == metric.signature(batch_size=1)
        else:
            assert parts["characters"] != "None"
            assert metric.signature(characters=["Other"]) != result["signature"] != metric.signature(ignore_case=True)

    def test_keys_of_the_metrics_do_not_collide(self):
        keys = [*(key for keys in KEYS.values() for key in keys), "mss_support", "mss_coverage", "mss_f1"]
        assert len(set(keys)) == len(keys)

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
        kept = load(short(metric), keep_in_memory=True)
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
        ray = {name: np.array(column) for name, column in batch.items()}
        for form in (batch, pd.DataFrame(batch), ray):
            found = metric.score(form)
            assert all(found[key] == pytest.approx(values, nan_ok=True) for key, values in scores.items())
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
    def test_bad_options_are_named_before_anything_is_computed(self, metric, expected, options, monkeypatch):
        monkeypatch.setattr(*model_calls(metric), None)  # work would be a TypeError of its own
        name = next(iter(options))
        with pytest.raises((TypeError, ValueError), match=name) as caught:
            metric.compute(predictions=PREDICTIONS, references=REFERENCES, **options)
        if name not in metric.OPTIONS:
            assert "the options are" in str(caught.value) and "use_aggregator" in str(caught.value)
        assert not arrow_files(metric) and len(metric) == 0
        with pytest.raises((TypeError, ValueError), match=name):
            load(short(metric), **options)
        monkeypatch.undo()
        assert metric.compute(predictions=PREDICTIONS, references=REFERENCES) == expected

    def test_given_at_load_and_overridden_at_compute(self, metric, expected):
        loaded = load(short(metric), use_aggregator=False)
        result = loaded.compute(predictions=PREDICTIONS, references=REFERENCES)
        assert all(isinstance(values, list) for values in result.values())
        result = loaded.compute(predictions=PREDICTIONS, references=REFERENCES, use_aggregator=True)
        assert result == pytest.approx(expected)

    def test_a_failure_inside_the_work_leaves_nothing_behind(self, metric, expected, monkeypatch):
        def fail(*args):
            raise RuntimeError("the device is gone")

        monkeypatch.setattr(*model_calls(metric), fail)
        metric.add_batch(predictions=PREDICTIONS, references=REFERENCES)
        with pytest.raises(RuntimeError, match="the device is gone"):
            metric.compute()
        assert not arrow_files(metric) and len(metric) == 0
        monkeypatch.undo()
        assert metric.compute(predictions=PREDICTIONS, references=REFERENCES) == expected

    def test_a_failed_compute_does_not_touch_another_instance(self, metric, expected):
        """Both share a data folder; an instance that computed before must not remove what is another's now."""
        metric.compute(predictions=PREDICTIONS, references=REFERENCES)
        other = load(short(metric))
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
                    cache = {"cache_bytes": thread % 2 * 2**20} if short(metric) in WITH_MODEL else {}
                    scores = metric.score(PREDICTIONS[number:], REFERENCES[number:], **cache)
                    found[thread, number] = scores
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert not failures and len(found) == 24
        for (_, number), scores in found.items():
            for key, values in scores.items():
                assert values == pytest.approx(expected[number][key], abs=1e-5, nan_ok=True)

    @pytest.mark.parametrize("name", ["boc", "sss"])
    def test_compute_of_one_object_in_many_threads(self, name):
        """Each thread has the scores of what it gave, and of nothing that another one gave."""
        metric, found = load(name), {}
        expected = [metric.compute(predictions=PREDICTIONS[n:], references=REFERENCES[n:]) for n in range(3)]

        def work(thread):
            for turn in range(3):
                n = (thread + turn) % 3
                try:
                    found[thread, turn] = metric.compute(predictions=PREDICTIONS[n:], references=REFERENCES[n:])
                except Exception as error:
                    found[thread, turn] = error

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert found == {(t, turn): expected[(t + turn) % 3] for t in range(8) for turn in range(3)}
        assert pickle.loads(pickle.dumps(metric)).compute(predictions=["x"], references=["x"]).keys()

    @pytest.mark.slow
    def test_added_in_one_thread_and_computed_in_another(self):
        boc = load("boc")
        expected = boc.compute(predictions=["Amy"], references=["Amy and Raj"])
        for _ in range(3):
            thread = threading.Thread(target=boc.add, kwargs={"prediction": "Amy", "reference": "Amy and Raj"})
            thread.start()
            thread.join()
            assert boc.compute() == expected


@pytest.mark.parametrize("name", WITH_MODEL)
def test_loading_again_loads_no_model_again(name):
    """One model and one bounded cache for the process, however often a metric is loaded."""
    metric = load(name)
    metric.compute(predictions=PREDICTIONS, references=REFERENCES)
    backends = sys.modules[type(metric).__module__.rpartition(".")[0] + ".backends"]
    models = list(backends._loaded.values())
    for _ in range(3):
        again = load(name)
        assert type(again) is type(metric)
        again.compute(predictions=PREDICTIONS, references=REFERENCES)
    assert [model is kept for model, kept in zip(models, backends._loaded.values(), strict=True)] == [True] * len(
        models
    )
