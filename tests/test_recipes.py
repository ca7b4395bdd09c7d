"""docs/recipes.md: every block is run as it stands, in the tool that it is for."""

import configparser
import json
import re
import shlex
import subprocess
import sys
import sysconfig
import textwrap
import venv
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from conftest import ROOT

PAGE = ROOT / "docs" / "recipes.md"


def text_of(section):
    """A section of the page."""
    (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    return text


def blocks(section):
    """The code blocks of a section, in their order."""
    return re.findall(r"^```\w+\n(.*?)^```$", text_of(section), re.M | re.S)


def run(python, environment, folder, code, wanted):
    """Run a block as a script in the folder; the value of an expression after it, through JSON."""
    (folder / "recipe.py").write_text(f"{code}\nimport json\nprint(json.dumps({wanted}))\n", encoding="utf-8")
    command = [str(python), "recipe.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_pandas():
    names = {}
    exec("".join(blocks("pandas")), names)
    # by hand: hasty names one of two, so recall is 1/2 and F1 2/3; all six differ to one side, p = 2 / 2**6
    ranking, pairs = names["ranking"], names["pairs"]
    assert ranking["boc_f1"].to_dict() == pytest.approx({"careful": 1, "hasty": 2 / 3})
    assert list(ranking.index) == ["careful", "hasty"] and list(ranking["boc_f1_letters"]) == ["a", "b"]
    (pair,) = pairs.to_dict("records")
    assert (pair["difference"], pair["p"]) == pytest.approx((1 / 3, 2 / 64))


@pytest.mark.slow
def test_dataset_map_in_two_processes():
    names = {}
    exec("".join(blocks("Dataset.map")), names)
    scored = names["scored"].to_dict()
    # by hand: Raj of two; Penny for Amy; the last row is nan where nobody is named
    assert scored["boc_precision"][:3] == [1, 1, 0] and scored["boc_recall"][:3] == [1, 0.5, 0]
    assert scored["boc_f1"][:3] == pytest.approx([1, 2 / 3, 0]) and scored["boc_f1"][3] != scored["boc_f1"][3]
    assert scored["summary"][1] == "Raj left."


@pytest.mark.slow
def test_trainer(tmp_path, monkeypatch, sss, mss):
    """MSS with the documents, and from the same outputs the function in the card of SSS."""
    import datasets
    import numpy as np
    import tiny

    monkeypatch.chdir(tmp_path)
    model, tokenizer = tiny.make_summarizer()
    model.generation_config.max_length = 8
    documents = ["the river rose all night", "rain on friday", "a cat sat on the mat"]
    labels = tokenizer(["the river rose", "rain", "a cat"])["input_ids"]
    data = datasets.Dataset.from_dict({"input_ids": tokenizer(documents)["input_ids"], "labels": labels})
    names = {"model": model, "tokenizer": tokenizer, "data": data}
    exec("".join(blocks("Trainer")), names)
    output = names["trainer"].predict(data)
    generated = names["decode"](output.predictions)
    read = tokenizer.batch_decode(data["input_ids"][:], skip_special_tokens=True)
    assert "".join(read[1].split()).replace("##", "") == "rainonfriday"
    assert names["scores"]["eval_mss"] == pytest.approx(mss.compute(predictions=generated, references=read)["mss"])

    card = (ROOT / "metrics" / "sss" / "README.md").read_text(encoding="utf-8")
    (function,) = re.findall(r"^    def compute_metrics.*?(?=^\S)", card, re.M | re.S)
    names = {"np": np, "tokenizer": tokenizer, "sss": sss}
    exec(textwrap.dedent(function), names)
    assert (output.label_ids == -100).any()
    with pytest.raises(OverflowError):  # as the page says
        tokenizer.batch_decode(output.label_ids)
    references = tokenizer.batch_decode(labels, skip_special_tokens=True)
    evaluation = SimpleNamespace(predictions=output.predictions, label_ids=output.label_ids)
    assert names["compute_metrics"](evaluation) == pytest.approx(
        sss.compute(predictions=generated, references=references)
    )


def test_workflow(tmp_path, monkeypatch):
    from command import call

    (text,) = blocks("A GitHub workflow")
    workflow = yaml.safe_load(text)
    assert workflow[True] == ["push", "pull_request"]  # YAML 1.1 reads `on` so; GitHub does not
    steps = workflow["jobs"]["score"]["steps"]
    assert all(len({"uses", "run"} & step.keys()) == 1 for step in steps)
    (command,) = [step["run"] for step in steps if step.get("run", "").startswith("eval_summaries")]
    monkeypatch.chdir(ROOT)
    arguments = shlex.split(command)[1:]
    where = arguments.index("results")
    arguments[where] = str(tmp_path / "results")
    assert call(*arguments)[0] == 0
    limit = arguments.index("boc_f1=0.4")
    status, shown = call(*arguments[:limit], "boc_f1=0.5", *arguments[limit + 1 :])
    assert status == 3 and "main" in shown  # its mean is .415
    worse = arguments.index("main", limit)
    status, shown = call(*arguments[:worse], "change", *arguments[worse + 1 :])
    assert status == 3 and "worse than" in shown


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """The Python of a virtual environment that adds the tools to the packages of this one."""
    folder = tmp_path_factory.mktemp("tools")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    (own,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (own / "shared.pth").write_text(sysconfig.get_path("purelib"))  # found after its own packages
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    extra = setup["options.extras_require"]["recipes"].strip()
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-compile"]
    pip += ["-c", str(ROOT / "constraints.txt")]
    # the harness asks for a chardet that is LGPL and for another python-dateutil: see the page
    for wanted in (extra.split("\n"), ["--no-deps", "lm_eval"]):
        done = subprocess.run([*pip, *wanted], capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, done.stderr[-2000:]
    return python


@pytest.fixture
def own(environment, tmp_path):
    """For a child process: nothing of the user's own, and MLflow's files in the folder of the test."""
    files = {"MLFLOW_TRACKING_URI": f"file:{tmp_path}/mlruns", "MLFLOW_ALLOW_FILE_STORE": "true"}
    return {**environment, "HOME": str(tmp_path), "INSPECT_LOG_DIR": str(tmp_path / "logs"), **files}


@pytest.mark.install
@pytest.mark.timeout(600)
def test_mlflow(tools, own, tmp_path, mss):
    (code,) = blocks("MLflow")
    wanted = '[result.metrics, result.tables["eval_results_table"].to_dict("list"), mlflow.search_runs().to_json()]'
    metrics, table, runs = run(tools, own, tmp_path, code, wanted)
    # by hand: all named, 1; one of two, 2/3; nobody in either, left out
    assert metrics["boc_f1/mean"] == pytest.approx((1 + 2 / 3) / 2)
    assert table["boc_f1/score"][:2] == pytest.approx([1, 2 / 3])
    expected = mss.score(table["summary"], table["document"])["mss"]
    assert table["mss_document/score"] == pytest.approx(expected, abs=1e-5)
    assert metrics["mss_document/mean"] == pytest.approx(sum(expected) / 3, abs=1e-5)
    assert json.loads(runs)["metrics.boc_f1/mean"]["0"] == pytest.approx(5 / 6)


@pytest.mark.install
@pytest.mark.timeout(600)
def test_harness(tools, own, tmp_path, mss):
    data, task, other, function, code = blocks("lm-evaluation-harness")
    files = {"recaps.jsonl": data, "recaps.yaml": task, "recaps_mss.yaml": other, "recaps_mss.py": function}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert f"`{name}`" in text_of("lm-evaluation-harness")
    (tmp_path / "metrics").symlink_to(ROOT / "metrics")
    results = run(tools, own, tmp_path, code, 'found["results"]')
    # by hand: the first names Amy of two, 2/3; the second all; in the third nobody is named, rightly
    assert results["recaps"]["boc_f1,none"] == pytest.approx((2 / 3 + 1 + 1) / 3)
    scenes = [json.loads(line)["scene"] for line in data.splitlines()]
    expected = mss.compute(predictions=[scene.split(".")[0] + "." for scene in scenes], references=scenes)
    assert results["recaps_mss"]["mss,none"] == pytest.approx(expected["mss"], abs=1e-5)
    assert results["recaps_mss"]["mss_compression,none"] == pytest.approx(expected["mss_compression"])


@pytest.mark.install
@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.version_info < (3, 11), reason="inspect-ai needs Python 3.11")
def test_inspect(tools, own, tmp_path):
    (code,) = blocks("Inspect")
    wanted = "[log.status, [[s.name, s.scored_samples, s.metrics['mean'].value] for s in log.results.scores]]"
    status, scores = run(tools, own, tmp_path, code, wanted)
    found = {name: (samples, mean) for name, samples, mean in scores}
    # by hand, of the reference with the better F1: Amy of two, and all; the third, without names, is left out
    assert status == "success" and found["boc_precision"] == (2, 1)
    assert found["boc_recall"] == (2, pytest.approx(0.75)) and found["boc_f1"] == (2, pytest.approx((2 / 3 + 1) / 2))


@pytest.mark.parametrize("section", ["MLflow", "lm-evaluation-harness", "Inspect"])
def test_the_version_named_is_pinned(section):
    (named,) = re.findall(r"Tried\s+with\s+(\S+)\s+([\d.]+\d)", text_of(section))
    assert "==".join(named) in (ROOT / "constraints.txt").read_text().splitlines()


def test_every_section_is_tried():
    headings = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.M)
    tried = re.findall(r'blocks\("([^"]+)"\)', Path(__file__).read_text(encoding="utf-8"))
    assert headings == sorted(tried, key=headings.index)
