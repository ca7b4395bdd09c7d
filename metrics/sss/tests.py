"""Cases with known answers, in the manner of evaluate's metric folders; compared to 1e-4."""

test_cases = [
    {  # a text against itself
        "predictions": ["The old bridge was closed after the storm."],
        "references": ["The old bridge was closed after the storm."],
        "result": {"sss": 1.0, "sss_cosine": 1.0, "sss_rouge": 1.0, "sss_l2": 0.0, "sss_frequency_ratio": 1.0},
    },
    {  # blank against text, blank against blank
        "predictions": ["", " "],
        "references": ["A cat sleeps.", ""],
        "result": {"sss": 0.5, "sss_cosine": 0.5, "sss_rouge": 0.5, "sss_frequency_ratio": 0.5},
    },
    {  # no word in common; the mean over two references
        "predictions": ["A cat sleeps.", "A cat sleeps."],
        "references": [["Trains were late."], ["Trains were late.", "A cat sleeps."]],
        "result": {"sss": 0.25, "sss_rouge": 0.25, "sss_frequency_ratio": 1.0},
    },
]
