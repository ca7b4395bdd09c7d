"""The ranking: letters that say what the tests say, in every form."""

import csv
import io
from itertools import combinations

import numpy as np
import pytest
from command import ALL, COLUMNS, ROWS, call, write_rows
from hypothesis import given
from hypothesis import strategies as st

from eval_summaries import ranking
from eval_summaries.comparison import compare_systems
from eval_summaries.ranking import blocks, letter_groups, rank
from eval_summaries.tables import summarise

NAMES = [f"s{number}" for number in range(7)]


@given(st.permutations(NAMES), st.sets(st.sampled_from(list(combinations(NAMES, 2)))))
def test_two_share_a_letter_exactly_where_they_do_not_differ(order, pairs):
    apart = {frozenset(pair) for pair in pairs}
    letters = letter_groups(order, apart)
    for one, other in combinations(NAMES, 2):
        assert bool(set(letters[one]) & set(letters[other])) == (frozenset((one, other)) not in apart)
    assert letters[order[0]][0] == "a"


def test_more_groups_than_letters():
    names = [f"s{number}" for number in range(30)]
    letters = letter_groups(names, {frozenset(pair) for pair in combinations(names, 2)})
    assert letters["s0"] == "a" and letters["s26"] == "a1" and len(set(letters.values())) == 30


def made(keys=("rouge1", "tsss", "stats_words")):
    """Three systems: good, alike to good, and bad; of tsss lower is better."""
    rng = np.random.default_rng(0)
    base, scores = rng.normal(0.5, 0.1, 40), {}
    for system, gap in (("bad", -0.3), ("good", 0.0), ("alike", 0.0)):
        values = base + gap + rng.normal(0, 0.01, 40)
        for number, value in enumerate(values):
            scores[system, str(number)] = dict(zip(keys, (value, -value, 10 * value), strict=True))
    words = {"bad": 10.0, "good": 20.0, "alike": 21.5}
    return summarise(scores), compare_systems(scores, list(keys)), words


def test_letters_marks_and_order():
    found = rank(*made(), keys=["rouge1", "tsss", "stats_words"])
    assert found.systems[2] == "bad" and set(found.systems[:2]) == {"good", "alike"}
    for key in ("rouge1", "tsss", "stats_words"):
        letters = {name: found.places[name, key].letters for name in found.systems}
        assert letters == {"good": "a", "alike": "a", "bad": "b"}
    best = {key: {name for name in found.systems if found.places[name, key].best} for key in found.keys}
    assert best == {"rouge1": {"good", "alike"}, "tsss": {"good", "alike"}, "stats_words": set()}
    assert rank(*made(), sort="words").systems == ["alike", "good", "bad"]
    assert rank(*made(), keys=["rouge1", "tsss"], sort="tsss").systems[2] == "bad"
    assert rank(*made()).keys == ["rouge1", "tsss"]  # the primary ones


def test_a_baseline():
    found = rank(*made(), baseline="good")
    signs = {name: [found.places[name, key].sign for key in found.keys] for name in found.systems}
    assert signs == {"good": ["", ""], "alike": ["=", "="], "bad": ["-", "-"]}
    back = rank(*made(), baseline="bad")
    assert [back.places["good", key].sign for key in back.keys] == ["+", "+"]
    assert "Against bad" in ranking.markdown(back)


def test_every_form():
    found = rank(*made(), keys=["rouge1", "tsss", "stats_words"])
    page = ranking.markdown(found)
    assert (
        "| system | rouge1 ↑ | tsss ↓ | stats_words | words |" in page and "**0.4" in page and "share a letter" in page
    )
    tex = ranking.latex(found)
    assert "\\toprule" in tex and "stats\\_words" in tex and "\\textbf{0.4" in tex and "$^{\\mathrm{a}}$" in tex
    rows = list(csv.DictReader(io.StringIO(ranking.table(found))))
    assert [row["rouge1_letters"] for row in rows] == ["a", "a", "b"] and [row["rouge1_best"] for row in rows][2] == "0"
    assert float(rows[2]["rouge1"]) == pytest.approx(found.places["bad", "rouge1"].mean, abs=0)


def test_it_folds_into_blocks_that_fit():
    rows, comparisons, words = made()
    keys = [f"stats_a_rather_long_name_{number}" for number in range(12)]
    many = [row._replace(key=key) for row in rows if row.key == "rouge1" for key in keys]
    parts = blocks(rank(many, comparisons, words, keys=keys), 100)
    assert len(parts) > 2 and sum(len(headers) - 2 for headers, _ in parts) == 12
    for headers, lines in parts:
        widths = [max(len(line[column]) for line in [headers, *lines]) for column in range(len(headers))]
        assert sum(width + 3 for width in widths) + 1 <= 100 and headers[0] == "system" and headers[-1] == "words"


def test_undefined_means_are_last_and_one_system_has_no_letters():
    rows, comparisons, words = made()
    rows = [row._replace(mean=float("nan")) if row.system == "good" else row for row in rows]
    found = rank(rows, comparisons, words)
    assert found.systems == ["alike", "bad", "good"] and not found.places["good", "rouge1"].best
    alone = rank([row for row in rows if row.system == "bad"], [], {"bad": 3.0})
    assert alone.places["bad", "rouge1"].letters == "" and not ranking.note(alone)
    assert rank([], [], {"bad": 3.0}).systems == ["bad"]


class TestCommand:
    def test_first_what_is_asked_for(self, tmp_path):
        data, out = write_rows(tmp_path / "x.jsonl", ROWS), tmp_path / "out"
        status, shown = call(data, *ALL, "--metrics", "rouge,boc", "--out", out)
        assert status == 0 and shown.index("Ranking") < shown.index("Scores") and "boc_f1 ↑" in shown
        assert (out / "summary.md").read_text().startswith("# Ranking")
        assert "booktabs" not in (out / "ranking.tex").read_text() and (out / "ranking.csv").exists()
        _, shown = call(data, *ALL, "--metrics", "rouge,boc", "--all-scores", "--baseline", "bad", "--sort", "words")
        assert "rougeLsum ↑" in shown and "Against bad" in shown

    @pytest.mark.parametrize(
        "more,words",
        [
            (["--baseline", "god"], "there is no such system; there are good, bad"),
            (["--sort", "bleu"], "--sort bleu is no score of rouge"),
        ],
    )
    def test_what_is_not_there(self, more, words, tmp_path):
        status, shown = call(write_rows(tmp_path / "x.jsonl", ROWS), *COLUMNS, "--metrics", "rouge", *more)
        assert status == 2 and words in shown

    def test_a_score_that_was_not_made_is_said(self, tmp_path):
        data = write_rows(tmp_path / "x.jsonl", ROWS)
        status, shown = call(data, *COLUMNS, "--metrics", "rouge", "--sort", "rouge9")
        assert status == 0 and "--sort rouge9: there is no such score" in shown and "Ranking" in shown
