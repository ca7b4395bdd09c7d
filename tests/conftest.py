"""Shared fixtures. Every cache of the Hugging Face libraries goes to a temporary folder, and the Hub is offline."""

import atexit
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = tempfile.mkdtemp(prefix="summary-metrics-tests-")
atexit.register(shutil.rmtree, CACHE, ignore_errors=True)
# before evaluate is imported, which reads these once
os.environ.update(HF_HOME=CACHE, HF_HUB_OFFLINE="1", HF_EVALUATE_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
# models are small and texts short here: threads that wait for one another took most of the time on a busy machine
os.environ.setdefault("OMP_NUM_THREADS", "1")
for name in ("HF_METRICS_CACHE", "HF_MODULES_CACHE", "HF_DATASETS_CACHE", "HF_HUB_CACHE", "HF_ENDPOINT"):
    os.environ.pop(name, None)

import evaluate  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

# No deadline: the first call of many a function imports a library. HYPOTHESIS_PROFILE=thorough looks ten times longer.
settings.register_profile("default", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
settings.register_profile("quick", deadline=None, max_examples=25)
QUICK = False  # whether slow tests are left out


def pytest_configure(config):
    """Before any module of tests is read."""
    global QUICK
    QUICK = "not slow" in config.option.markexpr
    if QUICK and "HYPOTHESIS_PROFILE" not in os.environ:
        settings.load_profile("quick")


def examples(count):
    """How many examples hypothesis looks at: so many, or a tenth of them where slow tests are left out."""
    return max(10, count // 10) if QUICK else count


# The text of one sentence in many scripts: our own, used wherever a rule must hold in any language.
SENTENCES = {
    "English": "The old bridge was closed after the storm.",
    "Arabic": "أُغلق الجسر القديم بعد العاصفة.",
    "Hindi": "तूफ़ान के बाद पुराना पुल बंद कर दिया गया।",
    "Chinese": "暴风雨过后，旧桥关闭了。",
    "Russian": "После бури старый мост закрыли.",
    "Thai": "สะพานเก่าถูกปิดหลังพายุ",
    "Greek": "Η παλιά γέφυρα έκλεισε μετά την καταιγίδα.",
    "Korean": "폭풍이 지나간 뒤 낡은 다리가 폐쇄되었다.",
    "Japanese": "嵐のあと、古い橋は閉鎖された。",
    "Hebrew": "\u200fהגשר הישן נסגר אחרי הסערה.",
    "emoji": "🌧️🌉❌",
}


@pytest.fixture(scope="session")
def sss():
    """The metric as a user loads it."""
    return evaluate.load(str(ROOT / "metrics" / "sss"))


@pytest.fixture(scope="session")
def mss():
    """The metric as a user loads it."""
    return evaluate.load(str(ROOT / "metrics" / "mss"))


# What a metric needs beside the texts.
REQUIRED = {"sss": {}, "mss": {}, "boc": {"characters": ["Amy", "Raj", "Penny"]}, "bor": {"characters": ["Amy", "Raj"]}}


def load(name, **options):
    """A metric as a user loads it, with what it needs."""
    return evaluate.load(str(ROOT / "metrics" / name), **{**REQUIRED[name], **options})


@pytest.fixture(scope="session")
def boc():
    """The metric as a user loads it."""
    return evaluate.load(str(ROOT / "metrics" / "boc"))


@pytest.fixture(scope="session")
def bor():
    """The metric as a user loads it."""
    return evaluate.load(str(ROOT / "metrics" / "bor"))


@pytest.fixture(params=list(REQUIRED))
def metric(request):
    """Each metric in turn, freshly loaded."""
    return load(request.param)


@pytest.fixture(scope="session")
def environment():
    """For a child process: this one's environment, with the caches of the tests."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="session")
def python():
    """The interpreter that runs the tests."""
    return sys.executable


@pytest.fixture
def data(tmp_path):
    """The rows of tests/command.py as a JSONL file."""
    import command

    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in command.ROWS), encoding="utf-8")
    return path


@pytest.fixture
def folders(tmp_path):
    """The rows as folders."""
    import command

    for row in command.ROWS:
        for folder, name, text in (
            (row["model"], f"{row['id']}_summary.txt", row["summary"]),
            ("documents", f"{row['id']}.txt", row["article"]),
            ("references", f"{row['id']}.txt", row["reference"]),
        ):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / name).write_text(text, encoding="utf-8")
    return tmp_path
