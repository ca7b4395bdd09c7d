"""The demo Spaces as folders: front matter, requirements, building, publishing; and the pieces of their pages."""

import importlib
import json
import os
import re
import subprocess
import textwrap
import venv
from pathlib import Path

import pytest
from conftest import REQUIRED, ROOT
from hub_server import serve

from eval_summaries import pieces
from spaces import build

NAMES = list(REQUIRED)
PINS = {
    line.split("==")[0].lower().replace("_", "-"): line.split("==")[1]
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if "==" in line
}


def content(folder):
    """Every file of a folder by its path within."""
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    files = (path for path in files if path.name != build.MARKER)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def look():
    return importlib.import_module("spaces.look")


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
        assert {"openpyxl", "pyarrow"} <= required.keys()  # of the reader of files

    def test_built_folder(self, name, tmp_path):
        from huggingface_hub import SpaceCard

        folder = build.build(name, tmp_path)
        assert folder == tmp_path / name
        expected = {path.name for path in (ROOT / "metrics" / name).glob("*.py")}
        expected |= {"app.py", "look.py", "file_tab.py", "serving.py", "README.md", "requirements.txt"}
        reader = {f"eval_summaries/{part}" for part in build.READER}
        assert content(folder).keys() == expected | reader
        card = SpaceCard.load(folder / "README.md")
        assert card.data.sdk == "gradio" and "## Limitations and Bias" in card.content
        (folder / "look.py").unlink()
        build.build(name, tmp_path)  # made anew
        assert content(folder).keys() == expected | reader
        assert [path.name for path in tmp_path.iterdir()] == [name]

    @pytest.mark.thorough
    @pytest.mark.slow
    def test_the_app_imports_the_copies_beside_it(self, name, tmp_path, python, environment):
        """As `python app.py` does, from anywhere, whether or not the project is installed."""
        if name not in ("boc", "sss"):
            pytest.skip("one with a model and one without are enough: all are built alike")
        folder = build.build(name, tmp_path / "built")
        probe = folder / "probe.py"  # the folder of a script comes first on the path
        probe.write_text(
            "import sys, app, eval_summaries.inputs\n"
            "names = [name for name in sys.modules if name.startswith('eval_summaries')]\n"
            "names += ['look', 'file_tab', 'serving']\n"
            "print(*(sys.modules[name].__file__ for name in names), sep='\\n')\n"
        )
        (tmp_path / "elsewhere").mkdir()
        done = subprocess.run(
            [python, str(probe)],
            cwd=tmp_path / "elsewhere",
            env={key: value for key, value in environment.items() if key != "PYTHONPATH"},
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert done.returncode == 0, done.stderr
        found = {Path(line).relative_to(folder).as_posix() for line in done.stdout.splitlines()}
        reader = {path for path in content(folder) if path.startswith("eval_summaries/") and path.endswith(".py")}
        assert found == {"look.py", "file_tab.py", "serving.py"} | reader

    def test_one_of_the_examples_is_in_arabic(self, name):
        source = (ROOT / "spaces" / name / "app.py").read_text(encoding="utf-8")
        assert re.search(r"[\u0627-\u064a]{3}", source)


LOAD = """
    import evaluate, json, sys
    metric = evaluate.load({path!r}, **{options})
    print(json.dumps(metric.compute(predictions=["Amy saw Raj."], references=["Amy saw Raj."])))
"""


@pytest.mark.slow
@pytest.mark.thorough
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


@pytest.mark.slow
@pytest.mark.install
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["boc"])
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

    def test_texts_are_escaped_and_marked(self):
        found = pieces.highlight("<b>Amy</b> & Raj", [(3, 6, "match", "in both")])
        assert "&lt;b&gt;<mark" in found and ">Amy</mark>&lt;/b&gt; &amp; Raj" in found and 'dir="auto"' in found

    def test_marks_are_bounded_and_do_not_overlap(self):
        text = "ab" * pieces.LIMIT_MARKS + "&"
        spans = [(start, start + 1, "match", "a") for start in range(0, len(text) - 1, 2)]
        assert pieces.highlight(text, spans).count("<mark") == pieces.LIMIT_MARKS and "Only" not in pieces.highlight(
            text, spans
        )
        found = pieces.highlight(text, [*spans, (len(text) - 1, len(text), "match", "last")])
        assert found.count("<mark") == pieces.LIMIT_MARKS and "Only the first 1,000 of 1,001 marks are drawn" in found
        assert re.sub("<[^>]*>", "", found).endswith(text.replace("&", "&amp;"))
        found = pieces.highlight("½ a", [(0, 1, "match", "1"), (0, 1, "match", "2")])  # two words in one letter
        assert re.sub("<[^>]*>", "", found) == "½ a"

    def test_limits(self, look):
        assert look.checked("a", "Text") == "a"
        for text, word in ((" ", "empty"), (None, "empty"), ("a" * 50_001, "50,001 characters")):
            with pytest.raises(look.Refused, match=word):
                look.checked(text, "Text")
        assert len(look.alert("a" * 100_000)) < 6000

    def test_characters(self, look):
        found = look.checked_characters("House: Dr. House, Greg\n\n Amy \n")
        assert found == {"House": ["Dr. House", "Greg"], "Amy": []}
        assert look.checked_characters("['Amy', 'Raj']") == ["Amy", "Raj"]
        for text, word in (
            (" \n", "Characters names nobody"),
            (None, "names nobody"),
            ("[Amy, Raj]", "cannot be read"),
        ):
            with pytest.raises(ValueError, match=word):
                look.checked_characters(text)

    def test_names_in_a_row(self, look):
        assert pieces.some(["Amy", "Raj"]) == "Amy, Raj" and pieces.some([]) == ""
        assert pieces.some(["A" * 31, "B"], 1) == f"{'A' * 30}…, and 1 more"

    @pytest.mark.parametrize(
        "value",
        [
            list(range(100_000)),
            [[0.123456789] * 1000] * 1000,
            {str(number): ["a" * 1000] * 10 for number in range(1000)},
            {"a" * 50_000 + str(number): "b" * 50_000 for number in range(30)},
            {"أ" * 50_000: ["ب" * 50_000] * 1000},
            [[[["a" * 100] * 100] * 100] * 100] * 100,
        ],
        ids=["list", "matrix", "mapping", "long keys", "Arabic", "deep"],
    )
    def test_values_are_bounded_and_say_so(self, look, value):
        shown = json.dumps(look.bounded(value), ensure_ascii=False)
        assert 100 < len(shown) <= look.LIMIT_VALUES and re.search(
            r"\d more( characters)?[\")]|bytes: not shown", shown
        )

    def test_values_within_the_budget_are_as_they_are(self, look):
        value = {"scores": {"boc_f1": 0.5}, "matched": ["Amy"], "none": None, "pair": ("Amy", "Raj")}
        assert look.bounded(value) == {**value, "pair": ["Amy", "Raj"]}
        assert len(look.bounded({f"{'a' * 20_000}{number}": number for number in range(9)})) == 9  # all begin alike

    def test_undefined_score(self, look):
        assert "undefined" in look.big_score("BoR", float("nan"))
        assert pieces.histogram([float("nan")], "x") == ""
        assert 'aria-label="x: 3 values from 0.500 to 0.500' in pieces.histogram([0.5] * 3, "x")
