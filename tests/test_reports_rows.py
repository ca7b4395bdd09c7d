"""Faults that public reports of other tools led to here: one bad row, what is unclear, what is damaged.

The number is the line of the list that they were collected in; the report's address is OWNER/NAME#NUMBER or
NAME#NUMBER.
"""

import json
import os
import sqlite3
import subprocess

import datasets
import pytest
from command import SHORT, call, scored, write, write_rows
from conftest import ROOT


class TestOneBadRow:
    def test_14_a_folder_of_splits(self, tmp_path):
        """heretic#149, datasets#2424"""
        table = datasets.Dataset.from_list([{"p": "a", "r": "a"}])
        datasets.DatasetDict(train=table, test=table).save_to_disk(tmp_path / "two")
        datasets.DatasetDict(test=table).save_to_disk(tmp_path / "one")
        arguments = [*SHORT[:4], "--metrics", "rouge"]
        status, shown = call(tmp_path / "two", *arguments)
        assert status == 2 and "has several splits: give --split with one of train, test" in shown
        status, shown = call(tmp_path / "two", *arguments, "--split", "dev")
        assert status == 2 and "has no split 'dev'" in shown and "train, test" in shown
        assert call(tmp_path / "two", *arguments, "--split", "test")[0] == 0 == call(tmp_path / "one", *arguments)[0]

    def test_15_names_that_are_not_utf8(self, tmp_path):
        """OpenViking#4238, dupeguru#210"""
        (tmp_path / "s").mkdir()
        for name in (b"caf\xe9_summary.txt", b"b_summary.txt"):
            with open(os.path.join(os.fsencode(tmp_path / "s"), name), "wb") as file:
                file.write(b"a cat")
        (tmp_path / "d").mkdir()
        with open(os.path.join(os.fsencode(tmp_path / "d"), b"caf\xe9.txt"), "wb") as file:
            file.write(b"a cat")
        out = ["--out", tmp_path / "out", "--sqlite", tmp_path / "x.db"]
        arguments = ["--summaries", tmp_path / "s", "--documents", tmp_path / "d", "--metrics", "stats"]
        status, shown = call(*arguments, *out)
        assert status == 1 and "there is no" in shown  # b has no document
        assert scored(tmp_path / "out").index.tolist() == [("s", "caf\\udce9")]

    def test_15_lone_surrogates(self, tmp_path):
        lines = [
            '{"id": "x\\ud800", "p": "a cat", "r": "a cat", "model": "m"}',
            '{"id": "2", "p": "a \\ud800", "r": "a cat", "model": "m"}',
            '{"id": "3", "p": "a cat", "r": ["a cat", "\\udfff"], "model": "m\\udc80"}',
            '{"id": "4", "p": "a cat", "r": "a cat", "model": "m"}',
        ]
        data = write(tmp_path / "x.jsonl", "\n".join(lines))
        status, shown = call(data, *SHORT, "--metrics", "rouge,bleu", "--out", tmp_path / "out")
        assert status == 1 and "line 2 has a lone surrogate" in shown and "line 3 has a lone surrogate" in shown
        assert scored(tmp_path / "out").index.tolist() == [("m", "x\\ud800"), ("m", "4")]

    def test_17_encodings(self, tmp_path):
        """icdiff#145"""
        for folder, name in (("s", "1_summary.txt"), ("r", "1.txt")):
            (tmp_path / folder).mkdir()
            write(tmp_path / folder / name, "José".encode("latin-1"))
        people = write(tmp_path / "people.txt", "José".encode("latin-1"))
        arguments = ["--summaries", tmp_path / "s", "--references", tmp_path / "r", "--characters", people]
        for wrong, said in (("utf88", "there is no such encoding"), ("base64", "no encoding of text")):
            status, shown = call(*arguments, "--metrics", "boc", "--encoding", wrong)
            assert status == 2 and f"--encoding {wrong}" in shown and said in shown
        status, shown = call(*arguments, "--metrics", "boc", "--encoding", "latin-1")
        assert status == 0 and "boc_f1 │ 1.000" in shown
        status, shown = call(*arguments, "--metrics", "boc")
        assert status == 2 and "people.txt is not utf-8" in shown

    @pytest.mark.slow
    def test_19_labels_are_text(self, tmp_path):
        """nine-or-null#14, mtools#639"""
        rows = [{"model": m, "id": i, "p": i, "r": "a b"} for m in ("lr_$1_$2", "a & b|c\n#") for i in "abc"]
        data, out = write_rows(tmp_path / "x.jsonl", rows), tmp_path / "out"
        arguments = [data, *SHORT, "--metrics", "rouge", "--out", out, "--plots", "--sqlite", tmp_path / "x.db"]
        assert call(*arguments)[0] == 0
        assert {path.name for path in (out / "plots").iterdir()} >= {"distribution_rouge1.png"}
        assert "lr\\_\\$1\\_\\$2" in (out / "summary.tex").read_text()
        assert "| a & b\\|c # | rouge1 |" in (out / "summary.md").read_text()

    def test_19_what_cannot_be_written_loses_nothing_else(self, tmp_path, monkeypatch):
        data, out = write_rows(tmp_path / "x.jsonl", [{"p": "a", "r": "a"}]), tmp_path / "out"
        arguments = [data, *SHORT[:4], "--metrics", "rouge", "--out", out]

        def broken(table, folder):
            raise ValueError("no such font")

        monkeypatch.setattr("eval_summaries.outputs.draw", broken)
        base = tmp_path / "x.db"
        status, shown = call(*arguments, "--plots", "--sqlite", base)
        assert status == 4 and "rouge1 │ 1.000" in shown and "plots: no such font" in shown
        with sqlite3.connect(base) as database:
            assert database.execute("SELECT COUNT(*) FROM scores").fetchone() == (4,)
        for path in (tmp_path / "nowhere" / "x.db", write(tmp_path / "text.db", "no database " * 100)):
            status, shown = call(*arguments, "--sqlite", path)
            assert status == 2 and f"--sqlite {path}" in shown and "rouge1" not in shown

    @pytest.mark.parametrize(
        ("setting", "said"),
        [
            ("rouge.use_stemmer=@x", "rouge.use_stemmer='@x': give True or False"),
            ("rouge.use_stemmer=2", "rouge.use_stemmer=2: give True or False"),
            ("bleu.tokenize=nowhere", "bleu.tokenize='nowhere': give one of"),
            ("bleu.lowercase=2020-01-01", "bleu.lowercase='2020-01-01': give True or False"),
            ("stats.topics=1", "stats.topics=1: give a whole number of at least 2"),
            ("stats.topics=x", "stats.topics='x': give a whole number"),
            ("stats.topic_model=bert", "stats.topic_model='bert': give one of 'nmf', 'lda', 'lsa'"),
            ("stats.topic=3", "unknown option 'topic': did you mean 'topics'?"),
            ("stats.lang=english language", "stats.lang='english language': give a language code"),
            ("bertscore.idfs=1", "unknown option 'idfs'"),
            ("bertscore.num_layers=none", "bertscore.num_layers='none': give a whole number"),
            ("sss.confidence=0.9", "sss.confidence would have no effect here: the command gives 95% intervals"),
            ("sss.batch_size={a: [", "sss.batch_size='{a: [': give a whole number"),
            ("sss.lang=[en", "sss.lang='[en'"),
            ("mss.splitter=x", "mss.splitter would have no effect here"),
            ("sss.use_stemmer=2020-01-01", "sss.use_stemmer='2020-01-01'"),
        ],
    )
    def test_20_options_are_checked_before_anything_is_read(self, setting, said, tmp_path):
        status, shown = call(tmp_path / "nowhere.jsonl", "--set", setting)
        assert status == 2 and said in shown and f"--set {setting.split('=')[0]}" in shown

    def test_20_a_tokenizer_whose_package_is_missing(self, tmp_path):
        data = write_rows(tmp_path / "x.jsonl", [{"p": "a", "r": "a"}])
        if __import__("importlib").util.find_spec("MeCab"):
            pytest.skip("MeCab is installed")
        status, shown = call(data, *SHORT[:4], "--metrics", "bleu", "--set", "bleu.tokenize=ja-mecab")
        assert status == 2 and "bleu.tokenize=ja-mecab" in shown

    @pytest.mark.slow
    def test_21_a_terminal_without_unicode(self, environment, python, tmp_path):
        data = write_rows(tmp_path / "x.jsonl", [{"p": "a", "r": "a", "model": "نموذج", "id": 1}])
        done = subprocess.run(
            [python, "-m", "eval_summaries", str(data), *SHORT, "--metrics", "rouge"],
            env={**environment, "PYTHONIOENCODING": "ascii"},
            cwd=ROOT,
            capture_output=True,
            timeout=240,
        )
        assert done.returncode == 0 and b"1.000" in done.stdout and b"?????" in done.stdout, done.stderr

    @pytest.mark.parametrize("bad", [{"A": ["X"], "B": ["X"]}, ["Amy", ""], ["Amy", 3], {"A": "X"}, [None]])
    def test_22_a_bad_list_of_characters_fails_alone(self, bad, tmp_path):
        """deepeval#805"""
        rows = [{"id": n, "p": "Amy met Raj.", "r": "Amy met Raj.", "c": ["Amy", "Raj"]} for n in range(4)]
        rows[2]["c"] = bad
        arguments = [*SHORT[:6], "--characters", "c", "--metrics", "boc,bor,rouge", "--out", tmp_path / "out"]
        status, shown = call(write_rows(tmp_path / "x.jsonl", rows), *arguments)
        assert status == 1 and "Not scored: 2" in shown and "boc: characters, x.jsonl, line 3" in shown
        found = scored(tmp_path / "out")
        assert found["rouge1"].tolist() == [1] * 4 and found["boc_f1"].dropna().tolist() == [1] * 3
        assert found["bor_f1"].notna().tolist() == [True, True, False, True]

    def test_22_a_list_without_names_is_undefined(self, tmp_path):
        for rows in ([{"p": "Amy", "r": "Amy", "c": []}], [{"p": "Amy", "r": "Amy", "c": c} for c in ([], ["Amy"])]):
            arguments = [*SHORT[:4], "--characters", "c", "--metrics", "boc", "--out", tmp_path / "out"]
            assert call(write_rows(tmp_path / "x.jsonl", rows), *arguments)[0] == 0
            assert scored(tmp_path / "out")["boc_f1"].isna().tolist() == [not row["c"] for row in rows]

    def test_23_every_row_is_bad(self, tmp_path):
        """openai/evals#259"""
        data = write_rows(tmp_path / "x.jsonl", [{"p": 5, "r": "x"}, {"p": "a", "r": None}])
        for arguments in ([], ["--metrics", "rouge"]):
            status, shown = call(data, *SHORT[:4], *arguments)
            assert status == 2 and "no row can be scored (2)" in shown
            assert "line 1: predictions is 5" in shown and "line 2: references is None" in shown

    @pytest.mark.parametrize("kind", ["saved", "parquet"])
    def test_24_missing_keys_are_no_aliases(self, kind, tmp_path):
        """datasets#7617"""
        rows = [
            {"p": "Dr. House met Amy.", "r": "House met Amy.", "c": {"House": ["Dr. House"], "Amy": []}},
            {"p": "Amy met Raj.", "r": "Amy met Raj.", "c": {"Amy": ["A."], "Raj": ["R."]}},
        ]
        path = tmp_path / f"x.{kind}"
        table = datasets.Dataset.from_list(rows)
        table.save_to_disk(path) if kind == "saved" else table.to_parquet(path)
        arguments = ["--predictions", "p", "--references", "r", "--characters", "c", "--metrics", "boc"]
        assert call(path, *arguments, "--out", tmp_path / "out")[0] == 0
        assert scored(tmp_path / "out")["boc_f1"].tolist() == [1, 1]


class TestUnclear:
    def test_25_the_comparison_is_not_done_again(self, data, tmp_path, monkeypatch):
        """compare-mt#25"""
        from eval_summaries import cli

        calls = []
        compare = cli.compare_systems
        monkeypatch.setattr(cli, "compare_systems", lambda *given: calls.append(1) or compare(*given))
        columns = ["--predictions", "summary", "--references", "reference", "--system", "model", "--id", "id"]
        arguments = [data, *columns, "--metrics", "rouge", "--out", tmp_path / "out"]
        first, again = call(*arguments), call(*arguments)
        assert first == again and len(calls) == 1
        (tmp_path / "out" / "comparison.json").write_text("{")
        assert call(*arguments) == first and len(calls) == 2

    def test_28_composed_and_decomposed_file_names(self, tmp_path):
        """aside-codemode#30"""
        (tmp_path / "s").mkdir()
        (tmp_path / "d").mkdir()
        write(tmp_path / "s" / "cafe\u0301_summary.txt", "a cat")
        write(tmp_path / "d" / "café.txt", "a cat")
        arguments = ["--summaries", tmp_path / "s", "--references", tmp_path / "d", "--metrics", "rouge"]
        status, shown = call(*arguments, "--out", tmp_path / "out")
        assert status == 0 and scored(tmp_path / "out").index.tolist() == [("s", "café")]
        write(tmp_path / "d" / "cafe\u0301.txt", "a dog")
        status, shown = call(*arguments)
        assert status == 2 and "twice, composed and decomposed" in shown

    def test_28_ids_of_two_systems_composed_and_decomposed(self, tmp_path):
        rows = [
            {"model": m, "id": f"{i}{n}", "p": "a", "r": "a"} for m, i in (("a", "é"), ("b", "e\u0301")) for n in "12"
        ]
        rows[0]["id"] += "\ufeff "
        status, shown = call(write_rows(tmp_path / "x.jsonl", rows), *SHORT, "--metrics", "rouge")
        assert status == 0 and "rouge1 │ a - b │ +0.000" in shown and "Not compared" not in shown

    def test_29_norwegian_is_not_false(self, tmp_path):
        """huggingface_hub#797"""
        data = write_rows(tmp_path / "x.jsonl", [{"p": "a", "r": "a", "d": "a"}])
        status, shown = call(data, *SHORT[:4], "--metrics", "sss", "--set", "sss.lang=no")
        assert status == 2 and "meant by lang='no'" in shown
        config = write(tmp_path / "c.yaml", "stats: {lang: no}\nrouge: {use_stemmer: no}\n")
        arguments = ["--documents", "d", "--metrics", "stats,rouge", "--config", config, "--out", tmp_path / "out"]
        assert call(data, *SHORT[:4], *arguments)[0] == 0
        plan = json.loads((tmp_path / "out" / "run.json").read_text())
        assert plan["options"] == {"stats": {"lang": "no"}, "rouge": {"use_stemmer": False}}

    def test_30_json_beside_the_summaries(self, tmp_path):
        for folder, name in (("s", "1_summary.txt"), ("r", "1.txt")):
            (tmp_path / folder).mkdir()
            write(tmp_path / folder / name, "a cat")
        write(tmp_path / "s" / "notes.json", "not json at all")
        write(tmp_path / "s" / "list.json", "[1, 2]")
        write(tmp_path / "s" / "summarization_parameters.json", '{"num_beams": 4}')
        arguments = ["--summaries", tmp_path / "s", "--references", tmp_path / "r", "--metrics", "rouge"]
        for _ in range(2):  # into the folder of the summaries itself, twice
            status, shown = call(*arguments, "--out", tmp_path / "s")
            assert status == 0 and "notes.json is no JSON object" in shown and "list.json is no JSON object" in shown
        plan = json.loads((tmp_path / "s" / "run.json").read_text())
        assert plan["parameters"] == {"s": {"summarization_parameters.json": {"num_beams": 4}}}

    def test_31_the_deviation_of_one_example_is_undefined(self, tmp_path):
        data = write_rows(tmp_path / "x.jsonl", [{"p": "a", "r": "a"}])
        status, shown = call(data, *SHORT[:4], "--metrics", "rouge")
        assert status == 0 and "│ system │ rouge1 │ 1.000 │ │ 1.000 to 1.000 │ 1 │" in shown


class TestDamage:
    @pytest.mark.parametrize("name", ["run.json", "results.jsonl"])
    @pytest.mark.parametrize("content", [b"", b"[]", b"\0\0\n", b"\xff\xfe", b"[" * 100_000, b'{"key": 1}\n'])
    def test_16_what_can_be_read_is_used(self, name, content, data, tmp_path):
        """claude-code#49876"""
        columns = ["--predictions", "summary", "--references", "reference", "--system", "model", "--id", "id"]
        arguments, out = [data, *columns, "--metrics", "rouge", "--out", tmp_path / "out"], tmp_path / "out"
        assert call(*arguments)[0] == 0
        before, kept = (out / "scores.csv").read_bytes(), (out / "results.jsonl").read_bytes()
        lines = kept.splitlines(keepends=True)
        if name == "run.json":
            write(out / name, content)
        else:
            write(out / name, b"\xef\xbb\xbf" + b"".join(lines[:5]) + content + b"".join(lines[8:]) + lines[9][:-9])
        status, shown = call(*arguments)
        assert status == 0 and (out / "scores.csv").read_bytes() == before
        assert ("cannot be read; what is missing is scored again" in shown) == (name == "results.jsonl")
        assert json.loads((out / "run.json").read_text())["metrics"] == ["rouge"]
        content = (out / "results.jsonl").read_bytes().removeprefix(b"\xef\xbb\xbf")
        found = {line for line in content.splitlines() if line[:8] == b'{"key": '}
        assert {line.strip() for line in lines} <= found


def test_options_of_a_configuration_file_in_toml(data, tmp_path):
    config = write(tmp_path / "c.toml", "[rouge]\nuse_stemmer = 2020-01-01\n")
    status, shown = call(data, "--config", config)
    assert status == 2 and "rouge.use_stemmer='2020-01-01': give True or False" in shown
