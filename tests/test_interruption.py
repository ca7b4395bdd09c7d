"""Runs that are killed, interrupted, or find damage."""

import json
import random
import signal
import sqlite3
import subprocess
import time

import pandas as pd
import pytest
from command import ALL, COLUMNS, ROWS, call
from conftest import ROOT


def many(copies):
    """The rows many times over, each with a text of its own: equal texts would be scored once."""
    return [
        {**row, "id": f"{row['id']}-{copy}", "summary": f"{row['summary']} Copy {copy}."}
        for copy in range(copies)
        for row in ROWS
    ]


def is_torn(line):
    """Whether a line was cut by a kill."""
    try:
        return not json.loads(line)
    except ValueError:
        return True


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.timeout(600)
class TestInterruption:
    def command(self, python, data, out, *more):
        return [
            python,
            "-m",
            "eval_summaries",
            str(data),
            *ALL,
            "--metrics",
            "boc,bor,sss",
            "--out",
            str(out),
            *map(str, more),
        ]

    def test_killed_ten_times_at_random_the_result_is_the_same(self, python, environment, tmp_path):
        rows = many(40)
        data, base = tmp_path / "data.jsonl", tmp_path / "scores.db"
        data.write_text("\n".join(json.dumps(row) for row in rows))
        quiet = dict(cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert subprocess.run(self.command(python, data, tmp_path / "whole"), **quiet).returncode == 0
        journal, kills, moments = tmp_path / "out" / "results.jsonl", 0, random.Random(7)
        while kills < 10:
            process = subprocess.Popen(self.command(python, data, tmp_path / "out", "--sqlite", base), **quiet)
            size = journal.stat().st_size if journal.exists() else -1
            while process.poll() is None and (journal.stat().st_size if journal.exists() else -1) <= size:
                time.sleep(0.002)  # it has begun to write
            time.sleep(moments.uniform(0, 0.05))
            if process.poll() is not None:
                break  # it was done before it could be killed
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
        assert kills == 10
        done = subprocess.run(self.command(python, data, tmp_path / "out", "--sqlite", base), **quiet)
        assert done.returncode == 0
        one, other = (
            pd.read_csv(tmp_path / out / "scores.csv").set_index(["system", "id"]) for out in ("whole", "out")
        )
        assert len(other) == len(rows) and other.index.is_unique
        pd.testing.assert_frame_equal(one, other, atol=1e-6, rtol=0)
        entries = [json.loads(line) for line in journal.read_text().splitlines() if line and not is_torn(line)]
        keys = [entry["key"] for entry in entries]
        assert len(keys) == len(set(keys)) == 3 * len(rows)
        with sqlite3.connect(base) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            (count,) = database.execute(
                "SELECT COUNT(*) FROM scores WHERE run = (SELECT MAX(run) FROM scores)"
            ).fetchone()
            assert count == len(rows) * 11

    def test_interrupted_by_the_user(self, python, environment, tmp_path):
        rows = many(60)
        data, journal = tmp_path / "data.jsonl", tmp_path / "out" / "results.jsonl"
        data.write_text("\n".join(json.dumps(row) for row in rows))
        command = self.command(python, data, tmp_path / "out")
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        while process.poll() is None and not (journal.exists() and journal.stat().st_size):
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 130 and b"give the same command again" in errors and b"Traceback" not in errors
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=240)
        assert done.returncode == 0 and len(pd.read_csv(tmp_path / "out" / "scores.csv")) == len(rows)

    def test_a_torn_last_line_is_scored_again(self, data, tmp_path):
        arguments = [data, *COLUMNS, "--metrics", "rouge", "--out", tmp_path / "out"]
        assert call(*arguments)[0] == 0
        journal, table = tmp_path / "out" / "results.jsonl", (tmp_path / "out" / "scores.csv").read_text()
        content = journal.read_bytes()
        journal.write_bytes(content[:-20])
        status, shown = call(*arguments)
        assert status == 0 and "1 line of" in shown and (tmp_path / "out" / "scores.csv").read_text() == table
        lines = content.splitlines()
        assert journal.read_bytes().splitlines() == [*lines[:-1], lines[-1][:-19], lines[-1]]
