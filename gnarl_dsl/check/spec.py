"""Syntax tree in, checked `Problem` out, or every mistake found on the way."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gnarl_dsl import model
from gnarl_dsl.check import cost
from gnarl_dsl.check.base import place_size
from gnarl_dsl.check.declare import Declarer
from gnarl_dsl.check.environment import Declarations, FeatureInfo, LetInfo, Scope
from gnarl_dsl.check.experts import ExpertChecker
from gnarl_dsl.check.facts import Typed
from gnarl_dsl.check.header import LANGUAGE_VERSION, all_of, first_of, verify_header, verify_parts
from gnarl_dsl.check.instance_sets import check_instance_set
from gnarl_dsl.check.order import in_order
from gnarl_dsl.check.phase_scopes import allowed_pairs, phase_scopes
from gnarl_dsl.check.quantifiers import PAIR_FIX
from gnarl_dsl.check.spending import Spent, total_costs, verify_bound
from gnarl_dsl.check.types import MASK, SCALAR
from gnarl_dsl.language import builtins
from gnarl_dsl.report.diagnostics import Collector, EnoughErrors, Note
from gnarl_dsl.report.source import Source
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax import ast

B = TypeVar("B", bound=ast.Tree)


@dataclass(frozen=True)
class CheckInput:
    """What the checker needs besides the blocks: names of broken blocks and the user's wishes."""

    lost_names: frozenset[str] = frozenset()
    lost_blocks: frozenset[str] = frozenset()
    lost_base: bool = False
    params: Mapping[str, str] = field(default_factory=dict)
    allow_costly: bool = False


@dataclass(frozen=True)
class CheckedNames:
    """What was learnt about the names of a spec, even of one with mistakes: for editors."""

    declared: Declarations
    lets: Mapping[str, LetInfo | None]


def check_spec(
    tree: ast.Spec, sources: Sequence[Source], given: CheckInput, found: Collector
) -> tuple[model.Problem | None, CheckedNames]:
    """The checked problem, or None if `found` holds an error; and what its names mean."""
    checker = _SpecChecker(tree, sources, given, found)
    problem = None
    with suppress(EnoughErrors):
        problem = checker.check()
    names = CheckedNames(checker.names, checker.check_formula.let_infos)
    return None if found.has_errors() else problem, names


class _SpecChecker:
    def __init__(
        self, tree: ast.Spec, sources: Sequence[Source], given: CheckInput, found: Collector
    ) -> None:
        self.blocks = tree.blocks
        self.sources = sources
        self.given = given
        self.found = found
        self.declarer = Declarer(self.blocks, found)
        self.names: Declarations = self.declarer.names
        self.names.lost_names |= given.lost_names
        self.names.lost_blocks |= given.lost_blocks
        self.names.lost_base = given.lost_base
        self.check_formula = ExpertChecker(self.names)
        self.spent: list[Spent] = []
        self.default_reward_seen = False

    def all_of(self, kind: type[B]) -> list[B]:
        return all_of(self.blocks, kind)

    def first(self, kind: type[B]) -> B | None:
        return first_of(self.blocks, kind)

    def check(self) -> model.Problem | None:
        verify_header(self.blocks, self.given.lost_blocks, self.found)
        self.declarer.declare(self.given.params)
        verify_parts(self.blocks, self.names, self.found)
        self._definitions()
        lets = self._lets()
        features = [self._feature(info) for info in self.names.features.values()]
        phases = self._phases()
        parts = {
            "features": tuple(feature for feature in features if feature),
            "phases": phases,
            **self._endings(),
            **self._goals(),
            "experts": self._experts(),
            "instances": self._instances(),
            "lets": lets,
        }
        self._warn_unused()
        costs = self._costs()
        if self.found.has_errors():
            return None
        return self._assemble(parts, costs)

    # Features and lets

    def _definitions(self) -> None:
        """Check everything that formulas can name, each after what it uses itself."""
        names, check = self.names, self.check_formula
        trees: dict[str, ast.Tree] = {
            **{name: info.tree for name, info in names.features.items()},
            **names.lets,
            **names.objectives,
        }
        clauses = {"correct": names.correct, "valid": names.valid}
        trees |= {word: tree for word, tree in clauses.items() if tree is not None}
        for name in in_order(trees):
            span = trees[name].span
            if name in clauses:
                check.clause_info(name, name, span)
            elif name in names.objectives:
                check.clause_info("objective", name, span)
            elif name in names.lets:
                check.let_info(name, span)
            elif names.features[name].stage in ("derived", "oracle"):
                check.formula(name, span)

    def _lets(self) -> tuple[model.Let, ...]:
        lets: list[model.Let] = []
        for name, tree in self.names.lets.items():
            info = self.check_formula.let_info(name, tree.span)
            if info is None or info.body.is_poison:
                continue
            kind = info.body.type.kind
            let = model.Let.model_construct(
                span=tree.span,
                name=name,
                params=info.params,
                type="scalar" if kind == "choice" else kind,
                optional=info.body.type.optional,
                body=info.body.expr,
            )
            lets.append(let)
        return tuple(lets)

    def _feature(self, info: FeatureInfo) -> model.Feature | None:
        tree = info.tree
        initial = self._initial(info) if tree.value is not None else None
        source = self._source(info) if tree.source is not None else None
        return model.Feature.model_construct(
            span=tree.span,
            name=tree.name.text,
            stage=info.stage,
            place=info.place,
            type=info.type,
            vars=tuple(var.text for var in info.vars),
            categories=info.categories,
            choices=info.choices,
            initial=initial.expr if initial else None,
            source=source,
            doc=tree.doc,
        )

    def _initial(self, info: FeatureInfo) -> Typed | None:
        name, tree = info.tree.name.text, info.tree
        check = self.check_formula
        if info.stage == "input":
            self.found.add("GN131", tree.span, name=name)
            return None
        if info.stage == "derived":
            typed = check.formula(name, tree.span)
            if typed is not None:
                check.forbid_oracle(typed.facts, f"the derived feature `{name}`")
                self._require_symmetric_feature(info, typed)
            return typed
        if info.stage == "oracle":
            oracle = check.formula(name, tree.span)
            if oracle is not None:
                check.forbid_state(oracle.facts, f"the oracle `{name}`")
                if not isinstance(oracle.expr, model.Call):
                    self._require_symmetric_feature(info, oracle)
            return oracle
        typed = check.check_initial(name)
        check.forbid_state(typed.facts, f"the initial value of `{name}`")
        check.forbid_oracle(typed.facts, f"the initial value of `{name}`")
        self._require_symmetric_feature(info, typed)
        return typed

    def _require_symmetric_feature(self, info: FeatureInfo, typed: Typed) -> None:
        """On undirected edges both directions are one cell, so one formula must give one value."""
        graph = self.names.graph
        if info.place != "edge" or graph is None or graph.directed or len(info.vars) != 2:
            return
        x, y = (var.text for var in info.vars)
        canonical = self.check_formula.canonical()
        if not typed.is_poison and not canonical.is_symmetric(x, y, typed.expr):
            span = info.tree.value.span if info.tree.value else info.tree.span
            self.found.add("GN406", span, x=x, y=y, fix=PAIR_FIX)

    def _source(self, info: FeatureInfo) -> model.InputSource:
        tree = info.tree.source
        assert tree is not None
        values = [self._source_number(arg) for arg in tree.args]
        if tree.name.text == "uniform" and len(values) == 2 and values[0] > values[1]:
            low, high = (f"{value:g}" for value in values)
            self.found.add("GN141", tree.span, low=low, high=high)
        if tree.name.text == "coin" and values and (values[0] < 0 or values[0] > 1):
            self.found.add("GN121", tree.args[0].span, name="`p`", range="numbers from 0 to 1")
        return model.InputSource.model_construct(name=tree.name.text, args=tuple(values))

    def _source_number(self, tree: ast.Expr) -> float:
        typed = self.check_formula.check_as(tree, Scope(), SCALAR, "an argument of a source")
        if isinstance(typed.expr, model.Number) and math.isfinite(typed.expr.value):
            return typed.expr.value
        if not typed.is_poison:
            self.found.add("GN218", tree.span)
        return math.nan

    # Phases

    def _phases(self) -> tuple[model.Phase, ...]:
        trees = list(self.names.phases.values())
        scopes = phase_scopes(trees, self.names.is_mutable)
        for tree in trees:
            if tree.variable.text not in builtins.RESERVED:
                self.check_formula.warn_shadow(tree.variable, Scope())
        return tuple(self._phase(tree, scope) for tree, scope in zip(trees, scopes, strict=True))

    def _phase(self, tree: ast.Phase, scope: Scope) -> model.Phase:
        allows = [clause for clause in tree.clauses if isinstance(clause, ast.Allow)]
        updates = [clause for clause in tree.clauses if isinstance(clause, ast.Update)]
        for first, extra in [(group[0], e) for group in (allows, updates) for e in group[1:]]:
            notes = [Note(first.span, "the first one is here")]
            self.found.add("GN124", extra.span, word=type(extra).__name__.lower(), notes=notes)
        allow = self._allow(allows[0], scope, tree.name.text) if allows else None
        scope = scope.joining(allowed_pairs(tree))
        body, facts = self.check_formula.check_update(updates[0].body if updates else (), scope)
        self.check_formula.forbid_oracle(facts, f"the update of phase `{tree.name.text}`")
        if updates:
            where = f"the update of phase `{tree.name.text}`"
            self.spent.append(Spent("update", where, updates[0].span, facts))
        return model.Phase.model_construct(
            span=tree.span,
            name=tree.name.text,
            variable=tree.variable.text,
            allow=allow.expr if allow else None,
            update=body,
        )

    def _allow(self, tree: ast.Allow, scope: Scope, phase: str) -> Typed:
        typed = self.check_formula.check_as(tree.condition, scope, MASK, "`allow`")
        self.check_formula.forbid_oracle(typed.facts, "`allow`")
        where = f"`allow` of phase `{phase}`, asked for every node,"
        self.spent.append(Spent("mask", where, tree.span, typed.facts.times(cost.NODES)))
        return typed

    # Endings and goals

    def _endings(self) -> dict[str, object]:
        check = self.check_formula
        horizon = self._rounds(self.first(ast.Horizon), "`horizon`")
        if horizon is not None:
            check.forbid_oracle(horizon.facts, "`horizon`")
        limit = self._rounds(self.first(ast.Limit), "`limit`")
        terminate = None
        ending = self.first(ast.Terminate)
        if ending is not None:
            terminate = check.check_as(ending.condition, Scope(), MASK, "`terminate when`")
            self.spent.append(Spent("ending", "`terminate when`", ending.span, terminate.facts))
        reads = [part.facts.oracle for part in (limit, terminate) if part is not None]
        return {
            "horizon": horizon.expr if horizon else None,
            "limit": limit.expr if limit else None,
            "terminate": terminate.expr if terminate else None,
            "deployable": not any(reads),
        }

    def _rounds(self, tree: ast.Horizon | ast.Limit | None, what: str) -> Typed | None:
        if tree is None:
            return None
        typed = self.check_formula.check_as(tree.rounds, Scope(), SCALAR, what)
        self.check_formula.forbid_state(typed.facts, what)
        endless = isinstance(typed.expr, model.Number) and math.isinf(typed.expr.value)
        if endless and isinstance(tree, ast.Horizon):
            self.found.add("GN416", tree.rounds.span)
        return typed

    def _goals(self) -> dict[str, object]:
        check = self.check_formula
        goals: dict[str, object] = {}
        for clause in ("valid", "correct"):
            tree = getattr(self.names, clause)
            typed = check.clause_info(clause, clause, tree.span) if tree else None
            goals[clause] = typed.expr if typed else None
            if clause == "valid" and typed is not None:
                check.forbid_oracle(typed.facts, "`valid`")
        goals["objectives"] = tuple(self._objective(o) for o in self.names.objectives.values())
        goals["rewards"] = tuple(self._reward(tree) for tree in self.all_of(ast.Reward))
        goals["metrics"] = tuple(self._metric(tree) for tree in self.all_of(ast.Metric))
        return goals

    def _objective(self, tree: ast.Objective) -> model.Objective:
        typed = self.check_formula.clause_info("objective", tree.name.text, tree.span)
        if typed is not None:
            where = f"the objective `{tree.name.text}`"
            self.check_formula.forbid_oracle(typed.facts, where)
        expr = typed.expr if typed else None
        return model.Objective.model_construct(span=tree.span, name=tree.name.text, value=expr)

    def _reward(self, tree: ast.Reward) -> model.Reward:
        if self.declarer.named("reward", tree.name):
            self.declarer.unlike_objectives(tree.name)
        if tree.kind.text not in builtins.REWARD_KINDS:
            expected = ", ".join(builtins.REWARD_KINDS)
            fix = did_you_mean(tree.kind.text, builtins.REWARD_KINDS)
            self.found.add("GN122", tree.kind.span, name=tree.kind.text, expected=expected, fix=fix)
        typed = self.check_formula.check_as(tree.value, Scope(), SCALAR, "a reward")
        if not self.names.objectives and not self.default_reward_seen:
            self.default_reward_seen = True
            where = f"the reward `{tree.name.text}`"
            self.spent.append(Spent("reward", where, tree.span, typed.facts))
        return model.Reward.model_construct(
            span=tree.span, name=tree.name.text, kind=tree.kind.text, value=typed.expr
        )

    def _metric(self, tree: ast.Metric) -> model.Metric:
        self.declarer.named("metric", tree.name)
        typed = self.check_formula.check_as(tree.value, Scope(), SCALAR, "a metric")
        return model.Metric.model_construct(span=tree.span, name=tree.name.text, value=typed.expr)

    def _experts(self) -> tuple[model.Expert, ...]:
        experts: list[model.Expert] = []
        for block in self.blocks:
            if isinstance(block, ast.Expert | ast.GreedyExpert):
                self.declarer.named("expert", block.name)
                expert = self.check_formula.check_expert(block)
                if expert is not None:
                    experts.append(expert)
        return tuple(experts)

    def _instances(self) -> tuple[model.InstanceSet, ...]:
        sets = []
        for tree in self.all_of(ast.Instances):
            self.declarer.named("instances", tree.name)
            sets.append(check_instance_set(tree, self.names))
        return tuple(sets)

    # Warnings and costs

    def _warn_unused(self) -> None:
        used, names = self.names.used, self.names
        for name, let in names.lets.items():
            self._warn(name not in used, "GN901", let.name, "let")
        for name, param in names.param_trees.items():
            self._warn(name not in used, "GN901", param.name, "param")
        for name, info in names.features.items():
            ident = info.tree.name
            if info.stage == "oracle":
                self._warn(name not in used, "GN901", ident, "oracle")
            if info.stage == "state" and names.phases and "phase" not in names.lost_blocks:
                self._warn(name not in names.written, "GN906", ident, "state feature")
        self._warn_rigid_graph()

    def _warn_rigid_graph(self) -> None:
        """A graph that may change but never does."""
        tree, names = self.first(ast.GraphDecl), self.names
        known = bool(names.phases) and "phase" not in names.lost_blocks
        for word in tree.attributes if tree is not None and known else ():
            rigid = word.text == "mutable" and "edge" not in names.written
            self._warn(rigid, "GN909", word, "graph")

    def _warn(self, applies: bool, code: str, name: ast.Ident, what: str) -> None:
        """Warn about the file itself; what it inherits is another file's business."""
        if applies and name.span.file == 0:
            self.found.add(code, name.span, name=name.text, what=what)

    def _costs(self) -> model.Costs:
        check = self.check_formula
        for name, info in self.names.features.items():
            if info.stage == "derived" and name in check.formulas:
                facts = check.formulas[name].facts.times(place_size(info.place))
                where = f"the derived feature `{name}`"
                self.spent.append(Spent("observation", where, info.tree.span, facts))
        for name, objective in list(self.names.objectives.items())[:1]:
            typed = check.clause_infos.get(f"objective {name}")
            if typed is not None:
                where = f"the objective `{name}`"
                self.spent.append(Spent("reward", where, objective.span, typed.facts))
        if not self.given.allow_costly:
            verify_bound(self.spent, self.found)
        return total_costs(self.spent, check.expert_facts)

    def _assemble(self, parts: Mapping[str, Any], costs: model.Costs) -> model.Problem:
        head = self.first(ast.ProblemHead)
        assert head is not None
        assert self.names.graph is not None
        texts = tuple(
            model.SourceText.model_construct(name=source.name, text=source.text)
            for source in self.sources
        )
        return model.Problem.model_construct(
            language=LANGUAGE_VERSION,
            name=head.name.text,
            doc=head.doc,
            params=tuple(self.names.params.values()),
            graph=self.names.graph,
            costs=costs,
            sources=texts,
            **parts,
        )
