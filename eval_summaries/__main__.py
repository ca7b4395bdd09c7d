"""`python -m eval_summaries` is the command."""

from .cli import app

app()
