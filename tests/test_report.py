"""The report: which examples it shows, their evidence, what a page holds, and a finished run shown again."""

import json
import math
import re

import pytest
from command import ALL, COLUMNS, ROWS, call, write, write_rows
from conftest import load
from hypothesis import given
from hypothesis import strategies as st

from eval_summaries import history, pieces
from eval_summaries.report import page
from eval_summaries.report.evidence import locate, shared_words
from eval_summaries.report.examples import DIFFERENT, SAMPLE, choose
from metrics._shared.texts import sentences

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\" ' & </template> \x00 \u202e end"


def page_of(folder):
    return (folder / "report.html").read_text("utf-8")


def data_of(page):
    """The numbers that the page holds for its script."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


class TestChoice:
    SCORES = {
        ("a", "1"): {"x": 0.9, "y": 0.5},
        ("b", "1"): {"x": 0.8, "y": 0.5},
        ("a", "2"): {"x": 0.1, "y": 0.1},
        ("b", "2"): {"x": 0.9, "y": 0.2},
        ("a", "3"): {"x": 0.5, "y": 0.9},
        ("b", "3"): {"x": 0.5, "y": 0.1},
        ("a", "4"): {"x": 0.5, "y": math.nan},
        ("b", "4"): {"x": 0.5, "y": 0.3},
    }

    def test_scores_take_turns_and_the_rest_is_a_sample(self):
        found = choose(self.SCORES, ["a", "b"], ["x", "y"], 3)
        assert list(found.items())[:2] == [("2", DIFFERENT), ("3", DIFFERENT)]
        assert len(found) == 3 and list(found.values())[2] == SAMPLE
        assert choose(self.SCORES, ["a", "b"], ["x", "y"], 3) == found  # seeded

    def test_all_where_there_is_room_and_none_where_none_is_wanted(self):
        assert set(choose(self.SCORES, ["a", "b"], ["x"], 10)) == {"1", "2", "3", "4"}
        assert choose(self.SCORES, ["a", "b"], ["x"], 0) == {}

    def test_of_one_system_the_worst(self):
        alone = {place: values for place, values in self.SCORES.items() if place[0] == "a"}
        assert list(choose(alone, ["a"], ["x"], 1)) == ["2"]
        lower = {place: {"tsss": values["x"]} for place, values in alone.items()}  # of TS-SS the highest is the worst
        assert list(choose(lower, ["a"], ["tsss"], 1)) == ["1"]


class TestEvidence:
    @pytest.mark.slow
    def test_shared_words_are_those_of_sss(self):
        summary, references = ROWS[0]["summary"], ["Penny slept.", ROWS[0]["reference"]]
        found = shared_words(summary, references)
        places = load("sss").explain(summary, references)["references"][1]["places"]
        assert found == {"number": 1, "summary": places["prediction"], "reference": places["reference"]}

    @given(
        st.lists(
            st.sampled_from(["Amy left.", "  - كتب سامي الرسالة.", "राम घर गया।", "王明去了北京。", "co\u00adop ran."])
        )
    )
    def test_sentences_are_found_where_they_stand(self, parts):
        text = "\n".join(parts)
        found = sentences(text)
        places = locate(text, tuple(found))
        assert None not in places
        for sentence, (start, end) in zip(found, places, strict=True):
            assert text[start:end].replace("\u00ad", "").split() == sentence.split()
        assert places == sorted(set(places))

    def test_a_sentence_that_a_splitter_made_up_is_nowhere(self):
        assert locate("Amy left.", ("Raj came.", "Amy left.")) == [None, (0, 9)]


class TestPieces:
    @given(st.text())
    def test_any_text_stays_text(self, content):
        shown = str(pieces.highlight(content, [(0, len(content) // 2, "match", content)]))
        assert not re.search(r"<(?!/?(div|mark|p)\b)", shown) and "\x00" not in shown

    def test_no_piece_has_a_style_of_its_own(self):
        made = [
            pieces.bar(0.5),
            pieces.histogram([0.1, 0.5], "x"),
            pieces.supported("a", 0.7, "b"),
            pieces.legend(miss="m"),
        ]
        assert not any("style=" in piece for piece in made)
        assert pieces.shade(-1) == "shade-0" and pieces.shade(0.5) == "shade-5" and pieces.shade(2) == "shade-10"


class TestPage:
    def test_it_holds_ranking_tests_examples_and_how_it_was_made(self, data, tmp_path):
        status, shown = call(data, *ALL, "--metrics", "boc,bor,rouge,stats", "--out", tmp_path / "out")
        assert status == 0 and f"Report: {tmp_path / 'out' / 'report.html'}" in shown
        html = page_of(tmp_path / "out")
        values = data_of(html)
        assert values["systems"] == ["good", "bad"] and values["primary"][:2] == ["boc_f1", "bor_f1"]
        assert len(values["ids"]) == 8 == html.count("<template id=")
        (pair,) = values["pairs"]["rouge1"].values()
        assert pair[0] == 8 and pair[1] > 0 and 0 <= pair[2] <= pair[3] <= 1
        assert "boc|version" in html and "<h2>Distributions</h2>" in html
        for view in ("words", "names", "pairs", "unsupported"):
            assert f'data-view="{view}"' in html
        assert '<mark class="sm-invent" title="Penny: only in the summary">Penny</mark>' in html

    @pytest.mark.slow
    def test_support_points_into_the_document(self, data, tmp_path):
        assert call(data, *ALL, "--metrics", "mss", "--report", tmp_path / "r.html")[0] == 0
        html = (tmp_path / "r.html").read_text("utf-8")
        best = load("mss").explain(ROWS[0]["summary"], ROWS[0]["article"])["best_source"][0]
        button = f'data-source="{best["source_sentence"]}">Source sentence {best["source_sentence"] + 1}</button>'
        assert button in html and f"{best['similarity']:.2f}" in html
        assert '<span class="source" data-source="2">Amy told Raj of it.</span>' in html

    def test_texts_from_outside_are_text(self, tmp_path):
        rows = [
            {**row, "id": f"{HOSTILE} {row['id']}", "model": f"{HOSTILE} {row['model']}", "summary": HOSTILE}
            for row in ROWS
        ]
        rows[0]["article"] = "A sentence. " * 100_000
        call(write_rows(tmp_path / "x.jsonl", rows), *ALL, "--metrics", "boc,rouge,stats", "--out", tmp_path / "out")
        html = page_of(tmp_path / "out")
        assert html.count("<script") == 2 and "<img" not in html and "\x00" not in html
        assert html.count("</template>") == html.count("<template") == 8
        assert "1,200,000 characters; the first 50,000 are shown" in html and len(html) < 5_000_000
        assert data_of(html)["systems"][0].startswith("</script>")

    def test_the_policy_names_its_style_and_script_and_nothing_else(self, data, tmp_path):
        import base64
        import hashlib

        call(data, *COLUMNS, "--metrics", "rouge", "--out", tmp_path / "out")
        html = page_of(tmp_path / "out")
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
        for tag in ("style", "script"):
            content = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.S)[1]
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"{tag}-src &#39;sha256-{digest}&#39;" in policy or f"{tag}-src 'sha256-{digest}'" in policy
        assert "default-src 'none'" in policy and "unsafe" not in policy
        body = html[html.index("<body>") :]
        assert "style=" not in body and not re.search(r"\son\w+=", re.sub(r"<script.*?</script>", "", body, flags=re.S))
        assert "http" not in re.sub(r"<code>.*?</code>", "", body)

    def test_no_more_examples_than_are_asked_for(self, data, tmp_path):
        arguments = [data, *COLUMNS, "--metrics", "rouge", "--out", tmp_path / "out", "--report-examples"]
        for count in (3, 0):
            assert call(*arguments, count)[0] == 0
            html = page_of(tmp_path / "out")
            assert html.count("<template id=") == count and len(data_of(html)["ids"]) == 8
        assert "The page holds no texts" in html

    def test_many_long_examples_stay_within_the_page(self):
        one = {"documents": ["word " * 10_000], "references": [], "sources": []}
        side = {"name": "a", "summary": "A word.", "texts": 0, "views": {}}
        shown = [{"id": str(n), "chosen": SAMPLE, "texts": [one], "systems": [side]} for n in range(200)]
        drawn = page._examples(shown, ["a"], page._environment().get_template("example.html.j2"), 4_000_000)
        size = sum(len(html.encode()) for html in drawn)
        assert 60 < len(drawn) < 80 and 3_900_000 < size <= 4_000_000

    def test_other_texts_have_other_evidence(self, data, tmp_path):
        arguments = [data, *ALL, "--metrics", "boc", "--out", tmp_path / "out"]
        call(*arguments)
        assert "Raj slept." not in page_of(tmp_path / "out")
        write_rows(data, [{**row, "summary": "Raj slept."} for row in ROWS])
        call(*arguments)
        assert ">Raj</mark> slept." in page_of(tmp_path / "out")

    def test_failures_are_listed(self, tmp_path):
        rows = [*ROWS[:4], {**ROWS[4], "reference": None}]
        status, _ = call(
            write_rows(tmp_path / "x.jsonl", rows), *COLUMNS, "--metrics", "rouge", "--out", tmp_path / "out"
        )
        assert status == 1 and "Not scored: 1" in page_of(tmp_path / "out")

    def test_a_page_of_somebody_else_is_not_lost(self, data, tmp_path):
        mine = write(tmp_path / "mine.html", "<p>my notes</p>")
        arguments = [data, *COLUMNS, "--metrics", "rouge", "--report"]
        for path, said in (
            (mine, "is no report of this command"),
            (tmp_path / "none" / "r.html", "there is no folder"),
            (tmp_path / "r.pdf", "ends in .html"),
        ):
            status, shown = call(*arguments, path)
            assert status == 2 and said in shown and mine.read_text() == "<p>my notes</p>"
        assert call(*arguments, tmp_path / "r.html")[0] == 0 == call(*arguments, tmp_path / "r.html")[0]


class TestAgain:
    def run(self, data, out, *more):
        return call(data, *ALL, "--metrics", "boc,rouge,stats", "--out", out, *more)

    def test_without_an_input_the_page_is_made_again_and_nothing_is_scored(self, data, tmp_path, monkeypatch):
        self.run(data, tmp_path / "out")
        first = page_of(tmp_path / "out")
        data.unlink()
        monkeypatch.setattr("eval_summaries.cli.run", lambda *_: pytest.fail("scored"))
        status, shown = call("--out", tmp_path / "out", "--report", tmp_path / "r.html")
        assert status == 0 and (tmp_path / "r.html").read_text("utf-8") == first and "Ranking" in shown
        status, shown = call(
            "--out", tmp_path / "out", "--sort", "rouge2", "--baseline", "bad", "--fail-under", "rouge1=0.9"
        )
        assert status == 3 and "good: rouge1 is" in shown and "Against bad" in shown
        assert data_of(page_of(tmp_path / "out"))["primary"][0] == "rouge2"

    def test_what_is_missing_is_said(self, data, tmp_path):
        status, shown = call("--out", tmp_path / "none")
        assert status == 2 and "there is no folder" in shown and not (tmp_path / "none").exists()
        (tmp_path / "empty").mkdir()
        status, shown = call("--out", tmp_path / "empty")
        assert status == 2 and "holds no finished run" in shown
        self.run(data, tmp_path / "out")
        status, shown = call("--out", tmp_path / "out", "--metrics", "sss")
        assert status == 2 and "--metrics needs the input" in shown
        for name, content in (("scores.jsonl", "{"), ("run.json", "[]"), ("report.json", "{")):
            kept = (tmp_path / "out" / name).read_bytes()
            (tmp_path / "out" / name).write_text(content)
            status, shown = call("--out", tmp_path / "out")
            assert status == 2 and "give the input" in shown and "Traceback" not in shown
            (tmp_path / "out" / name).write_bytes(kept)
        assert call("--out", tmp_path / "out")[0] == 0

    def test_with_ratings_the_agreement_is_shown_again(self, tmp_path):
        rows = [{**row, "rating": number % 5} for number, row in enumerate(ROWS)]
        data = write_rows(tmp_path / "x.jsonl", rows)
        call(data, *COLUMNS, "--metrics", "rouge", "--human", "rating", "--out", tmp_path / "out")
        first = page_of(tmp_path / "out")
        assert "rating: Spearman" in first
        status, shown = call("--out", tmp_path / "out")
        assert status == 0 and "Agreement with rating" in shown and page_of(tmp_path / "out") == first


class TestGrowth:
    def test_a_run_that_grew_says_what_is_new(self, tmp_path):
        data, out = tmp_path / "x.jsonl", tmp_path / "out"
        write_rows(data, [row for row in ROWS if row["model"] == "good"])
        _, shown = call(data, *ALL, "--metrics", "boc", "--out", out)
        assert "New since" not in shown and 'id="new"' not in page_of(out)
        write_rows(data, ROWS)
        _, shown = call(data, *ALL, "--metrics", "boc,rouge", "--out", out)
        said = "New since the run before: system bad (8 examples); metric rouge."
        assert said in shown and said in page_of(out)
        _, shown = call(data, *ALL, "--metrics", "boc,rouge", "--out", out)
        assert said not in shown  # nothing has come
        changed = [{**row, "summary": row["summary"] + " Amy."} if row["model"] == "bad" else row for row in ROWS]
        write_rows(data, changed)
        assert "other texts of bad." in call(data, *ALL, "--metrics", "boc,rouge", "--out", out)[1]
        assert "without the metric boc." in call(data, *ALL, "--metrics", "rouge", "--out", out)[1]

    def test_a_damaged_history_only_forgets(self, tmp_path):
        state = {"written_by": "x", "systems": {"a": [1, "d"]}, "metrics": ["boc"]}
        history.record(tmp_path, state)
        with open(tmp_path / history.HISTORY, "a") as file:
            file.write('{"systems": 5')
        assert history.read(tmp_path) == [state]
        history.record(tmp_path, state)
        assert history.read(tmp_path) == [state]

    @pytest.mark.slow
    def test_the_encoder_sees_only_new_texts(self, tmp_path, monkeypatch):
        """A seventeenth system to sixteen: their scores are the same bytes, and only its texts are encoded."""
        from eval_summaries.shared import load_metric, script_of

        script = script_of(load_metric("sss", {}))
        seen = []
        encode = script.Embedder.encode
        monkeypatch.setattr(script.Embedder, "encode", lambda self, texts: seen.extend(texts) or encode(self, texts))
        rows = [
            {**row, "model": f"{row['model']} {n}", "summary": f"{row['summary']} {n}"}
            for n in range(8)
            for row in ROWS
        ]
        data, out = write_rows(tmp_path / "x.jsonl", rows), tmp_path / "out"
        arguments = [data, *COLUMNS, "--metrics", "sss,rouge", "--out", out]
        assert call(*arguments)[0] == 0 and len({row["model"] for row in rows}) == 16
        before = (out / "scores.jsonl").read_text().splitlines()
        seen.clear()
        new = [{**row, "model": "new", "summary": f"New: {row['summary']}"} for row in ROWS[:8]]
        write_rows(data, rows + new)
        assert call(*arguments)[0] == 0
        assert (out / "scores.jsonl").read_text().splitlines()[: len(before)] == before
        known = {row["summary"] for row in rows}
        assert seen and not known & set(seen)
        assert set(seen) == {row["summary"] for row in new} | {row["reference"] for row in ROWS[:8]}
