"""A checked problem in, an IR program out: its formulas, statements and clauses in place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import PICK, Ref
from gnarl_compiler.ir.walk import shallow, sweep
from gnarl_compiler.lower.formulas import FormulaLowering, Names, Versions
from gnarl_dsl import model
from gnarl_dsl.model import Expr, Problem, choose_reward
from gnarl_dsl.model.kinds import NODE_VALUE
from gnarl_dsl.report.diagnostics import InternalError


class Lowering:
    """Statements, and the parts of a program, around the lowering of formulas."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.formulas = FormulaLowering(problem)
        self.locals = 0
        self.delayed: set[str] | None = None  # what the loop that is being lowered writes

    # Statements

    def statements(self, body: Sequence[model.Statement], names: Names) -> tuple[ir.Statement, ...]:
        """Statements in order; those that nothing is left of disappear."""
        result: list[ir.Statement] = []
        for statement in body:
            match statement:
                case model.Assign():
                    result.append(self.assign(statement, names))
                case model.SetEdge():
                    result.append(self.set_edge(statement, names))
                case model.Bind():
                    bind = self.bind(statement, names)
                    result.append(bind)
                    names = {**names, statement.name: self.local(bind)}
                case model.When():
                    result += self.when(statement, names)
                case model.ForEach():
                    result += self.for_each(statement, names)
                case _:
                    assert_never(statement)
        return tuple(result)

    def assign(self, statement: model.Assign, names: Names) -> ir.Store:
        index = tuple(self.formulas.expr(part, names) for part in statement.index)
        value = self.formulas.expr(statement.value, names)
        self.wrote(statement.feature)
        return ir.Store(statement.feature, index, value, statement.span)

    def set_edge(self, statement: model.SetEdge, names: Names) -> ir.StoreEdge:
        ends = (
            self.formulas.expr(statement.source, names),
            self.formulas.expr(statement.target, names),
        )
        value = self.formulas.expr(statement.value, names)
        self.wrote("")
        return ir.StoreEdge(*ends, value, statement.span)

    def wrote(self, name: str) -> None:
        """Later statements read another version; those of a loop see the state before it."""
        if self.delayed is None:
            self.formulas.versions.bump(name)
        else:
            self.delayed.add(name)

    def bind(self, statement: model.Bind, names: Names) -> ir.Bind:
        value = self.formulas.expr(statement.value, names)
        self.locals += 1
        return ir.Bind(f"{statement.name}_{self.locals}", value)

    def local(self, bind: ir.Bind) -> Ref:
        info = self.formulas.build.infos[bind.value]
        return self.formulas.build.add(ir.Local(bind.name, info.kind, info.optional, info.bound))

    def when(self, statement: model.When, names: Names) -> Iterator[ir.Statement]:
        """After a branch every feature that either side wrote counts as written."""
        condition = self.formulas.expr(statement.condition, names)
        known = self.formulas.build.const(condition)
        if known is not None:
            yield from self.statements(
                statement.then if known.value else statement.otherwise, names
            )
            return
        before = self.formulas.versions.counts
        then = self.statements(statement.then, names)
        after_then, self.formulas.versions.counts = self.formulas.versions.counts, before
        other = self.statements(statement.otherwise, names)
        written = self.formulas.versions.changed(before, after_then)
        if written:
            self.formulas.versions.bump(*sorted(written))
        if then or other:
            yield ir.Branch(condition, then, other)

    def for_each(self, statement: model.ForEach, names: Names) -> Iterator[ir.Statement]:
        self.delayed = set()
        with self.formulas.bound(statement.binders, names) as (domains, inner):
            where = None if statement.where is None else self.formulas.expr(statement.where, inner)
            body = self.statements(statement.body, inner)
        written, self.delayed = self.delayed, None
        if written:
            self.formulas.versions.bump(*sorted(written))
            yield ir.Loop(domains, where, body)

    # The program

    def phase(self, number: int) -> ir.PhaseCode:
        phase = self.problem.phases[number]
        self.formulas.versions = Versions()
        names = self.phase_names(number)
        when = None if phase.when is None else self.formulas.expr(phase.when, names)
        allow = None if phase.allow is None else self.formulas.expr(phase.allow, names)
        update = self.statements(phase.update, names)
        self.formulas.versions = Versions()
        return ir.PhaseCode(phase.name, allow, update, when)

    def phase_names(self, number: int) -> dict[str, Ref]:
        """Earlier picks of the round by name; the pick itself is the axis `pick`."""
        phases = self.problem.phases
        add = self.formulas.build.add
        names = {
            phase.variable: add(ir.Pick(k, optional=phase.when is not None))
            for k, phase in enumerate(phases[:number])
        }
        names[phases[number].variable] = self.formulas.build.add(ir.Axis(PICK, NODE_VALUE))
        return names

    def cells(self, feature: model.Feature) -> ir.Cells:
        if feature.unset:
            return ir.Cells(feature.name, (), self.formulas.build.add(ir.Unset()))
        if feature.initial is None:
            raise InternalError(f"the feature `{feature.name}` has no formula")
        axes = tuple(f"cell{i}" for i in range(feature.width))
        refs = [self.formulas.build.add(ir.Axis(axis, NODE_VALUE)) for axis in axes]
        names = dict(zip(feature.vars, refs, strict=False))
        return ir.Cells(feature.name, axes, self.formulas.expr(feature.initial, names))

    def expert(self, expert: model.OwnExpert) -> ir.ExpertCode:
        if isinstance(expert, model.GreedyExpert):
            return ir.ExpertCode(expert.name, (), expert.objective)
        rules = [self.rule(expert, number) for number in range(len(self.problem.phases))]
        return ir.ExpertCode(expert.name, tuple(rules), None)

    def rule(self, expert: model.RuleExpert, number: int) -> tuple[ir.Choice, ...]:
        names = self.phase_names(number)
        name = self.problem.phases[number].name
        rule = next(rule for rule in expert.phases if rule.phase == name)
        return tuple(self.choice(alternative, names) for alternative in rule.alternatives)

    def choice(self, alternative: model.Alternative, names: Names) -> ir.Choice:
        where = None if alternative.where is None else self.formulas.expr(alternative.where, names)
        keys = tuple(
            (1 if key.direction == "minimising" else -1, self.formulas.expr(key.value, names))
            for key in alternative.keys
        )
        return ir.Choice(where, keys)

    def view(self, view: model.Window | model.Messages) -> ir.ViewCode:
        if isinstance(view, model.Window):
            binder = model.Binder(names=(view.variable,), domain=model.NodesDomain())
        else:
            binder = model.Binder(names=(view.sender, view.receiver), domain=model.EdgesDomain())
        nearest = view.nearest
        with self.formulas.bound((binder,), {}) as (domains, names):
            where = None if view.where is None else self.formulas.expr(view.where, names)
            key = None if nearest is None else self.formulas.expr(nearest.value, names)
        sign, count = (1, 0) if nearest is None else (nearest.sign, nearest.count)
        return ir.ViewCode(domains[0].axes, where, key, sign, count)

    def maybe(self, expr: Expr | None) -> Ref | None:
        return None if expr is None else self.formulas.expr(expr, {})


def lower_problem(problem: Problem, reward: str | None = None) -> ir.Program:
    """The whole problem; `reward` chooses an objective or reward by name."""
    with shallow():
        return _lowered(Lowering(problem), problem, reward)


def _lowered(work: Lowering, problem: Problem, reward: str | None) -> ir.Program:
    initial = tuple(work.cells(f) for f in problem.features if f.stage.written)
    derived = tuple(work.cells(f) for f in problem.features if f.stage.computed)
    chosen = choose_reward(problem, reward)
    program = ir.Program(
        name=problem.name,
        directed=problem.graph.directed,
        mutable=problem.graph.mutable,
        ops=(),
        infos=(),
        phases=tuple(work.phase(number) for number in range(len(problem.phases))),
        initial=initial,
        derived=derived,
        horizon=work.formulas.expr(problem.horizon, {}),
        limit=work.maybe(problem.limit),
        terminate=work.maybe(problem.terminate),
        correct=work.maybe(problem.correct),
        valid=work.maybe(problem.valid),
        objectives=tuple((o.name, work.formulas.expr(o.value, {})) for o in problem.objectives),
        metrics=tuple((m.name, work.formulas.expr(m.value, {})) for m in problem.metrics),
        reward=None if chosen is None else _reward(work, chosen),
        experts=tuple(work.expert(expert) for expert in problem.own_experts),
        kept=(),
        windows=tuple(map(work.view, problem.windows)),
        messages=tuple(map(work.view, problem.messages)),
        stop=None if problem.stop is None else ir.StopCode(work.maybe(problem.stop.when)),
    )
    table = work.formulas.build
    lets = tuple(work.formulas.called.values())
    return sweep(replace(program, ops=tuple(table.ops), infos=tuple(table.infos), lets=lets))


def _reward(work: Lowering, chosen: model.Objective | model.Reward) -> ir.RewardCode:
    kind = "potential" if isinstance(chosen, model.Objective) else chosen.kind
    return ir.RewardCode(chosen.name, kind, work.formulas.expr(chosen.value, {}))
