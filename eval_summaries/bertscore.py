"""BERTScore (Zhang et al. 2020) by the package bert-score: as installed, on the English encoder of SSS and offline."""

import importlib.util
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .inputs import Example
from .outside import Option, Outside
from .shared import backends, models
from .shared import options as checks
from .store import digest
from .table import UnusableError

# The last of the embedded encoder's six layers: best on both sets that were tried. Spearman with similarity on STS17
# English (F1), layers 1 to 6: .733 .740 .762 .789 .792 .886; with relevance on SummEval (recall, one reference): .290
# .297 .303 .301 .308 .321 (python benchmarks/correlations.py --data FOLDER --layers).
LAYERS = 6
_PARTS = ("bertscore_precision", "bertscore_recall", "bertscore_f1")


def _text(name: str, value: Any) -> str | None:
    if value is not None and not (isinstance(value, str) and value.strip()):
        raise TypeError(f"{name}={value!r}: give a text")
    return value


def _language(name: str, value: Any) -> str | None:
    return None if value is None else checks.language_code(name, value)


def _layer(name: str, value: Any) -> int | None:
    return None if value is None else checks.whole_number(1)(name, value)


class BertScore(Outside):
    """Precision, recall and F1 over the token embeddings of one layer.

    A text longer than the model's window is cut there, by bert-score. Of several references each part is that of the
    best one, as in bert-score, or the mean.
    """

    OPTIONS = {
        "model_type": Option(None, _text),
        "num_layers": Option(None, _layer),
        "lang": Option(None, _language),
        "idf": Option(False, checks.flag),
        "rescale": Option(False, checks.flag),
        "baseline": Option(None, _text),
        "multi_reference": Option("best", checks.one_of("best", "mean")),
        "device": models.MODEL_OPTIONS["device"],
    }

    def __init__(self, name: str, options: dict[str, Any]):
        super().__init__(name, options)
        if importlib.util.find_spec("bert_score") is None:
            raise UnusableError("bertscore needs the package bert-score: pip install bert-score (the extra bertscore)")
        if isinstance(self.options["device"], tuple):
            raise UnusableError("bertscore.device: give one device, bert-score uses no more")
        if self.options["baseline"] and not self.options["rescale"]:
            raise UnusableError("bertscore.baseline would have no effect: set bertscore.rescale=true")
        if self.options["baseline"] and not Path(self.options["baseline"]).is_file():
            raise UnusableError(f"bertscore.baseline={self.options['baseline']}: there is no such file")

    def start(self, examples: list[Example]) -> None:
        """Load the model; with ``idf`` also count the tokens of all references of the run, so that all matter."""
        model, layers, lang = (self.options[name] for name in ("model_type", "num_layers", "lang"))
        embedded = model is None and lang is None
        if embedded:
            layers = layers or LAYERS
        elif model and Path(model).is_dir() and layers is None:
            raise UnusableError(
                f"bertscore.model_type={model}: give bertscore.num_layers too; bert-score knows the best layer of "
                "models by their published names alone"
            )
        references = [text for example in examples for text in example.references] if self.options["idf"] else None
        chosen = {"num_layers": layers, "lang": lang if lang or not self.options["rescale"] else "en"}
        chosen |= {"rescale_with_baseline": self.options["rescale"], "baseline_path": self.options["baseline"]}
        try:
            with _loadable(backends.folder_of(backends.EMBEDDED) if embedded else model) as place:
                self.scorer = self._load(place, chosen, references)
        except Exception as error:  # files, network, a layer that the model lacks: each library raises its own
            reason = models.reason_of(error)
            shown = ", ".join(f"bertscore.{name}={value}" for name, value in self.given.items())
            raise UnusableError(f"bertscore: cannot load its model ({shown or 'the embedded one'}): {reason}") from None
        tokenizer = self.scorer._tokenizer
        facts = {name: self.options[name] for name in ("idf", "rescale", "multi_reference")}
        # by content: the same path may hold other values in the next run
        baseline = self.options["baseline"]
        facts |= {"baseline": digest(Path(baseline).read_bytes().hex()) if baseline else None}
        facts |= {"model": backends.EMBEDDED if embedded else model or self.scorer.model_type}
        facts |= {"layers": self.scorer.num_layers, "weights": models.fingerprint(self.scorer._model, tokenizer)[:16]}
        facts |= {"window": tokenizer.model_max_length, "idf_from": digest(references) if references else None}
        facts |= {name: version(name) for name in ("bert-score", "torch", "transformers", "tokenizers")}
        self.signature = "|".join(["bertscore", *(f"{name}:{value}" for name, value in facts.items())])

    def _load(self, place: str | None, chosen: dict[str, Any], references: list[str] | None) -> Any:
        from bert_score import BERTScorer

        with models.quiet_loading(), models.loading_reports() as reports:
            # nthreads=0: bert-score would count in forked processes
            more = {"idf": True, "idf_sents": references, "nthreads": 0} if references else {}
            device = str(models.pick_device(self.options["device"]))
            scorer = BERTScorer(model_type=place, device=device, **chosen, **more)
        for _, report in reports:
            if missing := sorted(filter(models.matters, report["missing_keys"])):
                raise ValueError(f"its weights file lacks {len(missing)} tensors ({missing[0]}), made up at random")
        if chosen["rescale_with_baseline"]:
            scorer.baseline_vals  # noqa: B018 - ValueError where there is none, and not after an hour
        return scorer

    def score(self, examples: list[Example]) -> dict[str, list[float]]:
        """Per-example values."""
        if self.options["multi_reference"] == "best":
            found = self.scorer.score([e.prediction for e in examples], [e.references for e in examples])
            return {name: [float(value) for value in part] for name, part in zip(_PARTS, found, strict=True)}
        pairs = [(e.prediction, reference) for e in examples for reference in e.references]
        found = self.scorer.score(*(list(side) for side in zip(*pairs, strict=True)))
        result = {}
        for name, part in zip(_PARTS, found, strict=True):
            values = iter(part.tolist())
            result[name] = [sum(next(values) for _ in e.references) / len(e.references) for e in examples]
        return result


@contextmanager
def _loadable(place: str | None) -> Iterator[str | None]:
    """A name under which bert-score loads the model: it takes any path that has "t5" in it for a T5 model's."""
    folder = Path(place) if place else None
    if folder is None or not folder.is_dir() or not ("t5" in place or place.startswith("scibert")):
        yield place
        return
    if json.loads((folder / "config.json").read_bytes()).get("model_type") in ("t5", "mt5", "umt5"):
        yield place
        return
    with tempfile.TemporaryDirectory(prefix="bertscore-", dir=None) as above:
        link = Path(above) / "model"
        link.symlink_to(folder.resolve(), target_is_directory=True)
        if "t5" in str(link):
            raise ValueError(
                f"bert-score takes {link} for a T5 model, because of its name; set TMPDIR to another folder"
            )
        yield str(link)
