"""What is printed: the ranking first, then whatever is short enough for a terminal."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from . import agreement_tables
from .comparison import strangers
from .ranking import blocks, note
from .resample import BOOTSTRAP_FROM
from .result import Result
from .tables import COMPARE_HEADERS, HEADERS, LEVEL, cells_of, compare_cells, layout, visible

SHOWN = 60  # more lines than these are not for a terminal


def text(message: object) -> str:
    """Text as it is: no mark-up, nothing that would steer the terminal."""
    return "\n".join(escape(visible(line)) for line in str(message).split("\n"))


def print_table(console: Console, title: str, headers: list[str], cells: list[list[str]]) -> None:
    table = Table(title=title, title_justify="left")
    for number, header in enumerate(headers):
        table.add_column(header, justify="left" if number < 2 else "right", overflow="fold")
    for line in cells:
        table.add_row(*map(text, line))
    console.print(table)


def show(console: Console, result: Result) -> None:
    """Print the results."""
    asked = result.asked
    for headers, lines in blocks(result.ranking, console.width):
        print_table(console, "Ranking", headers, lines)
    if note(result.ranking):
        console.print(text(note(result.ranking)), soft_wrap=True)
    if result.new:
        console.print(text(result.new), soft_wrap=True)
    place = f"in {asked.out / 'summary.md'}" if asked.out else "in summary.md, with --out"
    if len(result.rows) <= SHOWN:
        print_table(console, "Scores", HEADERS, [cells_of(row) for row in result.rows])
    else:
        console.print(text(f"Scores: {len(result.rows)} means with their intervals are {place}"), soft_wrap=True)
    if result.comparisons:
        differing = sum(found.adjusted < LEVEL for found in result.comparisons)
        title = f"Comparison of systems: {differing} of {len(result.comparisons)} differ (*)"
        if len(result.comparisons) <= SHOWN:
            print_table(console, title, COMPARE_HEADERS, [compare_cells(found) for found in result.comparisons])
        else:
            console.print(text(f"{title}; all are {place}"), soft_wrap=True)
        if any(found.n < BOOTSTRAP_FROM for found in result.comparisons):
            console.print(
                f"p (boot) is given from {BOOTSTRAP_FROM} examples on; with fewer it is too small to be trusted"
            )
    for one, other, common in strangers(result.scores)[:10]:
        told = [next(name for system, name in result.scores if system == side) for side in (one, other)]
        what = "only one id in common" if common else f"no id in common (such as {told[0]!r} and {told[1]!r})"
        console.print(text(f"Not compared: {one} and {other} have {what}"), soft_wrap=True)
    if asked.layout_name:
        print_table(console, f"In the layout of {asked.layout_name}", *layout(asked.layout_name, result.rows))
    if result.agreement:
        for human in dict.fromkeys(one.human for one in result.agreement.agreements):
            title = f"Agreement with {human}: Spearman's rho with 95% intervals"
            print_table(console, text(title), *agreement_tables.table(result.agreement, human, "spearman"))
        for line in agreement_tables.notes(result.agreement):
            console.print(text(line), soft_wrap=True)
    if result.failures:
        console.print(f"Not scored: {len(result.failures)}")
        for failure in result.failures[:SHOWN]:
            console.print(f"  {text(f'{failure.system} {failure.id}: {failure.reason}')}", soft_wrap=True)
        if len(result.failures) > SHOWN:
            console.print(
                f"  and {len(result.failures) - SHOWN} more" + (" (failures.csv has all)" if asked.out else "")
            )
