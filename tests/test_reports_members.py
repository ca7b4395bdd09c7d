"""Other members of the kinds of the reports (tests/test_reports.py): found by trying what their lines do not name."""

import json
import re
import sqlite3
import zipfile

import datasets
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import SHORT, call, scored, write, write_rows
from conftest import load

PR, PRI = SHORT[:4], SHORT[:6]
ORDER = [*PR, "--system", "model", "--metrics", "rouge"]


class TestLetters:
    def test_selectors_and_fillers_are_no_words(self):
        sss = load("sss")
        found = sss.score(["❤️", "❤️", "葛󠄀城へ"], ["☀️", "❤", "葛城へ"])
        assert found["sss_rouge"] == [0.0, 1.0, 1.0]
        assert sss.explain("I love it ❤️", "We hate rain ☀️")["references"][0]["shared"] == []
        boc = load("boc", characters=["葛城", "I ❤ NY"])
        assert boc.score(["葛󠄀城 I ❤️ NY"], ["葛城 I ❤ NY"])["boc_f1"] == [1.0]

    def test_folding_does_not_depend_on_other_words(self):
        sss = load("sss")
        assert sss.score(["چَک", "چَک است"], ["چک", "چک است"])["sss_rouge"] == [1.0, 1.0]
        assert sss.explain("کِتاب", "کتاب")["references"][0]["shared"] == ["کتاب"]
        assert sss.explain("ㅎㅏ", "하")["references"][0]["shared"] == ["하"]

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("Dwayne “The Rock” Johnson", 'Dwayne "The Rock" Johnson'),
            ('צה"ל', "צה״ל"),
            ("哈利・波特", "哈利·波特"),
            ("ジャン･リュック", "ジャン・リュック"),
            ("عـلي", "علي"),
            ("O\u1ffdBrien", "O'Brien"),
        ],
    )
    def test_marks_in_names(self, text, name):
        assert load("boc", characters=[name]).score([text], [name])["boc_f1"] == [1.0]

    def test_names_given_as_iterators_and_long_columns(self):
        boc = load("boc")
        assert boc.score(["Amy met Raj"], ["Amy met Raj"], characters=[iter(["Amy", "Raj"])])["boc_f1"] == [1.0]
        greg = {"House": map(str.strip, ["Greg"])}
        assert boc.score(["Greg left"], ["Greg left"], characters=greg)["boc_f1"] == [1.0]
        names = [f"N{number}" for number in range(61)]
        lists = [pd.Series([*names[:30], name, *names[31:]]) for name in ("Amy", "Raj")]
        assert boc.score(["Amy met Raj"] * 2, ["Amy"] * 2, characters=lists)["boc_f1"] == [1.0, 0.0]
        with pytest.raises(ValueError, match="characters is empty"):
            boc.score(["a"], ["a"], characters={})


class TestOrder:
    def test_a_system_whose_rows_are_all_broken_keeps_them(self, tmp_path):
        rows = ["a,x,x"] * 4 + ["c,1, 2,x"] * 4 + ["b,x,x"] * 2 + ["b,z,x"] * 2
        data = write(tmp_path / "x.csv", "model,p,r\n" + "\n".join(rows))
        status, shown = call(data, *ORDER)
        assert status == 1 and "rouge1 │ a - b │ +0.500" in shown and "c 0: x.csv, line 6" in shown

    def test_an_empty_line_may_have_been_a_row(self, tmp_path):
        rows = [json.dumps({"model": m, "p": t, "r": "x"}) for m in "ab" for t in "xzxx"]
        for gap in ("", "{}", " \t"):
            lines = [gap if place in (1, 6) else row for place, row in enumerate(rows)]
            status, shown = call(write(tmp_path / "x.jsonl", "\n".join(lines) + "\n\n"), *ORDER)
            assert status == 1 and "rouge1 │ a - b │ +0.000 │ │ 1.0000 │ 1.0000 │ 2 │" in shown
        with_ids = [json.dumps({"id": place, "p": "x", "r": "x"}) for place in range(2)]
        assert call(write(tmp_path / "x.jsonl", "\n\n".join(with_ids)), *PRI, "--metrics", "rouge")[0] == 0

    def test_two_layouts_that_fit_are_refused(self, tmp_path):
        row = '{{"model": "{}", "p": "x", "r": "x"}}'
        data = write(tmp_path / "x.jsonl", "\n".join(["{bad", row.format("a"), row.format("b"), "{bad"]))
        status, shown = call(data, *ORDER)
        assert status == 2 and "nor which system it belongs to" in shown


class TestFiles:
    @pytest.mark.parametrize(
        "cell",
        [
            "[np.str_('A cat sat.'), np.str_('x')]",
            "['A cat sat.', nan]",
            "['A cat sat.' None]",
            "['A cat sat.' 'b' ... 'c']",
            "[['A cat sat.', 'b'], ['c']]",
            "deque(['A cat sat.', 'b'])",
            "frozenset({'A cat sat.'})",
            "[{'summary_text': 'A cat sat.'}]",
            "[None]",
            "[array(['A cat sat.'])]",
        ],
    )
    @pytest.mark.parametrize("side", ["p", "r"])
    def test_lists_that_cannot_be_read_are_refused(self, cell, side, tmp_path):
        rows = [{"p": "A cat sat.", "r": "A cat sat.", side: cell}, {"p": "x", "r": "x"}]
        pd.DataFrame(rows).to_csv(tmp_path / "x.csv", index=False)
        status, shown = call(tmp_path / "x.csv", *PR, "--metrics", "rouge")
        assert status == 1 and "Not scored: 1" in shown and "line 2" in shown and "rouge1 │ 1.000" in shown

    @pytest.mark.parametrize(
        "text", ['("Yes," she said.)', "[sic] A cat.", "[1]", "[deleted]", "He (or 'she') left [at 5]"]
    )
    def test_texts_in_brackets_are_texts(self, text, tmp_path):
        data = write_rows(tmp_path / "x.jsonl", [{"p": text, "r": text}])
        status, shown = call(data, *PR, "--metrics", "rouge")
        assert status == 0 and "rouge1 │ 1.000" in shown

    @pytest.mark.parametrize(
        "cell", ["dict_keys(['Amy'])", "'Amy', 'Raj'", '"Amy"', '{"Amy": [], "Amy": ["A"]}', "[Amy"]
    )
    def test_characters_that_cannot_be_read_are_refused(self, cell, tmp_path):
        rows = [{"p": "Amy", "r": "Amy", "c": cell}, {"p": "Amy", "r": "Amy", "c": "Amy\tRaj"}]
        status, shown = call(write_rows(tmp_path / "x.jsonl", rows), *PR, "--characters", "c", "--metrics", "boc")
        assert status == 1 and "Not scored: 1" in shown and "line 1: characters" in shown

    @pytest.mark.parametrize(
        "line", ["2,a dog ,a dog", "2,a dog", "2,a dog,a dog,x", "d 2,a dog,a dog", "2, a dog, a dog"]
    )
    def test_a_quote_that_swallows_an_odd_row(self, line, tmp_path):
        data = write(tmp_path / "x.csv", f'id,p,r\n1,"a cat,a cat\n{line}\n3,b",b\n4,c,c\n')
        status, shown = call(data, *PRI, "--metrics", "rouge")
        assert status == 2 and "line 2: a quotation mark opens a cell" in shown

    def test_a_header_that_comes_again(self, tmp_path):
        data = write(tmp_path / "x.csv", "id,p,r\n1,a cat,a cat\nid,p,r\n2,a cat,a cat\n")
        status, shown = call(data, *PRI, "--metrics", "rouge")
        assert status == 1 and "line 3 repeats the header" in shown and "rouge1 │ 1.000" in shown

    def test_workbooks_with_a_wrong_size_and_escapes(self, tmp_path):
        book = openpyxl.Workbook()
        for row in (["id", "p", "r", "n"], [1, "a cat_x000D_\nsat", "a cat\nsat", "=LEN(B2)"], [2, "x", "y", "=1"]):
            book.active.append(row)
        book.save(tmp_path / "x.xlsx")
        with zipfile.ZipFile(tmp_path / "x.xlsx") as old, zipfile.ZipFile(tmp_path / "y.xlsx", "w") as new:
            for name in old.namelist():
                content = old.read(name)
                new.writestr(name, re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="A1:C2"', content))
        for name in ("x", "y"):
            assert call(tmp_path / f"{name}.xlsx", *PRI, "--metrics", "rouge", "--out", tmp_path / name)[0] == 0
            assert scored(tmp_path / name)["rouge1"].tolist() == [1.0, 0.0]

    @pytest.mark.parametrize("kind", ["parquet", "saved"])
    def test_a_column_that_is_not_asked_for(self, kind, tmp_path):
        table = pa.table({"p": ["a", "b"], "r": ["a", "b"], "t": pa.array([253402300800, 1], pa.timestamp("s"))})
        path = tmp_path / f"x.{kind}"
        datasets.Dataset(table).save_to_disk(path) if kind == "saved" else pq.write_table(table, path)
        status, shown = call(path, *PR, "--metrics", "rouge")
        assert status == 0 and "rouge1 │ 1.000" in shown
        status, shown = call(path, *PR, "--id", "t", "--metrics", "rouge")
        assert status == 1 and "row 0 cannot be read" in shown and "Not scored: 1" in shown
        status, shown = call(path, "--predictions", "q")
        assert status == 2 and "it has p, r, t" in shown

    @pytest.mark.parametrize("kind", ["parquet", "saved"])
    def test_classes_have_their_names(self, kind, tmp_path):
        features = datasets.Features(
            {
                "p": datasets.Value("string"),
                "r": datasets.Value("string"),
                "model": datasets.ClassLabel(names=["good", "bad"]),
            }
        )
        table = datasets.Dataset.from_dict({"p": ["a", "b"], "r": ["a", "b"], "model": [1, 0]}, features=features)
        path = tmp_path / f"x.{kind}"
        table.save_to_disk(path) if kind == "saved" else table.to_parquet(path)
        assert call(path, *PR, "--system", "model", "--metrics", "rouge", "--out", tmp_path / "out")[0] == 0
        assert sorted(system for system, _ in scored(tmp_path / "out").index) == ["bad", "good"]

    def test_json_lines_in_a_json_file_and_a_key_twice(self, tmp_path):
        data = write(tmp_path / "x.json", '{"p": "a", "r": \n{"p": "a", "r": "a"}\n{"p": "b", "r": "b"}\n')
        status, shown = call(data, *PR, "--metrics", "rouge")
        assert status == 1 and "line 1 is not JSON" in shown and "rouge1 │ 1.000" in shown
        data = write(tmp_path / "x.json", '[{"p": "a", "r": "a", "r": "b"}, {"p": "b", "r": "b"}]')
        status, shown = call(data, *PR, "--metrics", "rouge")
        assert status == 1 and "object 0 has the key 'r' twice" in shown and "rouge1 │ 1.000" in shown
        data = write(tmp_path / "x.json", '{"p": {"0": "a", "1": "b"}, "r": {"1": "b", "0": "a"}}')
        assert call(data, *PR, "--metrics", "rouge")[0] == 0

    def test_a_byte_that_is_not_of_the_encoding_costs_its_row(self, tmp_path):
        data = write(tmp_path / "x.csv", b"p,r\na,a\n\xe9,x\n")
        status, shown = call(data, *PR, "--metrics", "rouge", "--encoding", "ascii")
        assert status == 1 and "line 3" in shown and "0xe9" in shown and "rouge1 │ 1.000" in shown

    def test_endings_in_capitals_and_odd_names(self, tmp_path):
        (tmp_path / "s").mkdir()
        for name in ("1_summary.txt", "2_summary.TXT", "3_Summary.txt"):
            write(tmp_path / "s" / name, "a cat")
            write(tmp_path / "s" / f"{name[0]}.TXT", "a cat")
        write(tmp_path / "s" / "p.json", '{"a": "\\ud800"}')
        arguments = ["--summaries", tmp_path / "s", "--references", tmp_path / "s", "--metrics", "rouge"]
        assert call(*arguments, "--out", tmp_path / "out")[0] == 0
        assert len(scored(tmp_path / "out")) == 3 and json.loads((tmp_path / "out" / "run.json").read_text())

    def test_empty_references_are_said(self, tmp_path):
        data = write(tmp_path / "x.csv", "p,r\na cat,a cat\na cat,\n\u200b,a cat\n")
        status, shown = call(data, *PR, "--metrics", "rouge")
        assert status == 0 and "1 of 3 summaries are empty" in shown and "1 of 3 references are empty" in shown

    def test_one_odd_cell_with_out(self, tmp_path):
        rows = [{"id": 1, "p": "Amy", "r": "Amy", "c": "Amy"}, {"id": 2, "p": "Amy", "r": "Amy"}]
        for cell in ("{1: [], 'a': []}", "{'Amy': {'A.'}}", "['Amy', b'x']", "['Amy', ...]", "{('a',): []}"):
            pd.DataFrame([rows[0], {**rows[1], "c": cell}]).to_csv(tmp_path / "x.csv", index=False)
            arguments = [*PRI, "--characters", "c", "--metrics", "boc", "--out", tmp_path / "out"]
            status, shown = call(tmp_path / "x.csv", *arguments)
            assert "boc_f1 │ 1.000" in shown and status == 1


class TestArguments:
    def test_section_scores_in_a_file(self, tmp_path):
        data = write_rows(
            tmp_path / "x.jsonl", [{"p": "a cat\n\n---\n\nSection Scores for x:\n- 12.5\n", "r": "a cat"}]
        )
        status, shown = call(data, *PR, "--metrics", "rouge", "--drop-section-scores")
        assert status == 0 and "rouge1 │ 1.000" in shown

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--summaries", "s", "--predictions", "p"], "--predictions names a column of a file"),
            (["--summaries", "s", "--id", "p"], "--id names a column of a file"),
            (["x", "--characters", "c", "--set", "boc.characters=[Zed]"], "--characters c is given too"),
            (["x", "--set", "boc.characters=[[Amy], [Raj]]"], "boc.characters are for all examples"),
            (["x", "--set", "boc.characters={A: [], A: [B]}"], "a key stands twice"),
            (["x", "--set", "boc.characters={}"], "characters is empty"),
            (["x", "--set", "rouge.parts=true", "--set", "rouge.parts=no"], "rouge.parts is set twice"),
            (["x.parquet", "--encoding", "cp1256"], "is no text file"),
        ],
    )
    def test_what_would_have_no_effect(self, arguments, said):
        status, shown = call(*arguments)
        assert status == 2 and said in shown

    def test_results_that_are_not_ours(self, tmp_path):
        rows = [{"p": "a cat", "r": "a cat"}, {"p": "a dog", "r": "a cat"}]
        data = write_rows(tmp_path / "results.jsonl", rows)
        before = data.read_bytes()
        status, shown = call(data, *PR, "--metrics", "rouge", "--out", tmp_path)
        assert status == 2 and "did not write" in shown and data.read_bytes() == before

    def test_a_database_of_ones_own(self, tmp_path):
        data = write_rows(tmp_path / "x.jsonl", [{"p": "a", "r": "a"}])
        status, shown = call(data, *PR, "--metrics", "rouge", "--sqlite", write(tmp_path / "5_summary.txt", ""))
        assert status == 2 and "is no database" in shown and (tmp_path / "5_summary.txt").read_bytes() == b""
        out = tmp_path / "new"
        assert call(data, *PR, "--metrics", "rouge", "--out", out, "--sqlite", out / "x.db")[0] == 0
        with sqlite3.connect(out / "x.db") as database:
            assert database.execute("SELECT COUNT(*) FROM runs").fetchone() == (1,)

    def test_what_an_earlier_run_left(self, tmp_path):
        data = write_rows(tmp_path / "x.jsonl", [{"p": "a", "r": "a"}])
        arguments = [data, *PR, "--metrics", "rouge", "--out", tmp_path / "out"]
        assert call(*arguments, "--parquet")[0] == 0
        status, shown = call(*arguments)
        assert status == 0 and "scores.parquet in" in shown and "of an earlier run" in shown
        status, shown = call(*arguments, "--prune")
        assert status == 0 and not (tmp_path / "out" / "scores.parquet").exists()

    def test_names_are_shown_as_they_are(self, tmp_path):
        rows = [{"model": "x:100:y", "id": n, "p": "a", "r": "a"} for n in (1, 2)]
        rows += [{"model": "z", "id": n, "p": "a", "r": "a"} for n in (2, 3)]
        status, shown = call(write_rows(tmp_path / "x.jsonl", rows), *SHORT, "--metrics", "rouge")
        assert status == 0 and "x:100:y" in shown and "x:100:y and z have only one id in common" in shown

    def test_topics_of_the_same_words_are_the_same(self):
        from eval_summaries.inputs import Example
        from eval_summaries.stats import Stats

        words = ["river bridge town", "mayor school boat rain", "train road cat dog tea"]
        examples = [Example(str(n), "s", f"{text} " * 3, documents=[f"{text} " * 7]) for n, text in enumerate(words)]
        stats = Stats("stats", {})
        stats.start(examples)
        assert stats.score(examples)["stats_topic_similarity"] == pytest.approx([1.0] * 3, abs=1e-6)
