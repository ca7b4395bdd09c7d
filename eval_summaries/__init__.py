"""Score summaries and compare systems: the command `eval_summaries`, and the same from Python.

- ``load("sss", lang="ar")``: a metric, from inside the installed package.
- ``compare(table)``: does one system differ from another? The tests of the command.
- ``rank(table)``: the command's ranking, with letters for what the tests tell apart.

A table is a ``pandas.DataFrame`` with the columns ``system`` and ``id``, and one column for each score: what
``scores.csv`` of the command holds.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import evaluate
    import pandas

    from .score_table import Scores

__all__ = ["compare", "load", "rank"]


def load(name: str, **options: Any) -> "evaluate.Metric":
    """Load a metric: ``evaluate.load`` of its folder, wherever this package is installed.

    Args:
        name: "sss", "mss", "boc" or "bor".
        **options: as in the metric's card.

    Raises:
        ValueError: for another name, or an option that the metric does not have.

    >>> load("boc", characters=["Amy", "Raj"]).score(["Amy left."], ["Amy and Raj left."])["boc_recall"]
    [0.5]
    """
    from .shared import METRICS, load_metric  # nothing is imported before it is needed: evaluate takes seconds

    if name not in METRICS:
        raise ValueError(f"there is no metric {name!r}; there are {', '.join(METRICS)}")
    return load_metric(name, options)


def compare(table: "pandas.DataFrame", scores: Sequence[str] | None = None) -> "pandas.DataFrame":
    """Compare every pair of systems on every score, over the examples that both have.

    Args:
        table: columns ``system``, ``id``, and one for each score (nan where undefined).
        scores: the columns to compare; all but ``system`` and ``id`` unless given.

    Returns:
        One row for each score and pair: ``score``, ``one``, ``other``, ``n`` (examples), ``difference`` (mean of one
        less that of the other), ``p`` (randomization test, two-sided; exact up to 16 differences), ``p_bootstrap``
        (nan below 30 examples), ``p_adjusted`` (p after Holm's correction within the score).

    Raises:
        ValueError: for a table without these columns, with a pair of system and id twice, or with a score that is no
            number.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"system": ["a"] * 3 + ["b"] * 3, "id": [1, 2, 3] * 2, "f": [3, 4, 5, 1, 1, 1.0]})
    >>> compare(table)[["one", "other", "difference", "p"]].values.tolist()
    [['a', 'b', 3.0, 0.25]]
    """
    import pandas as pd

    from .comparison import compare_systems

    found = compare_systems(*_scores(table, scores))
    columns = ["score", "one", "other", "n", "difference", "p_bootstrap", "p", "p_adjusted"]
    frame = pd.DataFrame([tuple(one) for one in found], columns=columns)
    return frame[["score", "one", "other", "n", "difference", "p", "p_bootstrap", "p_adjusted"]]


def rank(
    table: "pandas.DataFrame",
    scores: Sequence[str] | None = None,
    sort: str | None = None,
    baseline: str | None = None,
) -> "pandas.DataFrame":
    """Rank systems, and say which of them the tests can tell apart.

    Args:
        table: as for ``compare``.
        scores: the columns that are shown, the first for the order; the primary one of each metric unless given.
        sort: the score by which the systems are ordered, best first.
        baseline: a system with which all others are compared, instead of all with all.

    Returns:
        The systems as index, best first; for each score its mean, ``<score>_letters`` (systems that share a letter do
        not differ; "a" has the best mean) or with a baseline ``<score>_sign`` ("+", "-", "="), and ``<score>_best``.

    Raises:
        ValueError: as ``compare``; and for a ``sort`` or ``baseline`` that is not there.

    >>> import pandas as pd
    >>> rows = [(s, n, n / 10 + (0.3 if s == "new" else 0)) for s in ("old", "new") for n in range(8)]
    >>> ranked = rank(pd.DataFrame(rows, columns=["system", "id", "sss"]))
    >>> ranked["sss"].round(2).to_dict(), ranked["sss_letters"].to_dict()
    ({'new': 0.65, 'old': 0.35}, {'new': 'a', 'old': 'b'})
    """
    import pandas as pd

    from . import ranking
    from .comparison import compare_systems
    from .tables import summarise

    values, keys = _scores(table, scores)
    systems = values.systems
    if baseline is not None and baseline not in systems:
        raise ValueError(f"baseline={baseline!r}: there is no such system; there are {', '.join(systems)}")
    if sort is not None and sort not in keys:
        raise ValueError(f"sort={sort!r}: there is no such score; there are {', '.join(keys)}")
    shown, sort = ranking.shown_scores(keys, sort, every=bool(scores))
    lengths = dict.fromkeys(systems, float("nan"))  # the texts are not here
    found = ranking.rank(summarise(values), compare_systems(values, shown), lengths, shown, sort, baseline)
    mark = "sign" if baseline else "letters"
    columns = {}
    for key in found.keys:
        places = [found.places[name, key] for name in found.systems]
        columns[key] = [place.mean for place in places]
        columns[f"{key}_{mark}"] = [place.sign if baseline else place.letters for place in places]
        columns[f"{key}_best"] = [place.best for place in places]
    return pd.DataFrame(columns, index=pd.Index(found.systems, name="system"))


def _scores(table: "pandas.DataFrame", scores: Sequence[str] | None) -> tuple["Scores", list[str]]:
    """{(system, id): {score: value}} and the scores; ValueError for a table that is none."""
    import pandas as pd

    from .score_table import Scores

    missing = [name for name in ("system", "id", *(scores or ())) if name not in table.columns]
    if missing:
        raise ValueError(f"the table has no column {', '.join(map(repr, missing))}; it has {', '.join(table.columns)}")
    keys = list(scores) if scores else [name for name in table.columns if name not in ("system", "id")]
    if not keys or not len(table):
        raise ValueError("the table has no scores: give columns of numbers beside system and id, and rows")
    for key in keys:
        if not pd.api.types.is_numeric_dtype(table[key]) or pd.api.types.is_bool_dtype(table[key]):
            raise ValueError(f"column {key!r} has no numbers but {table[key].dtype}; name the scores with scores=[...]")
    if table[["system", "id"]].isna().any(axis=None):
        raise ValueError("a row has no system or no id")
    twice = table.duplicated(["system", "id"])
    if twice.any():
        system, name = map(str, table.loc[twice, ["system", "id"]].iloc[0])
        raise ValueError(f"system {system!r} has the id {name!r} twice: ids must differ within a system")
    rows = table[["system", "id", *keys]].itertuples(index=False, name=None)
    found = Scores()
    for system, name, *values in rows:
        found.put((str(system), str(name)), dict(zip(keys, map(float, values), strict=True)))
    return found, keys
