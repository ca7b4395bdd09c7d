"""Run metrics over examples, a chunk at a time; what the store already has is not scored again."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .bertscore import BertScore
from .each import parts, score_each
from .inputs import Example, Failure
from .outside import Bleu, Chrf, Rouge, TsSs
from .score_table import Scores
from .shared import characters, load_metric, options_of
from .stats import Stats
from .store import Store, digest
from .table import UnusableError

if TYPE_CHECKING:
    from .engine import Engine

# Examples are scored together, and written together, up to so many and so many characters of their texts: enough for
# the encoder to sort short ones by length, and not more than is soon scored again after an interruption.
CHUNK, CHUNK_TEXT = 1000, 250_000
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


class Scorer(Protocol):
    """One metric with its options: made before anything is read, started before it scores."""

    name: str
    given: dict[str, Any]  # the options that were set

    @classmethod
    def options_of(cls, name: str) -> tuple[dict[str, Any], dict[str, str]]:
        """The options that there are, and those that would have no effect, with the reason."""

    def start(self, examples: Sequence[Example]) -> None:
        """Load what is needed to score these examples; ``UnusableError`` where it cannot be had."""

    def sign(self, examples: Iterable[Example]) -> str:
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

    def start(self, examples: Sequence[Example]) -> None:
        try:
            self.signature = self.metric.signature()
        except Exception as error:  # a model that cannot be had: hub, files, torch each raise their own
            chosen = ", ".join(f"{option}={value}" for option, value in self.given.items())
            raise UnusableError(f"{self.name}{f' ({chosen})' if chosen else ''}: {error}") from None

    def sign(self, examples: Iterable[Example]) -> str:
        if not self._takes_characters():
            return self.signature
        known: dict[str, list | dict] = {}  # of equal lists, as of the examples of one document, one is enough
        people, for_all = [], True
        for example in examples:
            people.append(known.setdefault(digest(example.characters), example.characters))
            for_all = for_all and example.characters is people[0]
        return self.metric.signature(characters=people[0] if for_all and people[0] else people)

    def _takes_characters(self) -> bool:
        """Whether the characters are each example's, and not an option's."""
        return "characters" in NEEDS[self.name] and self.given.get("characters") is None

    def score(self, examples: list[Example]) -> dict[str, list[float]]:
        side = "documents" if "documents" in NEEDS[self.name] else "references"
        extra: dict[str, Any] = {}
        if self._takes_characters():
            people = [e.characters for e in examples]
            for_all = len(people) > 1 and people[0] and all(one is people[0] for one in people)
            extra["characters"] = people[0] if for_all else people  # one list is checked and compiled once
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


Result = dict[str, float] | str  # of an example: its scores, or why it has none
Scored = list[tuple[int, Example, Result]]  # with the example's place among all


def run(
    scorers: list[Scorer],
    examples: Sequence[Example],
    store: Store | None,
    progress: Callable[[str, Iterable[Scored], int], Iterable[Scored]],
    engine: "Engine | None" = None,
) -> tuple[Scores, list[Failure], dict[str, str]]:
    """Score all examples by all metrics, here or on the engine.

    Args:
        progress: wraps what a metric has scored, for a bar: (metric, chunks, examples in all) -> chunks.

    Returns:
        The scores; the rows that a metric could not score; the signature of each metric for those that it could.
    """
    scores = Scores((e.system, e.id) for e in examples)
    failures: list[Failure] = []
    signatures: dict[str, str] = {}
    for scorer in scorers:
        scorer.start(examples)
        failed: dict[int, Failure] = {}  # by place: an engine gives results in any order
        there = engine if engine and engine.takes(scorer) else None
        chunks = _there(there, scorer, examples, store) if there else _here(scorer, examples, store)
        for chunk in progress(scorer.name, chunks, len(examples)):
            for place, example, result in chunk:
                if isinstance(result, str):
                    failed[place] = Failure(example.id, example.system, f"{scorer.name}: {result}")
                else:
                    scores.put((example.system, example.id), result)
        failures += [failed[place] for place in sorted(failed)]
        scored = (example for place, example in enumerate(examples) if place not in failed)
        signatures[scorer.name] = scorer.sign(scored) if len(failed) < len(examples) else scorer.signature
    return scores, failures, signatures


def _kept(
    scorer: Scorer, examples: Sequence[Example], store: Store | None
) -> Iterator[tuple[Scored, list[tuple[int, Example]]]]:
    """Chunk by chunk, the same ones in every run: the examples with kept scores, and those without."""
    start = 0
    for chunk in parts(examples, Example.size, CHUNK_TEXT, CHUNK):
        found = store.find(scorer.name, scorer.signature, chunk) if store else [None] * len(chunk)
        whole = list(zip(range(start, start + len(chunk)), chunk, found, strict=True))
        kept = [(place, example, result) for place, example, result in whole if result is not None]
        yield kept, [(place, example) for place, example, result in whole if result is None]
        start += len(chunk)


def _keep(scorer: Scorer, scored: Scored, store: Store | None) -> Scored:
    if store and scored:
        store.add(scorer.name, scorer.signature, [(example, result) for _, example, result in scored])
    return scored


def _here(scorer: Scorer, examples: Sequence[Example], store: Store | None) -> Iterator[Scored]:
    """Everything, a chunk at a time: a resumed run computes what an uninterrupted one would."""
    for kept, missing in _kept(scorer, examples, store):
        found = score_each(scorer.score, [e for _, e in missing], Example.origin) if missing else []
        fresh = [(place, example, result) for (place, example), result in zip(missing, found, strict=True)]
        yield kept + _keep(scorer, fresh, store)


def _there(engine: "Engine", scorer: Scorer, examples: Sequence[Example], store: Store | None) -> Iterator[Scored]:
    """Everything: first what is kept, then what the engine has scored of the rest, as it comes."""
    places = array("q")
    for kept, missing in _kept(scorer, examples, store):
        places.extend(place for place, _ in missing)
        yield kept
    for batch in engine.score(scorer, ((place, examples[place]) for place in places), len(places)):
        yield _keep(scorer, [(place, examples[place], result) for place, result in batch], store)


def needed(name: str) -> tuple[str, ...]:
    """The fields of an example that a metric's scores depend on."""
    return ("prediction", *NEEDS[name])
