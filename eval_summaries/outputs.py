"""Everything that is written, each thing on its own: what fails is told, and nothing else is lost with it."""

from collections.abc import Callable, Iterable

from . import agreement_tables, history, report
from .files import as_table, remove, write_files, write_sqlite
from .plots import draw
from .result import Result
from .store import Store
from .tracking import log


def write(
    result: Result, store: Store | None, state: dict, say: Callable[[str], None], bar: Callable[[list], Iterable]
) -> list[str]:
    """Write whatever was asked for, each on its own; returns what could not be written, and why.

    Args:
        state: of the run, for history.jsonl.
        bar: wraps the examples of the report.
    """
    asked = result.asked
    jobs: list[tuple[object, Callable[[], object]]] = []
    if store:
        jobs.append((asked.out / "run.json", lambda: store.record(result.plan)))
        jobs.append((asked.out, lambda: write_files(asked.out, result)))
    if store and result.agreement:
        jobs.append(
            (
                asked.out / agreement_tables.AGREEMENT,
                lambda: agreement_tables.write(asked.out, result.agreement),
            )
        )
    if asked.prune:
        jobs.append((store.path, store.prune))
    if asked.parquet:
        path = asked.out / "scores.parquet"
        jobs.append((path, lambda: as_table(result.scores).to_parquet(path, index=False)))
    if asked.plots:
        jobs.append((asked.out / "plots", lambda: draw(as_table(result.scores), asked.out / "plots")))
    if asked.sqlite:
        jobs.append((asked.sqlite, lambda: write_sqlite(asked.sqlite, result.plan, result.scores)))
    if store:
        jobs.append((asked.out / history.HISTORY, lambda: history.record(asked.out, state)))
    if asked.wandb:
        jobs.append((f"--wandb {asked.wandb}", lambda: log(asked.wandb, result.plan, result.rows, result.scores)))
    if asked.plots and result.agreement:
        jobs.append((asked.out / "plots", lambda: agreement_tables.draw(result.agreement, asked.out / "plots")))
    pages = [path for path in (asked.report, asked.out and asked.out / report.PAGE) if path]
    if pages:

        def write_report() -> None:
            shown = report.shown_examples(result, asked.report_examples, asked.out, bar)
            report.write_pages(result, shown, pages)

        jobs.append((" and ".join(map(str, pages)), write_report))
    made = {"scores.parquet": asked.parquet, "plots": asked.plots}
    made |= dict.fromkeys((agreement_tables.AGREEMENT, agreement_tables.TESTS), bool(result.agreement))
    stale = [name for name, now in made.items() if store and not now and (asked.out / name).exists()]
    if stale and asked.prune:
        jobs.append((asked.out, lambda: remove(asked.out, stale)))
    elif stale:
        say(f"{' and '.join(stale)} in {asked.out} are of an earlier run (--prune deletes them)")
    unwritten = []
    for what, job in jobs:
        try:
            job()
        except Exception as error:  # a disk, a database, a plot library, a service: nothing else is to be lost
            unwritten.append(f"{what}: {error}")
    return unwritten
