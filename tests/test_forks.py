"""Metrics in children: forked while other threads score, and pickled after a compute."""

import json
import os
import subprocess
import sys

import pytest
import tiny
from conftest import ROOT

from metrics._shared import backends, embedder


@pytest.fixture(autouse=True)
def forget():
    yield
    backends._loaded.clear()
    embedder.CACHE.clear()


@pytest.fixture
def folder(tmp_path):
    return tiny.make_encoder(tmp_path / "model")


FORKS = """
import os, signal, sys, threading
from metrics._shared import backends, embedder
from metrics._shared.backends import load_backends
from metrics._shared.embedder import Embedder

maker = Embedder(load_backends("en", sys.argv[1], None, "cpu"), 32, 10**6)
expected = maker.encode(["abc"]).tolist()
stop = threading.Event()

def work():
    number = 0
    while not stop.is_set():
        maker.encode([f"ab{number}cd{number % 7} " * 20])
        number += 1

def held():  # a loader that never ends
    with backends._load_lock:
        stop.wait()

threads = [threading.Thread(target=target) for target in (work, work, held)]
[thread.start() for thread in threads]
statuses = []
for number in range(12):
    with embedder.CACHE._lock if number == 0 else threading.Lock():  # the first child is forked with that lock held
        child = os.fork()
        if not child:
            signal.alarm(120)  # ends a child that hangs
            again = Embedder(load_backends("en", sys.argv[1], None, "cpu"), 32, 10**6)
            fresh = again.encode([f"child {number}", "abc"])
            os._exit(0 if abs(fresh[1] - expected[0]).max() < 1e-5 else 3)
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
[thread.join() for thread in threads]
print(statuses)
"""


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.timeout(1600)
def test_children_forked_while_threads_score(folder, environment):
    done = subprocess.run(
        [sys.executable, "-c", FORKS, str(folder)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [0] * 12


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_finds_every_lock_free():
    """Each lock is held when the process is forked."""
    locks = [backends._load_lock, embedder._model_lock, embedder.CACHE._lock, embedder.tqdm.get_lock()]
    [lock.acquire() for lock in locks]
    try:
        child = os.fork()
        if not child:
            mine = [backends._load_lock, embedder._model_lock, embedder.CACHE._lock, embedder.tqdm.get_lock()]
            free = [lock is not old and lock.acquire(blocking=False) for lock, old in zip(mine, locks, strict=True)]
            os._exit(0 if all(free) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        [lock.release() for lock in locks]


@pytest.mark.slow
class TestPickles:
    @pytest.mark.parametrize("library", ["pickle", "dill"])
    def test_a_metric_after_compute_and_amid_adding(self, metric, library):
        library = pytest.importorskip(library)
        texts = {"predictions": ["Amy met Raj.", "No one."], "references": ["Raj met Amy.", "No one came."]}
        expected = metric.compute(**texts)
        assert library.loads(library.dumps(metric)).compute(**texts) == pytest.approx(expected, nan_ok=True)
        metric.add(prediction="left", reference="behind")
        copy = library.loads(library.dumps(metric))
        assert copy.compute(**texts) == pytest.approx(expected, nan_ok=True)  # what was being added is not its own
        assert len(metric) == 1 and metric.compute()  # and the metric itself goes on

    @pytest.mark.slow
    @pytest.mark.parametrize("metric", ["boc"], indirect=True)
    def test_map_in_two_processes_after_compute(self, metric):
        import datasets

        texts = {"predictions": ["Amy met Raj.", "Penny."] * 10, "references": ["Raj met Amy.", "Amy."] * 10}
        metric.compute(**texts)
        mapped = datasets.Dataset.from_dict(texts).map(metric.score, batched=True, batch_size=5, num_proc=2)
        assert list(mapped["boc_f1"]) == metric.score(**texts)["boc_f1"]
