"""The command's tables from Python, and its limits for continuous integration."""

import pandas as pd
import pytest
from command import ALL, COLUMNS, ROWS, call, write_rows

import eval_summaries

RATED = pd.DataFrame(
    [
        (system, number, number / 10 + gap, float(number % 3))
        for system, gap in (("old", 0.0), ("new", 0.3))
        for number in range(8)
    ],
    columns=["system", "id", "sss", "other"],
)


def test_a_metric_from_inside_the_package():
    metric = eval_summaries.load("bor", characters=["Amy", "Raj"])
    assert metric.score(["Amy met Raj."], ["Amy met Raj."])["bor_f1"] == [1]
    with pytest.raises(ValueError, match="there is no metric 'rouge'; there are sss, mss, boc, bor"):
        eval_summaries.load("rouge")
    with pytest.raises(TypeError, match="nonsense"):
        eval_summaries.load("boc", nonsense=1)


def test_the_same_tables_as_the_command(tmp_path):
    data, out = write_rows(tmp_path / "x.jsonl", ROWS), tmp_path / "out"
    assert call(data, *ALL, "--metrics", "rouge,boc", "--out", out)[0] == 0
    ranked = eval_summaries.rank(pd.read_csv(out / "scores.csv"))
    expected = pd.read_csv(out / "ranking.csv").set_index("system").drop(columns="words")
    pd.testing.assert_frame_equal(
        ranked, expected.astype({"rouge1_best": bool, "boc_f1_best": bool}), check_dtype=False
    )
    compared = eval_summaries.compare(pd.read_csv(out / "scores.csv"))
    page = (out / "summary.md").read_text()
    for row in compared.itertuples():
        line = (
            f"| {row.score} | {row.one} - {row.other} | {row.difference:+.3f} |  | {row.p:.4f} | {row.p_adjusted:.4f}"
        )
        assert line in page


def test_baseline_and_order():
    ranked = eval_summaries.rank(RATED, scores=["other", "sss"], sort="sss", baseline="old")
    assert ranked.index.tolist() == ["new", "old"] and ranked["sss_sign"].tolist() == ["+", ""]
    assert ranked["other_sign"].tolist() == ["=", ""] and ranked.columns[0] == "other"
    assert eval_summaries.rank(RATED).columns.tolist() == ["sss", "sss_letters", "sss_best"]


@pytest.mark.parametrize(
    "table,options,words",
    [
        (RATED.drop(columns="id"), {}, "no column 'id'"),
        (RATED[["system", "id"]], {}, "no scores"),
        (RATED[:0], {}, "no scores"),
        (RATED.assign(sss="x"), {}, "column 'sss' has no numbers"),
        (RATED.assign(sss=True), {}, "column 'sss' has no numbers"),
        (pd.concat([RATED, RATED[:1]]), {}, "has the id '0' twice"),
        (RATED.assign(system=None), {}, "no system"),
        (RATED, {"scores": ["bleu"]}, "no column 'bleu'"),
        (RATED, {"sort": "bleu"}, "no such score"),
        (RATED, {"baseline": "older"}, "no such system"),
    ],
)
def test_tables_that_are_none(table, options, words):
    with pytest.raises(ValueError, match=words):
        eval_summaries.rank(table, **options)


class TestLimits:
    def run(self, tmp_path, *more):
        return call(write_rows(tmp_path / "x.jsonl", ROWS), *COLUMNS, "--metrics", "rouge", *more)

    def test_a_mean_under_its_limit(self, tmp_path):
        assert self.run(tmp_path, "--fail-under", "rouge1=0.1")[0] == 0
        status, shown = self.run(tmp_path, "--fail-under", "rouge1=0.5", "--fail-under", "rouge2=0")
        assert (
            status == 3 and "failed: bad: rouge1 is 0." in shown and "failed: good" not in shown and "Scores" in shown
        )
        status, shown = self.run(tmp_path, "--fail-under", "rouge7=0")
        assert status == 3 and "rouge7 is undefined" in shown

    def test_a_system_that_is_worse(self, tmp_path):
        assert self.run(tmp_path, "--fail-if-worse-than", "bad")[0] == 0
        status, shown = self.run(tmp_path, "--fail-if-worse-than", "good")
        assert status == 3 and "failed: bad: rouge1 is" in shown and "worse than good" in shown

    @pytest.mark.parametrize(
        "more,words",
        [
            (["--fail-under", "rouge1"], "write SCORE=NUMBER"),
            (["--fail-under", "rouge1=high"], "write SCORE=NUMBER"),
            (["--fail-under", "rouge1=nan"], "write SCORE=NUMBER"),
            (["--fail-under", "sss=0.1"], "sss is no score of rouge"),
            (["--fail-under", "rouge1=0", "--fail-under", "rouge1=1"], "given twice"),
            (["--fail-if-worse-than", "best"], "no such system"),
        ],
    )
    def test_what_cannot_be_meant(self, more, words, tmp_path):
        status, shown = self.run(tmp_path, *more)
        assert status == 2 and words in shown
