"""BoC and BoR with several references for an example: the best one, or the mean over all."""

import math

import pytest
from conftest import load
from hypothesis import given, settings
from hypothesis import strategies as st


class TestSeveralReferences:
    """Amy and Raj against one reference with both, one with Amy, and one with nobody."""

    REFERENCES = ("Amy met Raj.", "Amy slept.", "Nobody came.")

    def test_best_and_mean(self):
        boc = load("boc")
        best = boc.score(["Amy and Raj left."], [self.REFERENCES])
        assert [best[key][0] for key in best] == [1, 1, 1]
        mean = boc.score(["Amy and Raj left."], [self.REFERENCES], multi_reference="mean")
        assert [mean[key][0] for key in mean] == pytest.approx([(1 + 1 / 2) / 3, (1 + 1) / 3, (1 + 2 / 3) / 3])
        assert "multi_reference:mean" in boc.signature(multi_reference="mean")
        with pytest.raises(ValueError, match="multi_reference"):
            boc.score(["Amy"], ["Amy"], multi_reference="max")

    def test_undefined_references_are_left_out_of_the_mean(self):
        boc = load("boc")
        assert boc.score(["Rain."], [["Amy", "Sun."]], multi_reference="mean")["boc_f1"] == [0]
        assert math.isnan(boc.score(["Rain."], [["Fog.", "Sun."]], multi_reference="mean")["boc_f1"][0])
        found = boc.score(["Rain."], [["Amy", "Sun."]], multi_reference="mean", zero_division=1.0)
        assert found["boc_f1"] == [0.5]

    def test_micro_sums_the_mean_counts(self):
        """Both 1.5 of 2 predicted and 1.5 expected; then 0 of 1 and 1."""
        found = load("boc").compute(
            predictions=["Amy and Raj left.", "Penny"],
            references=[self.REFERENCES[:2], ["Amy"]],
            average="micro",
            multi_reference="mean",
        )
        assert found["boc_precision"] == pytest.approx(1.5 / 3) and found["boc_recall"] == pytest.approx(1.5 / 2.5)

    def test_relations(self):
        bor = load("bor")
        found = bor.score(["Amy saw Raj."], [["Amy met Raj.", "Amy met Raj. Amy slept."]], multi_reference="mean")
        assert found["bor_f1"] == [1]
        assert bor.score(["Amy saw Raj."], [["Amy met Raj.", "Amy slept."]], multi_reference="mean")["bor_f1"] == [0.5]
        explained = bor.explain("Amy saw Raj.", ["Amy met Raj.", "Amy slept."], multi_reference="mean")
        assert explained["best_reference"] == 0 and explained["scores"]["bor_f1"] == 0.5

    @settings(max_examples=10)
    @given(st.permutations(["Amy met Raj.", "Amy slept.", "Nobody came.", "Penny and Raj"]))
    def test_their_order_does_not_matter(self, references):
        boc = load("boc")
        expected = boc.score(["Amy and Penny."], [sorted(references)], multi_reference="mean")
        assert boc.score(["Amy and Penny."], [references], multi_reference="mean") == expected
