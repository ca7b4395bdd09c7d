"""Cases with known answers, in the manner of evaluate's metric folders; compared to 1e-4."""

test_cases = [
    {  # figure 1 of SummScreen: one of six pairs
        "predictions": ["Sheldon and Leonard play a board game. Leonard and Sheldon win."],
        "references": ["Sheldon and Leonard play a board game until Amy and Penny are tired of it."],
        "options": {"characters": ["Sheldon", "Leonard", "Amy", "Penny"]},
        "result": {"bor_precision": 1.0, "bor_recall": 1 / 6, "bor_f1": 2 / 7},
    },
    {  # the dot of "Dr." ends no sentence; the second example has no pair and is left out
        "predictions": ["They met Dr. House. Wilson left.", "House slept."],
        "references": ["Dr. House met Wilson.", "Wilson slept."],
        "options": {"characters": {"House": ["Dr. House"], "Wilson": []}},
        "result": {"bor_precision": 0.0, "bor_recall": 0.0, "bor_f1": 0.0},
    },
]
