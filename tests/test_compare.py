"""Tests of systems: closed cases, other implementations, promises kept."""

import json
from itertools import product

import numpy as np
import pytest
from command import COLUMNS, call
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from eval_summaries.comparison import compare_systems, holm
from eval_summaries.resample import BOOTSTRAP_FROM, EXACT, paired_bootstrap, randomization
from eval_summaries.tables import cells_of, latex, summarise
from metrics._shared.scores import aggregate

GAPS = st.sampled_from([0.0, 0.5, -0.25, 1.0, np.nan, 0.1])


def column(values):
    return np.array(values, dtype=np.float64)[:, None]


def plain_randomization(differences):
    """The oracle: every pattern of signs, one after the other."""
    differences = [d for d in differences if not np.isnan(d)]
    observed = abs(sum(differences))
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return np.mean([value >= observed * (1 - 1e-9) - 1e-12 for value in sums])


class TestResampling:
    def test_closed_cases(self):
        """Four equal differences: of 16 sign patterns two are as extreme. Two examples cannot say more than a half."""
        assert randomization(column([1, 1, 1, 1]))[0] == 2 / 16
        assert randomization(column([0.3, 0.4]))[0] == 2 / 4
        assert randomization(column([0.3]))[0] == 1
        # 0 and 1, moved to -1/2 and 1/2: half of the resamples take one of them twice and reach the mean of 1/2
        assert paired_bootstrap(column([0.0, 1.0]))[0] == pytest.approx(1 / 2, abs=0.02)
        assert randomization(column([0, 0, 0]))[0] == paired_bootstrap(column([0, 0, 0]))[0] == 1

    @settings(max_examples=examples(60))
    @given(
        st.lists(
            st.lists(st.sampled_from([0.0, 0.5, -0.25, 1.0, np.nan, 0.1]), min_size=7, max_size=7),
            min_size=1,
            max_size=6,
        )
    )
    def test_exact_equals_every_pattern_one_after_the_other(self, columns):
        found = randomization(np.array(columns).T)
        assert found == pytest.approx([plain_randomization(values) for values in columns])

    def test_exact_and_drawn_agree_where_they_meet(self):
        rng = np.random.default_rng(5)
        gaps = rng.normal(0.3, 1, (EXACT, 50))
        exact, drawn = randomization(gaps), randomization(np.vstack([gaps, np.full((1, 50), 1e-13)]))
        assert abs(exact - drawn).max() < 0.02

    def test_equals_scipys_permutation_test(self):
        rng = np.random.default_rng(0)
        for size, shift in ((12, 0.0), (12, 0.6), (40, 0.2)):
            one, other = rng.normal(shift, 1, size), rng.normal(0, 1, size)
            theirs = permutation_test(
                (one, other),
                lambda a, b, axis=-1: (a - b).mean(axis=axis),
                permutation_type="samples",
                n_resamples=20_000,
                vectorized=True,
                random_state=1,
            ).pvalue
            assert randomization(column(one - other))[0] == pytest.approx(theirs, abs=1e-9 if size <= EXACT else 0.02)

    def test_bootstrap_is_near_the_t_test_for_normal_data(self):
        from scipy.stats import ttest_rel

        rng = np.random.default_rng(1)
        for shift in (0.0, 0.1, 0.3):
            one, other = rng.normal(shift, 1, 200), rng.normal(0, 1, 200)
            assert paired_bootstrap(column(one - other))[0] == pytest.approx(ttest_rel(one, other).pvalue, abs=0.03)

    @pytest.mark.parametrize("test", [paired_bootstrap, randomization])
    def test_false_positives_come_about_as_often_as_the_level_says(self, test):
        p_values = test(np.random.default_rng(2).normal(0, 1, (40, 1000)), 1000)
        assert 0.03 <= (p_values < 0.05).mean() <= 0.08 and 0.44 <= (p_values < 0.5).mean() <= 0.56

    @pytest.mark.parametrize("test", [paired_bootstrap, randomization])
    def test_a_column_does_not_depend_on_its_neighbours(self, test):
        """Nor on examples that only other pairs have, for the test of signs."""
        gaps = np.random.default_rng(3).normal(0.2, 1, (40, 3))
        assert test(gaps, 500)[1] == test(gaps[:, [1]], 500)[0]
        if test is randomization:
            few = np.where(np.arange(40)[:, None] < 10, gaps, np.nan)
            assert randomization(few).tolist() == randomization(gaps[:10]).tolist()

    def test_missing_examples_are_left_out(self):
        gaps = np.random.default_rng(4).normal(0.3, 1, (80, 1))
        holes = np.full((160, 1), np.nan)
        holes[::2] = gaps
        assert paired_bootstrap(holes)[0] == pytest.approx(paired_bootstrap(gaps)[0], abs=0.03)
        assert randomization(holes)[0] == pytest.approx(randomization(gaps)[0], abs=0.02)


class TestComparison:
    def test_holm_by_hand(self):
        assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
        assert holm([0.9, 0.5]) == [1.0, 1.0] and holm([]) == []

    def test_systems_are_paired_by_id_and_undefined_examples_left_out(self):
        scores = {
            ("a", "1"): {"k": 1.0},
            ("a", "2"): {"k": 0.5},
            ("a", "3"): {"k": float("nan")},
            ("a", "4"): {"k": 9.0},
        }
        scores |= {("b", "2"): {"k": 0.0}, ("b", "1"): {"k": 0.0}, ("b", "3"): {"k": 0.0}}
        (found,) = compare_systems(scores, ["k"])
        assert (found.one, found.other, found.n, found.difference) == ("a", "b", 2, 0.75)
        assert found.randomization == 0.5 and np.isnan(found.bootstrap)  # two examples say no more than that

    def test_equals_the_comparison_of_each_pair_alone(self):
        rng = np.random.default_rng(6)
        scores = {
            (system, str(n)): {key: float(rng.random()) for key in ("k", "l") if rng.random() < 0.9}
            for system in "abc"
            for n in range(40)
            if rng.random() < 0.95
        }
        together = compare_systems(scores, ["k", "l"])
        assert len(together) == 6
        for found in together:
            gaps = [
                scores[found.one, name][found.key] - scores[found.other, name][found.key]
                for system, name in scores
                if system == found.one
                and (found.other, name) in scores
                and all(found.key in scores[side, name] for side in (found.one, found.other))
            ]
            assert found.n == len(gaps) and found.difference == pytest.approx(np.mean(gaps))
            assert found.randomization == pytest.approx(randomization(column(gaps))[0], abs=0.02)

    @pytest.mark.parametrize(("n", "given"), [(BOOTSTRAP_FROM - 1, False), (BOOTSTRAP_FROM, True)])
    def test_the_bootstraps_p_is_given_where_it_can_be_trusted(self, n, given):
        rng = np.random.default_rng(7)
        scores = {(system, str(i)): {"k": float(rng.random())} for system in "ab" for i in range(n)}
        (found,) = compare_systems(scores, ["k"])
        assert (found.bootstrap == found.bootstrap) == given and found.randomization > 2 / 2**n

    def test_ids_that_never_meet_are_said(self, tmp_path):
        rows = [{"m": m, "i": f"{m}{n}", "p": "a cat", "r": "a cat"} for m in "ab" for n in range(3)]
        (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
        columns = ["--predictions", "p", "--references", "r", "--system", "m", "--id", "i", "--metrics", "rouge"]
        status, shown = call(tmp_path / "x.jsonl", *columns)
        assert status == 0 and "Not compared: a and b have no id in common (such as 'a0' and 'b0')" in shown
        assert "Comparison of systems" not in shown

    def test_one_example_has_no_deviation(self):
        (row,) = summarise({("a", "1"): {"k": 0.5}})
        assert row.n == 1 and row.mean == row.low == row.high == 0.5 and np.isnan(row.deviation)
        assert cells_of(row)[3] == "" and "pm" not in latex([row])

    def test_means_and_intervals_are_those_of_the_metrics(self):
        rng = np.random.default_rng(8)
        values = {"k": rng.random(30).tolist(), "l": [*rng.random(20).tolist(), *[np.nan] * 10]}
        scores = {("a", str(n)): {key: values[key][n] for key in values} for n in range(30)}
        theirs = aggregate(values, 0.95)
        for row in summarise(scores):
            assert (row.mean, row.low, row.high) == tuple(theirs[f"{row.key}{end}"] for end in ("", "_low", "_high"))

    def test_the_table_marks_what_differs(self, data, tmp_path):
        assert call(data, *COLUMNS, "--metrics", "rouge", "--out", tmp_path / "out")[0] == 0
        lines = [line for line in (tmp_path / "out" / "summary.md").read_text().splitlines() if "good - bad" in line]
        assert len(lines) == 4 and all("+0." in line and " * " in line for line in lines)
