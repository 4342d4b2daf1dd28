"""A trained policy and its run in, a Report out, within the time that is given."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from gnarl_compiler.instances.draw import choose_split
from gnarl_dsl import __version__
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.api.asked import Tell
from gnarl_runtime.api.verdict import read_verdict, verdict_text
from gnarl_runtime.checkpoints.checkpoint import TrainedPolicy
from gnarl_runtime.checkpoints.provenance import cpu_model
from gnarl_runtime.evaluation.evaluate import split_sizes
from gnarl_runtime.reports.contents import Chart, Line, Report, Sheet, plural
from gnarl_runtime.reports.limits_of_time import Budget
from gnarl_runtime.reports.measured import (
    SEARCH_GRAPHS,
    measure,
    optimum_of,
    over_time,
    results_sheet,
    search_all,
    searches_sheet,
    without_picks,
)
from gnarl_runtime.reports.watched import LARGEST, play_fresh, watch
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.search.strategy import Strategy
from gnarl_runtime.training.run_folder import CONFIG, RunFolder

_PANELS = (
    ("loss", "loss"),
    ("success on the validation graphs", "valid_success"),
    ("reward on the validation graphs", "valid_reward"),
)


@dataclass(frozen=True)
class Request:
    """What a report is asked to hold."""

    sizes: tuple[int, ...] = ()
    graphs: int = 100
    against: tuple[str, ...] = ()  # none: every expert without an oracle, and chance
    search: tuple[Strategy, ...] = ()
    seconds: float = 120.0
    seed: int = 0
    command: str = ""


def gather(trained: TrainedPolicy, asked: Request, tell: Tell) -> Report:
    """Measure, search, watch, and put it all together."""
    problem, budget = trained.problem, Budget(asked.seconds, tell)
    if not problem.instances:
        raise UsageError(f"{problem.name} declares no instances to draw graphs from")
    choose_split(problem, "test")
    run = _run_of(trained)
    verdict = read_verdict(run.path) if run else None
    against = asked.against or (*free_experts(problem), "random")
    measured = measure(trained, asked.sizes, asked.graphs, against, asked.seed, budget)
    least = min((*asked.sizes, *split_sizes(problem, "test")), default=None)
    small = None if least is None else min(least, LARGEST)
    found, unsearched = search_all(trained, without_picks(asked.search), least, asked.seed, budget)
    played = play_fresh(trained, small, asked.graphs, asked.seed, budget)
    failures, episodes, unseen = watch(trained, played, asked.seed, budget)
    told = verdict_text(verdict, problem).splitlines()[-1:] if verdict else []
    graphs = plural(SEARCH_GRAPHS, "graph") + (f" of {least} nodes" if least else "")
    return Report(
        title=f"{problem.name}: a trained policy",
        doc=problem.doc,
        made=f"Made {datetime.now(UTC):%Y-%m-%d %H:%M} UTC by gnarl-report {__version__} on "
        f"{cpu_model()}, seed {asked.seed}, in {budget.passed:.0f} s.",
        command=asked.command,
        facts=_facts(trained, run),
        verdict=(*told, *optimum_of(verdict.optimum if verdict else None)),
        curves=_curves(run),
        results=results_sheet(problem, measured),
        searches=searches_sheet(found, problem, graphs),
        over_time=over_time(found, problem),
        failures=failures,
        told=played.told,
        episodes=episodes,
        specs=tuple((Path(own.name).name, own.text) for own in trained.meta.spec),
        recipe=json.dumps(
            trained.meta.recipe.model_dump(mode="json", exclude_defaults=True), indent=2
        ),
        left_out=(*measured.left_out, *unsearched, *unseen),
        seconds=budget.passed,
    )


def _run_of(trained: TrainedPolicy) -> RunFolder | None:
    """The folder of the run that made it, if it is still there."""
    folder = trained.path.parent if trained.path else None
    return RunFolder(folder) if folder and (folder / CONFIG).is_file() else None


def _facts(trained: TrainedPolicy, run: RunFolder | None) -> Sheet:
    problem, meta = trained.problem, trained.meta
    config = run.config() if run else None
    params = ", ".join(f"{param.name} = {param.value}" for param in problem.params)
    trainers = meta.recipe.trainer
    rows: list[tuple[str, str]] = [
        ("problem", f"`{problem.name}`" + (f" with {params}" if params else "")),
        ("spec hash", f"`{problem.hash}`"),
        ("recipe", f"`{config.recipe_name}`" if config else "as in the checkpoint"),
        ("trainer", str(trainers)),
        ("updates", f"{meta.updates:,}"),
        ("seed", str(meta.seed)),
    ]
    if run is not None and config is not None:
        rows += _spent(run)
        rows += [("threads, device", f"{config.threads}, {config.device}")]
    rows += [(name, str(value)) for name, value in _origin(meta.provenance)]
    if trained.path is not None and trained.path.is_file():
        digest = sha256(trained.path.read_bytes()).hexdigest()
        own = "/".join(trained.path.parts[-2:])
        rows += [("weights", f"`{own}`, SHA-256 `{digest[:16]}…`")]
    return Sheet(("", ""), tuple(rows), 2)


def _spent(run: RunFolder) -> list[tuple[str, str]]:
    last = next((entry for entry in reversed(run.metrics()) if "seconds" in entry), None)
    return [("training", f"{last['seconds'] / 60:.1f} minutes")] if last else []


def _origin(provenance: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Date, machine and versions, as the run wrote them down."""
    known = [(name, provenance[name]) for name in ("date", "cpu", "python") if name in provenance]
    names = [name for name in ("gnarl-dsl", "torch", "numpy", "numba") if name in provenance]
    return [*known, ("versions", ", ".join(f"{name} {provenance[name]}" for name in names))]


def _curves(run: RunFolder | None) -> tuple[Chart, ...]:
    """What was reported on the way, over updates."""
    entries: Sequence[Mapping[str, float]] = run.metrics() if run else []
    charts = []
    for title, name in _PANELS:
        points = tuple(
            (float(entry["update"]), float(entry[name]))
            for entry in entries
            if entry.get(name) is not None and "update" in entry
        )
        if len(points) > 1:
            charts.append(Chart(title, "updates", (Line(name, points),)))
    return tuple(charts)
