"""The scoring step on Ray: two real actors, against the local run."""

import importlib.util
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import venv

import pandas as pd
import pytest
from command import ALL, ROWS, call, scored, write_rows
from conftest import ROOT

from eval_summaries import engine
from eval_summaries.inputs import Example
from eval_summaries.scoring import SCORERS, needed, run


def has(package):
    return importlib.util.find_spec(package) is not None


with_ray = pytest.mark.skipif(not has("ray"), reason="Ray is not installed (the extra ray; .ci/run has it)")
METRICS = "boc,sss,stats"  # a bad row; a model; topics that are learned from all documents
RAY = ["--ray", "auto", "--workers", 2]


class Mortal(engine.Worker):
    """Dies of a text, as where memory ends."""

    def _score(self, batch):
        if not self.refused and any("Copy 7." in example.prediction for _, example in batch):
            os._exit(1)
        return super()._score(batch)


@pytest.fixture(scope="module")
def cluster():
    """One Ray of two cores for all tests here; the command finds it initialised."""
    ray = pytest.importorskip("ray")
    paths = f"{ROOT}{os.pathsep}{ROOT / 'tests'}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", paths)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        yield ray
        ray.shutdown()


def rows_of(count):
    return [{**ROWS[n % 16], "id": f"{n}", "summary": f"{ROWS[n % 16]['summary']} Copy {n}."} for n in range(count)]


def test_without_the_package(monkeypatch, data):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    status, shown = call(data, *ALL, "--ray", "local")
    assert status == 2 and 'pip install "ray[data]"' in shown


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--workers", 2], "are for --ray"),
        (["--gpus-per-worker", 1], "are for --ray"),
        (["--ray", "local", "--gpus-per-worker", 1.5], "a part of one, or a whole number"),
    ],
)
def test_arguments_that_mean_nothing(monkeypatch, data, given, told):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    status, shown = call(data, *ALL, *given)
    assert status == 2 and told in shown


def test_batches_hold_all_in_order_and_only_what_is_needed():
    examples = [
        Example(str(n), "s", "word " * n, ["r"], ["a long document"], ["Amy"], "f, line 1", {"human": 1.0})
        for n in range(100)
    ]
    batches = list(engine._cut(enumerate(examples), ("prediction", "references"), 12))
    assert [number for batch in batches for number, _ in batch] == list(range(100))
    sent = [example for batch in batches for _, example in batch]
    assert [e.prediction for e in sent] == [e.prediction for e in examples]
    assert all(e.documents is e.characters is None and e.references == ["r"] and not e.ratings for e in sent)
    assert max(map(len, batches)) == 12
    long = [Example(str(n), "s", "x" * (engine.BATCH_LETTERS - 10)) for n in range(3)]
    assert [len(batch) for batch in engine._cut(enumerate(long), ("prediction",), 10)] == [1, 1, 1]


class Shuffled:
    """An engine in this process, which gives its batches back in another order."""

    def takes(self, scorer):
        return True

    def score(self, scorer, examples, count):
        batches = list(engine._cut(examples, needed(scorer.name), 3))
        worker = engine.Worker(scorer.name, scorer.given, scorer.signature, None, lambda: True)
        for batch in random.Random(0).sample(batches, len(batches)):
            yield worker._score(batch)


def test_the_order_of_the_results_does_not_matter():
    examples = [Example(str(n), "s", f"Amy {n}", [f"Raj {n}"], None, ["Amy", "Raj"], f"x, line {n}") for n in range(20)]
    for bad in (3, 17):
        examples[bad].characters = {"Amy": ["Am"], "Raj": ["Am"]}

    def watch(name, chunks, total):
        return chunks

    def scored_by(given):
        scores, failures, signatures = run([SCORERS[n](n, {}) for n in ("boc", "rouge")], examples, None, watch, given)
        return list(scores.items()), failures, signatures

    here, there = scored_by(None), scored_by(Shuffled())
    assert there == here
    assert [failure.id for failure in here[1]] == ["3", "17"] and len(here[0]) == 20


def test_an_address_where_nothing_answers(monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"127.0.0.1:{free.getsockname()[1]}"
        for address in (closed, "ray://head:10001", "head", "head:port"):
            with pytest.raises(engine.UnusableError, match="HOST:PORT"):
                engine._check(address)


@with_ray
@pytest.mark.thorough
@pytest.mark.timeout(120)
def test_an_address_that_answers_and_is_no_ray(monkeypatch):
    monkeypatch.setattr(engine, "PATIENCE", 5)
    refused = pytest.raises(engine.UnusableError, match="does not answer as Ray within 5 seconds")
    with socket.create_server(("127.0.0.1", 0)) as other, refused:
        engine._check(f"127.0.0.1:{other.getsockname()[1]}")


@pytest.mark.thorough
@pytest.mark.timeout(300)
class TestOnRay:
    def test_equal_to_the_local_run_and_a_bad_row_does_not_take_its_neighbours(self, cluster, tmp_path):
        rows = rows_of(40)
        rows[21]["people"] = {"Amy": ["Am"], "Raj": ["Am"]}  # one alias of two people: BoC refuses it
        data = write_rows(tmp_path / "data.jsonl", rows)
        near, far = tmp_path / "near", tmp_path / "far"
        assert call(data, *ALL, "--metrics", METRICS, "--out", near)[0] == 1
        assert call(data, *ALL, "--metrics", METRICS, "--out", far, *RAY)[0] == 1
        pd.testing.assert_frame_equal(scored(far), scored(near), atol=1e-6, rtol=0)
        assert (far / "failures.csv").read_text() == (near / "failures.csv").read_text()
        assert "data.jsonl, line 22" in (far / "failures.csv").read_text()
        assert cluster.is_initialized()  # it was there before
        plans = [json.loads((out / "run.json").read_text()) for out in (near, far)]
        assert plans[0] == plans[1]

    def test_what_out_has_is_not_sent(self, cluster, tmp_path, monkeypatch):
        rows, sent = rows_of(30), []
        score = engine.Engine.score
        monkeypatch.setattr(engine.Engine, "score", lambda self, *a: sent.append(a[2]) or score(self, *a))
        for count in (20, 30, 30):
            data = write_rows(tmp_path / "data.jsonl", rows[:count])
            assert call(data, *ALL, "--metrics", "rouge", "--out", tmp_path / "out", *RAY)[0] == 0
        assert sent == [20, 10, 0]
        assert len(scored(tmp_path / "out")) == 30

    def test_a_text_that_ends_its_process_ends_the_run_and_not_never(self, cluster, tmp_path, monkeypatch):
        data, out = write_rows(tmp_path / "data.jsonl", rows_of(40)), tmp_path / "out"
        with monkeypatch.context() as patch:
            patch.setattr(engine, "Worker", Mortal)
            status, shown = call(data, *ALL, "--metrics", "rouge", "--out", out, *RAY)
        assert status == 2 and "processes that compute rouge died 4 times" in shown
        assert "with --out what was scored is kept" in shown
        assert call(data, *ALL, "--metrics", "rouge", "--out", out, *RAY)[0] == 0

    def test_no_room(self, cluster, data):
        status, shown = call(data, *ALL, "--metrics", "rouge", "--ray", "auto", "--workers", 3)
        assert status == 2 and "no room for 3 workers with a core each: it has 2 cores" in shown
        status, shown = call(data, *ALL, "--metrics", "rouge", *RAY, "--gpus-per-worker", 1)
        assert status == 2 and "0 GPUs" in shown

    def test_a_worker_that_would_give_other_scores_is_refused(self):
        """In this process: another version there is another signature."""
        worker = engine.Worker("rouge", {}, "rouge|of another version", None, lambda: True)
        block = __import__("pyarrow").table({"batch": [engine.pickle.dumps([(0, Example("1", "s", "a", ["a"]))])]})
        (refused,) = map(engine.pickle.loads, worker(block)["results"].to_pylist())
        assert isinstance(refused, engine.UnusableError) and "other scores" in str(refused)


@with_ray
@pytest.mark.thorough
@pytest.mark.timeout(300)
def test_killed_then_resumed_and_nothing_is_left_running(python, environment, tmp_path):
    data, out = write_rows(tmp_path / "data.jsonl", rows_of(600)), tmp_path / "out"
    command = [python, "-m", "eval_summaries", data, *ALL, "--metrics", "boc", "--out", out, "--ray", "local"]
    command = [*map(str, command), "--workers", "2"]
    environment = {**environment, "EVAL_MARK": str(tmp_path)}  # inherited by all that it starts
    kept = out / "results.jsonl"
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None and not (kept.exists() and kept.stat().st_size):
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = kept.read_bytes().count(b"\n")
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and before > 0 and len(scored(out)) == 600, done.stderr
    assert kept.read_bytes().count(b"\n") >= 600
    # no flood: one line of Ray's that says that it says no more
    assert [line for line in done.stderr.splitlines() if "RAY_BACKEND_LOG_LEVEL" not in line] == []
    deadline = time.monotonic() + 20
    while (left := marked(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not left


PAGE = ROOT / "docs" / "scale.md"


def test_the_spark_that_was_tried_is_pinned():
    (named,) = re.findall(r"Tried with pyspark ([\d.]+\d)", PAGE.read_text(encoding="utf-8"))
    assert f"pyspark=={named}" in (ROOT / "constraints.txt").read_text().splitlines()


@pytest.mark.install
@pytest.mark.timeout(600)
@pytest.mark.skipif(not shutil.which("java"), reason="Spark needs Java: apt-get install default-jre-headless")
def test_the_block_for_spark_runs_as_it_stands(environment, tmp_path):
    (code,) = re.findall(r"^## Spark\n.*?^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    python = sys.executable
    if not has("pyspark"):  # into an environment that adds it to the packages of this one
        venv.create(tmp_path / "venv", with_pip=False)
        python = str(tmp_path / "venv" / "bin" / "python")
        (own,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
        (own / "shared.pth").write_text(sysconfig.get_path("purelib"))
        pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-compile"]
        subprocess.run([*pip, "-c", str(ROOT / "constraints.txt"), "pyspark"], check=True, timeout=280)
    (tmp_path / "block.py").write_text(f"{code}\nprint(scored.sort_values('id', ignore_index=True).to_json())\n")
    done = subprocess.run(
        [python, "block.py"],
        cwd=tmp_path,
        env={**environment, "PYSPARK_PYTHON": python},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = {key: list(column.values()) for key, column in json.loads(done.stdout.strip().splitlines()[-1]).items()}
    # by hand: all; Raj of two; Penny for Amy
    assert found["boc_precision"] == [1, 1, 0] and found["boc_recall"] == [1, 0.5, 0]


def marked(folder):
    """The processes with the folder's mark in their environment."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/environ", "rb") as file:
                if f"EVAL_MARK={folder}".encode() in file.read():
                    found.append(number)
        except OSError:
            continue
    return found
