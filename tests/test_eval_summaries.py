"""The command: inputs of every kind, outputs read back, comparison of systems, interruption, bad input."""

import importlib.util
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import venv

import datasets
import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, load
from scipy.stats import permutation_test
from typer.testing import CliRunner

from eval_summaries.cli import app
from eval_summaries.compare import approximate_randomization, compare_systems, holm, paired_bootstrap
from eval_summaries.inputs import Example, UnusableError, drop_section_scores
from eval_summaries.stats import Stats

ROWS = [
    {
        "id": f"d{number}",
        "model": system,
        "summary": f"{text} {number}.",
        "reference": f"Amy told Raj that the bridge was closed after the storm of day {number}.",
        "article": f"The river rose all night. By dawn of day {number} the bridge was closed. Amy told Raj of it.",
        "people": ["Amy", "Raj", "Penny"],
    }
    for system, text in (("good", "Amy told Raj that the bridge was closed on day"), ("bad", "Penny bought tea on day"))
    for number in range(8)
]
COLUMNS = ["--predictions", "summary", "--references", "reference", "--system", "model", "--id", "id"]
ALL = [*COLUMNS, "--documents", "article", "--characters", "people"]


def call(*arguments):
    """Run the command in this process; returns (exit status, what it printed)."""
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, list(map(str, arguments)))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, " ".join((result.output + result.stderr).split())


@pytest.fixture
def data(tmp_path):
    """The rows as a JSONL file."""
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS), encoding="utf-8")
    return path


@pytest.fixture
def folders(tmp_path):
    """The rows as folders."""
    for row in ROWS:
        for folder, name, text in (
            (row["model"], f"{row['id']}_summary.txt", row["summary"]),
            ("documents", f"{row['id']}.txt", row["article"]),
            ("references", f"{row['id']}.txt", row["reference"]),
        ):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / name).write_text(text, encoding="utf-8")
    return tmp_path


def expected(names):
    """The Python interface's scores: {(system, id): {key: value}}."""
    scores = {(row["model"], row["id"]): {} for row in ROWS}
    for name in names:
        side = "article" if name == "mss" else "reference"
        metric = load(name, **({"characters": ROWS[0]["people"]} if name in ("boc", "bor") else {}))
        found = metric.score([row["summary"] for row in ROWS], [row[side] for row in ROWS])
        for key, values in found.items():
            for row, value in zip(ROWS, values, strict=True):
                scores[row["model"], row["id"]][key] = value
    return scores


class TestOutputs:
    NAMES = ("sss", "mss", "boc", "bor")

    def test_every_output_read_back_equals_the_python_interface(self, data, tmp_path):
        out, base = tmp_path / "out", tmp_path / "scores.db"
        status, shown = call(data, *ALL, "--metrics", ",".join(self.NAMES), "--out", out, "--sqlite", base)
        assert status == 0
        wanted = expected(self.NAMES)
        lines = pd.read_json(out / "scores.jsonl", lines=True).set_index(["system", "id"])
        table = pd.read_csv(out / "scores.csv").set_index(["system", "id"])
        hub = {
            (row["system"], row["id"]): row
            for row in datasets.load_dataset("json", data_files=str(out / "scores.jsonl"))["train"]
        }
        with sqlite3.connect(base) as database:
            stored = {
                (s, e, k): v for s, e, k, v in database.execute("SELECT system, example, score, value FROM scores")
            }
        for place, scores in wanted.items():
            for key, value in scores.items():
                for found in (lines.loc[place, key], table.loc[place, key], hub[place][key], stored[(*place, key)]):
                    found = np.nan if found is None else found
                    assert found == pytest.approx(value, abs=1e-6, nan_ok=True)
        means = pd.Series([scores["sss"] for (system, _), scores in wanted.items() if system == "good"])
        for page in ((out / "summary.md").read_text(), shown):
            assert f"{means.mean():.3f}" in page and f"{means.std():.3f}" in page
        assert f"{means.mean():.3f} $\\pm$ {means.std():.3f}" in (out / "summary.tex").read_text()
        page = (out / "summary.md").read_text()
        assert all(f"{name}|version:" in page for name in self.NAMES) and "characters:None" not in page

    def test_a_database_keeps_what_it_has(self, data, tmp_path):
        base = tmp_path / "scores.db"
        for run in (1, 2):
            assert call(data, *COLUMNS, "--metrics", "rouge", "--sqlite", base)[0] == 0
            with sqlite3.connect(base) as database:
                assert database.execute("SELECT COUNT(*), MAX(run) FROM scores").fetchone() == (run * 16 * 3, run)
                assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    def test_undefined_scores_are_empty_and_left_out(self, tmp_path):
        data = tmp_path / "data.jsonl"
        rows = [{"p": "Amy saw Raj.", "r": "Raj saw Amy.", "c": "Amy; Raj"}, {"p": "x", "r": "y", "c": "Amy;Raj"}]
        data.write_text("\n".join(map(json.dumps, rows)))
        columns = ["--predictions", "p", "--references", "r", "--characters", "c"]
        assert call(data, *columns, "--metrics", "bor", "--out", tmp_path / "out")[0] == 0
        found = pd.read_csv(tmp_path / "out" / "scores.csv")["bor_f1"]
        assert found[0] == 1.0 and np.isnan(found[1])
        assert json.loads((tmp_path / "out" / "scores.jsonl").read_text().splitlines()[1])["bor_f1"] is None
        assert (
            "| system | bor_f1 | 1.000 | 0.000 | 1.000 to 1.000 | 1 |" in (tmp_path / "out" / "summary.md").read_text()
        )

    @pytest.mark.slow
    def test_parquet_plots_and_papers_tables(self, data, tmp_path):
        from matplotlib.image import imread

        out = tmp_path / "out"
        names = ["--metrics", "boc,bor,rouge,bleu,sss"]
        status, shown = call(data, *ALL, *names, "--out", out, "--parquet", "--plots", "--layout", "summscreen")
        assert status == 0
        pd.testing.assert_frame_equal(pd.read_parquet(out / "scores.parquet"), pd.read_csv(out / "scores.csv"))
        table = pd.read_csv(out / "scores.csv").drop(columns=["system", "id"])
        pictures = {path.name for path in (out / "plots").iterdir()}
        assert pictures == {f"distribution_{key}.png" for key in table if table[key].notna().any()} | {
            "correlation.png"
        }
        for name in pictures:
            picture = imread(out / "plots" / name)
            assert min(picture.shape[:2]) > 150 and picture.std() > 0.01  # not blank
        # good: Amy and Raj of three, precision 1, recall 1 against a reference that names both; the pair too
        assert "BoC-p" in shown and "average" in shown and "good │ 100.0 │ 100.0 │ 100.0 │ 100.0 │ 100.0" in shown
        status, shown = call(data, *ALL, *names, "--layout", "sss")
        assert status == 0 and "ROUGE-L" in shown and "±" in shown
        status, shown = call(data, *ALL, "--metrics", "boc", "--layout", "summscreen")
        assert status == 2 and "needs the scores bor_precision, bor_recall" in shown
        for arguments in (["--plots"], ["--layout", "acl"]):
            assert call(data, *ALL, "--metrics", "rouge", *arguments)[0] == 2

    def test_bleu_is_sacrebleus(self, data, tmp_path):
        from sacrebleu import sentence_bleu

        assert call(data, *COLUMNS, "--metrics", "bleu", "--out", tmp_path / "out")[0] == 0
        found = pd.read_csv(tmp_path / "out" / "scores.csv").set_index(["system", "id"])["bleu"]
        for row in ROWS:
            score = sentence_bleu(row["summary"], [row["reference"]]).score / 100
            assert found[row["model"], row["id"]] == pytest.approx(score)

    @pytest.mark.slow
    def test_bertscore_is_bert_scores_with_a_model_of_ones_own(self, data, tmp_path, monkeypatch):
        import tiny
        from bert_score import BERTScorer

        folder = tiny.make_encoder(tmp_path / "model", positions=256, max_length=256)
        model = ["--set", f"bertscore.model_type={folder}", "--set", "bertscore.num_layers=1"]
        arguments = [data, *COLUMNS, "--metrics", "bleu,rouge,sss,bertscore", *model, "--layout", "sss"]
        status, shown = call(*arguments, "--out", tmp_path / "out")
        assert status == 0 and "BERTScore" in shown
        scorer = BERTScorer(model_type=str(folder), num_layers=1)
        expected = scorer.score([row["summary"] for row in ROWS], [row["reference"] for row in ROWS])[2]
        found = pd.read_csv(tmp_path / "out" / "scores.csv")["bertscore_f1"]
        assert found.tolist() == pytest.approx(expected.tolist(), abs=1e-4)
        status, shown = call(data, *COLUMNS, "--metrics", "bertscore")  # its default model is on the Hub
        assert status == 2 and "bertscore: cannot load its model" in shown
        status, shown = call(data, *COLUMNS, "--metrics", "bertscore", "--set", "bertscore.idf=1")
        assert status == 2 and "unknown option 'idf'" in shown
        find_spec = importlib.util.find_spec
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "bert_score" else find_spec(name))
        status, shown = call(data, *COLUMNS, "--metrics", "bertscore")
        assert status == 2 and "pip install bert-score" in shown


class TestStats:
    def scores(self, pairs, **options):
        examples = [Example(str(n), "s", summary, documents=[document]) for n, (summary, document) in enumerate(pairs)]
        return pd.DataFrame(Stats(options, examples, ROOT / "metrics" / "mss").score(examples))

    DOCUMENTS = [
        "The river rose all night. By dawn the old town was under water.",
        "A museum opened its new wing with paintings from Spain and Peru.",
        "Trains were late because of snow in the mountains near the lake.",
    ]

    def test_values(self):
        from sklearn.feature_extraction.text import TfidfVectorizer

        summaries = ["By dawn the twon was under water.", "Paintings from Spain.", "Trains were late."]
        found = self.scores(list(zip(summaries, self.DOCUMENTS, strict=True)))
        assert found["stats_spelling_errors"].tolist() == pytest.approx([1 / 6, 0, 0])  # By is capitalised; twon
        assert found["stats_compression"].tolist() == pytest.approx([63 / 33, 64 / 21, 64 / 17], abs=0.01)
        vectors = TfidfVectorizer(ngram_range=(1, 3), token_pattern=r"\w+").fit_transform(
            [summaries[1], self.DOCUMENTS[1]]
        )
        assert found["stats_tfidf_cosine"][1] == pytest.approx((vectors[0] @ vectors[1].T).toarray()[0, 0])
        # Flesch-Kincaid by hand: one sentence of three words; Paintings has 2 syllables, from 1, Spain 1
        assert found["stats_flesch_kincaid"][1] == pytest.approx(0.39 * 3 + 11.8 * 4 / 3 - 15.59, abs=0.01)
        assert found["stats_gunning_fog"][1] == pytest.approx(0.4 * 3, abs=0.01)
        assert found["stats_topic_similarity"].between(0.8, 1 + 1e-9).all()
        crossed = self.scores(list(zip(summaries, self.DOCUMENTS[1:] + self.DOCUMENTS[:1], strict=True)))
        assert (crossed["stats_topic_similarity"] < found["stats_topic_similarity"]).all()

    @pytest.mark.parametrize("model", ["nmf", "lda", "lsa"])
    def test_topics_repeat_and_do_not_depend_on_neighbours(self, model):
        distance = "cosine" if model == "lsa" else "jensen-shannon"
        pairs = [(document.split(".")[0], document) for document in self.DOCUMENTS]
        options = {"topic_model": model, "topic_distance": distance}
        assert self.scores(pairs, **options).equals(self.scores(pairs, **options))

    @pytest.mark.parametrize("summary", ["", " \n", "!?", "القطار تأخر", "今天天气很好"])
    def test_what_does_not_apply_is_empty_and_never_made_up(self, summary):
        for options in ({}, {"topic_model": "lda"}):
            found = self.scores([(summary, self.DOCUMENTS[0]), ("Snow.", self.DOCUMENTS[2])], **options).loc[0]
            for key in ("stats_topic_similarity", "stats_flesch_kincaid", "stats_gunning_fog", "stats_spelling_errors"):
                assert np.isnan(found[key])
            assert np.isnan(found["stats_compression"]) == (not summary.strip())
            assert np.isnan(found["stats_tfidf_cosine"]) or found["stats_tfidf_cosine"] == 0

    def test_other_languages(self):
        found = self.scores([("القطار تأخر كثيرا", "القطار تأخر كثيرا في الجبال")], lang="ar").loc[0]
        assert 0 <= found["stats_spelling_errors"] <= 1 and np.isnan(found["stats_flesch_kincaid"])
        assert found["stats_tfidf_cosine"] > 0.3
        assert np.isnan(self.scores([("a b c", "a b c")], lang="xx").loc[0, "stats_spelling_errors"])

    @pytest.mark.parametrize(
        "options", [{"topic": 3}, {"topics": 1}, {"topics": "x"}, {"topic_model": "bert"}, {"topic_model": "lsa"}]
    )
    def test_bad_options(self, options):
        with pytest.raises(UnusableError, match="stats: "):
            self.scores([("a", "b")], **options)


class TestInputs:
    @pytest.mark.parametrize("kind", ["csv", "parquet", "saved"])
    def test_files_of_every_kind(self, kind, data, tmp_path):
        rows = [{key: value for key, value in row.items() if key != "people"} for row in ROWS]
        path = tmp_path / f"data.{kind}"
        if kind == "csv":
            pd.DataFrame(rows).to_csv(path, index=False, encoding="utf-8-sig", lineterminator="\r\n")
        elif kind == "parquet":
            pd.DataFrame(rows).to_parquet(path)
        else:
            datasets.Dataset.from_list(rows).save_to_disk(path)
        for source, out in ((data, "one"), (path, "other")):
            assert call(source, *COLUMNS, "--metrics", "rouge", "--out", tmp_path / out)[0] == 0
        assert (tmp_path / "one" / "scores.csv").read_text() == (tmp_path / "other" / "scores.csv").read_text()

    def test_folders(self, folders):
        systems = ["--summaries", f"good={folders / 'good'}", "--summaries", folders / "bad"]
        others = ["--documents", folders / "documents", "--references", folders / "references"]
        assert call(*systems, *others, "--metrics", "mss,rouge", "--out", folders / "out")[0] == 0
        found = pd.read_csv(folders / "out" / "scores.csv").set_index(["system", "id"])
        for place, scores in expected(["mss"]).items():
            assert found.loc[place, "mss"] == pytest.approx(scores["mss"], abs=1e-6)
        # without --metrics: all that the input allows
        status, shown = call(*systems, *others)
        assert status == 0 and "sss" in shown and "mss" in shown and "rouge1" in shown and "boc" not in shown

    @pytest.mark.parametrize("kind", ["jsonl", "csv"])
    def test_only_a_line_feed_ends_a_line(self, kind, tmp_path):
        """U+2028, U+0085 and others stand in texts and ids; a run with them is read, written, and gone on with."""
        row = {"id": "a\u2028b", "p": "one\u2028two\u0085three\x0cfour", "r": "one two three four"}
        path = tmp_path / f"data.{kind}"
        content = json.dumps(row, ensure_ascii=False) if kind == "jsonl" else f"id,p,r\n{','.join(row.values())}\n"
        path.write_bytes(content.encode())
        arguments = [path, "--predictions", "p", "--references", "r", "--id", "id", "--metrics", "rouge"]
        for _ in range(2):
            assert call(*arguments, "--out", tmp_path / "out")[0] == 0
        (found,) = [json.loads(line) for line in (tmp_path / "out" / "scores.jsonl").read_text().strip().split("\n")]
        assert found["id"] == row["id"] and found["rouge1"] == 1.0

    def test_without_ids_systems_are_paired_by_their_order(self, data, tmp_path):
        columns = ["--predictions", "summary", "--references", "reference", "--system", "model"]
        assert call(data, *columns, "--metrics", "rouge", "--out", tmp_path / "out")[0] == 0
        assert set(pd.read_csv(tmp_path / "out" / "scores.csv")["id"]) == set(range(8))
        lines = [line for line in (tmp_path / "out" / "summary.md").read_text().splitlines() if "good - bad" in line]
        assert len(lines) == 3 and all(line.endswith("| 8 |") for line in lines)

    def test_bom_and_windows_line_ends(self, folders):
        (folders / "good" / "d0_summary.txt").write_bytes("\ufeffone\r\ntwo".encode())
        (folders / "bad" / "d0_summary.txt").write_bytes(b"one\ntwo")
        arguments = [
            "--summaries",
            folders / "good",
            "--summaries",
            folders / "bad",
            "--references",
            folders / "references",
        ]
        assert call(*arguments, "--metrics", "sss", "--out", folders / "out")[0] == 0
        found = pd.read_csv(folders / "out" / "scores.csv").set_index(["system", "id"])["sss_l2"]
        assert found["good", "d0"] == pytest.approx(found["bad", "d0"])

    def test_section_scores_parameters_and_characters(self, folders):
        path = folders / "good" / "d0_summary.txt"
        plain = path.read_text()
        block = "\n\n\n---\n\nSection Scores for d0:\n- 12.5\n- 9.25\n"
        (folders / "good" / "summarization_parameters.json").write_text('{"num_beams": 4}')
        (folders / "people.txt").write_text("Amy\nRaj: R.\nPenny\n")
        arguments = ["--summaries", folders / "good", "--references", folders / "references"]
        arguments += ["--characters", folders / "people.txt", "--metrics", "sss,boc,bor"]
        assert call(*arguments, "--out", folders / "without")[0] == 0
        path.write_text(plain + block)
        assert call(*arguments, "--drop-section-scores", "--out", folders / "dropped")[0] == 0
        assert (folders / "dropped" / "scores.csv").read_text() == (folders / "without" / "scores.csv").read_text()
        plan = json.loads((folders / "dropped" / "run.json").read_text())
        assert plan["parameters"] == {"good": {"summarization_parameters.json": {"num_beams": 4}}}
        assert drop_section_scores("No section scores here.") == "No section scores here."
        (folders / "people.txt").write_text("\n")
        status, shown = call(*arguments)
        assert status == 2 and "names nobody" in shown

    def test_options_by_set_and_by_file(self, data, tmp_path):
        config = tmp_path / "config.yaml"
        config.write_text("rouge: {use_stemmer: true}\nmss:\n  doc_chunk_size: 1\n")
        arguments = [data, *ALL, "--metrics", "mss,rouge", "--config", config, "--set", "mss.alignment=lexical"]
        assert call(*arguments, "--out", tmp_path / "out")[0] == 0
        plan = json.loads((tmp_path / "out" / "run.json").read_text())
        assert plan["options"] == {"mss": {"doc_chunk_size": 1, "alignment": "lexical"}, "rouge": {"use_stemmer": True}}
        assert "doc_chunk_size:1|" in plan["signatures"]["mss"]
        assert "mss_support" in pd.read_csv(tmp_path / "out" / "scores.csv")
        toml = tmp_path / "config.toml"
        toml.write_text("[rouge]\nuse_stemmer = true\n[mss]\ndoc_chunk_size = 1\nalignment = 'lexical'\n")
        assert call(data, *ALL, "--metrics", "mss,rouge", "--config", toml, "--out", tmp_path / "out")[0] == 0


class TestBadRows:
    """Some rows fail: each is named with its reason, the others are scored, the status is 1."""

    def test_folder(self, folders):
        (folders / "documents" / "d1.txt").unlink()
        (folders / "good" / "d2_summary.txt").write_text(" \n")
        (folders / "bad" / "d3_summary.txt").write_bytes("é".encode("latin-1"))
        arguments = [
            "--summaries",
            folders / "good",
            "--summaries",
            folders / "bad",
            "--documents",
            folders / "documents",
        ]
        status, shown = call(*arguments, "--metrics", "mss", "--out", folders / "out")
        assert status == 1 and "Not scored: 4" in shown
        reasons = pd.read_csv(folders / "out" / "failures.csv").set_index(["system", "id"])["reason"]
        assert "there is no" in reasons["good", "d1"] and "d1.txt" in reasons["bad", "d1"]
        assert "is empty" in reasons["good", "d2"]
        assert "byte 0 is 0xe9" in reasons["bad", "d3"] and "--encoding" in reasons["bad", "d3"]
        assert len(pd.read_csv(folders / "out" / "scores.csv")) == 12
        assert call(*arguments[:2], "--summaries", folders / "bad", *arguments[4:], "--encoding", "latin-1")[0] == 1

    def test_file(self, tmp_path):
        data = tmp_path / "data.jsonl"
        lines = ['{"predictions": "a b", "r": "a b"}', '{"predictions": ', "[1]", '{"predictions": 5, "r": "x"}']
        lines += [
            '{"predictions": "a", "r": null}',
            '{"predictions": "a", "r": []}',
            '{"predictions": "x\\ud800", "r": "y"}',
        ]
        data.write_text("\n".join([*lines, '{"predictions": "c", "r": ["c", "d"]}']))
        status, shown = call(data, "--references", "r", "--metrics", "sss", "--out", tmp_path / "out")
        assert status == 1
        for reason in (
            "line 2 is not JSON",
            "line 3 is not a JSON object",
            "row 3: predictions is 5",
            "references is None",
        ):
            assert reason in shown
        assert "surrogate" in shown and len(pd.read_csv(tmp_path / "out" / "scores.csv")["sss"].dropna()) == 2

    @pytest.mark.slow
    def test_a_large_document_among_small_ones(self, folders):
        large = folders / "references" / "d0.txt"
        large.write_text(large.read_text() + "The bridge was closed again. " * 700_000)  # 20 MB
        (folders / "people.txt").write_text("Amy\nRaj\nPenny\n")
        arguments = ["--summaries", folders / "good", "--references", folders / "references"]
        arguments += ["--characters", folders / "people.txt", "--metrics", "boc,bor", "--out", folders / "out"]
        assert call(*arguments)[0] == 0
        found = pd.read_csv(folders / "out" / "scores.csv")
        assert len(found) == 8 and found["boc_f1"].eq(1).all() and found["bor_f1"].eq(1).all()


class TestUnusable:
    """Nothing is scored: status 2 and a message that says what to do."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ([], ["give a file, or --summaries"]),
            (["nowhere.jsonl"], ["there is no nowhere.jsonl"]),
            (["--summaries", "nowhere"], ["there is no folder nowhere"]),
            (["DATA", *COLUMNS, "--metrics", "ssss"], ["unknown metric 'ssss'", "did you mean 'sss'?"]),
            (["DATA", *COLUMNS, "--metrics", "mss"], ["mss needs --documents", "can be used: sss, rouge"]),
            (["DATA", "--predictions", "text"], ["no column 'text' (--predictions)", "summary"]),
            (["DATA", *COLUMNS, "--metrics", "sss", "--set", "sss.chunk=3"], ["unknown option 'chunk'", "batch_size"]),
            (
                ["DATA", *COLUMNS, "--metrics", "sss", "--set", "sss.lang=ar"],
                ["cannot load the model", "works offline"],
            ),
            (["DATA", *COLUMNS, "--metrics", "rouge", "--set", "rouge.n=3"], ["rouge: unknown option 'n'"]),
            (["DATA", *COLUMNS, "--set", "sss"], ["write METRIC.OPTION=VALUE"]),
            (["DATA", *COLUMNS, "--set", "ssss.x=1"], ["unknown metric 'ssss'"]),
            (["DATA", *COLUMNS, "--config", "nowhere.yaml"], ["--config nowhere.yaml"]),
            (["DATA", "--predictions", "summary", "--references", "reference", "--id", "id"], ["the id 'd0' twice"]),
            ([str(ROOT / "README.md")], ["give a .jsonl, .csv or .parquet file"]),
            ([str(ROOT / "tests")], ["no folder that datasets saved"]),
        ],
    )
    def test_message(self, arguments, words, data, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        status, shown = call(*[data if argument == "DATA" else argument for argument in arguments])
        assert status == 2 and shown.startswith("error:")
        for word in words:
            assert word in shown

    def test_no_rows_and_not_utf8(self, tmp_path):
        for name, content, word in (
            ("empty.jsonl", b"", "no rows"),
            ("empty.csv", b"predictions,r\n", "no rows"),
            ("bad.csv", b"predictions,r\n\xff,b\n", "byte 14 is 0xff"),
            ("bad.parquet", b"no parquet", "cannot be read as Parquet"),
        ):
            (tmp_path / name).write_bytes(content)
            status, shown = call(tmp_path / name, "--references", "r")
            assert status == 2 and word in shown

    def test_other_options_do_not_mix_with_an_old_run(self, data, tmp_path):
        arguments = [data, *COLUMNS, "--metrics", "rouge", "--out", tmp_path / "out"]
        assert call(*arguments)[0] == 0
        before = (tmp_path / "out" / "scores.csv").read_text()
        status, shown = call(*arguments, "--set", "rouge.use_stemmer=true")
        assert status == 2 and "holds another run (options, signatures differ)" in shown
        assert (tmp_path / "out" / "scores.csv").read_text() == before and call(*arguments)[0] == 0

    def test_a_folder_that_cannot_be_written(self, data, tmp_path):
        (tmp_path / "file").write_text("in the way")
        status, shown = call(data, *COLUMNS, "--metrics", "rouge", "--out", tmp_path / "file" / "out")
        assert status == 2 and "cannot write to" in shown

    @pytest.fixture
    def disk(self, tmp_path):
        """A disk of 16 KiB."""
        if sys.platform != "linux" or os.geteuid():
            pytest.skip("mounting a small disk takes root on Linux")
        disk = tmp_path / "disk"
        disk.mkdir()
        if subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)], capture_output=True
        ).returncode:
            pytest.skip("mounting is not allowed here")
        yield disk
        subprocess.run(["umount", str(disk)], check=True)

    def test_a_full_disk_keeps_what_was_scored(self, data, disk):
        arguments = [data, *COLUMNS, "--metrics", "rouge", "--out", disk / "out"]
        (disk / "ballast").write_bytes(b"x" * 8192)
        status, shown = call(*arguments)
        assert status == 2 and "No space left" in shown and "is kept" in shown
        (disk / "ballast").unlink()
        subprocess.run(["mount", "-o", "remount,size=1m", str(disk)], check=True)
        assert call(*arguments)[0] == 0
        assert len(pd.read_csv(disk / "out" / "scores.csv")) == 16

    def test_a_disk_that_is_read_only(self, data, disk):
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        status, shown = call(data, *COLUMNS, "--metrics", "rouge", "--out", disk / "out")
        assert status == 2 and "cannot write to" in shown and "Read-only" in shown


class TestComparison:
    def test_closed_case(self):
        """Four equal differences: of 16 sign patterns two are as extreme."""
        assert approximate_randomization(np.ones(4)) == pytest.approx(2 / 16, abs=0.01)
        # 0 and 1, moved to -1/2 and 1/2: half of the resamples take one of them twice and reach the mean of 1/2
        assert paired_bootstrap(np.array([0.0, 1.0])) == pytest.approx(1 / 2, abs=0.02)

    def test_equals_scipys_permutation_test(self):
        rng = np.random.default_rng(0)
        for size, shift in ((12, 0.0), (12, 0.6), (40, 0.2)):
            one, other = rng.normal(shift, 1, size), rng.normal(0, 1, size)
            exact = permutation_test(
                (one, other),
                lambda a, b, axis=-1: (a - b).mean(axis=axis),
                permutation_type="samples",
                n_resamples=20_000,
                vectorized=True,
                rng=1,
            ).pvalue
            assert approximate_randomization(one - other) == pytest.approx(exact, abs=0.02)

    def test_bootstrap_is_near_the_t_test_for_normal_data(self):
        from scipy.stats import ttest_rel

        rng = np.random.default_rng(1)
        for shift in (0.0, 0.1, 0.3):
            one, other = rng.normal(shift, 1, 200), rng.normal(0, 1, 200)
            assert paired_bootstrap(one - other) == pytest.approx(ttest_rel(one, other).pvalue, abs=0.03)

    @pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomization])
    def test_false_positives_come_about_as_often_as_the_level_says(self, test):
        rng = np.random.default_rng(2)
        p_values = np.array([test(rng.normal(0, 1, 40), resamples=1000) for _ in range(200)])
        assert 0.015 <= (p_values < 0.05).mean() <= 0.095  # binomial noise around 0.05
        assert 0.35 <= (p_values < 0.5).mean() <= 0.65

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

    def test_the_table_marks_what_differs(self, data, tmp_path):
        assert call(data, *COLUMNS, "--metrics", "rouge", "--out", tmp_path / "out")[0] == 0
        lines = [line for line in (tmp_path / "out" / "summary.md").read_text().splitlines() if "good - bad" in line]
        assert len(lines) == 3 and all("+0." in line and " * " in line for line in lines)


@pytest.mark.slow
@pytest.mark.timeout(600)
class TestInterruption:
    def command(self, python, data, out, *more):
        return [
            python,
            "-m",
            "eval_summaries",
            str(data),
            *ALL,
            "--metrics",
            "boc,bor,sss",
            "--out",
            str(out),
            *map(str, more),
        ]

    def test_killed_ten_times_at_random_the_result_is_the_same(self, python, environment, tmp_path):
        rows = [{**row, "id": f"{row['id']}-{copy}"} for copy in range(40) for row in ROWS]
        data, base = tmp_path / "data.jsonl", tmp_path / "scores.db"
        data.write_text("\n".join(json.dumps(row) for row in rows))
        quiet = dict(cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert subprocess.run(self.command(python, data, tmp_path / "whole"), **quiet).returncode == 0
        journal, kills, moments = tmp_path / "out" / "journal.jsonl", 0, random.Random(7)
        while kills < 10:
            process = subprocess.Popen(self.command(python, data, tmp_path / "out", "--sqlite", base), **quiet)
            size = journal.stat().st_size if journal.exists() else -1
            while process.poll() is None and (journal.stat().st_size if journal.exists() else -1) <= size:
                time.sleep(0.002)  # it has begun to write
            time.sleep(moments.uniform(0, 0.05))
            if process.poll() is not None:
                break  # it was done before it could be killed
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
        assert kills == 10
        done = subprocess.run(self.command(python, data, tmp_path / "out", "--sqlite", base), **quiet)
        assert done.returncode == 0
        one, other = (
            pd.read_csv(tmp_path / out / "scores.csv").set_index(["system", "id"]) for out in ("whole", "out")
        )
        assert len(other) == len(rows) and other.index.is_unique
        pd.testing.assert_frame_equal(one, other, atol=1e-6, rtol=0)
        entries = [json.loads(line) for line in journal.read_text().splitlines()]
        places = [(entry["system"], entry["id"], entry["metric"]) for entry in entries]
        assert len(places) == len(set(places)) == 3 * len(rows)
        with sqlite3.connect(base) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            (count,) = database.execute(
                "SELECT COUNT(*) FROM scores WHERE run = (SELECT MAX(run) FROM scores)"
            ).fetchone()
            assert count == len(rows) * 11

    def test_interrupted_by_the_user(self, python, environment, tmp_path):
        rows = [{**row, "id": f"{row['id']}-{copy}"} for copy in range(60) for row in ROWS]
        data, journal = tmp_path / "data.jsonl", tmp_path / "out" / "journal.jsonl"
        data.write_text("\n".join(json.dumps(row) for row in rows))
        command = self.command(python, data, tmp_path / "out")
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        while process.poll() is None and not (journal.exists() and journal.stat().st_size):
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 130 and b"give the same command again" in errors and b"Traceback" not in errors
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=240)
        assert done.returncode == 0 and len(pd.read_csv(tmp_path / "out" / "scores.csv")) == len(rows)

    def test_a_torn_last_line_is_scored_again(self, data, tmp_path):
        arguments = [data, *COLUMNS, "--metrics", "rouge", "--out", tmp_path / "out"]
        assert call(*arguments)[0] == 0
        journal, table = tmp_path / "out" / "journal.jsonl", (tmp_path / "out" / "scores.csv").read_text()
        content = journal.read_bytes()
        journal.write_bytes(content[:-20])
        assert call(*arguments)[0] == 0
        assert journal.read_bytes() == content and (tmp_path / "out" / "scores.csv").read_text() == table


@pytest.mark.slow
def test_from_a_wheel_in_another_folder(python, data, tmp_path):
    """Built, installed in a new virtual environment, run elsewhere: the metrics travel inside the wheel."""
    source = tmp_path / "source"  # a copy: building leaves files behind
    for name in ("eval_summaries", "metrics"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = [python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(source)]
    assert subprocess.run(build, capture_output=True, text=True, timeout=280).returncode == 0
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    own = tmp_path / "venv" / "bin"
    install = [str(own / "python"), "-m", "pip", "install", "-q", "--no-deps", str(wheel)]
    assert subprocess.run(install, capture_output=True, text=True, timeout=240).returncode == 0
    # the dependencies of the running environment, which the new one lacks, come after its own packages
    packages = next(path for path in map(str, sys.path) if path.endswith("site-packages"))
    (next((tmp_path / "venv" / "lib").glob("python*")) / "site-packages" / "others.pth").write_text(packages)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [
        str(own / "eval_summaries"),
        str(data),
        *ALL,
        "--metrics",
        "mss,boc,bor,rouge",
        "--out",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    found = pd.read_csv(tmp_path / "out" / "scores.csv").set_index(["system", "id"])
    for place, scores in expected(["mss", "boc"]).items():
        for key, value in scores.items():
            assert found.loc[place, key] == pytest.approx(value, abs=1e-6)
