"""What a run found: one object that is printed and written."""

from dataclasses import dataclass
from typing import Any

from . import agreement_tables, ranking
from .agreement_tables import Found
from .comparison import Comparison
from .inputs import Example, Failure
from .options import Asked
from .ranking import Ranking
from .scoring import Scores
from .tables import Row, markdown


@dataclass
class Result:
    """What was asked, what run.json says of it, and what came of it."""

    asked: Asked
    plan: dict[str, Any]
    signatures: dict[str, str]
    scores: Scores
    failures: list[Failure]
    rows: list[Row]
    comparisons: list[Comparison]
    ranking: Ranking
    agreement: Found | None
    examples: list[Example]  # none where a finished run is shown again
    new: str = ""  # what has come since the run before, in a sentence

    @property
    def page(self) -> str:
        """The text of summary.md."""
        section = agreement_tables.markdown(self.agreement) if self.agreement else ""
        first = ranking.markdown(self.ranking)
        return markdown(self.rows, self.comparisons, self.failures, self.signatures, first, section)
