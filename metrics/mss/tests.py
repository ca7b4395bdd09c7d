"""Cases with known answers, in the manner of evaluate's metric folders; compared to 1e-4."""

test_cases = [
    {  # one sentence is its own summary
        "predictions": ["The old bridge was closed after the storm."],
        "references": ["The old bridge was closed after the storm."],
        "result": {"mss": 1.0, "mss_compression": 1.0},
    },
    {  # a blank summary, and one of several documents blank
        "predictions": ["", "A cat sleeps."],
        "references": [["A cat sleeps."], ["A cat sleeps.", " "]],
        "result": {"mss": 0.5, "mss_compression": 1.0},
    },
]
