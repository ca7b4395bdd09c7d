"""Models by Hub id, over the Hub's protocol, from a server on loopback: the path of lang="ar" and model_name."""

import json
import subprocess
import textwrap

import pytest
import tiny
from conftest import ROOT
from hub_server import serve

from metrics._shared.backends import ARABIC, MULTILINGUAL

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

CODE = """
    import evaluate, json, sys, warnings
    metric = evaluate.load("./metrics/sss")
    options = json.loads(sys.argv[1])
    pair = dict(predictions=["اكل سامي تفاحة"], references=["أكل سامي تفاحة حمراء"])
    try:
        print(json.dumps(metric.compute(**pair, return_signature=True, **options)))
    except Exception as error:
        print(json.dumps({"error": type(error).__name__, "message": str(error)}))
"""


def score(python, environment, endpoint, home, **options):
    environment = {**environment, "HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1"}
    environment |= {"HF_HUB_OFFLINE": options.pop("offline", "0")}
    done = subprocess.run(
        [python, "-c", textwrap.dedent(CODE), json.dumps(options)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_the_model_of_a_language_comes_from_the_hub_once(python, environment, tmp_path):
    models = {
        ARABIC: tiny.make_encoder(tmp_path / "arabert"),
        MULTILINGUAL: tiny.make_encoder(tmp_path / "multilingual", kind="roberta"),
    }
    with serve(models) as (endpoint, requests):
        arabic = score(python, environment, endpoint, tmp_path / "home", lang="ar")
        assert any(path.startswith(f"/{ARABIC}/resolve/") for path in requests)
        assert 0 < arabic["sss"] <= 1 and f"model:{ARABIC}" in arabic["signature"]
        hindi = score(python, environment, endpoint, tmp_path / "home", lang="hi")
        assert f"model:{MULTILINGUAL}" in hindi["signature"] and hindi["sss"] != arabic["sss"]
        named = score(python, environment, endpoint, tmp_path / "home", model_name=ARABIC, model_revision="main")
        assert named["sss"] == arabic["sss"]
        missing = score(python, environment, endpoint, tmp_path / "home", model_name="nobody/nothing")
        assert missing["error"] == "ModelUnavailableError" and "nobody/nothing" in missing["message"]
        assert "What works offline" in missing["message"]
    again = score(python, environment, endpoint, tmp_path / "home", lang="ar", offline="1")  # the server is gone
    assert again == arabic


def test_the_hub_model_equals_the_local_folder(python, environment, tmp_path):
    folder = tiny.make_encoder(tmp_path / "model")
    with serve({"tester/model": folder}) as (endpoint, _):
        hub = score(python, environment, endpoint, tmp_path / "home", model_name="tester/model")
    local = score(python, environment, endpoint, tmp_path / "home", model_name=str(folder))
    assert hub.pop("signature") != local.pop("signature") and hub == local
