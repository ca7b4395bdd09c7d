"""A table means the same whatever the kind of its file, to the command and to the demos, which read by one module."""

import gzip
import json

import datasets
import openpyxl
import pandas as pd
import pytest
from command import SHORT, call, scored, write
from conftest import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_summaries.inputs import read_file
from eval_summaries.rows import UnusableError

COLUMNS = {"predictions": "p", "references": "r", "characters": "c", "system": "model", "id": None}
letters = st.characters(exclude_categories=["Cs", "Cc"], max_codepoint=0x2FFF) | st.sampled_from("\n\t,;:\"'[]{}\\")
texts = st.text(letters, max_size=12) | st.sampled_from(
    [
        "",
        "[1]",
        "['a', 'b']",
        '["a", "b"]',
        "[]",
        "['a' 'b']",
        "x\r\ny",
        "a\rb",
        '"quoted"',
        "=1+1",
        "NA",
        "null",
        "007",
    ]
)
names = texts | st.sampled_from(
    ["Amy; Raj", "House: Dr. House, Greg", '{"A": ["B"]}', "{'A': None}", "王明：小王、老王"]
)
rows = st.fixed_dictionaries({"p": texts, "r": texts, "c": names, "model": st.sampled_from(["a", "b "])})


def write_as(kind, folder, table):
    """Write a table of strings; returns the path."""
    path = folder / f"x.{kind}"
    frame = pd.DataFrame(table)
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in table)
    if kind in ("csv", "tsv"):
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    elif kind == "jsonl":
        write(path, lines)
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress(lines.encode()))
    elif kind == "json":
        frame.to_json(path, orient="records")
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "saved":
        datasets.Dataset.from_list(table).save_to_disk(path)
    elif kind == "xlsx":
        book = openpyxl.Workbook()
        for cells in [list(table[0]), *([row[name] for name in table[0]] for row in table)]:
            book.active.append(list(cells))
        book.save(path)
    return path


def read(path):
    """What was read: examples and failures in their places, without the names of the places; or the whole's reason."""
    try:
        found = read_file(path, COLUMNS)
    except UnusableError as error:
        return "unusable" if "no row can be scored" in str(error) else str(error)
    examples = [(e.system, e.id, e.prediction, e.references, e.characters) for e in found.examples]
    return examples, [(failure.system, failure.id) for failure in found.failures]


@pytest.mark.slow
@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=st.lists(rows, min_size=1, max_size=6))
def test_random_tables_are_read_alike(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("tables")
    found = {
        kind: read(write_as(kind, folder, table))
        for kind in ("jsonl", "csv", "tsv", "json", "parquet", "saved", "jsonl.gz", "csv.gz")
    }
    for kind, result in found.items():
        assert result == found["jsonl"], kind


@settings(max_examples=examples(40))
@given(
    st.lists(
        st.fixed_dictionaries(
            {"p": st.text(st.sampled_from("ab é王,\n'\""), max_size=9), "r": st.sampled_from(["x", "['a', 'b']"])}
        ),
        min_size=1,
        max_size=5,
    )
)
def test_random_workbooks_are_read_like_the_rest(tmp_path_factory, table):
    """Of letters that a workbook can hold."""
    folder = tmp_path_factory.mktemp("tables")
    table = [{**row, "c": "Amy", "model": "a"} for row in table]
    assert read(write_as("xlsx", folder, table)) == read(write_as("jsonl", folder, table))


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "parquet", "saved", "xlsx", "jsonl.gz", "csv.gz"])
def test_the_command_scores_every_kind_alike(kind, tmp_path):
    table = [
        {"id": str(n), "model": m, "p": p, "r": "a\tcat, \"sat\"\non ['a'] mat"}
        for m, p in (("a", "a cat sat"), ("b", "a mat, سامي"))
        for n in range(3)
    ]
    path = write_as(kind, tmp_path, table)
    assert call(path, *SHORT, "--metrics", "rouge,bleu", "--out", tmp_path / "out")[0] == 0
    call(write_as("jsonl", tmp_path, table), *SHORT, "--metrics", "rouge,bleu", "--out", tmp_path / "other")
    assert scored(tmp_path / "out").equals(scored(tmp_path / "other"))


class TestKinds:
    def test_json_in_other_layouts(self, tmp_path):
        table = [{"p": "a", "r": "b", "c": "Amy", "model": "s"}, {"p": "c", "r": "d", "c": "Raj", "model": "s"}]
        expected, frame = read(write_as("jsonl", tmp_path, table)), pd.DataFrame(table)
        for content in (
            frame.to_json(),  # columns by index, pandas' default
            frame.to_json(orient="records", lines=True),
            json.dumps({name: frame[name].tolist() for name in frame}),
            json.dumps(table, indent=2),
            "\ufeff" + json.dumps(table),
        ):
            assert read(write(tmp_path / "y.json", content)) == expected
        for content, said in (
            ("5", "no list of objects"),
            ('{"p": [1], "r": []}', "columns of different lengths: p 1, r 0"),
            ("[{]", "y.json is not JSON"),
            ("[" * 100_000, "y.json cannot be read"),
        ):
            assert said in read(write(tmp_path / "y.json", content))

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ('{"p": "a", "p": "b", "r": "x"}', "has the key 'p' twice"),
            ("[" * 100_000, "cannot be read"),
            ('{"p": ' + "9" * 5000 + ', "r": "x"}', "cannot be read"),
            ('{"p": NaN, "r": "x", "id": 3}', "predictions is nan"),
            ('{"r": "x", "id": 3}', "predictions is None"),
            ("\0\0", "is not JSON"),
            ('"text"', "is not a JSON object but 'text'"),
            (b'{"p": "\xe9", "r": "x"}', "is not UTF-8: it has the byte 0xe9"),
            ('{"p": "a", "r": "x", "id": null}', "line 2 has no id"),
            ('{"p": "[\'a\', \'b\']", "r": "x", "id": 3}', "predictions is a list of 2 texts in one cell"),
        ],
    )
    def test_a_bad_line_costs_itself(self, line, said, tmp_path):
        line = line if isinstance(line, bytes) else line.encode()
        good = b'{"p": "a", "r": "a", "id": %d}\n'
        data = write(tmp_path / "x.jsonl", good % 1 + line + b"\n" + good % 2.0)
        status, shown = call(data, *SHORT[:6], "--metrics", "rouge", "--out", tmp_path / "out")
        assert status == 1 and "Not scored: 1" in shown and said in shown and "line 2" in shown
        assert scored(tmp_path / "out").index.tolist() == [("system", "1"), ("system", "2")]

    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("x.csv", "p,r,r\na,b,c\n", "the column 'r' twice"),
            ("x.csv", "p;r\na;b\n", "parted by semicolons"),
            ("x.csv", 'p,r\n"a,b\n', "is never closed"),
            ("x.csv.gz", b"\x1f\x8bbroken", "damaged or cut short"),
            ("x.jsonl.gz", gzip.compress(b'{"p": "a", "r": "b"}' * 50)[:-20], "damaged or cut short"),
            ("x.xlsx", "no workbook", "cannot be read as an Excel workbook"),
            ("x.txt", "p,r", "give a .jsonl,"),
        ],
    )
    def test_a_file_that_cannot_be_used(self, name, content, said, tmp_path):
        status, shown = call(write(tmp_path / name, content), "--predictions", "p", "--references", "r")
        assert status == 2 and said in shown

    def test_split_is_for_tables_that_have_some(self, tmp_path):
        table = [{"p": "a", "r": "a", "c": "Amy", "model": "s"}]
        for kind, said in (("csv", "is one table"), ("saved", "is one data set without splits")):
            status, shown = call(write_as(kind, tmp_path, table), *SHORT[:4], "--split", "test")
            assert status == 2 and "--split test" in shown and said in shown
        status, shown = call("--summaries", tmp_path, "--split", "test")
        assert status == 2 and "folders of summaries have no splits" in shown

    def test_workbooks(self, tmp_path):
        book = openpyxl.Workbook()
        for cells in (
            ["id ", "p", "r"],
            [1, "a", "a"],
            [],
            [2, None, "a"],
            [3.0, "=B2", "a"],
            [4, "a", "a", "x"],
            [5, 5, "a"],
        ):
            book.active.append(cells)
        book.create_sheet("other").append(["p", "r"])
        book.save(tmp_path / "x.xlsx")
        arguments = [tmp_path / "x.xlsx", *SHORT[:6], "--metrics", "rouge"]
        status, shown = call(*arguments)
        assert status == 2 and "has several sheets: give --split with one of Sheet, other" in shown
        status, shown = call(*arguments, "--split", "Sheet", "--out", tmp_path / "out")
        assert status == 1 and scored(tmp_path / "out")["rouge1"].to_dict() == {
            ("system", "1"): 1.0,
            ("system", "2"): 0.0,
        }
        for said in (
            "row 5 of sheet Sheet has a formula (=B2)",
            "row 6 of sheet Sheet has 4 cells",
            "predictions is 5",
        ):
            assert said in shown

    def test_headers_with_what_nobody_sees(self, tmp_path):
        data = write(tmp_path / "x.csv", "\ufeff id ,\u200bp, r\u00a0,model\n1,a,a,s\n")
        assert call(data, *SHORT, "--metrics", "rouge")[0] == 0

    def test_characters_name_a_column_or_a_file(self, tmp_path):
        people = write(tmp_path / "people.txt", "Amy\nRaj: R.\n")
        data = write(tmp_path / "x.csv", "id,p,r,c\n1,Amy met R.,Amy met Raj.,Amy; Raj: R.\n")
        for named in ("c", people):
            status, shown = call(data, *SHORT[:6], "--characters", named, "--metrics", "boc")
            assert status == 0 and "boc_f1 │ 1.000" in shown
        status, shown = call(data, *SHORT[:6], "--characters", "nowhere", "--metrics", "boc")
        assert status == 2 and "no column 'nowhere' (--characters), and there is no file 'nowhere'" in shown
        write(people, '{"Amy": ["X"], "Raj": ["X"]}')
        status, shown = call(data, *SHORT[:6], "--characters", people, "--metrics", "boc")
        assert status == 2 and "--characters" in shown and "'X' is an alias of two characters" in shown

    def test_rows_with_other_keys_fail_alone(self, tmp_path):
        data = write(tmp_path / "x.jsonl", '{"p": "a"}\n{"p": "a", "r": "a"}\n')
        status, shown = call(data, *SHORT[:4], "--metrics", "rouge")
        assert status == 1 and "line 1: references is None" in shown and "rouge1 │ 1.000" in shown
