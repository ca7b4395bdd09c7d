"""The command line: each file of commands adds its own to the application."""

from . import commands_nearest, commands_plain, commands_sarabert  # noqa: F401  for what they register
from .app import app

__all__ = ["app"]
