"""A problem and options go in; failures, figures and some explored spaces of small sizes come out.

Sizes up to three nodes run in uncompiled kernels, where mistakes show within a second or two;
larger ones, and smaller ones that did not fit the budget, in compiled ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from gnarl_compiler.build.artifact import Artifact
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.support.endings import TRUNCATED
from gnarl_dsl.model import Objective, Problem, Reward, choose_reward
from gnarl_runtime.checks.explore.artifacts import artifact_of
from gnarl_runtime.checks.explore.explore import explore
from gnarl_runtime.checks.explore.small_graphs import SmallInstances, plan_instances
from gnarl_runtime.checks.explore.small_values import spread
from gnarl_runtime.checks.explore.space import Space
from gnarl_runtime.checks.explore.worths import View, follow_expert
from gnarl_runtime.checks.findings.findings import SizeSummary
from gnarl_runtime.checks.findings.waived import Waivers
from gnarl_runtime.checks.findings.wishes import PLAIN_NODES, Options, Progress
from gnarl_runtime.checks.properties.arrival import check_arrival
from gnarl_runtime.checks.properties.episode_properties import (
    check_dead_ends,
    check_endless,
    check_ends,
    check_run_errors,
    check_unwinnable,
    start_failures,
)
from gnarl_runtime.checks.properties.expert_properties import (
    check_finish,
    check_play,
    check_support,
)
from gnarl_runtime.checks.properties.figures import OFF_PATH, Figures
from gnarl_runtime.checks.properties.found import Check, Collector, Found
from gnarl_runtime.checks.properties.level_properties import LEVELS_OF_NODES, check_levels, uses_of
from gnarl_runtime.checks.properties.rank_properties import check_luck, check_uneven
from gnarl_runtime.checks.properties.renaming import check_renaming
from gnarl_runtime.checks.properties.reward_properties import (
    check_misleading,
    check_optimal,
    check_rewards,
    check_telescope,
)
from gnarl_runtime.checks.properties.seen import check_window
from gnarl_runtime.checks.properties.worth import Standings

AT_ONCE = 128  # instances explored side by side
_SHARE = 2_000  # transitions that an instance is worth looking at for
_KEPT = 300_000  # states that lints may look at
_RENAMED = {True: 200_000, False: 8_000}  # transitions followed under other names, by jit
_CHANGED = 12  # instances of a size whose numbers are changed
_PLAY = 200_000  # states of an expert's own play
_REWARDED = 8  # instances of a size on which rewards besides the default are tried

CHECKS: tuple[Check, ...] = (
    *(check_run_errors, check_dead_ends, check_endless, check_ends, check_unwinnable),
    *(check_telescope, check_optimal, check_rewards, check_misleading),
    *(check_uneven, check_luck, check_window),
)


@dataclass(eq=False)
class Exploration:
    """Everything found so far about one problem."""

    problem: Problem
    options: Options
    progress: Progress | None = None
    collector: Collector = field(init=False)
    figures: Figures = field(init=False)
    standings: Standings = field(init=False)
    sizes: dict[int, SizeSummary] = field(default_factory=dict)
    spaces: list[Space] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.collector = Collector(Waivers(self.problem), self.options.only)
        self.figures = Figures(self.problem)
        self.standings = Standings(self.problem)

    def run(self) -> None:
        """Explore all sizes, the small ones first."""
        options = self.options
        largest = range(1, options.max_nodes + 1)
        plain = [n for n in largest if n <= PLAIN_NODES or not options.jit]
        artifact = artifact_of(self.problem, jit=False)
        for n in plain:
            self._size(n, artifact, options.plain_transitions)
            if self.finished:
                return
        self._rewards(plain)
        later = [n for n in largest if n not in plain or self.sizes[n].depth is not None]
        if not options.jit or not later:
            return
        self._tell("compiling", 0, 1)
        artifact = artifact_of(self.problem, jit=True)
        for n in later:
            self._size(n, artifact, options.transitions)
            if self.finished:
                return

    @property
    def finished(self) -> bool:
        return self.options.stop_at_first and self.collector.failing

    @property
    def experts(self) -> list[str]:
        names = [expert.name for expert in self.problem.experts]
        return [name for name in names if self.options.expert in (None, name)]

    def _tell(self, what: str, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(what, done, total)

    # One size

    def _size(self, n: int, artifact: Artifact, transitions: int) -> None:
        """Explore the instances of one size, group by group, within its transitions."""
        plan = self._plan(n, transitions)
        groups = [plan.instances[k : k + AT_ONCE] for k in range(0, len(plan.instances), AT_ONCE)]
        self.figures.forget(n)
        self.standings.forget(n)
        self.spaces = [space for space in self.spaces if space.board.nodes != n]
        summary = SizeSummary(n, plan.graphs, 0, 0, 0, None, plan.possible)
        left = transitions
        for number, group in enumerate(groups):
            self._tell(f"{n} nodes", number * AT_ONCE, len(plan.instances))
            share = left // (len(groups) - number)
            space = explore(
                self.problem,
                group,
                states=self.options.states,
                transitions=share,
                artifact=artifact,
            )
            left -= len(space.source)
            summary = self._judge(space, summary)
            self.sizes[n] = summary
            if self.finished:
                return
        self.sizes[n] = summary
        self._renaming(plan, artifact)
        if n in LEVELS_OF_NODES:
            self._levels(plan)

    def _plan(self, n: int, transitions: int) -> SmallInstances:
        """The instances of a size, fewer if there are too many to look at each for long."""
        plan = plan_instances(self.problem, n, self.options.per_graph, self.options.seed)
        most = max(AT_ONCE, transitions // _SHARE)
        if len(plan.instances) <= most:
            return plan
        kept = np.sort(spread(len(plan.instances), most))
        instances = tuple(plan.instances[k] for k in kept)
        graphs = len({id(instance.graph) for instance in instances})
        return SmallInstances(n, graphs, plan.possible, instances)

    def _judge(self, space: Space, summary: SizeSummary) -> SizeSummary:
        """All properties of one explored space; its figures added to those of the size."""
        view = View(space)
        for failure in start_failures(space.board):
            self.collector.add(failure)
        for check in CHECKS:
            self._take(space, check(view))
        for name in self.experts:
            self._expert(view, name)
        if sum(map(len, self.spaces)) + len(space) <= _KEPT:
            self.spaces.append(space)
        summary = self.figures.add(view, summary)
        self.standings.add(view)
        view.close()
        return summary

    def _expert(self, view: View, name: str) -> None:
        for found in (*check_support(view, name), *check_arrival(view, name)):
            if found.property in OFF_PATH and self.options.lenient:
                self.figures.off_path(view.space, found)
            else:
                self._take(view.space, [found])
        self.figures.add_expert(view, name)
        board = view.space.board
        choose = partial(follow_expert, name)
        own = explore(self.problem, board.instances, states=_PLAY, board=board, choose=choose)
        play = View(own)
        if not view.space.complete.all():  # else these ends were judged with all others
            self._take(own, check_ends(play))
        for found in (*check_play(play, name), *check_finish(play, name)):
            if self._is_cut_off(own, found):
                self.figures.cut_off(own, found)
            else:
                self._take(own, [found])
        play.close()

    def _is_cut_off(self, space: Space, found: Found) -> bool:
        """Whether an expert that is not the default one only ran into the evaluation's limit.

        A limit is made for the default expert; others may be there to be compared with it.
        """
        if found.property != "expert-late" or found.expert == self.problem.experts[0].name:
            return False
        return bool((space.ended[found.states] == TRUNCATED).all())

    def _take(self, space: Space, found: Iterator[Found] | Sequence[Found]) -> None:
        for entry in found:
            if entry.expert is None or entry.expert in self.experts:
                self.collector.take(space, entry)

    # Things tried on a part

    def _renaming(self, plan: SmallInstances, artifact: Artifact) -> None:
        """The first instances again, under other names."""
        some = plan.instances[:AT_ONCE]
        most = _RENAMED[artifact.path.suffix == ".py"]
        if not some:
            return
        space = explore(self.problem, some, states=most, transitions=most, artifact=artifact)
        view = View(space)
        self._take(space, check_renaming(view, self.options.seed))
        view.close()

    def _levels(self, plan: SmallInstances) -> None:
        """Some instances again, with their numbers changed as the levels of a use allow."""
        some = [plan.instances[k] for k in spread(len(plan.instances), _CHANGED)]
        for use in uses_of(self.problem):
            for space, found in check_levels(self.problem, use, some):
                self._take(space, [found])

    def _rewards(self, sizes: list[int]) -> None:
        """Objectives and rewards besides the default one, on a few instances."""
        default = choose_reward(self.problem, None)
        entries: list[Objective | Reward] = [*self.problem.objectives, *self.problem.rewards]
        for entry in entries:
            if entry is default:
                continue
            artifact = artifact_of(self.problem, jit=False, reward=entry.name)
            for n in sizes:
                some = plan_instances(self.problem, n, _REWARDED).instances[:_REWARDED]
                self._reward(entry.name, some, artifact)

    def _reward(self, name: str, instances: Sequence[Instance], artifact: Artifact) -> None:
        if not instances:
            return
        most = self.options.plain_transitions // 5
        space = explore(self.problem, instances, states=most, transitions=most, artifact=artifact)
        view = View(space)
        self._take(space, check_telescope(view, name))
        self._take(space, check_rewards(view, name))
        self._take(space, check_misleading(view, name))


def unplayable(spaces: Sequence[Space]) -> bool:
    """Whether no explored instance of two nodes or more has a first pick."""
    large = [space for space in spaces if space.board.nodes > 1 and len(space)]
    return bool(large) and not any(np.any(space.live) for space in large)
