"""BoC and BoR of invented recaps, as a row of SummScreen's table: BoC-p, BoC-r, BoR-p, BoR-r and their average, x 100.

    python examples/screenplay.py

The character lists come from the transcripts, as in the paper: whoever speaks before a colon. Full names are aliases.
"""

import re
from pathlib import Path

import evaluate

METRICS = Path(__file__).resolve().parent.parent / "metrics"

EPISODES = [
    {
        "transcript": (
            "Mara: The lighthouse is dark again.\nTobias: Then somebody has cut the cable.\n"
            "Ines: I saw Captain Orr there.\nOrr: You saw my brother.\n(A ship's horn.)\n"
            "Mara: There is no time. Tobias, take the boat!"
        ),
        "aliases": {"Orr": ["Captain Orr"], "Mara": ["Mara Lind"]},
        "reference": (
            "The lighthouse is dark, and Mara Lind suspects sabotage. Ines accuses Captain Orr, who blames his "
            "brother. Mara sends Tobias out in the boat."
        ),
        "systems": {
            "careful": "Ines accuses Orr of putting out the light. Mara sends Tobias out by boat.",
            "confused": "Tobias accuses Ines of putting out the light. Captain Orr and Mara take the boat.",
        },
    },
    {
        "transcript": (
            "Dr. Weiss: The letter is a forgery.\nInes: My father wrote it.\nTobias: Ines, look at the date.\n"
            "Dr. Weiss: He had been dead for a year."
        ),
        "aliases": {"Dr. Weiss": ["Weiss"]},
        "reference": "Dr. Weiss tells Ines that her father's letter is a forgery. Tobias shows Ines the date.",
        "systems": {
            "careful": "Dr. Weiss shows Ines that the letter is forged. Tobias noticed the date.",
            "confused": "A letter turns up. It was written by somebody long dead.",
        },
    },
]


def speakers(transcript: str) -> list[str]:
    """Names before a colon at the start of a line, each once."""
    return sorted(set(re.findall(r"^([^:\n]{1,40}):", transcript, flags=re.MULTILINE)))


def summscreen_row(predictions: list[str], references: list[str], characters: list[dict]) -> dict[str, float]:
    """The four figures of SummScreen and their plain mean, times 100."""
    texts = {"predictions": predictions, "references": references, "characters": characters}
    boc = evaluate.load(str(METRICS / "boc")).compute(**texts)
    bor = evaluate.load(str(METRICS / "bor")).compute(**texts)
    row = {
        "BoC-p": boc["boc_precision"],
        "BoC-r": boc["boc_recall"],
        "BoR-p": bor["bor_precision"],
        "BoR-r": bor["bor_recall"],
    }
    row["average"] = sum(row.values()) / 4
    return {name: 100 * value for name, value in row.items()}


if __name__ == "__main__":
    lists = [
        {name: episode["aliases"].get(name, []) for name in speakers(episode["transcript"])} for episode in EPISODES
    ]
    references = [episode["reference"] for episode in EPISODES]
    for number, system in enumerate(EPISODES[0]["systems"]):
        row = summscreen_row([episode["systems"][system] for episode in EPISODES], references, lists)
        if not number:
            print(f"{'':<10}" + "".join(f"{name:>9}" for name in row))
        print(f"{system:<10}" + "".join(f"{value:>9.1f}" for value in row.values()))
