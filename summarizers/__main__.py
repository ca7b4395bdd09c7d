"""`python -m summarizers` is the command."""

from .cli import app

app()
