"""Runs that are killed, interrupted, or find damage."""

import json
import os
import random
import re
import selectors
import signal
import sqlite3
import subprocess
import time

import pandas as pd
import pytest
from command import ALL, COLUMNS, ROWS, call, write_rows
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

    def test_killed_forty_times_while_it_grows_the_files_are_the_same(self, python, environment, tmp_path):
        """Systems are added between the kills; what is written in the end equals one uninterrupted run's, all bytes."""
        data, base, moments = tmp_path / "data.jsonl", tmp_path / "scores.db", random.Random(7)
        metrics = "sss,mss,boc,bor,rouge,bleu,stats"
        environment = {name: value for name, value in environment.items() if name != "PYTHONHASHSEED"}

        def server():  # each has a hash seed of its own
            return subprocess.Popen(
                [python, ROOT / "tests" / "killable.py"],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )

        def start(process, out, *more):
            arguments = [data, *ALL, "--metrics", metrics, "--set", "mss.alignment=hybrid", "--out", out, *more]
            process.stdin.write(json.dumps(list(map(str, arguments))) + "\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        rows = [  # 6 systems of 48 rows
            {**row, "model": f"{row['model']} {int(row['id'].split('-')[1]) // 6}"} for row in many(18)
        ]
        systems = list(dict.fromkeys(row["model"] for row in rows))
        kept, kills, there = tmp_path / "out" / "results.jsonl", 0, 1
        size = lambda: kept.stat().st_size if kept.exists() else -1  # noqa: E731
        process = server()
        while kills < 40 or there < len(systems):
            write_rows(data, [row for row in rows if row["model"] in systems[:there]])
            before, child = size(), start(process, tmp_path / "out", "--sqlite", base)
            done = selectors.DefaultSelector()
            done.register(process.stdout, selectors.EVENT_READ)
            while size() <= before and not done.select(0):
                time.sleep(0.002)  # it has begun to write
            if not done.select(moments.uniform(0, 0.2)):
                os.kill(child, signal.SIGKILL)
            status = int(process.stdout.readline())
            assert status in (-signal.SIGKILL, 0)
            kills += status != 0
            there = min(len(systems), there + (status == 0 or kills % 8 == 0))
            if kills % 10 == 0 and status:
                process.stdin.close()
                process.wait()
                process = server()
        write_rows(data, rows)
        for out in ("out", "whole"):
            start(process, tmp_path / out, "--sqlite", base)
            assert int(process.stdout.readline()) == 0
        process.stdin.close()
        process.wait()
        files = sorted(
            path.name
            for path in (tmp_path / "whole").iterdir()
            if path.name not in ("results.jsonl", "history.jsonl", ".lock")
        )
        assert {"scores.csv", "scores.jsonl", "summary.md", "summary.tex", "run.json", "comparison.json"} <= set(files)
        assert {"report.html", "report.json"} <= set(files)
        for name in files:
            grown, at_once = ((tmp_path / out / name).read_bytes() for out in ("out", "whole"))
            # what has come since the run before is said of the one that grew alone
            assert re.sub(rb'<p class="new" id="new">.*?</p>\n', b"", grown) == at_once, name
        entries = [json.loads(line) for line in kept.read_text().splitlines() if line and not is_torn(line)]
        assert len(entries) == len({entry["key"] for entry in entries}) == 7 * len(rows)
        with sqlite3.connect(base) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            counts = database.execute("SELECT COUNT(*) FROM scores GROUP BY run ORDER BY run").fetchall()
        assert counts[-2:] == [counts[-1]] * 2 and counts[-1][0] % len(rows) == 0

    def test_interrupted_by_the_user(self, python, environment, tmp_path):
        rows = many(60)
        data, journal = tmp_path / "data.jsonl", tmp_path / "out" / "results.jsonl"
        data.write_text("\n".join(json.dumps(row) for row in rows))
        command = self.command(python, data, tmp_path / "out")
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            # what a shell starts with & is deaf to it, and so are these tests' children then
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
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
