"""A problem and options go in, failures at larger sizes come out: random instances, much play.

Plays run in kernels, hundreds at a time; a part of them is repeated under other names of the
nodes, and a part in the interpreter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gnarl_compiler.build.artifact import Artifact
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.graphs.streams import stream
from gnarl_dsl.model import Problem
from gnarl_runtime.checks.explore.artifacts import artifact_of, instance_pool
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.findings.waived import Key as WaiverKey
from gnarl_runtime.checks.findings.waived import Waivers
from gnarl_runtime.checks.findings.wishes import Options, Progress
from gnarl_runtime.checks.properties.earned import Earned
from gnarl_runtime.checks.sample.backends import backend_failures, evaluate_cost
from gnarl_runtime.checks.sample.judges import Found, Judge, smallest_each
from gnarl_runtime.checks.sample.plays import Arena, Seat
from gnarl_runtime.checks.sample.sample_instances import Example, sample_instances
from gnarl_runtime.checks.sample.sample_renaming import renaming_failures
from gnarl_runtime.instances.instance_checks import InstanceError
from gnarl_runtime.instances.pools import Pool

SLIP = 0.25  # how often a play that follows an expert does something else
_STEPS = 2_000_000_000  # of all experts' formulas: about ten seconds of machine code
_PLAIN_EXAMPLES, _PLAIN_NODES, _PLAIN_STEPS = 60, 8, 2_000_000  # without a compiler
_AT_ONCE = 256  # instances
_RENAMED_NODES, _RENAMED_STRIDE = 20, 2
_ROUNDS = 2  # per node, which is more than most experts need


def sample_failures(
    problem: Problem, options: Options, progress: Progress | None = None
) -> tuple[int, tuple[Failure, ...]]:
    """How many random instances were played, and one failure per broken property and expert."""
    count, nodes = options.examples, options.sample_nodes
    if not options.jit:
        count, nodes = min(count, _PLAIN_EXAMPLES), min(nodes, _PLAIN_NODES)
    if count < 1:
        return 0, ()
    examples = sample_instances(problem, count, nodes, options.seed)
    artifact = artifact_of(problem, options.jit)
    work = _Sampling(problem, artifact, options)
    for start in range(0, count, _AT_ONCE):
        if progress is not None:
            progress("random instances", start, count)
        work.play(examples[start : start + _AT_ONCE], start)
        if options.stop_at_first and any(waiver is None for *_, waiver in work.failures):
            break
    else:
        for failure in work.earned.failures():
            work.keep(failure)
    if progress is not None:
        progress("random instances", count, count)
    return count, tuple(work.failures.values())


class _Sampling:
    """Failures so far, the smallest per property and expert."""

    def __init__(self, problem: Problem, artifact: Artifact, options: Options) -> None:
        self.problem, self.artifact, self.options = problem, artifact, options
        self.waivers = Waivers(problem)
        self.failures: dict[WaiverKey, Failure] = {}
        self.earned = Earned(problem)
        whole = _STEPS if options.jit else _PLAIN_STEPS
        self.steps = whole * min(1.0, _AT_ONCE / max(1, options.examples))

    def play(self, examples: Sequence[Example], start: int) -> None:
        examples = self.solvable(examples)
        if not examples:
            return
        instances = [example.instance for example in examples]
        pool = instance_pool(self.problem, self.artifact, instances)
        arena = Arena(self.artifact, pool, self.seats(examples, pool))
        judge = Judge(arena)
        arena.play(stream(self.options.seed, "check play", start))
        sizes = np.array([instance.graph.n for instance in instances])
        for entry, count in smallest_each(arena, judge.found(), sizes, self.waivers):
            self.keep(_failure(arena, instances, entry, count))
        self.earned.add(arena, instances)
        rng = stream(self.options.seed, "check renaming", start)
        for failure in renaming_failures(self.problem, self.artifact, _renamed(examples), rng):
            self.keep(failure)
        solved = [pool.instance(k) for k in range(len(pool))]
        plays = [(solved[seat.instance], arena.picks(k)) for k, seat in enumerate(arena.seats)]
        share = len(examples) / self.options.examples * (1.0 if self.options.jit else 0.2)
        for failure in backend_failures(self.problem, self.artifact, plays, share):
            self.keep(replace(failure, instance=replace(failure.instance, oracles={})))

    def keep(self, failure: Failure) -> None:
        """The smaller one of two witnesses against the same property."""
        key = self.waivers.key(failure.property, failure.expert, failure.span)
        known = self.failures.get(key)
        if known is None:
            self.failures[key] = failure
            return
        smaller = min(known, failure, key=_size)
        self.failures[key] = replace(smaller, count=known.count + failure.count)

    def solvable(self, examples: Sequence[Example]) -> Sequence[Example]:
        """Those whose oracles can be computed; the others are failures of the spec."""
        try:
            instance_pool(self.problem, self.artifact, [e.instance for e in examples])
        except InstanceError as error:
            if len(examples) == 1:
                what = str(error).removeprefix("instance 0: ")
                self.keep(Failure("run-error", what, examples[0].instance, (), None))
                return ()
            half = len(examples) // 2
            return [*self.solvable(examples[:half]), *self.solvable(examples[half:])]
        return examples

    def seats(self, examples: Sequence[Example], pool: Pool) -> list[Seat]:
        """Everybody plays every instance, except experts that would take too long on large ones."""
        everyone = [Seat(k) for k in range(len(examples))]
        experts = [e.name for e in self.problem.experts if self.options.expert in (None, e.name)]
        asked = [
            (_work(self.problem, name, pool, k), k, name)
            for name in experts
            for k in range(len(examples))
        ]
        spent = 0.0
        for steps, k, name in sorted(asked):
            spent += 2 * steps
            if spent > self.steps:
                break
            everyone += [Seat(k, name), Seat(k, name, SLIP)]
        return everyone


def _failure(arena: Arena, instances: Sequence[Instance], entry: Found, count: int) -> Failure:
    """A finding with its witness; an expert's play ends at the limit, if there is one."""
    instance, picks = instances[arena.seats[entry.slot].instance], arena.picks(entry.slot)
    limit = arena.limits[entry.slot]
    if entry.property == "expert-late" and math.isfinite(limit):
        picks = picks[: math.ceil(limit) * len(arena.problem.phases)]
    return Failure(entry.property, entry.message, instance, picks, entry.span, entry.expert, count)


def _renamed(examples: Sequence[Example]) -> list[Instance]:
    """Instances to rename: their oracles are solved once more, which takes long on large ones."""
    exact = [e.instance for e in examples if e.exact and e.instance.graph.n <= _RENAMED_NODES]
    return exact[::_RENAMED_STRIDE]


def _work(problem: Problem, expert: str, pool: Pool, number: int) -> float:
    """About how many elementary steps an expert's play takes, by its cost and n."""
    n, m = int(pool.batch.n[number]), int(pool.batch.m[number])
    terms = dict(problem.costs.experts)[expert]
    return evaluate_cost(terms, n, m) * len(problem.phases) * _ROUNDS * n


def _size(failure: Failure) -> tuple[int, int, int]:
    return failure.instance.graph.n, len(failure.picks), failure.instance.graph.m
