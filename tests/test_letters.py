"""What nobody sees changes no score of any metric: format characters in words, white space and marks in names."""

import re

import pytest
from conftest import SENTENCES, load
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_summaries.inputs import Example
from eval_summaries.outside import Rouge

HIDDEN = ["\u00ad", "\u200b", "\u2060"]
SPACES = [" ", "\n", "\r\n", "\t", "\u00a0", "\u2003", "\u3000", "  ", "\u2029"]
PAIRS = [
    (
        "Gregory House met Amy. The old bridge was closed.",
        "Amy met Gregory House at the bridge. It was closed by Dr. Lee.",
    ),
    ("ذهب علي رضا مع سامي. أغلق الجسر القديم.", "التقى سامي علي رضا. أغلق الجسر القديم بعد العاصفة."),
    (SENTENCES["Hindi"], "पुराना पुल बंद है। तूफ़ान आया।"),
    ("王明和李华去了北京。他们很高兴。", "王明去了北京。李华留在家里。"),
    (SENTENCES["Russian"] + " Анна-Мария ушла.", "Анна-Мария закрыла мост. Буря."),
    ("می‌روم به خانه. کتاب را می‌خوانم.", "به خانه می‌روم."),
]
NAMES = ["Gregory House", "Amy", "علي رضا", "سامي", "王明", "李华", "Анна-Мария", "Dr. Lee"]
OPTIONS = {"mss": {"alignment": "hybrid"}, "boc": {"characters": NAMES}, "bor": {"characters": NAMES}}


def hide(data, text):
    """The text with format characters at some places inside its words."""
    places = [match.start() + 1 for match in re.finditer(r"\w(?=\w)", text)]
    chosen = data.draw(st.lists(st.sampled_from(places), max_size=6, unique=True))
    for place in sorted(chosen, reverse=True):
        text = text[:place] + data.draw(st.sampled_from(HIDDEN)) + text[place:]
    return text


@pytest.fixture(scope="module")
def metrics():
    return {name: load(name, **OPTIONS.get(name, {})) for name in ("sss", "mss", "boc", "bor")}


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
@settings(max_examples=15)
@given(data=st.data())
def test_hidden_characters_change_no_score(metrics, pair, data):
    dirty = [hide(data, text) for text in pair]
    for metric in metrics.values():
        clean = metric.score([pair[0]], [pair[1]])
        found = metric.score([dirty[0]], [dirty[1]])
        for key, values in clean.items():
            assert found[key] == pytest.approx(values, abs=1e-6, nan_ok=True), key
    rouge = Rouge("rouge", {"parts": True})
    scores = [rouge.score([Example("1", "s", one, [other])]) for one, other in (pair, dirty)]
    assert scores[0] == scores[1] and scores[0]["rouge1"][0] > 0


@pytest.mark.slow
@settings(max_examples=100)
@given(data=st.data())
def test_any_white_space_stands_for_any_other_in_a_name(metrics, data):
    names = [name.replace(" ", data.draw(st.sampled_from(SPACES))) for name in NAMES]
    for one, other in PAIRS[:2]:
        for name in NAMES:
            spaced = name.replace(" ", data.draw(st.sampled_from([s for s in SPACES if s != "\u2029"])))
            one, other = one.replace(name, spaced), other.replace(name, spaced)
        for metric in ("boc", "bor"):
            found = metrics[metric].score([one], [other], characters=names)
            clean = metrics[metric].score(*([text] for text in PAIRS[0 if "Amy" in one else 1]))
            assert found == clean
    (one, other) = PAIRS[0]
    evidence = metrics["boc"].explain(one.replace("y H", "y\r\n H"), other, characters=names)
    ((start, end),) = next(places["prediction"] for name, places in evidence["mentions"].items() if "House" in name)
    assert one.replace("y H", "y\r\n H")[start:end] == "Gregory\r\n House"


def test_places_in_explain_refer_to_the_text_as_given(metrics):
    texts = "The har\u00adbour  was\u200b closed. ﬁne", "A harbour was fi\u2060ne"
    evidence = metrics["sss"].explain(*texts)["references"][0]
    assert evidence["shared"] == ["harbour", "was", "fine"]
    for side, text in zip(("prediction", "reference"), texts, strict=True):
        found = [text[start:end] for start, end in evidence["places"][side]]
        assert [re.sub("[\u00ad\u200b\u2060]", "", word).replace("ﬁ", "fi") for word in found] == [
            "harbour",
            "was",
            "fine",
        ]
