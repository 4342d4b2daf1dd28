"""A policy, a problem and a plan go in, Figures come out: rows per player and size."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.instances.draw import choose_split
from gnarl_dsl.model import OPTIMAL, Problem
from gnarl_runtime.batch.layout import layout_of
from gnarl_runtime.envs.engine import Compiled, compile_for
from gnarl_runtime.evaluation.baselines import find_baselines
from gnarl_runtime.evaluation.comparisons import Comparison, compare_by_size
from gnarl_runtime.evaluation.kept import Kept, Played
from gnarl_runtime.evaluation.searched import Best, Gaps, find_best, gaps_by_size, play_searched
from gnarl_runtime.evaluation.solving import Attempts
from gnarl_runtime.evaluation.summary import Row, rows_by_size
from gnarl_runtime.instances.pools import Pool, draw_pool, pool_of
from gnarl_runtime.network.policy import Policy, prepare_torch
from gnarl_runtime.search.outcomes import Keep, Outcomes, join_outcomes
from gnarl_runtime.search.planned.planning import plan_experts
from gnarl_runtime.search.players import ExpertPlayer, Player, PolicyPlayer
from gnarl_runtime.search.rollout import messages_in, play_with
from gnarl_runtime.search.strategy import PICKS, Strategy

# Training draws from seeds below this one: no split shares an instance with it.
FRESH = 2**32
POLICY = "the policy"  # no baseline has this name
_PART_GRAPHS = 10_000
_PART_BYTES = 1 << 28  # of graphs that are in memory at once
_PART_MESSAGES = 1 << 21  # side by side; more are no faster, and more would be lost in the middle

Progress = Callable[[str, int, int], None]  # (what is being done, done, total)


@dataclass(frozen=True)
class Plan:
    """What to evaluate on and how; the defaults are the spec's test split."""

    sizes: tuple[int, ...] = ()  # nodes; none: the sizes of the split
    graphs: int | None = None  # per size; None: what the split says
    seed: int = 0
    split: str = "test"
    instances: str | None = None
    data: Sequence[Instance] | None = None  # these instead of drawn ones
    temperature: float | None = None
    samples: int = 1
    against: tuple[str, ...] = ()
    reference: str | None = None  # an expert; None: `optimal` where no metric says the ratio
    metrics: bool = True  # without, no oracle is solved for metrics and references
    max_rounds: int | None = None  # instead of the spec's limit, if that is higher
    slots: int | None = None
    search: tuple[Strategy, ...] = ()  # which the policy drives, besides playing by itself
    optimum: bool = False  # how far everybody is from the best that can be found
    jobs: int = 1  # processes that play drawn graphs


@dataclass(frozen=True)
class Rival:
    """Another trained policy of the same problem."""

    name: str
    policy: Policy
    temperature: float | None = None


@dataclass(frozen=True)
class Figures:
    """The rows of a policy and of those it is compared with, one per size."""

    problem: Problem
    plan: Plan
    rows: list[Row]
    baselines: dict[str, list[Row]] = field(default_factory=dict)
    reference: str | None = None
    name: str = POLICY  # of the policy among the players
    rivals: dict[str, list[Row]] = field(default_factory=dict)
    among_runs: list[Comparison] = field(default_factory=list)
    with_baselines: list[Comparison] = field(default_factory=list)
    searches: dict[str, list[Row]] = field(default_factory=dict)
    gaps: list[Gaps] = field(default_factory=list)


def evaluate(
    policy: Policy,
    problem: Problem,
    plan: Plan | None = None,
    progress: Progress | None = None,
    kept: Kept | None = None,
    rivals: Sequence[Rival] = (),
    name: str = POLICY,
) -> Figures:
    """Play all policies and every baseline on the same instances, but for the parts in `kept`."""
    plan = plan or Plan()
    runs = (Rival(name, policy, plan.temperature), *rivals)
    run = _Run(runs, problem, plan, progress or _silent, kept or Kept())
    rows: dict[str, list[Row]] = {name: [] for name in run.names}
    among_runs: list[Comparison] = []
    with_baselines: list[Comparison] = []
    gaps: list[Gaps] = []
    figure = problem.objectives[0].name if problem.objectives else None
    own_names = [own.name for own in runs]
    for played in run.played():
        given = [part.reference for part in played if part.reference is not None]
        reference = np.concatenate(given) if given else None
        joined = run.joined(played)
        for player, outcomes in joined.items():
            sampled = run.temperature_of(player) if plan.samples > 1 else None
            rows[player] += rows_by_size(outcomes, sampled, reference)
        among_runs += compare_by_size(joined, [*combinations(own_names, 2)], figure)
        others = [(own, baseline.name) for own in own_names for baseline in run.baselines]
        with_baselines += compare_by_size(joined, others, figure)
        if plan.optimum:
            gaps += gaps_by_size(joined, _joined_best(played))
    return Figures(
        problem,
        plan,
        rows[name],
        {baseline.name: rows[baseline.name] for baseline in run.baselines},
        run.reference,
        name,
        {rival.name: rows[rival.name] for rival in rivals},
        among_runs,
        with_baselines,
        {own.name: rows[own.name] for own in run.searches},
        gaps,
    )


def _joined_best(played: Sequence[Played]) -> Best:
    given = [part.best for part in played if part.best is not None]
    return Best(
        np.concatenate([own.objective for own in given]),
        np.concatenate([own.proven for own in given]),
    )


def split_sizes(problem: Problem, split: str, instances: str | None = None) -> list[int]:
    """The numbers of nodes that a split lists; nothing if it draws from a range."""
    lines = choose_split(problem, split, instances).lines
    own = [arg for line in lines for arg in line.args if arg.name == "n"]
    listed = all(arg.kind == "one_of" for arg in own)
    return sorted({int(value) for arg in own for value in arg.values}) if listed else []


def choose_reference(problem: Problem, plan: Plan) -> str | None:
    """The expert whose objective others are compared with."""
    names = [expert.name for expert in problem.experts]
    if not plan.metrics or not problem.objectives:
        return None
    if plan.reference is not None:
        return find_baselines(problem, [plan.reference])[0].expert
    measured = any(metric.name == "ratio" for metric in problem.metrics)
    return OPTIMAL if OPTIMAL in names and not measured else None


def part_size(compiled: Compiled, nodes: int | None) -> int:
    """How many graphs of a size are in memory at once, and played before anything is kept."""
    if nodes is None:
        return _PART_GRAPHS
    one = layout_of(compiled.problem, 1, nodes, oracles=compiled.oracles)
    most = min(_PART_BYTES // one.bytes, _PART_MESSAGES // messages_in(one))
    return max(1, min(_PART_GRAPHS, most))


def _silent(what: str, done: int, total: int) -> None:
    """For those who do not want to know."""


@dataclass(frozen=True)
class Searching:
    """A policy that drives a search."""

    name: str
    run: Rival
    strategy: Strategy


def _searches(runs: Sequence[Rival], strategies: Sequence[Strategy]) -> list[Searching]:
    """All strategies of all runs, but for what they play anyway."""
    alone = len(runs) == 1
    return [
        Searching(str(own) if alone else f"{run.name}, {own}", run, own)
        for run in runs
        for own in strategies
        if own != PICKS
    ]


@dataclass(frozen=True)
class _Part:
    """Graphs that are drawn and played together."""

    label: str  # all of a size have it
    first: int  # number of the first graph, by which players draw
    graphs: int
    count: int  # graphs of all parts


class _Run:
    """One evaluation: what is compiled for it and how its parts are played."""

    def __init__(
        self,
        runs: Sequence[Rival],
        problem: Problem,
        plan: Plan,
        progress: Progress,
        kept: Kept,
    ) -> None:
        self.runs, self.problem, self.plan, self.progress = runs, problem, plan, progress
        self.kept = kept
        self.searches = _searches(runs, plan.search)
        self.baselines = find_baselines(problem, plan.against)
        self.reference = choose_reference(problem, plan)
        experts = [baseline.expert for baseline in self.baselines if baseline.expert]
        experts += [self.reference] if self.reference else []
        self.compiled: Compiled = compile_for(
            without_metrics(problem) if not plan.metrics else problem,
            experts=tuple(dict.fromkeys(experts)),
            metrics=True,
        )

    @property
    def names(self) -> list[str]:
        """Of all players, in the order in which they are shown."""
        searches = [own.name for own in self.searches]
        return [*(own.name for own in self.runs), *searches, *(b.name for b in self.baselines)]

    def joined(self, played: Sequence[Played]) -> dict[str, Outcomes]:
        """What came of all parts together, by player: files know players by their numbers."""
        return {
            name: join_outcomes([part.outcomes[str(number)] for part in played])
            for number, name in enumerate(self.names)
        }

    def temperature_of(self, player: str) -> float | None:
        """At which a run draws; None for all others."""
        return next((own.temperature for own in self.runs if own.name == player), None)

    def played(self) -> Iterator[list[Played]]:
        """What comes of the instances by size, where sizes are known beforehand."""
        plan, problem = self.plan, self.compiled.problem
        if plan.data is not None:
            part = _Part("data", 0, len(plan.data), len(plan.data))
            tell = self._teller("solving oracles", part)
            whole = pool_of(problem, plan.data, self.compiled.oracles, progress=tell)
            yield [self.play(part, whole)]
            return
        listed = plan.sizes or split_sizes(problem, plan.split, plan.instances)
        sizes: list[int | None] = [*listed] or [None]
        for size in sizes:
            if plan.jobs > 1:
                yield self.play_apart(size)
            else:
                yield [self.play_drawn(size, part) for part in self.parts(size)]

    def parts(self, size: int | None) -> Iterator[_Part]:
        """The graphs of one size; figures are the same in however many parts."""
        plan = self.plan
        count = plan.graphs or choose_split(self.problem, plan.split, plan.instances).count
        most = min(part_size(self.compiled, size), -(-count // plan.jobs))
        label = "graphs" if size is None else f"{size} nodes"
        for first in range(0, count, most):
            yield _Part(label, first, min(most, count - first), count)

    def play_drawn(self, size: int | None, part: _Part) -> Played:
        """A part is drawn and played, unless it was before."""
        played = self.kept.find(part.label, part.first)
        if played is None:
            played = self.play(part, self._draw(size, part))
            self.kept.add(part.label, part.first, played)
        return played

    def play_apart(self, size: int | None) -> list[Played]:
        """All parts of a size, each by a process of its own: the same figures but for the time."""
        from joblib import Parallel, delayed

        parts = list(self.parts(size))
        missing = [p for p in parts if self.kept.find(p.label, p.first) is None]
        quiet = copy.copy(self)
        quiet.progress, quiet.kept = _silent, Kept()
        work = (delayed(_play_alone)(quiet, size, part) for part in missing)
        pool = Parallel(n_jobs=self.plan.jobs, backend="loky", return_as="generator")
        for part, played in zip(missing, pool(work), strict=True):
            self.kept.add(part.label, part.first, played)
            self._teller(f"{part.label}, {self.plan.jobs} processes", part)(1, 1)
        found = [self.kept.find(part.label, part.first) for part in parts]
        return [played for played in found if played is not None]

    def _draw(self, size: int | None, part: _Part) -> Pool:
        plan = self.plan
        return draw_pool(
            self.compiled.problem,
            count=part.graphs,
            first=part.first,
            nodes=size,
            seed=FRESH + plan.seed,
            split=plan.split,
            instances=plan.instances,
            oracles=self.compiled.oracles,
            artifact=self.compiled.artifact,
            progress=self._teller(f"{part.label}, drawing", part),
        )

    def play(self, part: _Part, pool: Pool) -> Played:
        """Everybody plays the same instances."""
        pool = plan_experts(self.compiled, pool, self._teller(f"{part.label}, searching", part))
        seed = self.plan.seed
        players: list[Player] = [
            *(PolicyPlayer(own.policy, own.temperature, seed) for own in self.runs),
            *(baseline.player(seed) for baseline in self.baselines),
        ]
        runs = len(self.runs)
        named = [*(own.name for own in self.runs), *(own.name for own in self.baselines)]
        played = [
            self._play(player, name, part, pool)
            for name, player in zip(named, players, strict=True)
        ]
        played[runs:runs] = [self._search(own, part, pool) for own in self.searches]
        outcomes = {str(number): own for number, own in enumerate(played)}
        best = self._find_best(part, pool) if self.plan.optimum else None
        return Played(outcomes, self._reference_objectives(part, pool), best)

    def _search(self, own: Searching, part: _Part, pool: Pool) -> Outcomes:
        """The best episodes that a strategy finds."""
        drawn = own.run.temperature if own.strategy.kind.draws else None
        attempts = Attempts(own.strategy, drawn, self.plan.seed, False, self.plan.max_rounds)
        tell = self._teller(f"{part.label}, {own.name.removeprefix('the ')}", part)
        return play_searched(
            own.run.policy, self.compiled, pool, attempts, lambda what, done, all: tell(done, all)
        )[0]

    def _find_best(self, part: _Part, pool: Pool) -> Best:
        tell = self._teller(f"{part.label}, optimum", part)
        return find_best(
            self.runs[0].policy,
            self.compiled,
            pool,
            self.plan.seed,
            lambda what, done, all: tell(done, all),
        )

    def _reference_objectives(self, part: _Part, pool: Pool) -> NDArray[np.float64] | None:
        """What the reference expert reaches on each instance; NaN where it fails."""  # (P,)
        if self.reference is None:
            return None
        player = ExpertPlayer(self.reference, self.plan.seed)
        outcomes = self._play(player, self.reference, part, pool)
        return np.where(outcomes.success, outcomes.objective, np.nan)

    def _play(self, player: Player, name: str, part: _Part, pool: Pool) -> Outcomes:
        plan, own = self.plan, isinstance(player, PolicyPlayer)
        return play_with(
            player,
            self.compiled,
            pool,
            samples=plan.samples if own else 1,
            first=part.first,
            slots=plan.slots,
            max_rounds=plan.max_rounds,
            keep=Keep(solutions=own and plan.samples > 1),
            progress=self._teller(f"{part.label}, {name.removeprefix('the ')}", part),
        )

    def _teller(self, what: str, part: _Part) -> Callable[[float, int], None]:
        """How far all parts of a size are, from how far this one is."""

        def tell(done: float, total: int) -> None:
            graphs = part.first + part.graphs * done / max(total, 1)
            self.progress(what, int(1000 * graphs), 1000 * part.count)

        return tell


def _play_alone(run: _Run, size: int | None, part: _Part) -> Played:
    """In a process that was just started: one thread, as everywhere."""
    prepare_torch(1)
    return run.play_drawn(size, part)


def without_metrics(problem: Problem) -> Problem:
    """The same problem, but nobody asks for its metrics or the oracles that only they read."""
    return problem.model_copy(update={"metrics": ()})
