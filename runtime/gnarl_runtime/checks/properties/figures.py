"""Views of explored spaces go in, the figures of a report come out: sizes, experts, silence."""

from __future__ import annotations

from dataclasses import replace

from gnarl_dsl.model import Problem
from gnarl_runtime.checks.explore.space import Space
from gnarl_runtime.checks.explore.worths import View
from gnarl_runtime.checks.findings.findings import ExpertSummary, Failure, Lint, SizeSummary
from gnarl_runtime.checks.findings.waived import Waivers
from gnarl_runtime.checks.properties.found import Collector, Found

# What `--lenient` turns from failures into lints.
OFF_PATH = ("expert-silent", "expert-lost")


class Figures:
    """Sums over spaces, kept by size: a size that is explored again replaces what was there."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.waivers = problem, Waivers(problem)
        self._experts: dict[tuple[int, str], ExpertSummary] = {}
        self._cut_off: dict[int, Collector] = {}  # by nodes
        self._off_path: dict[tuple[int, int], Collector] = {}  # by nodes and phase

    def forget(self, nodes: int) -> None:
        """Drop what is known of one size."""
        self._experts = {key: value for key, value in self._experts.items() if key[0] != nodes}
        self._cut_off.pop(nodes, None)
        kept = {key: value for key, value in self._off_path.items() if key[0] != nodes}
        self._off_path = kept

    def add(self, view: View, summary: SizeSummary) -> SizeSummary:
        """A size's figures with those of one more space."""
        space, win = view.space, view.win
        bounds = [int(depth) for depth in space.bound if depth >= 0]
        if summary.depth is not None:
            bounds.append(summary.depth)
        return replace(
            summary,
            instances=summary.instances + len(space.board.instances),
            states=summary.states + len(space),
            transitions=summary.transitions + len(space.source),
            depth=min(bounds, default=None),
            complete=summary.complete + int(space.complete.sum()),
            live=summary.live + int(space.live.sum()),
            winnable=summary.winnable + int((win.yes & space.live).sum()),
            undecided=summary.undecided + int((win.undecided & space.live).sum()),
        )

    def add_expert(self, view: View, name: str) -> None:
        space, play = view.space, view.expert(name)
        key = (space.board.nodes, name)
        known = self._experts.get(key, ExpertSummary(name, 0, 0, 0))
        self._experts[key] = ExpertSummary(
            name,
            known.states + int(space.live.sum()),
            known.labelled + int((play.labelled & space.live).sum()),
            known.recoverable + int((play.outcome.yes & view.win.yes & space.live).sum()),
            known.winnable + int((view.win.yes & space.live).sum()),
            known.undecided + int((play.outcome.undecided & space.live).sum()),
        )

    def experts(self) -> tuple[ExpertSummary, ...]:
        """One summary per expert over all sizes."""
        names = [expert.name for expert in self.problem.experts]
        return tuple(self._sum(name) for name in names if self._has(name))

    def _has(self, name: str) -> bool:
        return any(key[1] == name for key in self._experts)

    def _sum(self, name: str) -> ExpertSummary:
        parts = [entry for key, entry in self._experts.items() if key[1] == name]
        return ExpertSummary(
            name,
            sum(entry.states for entry in parts),
            sum(entry.labelled for entry in parts),
            sum(entry.recoverable for entry in parts),
            sum(entry.winnable for entry in parts),
            sum(entry.undecided for entry in parts),
        )

    # Experts off their own path

    def off_path(self, space: Space, found: Found) -> None:
        """Remember states that can be won but have no answer of an expert, or none that helps."""
        if len(found.states):
            phase = int(space.field("phase")[found.states[0]])
            key = space.board.nodes, phase
            self._off_path.setdefault(key, Collector(self.waivers)).take(space, found)

    def off_paths(self) -> tuple[Lint, ...]:
        """One lint per property, expert and phase with such states."""
        merged: dict[int, Collector] = {}
        for (_, phase), collector in sorted(self._off_path.items(), key=lambda item: item[0]):
            for failure in collector.failures():
                merged.setdefault(phase, Collector(self.waivers)).add(failure)
        kept = [(phase, f) for phase in sorted(merged) for f in merged[phase].failures()]
        return tuple(self._lint(phase, failure) for phase, failure in kept)

    def _lint(self, phase: int, failure: Failure) -> Lint:
        expert, graph = self._sum(str(failure.expert)), failure.instance.graph
        picks = " ".join(map(str, failure.picks))
        share = failure.count / max(1, expert.winnable)
        does = "has no answer in" if failure.property == "expert-silent" else "does not arrive from"
        message = (
            f"the expert `{failure.expert}` {does} phase "
            f"`{self.problem.phases[phase].name}` of {failure.count:,} states ({share:.1%} of "
            f"those that can still be won), such as {graph.n} nodes, {graph.m} edges, picks {picks}"
        )
        figures = {"states": float(failure.count), "winnable": float(expert.winnable)}
        return Lint(failure.property, message, figures, failure.span)

    # Experts that are cut off

    def cut_off(self, space: Space, found: Found) -> None:
        """Remember ends at which the evaluation's limit stops an expert before it is done."""
        self._cut_off.setdefault(space.board.nodes, Collector(self.waivers)).take(space, found)

    def late(self) -> tuple[Lint, ...]:
        """One lint per expert that the limit cuts off."""
        merged = Collector(self.waivers)
        for nodes in sorted(self._cut_off):
            for failure in self._cut_off[nodes].failures():
                merged.add(failure)
        return tuple(
            Lint(
                "short-limit",
                f"the limit cuts off the expert `{failure.expert}` before it is done: "
                f"{failure.count:,} states in which its play can stop, the first with "
                f"{failure.instance.graph.n} nodes after {len(failure.picks)} picks",
                {"ends": float(failure.count)},
                failure.span,
            )
            for failure in merged.failures()
        )
