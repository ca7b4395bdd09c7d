"""Nearest neighbours and the content selector: answers by hand, slow ways beside the fast, bad input."""

import json
import math
import random
from collections import Counter

import numpy as np
import pytest
from command import write, write_rows
from conftest import ROOT, SENTENCES
from summarizing import call, make_stories, summaries
from tiny import make_summarizer

from eval_summaries.shared import texts
from summarizers.nearest import Index, by_characters, lines, mean_rouge, reference_to_transcript
from summarizers.select import select

TRANSCRIPT = [
    "AMY: Hello.",
    "RAJ: The old bridge is closed.",
    "AMY: Since when?",
    "RAJ: Since the storm.",
    "PENNY: I bought tea.",
    "RAJ: Hm.",
    "AMY: Penny, sit down.",
]


def slow_bm25(bags, query, k1=1.5, b=0.75):
    """Lucene's BM25 by its formula."""
    mean, total = sum(map(len, bags)) / len(bags), len(bags)
    scores = []
    for bag in bags:
        score, counts = 0.0, Counter(bag)
        for word in query:
            df = sum(word in other for other in bags)
            idf = math.log(1 + (total - df + 0.5) / (df + 0.5))
            score += idf * counts[word] / (counts[word] + k1 * (1 - b + b * len(bag) / mean))
        scores.append(score)
    return scores


class TestIndex:
    def test_bm25_is_the_formula(self):
        draw = random.Random(1)
        found = [" ".join(draw.choices("abcdefg", k=draw.randint(1, 9))) for _ in range(20)]
        index = Index(found, "bm25")
        for query in ("a", "b c c", "x", "g x a", ""):
            expected = slow_bm25([text.split() for text in found], query.split())
            assert index.scores(query) == pytest.approx(expected, abs=1e-5)

    @pytest.mark.parametrize("by", ["bm25", "rouge"])
    def test_texts_without_a_word_or_a_shared_one(self, by):
        for found in (["!!!", "..."], ["Amy left.", "Raj slept."]):
            assert Index(found, by).nearest("Owls", 2) == [0, 1]
            assert not Index(found, by).scores("").any()

    @pytest.mark.parametrize("name", SENTENCES)
    @pytest.mark.parametrize("by", ["bm25", "rouge"])
    def test_any_language_finds_itself(self, name, by):
        everything = list(SENTENCES.values())
        if texts.words(SENTENCES[name]):
            assert everything[Index(everything, by).nearest(SENTENCES[name])[0]] == SENTENCES[name]

    def test_rouge_by_hand(self):
        # 1 of 2 words, no bigram, 1 in the longest common subsequence
        assert mean_rouge(["amy", "left"], ["amy", "slept"]) == pytest.approx(1 / 3)
        with pytest.raises(ValueError, match="give bm25 or rouge"):
            Index(["a"], "letters")

    def test_characters_by_hand(self):
        people = {"Amy": [], "Raj": ["Rajesh"], "Penny": []}
        found = ["Amy met Rajesh.", "Amy left. Raj slept.", "It rained.", "Penny met Amy."]
        # BoC F1 1, 1, 0, 1/2; BoR F1 1, 0 (no pair in a sentence), 0, 0
        assert by_characters("Raj saw Amy.", found, people) == pytest.approx([1, 0.5, 0, 0.25])
        assert not np.isnan(by_characters("It rained.", found, people)).any()


@pytest.mark.parametrize("by", ["bm25", "rouge"])
class TestTranscripts:
    def test_each_sentence_fetches_a_line(self, by):
        reference = ["Penny bought tea.", "The bridge is closed.", "Penny had bought tea."]
        assert reference_to_transcript(TRANSCRIPT, reference, by) == [4, 1]

    def test_the_selector_keeps_what_is_around(self, by):
        assert select(TRANSCRIPT, ["The bridge is closed."], 1, 2, by) == [0, 1, 2, 3]
        assert select(TRANSCRIPT, ["Penny bought tea."], 1, 0, by) == [4]
        assert select(TRANSCRIPT, ["Penny bought tea.", "The bridge is closed."], 1, 1, by) == [0, 1, 2, 3, 4, 5]
        assert select(TRANSCRIPT, ["The bridge is closed."], 99, 0, by) == list(range(7))


def test_lines_or_sentences():
    assert lines("AMY: Hello. Sit.\n\n RAJ: No. \n") == ["AMY: Hello. Sit.", "RAJ: No."]
    assert lines("It rained. Amy left.") == ["It rained.", "Amy left."]


class TestCommand:
    @pytest.fixture
    def sides(self, tmp_path):
        """Two stories as training documents, and one that is like each."""
        make_stories(tmp_path)
        for folder, name, text in (
            ("new", "bridge", "\n".join(TRANSCRIPT)),
            ("newrefs", "bridge", "The old bridge is closed after a storm. Penny bought tea."),
        ):
            (tmp_path / folder).mkdir()
            write(tmp_path / folder / f"{name}.txt", text)
        training = ["--train-documents", tmp_path / "docs", "--train-references", tmp_path / "refs"]
        return [
            "--documents",
            tmp_path / "new",
            "--references",
            tmp_path / "newrefs",
            "--out",
            tmp_path / "out",
        ], training

    def test_all_three(self, sides, tmp_path):
        given, training = sides
        for by in ("bm25", "rouge"):
            assert call("nearest", "r2t", *given, "--by", by) == (0, "")
            assert summaries(tmp_path / "out")["bridge_summary.txt"] == f"{TRANSCRIPT[1]}\n{TRANSCRIPT[4]}\n"
            for how in ("t2t", "r2r"):
                assert call("nearest", how, *given, *training, "--by", by) == (0, "")
                assert summaries(tmp_path / "out")["bridge_summary.txt"] == "The bridge was closed after the storm.\n"

    def test_by_characters(self, tmp_path):
        rows = [
            {"doc": "AMY: Hello.", "ref": "Amy met Raj.", "who": ["Amy", "Raj", "Orr"]},
            {"doc": "ORR: Hello.", "ref": "Orr offered Mara a place.", "who": "Orr; Mara"},
        ]
        learned = [{"doc": "x", "ref": "Orr met Mara."}, {"doc": "y", "ref": "Raj left Amy."}]
        files = write_rows(tmp_path / "new.jsonl", rows), write_rows(tmp_path / "old.jsonl", learned)
        columns = ["--documents", "doc", "--references", "ref", "--characters", "who", "--by", "characters"]
        status, shown = call("nearest", "r2r", files[0], *columns, "--train", files[1], "--out", tmp_path / "out.jsonl")
        assert (status, shown) == (0, "")
        found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        assert [row["summary"] for row in found] == ["Raj left Amy.", "Orr met Mara."]
        assert found[0]["characters"] == ["Amy", "Raj", "Orr"]

    def test_select_writes_documents(self, sides, tmp_path):
        given, _ = sides
        assert call("select", *given, "--nearest", 1, "--context", 0) == (0, "")
        assert (tmp_path / "out" / "bridge.txt").read_text() == f"{TRANSCRIPT[1]}\n{TRANSCRIPT[4]}\n"

    def test_a_training_document_among_the_documents_is_said(self, sides, tmp_path):
        given = ["--documents", tmp_path / "docs", "--references", tmp_path / "refs", "--out", tmp_path / "out"]
        status, shown = call("nearest", "t2t", *given, *sides[1])
        assert status == 0 and "note: 2 of the documents are training documents too" in shown

    @pytest.mark.parametrize(
        "arguments, said",
        [
            (["nearest", "x2y"], "give r2t, t2t or r2r"),
            (["nearest", "t2t"], "give --train FILE, or --train-documents"),
            (["nearest", "t2t", "--train", "x.csv"], "--train FILE has the columns of FILE"),
            (["nearest", "r2t", "--by", "characters"], "give bm25 or rouge"),
            (["nearest", "r2r", "--by", "characters"], "needs --characters"),
            (["select", "--nearest", "0"], "--nearest is 1 or more"),
        ],
    )
    def test_what_cannot_be_used(self, sides, tmp_path, arguments, said):
        status, shown = call(*arguments, *sides[0])
        assert status == 2 and said in shown and not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_model_learns_from_what_was_selected(tmp_path, monkeypatch):
    """The example with a real Seq2SeqTrainer and a model of a few thousand weights, from the command to the recaps."""
    monkeypatch.syspath_prepend(ROOT / "examples")
    import train_recap

    harbour = ROOT / "examples" / "harbour"
    sides = ["--documents", harbour / "documents", "--references", harbour / "references"]
    assert call("select", *sides, "--nearest", 1, "--context", 1, "--out", tmp_path / "selected") == (0, "")
    model, tokenizer = make_summarizer()
    model.save_pretrained(tmp_path / "tiny")
    tokenizer.save_pretrained(tmp_path / "tiny")
    given = ["--documents", tmp_path / "selected", "--references", harbour / "references", "--out", tmp_path / "model"]
    given += ["--characters", harbour / "characters.txt", "--model", tmp_path / "tiny", "--epochs", 1, "--words", 20]
    trainer = train_recap.main([str(one) for one in given])
    logged = next(entry for entry in trainer.state.log_history if "eval_loss" in entry)
    for key in ("boc_precision", "boc_recall", "boc_f1", "bor_precision", "bor_recall", "bor_f1"):
        value = logged[f"eval_{key}"]
        assert 0 <= value <= 1 or math.isnan(value)
    assert len(summaries(tmp_path / "model" / "recaps")) == 1


@pytest.mark.slow
def test_the_benchmark_prints_summscreens_rows(tmp_path, monkeypatch, capsys):
    """On transcripts of our own, four episodes of two chunks: the columns, and the averages by hand."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import baseline_summarizers

    people = [{"name": name, "aliases": [name, "the guest"]} for name in ("Amy", "Raj", "Penny")]
    rows = [
        {
            "id": f"episode{episode}-chunk{chunk}",
            "document": "\n".join([*TRANSCRIPT, f"AMY: It is day {episode}."]),
            "references": [f"Amy told Raj of the old bridge. It was day {episode}. Penny bought tea."],
            "characters": people,
        }
        for episode in range(4)
        for chunk in range(2)
    ]
    write_rows(tmp_path / "crd3_dialogue.jsonl", rows)
    (tmp_path / "work").mkdir()
    baseline_summarizers.transcripts(tmp_path, tmp_path / "work")
    shown = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert shown[0][0] == "system" and len(shown) == 2 + 7
    found = {name: [float(value) for value in values] for name, *values in (shown[2:])}
    for values in found.values():
        assert values[4] == pytest.approx(sum(values[:4]) / 4, abs=0.1)
        assert values[9] == pytest.approx(sum(values[5:9]) / 4, abs=0.1)
    # another episode's recap has the same people
    assert found["nearest t2t, bm25"][5:] == [100.0] * 5 and found["nearest r2t, bm25"][0] < 100
