"""The command line: read, score, compare, report."""

import importlib.util
import sqlite3
import sys
from pathlib import Path
from typing import Annotated

import tomli
import typer
import yaml
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from tqdm import tqdm

from .compare import compare_systems
from .inputs import Failure, Inputs, UnusableError, read_characters, read_file, read_folders, read_parameters
from .plots import draw
from .report import (
    COMPARE_HEADERS,
    HEADERS,
    LAYOUTS,
    LEVEL,
    Row,
    as_table,
    cells_of,
    compare_cells,
    layout,
    markdown,
    summarise,
    write_files,
    write_sqlite,
)
from .scoring import NEEDS, OPTIONAL, Journal, Scorer, check_metrics, digest, run

HELP = """Score summaries and compare systems.

Folders: NAME_summary.txt of each system, NAME.txt of the documents and of the references; characters are a file with
one name a line, aliases after a colon.

  eval_summaries --summaries new=out/new --summaries old=out/old --documents docs --metrics mss

A file (JSONL, CSV, Parquet, or a folder that datasets saved): options name its columns.

  eval_summaries data.jsonl --predictions summary --references reference --system model --metrics sss,rouge

With --out a run that was interrupted goes on where it was when the same command is given again. Exit status: 0 all
scored, 1 some rows failed (they are listed), 2 the arguments or the input cannot be used, 130 interrupted.
"""

SHOWN = 60  # more comparisons than these are not for a terminal

app = typer.Typer(add_completion=False, rich_markup_mode=None)


def _folders(values: list[str]) -> dict[str, Path]:
    """NAME=FOLDER or FOLDER, whose own name is then the system's."""
    systems: dict[str, Path] = {}
    for value in values:
        name, _, folder = value.partition("=") if "=" in value else (Path(value).name, "", value)
        if not name or not folder or name in systems:
            raise UnusableError(f"--summaries {value}: give NAME=FOLDER, each name once")
        systems[name] = Path(folder)
    return systems


def _options(names: list[str], config: Path | None, settings: list[str]) -> dict[str, dict]:
    """Options of each metric: the configuration file's, overridden by --set."""
    options: dict[str, dict] = {}
    if config:
        try:
            content = config.read_text(encoding="utf-8")
            found = tomli.loads(content) if config.suffix == ".toml" else yaml.safe_load(content) or {}
        except (OSError, UnicodeDecodeError, yaml.YAMLError, tomli.TOMLDecodeError) as error:
            raise UnusableError(f"--config {config}: {error}") from None
        if not isinstance(found, dict) or not all(isinstance(value, dict) for value in found.values()):
            raise UnusableError(
                f"--config {config}: write a section for each metric, such as 'mss: {{doc_chunk_size: 3}}'"
            )
        options = {name: dict(section) for name, section in found.items()}
    for setting in settings:
        target, equals, value = setting.partition("=")
        name, dot, option = target.partition(".")
        if not equals or not dot or not option:
            raise UnusableError(f"--set {setting}: write METRIC.OPTION=VALUE, such as mss.doc_chunk_size=3")
        options.setdefault(name, {})[option] = yaml.safe_load(value)
    for name in options:
        check_metrics([name])
    return {name: options.get(name, {}) for name in names}


def _fitting(inputs: Inputs) -> list[str]:
    """The metrics for which the first example has all that they need."""
    first = inputs.examples[:1]
    return [name for name in NEEDS if first and all(getattr(first[0], need) is not None for need in NEEDS[name])]


def _without(inputs: Inputs, names: list[str]) -> None:
    """``UnusableError`` where a metric needs what the input does not have."""
    for name in names:
        for need in NEEDS[name]:
            if inputs.examples and all(getattr(example, need) is None for example in inputs.examples):
                usable = ", ".join(_fitting(inputs)) or "none"
                raise UnusableError(f"{name} needs --{need}; with what is given these can be used: {usable}")


def _print(console: Console, title: str, headers: list[str], cells: list[list[str]]) -> None:
    table = Table(title=title, title_justify="left")
    for number, header in enumerate(headers):
        table.add_column(header, justify="left" if number < 2 else "right", overflow="fold")
    for line in cells:
        table.add_row(*map(escape, line))
    console.print(table)


def _log(project: str, plan: dict, rows: list[Row], scores: dict) -> None:
    """Log means and the table of scores to Weights & Biases; one run for each system."""
    import wandb

    table = as_table(scores)
    for name in dict.fromkeys(row.system for row in rows):
        run = wandb.init(project=project, name=name, config=plan)
        run.log({row.key: row.mean for row in rows if row.system == name})
        run.log({"scores": wandb.Table(dataframe=table[table["system"] == name])})
        run.finish()


@app.command(help=HELP)
def main(
    file: Annotated[Path | None, typer.Argument(help="a file, or a folder that datasets saved")] = None,
    summaries: Annotated[list[str] | None, typer.Option(help="NAME=FOLDER of a system; may be repeated")] = None,
    predictions: Annotated[str, typer.Option(help="column of the summaries")] = "predictions",
    references: Annotated[str | None, typer.Option(help="column, or folder, of the references")] = None,
    documents: Annotated[str | None, typer.Option(help="column, or folder, of the documents")] = None,
    characters: Annotated[
        str | None, typer.Option(help="column of names (a list, or parted by ;), or file of names")
    ] = None,
    system: Annotated[str | None, typer.Option(help="column of the system's name")] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", help="column of the example's id; else its place in its system")
    ] = None,
    metrics: Annotated[str, typer.Option(help=f"some of {', '.join(NEEDS)}, parted by commas")] = "",
    settings: Annotated[list[str] | None, typer.Option("--set", help="METRIC.OPTION=VALUE; may be repeated")] = None,
    config: Annotated[Path | None, typer.Option(help="YAML or TOML file, a section of options for each metric")] = None,
    encoding: Annotated[str, typer.Option(help="of text files")] = "utf-8",
    out: Annotated[Path | None, typer.Option(help="folder for the results; makes the run resumable")] = None,
    sqlite: Annotated[Path | None, typer.Option(help="database to which the run is added")] = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="with --out: also scores.parquet")] = False,
    plots: Annotated[bool, typer.Option("--plots", help="with --out: distributions and correlations as PNG")] = False,
    layout_name: Annotated[str | None, typer.Option("--layout", help="also a paper's table: summscreen, sss")] = None,
    drop_section_scores: Annotated[
        bool, typer.Option("--drop-section-scores", help="take the block 'Section Scores' out of the summaries")
    ] = False,
    wandb: Annotated[str | None, typer.Option(help="project of Weights & Biases, where wandb is installed")] = None,
) -> None:
    """Run the command; see HELP."""
    given = dict(locals())  # the arguments, under the names that _run has for them
    console, errors = Console(), Console(stderr=True)
    try:
        failures = _run(console, **given)
    except KeyboardInterrupt:
        again = "; give the same command again to go on" if out else ""
        errors.print(f"interrupted{again}", soft_wrap=True)
        raise typer.Exit(130) from None
    except UnusableError as error:
        errors.print(f"error: {escape(str(error))}", soft_wrap=True)
        raise typer.Exit(2) from None
    except (OSError, sqlite3.Error) as error:  # a full disk, say: what was scored so far is in the journal
        errors.print(f"error: {escape(str(error))}; what was scored so far is kept", soft_wrap=True)
        raise typer.Exit(2) from None
    if failures:
        raise typer.Exit(1)


def _run(
    console: Console,
    file: Path | None,
    summaries: list[str] | None,
    predictions: str,
    references: str | None,
    documents: str | None,
    characters: str | None,
    system: str | None,
    id_column: str | None,
    metrics: str,
    settings: list[str] | None,
    config: Path | None,
    encoding: str,
    out: Path | None,
    sqlite: Path | None,
    parquet: bool,
    plots: bool,
    layout_name: str | None,
    drop_section_scores: bool,
    wandb: str | None,
) -> list[Failure]:
    if layout_name and layout_name not in LAYOUTS:
        raise UnusableError(f"--layout {layout_name}: give one of {', '.join(LAYOUTS)}")
    if (parquet or plots) and not out:
        raise UnusableError("--parquet and --plots write into --out FOLDER: give it")
    if wandb and importlib.util.find_spec("wandb") is None:
        raise UnusableError("--wandb needs the package wandb: pip install wandb")
    names = check_metrics([name.strip() for name in metrics.split(",") if name.strip()])
    if bool(file) == bool(summaries):
        raise UnusableError("give a file, or --summaries NAME=FOLDER (see --help)")
    parameters = {}
    if file:
        columns = {"predictions": predictions, "references": references, "documents": documents}
        inputs = read_file(file, {**columns, "characters": characters, "system": system, "id": id_column}, encoding)
    else:
        sides = [Path(side) if side else None for side in (documents, references)]
        folders = _folders(summaries)
        people = read_characters(Path(characters)) if characters else None
        inputs = read_folders(folders, *sides, encoding, drop_section_scores, people)
        parameters = read_parameters(folders)
    names = names or [name for name in _fitting(inputs) if name not in OPTIONAL]  # all that the input allows
    _without(inputs, names)
    if not names:
        raise UnusableError("no metric fits the input: give --references, --documents or --characters")
    scorers = [
        Scorer(name, options, inputs.examples) for name, options in _options(names, config, settings or []).items()
    ]
    plan = {
        "input": digest(inputs.examples),
        "metrics": names,
        "options": {scorer.name: scorer.options for scorer in scorers},
        "signatures": {scorer.name: scorer.signature for scorer in scorers},
    }
    if parameters:
        plan["parameters"] = parameters
    journal = Journal(out, plan) if out else None

    def progress(name: str, chunks: list) -> tqdm:
        return tqdm(chunks, desc=name, unit="chunk", disable=None, file=sys.stderr)

    scores, unscored = run(scorers, inputs.examples, journal, progress)
    failures = [*inputs.failures, *unscored]
    rows = summarise(scores)
    comparisons = compare_systems(scores, list(dict.fromkeys(row.key for row in rows)))
    if out:
        page = markdown(rows, comparisons, failures, plan["signatures"])
        write_files(out, inputs.examples, scores, page, rows, failures)
        if parquet:
            as_table(scores).to_parquet(out / "scores.parquet", index=False)
        if plots:
            draw(as_table(scores), out / "plots")
    if sqlite:
        write_sqlite(sqlite, plan, scores)
    _print(console, "Scores", HEADERS, [cells_of(row) for row in rows])
    if comparisons:
        differing = sum(found.adjusted < LEVEL for found in comparisons)
        title = f"Comparison of systems: {differing} of {len(comparisons)} differ (*)"
        if len(comparisons) <= SHOWN:
            _print(console, title, COMPARE_HEADERS, [compare_cells(found) for found in comparisons])
        else:
            console.print(f"{title}; all are in {out / 'summary.md' if out else 'summary.md with --out'}")
    if layout_name:
        headers, cells = layout(layout_name, rows)
        _print(console, f"In the layout of {layout_name}", headers, cells)
    if wandb:
        _log(wandb, plan, rows, scores)
    if failures:
        console.print(f"Not scored: {len(failures)}")
        for failure in failures:
            console.print(f"  {escape(f'{failure.system} {failure.id}: {failure.reason}')}", soft_wrap=True)
    return failures
