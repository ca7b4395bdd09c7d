"""Agreement with people: equal to scipy and, where it is installed, to nlpstats; tests that tell scores apart."""

import importlib.util
import json
import math

import numpy as np
import pytest
from command import COLUMNS, ROWS, call, write_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from eval_summaries import agreement, agreement_tables, better, correlation
from eval_summaries.agreement import LENGTH, Rated, agree
from eval_summaries.better import compare_scores, williams
from eval_summaries.cells import as_rating
from eval_summaries.correlation import COEFFICIENTS

SCIPY = {
    "spearman": lambda x, z: stats.spearmanr(x, z).statistic,
    "kendall": lambda x, z: stats.kendalltau(x, z).statistic,
    "pearson": lambda x, z: stats.pearsonr(x, z).statistic,
}
few = st.integers(0, 4).map(float)  # many ties


def plain(coefficient, x, z):
    """scipy's coefficient, nan where a side is constant or there are less than two points."""
    kept = ~(np.isnan(x) | np.isnan(z))
    x, z = x[kept], z[kept]
    return SCIPY[coefficient](x, z) if len(x) > 1 and np.ptp(x) and np.ptp(z) else math.nan


def pair(seed=0, documents=12, systems=6, missing=0):
    """A score, a rating with ties, and lengths."""
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 6, (documents, systems)).astype(float)
    score = human + rng.normal(0, 2, human.shape)
    for table in (human, score):
        table[rng.random(table.shape) < missing] = np.nan
    return score, human, rng.integers(5, 60, human.shape).astype(float)


def oracle(level, coefficient, x, z):
    """The three levels, written plainly."""
    if level == "pooled":
        return plain(coefficient, x.ravel(), z.ravel())
    known = ~(np.isnan(x) | np.isnan(z))
    if level == "system":
        columns = [column for column in range(x.shape[1]) if known[:, column].any()]
        means = [np.array([side[known[:, c], c].mean() for c in columns]) for side in (x, z)]
        return plain(coefficient, *means)
    each = [plain(coefficient, x[row], z[row]) for row in range(len(x))]
    each = [r for r in each if not math.isnan(r)]
    return np.mean(each) if each else math.nan


class TestCoefficients:
    @pytest.mark.parametrize("coefficient", COEFFICIENTS)
    @given(st.lists(st.tuples(few, few), min_size=2, max_size=12), st.randoms(use_true_random=False))
    @settings(max_examples=40)
    def test_whole_weights_are_repeated_points(self, coefficient, points, random):
        x, z = (np.array(side) for side in zip(*points, strict=True))
        weights = np.array([random.randint(0, 3) for _ in points], dtype=float)
        again = np.repeat(np.arange(len(x)), weights.astype(int))
        expected = plain(coefficient, x[again], z[again])
        drawn = weights[None]
        found = [
            correlation.within(coefficient, x[None], z[None], drawn)[0, 0],
            correlation.between(coefficient, x[None], z[None], drawn)[0],
            correlation.pooled(coefficient, *(correlation.form(coefficient, side, drawn) for side in (x, z)), drawn)[0],
        ]
        assert found == [pytest.approx(expected, abs=1e-9, nan_ok=True)] * 3

    def test_noise_is_no_variation(self):
        x = np.array([[0.1 + 0.2, 0.3, 0.3, 0.3]])
        assert math.isnan(correlation.within("pearson", x, np.array([[1.0, 2, 3, 4]]), np.ones((1, 4)))[0, 0])

    def test_partial(self):
        rng = np.random.default_rng(3)
        c = rng.normal(size=200)
        x, z = c + rng.normal(size=200), c + rng.normal(size=200)
        rest = [side - np.polyval(np.polyfit(c, side, 1), c) for side in (x, z)]
        r = [np.corrcoef(a, b)[0, 1] for a, b in ((x, z), (x, c), (z, c))]
        assert correlation.without(*map(np.array, r)) == pytest.approx(np.corrcoef(*rest)[0, 1])
        assert math.isnan(correlation.without(np.array(0.5), np.array(1.0), np.array(0.5)))


class TestLevels:
    @pytest.mark.parametrize("missing", [0, 0.3])
    def test_values_are_those_of_the_plain_definition(self, missing):
        score, human, lengths = pair(missing=missing)
        found = agree(Rated({"s": score}, {"h": human}, lengths))
        assert {(a.score, a.level, a.coefficient) for a in found} == {
            (s, level, c) for s in ("s", LENGTH) for level in agreement.LEVELS for c in COEFFICIENTS
        }
        for a in found:
            table = score if a.score == "s" else lengths
            assert a.value == pytest.approx(oracle(a.level, a.coefficient, table, human), abs=1e-12)
            assert a.low_documents <= a.high_documents and a.low <= a.high

    def test_undefined_documents_are_counted(self):
        score, human, lengths = pair()
        human[3] = 2.0  # a person who likes all alike
        score[5, 1:] = np.nan
        found = {
            (a.level, a.coefficient): a for a in agree(Rated({"s": score}, {"h": human}, lengths)) if a.score == "s"
        }
        assert (found["summary", "spearman"].n, found["summary", "spearman"].undefined) == (10, 2)
        assert (found["pooled", "spearman"].n, found["pooled", "spearman"].undefined) == (67, 5)
        nothing = agree(Rated({"s": np.full_like(score, np.nan)}, {"h": human}, lengths))
        assert all(math.isnan(a.value) and math.isnan(a.low) for a in nothing if a.score == "s")

    def test_one_summary_a_document_has_the_pooled_level_alone(self):
        score, human, lengths = (table[:, :1] for table in pair(documents=40))
        found = agree(Rated({"s": score}, {"h": human}, lengths))
        assert {a.level for a in found} == {"pooled"}
        assert {d.level for d in compare_scores(Rated({"s": score}, {"h": human}, lengths))} == {"pooled"}
        score, human, lengths = pair(documents=40)
        lengths[np.arange(6)[None] != np.arange(40)[:, None] % 6] = np.nan  # each document by another system
        assert {a.level for a in agree(Rated({"s": score}, {"h": human}, lengths))} == {"pooled"}

    def test_intervals_cover_and_shrink(self):
        """A score that is the rating has no interval; more documents make one narrower."""
        score, human, lengths = pair(documents=80)
        found = [
            {
                (a.score, a.level): a
                for a in agree(Rated({"s": s, "same": h}, {"h": h}, n))
                if a.coefficient == "pearson"
            }
            for s, h, n in ((score[:10], human[:10], lengths[:10]), (score, human, lengths))
        ]
        few, many = (each["s", "summary"] for each in found)
        assert many.low < many.value < many.high and few.high - few.low > many.high - many.low
        assert found[0]["same", "pooled"].low == pytest.approx(1)

    @pytest.mark.parametrize("missing", [0, 0.2])
    def test_intervals_are_those_of_repeated_documents_and_systems(self, missing, monkeypatch):
        monkeypatch.setattr(agreement, "RESAMPLES", 30)
        score, human, lengths = pair(documents=8, systems=5, missing=missing)
        ((by_document, by_system),) = agreement.Draws(8, 5, 40)
        for a in agree(Rated({"s": score}, {"h": human}, lengths)):
            if a.score != "s":
                continue
            found = []
            for documents, systems in zip(by_document.astype(int), by_system.astype(int), strict=True):
                x, z = (np.repeat(np.repeat(t, documents, axis=0), systems, axis=1) for t in (score, human))
                found.append(oracle(a.level, a.coefficient, x, z))
            assert (a.low, a.high) == pytest.approx(tuple(np.nanquantile(found, [0.025, 0.975])), abs=1e-6)

    @pytest.mark.slow
    @pytest.mark.skipif(not importlib.util.find_spec("nlpstats"), reason="nlpstats is not installed: the extra [test]")
    @pytest.mark.parametrize("coefficient", COEFFICIENTS)
    def test_equal_to_nlpstats(self, coefficient):
        from nlpstats.correlations.correlations import correlate
        from nlpstats.correlations.permutation import permutation_test
        from nlpstats.correlations.williams import williams_test

        one, human, lengths = pair(1, documents=25, systems=8)
        one, human = one + np.arange(8), human + np.arange(8)  # nlpstats' Williams takes the size of a correlation
        other = human + np.random.default_rng(5).normal(0, 4, human.shape)
        rated = Rated({"one": one, "other": other}, {"h": human}, lengths)
        names = {"summary": "input", "system": "system", "pooled": "global"}
        for a in agree(rated):
            if (a.score, a.coefficient) == ("one", coefficient):
                assert a.value == pytest.approx(correlate(one.T, human.T, names[a.level], coefficient), abs=1e-12)
        np.random.seed(0)
        tables = one.T, other.T, human.T
        for d in compare_scores(rated):
            if (d.one, d.other, d.coefficient) == ("one", "other", coefficient):
                if d.level == "system":
                    expected = williams_test(*tables, "system", "pearson").pvalue
                    assert d.p == pytest.approx(expected, abs=1e-9)
                else:
                    found = permutation_test(*tables, names[d.level], coefficient, "inputs", n_resamples=200)
                    assert d.p == pytest.approx(found.pvalue, abs=4 * math.sqrt(d.p * (1 - d.p) / 200) + 0.005)


class TestWhichIsBetter:
    def rated(self, noise):
        score, human, lengths = pair(2, documents=60, systems=10)
        noisy = score + np.random.default_rng(9).normal(0, noise, score.shape) if noise else score.copy()
        return Rated({"one": score, "other": noisy}, {"h": human}, lengths)

    def found(self, rated, pair_of=("one", "other")):
        return {(d.level, d.coefficient): d for d in compare_scores(rated) if (d.one, d.other) == pair_of}

    def test_a_score_and_the_same_with_noise_are_told_apart(self):
        found = self.found(self.rated(6))
        assert found.keys() == {
            *(("summary", c) for c in COEFFICIENTS),
            ("system", "pearson"),
            *(("pooled", c) for c in ("spearman", "pearson")),
        }
        for (level, _), d in found.items():
            assert d.difference > 0 and (d.adjusted < 0.01 or level == "system")

    def test_two_equal_ones_are_not(self):
        assert all(d.difference == 0 and d.p == 1 for d in self.found(self.rated(0)).values())

    def test_a_score_of_which_lower_is_better_counts_by_its_negative(self):
        score, human, lengths = pair(2, documents=60)
        found = self.found(Rated({"x": score, "sss_l2": -score}, {"h": human}, lengths), ("x", "sss_l2"))
        assert all(d.difference == pytest.approx(0, abs=1e-12) and d.p > 0.9 for d in found.values())

    def test_williams_by_hand(self):
        """r .9 and .5, .6 with each other, n = 20: K = 1 - .81 - .25 - .36 + .54 = .12; t = .4 sqrt(19 1.6 / ...)."""
        spread = 2 * 0.12 * 19 / 17 + 1.4**2 / 4 * 0.4**3
        expected = 2 * stats.t.sf(0.4 * math.sqrt(19 * 1.6 / spread), 17)
        assert williams(0.9, 0.5, 0.6, 20) == pytest.approx(expected)

    @pytest.mark.slow
    @pytest.mark.parametrize("level", ["summary", "pooled"])
    def test_differences_that_are_none_are_rarely_marked(self, level):
        """Two scores with noise of one size: at level .05 some 5% of 200 are marked."""
        hits = 0
        for seed in range(200):
            rng = np.random.default_rng(seed)
            human = rng.normal(size=(20, 5))
            one, other = (human + rng.normal(0, 2, human.shape) for _ in range(2))
            test = {"summary": better._summary, "pooled": better._pooled}[level]
            (found,) = test("pearson", {"one": one, "other": other}, human)
            hits += found[3] < 0.05
        assert 1 <= hits <= 22


def test_the_best_is_defined_for_most_and_counts_in_its_direction():
    score, human, lengths = pair(2, documents=60)
    rare = np.zeros_like(human)
    rare[:3] = human[:3]  # perfect on three documents, constant on the others
    rated = Rated({"sss_l2": -score, "noise": score + 9 * lengths, "rare": rare}, {"h": human}, lengths)
    found = agreement_tables.Found(agree(rated), compare_scores(rated))
    headers, lines = agreement_tables.table(found, "h", "spearman")
    shown = {line[0]: dict(zip(headers, line, strict=True)) for line in lines}
    assert shown["sss_l2"]["p (best)"] == "best" and shown["sss_l2"]["summary"].startswith("-.")
    assert shown["noise"]["p (best)"].endswith("*") and shown["rare"]["summary"].startswith("1.000")


RATED = [{**row, "quality": 1 + (n * 7 + len(row["summary"])) % 5, "style": 3} for n, row in enumerate(ROWS)]


class TestCommand:
    def run(self, tmp_path, rows, *more):
        return call(write_rows(tmp_path / "x.jsonl", rows), *COLUMNS, "--metrics", "rouge", *more)

    @pytest.mark.slow
    def test_tables_json_and_picture(self, tmp_path):
        out = tmp_path / "out"
        status, shown = self.run(tmp_path, RATED, "--human", "quality, style", "--out", out, "--plots")
        assert status == 0 and "Agreement with quality" in shown and LENGTH in shown
        assert "8 documents without a correlation for rouge1 with style" in shown
        found = json.loads((out / "agreement.json").read_text())
        assert {"score", "human", "level", "coefficient", "value", "low", "high", "n"} <= found[0].keys()
        assert {a["level"] for a in found} == {"summary", "system", "pooled"} and len(found) == 2 * 5 * 9
        assert all(a["value"] is None for a in found if a["human"] == "style")
        tests = json.loads((out / "agreement_tests.json").read_text())
        assert {"one", "other", "human", "level", "coefficient", "difference", "p", "adjusted", "n"} <= tests[0].keys()
        page = (out / "summary.md").read_text()
        assert "## quality, kendall" in page and "Deutsch" in page
        assert (out / "plots" / "agreement.png").stat().st_size > 1000
        status, shown = self.run(tmp_path, RATED, "--out", out)
        assert status == 0 and "agreement.json" in shown and "earlier run" in shown
        assert self.run(tmp_path, RATED, "--out", out, "--prune")[0] == 0 and not (out / "agreement.json").exists()

    def test_missing_ratings_are_said_and_bad_ones_name_their_row(self, tmp_path):
        rows = [
            {**row, "quality": value} for row, value in zip(RATED, ["", None, "n/a", "3,5", True, [4, 5]], strict=False)
        ]
        status, shown = self.run(tmp_path, [*rows, *RATED[6:]], "--human", "quality")
        assert status == 1 and "3 of 14 rows have no quality" in shown
        assert "line 4: quality is '3,5'" in shown and "with a point" in shown and "line 5: quality is True" in shown

    @pytest.mark.parametrize(
        "human,words",
        [("qualty", "no column 'qualty' (--human)"), ("reference", "no row can be scored"), ("none", "two are needed")],
    )
    def test_what_cannot_be_used(self, human, words, tmp_path):
        rows = [{**row, "none": None} for row in RATED]
        status, shown = self.run(tmp_path, rows, "--human", human)
        assert status == 2 and words in shown

    def test_folders_have_no_ratings(self, folders):
        status, shown = call("--summaries", folders / "good", "--references", folders / "references", "--human", "x")
        assert status == 2 and "columns of a file" in shown


@pytest.mark.parametrize(
    "value,expected",
    [(3, 3), ("4", 4), (" 4.5\u200f", 4.5), ("٤", 4), ("[4, 5, 3]", 4), ([4, None, 5], 4.5), (np.float32(2), 2)],
)
def test_ratings(value, expected):
    assert as_rating(value, "row 1") == expected


@pytest.mark.parametrize("value", ["good", "1_0", "inf", float("inf"), True, {"a": 1}, [[1]], "4/5", b"4"])
def test_no_ratings(value):
    with pytest.raises(ValueError, match=r"row 1 is .* a number is expected"):
        as_rating(value, "row 1")
