"""The texts that speed.py measures with: of a folder of data, or made up by a seed in the same sizes."""

import random
from pathlib import Path
from typing import NamedTuple

from samples import read_rows

PROSE = (
    "The river rose all night, and by dawn the old town stood under water. Dr. Amal counted 40 people in the school. "
    "“Nobody is missing,” she said. Would the bridge hold? The engineers, who had come at 5 a.m., did not know.\n"
)
_VOCABULARY = [f"{first}{last}" for first in ("bri", "sto", "ta", "re", "mo", "ke", "li", "pu") for last in (
    "dge", "rm", "ble", "ver", "on", "ttle", "ght", "mp", "ner", "lated", "wing", "se", "ther", "pping", "ck"
)] + PROSE.lower().split()  # fmt: skip


class Texts(NamedTuple):
    """Documents with the summaries of several systems; ``summaries[i]`` and ``references[i]`` belong to document i."""

    what: str
    documents: list[str]
    summaries: list[list[str]]
    references: list[str]

    def of(self, systems: int) -> "Texts":
        """The same documents with the summaries of so many systems alone."""
        return self._replace(summaries=[found[:systems] for found in self.summaries])

    def pairs(self) -> tuple[list[str], list[str]]:
        """Every summary, and beside it its document."""
        rows = zip(self.documents, self.summaries, strict=True)
        ours, theirs = zip(*((one, document) for document, found in rows for one in found), strict=True)
        return list(ours), list(theirs)

    def with_references(self) -> tuple[list[str], list[str]]:
        """Every summary, and beside it the reference of its document."""
        rows = zip(self.references, self.summaries, strict=True)
        ours, theirs = zip(*((one, reference) for reference, found in rows for one in found), strict=True)
        return list(ours), list(theirs)


def _sentence(rng: random.Random, mean: int) -> str:
    count = max(3, round(rng.gauss(mean, mean / 3)))
    return f"{' '.join(rng.choices(_VOCABULARY, k=count)).capitalize().rstrip('.')}."


def _summary(rng: random.Random, document: list[str], count: int, mean: int) -> str:
    """Half of it from the document, as systems write; no two alike."""
    own = [_sentence(rng, mean) for _ in range(count - count // 2)]
    return " ".join([*rng.sample(document, count // 2), *own])


def made_up(what: str, documents: int, length: int, systems: int, summary: int, mean: int, seed: int = 0) -> Texts:
    """Texts of our own: documents and summaries of so many sentences, of so many words in the mean."""
    rng, found = random.Random(seed), Texts(f"{what}, made up", [], [], [])
    for _ in range(documents):
        document = [_sentence(rng, mean) for _ in range(length)]
        found.documents.append(" ".join(document))
        found.summaries.append([_summary(rng, document, summary, mean) for _ in range(systems)])
        found.references.append(_summary(rng, document, summary, mean))
    return found


def news(data: Path | None, count: int) -> Texts:
    """So many news articles with the summaries of 16 systems: summeval.jsonl."""
    if data is None:
        return made_up("news", count, 22, 16, 3, 18)
    rows = read_rows(data / "summeval.jsonl", count)
    summaries = [[system["summary"] for system in row["systems"]] for row in rows]
    return Texts("summeval", [row["document"] for row in rows], summaries, [row["references"][0] for row in rows])


def stories(data: Path | None, count: int) -> Texts:
    """So many stories of some 5,000 words with 15 summaries each: squality_humaneval.jsonl."""
    if data is None:
        return made_up("stories", count, 330, 15, 14, 15)
    rows = read_rows(data / "squality_humaneval.jsonl", count)
    summaries = [[one["summary"] for question in row["questions"] for one in question["systems"]] for row in rows]
    references = [row["questions"][0]["references"][0] for row in rows]
    return Texts("squality_humaneval", [row["document"] for row in rows], summaries, references)


def random_pairs(count: int, words: int) -> list[tuple[str, str]]:
    """So many pairs of texts of so many words, of which two in three are in both."""
    rng = random.Random(0)
    return [tuple(" ".join(f"w{rng.randrange(words)}" for _ in range(words)) for _ in range(2)) for _ in range(count)]


def with_names(size: int, names: int) -> tuple[list[str], str]:
    """So many names, and a text of so many characters in which one word in seven is one of them."""
    rng = random.Random(0)
    listed = [f"{rng.choice(['Ka', 'Lo', 'Mi', 'Ve'])}{rng.choice(['ra', 'nu', 'sel'])}{n}" for n in range(names)]
    drawn = (rng.choice(listed if rng.random() < 1 / 7 else _VOCABULARY) for _ in range(size // 5))
    return listed, " ".join(drawn)[:size].rpartition(" ")[0]
