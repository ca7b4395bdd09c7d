"""Means and scores to Weights & Biases, where the package wandb is installed."""

from typing import Any

from .files import as_table
from .score_table import Scores
from .table import UnusableError
from .tables import Row


def check_project(project: str) -> None:
    """``UnusableError`` for a project that could not be logged to: its name, the key, the service."""
    import wandb

    try:
        wandb.Settings(project=project)
        usable = wandb.setup().settings.mode != "online" or wandb.login(prompt=False)
    except Exception as error:  # wandb, pydantic and the network raise their own
        raise UnusableError(f"--wandb {project}: {' '.join(str(error).split())[:300]}") from None
    if not usable:
        raise UnusableError(f"--wandb {project}: there is no key: run `wandb login` first, or set WANDB_MODE=offline")


def log(project: str, plan: dict[str, Any], rows: list[Row], scores: Scores) -> None:
    """One run for each system: its means, and the table of its scores."""
    import wandb

    table = as_table(scores)
    for name in dict.fromkeys(row.system for row in rows):
        run = wandb.init(project=project, name=name, config=plan)
        run.log({row.key: row.mean for row in rows if row.system == name})
        run.log({"scores": wandb.Table(dataframe=table[table["system"] == name])})
        run.finish()
