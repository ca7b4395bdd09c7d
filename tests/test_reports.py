"""Faults that public reports of other tools led to here, each with its small input and the right outcome.

The number is the line of the list that they were collected in; the report's address is OWNER/NAME#NUMBER or
NAME#NUMBER.
"""

import json

import pandas as pd
import pytest
from command import SHORT, call, scored, write, write_rows
from conftest import load


class TestWrongNumbers:
    def test_1_revision_is_not_swallowed(self, tmp_path):
        """huggingface/optimum#2105, evaluate#169"""
        for name in ("sss", "boc"):
            with pytest.raises(TypeError, match=r"revision='no-such-revision' would have no effect"):
                load(name, revision="no-such-revision")
        with pytest.raises(ValueError, match="model_revision='x' belongs to a Hub id"):
            load("sss", model_revision="x").signature()
        for option, value in {"config_name": "x", "seed": 3}.items():
            with pytest.raises(TypeError, match=f"{option}=.* would have no effect"):
                load("mss", **{option: value})
        data = write_rows(tmp_path / "x.jsonl", [{"p": "a", "r": "a"}])
        for option in (
            "revision",
            "config_name",
            "cache_dir",
            "seed",
            "keep_in_memory",
            "experiment_id",
            "num_process",
        ):
            status, shown = call(data, *SHORT[:4], "--metrics", "sss", "--set", f"sss.{option}=X")
            assert status == 2 and f"unknown option '{option}'" in shown
        status, shown = call(data, *SHORT[:4], "--metrics", "sss", "--set", "sss.model_revision=X")
        assert status == 2 and "model_revision='X' belongs to a Hub id" in shown

    def test_1_what_evaluate_uses_itself_still_works(self, tmp_path):
        metric = load("boc", keep_in_memory=True, experiment_id="mine", cache_dir=str(tmp_path))
        assert metric.compute(predictions=["Amy"], references=["Amy"])["boc_f1"] == 1

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            ("1,a,The mayor, who resigned, left.,The mayor left.\n", "line 2 has 6 fields and the header has 4"),
            ("1,a,The mayor left.\n", "line 2 has 3 fields and the header has 4"),
            ('1,a,"The mayor" left.,The mayor left.\n', "line 2: text follows a closing quotation mark"),
            ("1,a,The mayor left.,The mayor left.,\n", "line 2 has 5 fields"),
        ],
    )
    def test_2_a_row_of_other_fields_is_a_failure(self, content, reason, tmp_path):
        """CsvHelper#2117, sqlite-utils#440"""
        data = write(tmp_path / "x.csv", f"id,model,p,r\n{content}2,a,A cat sat.,A cat sat.\n")
        status, shown = call(data, *SHORT, "--metrics", "rouge", "--out", tmp_path / "out")
        assert status == 1 and reason in shown
        assert scored(tmp_path / "out")["rouge1"].to_dict() == {("a", "2"): 1.0}

    @pytest.mark.parametrize(
        "content",
        [
            '1,a,"The mayor left.,x\n2,a,b,c\n',  # never closes
            '1,a,x,"The mayor left.\n2,a,b,c\n3,a,d,e"\n4,a,f,g\n',  # closes at the end of a later row
            '1,a,"The mayor left.\n2,a,b,c\n3,a,d",e\n4,a,f,g\n',  # closes inside a later row
            '1,a,x,"The mayor\n2,a,"b, c",d\n',  # what would open another cell closes it
        ],
    )
    @pytest.mark.parametrize("delimiter", [",", "\t"])
    def test_2_a_quote_that_swallows_rows_is_an_error(self, content, delimiter, tmp_path):
        name = "x.csv" if delimiter == "," else "x.tsv"
        content = ("id,model,p,r\n0,a,s,t\n" + content).replace(",", delimiter)
        status, shown = call(write(tmp_path / name, content), *SHORT, "--metrics", "rouge")
        assert status == 2 and "line 3: a quotation mark opens a cell" in shown

    @pytest.mark.parametrize(
        "cell", ["One line.\nTwo, and three, lines.", "a\n\nb,c", "Dear all,\nHe came, he left.\n"]
    )
    def test_2_a_text_of_several_lines_is_one_cell(self, cell, tmp_path):
        data = tmp_path / "x.csv"
        pd.DataFrame({"id": ["1", "2"], "p": [cell, "x"], "r": [cell, "x"]}).to_csv(data, index=False)
        assert call(data, *SHORT[:6], "--metrics", "rouge", "--out", tmp_path / "out")[0] == 0
        assert scored(tmp_path / "out")["rouge1"].tolist() == [1, 1]

    @pytest.mark.parametrize("form", [repr, json.dumps, lambda value: json.dumps(value, ensure_ascii=False)])
    def test_4_lists_in_cells(self, form, tmp_path):
        """ragas#191, #414"""
        rows = [{"p": "Amy met Raj.", "r": form(["Nobody.", "Amy met Raj."]), "c": form(["Amy", "Raj"])}]
        rows += [{"p": "سامي", "r": form(["سامي", 'It\'s "x"']), "c": form({"سامي": ["أبو علي"], "Raj": []})}]
        pd.DataFrame(rows).to_csv(tmp_path / "x.csv", index=False)
        arguments = ["--predictions", "p", "--references", "r", "--characters", "c", "--metrics", "boc,rouge"]
        assert call(tmp_path / "x.csv", *arguments, "--out", tmp_path / "out")[0] == 0
        found = scored(tmp_path / "out")
        assert found["boc_f1"].tolist() == [1, 1] and found["rouge1"].tolist() == [1, 1]

    @pytest.mark.parametrize("cell", ["['Amy' 'Raj']", "array(['Amy', 'Raj'], dtype=object)", "['Amy'\n 'Raj']"])
    def test_4_arrays_as_numpy_prints_them_are_refused(self, cell, tmp_path):
        pd.DataFrame([{"p": "Amy", "c": cell}, {"p": "Amy", "c": "Amy"}]).assign(r="Amy").to_csv(tmp_path / "x.csv")
        arguments = ["--predictions", "p", "--references", "r", "--characters", "c", "--metrics", "boc"]
        status, shown = call(tmp_path / "x.csv", *arguments)
        assert status == 1 and "as numpy prints it" in shown and "line 2" in shown and "Not scored: 1" in shown

    def test_5_white_space_around_names(self):
        """flashtext#146"""
        for names in (["Amy\n", "Raj\n"], ["Amy", " Raj"], {"Amy ": ["\u00a0A.\t"], "Raj": []}):
            found = load("boc", characters=names).score(["Amy saw Raj."], ["Raj saw Amy."])
            assert found["boc_f1"] == [1.0]

    def test_6_runs_of_white_space(self):
        """flashtext#131"""
        texts = ["Gregory\r\nHouse left.", "So Gregory  House left."]
        boc = load("boc", characters=["Gregory House"])
        assert boc.score(texts, texts[::-1])["boc_f1"] == [1.0, 1.0]
        places = boc.explain(*texts)["mentions"]["Gregory House"]
        assert [texts[0][a:b] for a, b in places["prediction"]] == ["Gregory\r\nHouse"]
        assert [texts[1][a:b] for a, b in places["reference"]] == ["Gregory  House"]

    def test_7_hyphens_and_apostrophes(self):
        """languagetool#6264, humanize-ai-lib#2"""
        names = ["Jean-Luc", "O‘Brien", "Penny's"]
        bor = load("bor", characters=names)
        found = bor.score(["Jean‑Luc met O'Brien at Penny`s."], ["Jean-Luc met O’Brien at Penny’s."])
        assert found["bor_f1"] == [1.0]

    def test_8_format_characters_in_words(self):
        """wink-nlp#133, sentencepiece#629, sinling#10"""
        text = "The old harbour lighthouse was repaired."
        dirty = "The old har\u00adbour light\u200bhouse was re\u2060paired."
        found = load("sss").score([text], [dirty])
        assert found["sss"] == pytest.approx([1.0]) and found["sss_rouge"] == [1.0] and found["sss_l2"] == [0.0]
        mss = load("mss", alignment="lexical")
        assert mss.score([dirty], [text]) == mss.score([text], [text])

    def test_9_a_broken_line_keeps_its_place(self, tmp_path):
        """trectools#34"""
        a = [{"model": "a", "p": text, "r": "x y"} for text in ("x y", "x y", "z", "x y")]
        b = [{"model": "b", "p": text, "r": "x y"} for text in ("z", "x y", "z", "z")]
        for rows in ([*a, *b], [row for pair in zip(a, b, strict=True) for row in pair]):
            lines = [json.dumps(row) for row in rows]
            broken = [i for i, row in enumerate(rows) if row["model"] == "a"][1]
            for damage in (lines[broken][:-5], "{broken", "\0\0"):
                data = write(tmp_path / "x.jsonl", "\n".join([*lines[:broken], damage, *lines[broken + 1 :]]))
                columns = ["--predictions", "p", "--references", "r", "--system", "model", "--metrics", "rouge"]
                status, shown = call(data, *columns)
                # a against b without example 1: (1 - 0) + (0 - 0) + (1 - 0) over 3
                assert status == 1 and "rouge1 │ a - b │ +0.667" in shown and "is not JSON" in shown

    def test_9_a_row_of_no_known_system_is_refused_where_order_pairs(self, tmp_path):
        rows = [{"model": m, "p": "x", "r": "x"} for m in "aab"]
        lines = [
            *map(json.dumps, rows[:2]),
            "{broken",
            json.dumps(rows[2]),
            json.dumps({**rows[0], "model": "b"}),
            "{}",
        ]
        columns = ["--predictions", "p", "--references", "r", "--system", "model", "--metrics", "rouge"]
        status, shown = call(write(tmp_path / "x.jsonl", "\n".join([*lines, json.dumps(rows[0])])), *columns)
        assert status == 2 and "line 3 cannot be read, nor which system it belongs to" in shown and "--id" in shown

    def test_10_an_empty_summary_counts_alike_in_folder_and_file(self, tmp_path):
        """ms-swift#9962"""
        rows = [{"id": "1", "p": "a cat", "r": "a cat"}, {"id": "2", "p": "", "r": "a dog"}]
        for row in rows:
            for folder, name, text in (("s", "_summary.txt", row["p"]), ("refs", ".txt", row["r"])):
                (tmp_path / folder).mkdir(exist_ok=True)
                write(tmp_path / folder / f"{row['id']}{name}", text)
        pd.DataFrame(rows).to_csv(tmp_path / "x.csv", index=False)
        sources = {
            "folder": ["--summaries", f"system={tmp_path / 's'}", "--references", tmp_path / "refs"],
            "file": [tmp_path / "x.csv", *SHORT[:6]],
        }
        for name, source in sources.items():
            status, shown = call(*source, "--metrics", "rouge,sss", "--out", tmp_path / name)
            assert status == 0 and "1 of 2 summaries are empty" in shown and "rouge1 │ 0.500" in shown
        assert scored(tmp_path / "folder").equals(scored(tmp_path / "file"))

    @pytest.mark.parametrize(
        ("content", "names"),
        [
            ("علي: أبو حسن، ابو علي\nسامي", {"علي": ["أبو حسن", "ابو علي"], "سامي": []}),
            ("王明：小王、老王；李华", {"王明": ["小王", "老王"], "李华": []}),
            ("علي؛ سامي", {"علي": [], "سامي": []}),
            ("House: Dr. House, Greg\r\n\r\n Amy \n", {"House": ["Dr. House", "Greg"], "Amy": []}),
        ],
    )
    def test_11_commas_colons_and_semicolons_of_other_scripts(self, content, names, tmp_path):
        """htmly#786, python-nameparser#281"""
        from eval_summaries.inputs import read_characters

        assert read_characters(write(tmp_path / "people.txt", content)) == names

    @pytest.mark.parametrize("text", ["ذهب الولد إلى المدرسة", "तूफ़ान के बाद पुल बंद", "今天天气很好", "สะพานเก่าปิด"])
    def test_12_rouge_sees_every_script(self, text, tmp_path):
        data = write_rows(tmp_path / "x.jsonl", [{"p": text, "r": text}, {"p": "", "r": text}])
        assert call(data, *SHORT[:4], "--metrics", "rouge", "--out", tmp_path / "out")[0] == 0
        found = scored(tmp_path / "out")
        assert set(found) == {"rouge1", "rouge2", "rougeL", "rougeLsum"}
        assert (found.loc[("system", "0")] == 1).all() and (found.loc[("system", "1")] == 0).all()

    def test_12_rouge_equals_rouge_score_with_parts(self, tmp_path):
        from rouge_score.rouge_scorer import RougeScorer

        rows = [
            {"p": "The cats sat.\nA dog ran home", "r": ["A cat was sitting\nThe dogs ran.", "Dogs run."]},
            {"p": "Runners run", "r": ["The runner\nran", "Runs"]},
        ]
        data = write_rows(tmp_path / "x.jsonl", rows)
        for stemmer in (False, True):
            settings = ["--set", "rouge.parts=true", "--set", f"rouge.use_stemmer={stemmer}"]
            out = tmp_path / str(stemmer)
            assert call(data, *SHORT[:4], "--metrics", "rouge", *settings, "--out", out)[0] == 0
            kinds = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
            scorer, found = RougeScorer(kinds, use_stemmer=stemmer), scored(out)
            for number, row in enumerate(rows):
                theirs = scorer.score_multi(row["r"], row["p"])
                for kind in kinds:
                    ours = [
                        found.loc[("system", str(number)), f"{kind}{part}"] for part in ("_precision", "_recall", "")
                    ]
                    assert ours == pytest.approx(list(theirs[kind]))

    def test_13_no_p_value_beyond_the_data(self, tmp_path):
        rows = [{"model": m, "id": i, "p": p, "r": "a b"} for m, p in (("x", "a b"), ("y", "c")) for i in "12"]
        status, shown = call(write_rows(tmp_path / "x.jsonl", rows), *SHORT, "--metrics", "rouge")
        assert status == 0 and "│ x - y │ +1.000 │ │ 0.5000 │ 0.5000 │ 2 │" in shown
        assert "p (boot) is given from 30 examples on" in shown
