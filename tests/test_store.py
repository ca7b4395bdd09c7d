"""Results kept by content: a run grows, computes nothing twice, and survives what happens to its files."""

import json
import os
import sqlite3
import subprocess

import pytest
from command import SHORT, call, scored, write, write_rows
from conftest import ROOT

from eval_summaries import files, scoring, store
from eval_summaries.outside import Rouge

ROWS = [
    {"model": m, "id": str(n), "p": f"{p} {n}", "r": f"the cat sat on mat {n}", "d": f"a cat sat. it was {n}."}
    for m, p in (("a", "the cat sat"), ("b", "a dog ran"))
    for n in range(5)
]


@pytest.fixture
def computed(monkeypatch):
    """The summaries that ROUGE scored, as they are scored."""
    seen, score = [], Rouge.score

    def spy(self, examples):
        seen.extend(example.prediction for example in examples)
        return score(self, examples)

    monkeypatch.setattr(Rouge, "score", spy)
    return seen


def run(path, out, *more, rows=ROWS, status=0):
    found = call(write_rows(path / "x.jsonl", rows), *SHORT, "--metrics", "rouge", "--out", out, *more)
    assert found[0] == status, found[1]
    return found[1]


class TestGrowth:
    def test_only_what_is_new_is_computed(self, tmp_path, computed):
        out = tmp_path / "out"
        run(tmp_path, out, rows=ROWS[:5])
        assert len(computed) == 5
        run(tmp_path, out, rows=ROWS[:5])
        assert len(computed) == 5  # nothing again
        run(tmp_path, out)
        assert computed[5:] == [row["p"] for row in ROWS[5:]]  # one more system
        del computed[:]
        run(tmp_path, out, rows=[{**ROWS[0], "r": "another"}, *ROWS[1:]])
        assert computed == [ROWS[0]["p"]]  # one changed text
        del computed[:]
        run(tmp_path, out, "--set", "rouge.use_stemmer=true")
        assert len(computed) == 10  # another option
        del computed[:]
        run(tmp_path, out, rows=[{**row, "id": f"new {row['id']}", "model": f"new {row['model']}"} for row in ROWS])
        assert computed == []  # other names, the same texts
        run(tmp_path, out, rows=ROWS)
        assert computed == [] and scored(out).index.get_level_values("system").unique().tolist() == ["a", "b"]

    def test_another_metric_beside_it(self, tmp_path, computed):
        run(tmp_path, tmp_path / "out")
        del computed[:]
        shown = run(tmp_path, tmp_path / "out", "--documents", "d", "--metrics", "rouge,bleu,stats")
        assert computed == [] and "bleu" in shown and "stats_compression" in shown

    def test_topics_depend_on_all_documents_and_are_computed_again(self, tmp_path):
        base = ["--documents", "d", "--metrics", "stats"]
        run(tmp_path, tmp_path / "out", *base, rows=ROWS[:3])
        run(tmp_path, tmp_path / "out", *base)
        run(tmp_path, tmp_path / "other", *base)
        assert scored(tmp_path / "out").equals(scored(tmp_path / "other"))

    def test_undefined_options_and_values_are_kept(self, tmp_path, monkeypatch):
        rows = [{**row, "p": "Amy", "r": "x", "c": ["Raj"]} for row in ROWS[:2]]
        base = ["--characters", "c", "--metrics", "boc", "--set", "boc.zero_division=.nan"]
        run(tmp_path, tmp_path / "out", *base, rows=rows)
        monkeypatch.setattr(scoring.MetricScorer, "score", None)  # it would fail
        run(tmp_path, tmp_path / "out", *base, rows=rows)
        assert scored(tmp_path / "out")["boc_f1"].isna().all()
        assert json.loads((tmp_path / "out" / "run.json").read_text())["options"]["boc"] == {"zero_division": "nan"}

    def test_failures_are_tried_again_and_their_list_goes(self, tmp_path, computed):
        rows = [ROWS[0], {**ROWS[1], "p": 5}]
        run(tmp_path, tmp_path / "out", rows=rows, status=1)
        assert (tmp_path / "out" / "failures.csv").exists()
        run(tmp_path, tmp_path / "out", rows=ROWS[:2])
        assert not (tmp_path / "out" / "failures.csv").exists() and len(computed) == 2

    def test_prune(self, tmp_path, computed):
        out = tmp_path / "out"
        run(tmp_path, out)
        with open(out / "results.jsonl", "ab") as file:
            file.write(b"\0\0 damaged\n{torn")
        run(tmp_path, out, "--prune", rows=ROWS[:3])
        lines = (out / "results.jsonl").read_text().splitlines()
        assert len(lines) == 3 and all(json.loads(line)["metric"] == "rouge" for line in lines)
        del computed[:]
        assert "cannot be read" not in run(tmp_path, out, rows=ROWS[:3]) and computed == []
        status, shown = call(tmp_path / "x.jsonl", *SHORT, "--prune")
        assert status == 2 and "--prune" in shown


DAMAGE = {
    "emptied": lambda lines: b"",
    "cut in a line": lambda lines: b"".join(lines)[:-30],
    "cut in a character": lambda lines: b"".join(lines) + '{"key": "é'.encode()[:-1],
    "without the last line end": lambda lines: b"".join(lines)[:-1],
    "a BOM before it": lambda lines: b"\xef\xbb\xbf" + b"".join(lines),
    "NULs at the end": lambda lines: b"".join(lines) + b"\0" * 512,
    "NULs inside": lambda lines: b"".join(lines[:3]) + b"\0" * 512 + b"".join(lines[3:]),
    "only NULs": lambda lines: b"\0" * 4096,
    "blank lines": lambda lines: b"\n\n".join(lines) + b"\n \n\t\n",
    "Windows line ends": lambda lines: b"".join(lines).replace(b"\n", b"\r\n"),
    "lines twice": lambda lines: b"".join([*lines, *lines[::-1]]),
    "lines in another order": lambda lines: b"".join(lines[::-1]),
    "a line missing": lambda lines: b"".join(lines[1:]),
    "a line joined to the next": lambda lines: b"".join(lines).replace(b"\n", b"", 1),
    "foreign JSON": lambda lines: b'{"a": 1}\n[1, 2]\n"text"\n5\nnull\n' + b"".join(lines),
    "foreign text": lambda lines: b"<html>\n" + b"".join(lines) + b"Traceback (most recent call last):\n",
    "binary": lambda lines: bytes(range(256)) + b"\n" + b"".join(lines),
    "UTF-16": lambda lines: b"".join(lines).decode().encode("utf-16"),
    "gzip": lambda lines: b"\x1f\x8b\x08\x00" + b"".join(lines)[:50],
    "a key that is a number": lambda lines: b'{"key": 5, "result": {"rouge1": 9}}\n' + b"".join(lines),
    "a result that is a text": lambda lines: b"".join(lines).replace(b'"result": {', b'"result": "x", "was": {', 2),
    "a result that is a list": lambda lines: b"".join(lines).replace(b'"result": {', b'"result": [], "was": {', 2),
    "a value that is a text": lambda lines: b"".join(lines).replace(b'"rouge1": ', b'"rouge1": "x", "was": ', 2),
    "a value that is a list": lambda lines: b"".join(lines).replace(b'"rouge1": ', b'"rouge1": [], "was": ', 2),
    "a score missing": lambda lines: b"".join(lines).replace(b'"rouge1": ', b'"was": ', 2),
    "a score too many": lambda lines: b"".join(lines).replace(b'"rouge1": ', b'"more": 1.0, "rouge1": ', 2),
    "nested too deep": lambda lines: b"[" * 100_000 + b"\n" + b"".join(lines),
    "a number too long": lambda lines: b'{"key": ' + b"9" * 5000 + b"}\n" + b"".join(lines),
    "a very long line": lambda lines: b"x" * 5_000_000 + b"\n" + b"".join(lines),
    "a value out of range": lambda lines: b"".join(lines).replace(b'"rouge1": ', b'"rouge1": 1e999, "was": ', 2),
    "a changed digit": lambda lines: b"".join(lines).replace(b'"rouge1": 0.', b'"rouge1": 0.9', 2),
}


# one of each kind is for the quick tests too
QUICK = ("emptied", "cut in a line", "without the last line end", "NULs inside", "lines twice", "foreign JSON")
QUICK += ("binary", "a line joined to the next", "a value that is a text", "a changed digit")


class TestDamage:
    @pytest.mark.parametrize(
        "damage", [pytest.param(kind, marks=[] if kind in QUICK else pytest.mark.slow) for kind in DAMAGE]
    )
    def test_no_wrong_score_and_no_traceback(self, damage, tmp_path):
        out = tmp_path / "out"
        run(tmp_path, out)
        before = {name: (out / name).read_bytes() for name in ("scores.csv", "scores.jsonl", "summary.md")}
        lines = (out / "results.jsonl").read_bytes().splitlines(keepends=True)
        content = DAMAGE[damage](lines)
        write(out / "results.jsonl", content)
        shown = run(tmp_path, out)
        assert {name: (out / name).read_bytes() for name in before} == before
        harmless = ("emptied", "without the", "a BOM", "blank", "Windows", "twice", "another order", "a line missing")
        assert ("cannot be read" in shown) != any(part in damage for part in harmless)
        assert "cannot be read" in run(tmp_path, out) or any(part in damage for part in harmless)
        assert {name: (out / name).read_bytes() for name in before} == before

    def test_what_follows_a_torn_line_is_kept(self, tmp_path, computed):
        out = tmp_path / "out"
        run(tmp_path, out, rows=ROWS[:5])
        content = (out / "results.jsonl").read_bytes()
        write(out / "results.jsonl", content[:-30])
        run(tmp_path, out, rows=ROWS[:5])
        del computed[:]
        run(tmp_path, out, rows=ROWS[:5])
        assert computed == []  # the new line did not join the torn one

    def test_files_that_are_gone(self, tmp_path, computed):
        out = tmp_path / "out"
        run(tmp_path, out)
        for name in ("run.json", "comparison.json", "scores.csv", ".lock"):
            (out / name).unlink()
        run(tmp_path, out)
        assert len(computed) == 10 and (out / "run.json").exists()

    def test_a_folder_that_is_not_ours(self, tmp_path):
        (tmp_path / "out").mkdir()
        write(tmp_path / "out" / "scores.csv", "years of work")
        shown = run(tmp_path, tmp_path / "out", status=2)
        assert "has a scores.csv that this command did not write" in shown
        assert (tmp_path / "out" / "scores.csv").read_text() == "years of work"

    def test_a_folder_of_version_0_1(self, tmp_path, computed):
        out = tmp_path / "out"
        out.mkdir()
        write(out / "journal.jsonl", '{"system": "a", "id": "0", "metric": "rouge", "result": {"rouge1": 0.123}}\n')
        write(
            out / "run.json",
            '{"input": "x", "metrics": ["rouge"], "signatures": {"rouge": "rouge|old"}}',
        )
        write(out / "scores.csv", "system,id,rouge1\na,0,0.123\n")
        assert "is of version 0.1" in run(tmp_path, out)
        assert len(computed) == 10 and 0.123 not in scored(out)["rouge1"].tolist()


@pytest.mark.slow
def test_two_runs_at_once(python, environment, tmp_path):
    """The second waits for the first, says so, and has nothing left to compute."""
    import filelock

    data, out = write_rows(tmp_path / "x.jsonl", ROWS), tmp_path / "out"
    out.mkdir()
    command = [python, "-m", "eval_summaries", str(data), *SHORT, "--metrics", "rouge", "--out", str(out)]
    with filelock.FileLock(out / ".lock"):
        second = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = second.stderr.readline()
        while said and b"waiting until it ends" not in said:
            said = second.stderr.readline()
        assert b"another run is using" in said and not (out / "results.jsonl").exists()
    output, errors = second.communicate(timeout=240)
    assert second.returncode == 0 and b"Traceback" not in errors and b"rouge1" in output
    assert len(scored(out)) == 10 and os.path.exists(out / ".lock")


def test_names_that_a_spreadsheet_or_a_terminal_would_obey(tmp_path):
    names = ["=1+1", "@x", "-5", "+SUM(A1)", "-a", "'=x", "a\x1b[31mb", "c\u202ed"]
    rows = [{"model": "=s", "id": name, "p": "a", "r": "a"} for name in names]
    shown = run(tmp_path, tmp_path / "out", rows=[*rows, {**rows[0], "id": "bad\x07", "p": 5}], status=1)
    assert "\x1b" not in shown and "\x07" not in shown and "bad\\x07" in shown
    lines = (tmp_path / "out" / "scores.csv").read_text().splitlines()
    assert [line[:9] for line in lines[1:5]] == ["'=s,'=1+1", "'=s,'@x,1", "'=s,-5,1.", "'=s,'+SUM"]
    # read back by this command they are what they were
    again = ["--predictions", "id", "--references", "id", "--id", "id", "--system", "system", "--metrics", "bleu"]
    assert call(tmp_path / "out" / "scores.csv", *again, "--out", tmp_path / "again")[0] == 0
    places = [json.loads(line) for line in (tmp_path / "again" / "scores.jsonl").read_text().splitlines()]
    assert [(place["system"], place["id"]) for place in places] == [("=s", name.removeprefix("'")) for name in names]


class TestWriting:
    def test_a_file_is_whole_or_as_it_was(self, tmp_path, monkeypatch):
        path, steps = tmp_path / "x.json", []
        store.write_whole(path, "old")
        replace = os.replace
        monkeypatch.setattr(os, "fsync", lambda file: steps.append("fsync"))
        monkeypatch.setattr(os, "replace", lambda *paths: (steps.append("replace"), replace(*paths)))
        store.write_whole(path, "new")
        assert steps == ["fsync", "replace"] and path.read_text() == "new"  # on the disk before it takes the place

        def full(file):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            store.write_whole(path, "newer")
        assert path.read_text() == "new" and os.listdir(tmp_path) == ["x.json"]

    def test_scores_reach_the_disk_chunk_by_chunk(self, tmp_path, monkeypatch):
        sizes, fsync = [], os.fsync
        out = tmp_path / "out"

        def spy(file):
            sizes.append((out / "results.jsonl").read_bytes().count(b"\n"))
            fsync(file)

        monkeypatch.setattr(os, "fsync", spy)
        monkeypatch.setattr(scoring, "CHUNK", 16)
        monkeypatch.setattr(scoring, "CHUNK_TEXT", 1000)
        rows = [{**ROWS[0], "id": str(n), "p": f"a cat {n}"} for n in range(35)]
        rows.append({**rows[0], "id": "long", "p": "a cat" * 200})
        run(tmp_path, out, rows=rows)
        assert sizes[:4] == [16, 32, 35, 36]  # the last ones are short, or long
        assert len(scored(out)) == len(rows)

    def test_a_run_is_in_a_database_whole_or_not_at_all(self, tmp_path):
        base = tmp_path / "x.db"
        files.write_sqlite(base, {}, {("a", "1"): {"k": 0.5}})
        with pytest.raises(sqlite3.Error):
            files.write_sqlite(base, {}, {("a", "1"): {"k": 0.5}, ("a", "2"): {"k": object()}})
        with sqlite3.connect(base) as database:
            counts = [database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in ("runs", "scores")]
        assert counts == [1, 1]

    def test_an_error_of_any_kind_stays_with_its_row(self, tmp_path, monkeypatch):
        score = Rouge.score

        def breaks(self, examples):
            if any("2" in example.prediction for example in examples):
                raise IndexError("index out of range in self")
            return score(self, examples)

        monkeypatch.setattr(Rouge, "score", breaks)
        shown = run(tmp_path, tmp_path / "out", status=1)
        assert "Not scored: 2" in shown and "x.jsonl, line 3: IndexError: index out of range in self" in shown
        assert len(scored(tmp_path / "out").dropna()) == 8
