"""The application: what its commands have in common, and how a function becomes one."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any

import typer

from eval_summaries.table import UnusableError

from .lengths import Length
from .run import Asked, say

DEFAULT_LENGTH = Length()
HELP = """Summarize documents by baselines, to rank systems against them.

Documents are NAME.txt in a folder; the summaries are NAME_summary.txt in --out, as eval_summaries reads them:

  baseline_summaries lead --documents docs --out out/lead --sentences 3

  eval_summaries --summaries out/lead --summaries out/mine --documents docs --references refs

Or a file (JSONL, JSON, CSV, TSV, Parquet, Excel, also with gzip, or a folder that datasets saved), whose columns the
options name; with --out FILE.jsonl the summaries are rows, with their documents and references:

  baseline_summaries lead data.jsonl --documents article --references summary --id id --out lead.jsonl

Exit status: 0 all summarized, 1 some documents could not be (they are listed, the others are written), 2 the arguments
or the input cannot be used and nothing is written, 130 interrupted.
"""

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True, help=HELP)

Sentences = Annotated[int | None, typer.Option(help="the most sentences (3, where no length is given)")]
Words = Annotated[int | None, typer.Option(help="the most words")]
Ratio = Annotated[float | None, typer.Option(help="share of the document's sentences, such as 0.2")]
Encoder = Annotated[str | None, typer.Option(help="Hub id, folder, or multilingual-e5-small-q4; else as --lang says")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1 …; else the best that is there")]
Seed = Annotated[int, typer.Option(help="of what is drawn")]


def limit(sentences: int | None, words: int | None, ratio: float | None, default: Length = DEFAULT_LENGTH) -> Length:
    """The length that was asked for."""
    try:
        return Length(sentences, words, ratio) if (sentences, words, ratio) != (None, None, None) else default
    except ValueError as error:
        raise UnusableError(str(error)) from None


def command(name: str, group: typer.Typer = app) -> Callable[[Callable], None]:
    """Make a command of a function that takes ``Asked`` and arguments of its own and returns the exit status.

    Typer reads a function's signature: the command's is that of the common arguments, then of its own.
    """

    def register(function: Callable[..., int]) -> None:
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        common = [field.name for field in fields(Asked)]

        def called(**given: Any) -> None:
            for stream in (sys.stdout, sys.stderr):
                if hasattr(stream, "reconfigure"):  # what a terminal cannot show is replaced
                    stream.reconfigure(errors="replace")
            try:
                status = function(Asked(**{key: given.pop(key) for key in common}), **given)
            except KeyboardInterrupt:
                say("interrupted: no summary was written")
                status = 130
            except (UnusableError, OSError) as error:
                say(f"error: {error}")
                status = 2
            if status:
                raise typer.Exit(status)

        kind = inspect.Parameter.KEYWORD_ONLY
        shared = [inspect.Parameter(f.name, kind, default=f.default, annotation=f.type) for f in fields(Asked)]
        # a command's own arguments in the place of words (r2t) come before the file
        first = [p.replace(kind=kind) for p in own if p.default is inspect.Parameter.empty]
        rest = [p.replace(kind=kind) for p in own if p.default is not inspect.Parameter.empty]
        called.__signature__ = inspect.Signature([*first, *shared, *rest])
        group.command(name, help=inspect.getdoc(function))(called)

    return register
