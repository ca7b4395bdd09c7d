"""Cases with known answers, in the manner of evaluate's metric folders; compared to 1e-4."""

test_cases = [
    {  # figure 1 of SummScreen: two of four characters
        "predictions": ["Sheldon and Leonard play a board game. Leonard and Sheldon win."],
        "references": ["Sheldon and Leonard play a board game until Amy and Penny are tired of it."],
        "options": {"characters": ["Sheldon", "Leonard", "Amy", "Penny"]},
        "result": {"boc_precision": 1.0, "boc_recall": 0.5, "boc_f1": 2 / 3},
    },
    {  # an alias; nobody named in the second prediction
        "predictions": ["Dr. House calls Wilson.", "They wait."],
        "references": ["House and Wilson meet.", "House waits."],
        "options": {"characters": {"House": ["Dr. House"], "Wilson": []}},
        "result": {"boc_precision": 0.5, "boc_recall": 0.5, "boc_f1": 0.5},
    },
]
