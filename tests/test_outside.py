"""chrF and TS-SS: by hand and against their libraries, several references, what is undefined, the SSS paper's table."""

import importlib.util
import math

import numpy as np
import pandas as pd
import pytest
from command import COLUMNS, ROWS, call, write_rows
from hypothesis import given
from hypothesis import strategies as st

from eval_summaries.inputs import Example
from eval_summaries.outside import TsSs, ts_ss
from eval_summaries.scoring import SCORERS
from eval_summaries.shared import load_metric
from eval_summaries.tables import Row, layout

vectors = st.lists(st.integers(-800, 800), min_size=3, max_size=3).map(lambda found: np.array(found) / 8)


def scored(name, pairs, **options):
    """One score of summaries against lists of references."""
    scorer = SCORERS[name](name, options)
    examples = [Example(str(n), "s", summary, references=found) for n, (summary, found) in enumerate(pairs)]
    scorer.start(examples)
    return scorer.score(examples)[name]


class TestTsSs:
    @pytest.mark.parametrize(
        ("one", "other", "value"),
        [
            # angle 90 + 10; TS = 1 * 1 * sin 100 / 2 = .492404; ED = 1.414214, MD = 0;
            # SS = pi * 2 * 100 / 360 = 1.745329
            ([1, 0], [0, 1], 0.492404 * 1.745329),
            # angle 0 + 10; TS = 1 * 2 * sin 10 / 2 = .173648; ED = 1, MD = 1; SS = pi * 4 * 10 / 360 = .349066
            ([1, 0], [2, 0], 0.173648 * 0.349066),
            # angle 45 + 10; TS = 1 * 1.414214 * sin 55 / 2 = .579228; ED = 1, MD = .414214;
            # SS = pi * 2 * 55 / 360 = .959931
            ([1, 0], [1, 1], 0.579228 * 0.959931),
            # cos 24/25, angle 16.260205 + 10; TS = 25 * .442448 / 2 = 5.530606; ED = 1.414214, MD = 0;
            # SS = pi * 2 * 26.260205 / 360 = .458327
            ([3, 4], [4, 3], 5.530606 * 0.458327),
            # angle 180 + 10, whose sine is below 0: TS = sin 190 / 2 = -.086824; ED = 2, MD = 0;
            # SS = pi * 4 * 190 / 360 = 6.632251
            ([1, 0], [-1, 0], -0.086824 * 6.632251),
            ([3, 4], [3, 4], 0),
            ([0, 0], [0, 0], 0),
            ([0, 0], [3, 4], math.nan),
        ],
    )
    def test_by_hand(self, one, other, value):
        one, other = np.array(one, np.float32), np.array(other, np.float32)
        assert ts_ss(one, other) == pytest.approx(value, abs=1e-5, nan_ok=True)
        assert ts_ss(other, one) == pytest.approx(value, abs=1e-5, nan_ok=True)

    @given(vectors, vectors)
    def test_invariants(self, one, other):
        found = ts_ss(one, other)
        assert found == pytest.approx(ts_ss(other, one), nan_ok=True) and ts_ss(one, one.copy()) == 0
        assert (found != found) == (one.any() != other.any())
        angle = one @ other / (np.linalg.norm(one) * np.linalg.norm(other)) if one.any() and other.any() else 0
        assert not found < 0 or angle < math.cos(math.radians(169))
        assert ts_ss(np.array([0.1, 0.3]), np.array([0.1, 0.3]) * (1 + 1e-15)) >= 0  # a cosine a little above 1

    def test_on_the_vectors_of_sss(self, sss):
        scorer = TsSs("tsss", {})
        texts = ["The bridge was closed.", "They closed the old bridge.", "A cat sleeps."]
        a, b, c = scorer.script.Embedder.from_options(scorer.options).encode(texts)
        found = scored("tsss", [(texts[0], [texts[1]]), (texts[0], [texts[1], texts[2]]), (texts[0], [texts[0]])])
        assert found == pytest.approx([ts_ss(a, b), (ts_ss(a, b) + ts_ss(a, c)) / 2, 0], rel=1e-5)
        assert found[0] < found[1]  # lower is closer
        # length and distance as SSS has them: not of unit length
        assert np.linalg.norm(a - b) == pytest.approx(sss.score(texts[:1], texts[1:2])["sss_l2"][0], rel=1e-5)

    def test_blank_texts(self):
        pairs = [("", ["x"]), ("x", [" "]), ("", ["\u200f"]), ("x", ["", "x"]), ("!", ["!"]), ("😀", ["😀"])]
        found = scored("tsss", pairs)
        assert found == pytest.approx([math.nan, math.nan, 0, 0, 0, 0], nan_ok=True)

    def test_vectors_of_an_sss_run_are_not_made_again(self, monkeypatch):
        scorer, metric, encoded = TsSs("tsss", {}), load_metric("sss", {}), []
        original = scorer.script.Embedder._encode_unique
        monkeypatch.setattr(
            scorer.script.Embedder, "_encode_unique", lambda self, texts: encoded.extend(texts) or original(self, texts)
        )
        pairs = [
            ("Snow fell on the old mill.", "It snowed at the mill."),
            ("Hail fell on it.", "It snowed at the mill."),
        ]
        metric.score(*zip(*pairs, strict=True))
        assert len(encoded) == 3
        scorer.score([Example(str(n), "s", ours, references=[theirs]) for n, (ours, theirs) in enumerate(pairs)])
        assert len(encoded) == 3

    def test_signature(self):
        signatures = []
        for options in ({}, {"batch_size": 2}, {"lang": "de", "model_name": "all-MiniLM-L6-v2"}):
            scorer = TsSs("tsss", options)
            scorer.start([])
            signatures.append(scorer.signature)
        assert signatures[0] == signatures[1] != signatures[2]
        assert signatures[0].startswith("tsss|version:1|lang:en|") and "references:mean|model:" in signatures[0]

    def test_a_model_that_cannot_be_had(self, data, tmp_path):
        status, shown = call(data, *COLUMNS, "--metrics", "tsss", "--set", f"tsss.model_name={tmp_path}")
        assert status == 2 and "tsss (model_name=" in shown
        status, shown = call(data, *COLUMNS, "--metrics", "tsss", "--set", "tsss.batch_size=0")
        assert status == 2 and "tsss.batch_size=0" in shown


class TestChrf:
    @pytest.mark.parametrize("options", [{}, {"word_order": 2}, {"lowercase": True}])
    def test_is_sacrebleus(self, options):
        from sacrebleu import CHRF

        pairs = [(row["summary"], [row["reference"], row["article"]]) for row in ROWS]
        pairs += [
            ("القطار تأخر", ["تأخر القطار"]),
            ("天气很好", ["今天天气很好"]),
            ("गाड़ी देर से आई", ["गाड़ी आई"]),
            ("😀", ["😀"]),
        ]
        expected = [CHRF(**options).sentence_score(*pair).score / 100 for pair in pairs]
        assert scored("chrf", pairs, **options) == expected

    def test_by_hand(self):
        """Letters of "ab" and "ac": of 1-grams 1 of 2, of 2-grams 0 of 1; precision and recall 1/4, and so F."""
        assert scored("chrf", [("ab", ["ac"])]) == pytest.approx([1 / 4])
        assert scored("chrf", [("ab", ["xy", "ab"]), ("", ["ab"]), ("ab", [""]), ("", [""])]) == [1, 0, 0, 0]
        assert scored("chrf", [("AB", ["ab"])]) == [0] and scored("chrf", [("AB", ["ab"])], lowercase=True) == [1]

    @pytest.mark.parametrize("value", ["3", "-1", "9" * 50, "true", "x"])
    def test_word_order_is_checked(self, data, value):
        status, shown = call(data, *COLUMNS, "--metrics", "chrf", "--set", f"chrf.word_order={value}")
        assert status == 2 and "chrf.word_order" in shown

    def test_another_option_is_another_signature(self):
        signatures = set()
        for options in ({}, {"word_order": 2}, {"lowercase": True}):
            scorer = SCORERS["chrf"]("chrf", options)
            scorer.start([])
            signatures.add(scorer.signature)
        assert len(signatures) == 3


class TestInTheCommand:
    def test_only_where_they_are_asked_for(self, data, tmp_path):
        write_rows(tmp_path / "x.jsonl", [{"p": "Snow fell.", "r": "It snowed."}])
        arguments = [tmp_path / "x.jsonl", "--predictions", "p", "--references", "r", "--out", tmp_path / "out"]
        assert call(*arguments)[0] == 0
        keys = set(pd.read_csv(tmp_path / "out" / "scores.csv"))
        assert "sss" in keys and not keys & {"chrf", "tsss"}
        status, shown = call(*arguments, "--set", "chrf.word_order=2")
        assert status == 2 and "options of chrf are set, and it is scored only where --metrics names it" in shown

    @pytest.mark.slow
    def test_table_ix_of_the_sss_paper(self, data, tmp_path, monkeypatch):
        def scored(*names):
            status, shown = call(data, *COLUMNS, *names, "--layout", "sss", "--out", tmp_path / "out")
            assert status == 0 and "In the layout of sss" in shown, shown
            return {"bleu", "rouge1", "sss", "bertscore_f1", "tsss"} & {
                *pd.read_csv(tmp_path / "out" / "scores.csv")
            }, shown

        rest = {"bleu", "rouge1", "sss"}
        assert scored("--metrics", "bleu,rouge,sss,tsss")[0] == {*rest, "tsss"}
        assert scored()[0] == {*rest, "bertscore_f1", "tsss"}  # without names the layout asks for its own
        find_spec = importlib.util.find_spec
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "bert_score" else find_spec(name))
        found, shown = scored()
        assert found == {*rest, "tsss"} and "pip install bert-score" in shown
        rows = [Row("a", key, 0.5, 0.1, 0.4, 0.6, 3) for key in ("bleu", "sss", "bertscore_f1", "tsss")]
        headers, lines = layout("sss", rows)
        assert headers[-3:] == ["SSS", "BERTScore", "TS-SS"] and lines[0][-1] == "0.500 ± 0.100"
        assert layout("sss", rows[:2])[0][-1] == "SSS"

    @pytest.mark.slow
    def test_correlations_are_drawn_with_it(self, data, tmp_path):
        arguments = ["--metrics", "bleu,sss,tsss,chrf", "--out", tmp_path / "out", "--plots"]
        assert call(data, *COLUMNS, *arguments)[0] == 0
        names = {path.name for path in (tmp_path / "out" / "plots").iterdir()}
        assert {"correlation.png", "distribution_tsss.png", "distribution_chrf.png"} <= names
