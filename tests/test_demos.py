"""What the demos answer, without a browser: the file tab reads as the command does, and no input makes a large page."""

import gzip
import importlib
import io
import json
import sys
import tempfile
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from conftest import REQUIRED
from tiny import make_encoder

from eval_summaries.inputs import Example, read_file
from spaces import build

pytest.importorskip("gradio")
from gradio.route_utils import delete_files_created_by_app

CAST = ["predictions", "references", "characters"]
TEXTS = CAST[:2]
OPTIONS = {  # of each app, after the texts and the characters
    "sss": ["tiny", "f1", "clipped", False, True],
    "mss": ["tiny", "joined", 5, 1, "cosine", "max", "hybrid", True],
    "boc": [False, "set"],
    "bor": [False, True, "en"],
}


@pytest.fixture(scope="module")
def demos(tmp_path_factory):
    """The four apps, imported from their built folders; the models of SSS and MSS are tiny ones."""
    out, found = tmp_path_factory.mktemp("demos"), {}
    encoder = make_encoder(out / "tiny")
    for name in REQUIRED:
        folder = build.build(name, out)
        sys.path.insert(0, str(folder))
        try:
            found[name] = importlib.import_module("app")
        finally:
            sys.path.remove(str(folder))
            for module in ("app", "look", "file_tab", "serving", "texts"):  # each folder has its own
                sys.modules.pop(module, None)
        found[name].look.MODELS["tiny"] = {"lang": "en", "model_name": str(encoder)}
    return found


def read(app, path, columns=CAST, check=lambda texts: None):
    return app.file_tab.__globals__["read"](str(path), columns, check)


def score_file(app, path, *options):
    """What the button of the file tab shows: HTML, table, path of the download."""
    function = next(event.fn for event in app.demo.fns.values() if event.api_name == "score_file")
    return function(None if path is None else str(path), *options)


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def workbook(rows):
    book, content = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(content)
    return content.getvalue()


def same_rows(kind):
    """Two rows as a file of this kind: an empty summary, and lists in cells as JSON and as Python write them."""
    rows = [("", "a, b", "['Amy', 'Raj']"), ("c", "NA", '["Amy", "Raj"]')]
    frame = pd.DataFrame(rows, columns=CAST)
    lines = frame.to_json(orient="records", lines=True)
    return {
        ".csv": lambda: frame.to_csv(index=False),
        ".tsv": lambda: frame.to_csv(index=False, sep="\t"),
        ".json": lambda: frame.to_json(orient="records"),
        ".xlsx": lambda: workbook([CAST, *rows]),
        ".jsonl": lambda: lines,
        ".jsonl.gz": lambda: gzip.compress(lines.encode()),
        ".parquet": frame.to_parquet,
    }[kind]()


class TestReading:
    @pytest.mark.parametrize("kind", [".csv", ".tsv", ".json", ".xlsx", ".jsonl", ".jsonl.gz", ".parquet"])
    def test_the_same_file_gives_the_same_examples_as_in_the_command(self, demos, tmp_path, kind):
        path = write(tmp_path, f"a{kind}", same_rows(kind))
        found = read(demos["boc"], path)
        assert [e.prediction for e in found.examples] == ["", "c"]
        assert [e.references for e in found.examples] == [["a, b"], ["NA"]]
        assert [e.characters for e in found.examples] == [["Amy", "Raj"]] * 2
        assert "1 of 2 summaries are empty" in found.notes[0] and not found.failures
        assert found == read_file(path, {column: column for column in CAST})

    def test_a_row_that_cannot_be_read_is_a_failure_with_its_line(self, demos, tmp_path):
        lines = "predictions,references,characters\na,b,Amy;Raj\nc,d,Amy;Raj,\n\ne,f,\n"
        found = read(demos["boc"], write(tmp_path, "a.csv", lines))
        assert [e.where for e in found.examples] == ["a.csv, line 2"]
        assert "a.csv, line 3 has 4 fields and the header has 3" in found.failures[0].reason
        assert "a.csv, line 5: characters names nobody" in found.failures[1].reason

    @pytest.mark.parametrize(
        ("name", "content", "words"),
        [
            ("a.csv", "predictions,other\na,b\n", ["no column 'references'", "predictions, other"]),
            ("a.csv", "", ["no rows"]),
            ("a.csv", 'predictions,references\n"a,b\n', ["never closed"]),
            ("a.csv", b"predictions,references\n\xff,b\n", ["no row can be scored", "line 2 is not UTF-8"]),
            ("a.jsonl", "[1, 2]\n{}\n", ["no row can be scored (2)", "line 1 is not a JSON object", "line 2"]),
            ("a.txt", "x", [".parquet"]),
            ("a.csv.gz", b"x", ["damaged"]),
            ("a.xlsx", b"x", ["cannot be read as an Excel workbook"]),
            ("a.csv", "predictions,references\n" + "a,b\n" * 501, ["over 500 rows"]),
            ("a.csv", "predictions,references\n" + "a" * 50_001 + ",b\n", ["no row", "line 2: predictions has 50,001"]),
        ],
    )
    def test_files_without_a_usable_row(self, demos, tmp_path, name, content, words):
        with pytest.raises(demos["sss"].look.Refused) as caught:
            read(demos["sss"], write(tmp_path, name, content), TEXTS)
        for word in words:
            assert word in str(caught.value)
        assert str(tmp_path) not in str(caught.value)

    def test_each_text_of_a_list_is_within_the_limit(self, demos, tmp_path):
        rows = [{"predictions": "a", "references": ["b", "c" * length]} for length in (50_000, 50_001)]
        found = read(demos["sss"], write(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows))), TEXTS)
        (failure,) = found.failures
        assert len(found.examples) == 1 and "line 2: references has 50,001 characters" in failure.reason

    @pytest.mark.parametrize("kind", [".csv.gz", ".xlsx", ".parquet"])
    def test_a_small_file_that_would_take_much_memory_is_not_unpacked(self, demos, tmp_path, kind, monkeypatch):
        monkeypatch.setitem(demos["boc"].file_tab.__globals__, "LIMIT_UNPACKED", 5_000_000)
        long = "a" * 6_000_000
        book = io.BytesIO()
        with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("sheet.xml", long)
        content = {
            ".csv.gz": lambda: gzip.compress(long.encode()),
            ".xlsx": book.getvalue,
            ".parquet": lambda: pd.DataFrame({"predictions": [long]}).to_parquet(compression="gzip"),
        }[kind]()
        assert len(content) < 100_000
        with pytest.raises(demos["boc"].look.Refused, match="over 5 MB unpacked"):
            read(demos["boc"], write(tmp_path, f"a{kind}", content))

    @pytest.mark.parametrize("kind", [".csv", ".tsv", ".csv.gz", ".parquet"])
    def test_too_many_columns_are_refused_before_any_row_is_read(self, demos, tmp_path, kind, monkeypatch):
        frame = pd.DataFrame([["a"] * 51], columns=[*TEXTS, *map(str, range(49))])

        def content(frame):
            if kind == ".parquet":
                return frame.to_parquet()
            text = frame.to_csv(index=False, sep="\t" if kind == ".tsv" else ",").encode()
            return gzip.compress(text) if kind.endswith(".gz") else text

        found = read(demos["sss"], write(tmp_path, f"a{kind}", content(frame.drop(columns="48"))), TEXTS)
        assert len(found.examples) == 1
        monkeypatch.setitem(demos["sss"].file_tab.__globals__, "read_file", None)
        with pytest.raises(demos["sss"].look.Refused, match="over 50 columns"):
            read(demos["sss"], write(tmp_path, f"a{kind}", content(frame)), TEXTS)

    @pytest.mark.parametrize("kind", [".csv", ".jsonl", ".jsonl.gz", ".parquet"])
    def test_too_many_rows_are_refused_before_they_are_read(self, demos, tmp_path, kind, monkeypatch):
        frame = pd.DataFrame([["a\nb", "b"]] * 501, columns=TEXTS)

        def content(frame):
            if kind == ".parquet":
                return frame.to_parquet()
            text = frame.to_csv(index=False) if kind == ".csv" else frame.to_json(orient="records", lines=True) + "\n\n"
            return gzip.compress(text.encode()) if kind.endswith(".gz") else text

        assert len(read(demos["sss"], write(tmp_path, f"a{kind}", content(frame[1:])), TEXTS).examples) == 500
        monkeypatch.setitem(demos["sss"].file_tab.__globals__, "read_file", None)
        with pytest.raises(demos["sss"].look.Refused, match="over 500 rows"):
            read(demos["sss"], write(tmp_path, f"a{kind}", content(frame)), TEXTS)

    @pytest.mark.parametrize(
        ("name", "content", "word"),
        [
            ("a.csv", b"predictions,references\xff\na,b\n", "convert the file to UTF-8"),
            ("a.csv", b"predictions,references\na,b\n\xff,b\n", "mend the line"),
            ("a.json", b'[{"predictions": "\xff", "references": "b"}]', "convert the file to UTF-8"),
            ("a.xlsx", None, "leave only one of them there"),
        ],
    )
    def test_messages_name_no_option_of_the_command(self, demos, tmp_path, name, content, word):
        book, raw = openpyxl.Workbook(), io.BytesIO()
        book.create_sheet("other")
        book.save(raw)
        shown, *_ = score_file(demos["sss"], write(tmp_path, name, content or raw.getvalue()), *OPTIONS["sss"])
        assert word in shown and "--" not in shown


class TestFileTab:
    def test_where_time_is_over_the_rest_is_listed(self, demos, tmp_path, monkeypatch):
        seconds = iter([0, 5, 119, 121, 122])
        names = demos["boc"].file_tab.__globals__
        monkeypatch.setitem(names, "clock", lambda: next(seconds))
        monkeypatch.setitem(names, "CHUNK", 2)
        path = write(tmp_path, "a.csv", "predictions,references,characters\n" + "Amy,Amy,Amy\n" * 7)
        shown, table, _ = score_file(demos["boc"], path, *OPTIONS["boc"])
        assert list(table["row"]) == [f"a.csv, line {number}" for number in (2, 3, 4, 5)]
        assert "Rows without a score: 3" in shown and "a.csv, line 6: not reached in the 120 seconds" in shown

    def test_long_texts_are_scored_in_small_parts(self, demos):
        parts = demos["boc"].file_tab.__globals__["parts"]
        short, long = (Example("", "", text, references=["b"]) for text in ("a", "a" * 150_000))
        rows = [*[short] * 30, long, long, short]
        assert [len(part) for part in parts(rows)] == [25, 6, 2] and [e for part in parts(rows) for e in part] == rows

    def test_results_are_where_gradio_deletes_them(self, demos, tmp_path, monkeypatch):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
        (tmp_path / "temporary").mkdir()
        path = write(tmp_path, "a.csv", "predictions,references,characters\nAmy,Amy,Amy\n")
        *_, download = score_file(demos["boc"], path, *OPTIONS["boc"])
        assert Path(download).exists() and not any((tmp_path / "temporary").iterdir())
        delete_files_created_by_app(demos["boc"].demo, age=None)
        assert not Path(download).exists()

    def test_a_file_that_was_deleted_meanwhile(self, demos, tmp_path):
        assert "no longer here" in score_file(demos["boc"], tmp_path / "a.csv", *OPTIONS["boc"])[0]

    def test_good_rows_are_scored_and_bad_ones_listed(self, demos, tmp_path):
        good = [
            ["Amy saw Raj.", "Amy slept.", ["Amy", "Raj"]],
            ["Raj", ["Amy", "Raj left."], {"Amy": ["A"], "Raj": []}],
        ]
        bad = [["a", "b", {"A": ["X"], "B": ["X"]}], ["a", "b", [1]], ["a" * 50_001, "b", ["A"]], ["a", 5, ["A"]]]
        bad += [["a", "b", list(map(str, range(501)))], ["<b>", "b", {"<i>": ["X"], "B": ["X"]}]]
        rows = [dict(zip(CAST, row, strict=True)) for row in (good[0], *bad, good[1])]
        path = write(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)))
        shown, table, download = score_file(demos["boc"], path, *OPTIONS["boc"])
        assert list(table["row"]) == ["a.jsonl, line 1", "a.jsonl, line 8"]
        texts = {"predictions": [row[0] for row in good], "references": [["Amy slept."], ["Amy", "Raj left."]]}
        characters = [row[2] for row in good]
        metric = demos["boc"].METRIC
        saved = pd.read_csv(download)
        for key, values in metric.score(**texts, characters=characters).items():
            assert list(saved[key]) == values
        assert set(saved["signature"]) == {metric.signature(characters=characters, ignore_case=False, counting="set")}
        assert "Rows without a score: 6" in shown and "<b>" not in shown and "<i>" not in shown
        reasons = [
            "a.jsonl, line 2: &#39;X&#39; is an alias of two characters",
            "a.jsonl, line 3: a name or alias of 1 is of type int",
            "a.jsonl, line 4: predictions has 50,001 characters; this demo takes at most 50,000",
            "a.jsonl, line 5: references is 5",
            "a.jsonl, line 6: characters has 501 names; this demo takes at most 500",
            "a.jsonl, line 7: &#39;X&#39; is an alias of two characters, &#39;&lt;i&gt;&#39;",
        ]
        places = [shown.index(reason) for reason in reasons]
        assert places == sorted(places)

    def test_many_bad_rows_are_counted(self, demos, tmp_path):
        lines = "predictions,references\na,b\n" + "c,d,\n" * 30
        shown, table, _ = score_file(demos["sss"], write(tmp_path, "a.csv", lines), *OPTIONS["sss"])
        assert len(table) == 1 and "Rows without a score: 30" in shown
        assert shown.count("<li") == 20 and "and 10 more" in shown

    def test_where_no_row_has_a_score_the_reasons_are_shown(self, demos, tmp_path):
        path = write(tmp_path, "a.csv", 'predictions,references,characters\na,b,"A: X; B: X"\nc,d,e,\n')
        shown, *others = score_file(demos["boc"], path, *OPTIONS["boc"])
        assert 'role="alert"' in shown and others == [None, None] and "no row can be scored (2)" in shown
        assert "line 2: &#39;X&#39; is an alias of two" in shown and "line 3 has 4 fields" in shown

    def test_an_option_that_cannot_be_used_is_no_row_s_fault(self, demos, tmp_path):
        path = write(tmp_path, "a.csv", "predictions,references\na,b\n")
        arabic = list(demos["sss"].look.MODELS)[1]
        shown, *_ = score_file(demos["sss"], path, arabic, "f1", "clipped", True, True)
        assert "use_stemmer=True is for English only" in shown and "row" not in shown

    def test_no_file(self, demos):
        assert "Choose a file first" in score_file(demos["boc"], None, *OPTIONS["boc"])[0]

    def test_a_document_of_too_many_sentences_fails_alone(self, demos, tmp_path):
        rows = [["a", "b"], ["a", "ok.\n" * 2001], ["ok.\n" * 2001, "b"]]
        path = write(tmp_path, "a.json", json.dumps([dict(zip(TEXTS, row, strict=True)) for row in rows]))
        shown, table, _ = score_file(demos["mss"], path, *OPTIONS["mss"])
        assert list(table["row"]) == ["a.json, object 0"]
        assert "object 1: Document has 2,001 sentences; this demo takes at most 2,000" in shown
        assert "object 2: Summary has 2,001 sentences" in shown


HAN = "".join(chr(0x4E00 + number) for number in range(500))
HUNDRED = [f"{one}{other}" for one in "ABCDEFGHIJ" for other in "abcdefghij"]
TOGETHER = " ".join(HUNDRED) + ". "
NAMED = {  # two texts and a list of characters
    "names of one letter": ("a b " * 12_500, "a. c " * 10_000, "\n".join("abcdefghijklm")),
    "500 names of one letter without spaces": (HAN * 100, HAN[::-1] * 100, ";".join(HAN)),
    "a hundred names in a sentence": (TOGETHER, "nobody", "\n".join(HUNDRED)),
    "a hundred names in a sentence, repeated": (TOGETHER * 160, TOGETHER * 160, "\n".join(HUNDRED)),
    "long names": ("x y. " * 10_000, "y x " * 12_500, "\n".join(f"{'N' * (200 - i)}: x{i}" for i in range(60))),
    "letters that HTML writes longer": (
        "&a" * 25_000,
        "&a&b" * 12_500,
        json.dumps({'"' * 200: ["a"], **{"'" * i: ["b" * i] for i in range(1, 100)}}),
    ),
    "Arabic": ("سامي وعلي. " * 4500, "سامي. علي وليلى. " * 2900, "سامي\nعلي: وعلي\nليلى: وليلى"),
}
ROWS = "\n".join(f"Row {number} & so." for number in range(1200))
PLAIN = {
    "1,200 sentences on both sides": (ROWS, ROWS[::-1]),
    "the same short sentence": ("ok.\n" * 1200, "ok.\n" * 1200),
    "words of one letter": ("a " * 25_000, "a b " * 12_500),
    "long sentences": (f"{'&' * 400} a.\n" * 120, f"a {'&' * 400}.\n" * 120),
    "one sentence of letters that HTML writes longer": ("a&" * 25_000, "&a" * 25_000),
    "two words in one letter": ("½" * 50_000, "½ 1 2 " * 8000),
    "Arabic": ("أكل سامي تفاحة. " * 1900, "تفاحة سامي.\n" * 1900),
}


def size(outputs):
    """What a visitor's browser gets; the answer must be a score and not a message."""
    number, page, values = outputs
    assert "data-score" in number, number
    return len(number) + len(page) + len(json.dumps(values))


class TestBoundedPages:
    @pytest.mark.slow
    @pytest.mark.parametrize("hostile", NAMED)
    @pytest.mark.parametrize("name", ["boc", "bor"])
    def test_names(self, demos, name, hostile):
        assert all(len(text) <= 50_000 for text in NAMED[hostile])
        assert size(demos[name].score(*NAMED[hostile], *OPTIONS[name])) < 1_000_000

    @pytest.mark.slow
    @pytest.mark.parametrize("hostile", PLAIN)
    @pytest.mark.parametrize("name", ["sss", "mss"])
    def test_texts(self, demos, name, hostile):
        assert all(len(text) <= 50_000 for text in PLAIN[hostile])
        assert size(demos[name].score(*PLAIN[hostile], *OPTIONS[name])) < 1_000_000

    def test_too_many_sentences_are_refused_before_any_model_works(self, demos, monkeypatch):
        monkeypatch.setattr(type(demos["mss"].METRIC), "explain", None)
        for texts, name in ((("ok.\n" * 12_500, "b"), "Summary"), (("b", "ok.\n" * 12_500), "Document")):
            number, page, values = demos["mss"].score(*texts, *OPTIONS["mss"])
            assert f"{name} has 12,500 sentences; this demo takes at most 2,000" in number and page is values is None

    def test_what_is_not_shown_is_said(self, demos):
        assert "Only the first 1,000 of 25,000 marks" in demos["boc"].score("a " * 25_000, "b", "a", False, "set")[1]
        fifty = " ".join(HUNDRED[:50]) + ". "
        _, page, _ = demos["bor"].score(fifty, "nobody", "\n".join(HUNDRED), *OPTIONS["bor"])
        assert "40 of 50 characters" in page and "And 1,025 more pairs" in page
        assert page.count("<circle") == 40 and page.count("<tr>") == 1 + 2 + 1 + 200
        _, page, values = demos["bor"].score(fifty * 9, "nobody", "\n".join(HUNDRED), *OPTIONS["bor"])
        assert "in one sentence 11,025 times" in page and "<circle" not in page and list(values) == ["scores"]
        _, page, _ = demos["mss"].score("ok.\n" * 150, "ok.\n" * 30 + "no.\n" * 100, *OPTIONS["mss"])
        assert page.count("<details") == 100 and "And 50 more sentences" in page and "sm-histogram" in page
        assert "150 summary and 130 source sentences, the first 40" in page and page.count("<td") == 12 + 1 + 40 * 40
        assert page.count("<li") == 100 and "And 30 more source sentences" in page

    def test_lists_of_characters_over_the_limits_are_refused(self, demos):
        for name in ("boc", "bor"):
            for people, word in (("\n".join(map(str, range(501))), "501 names"), ("N" * 15_001, "at most 15,000")):
                assert word in demos[name].score("a", "a", people, *OPTIONS[name])[0]
            for people in ("N" * 201, f"Amy: {'N' * 201}"):
                shown = demos[name].score("a", "a", people, *OPTIONS[name])[0]
                assert "has 201 characters; a name has at most 200" in shown
            assert "data-score" in demos[name].score("a", "a", "N" * 200, *OPTIONS[name])[0]

    def test_a_row_of_too_many_references_or_too_long_a_name_fails_alone(self, demos, tmp_path):
        rows = [["a", ["b"] * 51, ["a"]], ["a", ["b"] * 50, ["a"]], ["a", "b", {"a": ["N" * 201]}]]
        path = write(tmp_path, "a.json", json.dumps([dict(zip(CAST, row, strict=True)) for row in rows]))
        shown, table, _ = score_file(demos["boc"], path, *OPTIONS["boc"])
        assert list(table["row"]) == ["a.json, object 1"]
        assert "object 0: references has 51 texts; at most 50" in shown and "object 2: characters: " in shown


@pytest.mark.parametrize("name", REQUIRED)
def test_inputs_have_names_over_the_api(demos, name):
    endpoints = demos[name].demo.get_api_info()["named_endpoints"]
    names = {path: [one["parameter_name"] for one in found["parameters"]] for path, found in endpoints.items()}
    assert names.keys() == {"/score", "/score_file"} and names["/score_file"][0] == "file"
    options = names["/score_file"][1:]
    assert len(options) == len(OPTIONS[name]) and names["/score"][-len(options) :] == options
    assert not [one for path in names for one in names[path] if one.startswith("param_")]


@pytest.mark.parametrize("name", REQUIRED)
def test_what_gradio_keeps_is_bounded(demos, name):
    demo = demos[name].demo
    assert demo.delete_cache == (300, 1800) and demo.analytics_enabled is False


def test_sss_marks_the_shared_words_where_they_stand(demos):
    _, page, _ = demos["sss"].score("A ﬁne co\u00adop, ½", "Fine, coop & 2", *OPTIONS["sss"])
    marked = [part.split("</mark>")[0] for part in page.split('title="in both texts">')[1:]]
    assert marked == ["ﬁne", "co\u00adop", "½", "Fine", "coop", "2"]


def test_numbers_and_names_without_support_are_marked(demos):
    _, page, _ = demos["mss"].score("In May Lee <b> paid 40 euros.", "Lee paid 4 euros.", *OPTIONS["mss"])
    assert page.count('class="sm-invent" title="not in the document"') == 2 and "<b>" not in page
    assert "without support" not in demos["mss"].score("Lee paid 4.", "Lee paid 4 euros.", *OPTIONS["mss"])[1]
