"""The command baseline_summaries in the tests: two small stories of our own, and a call."""

import command
from command import write

from summarizers.cli import app

TEXTS = {
    "storm": "The storm tore the roof off. It rained all night. The bridge was closed at dawn. Dogs slept.",
    "market": "Mara sold her nets. Orr offered her a place on his ship. She laughed at Orr. Then it rained.",
}
REFERENCES = {"storm": "The bridge was closed after the storm.", "market": "Orr offered Mara a place on his ship."}


def call(*arguments):
    """Run the command in this process; returns (exit status, what it printed)."""
    return command.call(*arguments, command=app)


def make_stories(tmp_path):
    """Two documents and their references as folders docs and refs; returns the folder that has both."""
    for folder, given in (("docs", TEXTS), ("refs", REFERENCES)):
        (tmp_path / folder).mkdir()
        for name, text in given.items():
            write(tmp_path / folder / f"{name}.txt", text)
    return tmp_path


def summaries(folder):
    """What a run wrote: {file name: text}."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*_summary.txt"))}
