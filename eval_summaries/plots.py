"""Pictures of the results, as PNG: how each score is distributed by system, and how the scores correlate."""

from pathlib import Path

import numpy as np
import pandas as pd


def draw(table: pd.DataFrame, folder: Path) -> list[Path]:
    """Draw ``distribution_<score>.png`` for each score, and ``correlation.png`` where there are two scores or more.

    Args:
        table: columns ``system``, ``id`` and one for each score.
    """
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["text.parse_math"] = False  # a system may be called lr_$1_$2
    keys = [key for key in table.columns if key not in ("system", "id")]
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for key in keys:
        groups = {str(name): part[key].dropna().to_numpy() for name, part in table.groupby("system", sort=False)}
        groups = {name: values for name, values in groups.items() if len(values)}
        if not groups:
            continue
        figure = Figure(figsize=(1.5 + 0.9 * len(groups), 3.5), layout="constrained")
        axes = figure.subplots()
        axes.boxplot(list(groups.values()), tick_labels=list(groups), showmeans=True)
        axes.set_ylabel(key)
        axes.tick_params(axis="x", rotation=45 if len(groups) > 4 else 0)
        written.append(folder / f"distribution_{key}.png")
        figure.savefig(written[-1], dpi=100)
    # Pearson's correlation over all examples; a score that is constant has none
    varying = [key for key in keys if table[key].nunique() > 1]
    if len(varying) > 1:
        matrix = table[varying].corr(method="pearson")
        figure = Figure(figsize=(2.5 + 0.55 * len(varying), 2 + 0.5 * len(varying)), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu")
        axes.set_xticks(range(len(varying)), varying, rotation=45, ha="right")
        axes.set_yticks(range(len(varying)), varying)
        for (row, column), value in np.ndenumerate(matrix.to_numpy()):
            shown = "" if np.isnan(value) else f"{value:.2f}"
            axes.text(
                column, row, shown, ha="center", va="center", fontsize=8, color="white" if abs(value) > 0.6 else "black"
            )
        figure.colorbar(image, label="Pearson correlation")
        written.append(folder / "correlation.png")
        figure.savefig(written[-1], dpi=100)
    return written
