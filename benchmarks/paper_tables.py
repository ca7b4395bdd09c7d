"""Tables I to III and X of the paper on SSS, as far as they can be recomputed without its model.

    python benchmarks/paper_tables.py

Prints for each pair of texts ROUGE (mean F1 of ROUGE-1, -2 and -L) by both ways of counting, the ratio of the shares
of unique words, the score from the printed cosine and distance, and, where it is known, what the paper prints; and
below the table why they differ. The texts and numbers are short facts from Shames El Deen and Awad (arXiv:2608.20964),
restated here in logical order; nothing is read from elsewhere.
"""

import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from eval_summaries.shared import texts
from metrics.sss.sss import combine, frequency_ratio, mean_rouge


class Pair(NamedTuple):
    """A candidate, its reference, and what the paper prints of them; None where it prints nothing."""

    table: str
    candidate: str
    reference: str
    cosine: float | None = None
    l2: float | None = None
    rouge: float | None = None
    ratio: float | None = None


NIGHT = "علي يأكل الطعام في الليل"
CHILD = "تناول الولد تفاحة"
PUPIL = "أكل التلميذ سامي طعامه في المدرسة صباحا يوم الثلاثاء. طعامه كان تفاحة"
PAIRS = [
    Pair("I", "هو يتناول الطعام مساء", NIGHT, cosine=0.9074, rouge=0.0),
    Pair("II.1", "أكل الطفل قطة", CHILD, cosine=0.873, l2=5.989),
    Pair("II.2", "أكل الطفل فاكهة", CHILD, cosine=0.867, l2=5.686),
    Pair("III.1", "أكل الطفل تفاحة", CHILD, cosine=0.957, l2=3.637, rouge=0.222, ratio=1.0),
    Pair("III.2", "تناول تناول الولد تفاحة تفاحة", CHILD, cosine=0.93, l2=5.005, rouge=0.889, ratio=1.667),
]
# Table X: candidates against row 0, which rows 3 and 6 repeat.
TABLE_X = {
    0: PUPIL,
    1: "هرب",
    2: "أكل",
    4: PUPIL.replace("أكل", "تناول"),
    5: PUPIL.replace("أكل التلميذ", "تناول"),
    7: "أكل سامي",
    8: "أكل سامي تفاحة",
    9: "أكل سامي دجاجة",
    10: "أكل سامي طعاما",
    11: "أكل التفاح سامي",
    12: "أكلت سامية طعامها",
    13: "في المدرسة تناول سامي وجبة تفاح",
    14: "في المدرسة أكل سامي",
    15: "نهار الثلاثاء صباحا أكل سامي تفاحة",
    16: "فازت الممثلة جيسيكا بجائزة اوسكار",
    17: "كان يصوم معها حتى فهم أن ذلك يعني أنه لا يستطيع الأكل",
    18: "اسمح لي أن أساعدك في أمتعتك",
    19: "استيقظ سامي صباح يوم الثلاثاء متحمسا للذهاب الى المدرسة لانه يريد ان يتناول تفاحة هناك",
    20: " ".join(["أكل سامي تفاحة"] * 5),
    21: (
        "أكل أكل أكل أكل أكل أكل التلميذ سامي سامي سامي طعامه المدرسة المدرسة في المدرسة المدرسة صباحا يوم الثلاثاء "
        "يوم يوم يوم. طعامه كان تفاحة تفاحة تفاحة تفاحة تفاحة"
    ),
}
PAIRS += [Pair(f"X.{row}", text, PUPIL) for row, text in TABLE_X.items()]

HEADER = (
    "| row | ROUGE, unique | ROUGE, clipped | printed | ratio, min/max | max/min | printed | SSS, unique | clipped |"
)
WHY = """
- Cosine and distance are taken as printed: they are AraBERT's, whose weights are not part of this project. Table I
  prints no distance, and of Table X only the texts are restated, so these rows have no SSS.
- Table I prints a ROUGE of 0.0 for two texts that share a word (الطعام); with it ROUGE is .1481, as recomputed.
- Table III's second ROUGE is met only where each n-gram counts once (`rouge_counting="unique"`). The metric's default
  counts as rouge-score does, clipped; the two differ where a word is repeated.
- Table III prints 1.667 for the second ratio, which is max/min. Algorithm 2 of the paper divides min by max (.6), so
  that repetition lowers the score; the metric follows the algorithm.
- Table II's candidates share no word with the reference: ROUGE, and with it SSS, is 0 whatever the cosine.
- The ratios of Table X are over this project's words, without punctuation. Split at white space, the dot after يوم in
  row 21 would make it another word, and the ratio .4514."""


def recompute(pair: Pair) -> dict[str, float | None]:
    """What the texts and the printed parts give; None where a part is missing."""
    ours, theirs = texts.words(pair.candidate), texts.words(pair.reference)
    ratio = frequency_ratio(ours, theirs)
    found: dict[str, float | None] = {"ratio": ratio, "inverse": 1 / ratio}
    for counting in ("unique", "clipped"):
        found[counting] = mean_rouge(ours, theirs, counting)
        known = pair.cosine is not None and pair.l2 is not None
        found[f"sss_{counting}"] = combine(pair.cosine, found[counting], pair.l2, ratio) if known else None
    return found


def main() -> None:
    """Print the table, and why its columns differ."""
    print(f"{HEADER}\n|{'---|' * 9}")
    for pair in PAIRS:
        found = recompute(pair)
        values = [found["unique"], found["clipped"], pair.rouge, found["ratio"], found["inverse"], pair.ratio]
        values += [found["sss_unique"], found["sss_clipped"]]
        print(f"| {pair.table} | {' | '.join('' if value is None else f'{value:.4f}' for value in values)} |")
    print(WHY)


if __name__ == "__main__":
    main()
