"""The metrics of a run in, a picture of its curves out."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from gnarl_compiler.build.files import write_whole

_PANELS = (
    ("loss", ("loss",)),
    ("validation success", ("valid_success",)),
    ("validation reward", ("valid_reward",)),
    ("picks per episode", ("valid_steps",)),
)


def draw_curves(entries: Sequence[dict[str, float]], path: Path, title: str) -> None:
    """Four small charts over updates, as a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (label, names) in zip(figure.subplots(2, 2).flat, _PANELS, strict=True):
        for name in names:
            points = [(entry["update"], entry[name]) for entry in entries if name in entry]
            if points:
                axes.plot(*zip(*points, strict=True), color="#0072B2", linewidth=1.2)
        axes.set_title(label, fontsize=9)
        axes.tick_params(labelsize=8)
        axes.grid(alpha=0.3)
    figure.suptitle(title, fontsize=10)
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=110)
    write_whole(path, image.getvalue(), durable=False)
