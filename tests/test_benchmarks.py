"""The benchmarks on real texts, on texts of our own: each change by hand, seeds, and the tables that are printed."""

import doctest
import json
import random
import sys
import time

import numpy as np
import pytest
import tiny
import torch
from conftest import ROOT

from metrics._shared.backends import load_backends
from metrics._shared.embedder import Embedder

sys.path.insert(0, str(ROOT / "benchmarks"))

import baselines
import changes
import check_cuda
import growth
import paper_tables
import perturbations
import profile_encoder
import samples
import scale
import speed
import speed_processes
import speed_texts
from changes import Base

TEXT = "Amy was late. Raj met Amy in 1999. He has not called."
OTHER = Base("Penny left.", "", "Then Penny left town.", names=[(0, 5, "Penny")])
BASE = Base(TEXT, "Amy met Raj.", "Amy Lee saw Raj when Amy was late.", other=OTHER)
BASE = BASE._replace(names=changes.names_of(BASE.text, BASE.document))


def change(name, base=BASE, seed=0):
    return changes.CHANGES[name](base, random.Random(seed))


class TestChanges:
    def test_every_one_is_made_by_its_seed_alone_and_changes_the_text(self):
        for name in changes.CHANGES:
            assert change(name) == change(name) != BASE.text, name
        assert len({change("words shuffled", seed=seed) for seed in range(9)}) > 1

    def test_repeats(self):
        assert change("words repeated", Base("one", "", "")) == "one one one"
        found = change("words repeated").split()
        assert len(found) == 12 + 2 * 2 and set(found) == set(TEXT.split())
        assert change("a sentence repeated", Base("One ran.", "", "")) == "One ran. One ran."

    def test_orders(self):
        assert change("words shuffled", Base("b a", "", "")) == "a b"
        assert change("sentences shuffled", Base("One ran. Two sat.", "", "")) == "Two sat. One ran."
        assert change("sentences shuffled", Base("One ran.", "", "")) is None
        assert change("words shuffled", Base("one", "", "")) is None

    def test_less(self):
        assert change("a sentence dropped", Base("One ran. Two sat.", "", "")) in ("One ran.", "Two sat.")
        assert change("a sentence dropped", Base("One ran.", "", "")) is None
        assert change("cut in half") == "Amy was late. Raj met Amy"
        assert change("cut in half", Base("one", "", "")) is None

    def test_names(self):
        assert change("names swapped") == "Raj was late. Amy met Raj in 1999. He has not called."
        assert change("names of another text") == "Penny was late. Penny met Penny in 1999. He has not called."
        small = BASE._replace(text=TEXT.lower())  # names stay as the text writes them
        assert change("names swapped", small) == "raj was late. amy met raj in 1999. he has not called."
        alone = BASE._replace(names=BASE.names[:1])
        assert change("names swapped", alone) is None
        assert change("names of another text", BASE._replace(names=[])) is None
        assert change("names of another text", BASE._replace(other=BASE)) is None

    def test_numbers_keep_their_length_and_script(self):
        found = change("numbers changed", Base("In 1999 ٤٢ came, not 7.", "", ""))
        digits = [part.strip(".") for part in found.split()]
        assert len(digits[1]) == 4 and digits[1] != "1999" and digits[1].isascii()
        assert len(digits[2]) == 2 and digits[2] != "٤٢" and all("٠" <= digit <= "٩" for digit in digits[2])
        assert change("numbers changed", Base("None.", "", "")) == "None."

    @pytest.mark.parametrize(
        ("text", "lang", "expected"),
        [
            (TEXT, "en", "Amy was not late. Raj met Amy in 1999. He has called."),
            ("It does n't rain.", "en", "It does rain."),
            ("He isn't and was here.", "en", "He is and was here."),
            ("Raj met Amy.", "en", None),
            ("أكل سامي.", "ar", "ليس صحيحا أن أكل سامي."),
        ],
    )
    def test_negation(self, text, lang, expected):
        assert change("negated", Base(text, "", "", lang)) == expected

    def test_more(self):
        assert change("document appended") == f"{TEXT} {BASE.document}"
        assert change("document appended", BASE._replace(document=None)) is None
        assert change("another text") == "Penny left."


def test_only_what_changed_is_counted():
    found = perturbations.perturb([BASE, Base("None came.", "", "Nobody.", other=BASE)])
    assert set(found["numbers changed"]) == {0} and set(found["another text"]) == {0, 1}
    assert perturbations.worse([1.0, 1.0, 1.0], [1.5, 1.0, 0.5], rises=True) == pytest.approx((1 / 3, 1 / 3, 0, 3))


@pytest.fixture
def folder(tmp_path):
    """The files of the benchmarks, with texts of our own."""
    stories = [
        ("The river rose by 12 feet. Raj was at home. Amy left. Nobody was hurt.", "Raj was home when the river rose."),
        ("A school burned in Lund. Firemen came. It was 9 in the evening.", "A school in Lund burned."),
        ("Lee has won a race. It was his 3rd one. Penny cheered.", "Lee has won. Penny cheered."),
    ]
    rows = [
        {
            "document": document,
            "references": [summary, document[:30]],
            "systems": [{"summary": s, "human": {"fluency": len(s)}} for s in (summary, "Rain.")],
        }
        for document, summary in stories
    ]
    people = [{"name": name, "aliases": [name]} for name in ("Amy", "Raj", "Lee")]
    shows = [
        {"id": f"show-C{i // 2}E{i}", "recap_narrator": narrator, "recap_wiki": wiki, "characters": people}
        for i, (narrator, wiki) in enumerate(
            [("Amy met Raj.", "Amy and Raj met."), ("", "Lee ran."), ("Lee left.", "Lee left Amy."), ("Raj.", "Raj.")]
        )
    ]
    arabic = [{"document": "أكل سامي. نام علي.", "references": ["أكل سامي.", "نام علي."]}] * 2
    for name, content in (("summeval", rows), ("easc_arabic", arabic), ("crd3_recaps", shows)):
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in content)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def test_samples_are_drawn_by_seed_in_order(folder):
    path = folder / "summeval.jsonl"
    rows = samples.read_rows(path)
    drawn = samples.read_rows(path, 2)
    assert drawn == samples.read_rows(path, 2) and drawn == [row for row in rows if row in drawn]
    assert len(drawn) == 2 and samples.read_rows(path, 9) == rows
    assert samples.best_and_worst(rows[0]["systems"]) == ("Raj was home when the river rose.", "Rain.")


@pytest.mark.slow
def test_stress_test_prints_tables_without_a_model(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["perturbations.py", "--data", str(folder), "--fast"])
    perturbations.main()
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert "| words shuffled | 3 | .00 (1.00) | 1.00 " in printed  # ROUGE-1 sees no order, ROUGE-2 does
    assert sum(line.startswith("| another text | 3 | 1.00 ") for line in lines) >= 1
    assert "crd3_recaps, 3 texts" in printed and "`bor_f1`" in printed  # one narrator says nothing
    perturbations.main()
    assert capsys.readouterr().out == printed


def test_scale_of_kinds_and_of_recaps(folder, monkeypatch, capsys):
    rows = samples.read_rows(folder / "summeval.jsonl")
    kinds = scale.candidates(rows, "en")
    assert kinds["first 3 sentences of the document"][0] == "The river rose by 12 feet. Raj was at home. Amy left."
    assert kinds["the system's summary rated worst"] == ["Rain."] * 3
    assert all(ours != other for ours, other in zip(*list(kinds.values())[:: len(kinds) - 1], strict=True))
    monkeypatch.setattr(sys, "argv", ["scale.py", "--data", str(folder), "--only", "crd3_recaps"])
    scale.main()
    lines = capsys.readouterr().out.splitlines()
    assert "| the wiki's recap itself | 1.00 | 1.00 | 1.00 |" in lines
    # by hand: Amy and Raj of two, nobody of one, Lee of two, Raj of one
    narrator = next(line for line in lines if line.startswith("| the narrator's recap "))
    assert narrator.split(" | ")[1].startswith(".75 ") and narrator.split(" | ")[2].startswith(".62 ")


def test_paper_tables_are_met(capsys):
    found = {pair.table: paper_tables.recompute(pair) for pair in paper_tables.PAIRS}
    assert found["III.2"]["unique"] == pytest.approx(0.889, abs=5e-4)
    assert found["III.2"]["inverse"] == pytest.approx(1.667, abs=5e-4)
    assert found["III.2"]["sss_unique"] == pytest.approx(0.2024, abs=5e-5)
    assert found["X.21"]["ratio"] == pytest.approx(0.4138, abs=5e-5)
    paper_tables.main()
    printed = capsys.readouterr().out
    assert "| III.1 | 0.2222 | 0.2222 | 0.2220 |" in printed and "Algorithm 2" in printed


class TestBaselines:
    def test_names_are_whole_words_and_one_pattern_each(self):
        assert baselines.names(["Amy", "A. B."], "Amy met A. B. and Amyas; Amy left") == {"Amy": 2, "A. B.": 1}
        # by hand: 2 and 1 mentions against 1 and 1, of which 1 and 1 are shared
        assert baselines.boc_f1(["Amy", "Raj"], ["Amy, Amy, Raj"], ["Raj saw Amy"]) == [pytest.approx(4 / 5)]

    def test_forward_loop_gives_the_vectors_of_the_embedder_in_order(self, tmp_path):
        (backend,) = load_backends("en", str(tiny.make_encoder(tmp_path)), None, "cpu")
        texts = ["ab", "abc de", "a", "fgh ijk l"]
        ids = [piece.payload for parts in backend.split(texts) for piece in parts]
        for budget in (1, 12, 1000):
            found = baselines.forward(backend.model, ids, budget)
            np.testing.assert_allclose(found, Embedder([backend], 32, 0).encode(texts), atol=1e-5)

    def test_rouge_and_texts_that_are_made_up(self):
        pairs = speed_texts.random_pairs(3, 20)
        assert pairs == speed_texts.random_pairs(3, 20) and len(pairs[0][0].split()) == 20
        assert baselines.rouge([("a b", "a b"), ("a", "b")]) == [(1.0, 1.0, 1.0), (0.0, 0.0, 0.0)]
        made = speed_texts.made_up("news", 2, 9, 3, 2, 8)
        assert made == speed_texts.made_up("news", 2, 9, 3, 2, 8)
        assert [len(column) for column in made.pairs()] == [6, 6] and len(set(made.pairs()[0])) == 6
        assert made.of(1).with_references() == ([found[0] for found in made.summaries], made.references)
        listed, text = speed_texts.with_names(7000, 50)
        assert 100 < sum(baselines.names(listed, text).values()) < 300 and len(text) <= 7000


class TestSpeed:
    def row(self, check, **more):
        return speed.Row("work", "wait", lambda: time.sleep(0.002), lambda: time.sleep(0.02), check, **more)

    def test_sides_run_in_turn_after_the_check(self):
        checked = []
        found = speed.measure(self.row(lambda: checked.append(1), target=2.0, note=lambda s: f"{len(s)} runs"), 3)
        assert checked == [1] and len(found["ratios"]) == len(found["seconds"]["ours"]) == 3
        assert found["reached"] and found["low"] > 2 and found["note"] == "3 runs"
        assert speed.measure(self.row(lambda: None, target=0.9, least=False), 1)["reached"]

    def test_different_numbers_are_not_timed(self):
        with pytest.raises(SystemExit, match=r"MSS: the two sides differ by 0\.1"):
            speed.measure(self.row(lambda: speed._same("MSS", [0.5], [0.6])), 1)
        for wrong in ([0.5, 0.5], [float("nan")]):
            with pytest.raises(SystemExit):
                speed._same("SSS", [0.5], wrong)

    @pytest.mark.slow
    def test_table_of_few_texts(self, monkeypatch, capsys, tmp_path):
        few = speed_texts.made_up("news", 2, 6, 2, 2, 8)
        monkeypatch.setattr(speed_texts, "news", lambda data, count: few)
        monkeypatch.setattr(speed_texts, "stories", lambda data, count: few)
        place = tmp_path / "speed.json"
        for name in ("sss_rows", "encoder_rows", "names_rows"):  # bert-score takes seconds to load
            monkeypatch.setattr(speed, name, lambda given: iter(()))
        monkeypatch.setattr(sys, "argv", ["speed.py", "--quick", "--rounds", "1", "--only", "SS", "--json", str(place)])
        speed.main()
        lines, kept = capsys.readouterr().out.splitlines(), json.loads(place.read_text(encoding="utf-8"))
        assert len(lines) == 2 + len(kept["rows"]) and len(lines) == 7 and kept["quick"]
        assert all(row["median"] > 0 and line.startswith(f"| {row['work']} | {row['against']} | ")
                   for row, line in zip(kept["rows"], lines[2:], strict=True))  # fmt: skip

    @pytest.mark.thorough
    def test_loading_needs_no_torch(self):
        assert 0 < speed_processes.load_ratios(1)[0] < 0.5

    @pytest.mark.thorough
    def test_the_command_takes_longer_than_its_model(self):
        few = speed_texts.made_up("news", 2, 6, 2, 2, 8)
        assert speed_processes.command_ratios(few, 1)[0] > 1


def test_growth_of_small_texts():
    lines = list(growth.rows([growth.texts], scale=0.001))
    assert len(lines) == 6 and all(line.startswith("| ") and line.endswith(" times |") for line in lines)


class TestCuda:
    @pytest.fixture
    def small(self, monkeypatch, tmp_path):
        """The script with a tiny model."""
        folder = str(tiny.make_encoder(tmp_path))

        def load(lang, name, revision, device, dtype="float32"):
            return load_backends(lang, folder, revision, device, dtype)

        monkeypatch.setattr(check_cuda, "load_backends", load)
        return ["abc", "", "ab " * 300, "de"]

    def test_without_a_gpu_it_says_so(self, monkeypatch, capsys):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        assert check_cuda.run(None, ["abc"]) == 2 and "nothing was checked" in capsys.readouterr().out

    @pytest.mark.filterwarnings("ignore:dtype=")
    def test_vectors_that_are_far_fail(self, small):
        expected = Embedder(check_cuda.load_backends("en", None, None, "cpu"), 32, 0).encode(small)
        good, bad = check_cuda.Checks(), check_cuda.Checks()
        check_cuda.vectors(good, "cpu", small, expected)
        check_cuda.vectors(bad, "cpu", small, expected[::-1])
        assert good.failures == [] and len(bad.failures) == 5
        assert check_cuda.memory_of("cpu", lambda: None) is None


@pytest.mark.parametrize("module", [samples, scale, changes, perturbations, profile_encoder, speed, check_cuda])
def test_docstrings(module):
    assert doctest.testmod(module).failed == 0
