"""The repository's own rules: vendored copies, import traps of evaluate, cards, versions, examples that run."""

import ast
import configparser
import doctest
import importlib
import re
import subprocess

import evaluate
import pytest
from conftest import ROOT, load
from mutants import run as mutants

from metrics import vendor

METRICS = {folder.name: folder for folder in vendor.metric_folders()}
MODULES = [
    f"_shared.{name}"
    for name in ("backends", "characters", "embedder", "models", "options", "overlap", "scores", "texts")
]
COMMAND = sorted(path.stem for path in (ROOT / "eval_summaries").glob("*.py") if path.stem != "__main__")
BASELINES = sorted(path.stem for path in (ROOT / "summarizers").glob("*.py") if path.stem != "__main__")
MODULES += ["sss.rouge", "sss.sss", "mss.alignment", "mss.mss", "mss.unsupported", "boc.boc", "bor.bor"]
SECTIONS = [
    "Metric Description",
    "How to Use",
    "Inputs",
    "Output Values",
    "Values from Popular Papers",
    "Examples",
    "Limitations and Bias",
    "Citation",
    "Further References",
]


class TestVendoring:
    def test_copies_are_equal_byte_for_byte(self, capsys):
        assert vendor.main(check=True) == 0, capsys.readouterr().out

    def test_a_changed_missing_or_left_over_copy_is_found_and_mended(self, tmp_path, monkeypatch):
        for folder in ("_shared", "sss"):
            (tmp_path / folder).mkdir()
        (tmp_path / "_shared" / "texts.py").write_text("# shared")
        (tmp_path / "_shared" / "scores.py").write_text("# shared")
        (tmp_path / "sss" / "sss.py").write_text("from .texts import words\n")
        monkeypatch.setattr(vendor, "METRICS", tmp_path)
        monkeypatch.setattr(vendor, "SHARED", tmp_path / "_shared")
        copy = tmp_path / "sss" / "texts.py"
        assert vendor.main(check=True) == 1 and not copy.exists()
        assert vendor.main() == 0 and copy.read_text() == "# shared" and vendor.main(check=True) == 0
        copy.write_text("# edited in the wrong place")
        assert vendor.main(check=True) == 1
        (tmp_path / "sss" / "scores.py").write_text("# shared")
        assert vendor.main() == 0 and copy.read_text() == "# shared" and not (tmp_path / "sss" / "scores.py").exists()

    def test_first_line_says_where_to_edit(self):
        for path in vendor.SHARED.glob("*.py"):
            first = path.read_text(encoding="utf-8").splitlines()[0]
            assert first == f'# Shared code: edit metrics/_shared/{path.name}, then run "make vendor".'

    def test_what_a_shared_file_imports_every_script_imports_too(self):
        """evaluate copies only the script's own relative imports."""
        for name, folder in METRICS.items():
            direct = vendor.relative_imports(folder / f"{name}.py")
            for helper in direct:
                assert vendor.relative_imports(folder / f"{helper}.py") <= direct, f"{name}: {helper}"


@pytest.mark.parametrize("name", METRICS)
class TestScripts:
    """What evaluate's import parser and class finder trip over (it reads lines with a regular expression)."""

    def test_imports_are_written_as_evaluate_reads_them(self, name):
        for path in METRICS[name].glob("*.py"):
            source = path.read_text(encoding="utf-8")
            assert "'''" not in source
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Import):
                    assert len(node.names) == 1, f"{path.name}:{node.lineno}: one import a line"
                if isinstance(node, ast.ImportFrom) and node.level:
                    line = source.splitlines()[node.lineno - 1]
                    assert node.level == 1 and node.module and "." not in node.module and "#" not in line
                    assert node.module != name

    def test_the_only_module_class_is_the_metric(self, name):
        module = importlib.import_module(f"metrics.{name}.{name}")
        found = [v for v in vars(module).values() if isinstance(v, type) and issubclass(v, evaluate.EvaluationModule)]
        assert len(found) == 1

    def test_cases_of_the_folder(self, name):
        metric = evaluate.load(str(METRICS[name]))
        cases = importlib.import_module(f"metrics.{name}.tests").test_cases
        assert cases
        for case in cases:
            texts = {"predictions": case["predictions"], "references": case["references"]}
            result = metric.compute(**texts, **case.get("options", {}))
            assert {key: result[key] for key in case["result"]} == pytest.approx(case["result"], abs=1e-4)

    def test_examples_in_the_docstring_run(self, name, monkeypatch):
        monkeypatch.chdir(ROOT)
        module = importlib.import_module(f"metrics.{name}.{name}")
        examples = doctest.DocTestParser().get_doctest(
            module._KWARGS_DESCRIPTION, {"evaluate": evaluate}, name, f"{name}.py", 0
        )
        assert len(examples.examples) >= 3
        assert sum(bool(example.want) for example in examples.examples) >= 1
        result = doctest.DocTestRunner().run(examples)
        assert result.failed == 0

    def test_every_option_and_key_is_described(self, name):
        module = importlib.import_module(f"metrics.{name}.{name}")
        metric = load(name, **({"alignment": "hybrid"} if name == "mss" else {}))
        keys = metric.compute(predictions=["a"], references=["a"])
        card = (METRICS[name] / "README.md").read_text(encoding="utf-8")
        for word in [*metric.OPTIONS, *keys]:
            assert f"    {word}:" in module._KWARGS_DESCRIPTION, word
            assert f"`{word}`" in card, word

    def test_card_has_the_usual_sections_in_order(self, name):
        card = (METRICS[name] / "README.md").read_text(encoding="utf-8")
        headings = re.findall(r"^## (.+)$", card, flags=re.MULTILINE)
        assert headings == SECTIONS

    def test_version_is_the_projects(self, name):
        setup = configparser.ConfigParser()
        setup.read(ROOT / "setup.cfg")
        module = importlib.import_module(f"metrics.{name}.{name}")
        (metric,) = (v for v in vars(module).values() if hasattr(v, "VERSION") and hasattr(v, "_info"))
        assert setup["metadata"]["version"] == metric.VERSION


@pytest.mark.parametrize(
    "module",
    [
        *(f"metrics.{name}" for name in MODULES),
        *(f"eval_summaries.{name}" for name in COMMAND),
        *(f"summarizers.{name}" for name in BASELINES),
    ],
)
def test_docstring_examples(module, monkeypatch):
    monkeypatch.chdir(ROOT)
    result = doctest.testmod(importlib.import_module(module), extraglobs={"evaluate": evaluate})
    assert result.failed == 0


def test_every_module_is_named_above():
    local = {f"{name}.{path.stem}" for name, folder in METRICS.items() for path in folder.glob("*.py")}
    copied = {f"{path.parent.name}.{path.stem}" for path in vendor.copies()}
    shared = {f"_shared.{path.stem}" for path in vendor.SHARED.glob("*.py")}
    assert {*MODULES} == (local | shared) - copied - {f"{name}.tests" for name in METRICS}


@pytest.mark.parametrize("page", ["README.md", *(f"metrics/{name}/README.md" for name in METRICS)])
def test_examples_in_the_pages_run(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(ROOT / page), module_relative=False, encoding="utf-8")
    assert result.attempted > 0 and result.failed == 0


def test_every_mutant_can_be_planted():
    """Code that changes takes the list of `make mutants` with it."""
    found = mutants.read_mutants()
    assert {mutant["name"]: why for mutant in found if (why := mutants.misfit(mutant))} == {}
    assert len({mutant["name"] for mutant in found}) == len(found) >= 30
    for mutant in found:
        assert mutant["tests"].split() and all((ROOT / path).is_file() for path in mutant["tests"].split())


@pytest.mark.slow
@pytest.mark.thorough
def test_quickstart_prints_a_table(python, environment):
    done = subprocess.run(
        [python, "examples/quickstart.py"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    rows = {line[:20].strip(): line.split()[-6:] for line in done.stdout.split("Arabic")[0].splitlines()}
    scores = {name: [float(value) for value in rows[name]] for name in ("close to the text", "off topic")}
    assert all(good > bad for good, bad in zip(*scores.values(), strict=True))
    assert "Arabic" in done.stdout
    assert re.search(r"right people( +1\.000){6}", done.stdout) and re.search(r"nobody named( +0\.000){6}", done.stdout)


@pytest.mark.thorough
@pytest.mark.slow
def test_screenplay_prints_the_row_of_summscreen(python, environment):
    done = subprocess.run(
        [python, "examples/screenplay.py"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    header, careful, confused = (line.split() for line in done.stdout.strip().splitlines())
    assert header == ["BoC-p", "BoC-r", "BoR-p", "BoR-r", "average"]
    # by hand: all of (Ines, Orr), (Mara, Tobias); of (Dr. Weiss, Ines), (Ines, Tobias) only the first
    assert careful == ["careful", "100.0", "100.0", "100.0", "75.0", "93.8"]
    assert confused == ["confused", "50.0", "50.0", "0.0", "0.0", "25.0"]


def test_constraints_pin_every_dependency_of_setup():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    lines = setup["options"]["install_requires"].split("\n")
    lines += [line for extra in setup["options.extras_require"].values() for line in extra.split("\n")]
    wanted = {re.split(r"[<>=;\s]", line)[0].lower().replace("_", "-") for line in lines if line}
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in pins if "==" in line}
    assert wanted <= pinned and "torch==2.13.0" in pins


def test_tests_named_in_security_exist():
    named = re.findall(r"`(tests/\w+\.py)::([\w:]+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8"))
    assert len(named) > 10
    for path, name in named:
        scope = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
        for part in name.split("::"):
            found = [node for node in scope if getattr(node, "name", None) == part]
            assert found, f"{path}::{name}"
            scope = found[0].body
