"""Files and folders of every kind, as people have them."""

import json

import datasets
import pandas as pd
import pytest
from command import ALL, COLUMNS, ROWS, call, expected

from eval_summaries.inputs import drop_section_scores


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
        assert len(lines) == 4 and all(line.endswith("| 8 |") for line in lines)

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
        assert status == 1 and "Not scored: 3" in shown and "1 of 13 summaries are empty" in shown
        reasons = pd.read_csv(folders / "out" / "failures.csv").set_index(["system", "id"])["reason"]
        assert "there is no" in reasons["good", "d1"] and "d1.txt" in reasons["bad", "d1"]
        assert ("good", "d2") not in reasons  # an empty summary is scored by the card's value
        assert "byte 0 is 0xe9" in reasons["bad", "d3"] and "--encoding" in reasons["bad", "d3"]
        found = pd.read_csv(folders / "out" / "scores.csv").set_index(["system", "id"])
        assert len(found) == 13 and found.loc[("good", "d2"), "mss"] == 0
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
            "line 4: predictions is 5",
            "references is None",
        ):
            assert reason in shown
        assert "surrogate" in shown and len(pd.read_csv(tmp_path / "out" / "scores.csv")["sss"].dropna()) == 2

    @pytest.mark.thorough
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
