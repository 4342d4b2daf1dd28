"""A trained policy in; out: how it does beside others, with intervals, and what searches add."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.model import Problem
from gnarl_runtime.api.asked import Tell
from gnarl_runtime.api.policies import compiled_or_told
from gnarl_runtime.api.verdict import Optimum
from gnarl_runtime.checkpoints.checkpoint import TrainedPolicy
from gnarl_runtime.evaluation.comparisons import Comparison
from gnarl_runtime.evaluation.evaluate import FRESH, Figures, Plan, evaluate, split_sizes
from gnarl_runtime.evaluation.searched import gaps_text
from gnarl_runtime.evaluation.solving import Attempts, solve
from gnarl_runtime.evaluation.summary import Z95, Row
from gnarl_runtime.evaluation.tables import players_of
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.reports.contents import Chart, Line, Sheet
from gnarl_runtime.reports.limits_of_time import Budget
from gnarl_runtime.search.limits import TookTooLong
from gnarl_runtime.search.strategy import PICKS, Strategy
from gnarl_runtime.search.task import Moment

# Shares of the time after which a part must be over.
EVALUATED, SEARCHED = 0.55, 0.85
SEARCH_GRAPHS = 8  # each strategy is tried on
OPTIMUM_NODES = 20  # up to which the optimum is looked for
OPTIMUM_GRAPHS = 20
_STEPS = 24  # of the chart over time


@dataclass(frozen=True)
class Measured:
    """Figures of the sizes that there was time for."""

    figures: tuple[Figures, ...]
    left_out: tuple[str, ...]
    gaps: tuple[str, ...]  # to the optimum, in words


def measure(
    trained: TrainedPolicy,
    sizes: Sequence[int],
    graphs: int,
    against: Sequence[str],
    seed: int,
    budget: Budget,
) -> Measured:
    """Everybody plays the same fresh graphs, one size after the other while there is time."""
    problem = trained.problem
    wanted: list[int | None] = [*(sizes or split_sizes(problem, "test"))] or [None]
    found: list[Figures] = []
    left: list[str] = []
    for size in wanted:
        plan = Plan(
            sizes=(size,) if size else (),
            graphs=graphs,
            seed=seed,
            against=tuple(against),
            temperature=trained.temperature(),
        )
        name = f"{size:,} nodes" if size else "fresh graphs"
        try:
            with compiled_or_told(problem):
                tell = budget.until(EVALUATED, name)
                found.append(evaluate(trained.policy, problem, plan, tell))
        except TookTooLong:
            left.append(f"graphs of {name}")
    gaps: tuple[str, ...] = ()
    try:
        gaps = _gaps(trained, wanted, seed, budget)
    except TookTooLong:
        left.append("the optimum")
    return Measured(tuple(found), tuple(left), gaps)


def _gaps(
    trained: TrainedPolicy, sizes: Sequence[int | None], seed: int, budget: Budget
) -> tuple[str, ...]:
    """How far from the optimum, on the smallest graphs."""
    least = min((size for size in sizes if size), default=None)
    if not trained.problem.objectives or least is None or least > OPTIMUM_NODES:
        return ()
    plan = Plan(
        sizes=(least,),
        graphs=OPTIMUM_GRAPHS,
        seed=seed,
        metrics=False,
        temperature=trained.temperature(),
        optimum=True,
    )
    tell = budget.until((EVALUATED + SEARCHED) / 2, "optimum")
    return tuple(map(gaps_text, evaluate(trained.policy, trained.problem, plan, tell).gaps))


def optimum_of(found: Optimum | None) -> tuple[str, ...]:
    """What the end of the training said of it."""
    if found is None or found.gap is None:
        return ()
    proven = f"proven on {found.graphs} of {found.tried} graphs of {found.nodes} nodes"
    return (f"at the end of training: {found.gap:.1f} % off the optimum, {proven}",)


# In a table


def results_sheet(problem: Problem, measured: Measured) -> Sheet:
    """Sizes and players down; what every end has by construction has no column."""
    figures = measured.figures
    judged = problem.correct is not None
    rows = [row for own in figures for _, rows in players_of(own) for row in rows]
    counts = judged or any(row.success < 1 for row in rows)
    head = ["nodes", "player", "graphs"]
    head += ["right, %" if judged else "valid, %", "95 %"] if counts else []
    head += [problem.objectives[0].name, "95 %"] if problem.objectives else []
    compared = any(not math.isnan(row.ratio) for row in rows)
    head += ["ratio"] if compared else []
    head += ["picks", "s/graph"]
    lines = [
        _cells(name, row, counts, bool(problem.objectives), compared)
        for own in figures
        for name, rows_ in players_of(own)
        for row in rows_
    ]
    notes = [_standing(found) for own in figures for found in own.with_baselines]
    return Sheet(tuple(head), tuple(lines), 2, (*notes, *measured.gaps))


def _cells(name: str, row: Row, counts: bool, valued: bool, compared: bool) -> tuple[str, ...]:
    low, high = row.ci95
    cells = [str(row.nodes), name, str(row.graphs)]
    cells += [f"{100 * row.success:.1f}", f"{100 * low:.1f} – {100 * high:.1f}"] if counts else []
    cells += [_number(row.objective), _interval(row)] if valued else []
    cells += [_number(row.ratio)] if compared else []
    return (*cells, f"{row.steps:.1f}", f"{row.seconds_per_graph:.2g}")


def _interval(row: Row) -> str:
    margin = Z95 * row.standard_errors.get("objective", math.nan)
    if math.isnan(margin):
        return ""
    return f"{_number(row.objective - margin)} – {_number(row.objective + margin)}"


def _standing(found: Comparison) -> str:
    own = found.difference
    word = {
        "ahead": f"the policy is ahead of `{found.second}`",
        "level": f"it cannot be told apart from `{found.second}`",
        "behind": f"the policy is behind `{found.second}`",
    }[own.standing]
    return f"{found.nodes} nodes: {word} ({found.figure} {own.mean:+.4g}, {own.interval})"


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4g}"


# What searches add


@dataclass(frozen=True)
class Searched:
    """A strategy on a few graphs: what it found, how long it took, and when it found it."""

    name: str
    seconds: float  # per graph
    right: float
    value: float  # the mean objective; NaN without one
    history: Mapping[int, Sequence[Moment]]  # by graph; empty if it does not tell


def search_all(
    trained: TrainedPolicy,
    strategies: Sequence[Strategy],
    nodes: int | None,
    seed: int,
    budget: Budget,
) -> tuple[list[Searched], list[str]]:
    """Every strategy on the same graphs, and those that there was no time for."""
    pool = draw_pool(
        trained.problem, count=SEARCH_GRAPHS, nodes=nodes, seed=FRESH + seed, split="test"
    )
    found, left = [], []
    for strategy in (PICKS, *strategies):
        try:
            tell = budget.until(SEARCHED, f"search {strategy}")
            found.append(_searched(trained, strategy, pool.instances(), seed, tell))
        except TookTooLong:
            left.append(f"the search {strategy}")
    return found, left


def _searched(
    trained: TrainedPolicy, strategy: Strategy, graphs: Sequence[Instance], seed: int, tell: Tell
) -> Searched:
    history: dict[int, list[Moment]] = defaultdict(list)
    drawn = trained.temperature() if strategy.kind.draws else None
    episodes = solve(
        trained.policy,
        trained.problem,
        graphs,
        Attempts(strategy, drawn, seed),
        tell,
        lambda number, moment: history[number].append(moment),
    )
    ends = [own.correct if own.correct is not None else own.valid is not False for own in episodes]
    values = [own.objective for own, right in zip(episodes, ends, strict=True) if right]
    return Searched(
        str(strategy),
        sum(own.seconds for own in episodes) / len(episodes),
        sum(ends) / len(ends),
        sum(values) / len(values) if values else math.nan,
        history,
    )


def searches_sheet(found: Sequence[Searched], problem: Problem, graphs: str) -> Sheet:
    best = max((own.value for own in found if not math.isnan(own.value)), default=math.nan)
    valued = bool(problem.objectives)
    counts = problem.correct is not None or any(own.right < 1 for own in found)
    head = ["search", "s/graph", *(["right, %"] if counts else [])]
    head += [problem.objectives[0].name, "off the best of these, %"] if valued else []
    rows = []
    for own in found:
        off = 100 * (best - own.value) / abs(best) if best else math.nan
        cells = [own.name, f"{own.seconds:.2g}", *([f"{100 * own.right:.0f}"] if counts else [])]
        cells += [_number(own.value), "" if math.isnan(off) else f"{off:.2f}"] if valued else []
        rows.append(tuple(cells))
    return Sheet(tuple(head), tuple(rows), 1, (f"each on the same {graphs}",))


def over_time(found: Sequence[Searched], problem: Problem) -> Chart | None:
    """How good the best known is after how many seconds, for what searches while it may."""
    if not problem.objectives:
        return None
    lines = [Line(own.name, _course(own)) for own in found if len(own.history) > 1]
    lines = [line for line in lines if len(line.points) > 1]
    points = [
        Line(own.name, ((max(own.seconds, 1e-4), own.value),), joined=False)
        for own in found
        if len(own.history) <= 1 and not math.isnan(own.value)
    ]
    if not lines:
        return None
    title = f"best {problem.objectives[0].name} known after so many seconds per graph"
    return Chart(title, "seconds", (*lines, *points), logarithmic=True)


def _course(own: Searched) -> tuple[tuple[float, float], ...]:
    """The mean over graphs of the best so far, once every graph has one."""
    moments = [[m for m in told if m.right] for told in own.history.values()]
    if not all(moments):
        return ()
    first = max(told[0].seconds for told in moments)
    last = max(own.seconds, *(told[-1].seconds for told in moments))
    low = max(first, 1e-4)
    times = [low * (max(last, low) / low) ** (k / (_STEPS - 1)) for k in range(_STEPS)]
    course = []
    for time in times:
        known = [max(m.value for m in told if m.seconds <= max(time, first)) for told in moments]
        course.append((time, sum(known) / len(known)))
    return tuple(course)


def without_picks(strategies: Sequence[Strategy]) -> tuple[Strategy, ...]:
    return tuple(own for own in strategies if own != PICKS)
