"""Run metrics over examples, a chunk at a time, into a journal from which an interrupted run goes on."""

import difflib
import hashlib
import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .inputs import Example, Failure, UnusableError
from .stats import Stats

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
}
OPTIONAL = ("bertscore",)  # needs a package and a model of its own: only when it is asked for
_HERE = Path(__file__).resolve().parent


def metric_folder(name: str) -> Path:
    """Where a metric's script is: inside the installed package, or beside it in a checkout."""
    inside = _HERE / "metrics" / name
    return inside if inside.is_dir() else _HERE.parent / "metrics" / name


def check_metrics(names: list[str]) -> list[str]:
    """The names, each once; ``UnusableError`` for an unknown one, with the nearest that is known."""
    for name in names:
        if name not in NEEDS:
            near = difflib.get_close_matches(name, NEEDS, n=1, cutoff=0.3)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise UnusableError(f"unknown metric {name!r}: {hint}The metrics are {', '.join(NEEDS)}")
    return list(dict.fromkeys(names))


class Scorer:
    """One metric with its options: per-example scores of a chunk, and a signature."""

    def __init__(self, name: str, options: dict[str, Any], examples: list[Example]):
        self.name, self.options = name, options
        if name in ("rouge", "bleu", "bertscore"):
            self._score, self.signature = {"rouge": _rouge, "bleu": _bleu, "bertscore": _bertscore}[name](options)
            return
        if name == "stats":
            stats = Stats(options, examples, metric_folder("mss"))
            self._score, self.signature = stats.score, stats.signature
            return
        import evaluate  # slow: not for --help, nor for an error in the arguments

        try:
            self.metric = evaluate.load(str(metric_folder(name)), **options)
            people = [example.characters or [] for example in examples]
            self.signature = self.metric.signature(**({"characters": people} if "characters" in NEEDS[name] else {}))
        except (TypeError, ValueError, OSError) as error:  # an option, or a model that cannot be had
            raise UnusableError(f"{name}: {error}") from None
        self._score = self._score_metric

    def _score_metric(self, examples: list[Example]) -> dict[str, list[float]]:
        side = "documents" if "documents" in NEEDS[self.name] else "references"
        extra = {"characters": [e.characters for e in examples]} if "characters" in NEEDS[self.name] else {}
        return self.metric.score([e.prediction for e in examples], [getattr(e, side) for e in examples], **extra)

    def score(self, examples: list[Example]) -> list[dict[str, float] | str]:
        """Scores of each example, or why it has none; a bad row does not take its neighbours with it."""
        try:
            scores = self._score(examples)
        except (TypeError, ValueError) as error:
            if len(examples) == 1:
                return [f"{self.name}: {error}"]
            return [result for example in examples for result in self.score([example])]
        return [{key: values[row] for key, values in scores.items()} for row in range(len(examples))]


def _rouge(options: dict[str, Any]) -> tuple[Callable, str]:
    """rouge-score's F1, the best reference for each kind."""
    from importlib.metadata import version

    from rouge_score.rouge_scorer import RougeScorer

    unknown = set(options) - {"use_stemmer"}
    if unknown:
        raise UnusableError(f"rouge: unknown option {sorted(unknown)[0]!r}: the option is use_stemmer")
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=bool(options.get("use_stemmer", False)))

    def score(examples: list[Example]) -> dict[str, list[float]]:
        found = [scorer.score_multi(example.references, example.prediction) for example in examples]
        return {kind: [float(scores[kind].fmeasure) for scores in found] for kind in ("rouge1", "rouge2", "rougeL")}

    return score, f"rouge|use_stemmer:{bool(options.get('use_stemmer', False))}|rouge-score:{version('rouge-score')}"


def _bleu(options: dict[str, Any]) -> tuple[Callable, str]:
    """sacrebleu's sentence BLEU of each example (effective order), over 100."""
    from importlib.metadata import version

    from sacrebleu import BLEU

    unknown = set(options) - {"tokenize", "lowercase"}
    if unknown:
        raise UnusableError(f"bleu: unknown option {sorted(unknown)[0]!r}: the options are tokenize, lowercase")
    try:
        scorer = BLEU(effective_order=True, **options)
    except (AssertionError, ValueError, KeyError) as error:
        raise UnusableError(f"bleu: {error}") from None

    def score(examples: list[Example]) -> dict[str, list[float]]:
        found = [scorer.sentence_score(example.prediction, example.references).score for example in examples]
        return {"bleu": [value / 100 for value in found]}

    chosen = "|".join(f"{name}:{value}" for name, value in sorted(options.items()))
    return score, f"bleu|sentence|effective_order{'|' + chosen if chosen else ''}|sacrebleu:{version('sacrebleu')}"


def _bertscore(options: dict[str, Any]) -> tuple[Callable, str]:
    """BERTScore (Zhang et al. 2020) by the package bert-score, where it is installed; the best reference counts."""
    if importlib.util.find_spec("bert_score") is None:
        raise UnusableError("bertscore needs the package bert-score: pip install bert-score")
    from importlib.metadata import version

    from bert_score import BERTScorer

    known = ("lang", "model_type", "num_layers", "device")
    unknown = set(options) - set(known)
    if unknown:
        raise UnusableError(f"bertscore: unknown option {sorted(unknown)[0]!r}: the options are {', '.join(known)}")
    chosen = options if "model_type" in options else {"lang": "en", **options}
    try:
        scorer = BERTScorer(**chosen)
    except (OSError, KeyError, ValueError, AssertionError) as error:
        raise UnusableError(f"bertscore: cannot load its model ({chosen}): {error}") from None

    def score(examples: list[Example]) -> dict[str, list[float]]:
        found = scorer.score([e.prediction for e in examples], [e.references for e in examples])
        names = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
        return {name: [float(value) for value in values] for name, values in zip(names, found, strict=True)}

    facts = "|".join(f"{name}:{value}" for name, value in sorted(chosen.items()))
    return score, f"bertscore|{facts}|{scorer.hash}|bert-score:{version('bert-score')}"


class Journal:
    """What a run has scored so far: one JSON line for each example and metric, on disk before the next chunk begins."""

    def __init__(self, folder: Path, plan: dict[str, Any]):
        self.path, plan_path = folder / "journal.jsonl", folder / "run.json"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if plan_path.exists():
                old = json.loads(plan_path.read_text(encoding="utf-8"))
                differing = sorted(name for name in {*old, *plan} if old.get(name) != plan.get(name))
                if differing:
                    raise UnusableError(
                        f"{folder} holds another run ({', '.join(differing)} differ): choose another --out or remove it"
                    )
            else:
                write_whole(plan_path, json.dumps(plan, ensure_ascii=False, indent=1))
            self.done: dict[tuple[str, str, str], dict | str] = {}
            if self.path.exists():
                content = self.path.read_bytes()
                whole = content[: content.rfind(b"\n") + 1]  # a line that a crash cut short is scored again
                if whole != content:
                    with open(self.path, "r+b") as file:
                        file.truncate(len(whole))
                # at "\n" alone: str.splitlines would also cut at U+2028, which JSON leaves in a string
                for line in whole.decode("utf-8").split("\n")[:-1]:
                    entry = json.loads(line)
                    self.done[entry["system"], entry["id"], entry["metric"]] = entry["result"]
        except OSError as error:
            raise UnusableError(f"cannot write to {folder}: {error.strerror or error}") from None

    def add(self, metric: str, examples: list[Example], results: list[dict | str]) -> None:
        """Write the results of a chunk; an OSError (a full disk) leaves the earlier ones whole."""
        lines = ""
        for example, result in zip(examples, results, strict=True):
            entry = {"system": example.system, "id": example.id, "metric": metric, "result": result}
            lines += json.dumps(entry, ensure_ascii=False) + "\n"
        with open(self.path, "ab") as file:
            file.write(lines.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        for example, result in zip(examples, results, strict=True):
            self.done[example.system, example.id, metric] = result


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(text.encode("utf-8"))
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def digest(examples: list[Example]) -> str:
    """What the examples are, for telling one run from another."""
    total = hashlib.sha256()
    for example in examples:
        total.update(json.dumps(vars(example), ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass"))
    return total.hexdigest()[:16]


def run(
    scorers: list[Scorer], examples: list[Example], journal: Journal | None, progress: Callable[[str, list], Any]
) -> tuple[dict[tuple[str, str], dict[str, float]], list[Failure]]:
    """Score all examples by all metrics; what the journal has is not scored again.

    Returns:
        {(system, id): {key: value}}, and the rows that a metric could not score.
    """
    done = journal.done if journal else {}
    scores: dict[tuple[str, str], dict[str, float]] = {(e.system, e.id): {} for e in examples}
    failures: list[Failure] = []
    for scorer in scorers:
        # the same chunks in every run: a resumed one computes what an uninterrupted one would
        chunks = [examples[start : start + CHUNK] for start in range(0, len(examples), CHUNK)]
        for chunk in progress(scorer.name, chunks):
            missing = [e for e in chunk if (e.system, e.id, scorer.name) not in done]
            if missing:
                results = scorer.score(missing)
                if journal:
                    journal.add(scorer.name, missing, results)
                else:
                    done.update({(e.system, e.id, scorer.name): r for e, r in zip(missing, results, strict=True)})
            for example in chunk:
                result = done[example.system, example.id, scorer.name]
                if isinstance(result, str):
                    failures.append(Failure(example.id, example.system, result))
                else:
                    scores[example.system, example.id].update(result)
    return scores, failures
