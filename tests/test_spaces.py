"""The demo Spaces without a browser: front matter, requirements, building, publishing, reading files, messages."""

import importlib
import json
import os
import re
import subprocess
import textwrap
import venv

import pytest
from conftest import REQUIRED, ROOT
from hub_server import serve

from spaces import build

NAMES = list(REQUIRED)
PINS = {
    line.split("==")[0].lower().replace("_", "-"): line.split("==")[1]
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if "==" in line
}


@pytest.fixture(scope="module")
def look():
    return importlib.import_module("spaces._shared.look")


@pytest.mark.parametrize("name", NAMES)
class TestFolder:
    def test_front_matter(self, name):
        from huggingface_hub import SpaceCard

        card = SpaceCard.load(ROOT / "spaces" / name / "README.md")
        data = card.data.to_dict()
        colours = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
        assert data["sdk"] == "gradio" and data["app_file"] == "app.py" and data["pinned"] is False
        assert {data["colorFrom"], data["colorTo"]} <= colours
        assert data["sdk_version"] == PINS["gradio"] and data["python_version"] == "3.11"
        assert {"evaluate", "metric"} <= set(data["tags"]) and data["license"] == "apache-2.0"
        assert data["title"] and data["emoji"] and 0 < len(data["short_description"]) <= 60

    def test_requirements_are_the_tested_versions(self, name):
        lines = (ROOT / "spaces" / name / "requirements.txt").read_text().splitlines()
        pins = (line.lower().replace("_", "-").split("==") for line in lines if not line.startswith("#"))
        required = dict(pins)
        assert required.pop("gradio") == PINS["gradio"]
        for package, version in required.items():
            assert version == PINS[package], package
        assert ("torch" in required) == (name in ("sss", "mss"))

    def test_built_folder(self, name, tmp_path):
        from huggingface_hub import SpaceCard

        folder = build.build(name, tmp_path)
        assert folder == tmp_path / name
        expected = {path.name for path in (ROOT / "metrics" / name).glob("*.py")} | {"app.py", "look.py"}
        assert {path.name for path in folder.iterdir()} == expected | {"README.md", "requirements.txt"}
        card = SpaceCard.load(folder / "README.md")
        assert card.data.sdk == "gradio" and "## Limitations and Bias" in card.content
        (folder / "left_over.py").write_text("")
        build.build(name, tmp_path)  # made anew
        assert not (folder / "left_over.py").exists()

    def test_app_has_no_analytics_and_three_examples_one_in_arabic(self, name):
        source = (ROOT / "spaces" / name / "app.py").read_text(encoding="utf-8")
        assert "analytics_enabled=False" in source and re.search(r"[\u0627-\u064a]{3}", source)


class TestBuild:
    def test_a_foreign_folder_is_not_removed(self, tmp_path):
        (tmp_path / "boc").mkdir()
        (tmp_path / "boc" / "thesis.txt").write_text("years of work")
        with pytest.raises(SystemExit, match="choose another --out"):
            build.main(["boc", "--out", str(tmp_path)])
        assert (tmp_path / "boc" / "thesis.txt").read_text() == "years of work"

    def test_dry_run_lists_files_and_touches_no_network(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr(build, "push", None)
        build.main(["boc", "--out", str(tmp_path), "--push", "user/boc", "--dry-run"])
        listed = {
            line.split()[-1]: int(line.split()[0].replace(",", "")) for line in capsys.readouterr().out.splitlines()[1:]
        }
        assert listed == {path.name: path.stat().st_size for path in (tmp_path / "boc").iterdir()}

    @pytest.mark.parametrize("arguments", [["--dry-run"], ["--push", "boc"], ["--push", "a/b/c"]])
    def test_bad_arguments(self, tmp_path, arguments, capsys):
        with pytest.raises(SystemExit):
            build.main(["boc", "--out", str(tmp_path), *arguments])
        assert "--push" in capsys.readouterr().err and not any(tmp_path.iterdir())

    def test_vendored_look(self):
        shared = (ROOT / "spaces" / "_shared" / "look.py").read_bytes()
        assert {(ROOT / "spaces" / name / "look.py").read_bytes() for name in NAMES} == {shared}


LOAD = """
    import evaluate, json, sys
    metric = evaluate.load({path!r}, **{options})
    print(json.dumps(metric.compute(predictions=["Amy saw Raj."], references=["Amy saw Raj."])))
"""


@pytest.mark.slow
class TestHub:
    @pytest.mark.parametrize("name", NAMES)
    def test_load_as_a_space_of_the_hub(self, name, tmp_path, python, environment):
        folder = build.build(name, tmp_path / "built")
        with serve({f"tester/{name}": folder}) as (endpoint, requests):
            home = {"HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "0"}
            home["HF_EVALUATE_OFFLINE"] = "0"
            done = subprocess.run(
                [python, "-c", textwrap.dedent(LOAD.format(path=f"tester/{name}", options=REQUIRED[name]))],
                cwd=tmp_path,
                env={**{k: v for k, v in environment.items() if k != "PYTHONPATH"}, **home},
                capture_output=True,
                text=True,
                timeout=240,
            )
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout.strip().splitlines()[-1])
        assert next(iter(result.values())) == pytest.approx(1.0)
        assert any(path == f"/spaces/tester/{name}/resolve/main/scores.py" for path in requests)

    def test_push_uploads_exactly_the_listed_files(self, tmp_path, python, environment):
        uploads = {}
        with serve({}, uploads) as (endpoint, _):
            home = {"HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "0"}
            home |= {"HF_TOKEN": "hf_test", "HF_HUB_DISABLE_XET": "1"}
            done = subprocess.run(
                [python, "spaces/build.py", "boc", "--out", str(tmp_path), "--push", "tester/boc"],
                cwd=ROOT,
                env={**environment, **home},
                capture_output=True,
                text=True,
                timeout=240,
            )
        assert done.returncode == 0, done.stderr
        assert "published as tester/boc" in done.stdout
        assert uploads == {"tester/boc": {path.name: path.read_bytes() for path in (tmp_path / "boc").iterdir()}}


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["boc", "sss"])
def test_a_new_virtual_environment_with_only_its_requirements(name, tmp_path):
    """What a Space has: the built folder and its requirements. The metric loads and the app's function answers."""
    folder = build.build(name, tmp_path)
    venv.create(tmp_path / "venv", with_pip=True)
    own = str(tmp_path / "venv" / "bin" / "python")
    install = [own, "-m", "pip", "install", "-q", "-r", str(folder / "requirements.txt")]
    done = subprocess.run(install, capture_output=True, text=True, timeout=500)
    if done.returncode and re.search(r"NewConnectionError|name resolution|ConnectTimeout", done.stderr):
        pytest.skip(f"the package index cannot be reached: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr[-2000:]
    code = (
        LOAD.format(path=str(folder), options=REQUIRED[name])
        + f"""
    sys.path.insert(0, {str(folder)!r})
    import app
    options = ["Amy", False, "set"] if {name!r} == "boc" else [next(iter(app.look.MODELS)), "clipped", False, True]
    arguments = ["a cat", "a cat", *options]
    print(json.dumps(app.score(*arguments)[0]))
    """
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [own, "-c", textwrap.dedent(code)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    result, page = (json.loads(line) for line in done.stdout.strip().splitlines()[-2:])
    assert next(iter(result.values())) == pytest.approx(1.0) and "data-score" in page


class TestFiles:
    COLUMNS = ["predictions", "references"]

    def write(self, folder, name, content):
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return str(path)

    def test_csv_and_jsonl(self, look, tmp_path):
        csv = self.write(tmp_path, "a.csv", '\ufeffpredictions,references,id\r\n"a, b","c\nd",7\r\nNA,,8\r\n')
        rows = look.read_rows(csv, self.COLUMNS)
        assert rows == [
            {"predictions": "a, b", "references": "c\nd", "id": "7"},
            {"predictions": "NA", "references": "", "id": "8"},
        ]
        lines = '{"predictions": "a", "references": ["b", "c"]}\n\n{"predictions": "تفاحة", "references": "d"}\n'
        rows = look.read_rows(self.write(tmp_path, "a.jsonl", lines), self.COLUMNS)
        assert [row["references"] for row in rows] == [["b", "c"], "d"]

    def test_only_a_line_feed_ends_a_line_of_jsonl(self, look, tmp_path):
        row = {"predictions": "one\u2028two\u0085three\x0bfour", "references": "five"}
        path = self.write(tmp_path, "a.jsonl", json.dumps(row, ensure_ascii=False) + "\r\n")
        assert look.read_rows(path, self.COLUMNS) == [row]

    @pytest.mark.parametrize(
        ("name", "content", "words"),
        [
            ("a.csv", "predictions,other\na,b\n", ["row 0", "no column references", "predictions, other"]),
            ("a.csv", "", ["cannot be read as CSV"]),
            ("a.csv", "predictions,references\n", ["no rows"]),
            ("a.csv", 'predictions,references\n"a,b\n', ["cannot be read as CSV"]),
            ("a.csv", b"predictions,references\n\xff,b\n", ["not UTF-8", "byte 23"]),
            ("a.jsonl", '{"predictions": "a", "references": "b"}\n{"predictions": \n', ["line 2 is not JSON"]),
            ("a.jsonl", "[1, 2]\n", ["line 1 is not an object"]),
            ("a.jsonl", '{"predictions": "a"}\n', ["row 0", "no column references"]),
            ("a.xlsx", "x", [".csv or .jsonl"]),
            ("a.csv", "predictions,references\n" + "a,b\n" * 501, ["501 rows", "at most 500"]),
            ("a.csv", "predictions,references\n" + "a" * 50_001 + ",b\n", ["row 0", "over 50,000"]),
        ],
    )
    def test_wrong_files(self, look, tmp_path, name, content, words):
        with pytest.raises(look.Refused) as caught:
            look.read_rows(self.write(tmp_path, name, content), self.COLUMNS)
        for word in words:
            assert word in str(caught.value)

    def test_no_file(self, look):
        with pytest.raises(look.Refused, match="Choose a file"):
            look.read_rows(None, self.COLUMNS)


class TestPieces:
    def test_messages_instead_of_traces(self, look, capsys):
        @look.in_page(3)
        def fails(error):
            raise error

        first, *others = fails(ValueError("row <3> is wrong"))
        assert "row &lt;3&gt; is wrong" in first and 'role="alert"' in first and others == [None, None]
        first, *_ = fails(ZeroDivisionError("secret path"))
        assert "secret" not in first and "ZeroDivisionError" in first
        assert "secret path" in capsys.readouterr().err  # in the log

    def test_texts_are_escaped_and_marked(self, look):
        found = look.highlight("<b>Amy</b> & Raj", [(3, 6, "match", "in both")])
        assert "&lt;b&gt;<mark" in found and ">Amy</mark>&lt;/b&gt; &amp; Raj" in found and 'dir="auto"' in found

    def test_limits(self, look):
        assert look.checked("a", "Text") == "a"
        for text, word in ((" ", "empty"), (None, "empty"), ("a" * 50_001, "50,001 characters")):
            with pytest.raises(look.Refused, match=word):
                look.checked(text, "Text")

    def test_characters(self, look):
        found = look.parse_characters("House: Dr. House, Greg\n\n Amy \n")
        assert found == {"House": ["Dr. House", "Greg"], "Amy": []}
        with pytest.raises(look.Refused, match="Characters is empty"):
            look.parse_characters(" \n")

    def test_undefined_score(self, look):
        assert "undefined" in look.big_score("BoR", float("nan"))
        assert look.histogram([float("nan")], "x") == ""
        assert 'aria-label="x: 3 values from 0.500 to 0.500' in look.histogram([0.5] * 3, "x")
