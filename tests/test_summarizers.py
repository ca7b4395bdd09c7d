"""The command baseline_summaries: what it reads, writes, refuses; and that eval_summaries takes what it writes."""

import json
import re
import subprocess
import sys

import pandas as pd
import pytest
import typer
from command import call as evaluate_call
from command import write, write_rows
from conftest import ROOT, SENTENCES
from summarizing import REFERENCES, TEXTS, call, make_stories, summaries

from eval_summaries.shared import texts
from eval_summaries.table import UnusableError
from summarizers import documents, output
from summarizers.cli import app


@pytest.fixture
def stories(tmp_path):
    """Two documents and their references as folders docs and refs."""
    return make_stories(tmp_path)


class TestFolders:
    def test_are_read_and_written_as_eval_summaries_reads_them(self, stories):
        docs, refs = stories / "docs", stories / "refs"
        for name in ("lead", "random", "bag-of-words", "oracle"):
            status, shown = call(name, "--documents", docs, "--references", refs, "--out", stories / name)
            assert (status, shown) == (0, ""), shown
            assert len(summaries(stories / name)) == 2
        lead = summaries(stories / "lead")
        assert (
            lead["storm_summary.txt"]
            == "The storm tore the roof off.\nIt rained all night.\nThe bridge was closed at dawn.\n"
        )
        # the third has 4 of the reference's 7 words and 3 of its bigrams; the first adds 2 words and costs 6
        assert summaries(stories / "oracle")["market_summary.txt"] == "Orr offered her a place on his ship.\n"
        sides = ["--documents", docs, "--references", refs, "--metrics", "rouge"]
        given = [part for name in ("lead", "oracle") for part in ("--summaries", stories / name)]
        status, shown = evaluate_call(*given, *sides, "--out", stories / "scores")
        assert status == 0, shown
        scores = pd.read_csv(stories / "scores" / "scores.csv").groupby("system")["rouge1"].mean()
        assert scores["oracle"] > scores["lead"]
        plan = json.loads((stories / "scores" / "run.json").read_text())
        assert plan["parameters"]["lead"]["summarization_parameters.json"]["summarizer"] == "lead"

    def test_what_cannot_be_used_is_listed_and_the_others_are_written(self, stories):
        write(stories / "docs" / "blank.txt", " \n\u200b")
        write(stories / "refs" / "blank.txt", "Nothing.")
        write(stories / "docs" / "alone.txt", "Nobody wrote of it.")
        write(stories / "docs" / "latin.txt", b"caf\xe9")
        status, shown = call(
            "lead", "--documents", stories / "docs", "--references", stories / "refs", "--out", stories / "out"
        )
        assert (
            status == 1
            and "Not summarized: 3" in shown
            and list(summaries(stories / "out")) == ["market_summary.txt", "storm_summary.txt"]
        )
        assert (
            "alone.txt" in shown and "blank.txt: the document is empty" in shown and "latin.txt is not utf-8" in shown
        )

    def test_a_byte_order_mark_is_no_text(self, stories):
        write(stories / "docs" / "storm.txt", b"\xef\xbb\xbfIt rained.\r\nDogs slept.")
        call("lead", "--documents", stories / "docs", "--out", stories / "out")
        assert summaries(stories / "out")["storm_summary.txt"] == "It rained.\nDogs slept.\n"

    def test_files_of_others_are_never_touched(self, stories):
        docs, out = stories / "docs", stories / "out"
        out.mkdir()
        write(out / "notes.txt", "mine")
        assert call("lead", "--documents", docs, "--out", out)[0] == 0
        assert call("random", "--documents", docs, "--out", out)[0] == 0  # its own are written anew
        before = summaries(out)
        write(out / "storm_summary.txt", "Corrected by hand.")
        status, shown = call("lead", "--documents", docs, "--out", out)
        assert status == 2 and "storm_summary.txt is there and was not written by this command, or was changed" in shown
        assert summaries(out) == {**before, "storm_summary.txt": "Corrected by hand."}
        assert (out / "notes.txt").read_text() == "mine"

    def test_a_folder_holds_one_run(self, stories):
        docs, out = stories / "docs", stories / "out"
        call("lead", "--documents", docs, "--out", out)
        (docs / "storm.txt").unlink()
        assert call("lead", "--documents", docs, "--out", out)[0] == 0
        assert list(summaries(out)) == ["market_summary.txt"]

    def test_nothing_is_written_where_writing_cannot_begin(self, stories, monkeypatch):
        """An interrupted run leaves its files, which the next one knows as its own."""
        docs, out, real = stories / "docs", stories / "out", output.write_whole
        call("random", "--documents", docs, "--out", out, "--seed", 5, "--sentences", 1)

        def breaks(path, text):
            if path.name == "storm_summary.txt":
                raise OSError("No space left on device")
            real(path, text)

        monkeypatch.setattr(output, "write_whole", breaks)
        status, shown = call("lead", "--documents", docs, "--out", out)
        assert status == 2 and "No space left" in shown
        monkeypatch.undo()
        assert call("lead", "--documents", docs, "--out", out)[0] == 0
        assert summaries(out)["storm_summary.txt"].startswith("The storm tore the roof off.")

    @pytest.mark.parametrize("name", SENTENCES)
    def test_any_language(self, name, tmp_path):
        (tmp_path / "docs").mkdir()
        write(tmp_path / "docs" / f"{name}.txt", SENTENCES[name])
        for limit in ("--words", "--sentences"):
            status, shown = call("bag-of-words", "--documents", tmp_path / "docs", "--out", tmp_path / "out", limit, 1)
            assert status == 0, shown
            (text,) = summaries(tmp_path / "out").values()
            assert text.strip() and (limit == "--words" or text.strip() == texts.without_format(SENTENCES[name]))


class TestTables:
    ROWS = [{"id": f"a/{name}", "article": TEXTS[name], "gold": [REFERENCES[name], "It rained."]} for name in TEXTS]

    def test_rows_go_to_eval_summaries_as_they_are(self, tmp_path):
        file = write_rows(tmp_path / "data.jsonl", self.ROWS)
        columns = ["--documents", "article", "--references", "gold", "--id", "id"]
        status, shown = call("oracle", file, *columns, "--out", tmp_path / "oracle.jsonl")
        assert (status, shown) == (0, "")
        rows = [json.loads(line) for line in (tmp_path / "oracle.jsonl").read_text().splitlines()]
        assert [(row["id"], row["system"], row["references"]) for row in rows] == [
            (row["id"], "oracle", row["gold"]) for row in self.ROWS
        ]
        given = ["--predictions", "summary", "--references", "references", "--documents", "document"]
        status, shown = evaluate_call(
            tmp_path / "oracle.jsonl", *given, "--system", "system", "--id", "id", "--metrics", "rouge,stats"
        )
        assert status == 0, shown

    def test_an_id_that_is_no_file_name_costs_its_document_only(self, tmp_path):
        file = write_rows(tmp_path / "data.jsonl", [*self.ROWS, {"id": 7, "article": "It rained."}])
        status, shown = call("lead", file, "--documents", "article", "--id", "id", "--out", tmp_path / "out")
        assert status == 1 and "'a/storm' cannot be the name of a file: give --out FILE.jsonl" in shown
        assert summaries(tmp_path / "out") == {"7_summary.txt": "It rained.\n"}

    def test_without_ids_a_row_is_its_place_and_damage_keeps_it(self, tmp_path):
        file = write(tmp_path / "data.csv", 'article\nIt rained.\n"He said ""no"".",too many\n\nDogs slept.\n')
        status, shown = call("lead", file, "--documents", "article", "--out", tmp_path / "out")
        assert status == 1 and "line 3 has 2 fields" in shown
        assert summaries(tmp_path / "out") == {"0_summary.txt": "It rained.\n", "2_summary.txt": "Dogs slept.\n"}

    def test_a_file_with_rows_of_others_is_never_touched(self, tmp_path):
        file, out = write_rows(tmp_path / "data.jsonl", self.ROWS), tmp_path / "out.jsonl"
        given = [file, "--documents", "article", "--id", "id", "--out", out]
        assert call("lead", *given)[0] == 0 and call("random", *given)[0] == 0
        with out.open("a") as opened:
            opened.write('{"system": "mine", "summary": "It rained."}\n')
        before = out.read_bytes()
        status, shown = call("lead", *given)
        assert status == 2 and "rows that this command did not write" in shown and out.read_bytes() == before

    def test_an_id_that_stands_there_twice(self, tmp_path):
        file = write_rows(tmp_path / "data.jsonl", [self.ROWS[0], self.ROWS[0]])
        status, shown = call("lead", file, "--documents", "article", "--id", "id", "--out", tmp_path / "out")
        assert status == 2 and "has the id 'a/storm' twice" in shown and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["lead"], "give --documents FOLDER"),
        (["lead", "--documents", "docs"], "give --out FOLDER"),
        (["lead", "--documents", "none", "--out", "out"], "there is no folder none"),
        (["lead", "none.csv", "--documents", "a", "--out", "out"], "there is no none.csv"),
        (["lead", "--documents", "docs", "--out", "docs"], "is the input"),
        (["lead", "docs/storm.jsonl", "--documents", "a", "--out", "docs/storm.jsonl"], "is the input"),
        (["lead", "--documents", "docs", "--out", "docs/storm.txt"], "is a file"),
        (["lead", "--documents", "refs/..", "--out", "out"], "has no file NAME.txt"),
        (["lead", "--documents", "docs", "--out", "out", "--id", "id"], "--id belongs to a file"),
        (["lead", "--documents", "docs", "--out", "out", "--words", "0"], "--words 0: give 1 or more"),
        (["lead", "--documents", "docs", "--out", "out", "--words", "3", "--sentences", "1"], "both limit the length"),
        (["lead", "--documents", "docs", "--out", "out", "--lang", "Arabic!"], "--lang='Arabic!'"),
        (["lead", "--documents", "docs", "--out", "out", "--encoding", "utf9"], "no such encoding"),
        (["oracle", "--documents", "docs", "--out", "out"], "needs --references"),
        (["oracle", "--documents", "docs", "--references", "gone", "--out", "out"], "there is no folder gone"),
    ],
)
def test_what_cannot_be_used_is_said_and_nothing_is_written(stories, monkeypatch, arguments, said):
    monkeypatch.chdir(stories)
    status, shown = call(*arguments)
    assert status == 2 and said in shown
    assert not (stories / "out").exists() and len(list((stories / "docs").iterdir())) == 2


def test_names_that_differ_by_white_space_alone_are_refused(tmp_path):
    for name in ("a.txt", "a .txt"):
        write(tmp_path / name, "It rained.")
    with pytest.raises(UnusableError, match="are the same name but for white space"):
        documents.read_folders(tmp_path)


@pytest.mark.slow
def test_the_module_is_the_command_and_help_loads_no_model(environment):
    code = "import sys; from summarizers.cli import app; app(['lead', '--help'], standalone_mode=False)"
    code += "; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip().endswith("False") and "--sentences" in done.stdout, done.stderr
    done = subprocess.run(
        [sys.executable, "-m", "summarizers", "lead"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2 and "give --documents" in done.stderr


def test_the_page_names_every_command_and_no_option_that_is_not_there():
    page = (ROOT / "docs" / "summarizers.md").read_text(encoding="utf-8")
    group = typer.main.get_command(app)
    commands = {**group.commands, "train sarabert": group.commands["train"].commands["sarabert"]}
    options = {option for command in commands.values() for part in command.params for option in part.opts}
    for name in commands:
        assert f"`{name}" in page or f"baseline_summaries {name}" in page, name
    # those of eval_summaries and of the scripts that the page shows
    others = {"--summaries", "--layout", "--predictions", "--system", "--data", "--work"}
    assert set(re.findall(r"--[a-z][a-z-]+", page)) <= options | others
