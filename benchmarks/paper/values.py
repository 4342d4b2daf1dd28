"""A row and a result of gnarl-eval in, the number that the row is judged by out, and its text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import mean
from typing import Any

from benchmarks.paper.rows import Row, Trial
from gnarl_runtime.evaluation.summary import Z95, wilson

_DIGITS = {"ratio": 4, "reward": 3}  # one for all others


def figure(row: Row, result: dict[str, Any]) -> float:
    """The number that a row is judged by; success in per cent."""
    if row.figure == "success":
        return 100 * float(result["success"])
    if row.figure == "unique":
        return float(result["sampling"]["unique"])
    value = result.get("metrics", {}).get(row.figure, result.get(row.figure))
    return math.nan if value is None else float(value)


def shown(row: Row, value: float) -> str:
    return f"{value:.{_DIGITS.get(row.figure, 1)}f}"


def bounds(row: Row, results: Sequence[dict[str, Any]]) -> tuple[float, float] | None:
    """The 95 % interval over graphs, those of all seeds together; older results have none."""
    if row.figure == "success":
        graphs = sum(result["graphs"] for result in results)
        low, high = wilson(sum(result["success"] * result["graphs"] for result in results), graphs)
        return 100 * low, 100 * high
    errors = [result.get("standard_errors", {}).get(row.figure) for result in results]
    if None in errors:
        return None
    centre = mean(figure(row, result) for result in results)
    half = Z95 * math.hypot(*errors) / len(errors)
    return centre - half, centre + half


def published(row: Row, trial: Trial) -> str:
    """The paper's figure for a trial; none for those that it does not have."""
    return trial.paper or (row.paper.get(trial.nodes, "–") if not trial.label else "–")
