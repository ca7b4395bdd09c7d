"""The rows of speed.py that need processes of their own: loading a metric, and the whole command."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from speed_texts import Texts

ROOT = Path(__file__).resolve().parent.parent

_LOAD = """
import sys, time
sys.path.insert(0, sys.argv[1])
started = time.perf_counter()
import evaluate
imported = time.perf_counter()
if len(sys.argv) > 2: sys.modules["torch"] = None  # whoever imports it now fails
for name, options in (("sss", {}), ("mss", {}), ("boc", {"characters": ["A"]}), ("bor", {"characters": ["A"]})):
    begun = time.perf_counter()
    evaluate.load(sys.argv[1] + "/metrics/" + name, **options)
    print(time.perf_counter() - begun)
print(imported - started)
"""

# The time in the model's forward pass alone, to which tokenizing and everything else is compared.
_COMMAND = """
import sys, threading, time
begun = time.perf_counter()
sys.path.insert(0, sys.argv[1])
from transformers.models.bert.modeling_bert import BertModel
inside, forward = [0.0], BertModel.forward
def timed(*given, **named):
    assert threading.current_thread() is threading.main_thread()  # else times would overlap
    started = time.perf_counter()
    found = forward(*given, **named)
    inside[0] += time.perf_counter() - started
    return found
BertModel.forward = timed
from eval_summaries.cli import app
app(sys.argv[2:], standalone_mode=False)
print("seconds", inside[0], time.perf_counter() - begun)
"""


def _python(script: str, *given: str) -> str:
    """What a script prints in a new process with empty caches; SystemExit where it fails."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-W", "ignore", "-c", script, str(ROOT), *given]
        environment = {**os.environ, "HF_HOME": cache, "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"a new process failed:\n{done.stderr}")
    return done.stdout


def load_ratios(rounds: int) -> list[float]:
    """The slowest ``evaluate.load`` as a share of ``import evaluate``, after a look that none needs torch."""
    _python(_LOAD, "torch")  # would fail
    ratios = []
    for _ in range(rounds):
        *each, imported = map(float, _python(_LOAD).split())
        ratios.append(max(each) / imported)
    return ratios


def command_ratios(news: Texts, rounds: int) -> list[float]:
    """``eval_summaries`` with its comparisons and report, as so many times what the model's forward pass takes in it.

    Everything counts, from the start of the process: imports, loading, reading, scoring, writing.
    """
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "news.jsonl")
        texts = zip(news.documents, news.references, news.summaries, strict=True)
        with open(data, "w", encoding="utf-8") as file:
            for number, (document, reference, summaries) in enumerate(texts):
                for system, summary in enumerate(summaries):
                    row = {"id": number, "system": f"system {system}", "summary": summary}
                    file.write(json.dumps({**row, "reference": reference, "document": document}) + "\n")
        columns = ("--predictions", "summary", "--references", "reference", "--documents", "document")
        chosen = ("--system", "system", "--id", "id", "--metrics", "sss,mss,rouge,bleu,stats")
        ratios = []
        for number in range(rounds):
            out = ("--out", str(Path(folder, str(number))), "--report", str(Path(folder, f"{number}.html")))
            _, inside, whole = _python(_COMMAND, str(data), *columns, *chosen, *out).splitlines()[-1].split()
            ratios.append(float(whole) / float(inside))
    return ratios
