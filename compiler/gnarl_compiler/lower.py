"""A checked problem in, an IR program out: lets inlined, clauses resolved, axes named."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from gnarl_compiler import ir
from gnarl_compiler.builder import Builder
from gnarl_compiler.interpret import choose_reward
from gnarl_compiler.ir import PICK, Ref
from gnarl_dsl import model
from gnarl_dsl.diagnostics import InternalError
from gnarl_dsl.model import Expr, Problem

Names = Mapping[str, Ref]


@dataclass
class Versions:
    """How often each feature, and the graph (""), has been written at this point."""

    counts: dict[str, int] = field(default_factory=dict)

    def of(self, name: str) -> int:
        return self.counts.get(name, 0)

    def bump(self, name: str) -> None:
        self.counts[name] = self.of(name) + 1


class Lowering:
    """One problem on its way into the table."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.build = Builder(problem)
        self.versions = Versions()
        self.lets = {let.name: let for let in problem.lets}
        self.phase_numbers = {phase.name: i for i, phase in enumerate(problem.phases)}
        self.locals = 0
        # How many axes are bound around what is being lowered: part of every axis name, so
        # that no formula inlined under a binder can capture its variable.
        self.depth = 0
        self._inlined: dict[Hashable, Ref] = {}

    # Expressions

    def expr(self, expr: Expr, names: Names) -> Ref:
        add = self.build.add
        match expr:
            case model.Number():
                return add(ir.Const(float(expr.value), "number"))
            case model.Boolean():
                return add(ir.Const(expr.value, "truth"))
            case model.Category():
                return add(ir.Const(float(expr.value), "category"))
            case model.Variable():
                return names[expr.name]
            case model.Read():
                return self.cell(expr.feature, tuple(self.expr(i, names) for i in expr.index))
            case model.OneNode():
                return self.marked(expr.feature)
            case model.Size():
                return add(ir.Nodes() if expr.of == "nodes" else ir.Edges(self.versions.of("")))
            case model.HasEdge():
                ends = self.expr(expr.source, names), self.expr(expr.target, names)
                return add(ir.HasEdge(*ends, self.versions.of("")))
            case model.Degree():
                node = self.expr(expr.node, names)
                return add(ir.Degree(node, expr.direction, self.versions.of("")))
            case model.Last():
                return add(ir.Last(self.phase_numbers[expr.phase]))
            case model.Otherwise():
                return add(
                    ir.Otherwise(self.expr(expr.value, names), self.expr(expr.default, names))
                )
            case model.Unary():
                return add(ir.Unary(expr.op, self.expr(expr.operand, names)))
            case model.Arithmetic():
                left, right = self.expr(expr.left, names), self.expr(expr.right, names)
                return add(ir.Binary(expr.op, left, right))
            case model.Compare():
                left, right = self.expr(expr.left, names), self.expr(expr.right, names)
                return add(ir.Compare(expr.op, left, right))
            case model.Logic():
                return add(ir.Logic(expr.op, tuple(self.expr(arg, names) for arg in expr.args)))
            case model.IfElse():
                parts = (expr.condition, expr.then, expr.otherwise)
                return add(ir.Select(*(self.expr(part, names) for part in parts)))
            case model.Quantifier():
                return self.quantifier(expr, names)
            case model.LetCall():
                let = self.lets[expr.name]
                args = tuple(self.expr(arg, names) for arg in expr.args)
                return self.inlined(let.body, [param.name for param in let.params], args)
            case model.ClauseRef():
                return self.inlined(self.clause(expr), [], ())
            case model.Call():
                return self.call(expr, names)
            case model.Chase():
                return self.chase(expr, names)
            case model.Choice() | model.FeatureRef():
                raise InternalError("an argument of a function was used as a value")
            case _:
                assert_never(expr)

    def inlined(self, body: Expr, names: Sequence[str], args: tuple[Ref, ...]) -> Ref:
        """A definition with its arguments, lowered once per arguments and state of writes."""
        writes = tuple(sorted(self.versions.counts.items()))
        key = (id(body), args, self.depth, writes)
        if key not in self._inlined:
            self._inlined[key] = self.expr(body, dict(zip(names, args, strict=False)))
        return self._inlined[key]

    def clause(self, expr: model.ClauseRef) -> Expr:
        if expr.clause == "objective":
            return self.problem.objective(expr.name).value
        clause = self.problem.correct if expr.clause == "correct" else self.problem.valid
        if clause is None:
            raise InternalError(f"the clause `{expr.clause}` is missing")
        return clause

    def cell(self, name: str, index: tuple[Ref, ...]) -> Ref:
        """A stored cell, or the formula of a derived one; derived edges read 0 off the edges."""
        feature = self.build.features[name]
        if feature.type == "mask_one":
            return self.build.add(ir.Compare("==", self.marked(name), index[0]))
        if feature.stage != "derived":
            return self.build.add(ir.Read(name, index, self.versions.of(name)))
        if feature.initial is None:
            raise InternalError(f"the derived feature `{name}` has no formula")
        value = self.inlined(feature.initial, feature.vars, index)
        if feature.place != "edge":
            return value
        joined = self.build.add(ir.HasEdge(index[0], index[1], self.versions.of("")))
        kind = self.build.infos[value].kind
        nothing = self.build.add(ir.Const(False if kind == "truth" else 0.0, kind))
        return self.build.add(ir.Select(joined, value, nothing))

    def marked(self, name: str) -> Ref:
        """The node of a mask_one, or the formula that says which."""
        feature = self.build.features[name]
        if feature.stage != "derived" or feature.initial is None:
            return self.build.add(ir.Marked(name, self.versions.of(name)))
        return self.inlined(feature.initial, (), ())

    # Binders

    def domains(
        self, binders: Sequence[model.Binder], names: Names
    ) -> tuple[tuple[ir.Domain, ...], Names]:
        """Named axes for the binders, and the names in reach inside them."""
        result: list[ir.Domain] = []
        inner = dict(names)
        for binder in binders:
            domain, kind = self.domain(binder, inner)
            for name, axis in zip(binder.names, domain.axes, strict=True):
                inner[name] = self.build.add(ir.Axis(axis, kind))
            self.depth += len(binder.names)
            result.append(domain)
        return tuple(result), inner

    def domain(self, binder: model.Binder, names: Names) -> tuple[ir.Domain, ir.Kind]:
        axes = tuple(f"{name}_{self.depth + i}" for i, name in enumerate(binder.names))
        version = self.versions.of("")
        match binder.domain:
            case model.NodesDomain():
                return ir.Domain("nodes", axes), "node"
            case model.EdgesDomain():
                return ir.Domain("edges", axes, version=version), "node"
            case model.NearDomain():
                node = self.expr(binder.domain.node, names)
                way = binder.domain.direction
                return ir.Domain("near", axes, node, way, version=version), "node"
            case model.RangeDomain():
                bounds = (binder.domain.first, binder.domain.last)
                return ir.Domain("range", axes, bounds=bounds), "number"
            case _:
                assert_never(binder.domain)

    def quantifier(self, expr: model.Quantifier, names: Names) -> Ref:
        outside = self.depth
        domains, inner = self.domains(expr.binders, names)
        where = None if expr.where is None else self.expr(expr.where, inner)
        body = None if expr.body is None else self.expr(expr.body, inner)
        self.depth = outside
        return self.build.add(ir.Reduce(expr.op, domains, where, body))

    def chase(self, expr: model.Chase, names: Names) -> Ref:
        at, to = f"at_{self.depth}", f"to_{self.depth + 1}"
        start = self.expr(expr.start, names)
        target = None if expr.target is None else self.expr(expr.target, names)
        here, there = (self.build.add(ir.Axis(axis, "node")) for axis in (at, to))
        self.depth += 2
        following = self.cell(expr.pointer, (here,))
        cost = None if expr.weight is None else self.cell(expr.weight, (there, here))
        self.depth -= 2
        return self.build.add(ir.Chase(expr.op, following, start, target, at, to, cost))

    def call(self, expr: model.Call, names: Names) -> Ref:
        args: list[Ref | str] = []
        versions: list[int] = []
        for arg in expr.args:
            if isinstance(arg, model.FeatureRef):
                args.append(arg.feature)
                versions.append(self.versions.of(arg.feature))
            elif isinstance(arg, model.Choice):
                args.append(arg.value)
            else:
                args.append(self.expr(arg, names))
        versions.append(self.versions.of(""))
        return self.build.add(ir.Call(expr.function, tuple(args), tuple(versions)))

    # Statements

    def statements(self, body: Sequence[model.Statement], names: Names) -> tuple[ir.Statement, ...]:
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
                    result.append(self.when(statement, names))
                case model.ForEach():
                    result.append(self.for_each(statement, names))
                case _:
                    assert_never(statement)
        return tuple(result)

    def assign(self, statement: model.Assign, names: Names) -> ir.Store:
        index = tuple(self.expr(part, names) for part in statement.index)
        value = self.expr(statement.value, names)
        self.versions.bump(statement.feature)
        return ir.Store(statement.feature, index, value, statement.span)

    def set_edge(self, statement: model.SetEdge, names: Names) -> ir.StoreEdge:
        ends = self.expr(statement.source, names), self.expr(statement.target, names)
        value = self.expr(statement.value, names)
        self.versions.bump("")
        return ir.StoreEdge(*ends, value, statement.span)

    def bind(self, statement: model.Bind, names: Names) -> ir.Bind:
        value = self.expr(statement.value, names)
        self.locals += 1
        return ir.Bind(f"{statement.name}_let{self.locals}", value)

    def local(self, bind: ir.Bind) -> Ref:
        info = self.build.infos[bind.value]
        return self.build.add(ir.Local(bind.name, info.kind, info.optional, info.finite))

    def when(self, statement: model.When, names: Names) -> ir.Branch:
        """After a branch every feature that either side wrote counts as written."""
        condition = self.expr(statement.condition, names)
        before = dict(self.versions.counts)
        then = self.statements(statement.then, names)
        after_then, self.versions.counts = self.versions.counts, before
        other = self.statements(statement.otherwise, names)
        for name, count in after_then.items():
            self.versions.counts[name] = max(count, self.versions.of(name)) + 1
        return ir.Branch(condition, then, other)

    def for_each(self, statement: model.ForEach, names: Names) -> ir.Loop:
        """Reads inside the loop see the state before it, so they keep the old versions."""
        outside = self.depth
        domains, inner = self.domains(statement.binders, names)
        where = None if statement.where is None else self.expr(statement.where, inner)
        before = dict(self.versions.counts)
        body = self.loop_body(statement.body, inner, before)
        self.depth = outside
        return ir.Loop(domains, where, body)

    def loop_body(
        self, body: Sequence[model.Statement], names: Names, before: dict[str, int]
    ) -> tuple[ir.Statement, ...]:
        written: dict[str, int] = {}
        result: list[ir.Statement] = []
        for statement in body:
            self.versions.counts = dict(before)
            if isinstance(statement, model.Bind):
                bind = self.bind(statement, names)
                result.append(bind)
                names = {**names, statement.name: self.local(bind)}
            elif isinstance(statement, model.When):
                condition = self.expr(statement.condition, names)
                then = self.loop_body(statement.then, names, before)
                written |= self.versions.counts
                other = self.loop_body(statement.otherwise, names, before)
                result.append(ir.Branch(condition, then, other))
            else:
                result += self.statements((statement,), names)
            written |= self.versions.counts
        self.versions.counts = {**before, **{name: count + 1 for name, count in written.items()}}
        return tuple(result)

    # The program

    def phase(self, number: int) -> ir.PhaseCode:
        phase = self.problem.phases[number]
        self.versions = Versions()
        names = self.phase_names(number)
        allow = None if phase.allow is None else self.expr(phase.allow, names)
        update = self.statements(phase.update, names)
        self.versions = Versions()
        return ir.PhaseCode(phase.name, allow, update)

    def phase_names(self, number: int) -> dict[str, Ref]:
        """Earlier picks of the round by name; the pick itself is the axis `pick`."""
        phases = self.problem.phases
        names = {phases[k].variable: self.build.add(ir.Pick(k)) for k in range(number)}
        names[phases[number].variable] = self.build.add(ir.Axis(PICK, "node"))
        return names

    def cells(self, feature: model.Feature) -> ir.Cells:
        if feature.initial is None:
            raise InternalError(f"the feature `{feature.name}` has no formula")
        count = 0 if feature.type == "mask_one" else {"node": 1, "graph": 0}.get(feature.place, 2)
        axes = tuple(f"cell{i}" for i in range(count))
        refs = [self.build.add(ir.Axis(axis, "node")) for axis in axes]
        names = dict(zip(feature.vars, refs, strict=False))
        return ir.Cells(feature.name, axes, self.expr(feature.initial, names))

    def expert(self, expert: model.RuleExpert | model.GreedyExpert) -> ir.ExpertCode:
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
        where = None if alternative.where is None else self.expr(alternative.where, names)
        keys = tuple(
            (1 if key.direction == "minimising" else -1, self.expr(key.value, names))
            for key in alternative.keys
        )
        return ir.Choice(where, keys)

    def maybe(self, expr: Expr | None) -> Ref | None:
        return None if expr is None else self.expr(expr, {})


def lower_problem(problem: Problem, reward: str | None = None) -> ir.Program:
    """The whole problem; `reward` chooses an objective or reward by name."""
    work = Lowering(problem)
    stages = {
        stage: tuple(work.cells(f) for f in problem.features if f.stage == stage)
        for stage in ("state", "derived")
    }
    chosen = choose_reward(problem, reward)
    program = ir.Program(
        name=problem.name,
        directed=problem.graph.directed,
        mutable=problem.graph.mutable,
        ops=(),
        infos=(),
        phases=tuple(work.phase(number) for number in range(len(problem.phases))),
        initial=stages["state"],
        derived=stages["derived"],
        horizon=work.expr(problem.horizon, {}),
        limit=work.maybe(problem.limit),
        terminate=work.maybe(problem.terminate),
        correct=work.maybe(problem.correct),
        valid=work.maybe(problem.valid),
        objectives=tuple((o.name, work.expr(o.value, {})) for o in problem.objectives),
        metrics=tuple((m.name, work.expr(m.value, {})) for m in problem.metrics),
        reward=None if chosen is None else _reward(work, chosen),
        experts=tuple(work.expert(expert) for expert in problem.experts),
        kept=(),
    )
    return _with_table(program, work.build)


def _reward(work: Lowering, chosen: model.Objective | model.Reward) -> ir.RewardCode:
    kind = "potential" if isinstance(chosen, model.Objective) else chosen.kind
    return ir.RewardCode(chosen.name, kind, work.expr(chosen.value, {}))


def _with_table(program: ir.Program, build: Builder) -> ir.Program:
    return replace(program, ops=tuple(build.ops), infos=tuple(build.infos))
