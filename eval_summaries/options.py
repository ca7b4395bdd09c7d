"""What was asked: one object, checked before anything is read or loaded."""

import codecs
import difflib
import importlib.util
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import values
from .ranking import WORDS
from .rows import kind_of
from .scoring import NEEDS, SCORERS, Scorer
from .table import UnusableError
from .tables import LAYOUTS
from .thresholds import parse_limits

# What means nothing where a finished run is shown again.
_OF_INPUT = ("predictions", "references", "documents", "characters", "system", "id_column", "split", "metrics")
_OF_INPUT += ("settings", "config", "human", "sqlite", "parquet", "plots", "prune", "wandb", "ray")
_OF_INPUT += ("drop_section_scores",)
_OPTION = {"id_column": "id", "settings": "set"}  # where an option has another name than here


@dataclass
class Asked:
    """The command's arguments under the names of its options, and the scorers of the metrics that were named."""

    file: Path | None = None
    summaries: list[str] | None = None
    predictions: str | None = None
    references: str | None = None
    documents: str | None = None
    characters: str | None = None
    system: str | None = None
    id_column: str | None = None
    split: str | None = None
    metrics: str = ""
    settings: list[str] | None = None
    config: Path | None = None
    encoding: str = "utf-8"
    out: Path | None = None
    sqlite: Path | None = None
    parquet: bool = False
    plots: bool = False
    layout_name: str | None = None
    drop_section_scores: bool = False
    prune: bool = False
    wandb: str | None = None
    ray: str | None = None
    workers: int | None = None
    gpus_per_worker: float = 0
    human: str | None = None
    sort: str | None = None
    all_scores: bool = False
    baseline: str | None = None
    fail_under: list[str] | None = None
    fail_if_worse_than: str | None = None
    report: Path | None = None
    report_examples: int = 30
    names: list[str] = field(default_factory=list, init=False)
    options: dict[str, dict[str, Any]] = field(default_factory=dict, init=False)
    folders: dict[str, Path] = field(default_factory=dict, init=False)
    limits: dict[str, float] = field(default_factory=dict, init=False)
    humans: list[str] = field(default_factory=list, init=False)
    _scorers: dict[str, Scorer] = field(default_factory=dict, init=False)

    @property
    def is_again(self) -> bool:
        """Whether a finished run in --out is to be shown again, since no input is given."""
        return bool(self.out) and not self.file and not self.summaries

    def __post_init__(self):
        """Raise ``UnusableError`` for whatever can be told without reading or loading anything."""
        if self.is_again:
            needs_input = [name for name in _OF_INPUT if getattr(self, name)]
            if needs_input:
                option = _OPTION.get(needs_input[0], needs_input[0].replace("_", "-"))
                raise UnusableError(f"--{option} needs the input: give the file, or --summaries NAME=FOLDER")
        elif bool(self.file) == bool(self.summaries):
            raise UnusableError("give a file, or --summaries NAME=FOLDER (see --help)")
        if self.layout_name and self.layout_name not in LAYOUTS:
            raise UnusableError(f"--layout {self.layout_name}: give one of {', '.join(LAYOUTS)}")
        if (self.parquet or self.plots or self.prune) and not self.out:
            raise UnusableError("--parquet, --plots and --prune work in --out FOLDER: give it")
        if self.wandb and importlib.util.find_spec("wandb") is None:
            raise UnusableError("--wandb needs the package wandb: pip install wandb")
        if self.ray and importlib.util.find_spec("ray") is None:
            raise UnusableError('--ray needs the package Ray: pip install "ray[data]" (the extra ray)')
        if not self.ray and (self.workers or self.gpus_per_worker):
            raise UnusableError("--workers and --gpus-per-worker are for --ray: give it, or leave them out")
        if not math.isfinite(self.gpus_per_worker) or (self.gpus_per_worker > 1 and self.gpus_per_worker % 1):
            raise UnusableError(f"--gpus-per-worker {self.gpus_per_worker:g}: give a part of one, or a whole number")
        if self.split and self.summaries:
            raise UnusableError(f"--split {self.split}: folders of summaries have no splits")
        for option in ("predictions", "system", "id"):
            if self.summaries and getattr(self, "id_column" if option == "id" else option):
                raise UnusableError(f"--{option} names a column of a file: folders of summaries have none")
        self.humans = list(dict.fromkeys(name.strip() for name in (self.human or "").split(",") if name.strip()))
        if self.humans and self.summaries:
            raise UnusableError(f"--human {self.human} names columns of a file: folders of summaries have none")
        is_text = self.file is None or not (self.file.is_dir() or kind_of(self.file) in (".parquet", ".xlsx"))
        names_file = bool(self.characters) and Path(self.characters).is_file()
        if self.encoding != "utf-8" and not (is_text or names_file):
            raise UnusableError(f"--encoding {self.encoding}: {self.file} is no text file, leave it out")
        self.encoding = _encoding(self.encoding)
        self.folders = _folders(self.summaries or [])
        self.names = check_metrics([name.strip() for name in self.metrics.split(",") if name.strip()])
        self.options = self._options()
        if self.sort and self.sort != WORDS and not self.sort.startswith(tuple(self.names or NEEDS)):
            known = ", ".join(self.names or NEEDS)
            raise UnusableError(f"--sort {self.sort} is no score of {known}; give one of theirs, or {WORDS}")
        self.limits = parse_limits(self.fail_under or [], self.names)
        for name in self.options:
            if name in self.names or not self.names:
                self.scorer(name)  # what options mean together is checked by the metric itself

    def _options(self) -> dict[str, dict[str, Any]]:
        """Checked options of each metric: the configuration file's, overridden by --set."""
        given: dict[str, dict[str, tuple[str, values.Meant]]] = {}
        for name, section in (values.read_config(self.config) if self.config else {}).items():
            check_metrics([name], f"--config {self.config}: ")
            given[name] = {option: (f"--config {self.config}", meant) for option, meant in section.items()}
        for setting in self.settings or []:
            target, equals, value = setting.partition("=")
            name, dot, option = target.partition(".")
            if not equals or not dot or not option:
                raise UnusableError(f"--set {setting}: write METRIC.OPTION=VALUE, such as mss.doc_chunk_size=3")
            check_metrics([name], f"--set {setting}: ")
            if self.names and name not in self.names:
                raise UnusableError(f"--set {setting}: {name} is not among --metrics {self.metrics}")
            if given.setdefault(name, {}).get(option, ("",))[0].startswith("--set"):
                raise UnusableError(f"--set {setting}: {name}.{option} is set twice")
            given[name][option] = (f"--set {setting}", values.of_setting(value))
        return {name: self._checked(name, section) for name, section in given.items()}

    def _checked(self, name: str, section: dict[str, tuple[str, values.Meant]]) -> dict[str, Any]:
        known, lost = SCORERS[name].options_of(name)
        found = {}
        for option, (source, meant) in section.items():
            if option in lost:
                raise UnusableError(
                    f"{source}: {name}.{option} would have no effect here: {lost[option]}; leave it out"
                )
            if option not in known:
                near = difflib.get_close_matches(option, known, n=1)
                hint = f"did you mean {near[0]!r}? " if near else ""
                raise UnusableError(
                    f"{source}: {name}: unknown option {option!r}: {hint}The options are {', '.join(sorted(known))}"
                )
            try:
                found[option] = meant.accepted_by(known[option].check, f"{name}.{option}")
            except (TypeError, ValueError, OverflowError) as error:
                raise UnusableError(f"{source}: {error}") from None
            if option == "characters" and found[option] is not None:
                if self.characters:
                    raise UnusableError(f"{source}: --characters {self.characters} is given too; leave one out")
                if isinstance(found[option], list):  # checked names are a mapping
                    raise UnusableError(
                        f"{source}: {name}.characters are for all examples; name a column by --characters"
                    )
        return found

    def scorer(self, name: str) -> Scorer:
        """The scorer of a metric with its options; no model is loaded yet."""
        if name not in self._scorers:
            self._scorers[name] = SCORERS[name](name, self.options.get(name, {}))
        return self._scorers[name]

    def needs(self, name: str) -> list[str]:
        """What of the input a metric needs: its characters may be given as an option."""
        given = self.options.get(name, {})
        return [need for need in NEEDS[name] if need not in given or given[need] is None]


def check_metrics(names: list[str], source: str = "") -> list[str]:
    """The names, each once; ``UnusableError`` for an unknown one, with the nearest that is known."""
    for name in names:
        if name not in NEEDS:
            near = difflib.get_close_matches(name, NEEDS, n=1, cutoff=0.3)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise UnusableError(f"{source}unknown metric {name!r}: {hint}The metrics are {', '.join(NEEDS)}")
    return list(dict.fromkeys(names))


def _encoding(name: str) -> str:
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        raise UnusableError(f"--encoding {name}: there is no such encoding; give utf-8, latin-1, cp1256 …") from None
    if not getattr(found, "_is_text_encoding", True):
        raise UnusableError(f"--encoding {name} is no encoding of text; give utf-8, latin-1, cp1256 …")
    return name


def _folders(given: list[str]) -> dict[str, Path]:
    """NAME=FOLDER or FOLDER, whose own name is then the system's."""
    systems: dict[str, Path] = {}
    for value in given:
        name, _, folder = value.partition("=") if "=" in value else (Path(value).resolve().name, "", value)
        if not name or not folder or name in systems:
            raise UnusableError(f"--summaries {value}: give NAME=FOLDER, each name once")
        systems[name] = Path(folder)
    return systems
