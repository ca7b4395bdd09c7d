"""Files are read a piece at a time, and examples kept on disk: nothing else is to be different."""

import csv
import gzip
import io
import re

import pandas as pd
import pytest
from command import SHORT, call, write
from conftest import examples as how_many
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_summaries import examples as kept
from eval_summaries import inputs, rows, typed
from eval_summaries.examples import Example, Examples
from eval_summaries.table import UnusableError

PEOPLE = ["Amy", "Raj"]
texts = st.text(max_size=6)
made = st.builds(
    Example,
    id=texts,
    system=st.sampled_from("ab"),
    prediction=texts,
    references=st.none() | st.lists(texts, max_size=2),
    documents=st.none() | st.lists(texts, max_size=2),
    characters=st.none() | st.just(PEOPLE) | st.lists(texts, max_size=2),
    ratings=st.dictionaries(texts, st.floats(allow_nan=False), max_size=2),
)


@pytest.fixture
def small(monkeypatch):
    """Limits that are reached at once."""
    monkeypatch.setattr(kept, "IN_MEMORY", 2)
    monkeypatch.setattr(kept, "_BLOCK", 300)
    monkeypatch.setattr(typed, "_BATCH", 2)


@settings(max_examples=how_many(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(made, max_size=9), st.data())
def test_examples_as_a_list(small, listed, data):
    found = Examples(PEOPLE)
    for number, example in enumerate(listed, 1):
        found.append(example)
        if data.draw(st.booleans()):  # reading between the writing
            assert list(found) == listed[:number] and found[-1] == example
    assert len(found) == len(listed) and list(found) == listed and bool(found) == bool(listed)
    assert found == listed and listed == found and found != [*listed, 1] and (not listed or found != listed[1:])
    assert all(one.characters is PEOPLE for one, other in zip(found, listed, strict=True) if other.characters is PEOPLE)
    assert [found[place] for place in range(len(listed))] == listed and found[1:-1] == listed[1:-1]
    one, other = iter(found), iter(found)  # two passes at once
    assert [(next(one), next(other)) for _ in listed] == list(zip(listed, listed, strict=True))
    with pytest.raises(IndexError):
        found[len(listed)]


def whole_csv(path, text):
    """The rows of a CSV by the standard library, of all its text at once; None where it cannot be used."""
    stand_in = next(chr(code) for code in range(0xE000, 0xF900) if chr(code) not in text)
    if "\n" not in text:
        text = text.replace("\r", "\n")
    text = re.sub("\r(?!\n)", stand_in, text.removeprefix("\ufeff"))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        return [[cell.replace(stand_in, "\r") for cell in cells] for cells in reader if cells]
    except csv.Error:
        return None


dirty = st.text(st.sampled_from('ab,"\n\r\t \ufeff\u2028\x85\ue000é王😀\0'), max_size=30)


class TestFiles:
    @settings(max_examples=how_many(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(dirty)
    def test_csv_as_the_whole_text(self, tmp_path, text):
        expected = whole_csv(tmp_path, "p,r\n" + text)
        for name, packed in (("x.csv", bytes), ("x.csv.gz", gzip.compress)):
            found = rows.read_rows(write(tmp_path / name, packed(("p,r\n" + text).encode())))
            try:
                passes = [[row for row in found if isinstance(row.values, dict)] for _ in range(2)]
            except UnusableError:
                continue
            assert passes[0] == passes[1]
            values = [list(row.values.values()) for row in passes[0]]
            if expected is not None:
                assert values == [cells for cells in expected[1:] if len(cells) == 2 and cells != ["p", "r"]]

    @settings(max_examples=how_many(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.binary(max_size=20), st.lists(st.sampled_from([b"", b'{"p": "a\xc3\xa9"}', b"{", b"\xff", b"\r", b" "])))
    def test_json_lines_as_the_whole_text(self, tmp_path, start, lines):
        content = b"\n".join([start, *lines])
        found = list(rows.read_rows(write(tmp_path / "x.jsonl", content)))
        whole = content.decode("utf-8", "surrogateescape").removeprefix("\ufeff").split("\n")
        expected = list(rows._json_lines(tmp_path / "x.jsonl", whole))
        while expected and not isinstance(expected[-1].values, dict) and expected[-1].values.blank:
            expected.pop()
        assert found == expected

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "cp1252", "shift_jis", "utf-8-sig"])
    def test_encodings(self, encoding, tmp_path):
        text = "p,r\r\ncafé,a\r\n" if encoding == "cp1252" else "p,r\r\n王,a\r\n"
        text = text.replace("é", "e") if encoding == "shift_jis" else text
        path = write(tmp_path / "x.csv", text.encode(encoding))
        assert [row.values["r"] for row in rows.read_rows(path, encoding)] == ["a"]
        path.write_bytes(path.read_bytes() + b"\xff")  # cut in a character
        if encoding.startswith(("utf-16", "utf-32")):
            with pytest.raises(UnusableError, match=f"is not {encoding}: byte"):
                list(rows.read_rows(path, encoding))
        else:
            assert len(list(rows.read_rows(path, encoding))) == 2

    def test_old_line_ends_and_nothing_at_all(self, tmp_path):
        assert [row.values for row in rows.read_rows(write(tmp_path / "x.csv", "p,r\ra,b\rc,d"))] == [
            {"p": "a", "r": "b"},
            {"p": "c", "r": "d"},
        ]
        for name in ("x.csv", "x.jsonl", "x.tsv"):
            assert list(rows.read_rows(write(tmp_path / name, ""))) == []

    def test_parquet_by_row_groups(self, small, tmp_path):
        table = pd.DataFrame({"p": [f"a {n}" for n in range(11)], "r": [["x", "y"]] * 11, "z": range(11)})
        for name in ("x.parquet", "x.parquet.gz"):
            path = tmp_path / name
            table.to_parquet(path, row_group_size=3)
            if name.endswith("gz"):
                path.write_bytes(gzip.compress(path.read_bytes()))
            found = list(rows.read_rows(path, wanted=["p", "r"]))
            assert [row.values for row in found] == [{**row, "z": None} for row in table[["p", "r"]].to_dict("records")]
            assert [row.where for row in found] == [f"{name}, row {n}" for n in range(11)]
            assert [row.values for row in rows.read_rows(path, wanted=["nothing"])] == [dict.fromkeys("prz")] * 11

    def test_a_file_that_changes_while_it_is_read(self, tmp_path, monkeypatch):
        path, columns = tmp_path / "x.jsonl", {"predictions": "p", "system": "model"}
        line = '{"p": "a", "model": "b"}\n'
        systems = inputs._systems

        def grows(*given):
            found = systems(*given)
            write(path, line * 3)
            return found

        monkeypatch.setattr(inputs, "_systems", grows)
        with pytest.raises(UnusableError, match="changed while it was read"):
            inputs.read_file(write(path, line * 2), columns)


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        ["--system", "model"],
        pytest.param(["--id", "id", "--system", "model"], marks=pytest.mark.slow),
        pytest.param([], marks=pytest.mark.slow),
    ],
)
def test_the_command_on_disk_as_in_memory(more, tmp_path, monkeypatch):
    """The same files, whether the examples are in memory or not; a row without a system, and one that is cut."""
    lines = [
        f'{{"id": "{n}", "model": "{m}", "p": "a cat {m} {n}", "r": "a cat", "d": "A cat sat. {n}", "c": ["Amy"]}}'
        for m in "xy"
        for n in range(6)
    ]
    lines[3] = '{"id": "3", "model": null, "p": "a"}'
    lines[8] = lines[8][:-20]
    data = write(tmp_path / "x.jsonl", "\n".join(lines))
    arguments = [data, *SHORT[:4], "--documents", "d", "--characters", "c", *more, "--metrics", "rouge,boc,stats"]
    assert call(*arguments, "--out", tmp_path / "one")[0] == 1
    monkeypatch.setattr(kept, "IN_MEMORY", 2)
    monkeypatch.setattr(kept, "_BLOCK", 300)
    assert call(*arguments, "--out", tmp_path / "other")[0] == 1
    for path in sorted((tmp_path / "one").glob("[!.]*")):
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes(), path.name
