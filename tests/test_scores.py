"""Input checks, options, aggregation, intervals, signatures: what all metrics share."""

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics._shared.options import flag, one_of, share, whole_number
from metrics._shared.scores import (
    BOOTSTRAP_SEED,
    N_RESAMPLES,
    aggregate,
    check_batch,
    make_signature,
    resamples,
)

TEXTS = ["one", "two", "three"]


@pytest.mark.parametrize(
    "column",
    [
        TEXTS,
        tuple(TEXTS),
        (text for text in TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        pd.Series(TEXTS, index=[7, 8, 9]),
        pd.Series(TEXTS, dtype="string"),
        pa.array(TEXTS),
        datasets.Dataset.from_dict({"text": TEXTS})["text"],
    ],
    ids=lambda column: type(column).__name__,
)
def test_columns_of_every_kind(column):
    predictions, references = check_batch(column, TEXTS)
    assert predictions == TEXTS and references == TEXTS
    assert all(type(text) is str for text in predictions)


@pytest.mark.parametrize(
    "row", [["a", "b"], ("a", "b"), np.array(["a", "b"]), pd.Series(["a", "b"], index=[3, 4]), (t for t in "ab")]
)
def test_reference_lists_of_every_kind(row):
    assert check_batch(["x"], [row]) == (["x"], [["a", "b"]])


@pytest.mark.parametrize(
    ("predictions", "references", "error", "words"),
    [
        ("abc", ["a"], TypeError, ["predictions is one string", "predictions=[text]"]),
        (["a"], "abc", TypeError, ["references is one string"]),
        (None, ["a"], TypeError, ["predictions is None"]),
        (["a"], None, TypeError, ["references is None"]),
        (3, ["a"], TypeError, ["predictions is a int"]),
        ({"a": 1}, ["a"], TypeError, ["predictions is a dict"]),
        ({"a"}, ["a"], TypeError, ["predictions is a set"]),
        (pd.DataFrame({"a": ["x"]}), ["a"], TypeError, ["predictions is a DataFrame"]),
        ([], [], ValueError, ["nothing to score"]),
        (["a", "b"], ["a"], ValueError, ["predictions has 2 rows", "references has 1"]),
        (["a", None], ["a", "b"], TypeError, ["row 1 of predictions", "None", "drop the row"]),
        (["a", "b"], ["a", None], TypeError, ["row 1 of references", "None"]),
        (["a", 5], ["a", "b"], TypeError, ["row 1 of predictions", "int (5)"]),
        (["a", float("nan")], ["a", "b"], TypeError, ["row 1 of predictions", "float (nan)"]),
        (["a", b"b"], ["a", "b"], TypeError, ["row 1 of predictions", "bytes"]),
        ([["a"]], ["a"], TypeError, ["row 0 of predictions", "list"]),
        (["a", "b"], ["a", ["b"]], ValueError, ["mixes strings and lists", "row 1 is a list", "[text]"]),
        (["a", "b"], [["a"], "b"], ValueError, ["mixes strings and lists", "row 1 is a string"]),
        (["a", "b"], [["a"], []], ValueError, ["row 1 of references is an empty list"]),
        (["a", "b"], [["a"], ["b", None]], TypeError, ["row 1 of references, entry 1", "None"]),
        (["a", "b"], [["a"], None], TypeError, ["row 1 of references", "None"]),
        (["a", "b"], [["a"], {"b": 1}], TypeError, ["row 1 of references", "dict"]),
        (["a", "x\ud800"], ["a", "b"], ValueError, ["row 1 of predictions", "surrogate", "character 1"]),
        (["a"], [["b", "\udfff"]], ValueError, ["row 0 of references, entry 1", "surrogate"]),
    ],
)
def test_bad_input_names_row_and_remedy(predictions, references, error, words):
    with pytest.raises(error) as caught:
        check_batch(predictions, references)
    for word in words:
        assert word in str(caught.value)


def test_a_later_batch_names_the_example_in_all():
    with pytest.raises(TypeError, match=r"row 1 \(example 11 in all\) of predictions"):
        check_batch(["a", None], ["a", "b"], stored=10)
    with pytest.raises(ValueError, match="mixes strings and lists"):
        check_batch(["a"], ["b"], multiple=True, stored=1)


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (one_of("a", None), ["a", None], ["b", 1, 0, False]),
        (flag, [True, False, np.True_], [1, "yes", None]),
        (whole_number(1), [1, 5, np.int64(3)], [0, -1, 1.0, True, "2", None]),
        (share, [None, 0.95, np.float32(0.5)], [0, 1, 1.5, -1, True, "0.9", float("nan")]),
    ],
)
def test_option_checks(check, good, bad):
    for value in good:
        assert check("name", value) == value
    for value in bad:
        with pytest.raises((TypeError, ValueError), match=r"name=.*give"):
            check("name", value)


class TestAggregate:
    def test_mean_leaves_out_undefined(self):
        result = aggregate({"a": [0.0, 1.0, float("nan")], "b": [float("nan")] * 3})
        assert result["a"] == 0.5 and np.isnan(result["b"])
        assert all(type(value) is float for value in result.values())

    def test_interval_equals_a_plain_bootstrap(self):
        values = np.random.default_rng(1).random(40)
        result = aggregate({"a": values.tolist()}, confidence=0.9)
        rng = np.random.default_rng(BOOTSTRAP_SEED)
        means = []
        for _ in range(N_RESAMPLES):  # one resample after another, counted example by example
            means.append(sum(values[drawn] for drawn in rng.integers(0, 40, 40)) / 40)
        low, high = np.quantile(means, [0.05, 0.95])
        assert result["a_low"] == pytest.approx(low) and result["a_high"] == pytest.approx(high)
        assert result["a_low"] < result["a"] < result["a_high"]

    def test_interval_repeats_and_widens_with_confidence(self):
        values = {"a": np.random.default_rng(2).random(30).tolist()}
        narrow, wide = aggregate(values, 0.8), aggregate(values, 0.99)
        assert narrow == aggregate(values, 0.8)
        assert wide["a_low"] < narrow["a_low"] and narrow["a_high"] < wide["a_high"]

    def test_interval_covers_the_true_mean_about_as_often_as_it_says(self):
        rng = np.random.default_rng(3)
        results = [aggregate({"a": rng.normal(0.5, 0.1, 50).tolist()}, 0.9) for _ in range(200)]
        covered = np.mean([r["a_low"] <= 0.5 <= r["a_high"] for r in results])
        assert 0.82 <= covered <= 0.96  # binomial noise, and the percentile interval is a little narrow

    def test_one_example_and_undefined_ones(self):
        result = aggregate({"a": [0.3], "b": [float("nan")]}, 0.95)
        assert result["a_low"] == result["a_high"] == pytest.approx(0.3)
        assert np.isnan(result["b_low"]) and np.isnan(result["b_high"])
        result = aggregate({"a": [0.0, 1.0, float("nan"), float("nan")]}, 0.95)
        assert 0 <= result["a_low"] <= 0.5 <= result["a_high"] <= 1

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
    def test_order_does_not_matter(self, values):
        assert aggregate({"a": values})["a"] == pytest.approx(aggregate({"a": values[::-1]})["a"])

    @pytest.mark.parametrize("n", [1, 7, 3001])
    def test_resamples_are_the_same_however_many_and_in_whatever_blocks(self, n):
        few, many = np.concatenate(list(resamples(n, 30))), np.concatenate(list(resamples(n, 900)))
        assert (few == many[:30]).all() and many.shape == (900, n) and (many.sum(axis=1) == n).all()
        assert many.mean() == pytest.approx(1) and abs(many.mean(axis=0) - 1).max() < 0.25

    def test_memory_is_bounded_for_many_examples(self):
        n = 10_001  # more than one block of resamples
        values = np.linspace(0, 1, n)
        result = aggregate({"a": values.tolist()}, 0.95)
        assert result["a_low"] < 0.5 < result["a_high"] and result["a_high"] - result["a_low"] < 0.02


def test_signature_is_one_line_that_can_be_parsed():
    signature = make_signature("sss", "1.0", {"lang": "en", "name": "a|b:c\n", "splitter": aggregate}, ("numpy",))
    parts = dict(part.split(":", 1) for part in signature.split("|")[1:])
    assert parts == {
        "version": "1.0",
        "lang": "en",
        "name": "a%7Cb%3Ac%0A",
        "splitter": "metrics._shared.scores.aggregate",
        "numpy": np.__version__,
    }
