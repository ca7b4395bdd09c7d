"""Run metrics over examples, a chunk at a time; what the store already has is not scored again."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from .bertscore import BertScore
from .each import score_each
from .inputs import Example, Failure
from .outside import Bleu, Chrf, Rouge, TsSs
from .shared import characters, load_metric, options_of
from .stats import Stats
from .store import Store
from .table import UnusableError

if TYPE_CHECKING:
    from .engine import Engine

CHUNK = 16  # examples scored between two writes
NEEDS = {  # what each metric compares a summary with
    "sss": ("references",),
    "mss": ("documents",),
    "boc": ("references", "characters"),
    "bor": ("references", "characters"),
    "rouge": ("references",),
    "bleu": ("references",),
    "stats": ("documents",),
    "bertscore": ("references",),
    "chrf": ("references",),
    "tsss": ("references",),
}
OPTIONAL = ("bertscore", "chrf", "tsss")  # only when they are asked for: bertscore needs a package and a model
# Scores that fall where a summary is better; of all others higher is better, or neither.
LOWER_IS_BETTER = frozenset(
    {"sss_l2", "tsss", "stats_spelling_errors", "stats_repeated_3grams"}
    | {"stats_unsupported_numbers", "stats_unsupported_names"}
)
# Scores that say what a summary is like, and not how good it is.
NO_BETTER_SIDE = frozenset(
    f"stats_{name}"
    for name in (
        *("words", "sentences", "coverage", "density", "novel_1grams", "novel_2grams", "novel_3grams", "compression"),
        *("flesch_kincaid", "gunning_fog"),
    )
) | {"mss_compression"}
# Options of the metrics that shape the report of compute(), which this command does not use.
_LOST = {
    "use_aggregator": "the command gives the scores of every example and their means",
    "confidence": "the command gives 95% intervals",
    "return_signature": "the command gives signatures",
    "average": "the command gives the mean over the examples",
    "splitter": "a function cannot be given on a command line",
}

# {(system, id): {key: value}}
Scores = dict[tuple[str, str], dict[str, float]]


class Scorer(Protocol):
    """One metric with its options: made before anything is read, started before it scores."""

    name: str
    given: dict[str, Any]  # the options that were set

    @classmethod
    def options_of(cls, name: str) -> tuple[dict[str, Any], dict[str, str]]:
        """The options that there are, and those that would have no effect, with the reason."""

    def start(self, examples: list[Example]) -> None:
        """Load what is needed to score these examples; ``UnusableError`` where it cannot be had."""

    def sign(self, examples: list[Example]) -> str:
        """What these examples' scores depend on beside their texts."""

    def score(self, examples: list[Example]) -> dict[str, list[float]]:
        """Per-example values."""


class MetricScorer:
    """One of the four metrics, as ``evaluate`` loads it."""

    def __init__(self, name: str, options: dict[str, Any]):
        self.name, self.given = name, options
        try:
            self.metric = load_metric(name, options)
        except (TypeError, ValueError) as error:  # options that do not go together
            raise UnusableError(f"{name}: {error}") from None

    @classmethod
    def options_of(cls, name: str) -> tuple[dict[str, Any], dict[str, str]]:
        known = options_of(name)
        lost = {option: why for option, why in _LOST.items() if option in known}
        return {option: check for option, check in known.items() if option not in lost}, lost

    def start(self, examples: list[Example]) -> None:
        try:
            self.signature = self.metric.signature()
        except Exception as error:  # a model that cannot be had: hub, files, torch each raise their own
            chosen = ", ".join(f"{option}={value}" for option, value in self.given.items())
            raise UnusableError(f"{self.name}{f' ({chosen})' if chosen else ''}: {error}") from None

    def sign(self, examples: list[Example]) -> str:
        if not self._takes_characters():
            return self.signature
        people = [example.characters for example in examples]
        for_all = people[0] and all(one is people[0] for one in people)
        return self.metric.signature(characters=people[0] if for_all else people)

    def _takes_characters(self) -> bool:
        """Whether the characters are each example's, and not an option's."""
        return "characters" in NEEDS[self.name] and self.given.get("characters") is None

    def score(self, examples: list[Example]) -> dict[str, list[float]]:
        side = "documents" if "documents" in NEEDS[self.name] else "references"
        extra = {"characters": [e.characters for e in examples]} if self._takes_characters() else {}
        return self.metric.score([e.prediction for e in examples], [getattr(e, side) for e in examples], **extra)


SCORERS: dict[str, type[Scorer]] = {
    **dict.fromkeys(("sss", "mss", "boc", "bor"), MetricScorer),
    "rouge": Rouge,
    "bleu": Bleu,
    "stats": Stats,
    "bertscore": BertScore,
    "chrf": Chrf,
    "tsss": TsSs,
}


def check_shared_characters(people: list | dict, names: list[str], options: dict[str, dict[str, Any]]) -> None:
    """``UnusableError`` where a list of characters for all examples cannot be used by a metric that takes it."""
    for name in names:
        if "characters" in NEEDS[name]:
            try:
                characters.CharacterList(people, options.get(name, {}).get("ignore_case", False))
            except (TypeError, ValueError) as error:
                raise UnusableError(f"--characters: {error}") from None


def run(
    scorers: list[Scorer],
    examples: list[Example],
    store: Store | None,
    progress: Callable[[str, Any], Any],
    engine: "Engine | None" = None,
) -> tuple[Scores, list[Failure], dict[str, str]]:
    """Score all examples by all metrics, here or, of what the store lacks, on the engine.

    Returns:
        The scores; the rows that a metric could not score; the signature of each metric for those that it could.
    """
    scores: Scores = {(e.system, e.id): {} for e in examples}
    failures: list[Failure] = []
    signatures: dict[str, str] = {}
    for scorer in scorers:
        scorer.start(examples)
        basis, scored = scorer.signature, []
        # the same chunks in every run: a resumed one computes what an uninterrupted one would
        chunks = [examples[start : start + CHUNK] for start in range(0, len(examples), CHUNK)]
        elsewhere: dict[int, dict[str, float] | str] = {}
        if engine and engine.takes(scorer):
            known = store.find(scorer.name, basis, examples) if store else [None] * len(examples)
            missing = [e for e, result in zip(examples, known, strict=True) if result is None]
            for batch in progress(scorer.name, engine.score(scorer, missing)) if missing else []:
                if store:
                    store.add(scorer.name, basis, batch)
                elsewhere.update((id(example), result) for example, result in batch)
        for chunk in chunks if elsewhere else progress(scorer.name, chunks):
            found = store.find(scorer.name, basis, chunk) if store else [None] * len(chunk)
            found = [elsewhere.get(id(e), result) for e, result in zip(chunk, found, strict=True)]
            missing = [e for e, result in zip(chunk, found, strict=True) if result is None]
            fresh = iter(score_each(scorer.score, missing, lambda e: e.where or e.id) if missing else [])
            results = [next(fresh) if result is None else result for result in found]
            if store and missing:
                known = {id(example) for example in missing}
                pairs = zip(chunk, results, strict=True)
                store.add(scorer.name, basis, [pair for pair in pairs if id(pair[0]) in known])
            for example, result in zip(chunk, results, strict=True):
                if isinstance(result, str):
                    failures.append(Failure(example.id, example.system, f"{scorer.name}: {result}"))
                else:
                    scores[example.system, example.id].update(result)
                    scored.append(example)
        signatures[scorer.name] = scorer.sign(scored) if scored else basis
    return scores, failures, signatures


def needed(name: str) -> tuple[str, ...]:
    """The fields of an example that a metric's scores depend on."""
    return ("prediction", *NEEDS[name])
