"""The command line: read, score, compare, report."""

import importlib.util
import sqlite3
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from tqdm import tqdm

from . import history, report
from .agreement import agree, tables_of
from .agreement_tables import Found
from .better import compare_scores
from .comparison import Comparison, compare_systems
from .engine import Engine
from .files import check_sqlite
from .finished import read_finished
from .inputs import Inputs, read_characters, read_file, read_folders, read_parameters
from .options import Asked
from .outputs import write
from .ranking import mean_words, rank, shown_scores
from .result import Result
from .scoring import NEEDS, OPTIONAL, Scores, check_shared_characters, needed, run
from .store import Digest, Store
from .table import UnusableError
from .tables import LAYOUT_ADDS, LAYOUT_METRICS, keys_of, summarise
from .terminal import show, text
from .thresholds import broken
from .tracking import check_project

HELP = """Score summaries and compare systems.

Folders: NAME_summary.txt of each system, NAME.txt of the documents and of the references; characters are a file with
one name a line, aliases after a colon.

  eval_summaries --summaries new=out/new --summaries old=out/old --documents docs --metrics mss

A file (JSONL, JSON, CSV, TSV, Parquet, Excel, also with gzip, or a folder that datasets saved): options name its
columns.

  eval_summaries data.jsonl --predictions summary --references reference --system model --metrics sss,rouge

With --out results are kept by what they were computed from: the same command again goes on where it was, and one more
system or metric computes only what is new; --out alone, without an input, shows a finished run again and makes its
report.html anew. Exit status: 0 all scored, 1 some rows failed (they are listed), 2 the
arguments or the input cannot be used, 3 a limit of --fail-under or --fail-if-worse-than does not hold, 4 scored and
shown but not all of it could be written, 130 interrupted.
"""

SHOWN = 60  # more comparisons than these are not for a terminal

app = typer.Typer(add_completion=False, rich_markup_mode=None)


def _fitting(asked: Asked, inputs: Inputs) -> list[str]:
    """The metrics for which the first example has all that they need."""
    first = inputs.examples[0]
    return [name for name in NEEDS if all(getattr(first, need) is not None for need in asked.needs(name))]


def _names(asked: Asked, inputs: Inputs) -> list[str]:
    """The metrics that are asked for, or all that the input allows; ``UnusableError`` where it does not allow one."""
    fitting = _fitting(asked, inputs)
    added = LAYOUT_ADDS.get(asked.layout_name, ())
    if "bertscore" in added and not asked.names and importlib.util.find_spec("bert_score") is None:
        inputs.notes.append("the layout is without BERTScore, which needs the package: pip install bert-score")
        added = tuple(name for name in added if name != "bertscore")
    names = asked.names or [name for name in fitting if name not in OPTIONAL or name in added]
    usable = ", ".join(fitting) or "none"
    for name in names:
        for need in asked.needs(name):
            if all(getattr(example, need) is None for example in inputs.examples):
                raise UnusableError(f"{name} needs --{need}; with what is given these can be used: {usable}")
    if not names:
        raise UnusableError("no metric fits the input: give --references, --documents or --characters")
    for name in asked.options:
        if name not in names and not asked.names and asked.settings:
            if name in fitting:  # one that is only scored where it is asked for
                raise UnusableError(
                    f"options of {name} are set, and it is scored only where --metrics names it: add it"
                )
            raise UnusableError(f"options of {name} are set, and the input does not allow it; it allows {usable}")
    if asked.layout_name:
        missing = [name for name in LAYOUT_METRICS[asked.layout_name] if name not in names]
        if missing:
            raise UnusableError(f"--layout {asked.layout_name} needs the metrics {', '.join(missing)}: add them")
    return names


@app.command(help=HELP)
def main(
    file: Annotated[Path | None, typer.Argument(help="a file, or a folder that datasets saved")] = None,
    summaries: Annotated[list[str] | None, typer.Option(help="NAME=FOLDER of a system; may be repeated")] = None,
    predictions: Annotated[
        str | None, typer.Option(help="column of the summaries (predictions, unless another is named)")
    ] = None,
    references: Annotated[str | None, typer.Option(help="column, or folder, of the references")] = None,
    documents: Annotated[str | None, typer.Option(help="column, or folder, of the documents")] = None,
    characters: Annotated[
        str | None, typer.Option(help="column of names (a list, or parted by ;), or a file of names for all")
    ] = None,
    system: Annotated[str | None, typer.Option(help="column of the system's name")] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", help="column of the example's id; else its place in its system")
    ] = None,
    split: Annotated[str | None, typer.Option(help="split of a saved DatasetDict, or sheet of a workbook")] = None,
    metrics: Annotated[str, typer.Option(help=f"some of {', '.join(NEEDS)}, parted by commas")] = "",
    settings: Annotated[list[str] | None, typer.Option("--set", help="METRIC.OPTION=VALUE; may be repeated")] = None,
    config: Annotated[Path | None, typer.Option(help="YAML or TOML file, a section of options for each metric")] = None,
    human: Annotated[
        str | None, typer.Option(help="columns of ratings by people, parted by commas: how each score agrees with them")
    ] = None,
    encoding: Annotated[str, typer.Option(help="of text files")] = "utf-8",
    out: Annotated[Path | None, typer.Option(help="folder for the results; makes the run resumable")] = None,
    sqlite: Annotated[Path | None, typer.Option(help="database to which the run is added")] = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="with --out: also scores.parquet")] = False,
    plots: Annotated[bool, typer.Option("--plots", help="with --out: distributions and correlations as PNG")] = False,
    layout_name: Annotated[str | None, typer.Option("--layout", help="also a paper's table: summscreen, sss")] = None,
    drop_section_scores: Annotated[
        bool, typer.Option("--drop-section-scores", help="take the block 'Section Scores' out of the summaries")
    ] = False,
    sort: Annotated[
        str | None, typer.Option(help="score by which the systems are ranked (or words, their length)")
    ] = None,
    all_scores: Annotated[
        bool, typer.Option("--all-scores", help="rank by all scores, not by the primary one of each metric")
    ] = False,
    baseline: Annotated[str | None, typer.Option(help="system with which all others are compared")] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(help="SCORE=NUMBER: status 3 where a mean is lower; may be repeated"),
    ] = None,
    fail_if_worse_than: Annotated[
        str | None, typer.Option(help="system than which no other may be worse: else status 3")
    ] = None,
    report_page: Annotated[
        Path | None,
        typer.Option("--report", help="a page with ranking, tests and examples with evidence; --out has one anyway"),
    ] = None,
    report_examples: Annotated[int, typer.Option(min=0, help="examples that the report shows")] = 30,
    prune: Annotated[
        bool, typer.Option("--prune", help="with --out: delete kept scores that this run did not use")
    ] = False,
    ray: Annotated[
        str | None, typer.Option(help="score on Ray: local, auto (this machine's cluster) or HOST:PORT of its head")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="with --ray: processes that score; else all cores")] = None,
    gpus_per_worker: Annotated[float, typer.Option(min=0, help="with --ray: such as 1, or 0.5")] = 0,
    wandb: Annotated[str | None, typer.Option(help="project of Weights & Biases, where wandb is installed")] = None,
) -> None:
    """Run the command; see HELP."""
    given = dict(locals())  # the arguments, under the names that Asked has for them
    given["report"] = given.pop("report_page")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # what a terminal cannot show is replaced
            stream.reconfigure(errors="replace")
    console, errors = Console(emoji=False), Console(stderr=True, emoji=False)
    try:
        asked = Asked(**given)
        _check_outputs(asked)
        status = _again(console, errors, asked) if asked.is_again else _run(console, errors, asked)
    except KeyboardInterrupt:
        again = "; give the same command again to go on" if out else ""
        errors.print(f"interrupted{again}", soft_wrap=True)
        raise typer.Exit(130) from None
    except UnusableError as error:
        errors.print(f"error: {text(str(error))}", soft_wrap=True)
        raise typer.Exit(2) from None
    except (OSError, sqlite3.Error) as error:  # a full disk, say: what was scored so far is in the store
        kept = f"; what was scored so far is kept in {out}" if out else ""
        errors.print(f"error: {text(str(error))}{text(kept)}", soft_wrap=True)
        raise typer.Exit(2) from None
    if status:
        raise typer.Exit(status)


def _check_outputs(asked: Asked) -> None:
    """``UnusableError`` for what could not be written in the end, before anything is scored."""
    if asked.plots and importlib.util.find_spec("matplotlib") is None:
        raise UnusableError("--plots needs the package matplotlib: pip install matplotlib")
    if asked.report:
        report.check_page(asked.report)
    if asked.wandb:
        check_project(asked.wandb)
    if asked.sqlite:
        if asked.out and asked.sqlite.resolve().parent == asked.out.resolve():
            asked.out.mkdir(parents=True, exist_ok=True)
        try:
            check_sqlite(asked.sqlite)
        except sqlite3.Error as error:
            raise UnusableError(f"--sqlite {asked.sqlite}: {error}") from None


def _read(asked: Asked) -> tuple[Inputs, dict]:
    """The examples, and the parameter files beside them."""
    if asked.file:
        columns = {
            "predictions": asked.predictions or "predictions",
            "references": asked.references,
            "documents": asked.documents,
        }
        columns |= {"characters": asked.characters, "system": asked.system, "id": asked.id_column}
        found = read_file(asked.file, columns, asked.encoding, asked.split, asked.drop_section_scores, asked.humans)
        _check_ratings(found, asked.humans)
        return found, {}
    sides = [Path(side) if side else None for side in (asked.documents, asked.references)]
    people = read_characters(Path(asked.characters), asked.encoding) if asked.characters else None
    inputs = read_folders(asked.folders, *sides, asked.encoding, asked.drop_section_scores, people)
    return inputs, read_parameters(asked.folders, inputs)


def _check_ratings(inputs: Inputs, human: list[str]) -> None:
    """Note missing ratings; ``UnusableError`` for a column that has less than two."""
    for name in human:
        known, count = sum(e.ratings[name] == e.ratings[name] for e in inputs.examples), len(inputs.examples)
        if known < 2:
            raise UnusableError(f"--human {name}: of {count} rows {known} have a rating, and two are needed")
        if known < count:
            inputs.notes.append(f"{count - known} of {count} rows have no {name}: its agreement is without them")


def _run(console: Console, errors: Console, asked: Asked) -> int:
    """Do what was asked; returns the exit status."""
    inputs, parameters = _read(asked)
    _check_systems(asked, list(dict.fromkeys(example.system for example in inputs.examples)))
    names = _names(asked, inputs)
    people = inputs.examples[0].characters
    if people is not None and all(example.characters is people for example in inputs.examples):
        check_shared_characters(people, names, asked.options)
    scorers = [asked.scorer(name) for name in names]
    say = _say_to(errors)
    for told in inputs.notes:
        say(told)
    store = Store(asked.out, needed, say) if asked.out else None
    try:
        with Engine(asked.ray, asked.workers, asked.gpus_per_worker) if asked.ray else nullcontext() as engine:
            scores, unscored, signatures = run(scorers, inputs.examples, store, _bar, engine)
        failures = [*inputs.failures, *unscored]
        options = {scorer.name: {k: v if v == v else str(v) for k, v in scorer.given.items()} for scorer in scorers}
        plan = {"metrics": names, "options": options}
        plan |= {"signatures": signatures, "examples": len(inputs.examples)}
        plan |= {"parameters": parameters} if parameters else {}
        comparisons, rows = _compare(scores, store), summarise(scores)
        agreement = _agree(asked, scores, inputs) if asked.humans else None
        keys, sort = shown_scores(keys_of(scores), asked.sort, asked.all_scores, say)
        ranking = rank(rows, comparisons, mean_words(inputs.examples), keys, sort, asked.baseline)
        result = Result(
            asked, plan, signatures, scores, failures, rows, comparisons, ranking, agreement, inputs.examples
        )
        state = history.state_of(inputs.examples, names)
        if store:
            result.new = history.news([*history.read(asked.out), state])
        show(console, result)
        unwritten = write(result, store, state, say, _evidence_bar)
        _say_report(console, asked, unwritten)
    finally:
        if store:
            store.close()
    return _status(errors, result, unwritten)


def _again(console: Console, errors: Console, asked: Asked) -> int:
    """Show a finished run again; returns the exit status."""
    say = _say_to(errors)
    if not asked.out.is_dir():
        raise UnusableError(f"there is no folder {asked.out}: give a file, or --summaries NAME=FOLDER, to make it")
    store = Store(asked.out, needed, say)
    try:
        result, shown = read_finished(asked, lambda scores: _compare(scores, store), say)
        _check_systems(asked, result.ranking.systems)
        result.new = history.news(history.read(asked.out))
        show(console, result)
        report.write_pages(result, shown[: asked.report_examples], [asked.report or asked.out / report.PAGE])
        _say_report(console, asked, [])
    finally:
        store.close()
    return _status(errors, result, [])


def _status(errors: Console, result: Result, unwritten: list[str]) -> int:
    """Say what could not be written and which limits do not hold; returns the exit status."""
    asked = result.asked
    for what in unwritten:
        errors.print(f"error: not written: {text(what)}", soft_wrap=True)
    if unwritten and asked.out:
        errors.print("the same command again writes it, and scores nothing twice", soft_wrap=True)
    limits = broken(result.rows, result.comparisons, asked.limits, asked.fail_if_worse_than)
    for what in limits:
        errors.print(f"failed: {text(what)}", soft_wrap=True)
    return 4 if unwritten else 3 if limits else 1 if result.failures else 0


def _say_report(console: Console, asked: Asked, unwritten: list[str]) -> None:
    """Where the report is."""
    place = asked.report or (asked.out and asked.out / report.PAGE)
    if place and not any(str(place) in what for what in unwritten):
        console.print(text(f"Report: {place}"), soft_wrap=True)


def _say_to(errors: Console) -> Callable[[str], None]:
    def say(message: str) -> None:
        errors.print(f"note: {text(message)}", soft_wrap=True)

    return say


def _check_systems(asked: Asked, systems: list[str]) -> None:
    """``UnusableError`` where an option names a system that is not there."""
    for option, name in (("baseline", asked.baseline), ("fail-if-worse-than", asked.fail_if_worse_than)):
        if name is not None and name not in systems:
            raise UnusableError(f"--{option} {name}: there is no such system; there are {', '.join(systems)}")


def _evidence_bar(ids: list) -> Iterable:
    return tqdm(ids, desc="evidence", unit="example", delay=1, disable=None, file=sys.stderr)


def _bar(what: str, blocks: Iterable, total: int, unit: str = "example", delay: float = 0) -> Iterable:
    """Blocks as they are taken, with a bar of what is in them, and the time that the rest will take."""
    with tqdm(total=total, desc=what, unit=unit, delay=delay, disable=None, file=sys.stderr) as shown:
        for block in blocks:
            yield block
            shown.update(len(block))


def _compare(scores: Scores, store: Store | None) -> list[Comparison]:
    """The comparison of all systems; one that --out has of the same scores is not computed again."""

    def bar(blocks: Iterable, total: int) -> Iterable:
        return _bar("comparison", blocks, total, "resample", 1)

    def make() -> list[Comparison]:
        return compare_systems(scores, keys_of(scores), bar)

    if not store:
        return make()
    key = Digest("comparison 2")
    for place, values in scores.items():
        key.add([*place, values])
    return [Comparison(*found) for found in store.remember(key.hexdigest(), make)]


def _agree(asked: Asked, scores: Scores, inputs: Inputs) -> Found:
    """How the scores agree with people."""
    rated = tables_of(scores, inputs.examples, asked.humans)
    steps = lambda steps: tqdm(steps, desc="agreement", unit="step", delay=1, disable=None, file=sys.stderr)  # noqa: E731
    return Found(agree(rated, steps), compare_scores(rated))
