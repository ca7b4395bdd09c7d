"""The command: what it prints and writes, read back; options; arguments that cannot be used."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import venv

import datasets
import numpy as np
import pandas as pd
import pytest
from command import ALL, COLUMNS, ROWS, call, expected
from conftest import ROOT


class TestOutputs:
    NAMES = ("sss", "mss", "boc", "bor")

    def test_every_output_read_back_equals_the_python_interface(self, data, tmp_path):
        out, base = tmp_path / "out", tmp_path / "scores.db"
        status, shown = call(data, *ALL, "--metrics", ",".join(self.NAMES), "--out", out, "--sqlite", base)
        assert status == 0
        wanted = expected(self.NAMES)
        lines = pd.read_json(out / "scores.jsonl", lines=True).set_index(["system", "id"])
        table = pd.read_csv(out / "scores.csv").set_index(["system", "id"])
        hub = {
            (row["system"], row["id"]): row
            for row in datasets.load_dataset("json", data_files=str(out / "scores.jsonl"))["train"]
        }
        with sqlite3.connect(base) as database:
            stored = {
                (s, e, k): v for s, e, k, v in database.execute("SELECT system, example, score, value FROM scores")
            }
        for place, scores in wanted.items():
            for key, value in scores.items():
                for found in (lines.loc[place, key], table.loc[place, key], hub[place][key], stored[(*place, key)]):
                    found = np.nan if found is None else found
                    assert found == pytest.approx(value, abs=1e-6, nan_ok=True)
        means = pd.Series([scores["sss"] for (system, _), scores in wanted.items() if system == "good"])
        for page in ((out / "summary.md").read_text(), shown):
            assert f"{means.mean():.3f}" in page and f"{means.std():.3f}" in page
        assert f"{means.mean():.3f} $\\pm$ {means.std():.3f}" in (out / "summary.tex").read_text()
        page = (out / "summary.md").read_text()
        assert all(f"{name}|version:" in page for name in self.NAMES) and "characters:None" not in page

    def test_a_database_keeps_what_it_has(self, data, tmp_path):
        base = tmp_path / "scores.db"
        for run in (1, 2):
            assert call(data, *COLUMNS, "--metrics", "rouge", "--sqlite", base)[0] == 0
            with sqlite3.connect(base) as database:
                assert database.execute("SELECT COUNT(*), MAX(run) FROM scores").fetchone() == (run * 16 * 4, run)
                assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    def test_undefined_scores_are_empty_and_left_out(self, tmp_path):
        data = tmp_path / "data.jsonl"
        rows = [{"p": "Amy saw Raj.", "r": "Raj saw Amy.", "c": "Amy; Raj"}, {"p": "x", "r": "y", "c": "Amy;Raj"}]
        data.write_text("\n".join(map(json.dumps, rows)))
        columns = ["--predictions", "p", "--references", "r", "--characters", "c"]
        assert call(data, *columns, "--metrics", "bor", "--out", tmp_path / "out")[0] == 0
        found = pd.read_csv(tmp_path / "out" / "scores.csv")["bor_f1"]
        assert found[0] == 1.0 and np.isnan(found[1])
        assert json.loads((tmp_path / "out" / "scores.jsonl").read_text().splitlines()[1])["bor_f1"] is None
        assert "| system | bor_f1 | 1.000 |  | 1.000 to 1.000 | 1 |" in (tmp_path / "out" / "summary.md").read_text()

    @pytest.mark.slow
    def test_parquet_plots_and_papers_tables(self, data, tmp_path):
        from matplotlib.image import imread

        out = tmp_path / "out"
        names = ["--metrics", "boc,bor,rouge,bleu,sss"]
        status, shown = call(data, *ALL, *names, "--out", out, "--parquet", "--plots", "--layout", "summscreen")
        assert status == 0
        pd.testing.assert_frame_equal(pd.read_parquet(out / "scores.parquet"), pd.read_csv(out / "scores.csv"))
        table = pd.read_csv(out / "scores.csv").drop(columns=["system", "id"])
        pictures = {path.name for path in (out / "plots").iterdir()}
        assert pictures == {f"distribution_{key}.png" for key in table if table[key].notna().any()} | {
            "correlation.png"
        }
        for name in pictures:
            picture = imread(out / "plots" / name)
            assert min(picture.shape[:2]) > 150 and picture.std() > 0.01  # not blank
        # good: Amy and Raj of three, precision 1, recall 1 against a reference that names both; the pair too
        assert "BoC-p" in shown and "average" in shown and "good │ 100.0 │ 100.0 │ 100.0 │ 100.0 │ 100.0" in shown
        status, shown = call(data, *ALL, *names, "--layout", "sss")
        assert status == 0 and "ROUGE-L" in shown and "±" in shown
        status, shown = call(data, *ALL, "--metrics", "boc", "--layout", "summscreen")
        assert status == 2 and "--layout summscreen needs the metrics bor" in shown
        for arguments in (["--plots"], ["--layout", "acl"]):
            assert call(data, *ALL, "--metrics", "rouge", *arguments)[0] == 2

    def test_bleu_is_sacrebleus(self, data, tmp_path):
        from sacrebleu import sentence_bleu

        assert call(data, *COLUMNS, "--metrics", "bleu", "--out", tmp_path / "out")[0] == 0
        found = pd.read_csv(tmp_path / "out" / "scores.csv").set_index(["system", "id"])["bleu"]
        for row in ROWS:
            score = sentence_bleu(row["summary"], [row["reference"]]).score / 100
            assert found[row["model"], row["id"]] == pytest.approx(score)


class TestUnusable:
    """Nothing is scored: status 2 and a message that says what to do."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ([], ["give a file, or --summaries"]),
            (["nowhere.jsonl"], ["there is no nowhere.jsonl"]),
            (["--summaries", "nowhere"], ["there is no folder nowhere"]),
            (["DATA", *COLUMNS, "--metrics", "ssss"], ["unknown metric 'ssss'", "did you mean 'sss'?"]),
            (["DATA", *COLUMNS, "--metrics", "mss"], ["mss needs --documents", "can be used: sss, rouge"]),
            (["DATA", "--predictions", "text"], ["no column 'text' (--predictions)", "summary"]),
            (["DATA", *COLUMNS, "--metrics", "sss", "--set", "sss.chunk=3"], ["unknown option 'chunk'", "batch_size"]),
            (
                ["DATA", *COLUMNS, "--metrics", "sss", "--set", "sss.lang=ar"],
                ["cannot load the model", "works offline"],
            ),
            (["DATA", *COLUMNS, "--metrics", "rouge", "--set", "rouge.n=3"], ["rouge: unknown option 'n'"]),
            (["DATA", *COLUMNS, "--set", "sss"], ["write METRIC.OPTION=VALUE"]),
            (["DATA", *COLUMNS, "--set", "ssss.x=1"], ["unknown metric 'ssss'"]),
            (["DATA", *COLUMNS, "--config", "nowhere.yaml"], ["--config nowhere.yaml"]),
            (["DATA", "--predictions", "summary", "--references", "reference", "--id", "id"], ["the id 'd0' twice"]),
            ([str(ROOT / "README.md")], ["give a .jsonl,", ".parquet"]),
            ([str(ROOT / "tests")], ["no folder that datasets saved"]),
        ],
    )
    def test_message(self, arguments, words, data, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        status, shown = call(*[data if argument == "DATA" else argument for argument in arguments])
        assert status == 2 and shown.startswith("error:")
        for word in words:
            assert word in shown

    def test_no_rows_and_not_utf8(self, tmp_path):
        for name, content, word in (
            ("empty.jsonl", b"", "no rows"),
            ("empty.csv", b"predictions,r\n", "no rows"),
            ("bad.csv", b"predictions,r\n\xff,b\n", "line 2 is not UTF-8: it has the byte 0xff"),
            ("bad.parquet", b"no parquet", "cannot be read as Parquet"),
        ):
            (tmp_path / name).write_bytes(content)
            status, shown = call(tmp_path / name, "--references", "r")
            assert status == 2 and word in shown

    def test_other_options_do_not_mix_with_an_old_run(self, data, tmp_path):
        arguments = [data, *COLUMNS, "--metrics", "bleu", "--out", tmp_path / "out"]
        assert call(*arguments)[0] == 0
        before = (tmp_path / "out" / "scores.csv").read_text()
        assert call(*arguments, "--set", "bleu.tokenize=char")[0] == 0
        assert (tmp_path / "out" / "scores.csv").read_text() != before
        assert "tokenize:char" in json.loads((tmp_path / "out" / "run.json").read_text())["signatures"]["bleu"]
        assert call(*arguments)[0] == 0 and (tmp_path / "out" / "scores.csv").read_text() == before

    def test_a_folder_that_cannot_be_written(self, data, tmp_path):
        (tmp_path / "file").write_text("in the way")
        status, shown = call(data, *COLUMNS, "--metrics", "rouge", "--out", tmp_path / "file" / "out")
        assert status == 2 and "cannot write to" in shown

    @pytest.fixture
    def disk(self, tmp_path):
        """A disk of 16 KiB."""
        if sys.platform != "linux" or os.geteuid():
            pytest.skip("mounting a small disk takes root on Linux")
        disk = tmp_path / "disk"
        disk.mkdir()
        if subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)], capture_output=True
        ).returncode:
            pytest.skip("mounting is not allowed here")
        yield disk
        subprocess.run(["umount", str(disk)], check=True)

    def test_a_full_disk_keeps_what_was_scored(self, data, disk):
        arguments = [data, *COLUMNS, "--metrics", "rouge", "--out", disk / "out"]
        (disk / "ballast").write_bytes(b"x" * 8192)
        status, shown = call(*arguments)
        assert (status == 2 and "is kept" in shown) or (status == 4 and "scores nothing twice" in shown)
        assert "No space left" in shown
        (disk / "ballast").unlink()
        subprocess.run(["mount", "-o", "remount,size=1m", str(disk)], check=True)
        assert call(*arguments)[0] == 0
        assert len(pd.read_csv(disk / "out" / "scores.csv")) == 16

    def test_a_disk_that_is_read_only(self, data, disk):
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        status, shown = call(data, *COLUMNS, "--metrics", "rouge", "--out", disk / "out")
        assert status == 2 and "cannot write to" in shown and "Read-only" in shown


@pytest.mark.slow
@pytest.mark.install
def test_from_a_wheel_in_another_folder(python, data, tmp_path):
    """Built, installed in a new virtual environment, run elsewhere: the metrics travel inside the wheel."""
    source = tmp_path / "source"  # a copy: building leaves files behind
    for name in ("eval_summaries", "metrics", "summarizers"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = [python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(source)]
    assert subprocess.run(build, capture_output=True, text=True, timeout=280).returncode == 0
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    own = tmp_path / "venv" / "bin"
    install = [str(own / "python"), "-m", "pip", "install", "-q", "--no-deps", str(wheel)]
    assert subprocess.run(install, capture_output=True, text=True, timeout=240).returncode == 0
    # the dependencies of the running environment, which the new one lacks, come after its own packages
    packages = next(path for path in map(str, sys.path) if path.endswith("site-packages"))
    (next((tmp_path / "venv" / "lib").glob("python*")) / "site-packages" / "others.pth").write_text(packages)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [
        str(own / "eval_summaries"),
        str(data),
        *ALL,
        "--metrics",
        "mss,boc,bor,rouge",
        "--out",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    found = pd.read_csv(tmp_path / "out" / "scores.csv").set_index(["system", "id"])
    for place, scores in expected(["mss", "boc"]).items():
        for key, value in scores.items():
            assert found.loc[place, key] == pytest.approx(value, abs=1e-6)
    command = [str(own / "baseline_summaries"), "lead", str(data), "--documents", "article", "--out", "lead.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0 and len((tmp_path / "lead.jsonl").read_text().splitlines()) == 16, done.stderr
    code = "import eval_summaries as e; print(e.__file__, e.load('boc', characters=['A']).score(['A'], ['A']))"
    command = [str(own / "python"), "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240)
    assert str(tmp_path / "venv") in done.stdout and "'boc_f1': [1.0]" in done.stdout, done.stderr
