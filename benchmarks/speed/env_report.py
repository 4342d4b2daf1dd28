"""A record of a run in, aligned text out: the figures, their ratios, and the goals they meet."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import Any

from benchmarks.frame import aligned, heading

Record = dict[str, Any]
Rates = dict[tuple[str, int], dict[str, list[float]]]  # one number per repetition

BATCH_GOAL = 20.0
LABEL_GOAL = 20.0  # times the hand-written expert
SINGLE_GOAL = 0.8
COMPILE_GOAL, CACHED_GOAL = 15.0, 1.0  # seconds
MEMORY_GOAL = 500.0  # megabytes


def report_text(record: Record) -> str:
    """All tables of a run."""
    rates = by_case(record["figures"])
    parts = [
        heading(record["provenance"]) + extent(record["plan"]),
        step_table(rates),
        label_table(rates),
        compile_table(record["compile"]),
        memory_table(record["memory"]),
        "\n".join(["could not be measured", *record["failures"]]) if record["failures"] else "",
    ]
    return "\n\n".join(part for part in parts if part)


def by_case(figures: Iterable[Record]) -> Rates:
    """Rates by problem and size, then by contestant."""
    rates: Rates = {}
    for figure in figures:
        case = (figure["spec"], figure["nodes"])
        rates.setdefault(case, {})[figure["contestant"]] = figure["rates"]
    return rates


def extent(plan: Record) -> str:
    """How long and how wide was measured."""
    return (
        f"medians of {plan['repetitions']} slices of {plan['seconds']:g} s; "
        f"batch of {plan['num_envs']}"
    )


def step_table(rates: Rates) -> str:
    """Steps per second of a core, resets and masks included."""
    rows = [
        [
            spec,
            str(nodes),
            *(number(own.get(name)) for name in ("interpreter", "peer", "single", "single_live")),
            number(own.get("batch")),
            number(own.get("batch_live")),
            ratio(own, "single", "peer", SINGLE_GOAL),
            ratio(own, "single_live", "peer", SINGLE_GOAL),
            ratio(own, "batch", "peer", BATCH_GOAL),
            ratio(own, "batch_live", "peer", BATCH_GOAL),
            ratio(own, "batch_live", "interpreter"),
        ]
        for (spec, nodes), own in rates.items()
    ]
    title = (
        "steps/s   (batch: copied observations; live: copy=False; "
        f"goals: single/peer {SINGLE_GOAL:g}x, batch/peer {BATCH_GOAL:g}x, missed ones marked !)"
    )
    head = ["problem", "n", "interpreter", "by hand", "single", "live", "batch", "live"]
    ratios = ["single/hand", "live/hand", "batch/hand", "live/hand", "live/interpreter"]
    return f"{title}\n{aligned([head + ratios, *rows])}"


def label_table(rates: Rates) -> str:
    """Expert labels per second of a core."""
    rows = [
        [
            spec,
            str(nodes),
            number(own.get("peer_labels")),
            number(own.get("batch_labels")),
            ratio(own, "batch_labels", "peer_labels", LABEL_GOAL),
        ]
        for (spec, nodes), own in rates.items()
        if "peer_labels" in own or "batch_labels" in own
    ]
    if not rows:
        return ""
    head = ["problem", "n", "by hand", "batch", "batch/hand"]
    return f"expert labels/s   (goal {LABEL_GOAL:g}x)\n{aligned([head, *rows])}"


def compile_table(runs: list[Record]) -> str:
    """Seconds from a spec to a stepped batch."""
    if not runs:
        return ""
    rows = [
        [
            run["spec"],
            limited(run["first"]["make_cpu"], COMPILE_GOAL),
            limited(run["cached"]["make_cpu"], CACHED_GOAL),
            f"{run['first']['make']:.2f}",
            f"{run['cached']['make']:.2f}",
            f"{run['cached']['import_cpu']:.2f}",
        ]
        for run in runs
    ]
    head = ["problem", "first", "cached", "first, wall", "cached, wall", "imports"]
    title = f"compile, CPU seconds   (goals: first {COMPILE_GOAL:g}, cached {CACHED_GOAL:g})"
    return f"{title}\n{aligned([head, *rows])}"


def memory_table(runs: list[Record]) -> str:
    """Megabytes of a batch."""
    if not runs:
        return ""
    rows = [
        [
            run["spec"],
            str(run["nodes"]),
            str(run["num_envs"]),
            limited(run["batch"], MEMORY_GOAL, 0),
            f"{run['process']:.0f}",
            f"{run['peak']:.0f}",
        ]
        for run in runs
    ]
    head = ["problem", "n", "graphs", "batch", "process", "peak"]
    return f"memory, MB   (goal: batch below {MEMORY_GOAL:g})\n{aligned([head, *rows])}"


def number(rates: list[float] | None) -> str:
    """A median rate, or a dash."""
    return "-" if rates is None else f"{median(rates):,.0f}"


def ratio(own: dict[str, list[float]], over: str, under: str, goal: float | None = None) -> str:
    """One rate as a multiple of another (median), marked if it misses its goal."""
    if over not in own or under not in own:
        return "-"
    value = median(a / b for a, b in zip(own[over], own[under], strict=True))
    missed = goal is not None and value < goal
    return f"{value:,.0f}x" if value >= 100 else f"{value:.3g}x{'!' if missed else ''}"


def limited(value: float, most: float, digits: int = 2) -> str:
    """A figure that should stay below a limit, marked if it does not."""
    return f"{value:.{digits}f}{'!' if value >= most else ''}"
