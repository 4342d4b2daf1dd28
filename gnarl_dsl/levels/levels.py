"""A problem and what it is used for in, the unit and level of measurement of every number out.

Only what decides counts: masks, updates, derived features, experts that are followed, goals that
are learned from, and an end that reads no oracle. When in doubt, a number is absolute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from gnarl_dsl import model
from gnarl_dsl.language.registered import SOURCES
from gnarl_dsl.levels.gather import Equation, Gathered, reads_oracle
from gnarl_dsl.levels.system import ONE, Dimension, System, unit
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import ABSOLUTE, HIDDEN, INPUT, ORDINAL, RATIO, Level
from gnarl_dsl.model.parts import features_named, parts_behind
from gnarl_dsl.report.source import Span


@dataclass(frozen=True)
class Use:
    """What decides besides the transitions: experts to follow, objectives or rewards to gain."""

    experts: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Measure:
    """Of one feature: its level, and its unit as powers of others, which are named by an input.

    An absolute one has no unit; `why` is what makes it so, if something does.
    """

    level: Level
    powers: tuple[tuple[str, int], ...] = ()
    why: Span | None = None

    @property
    def unit(self) -> str:
        """For people: `A`, `A * w`, `A / w`."""
        over = [_power(name, power) for name, power in self.powers if power > 0]
        under = [_power(name, -power) for name, power in self.powers if power < 0]
        return " / ".join([" * ".join(over) or "1", *under]) if self.powers else ""


def _power(name: str, power: int) -> str:
    return name if power == 1 else f"{name}^{power}"


Measures = Mapping[str, Measure]  # of every observed scalar and point, in the order of the spec


def default_use(problem: Problem) -> Use:
    """The first expert, or without one what is gained."""
    if problem.experts:
        return Use(experts=(problem.experts[0].name,))
    goal = model.choose_reward(problem, None)
    return Use(goals=(goal.name,) if goal is not None else ())


def levels_of(problem: Problem, use: Use) -> Measures:
    """The measure of every observed feature that is a number.

    Where definitions are nested too deeply to be followed, nothing is claimed of any.
    """
    numbers = [f for f in problem.features if f.is_measured and f.observed]
    gathered = Gathered(problem)
    try:
        _gather_deciders(gathered, use)
    except RecursionError:
        return {feature.name: Measure(ABSOLUTE) for feature in numbers}
    system, why = _solved(problem, gathered.equations)
    _settle(system, why, numbers)
    dimensions = {feature.name: system.reduced(unit(feature.name)) for feature in numbers}
    compared = _only_compared(system, gathered, dimensions)
    return {name: _measure(dimensions[name], compared, why.get(name)) for name in dimensions}


def units_of(problem: Problem, measures: Measures) -> Mapping[str, tuple[str, ...]]:
    """The inputs that have a unit, by its name: its scale and its ranks come from these."""
    inputs = [f.name for f in problem.features if f.stage is INPUT and f.name in measures]
    bases = {name for measure in measures.values() for name, _ in measure.powers}
    return {
        base: tuple(name for name in inputs if measures[name].powers == ((base, 1),))
        for base in inputs
        if base in bases
    }


# What decides


def _gather_deciders(gathered: Gathered, use: Use) -> None:
    problem = gathered.problem
    judging = _only_judged(problem, use)
    for feature in problem.features:
        if feature.observed:
            gathered.feature(feature)
    for phase in problem.phases:
        for condition in (phase.when, phase.allow):
            if condition is not None:
                gathered.formula(condition)
        gathered.statements(phase.update, {}, judging)
    shown: tuple[model.Window | model.Messages, ...] = (*problem.windows, *problem.messages)
    for line in shown:
        _gather_shown(gathered, line)
    ends = [problem.horizon, problem.terminate, problem.stop.when if problem.stop else None]
    for formula in ends:
        if formula is not None and not reads_oracle(problem, formula):
            gathered.formula(formula)
    for name in use.experts:
        _gather_expert(gathered, problem.expert(name))
    if use.goals and problem.terminate is not None:
        gathered.formula(problem.terminate)  # when it ends decides what is gained
    for name in use.goals:
        goal = model.choose_reward(problem, name)
        assert goal is not None
        gathered.figure(goal.value)


def _only_judged(problem: Problem, use: Use) -> frozenset[str]:
    """The hidden features, if nothing that decides reads one of them."""
    hidden = frozenset(f.name for f in problem.features if f.stage is HIDDEN)
    rules = [problem.expert(name) for name in use.experts]
    if not hidden or use.goals or not all(isinstance(rule, model.RuleExpert) for rule in rules):
        return frozenset()
    parts = parts_behind(problem, (problem.terminate, *rules))
    read = {name for part in parts for name in features_named(part)}
    return frozenset() if read & hidden else hidden


def _gather_shown(gathered: Gathered, shown: model.Window | model.Messages) -> None:
    """What the network reads is decided like what may be picked."""
    for formula in (shown.where, shown.nearest.value if shown.nearest is not None else None):
        if formula is not None:
            gathered.formula(formula)


def _gather_expert(gathered: Gathered, expert: model.Expert) -> None:
    problem = gathered.problem
    match expert:
        case model.RuleExpert():
            for rules in expert.phases:
                for alternative in rules.alternatives:
                    gathered.choice(alternative)
        case model.GreedyExpert():
            gathered.figure(problem.objective(expert.objective).value)
        case model.SearchExpert() | model.BestExpert():
            for formula in (problem.terminate, problem.valid, problem.correct):
                if formula is not None:
                    gathered.formula(formula)
            for goal in problem.objectives:
                gathered.figure(goal.value)
            for member in expert.members if isinstance(expert, model.BestExpert) else ():
                _gather_expert(gathered, problem.expert(member))


# Solving


def _keep(inputs: Mapping[str, int], name: str) -> tuple[int, int]:
    """Inputs stay free longest, the first of them last of all."""
    return (1, -inputs[name]) if name in inputs else (0, 0)


def _solved(problem: Problem, equations: list[Equation]) -> tuple[System, dict[str, Span]]:
    """What is left free, and for each pure number the place that made it one."""
    inputs = {f.name: at for at, f in enumerate(problem.features) if f.stage is INPUT}
    system, why = System(partial(_keep, inputs)), dict[str, Span]()
    for equation in equations:
        passed_on = (why[name] for name in equation.dimension if name in why)
        for name in system.require_pure(equation.dimension):
            why.setdefault(name, next(passed_on, equation.span))
    return system, why


def _settle(system: System, why: dict[str, Span], numbers: list[Feature]) -> None:
    """Units without an input to measure them by, and roots, are given up for pure numbers.

    That chooses among the solutions, so what is left still changes no decision.
    """
    inputs = {feature.name for feature in numbers if feature.stage is INPUT}
    while True:
        found = [(f, system.reduced(unit(f.name))) for f in numbers]
        lost = [(f, name) for f, d in found for name in d if not _can_stay(d, name, inputs)]
        if not lost:
            return
        for feature, name in lost:
            for pure in system.require_pure(unit(name)):
                why.setdefault(pure, feature.span)


def _can_stay(dimension: Dimension, name: str, inputs: set[str]) -> bool:
    return name in inputs and all(power.denominator == 1 for power in dimension.values())


def _only_compared(
    system: System, gathered: Gathered, dimensions: Mapping[str, Dimension]
) -> set[str]:
    """The units whose numbers are never calculated with and are in no product."""
    used = {name for place in gathered.arithmetic for name in system.reduced(place.dimension)}
    mixed = {
        name for dimension in dimensions.values() for name in dimension if dimension != {name: ONE}
    }
    bases = {name for dimension in dimensions.values() for name in dimension}
    return bases - used - mixed


def _measure(dimension: Dimension, compared: set[str], why: Span | None) -> Measure:
    if not dimension:
        return Measure(ABSOLUTE, why=why)
    powers = tuple(sorted((name, int(power)) for name, power in dimension.items()))
    return Measure(ORDINAL if set(dimension) <= compared else RATIO, powers)


# What cannot be meant


@dataclass(frozen=True)
class Mix:
    """A place where a number with a unit meets a number of things."""

    span: Span
    sign: str
    input: Feature  # that the unit comes from


def mixes(problem: Problem) -> Iterator[Mix]:
    """Every one in the whole spec, what only judges included."""
    gathered = Gathered(problem)
    try:
        _gather_all(gathered)
    except RecursionError:  # nested too deeply to be followed
        return
    likely = [e for e in gathered.equations if e.other is None]
    system, _ = _solved(problem, likely)
    inputs = {f.name: f for f in problem.features if f.stage is INPUT and not _may_count(f)}
    for equation in gathered.equations:
        if equation.other is not None:
            names = [name for name in system.reduced(equation.other) if name in inputs]
            if names:
                yield Mix(equation.span, equation.sign, inputs[names[0]])


def _may_count(feature: Feature) -> bool:
    """Whether an input could itself be a number of things."""
    return feature.source is None or any(
        law.name not in SOURCES or SOURCES[law.name].counts for law in feature.source.laws
    )


def _gather_all(gathered: Gathered) -> None:
    problem = gathered.problem
    goals = (*(g.name for g in problem.objectives), *(r.name for r in problem.rewards))
    rules = tuple(e.name for e in problem.experts if isinstance(e, model.RuleExpert))
    _gather_deciders(gathered, Use(rules, goals))
    judges = (problem.limit, problem.terminate, problem.valid, problem.correct)
    for formula in (*judges, *(metric.value for metric in problem.metrics)):
        if formula is not None:
            gathered.formula(formula)
