"""Syntax tree in, checked `Problem` out, or every mistake found on the way."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, assert_never

from gnarl_dsl import model
from gnarl_dsl.check import cost
from gnarl_dsl.check.context import (
    Context,
    Declarations,
    FeatureInfo,
    LetInfo,
    forbid_hidden,
    forbid_oracle,
    forbid_state,
    warn_shadow,
)
from gnarl_dsl.check.cost import Spent, total_costs, total_degree, verify_bound
from gnarl_dsl.check.declare import declare_names, is_first_of, verify_unlike_objectives
from gnarl_dsl.check.experts import check_experts
from gnarl_dsl.check.expressions import (
    PAIR_FIX,
    Clause,
    check_as,
    check_initial,
    clause_info,
    formula,
    is_infinite,
    known_truth,
    let_info,
)
from gnarl_dsl.check.feature_lines import verify_source
from gnarl_dsl.check.header import LANGUAGE_VERSION, all_of, first_of, verify_header, verify_parts
from gnarl_dsl.check.instance_sets import check_instance_set
from gnarl_dsl.check.network.windows import check_messages, check_windows
from gnarl_dsl.check.scopes import (
    Scope,
    allowed_pairs,
    in_order,
    mentions,
    phase_scopes,
    turn_scopes,
)
from gnarl_dsl.check.symmetry import is_symmetric
from gnarl_dsl.check.types import MASK, SCALAR, Typed
from gnarl_dsl.check.updates import check_update
from gnarl_dsl.language import words
from gnarl_dsl.language.signatures import SourceSignature
from gnarl_dsl.levels.levels import mixes
from gnarl_dsl.model.kinds import DERIVED, EDGE, INPUT, NUMBER, ORACLE
from gnarl_dsl.report.diagnostics import Collector, EnoughErrors, Note
from gnarl_dsl.report.source import Source
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax import ast


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
    names = Declarations(
        found,
        lost_names=given.lost_names,
        lost_blocks=given.lost_blocks,
        lost_base=given.lost_base,
    )
    context = Context(names, sources)
    problem = None
    with suppress(EnoughErrors):
        problem = _problem(context, tree.blocks, sources, given)
    return None if found.has_errors() else problem, CheckedNames(names, context.lets)


def _problem(
    context: Context, blocks: tuple[ast.Block, ...], sources: Sequence[Source], given: CheckInput
) -> model.Problem | None:
    verify_header(blocks, given.lost_blocks, context.found)
    declare_names(context.names, blocks, given.params)
    _verify_units(context.names)
    verify_parts(blocks, context.names, context.found)
    _check_definitions(context)
    parts: dict[str, Any] = {
        "lets": _lets(context),
        "features": tuple(_feature(context, info) for info in context.names.features.values()),
        "phases": _phases(context),
        **_endings(context, blocks),
        **_goals(context, blocks),
        "windows": check_windows(context, all_of(blocks, ast.Observe)),
        "messages": check_messages(context, all_of(blocks, ast.Messages)),
        "experts": _experts(context, blocks),
        "instances": _instances(context, blocks),
    }
    _warn_unused_names(context, blocks)
    _spend_on_views(context)
    if not given.allow_costly:
        verify_bound(context.spent, context.found)
    if context.found.has_errors():
        return None
    head = first_of(blocks, ast.ProblemHead)
    assert head is not None
    assert context.names.graph is not None
    problem = model.Problem.model_construct(
        language=LANGUAGE_VERSION,
        name=head.name.text,
        doc=head.doc,
        params=tuple(context.names.params.values()),
        graph=context.names.graph,
        costs=total_costs(context.spent, context.experts),
        externs=tuple(context.names.externs.values()),
        sources=tuple(
            model.SourceText.model_construct(name=source.name, text=source.text)
            for source in sources
        ),
        **parts,
    )
    _warn_mixes(problem, context.found)
    return problem


def _verify_units(names: Declarations) -> None:
    """A param that has a unit is a number, and has it from a feature that is one."""
    known = [name for name, info in names.features.items() if info.type.value is NUMBER]
    for name, tree in names.param_trees.items():
        unit = tree.unit
        if unit is None or names.is_lost(unit.text):
            continue
        if unit.text not in known or tree.choices:
            fix = "Leave it out: words have no unit." if tree.choices else None
            fix = fix or did_you_mean(unit.text, known)
            expected = ", ".join(known) or "none"
            names.found.add(
                "GN149", unit.span, name=name, unit=unit.text, expected=expected, fix=fix
            )
            names.params[name] = names.params[name].model_copy(update={"unit": ""})


def _warn_mixes(problem: model.Problem, found: Collector) -> None:
    """Lengths that meet a number of things."""
    for mix in mixes(problem):
        notes = [Note(mix.input.span, f"the unit comes from `{mix.input.name}`")]
        found.add("GN911", mix.span, sign=mix.sign, name=mix.input.name, notes=notes)


# Features and lets


def _check_definitions(context: Context) -> None:
    """Check everything that formulas can name, each after what it uses itself."""
    names = context.names
    trees: dict[str, ast.Feature | ast.Let | Clause] = {
        **{name: info.tree for name, info in names.features.items()},
        **names.lets,
        **names.objectives,
    }
    clauses = {"correct": names.correct, "valid": names.valid}
    trees |= {word: tree for word, tree in clauses.items() if tree is not None}
    for name in in_order(trees):
        tree = trees[name]
        match tree:
            case ast.Correct() | ast.Valid() | ast.Objective():
                clause_info(context, tree, tree.span)
            case ast.Let():
                let_info(context, name, tree.span)
            case ast.Feature():
                stage = names.features[name].stage
                if stage is DERIVED or stage is ORACLE:
                    formula(context, name, tree.span)
            case _:
                assert_never(tree)


def _lets(context: Context) -> tuple[model.Let, ...]:
    lets: list[model.Let] = []
    for name, tree in context.names.lets.items():
        info = let_info(context, name, tree.span)
        if info is None or info.body.is_poison:
            continue
        let = model.Let.model_construct(
            span=tree.span,
            name=name,
            params=info.params,
            type=info.body.type.value,
            optional=info.body.type.optional,
            body=info.body.expr,
        )
        lets.append(let)
    return tuple(lets)


def _feature(context: Context, info: FeatureInfo) -> model.Feature:
    tree = info.tree
    initial = _initial(context, info) if tree.value is not None else None
    source = _source(context, tree.source) if tree.source is not None else None
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


def _initial(context: Context, info: FeatureInfo) -> Typed | None:
    name, tree = info.tree.name.text, info.tree
    if info.stage is INPUT:
        context.found.add("GN131", tree.span, name=name)
        return None
    if info.stage.written:
        typed = check_initial(context, name)
        forbid_state(context, typed.facts, f"the initial value of `{name}`")
        forbid_oracle(context, typed.facts, f"the initial value of `{name}`")
        _require_symmetric_feature(context, info, typed)
        if _is_work(context, tree, typed):
            context.names.precomputed.add(name)
        return typed
    known = formula(context, name, tree.span)
    if known is None:
        return None
    if info.stage is ORACLE:
        forbid_state(context, known.facts, f"the oracle `{name}`")
    else:
        forbid_oracle(context, known.facts, f"the derived feature `{name}`")
        forbid_hidden(context, known.facts, f"the derived feature `{name}`")
    if not (info.stage is ORACLE and isinstance(known.expr, model.Call)):
        _require_symmetric_feature(context, info, known)
    return known


def _is_work(context: Context, tree: ast.Feature, typed: Typed) -> bool:
    """Whether a value is worth keeping from the start on, or cannot be had later any more."""
    if context.names.is_mutable and not words.OF_THE_GRAPH.isdisjoint(mentions(tree)):
        return True
    return total_degree(typed.facts.cost) > 0


def _require_symmetric_feature(context: Context, info: FeatureInfo, typed: Typed) -> None:
    """On undirected edges both directions are one cell, so one formula must give one value."""
    if info.place is not EDGE or not context.names.is_undirected or len(info.vars) != 2:
        return
    x, y = (var.text for var in info.vars)
    if not typed.is_poison and not is_symmetric(context, x, y, typed.expr):
        span = info.tree.value.span if info.tree.value else info.tree.span
        context.found.add("GN406", span, x=x, y=y, fix=PAIR_FIX)


def _source(context: Context, tree: ast.SourceOf) -> model.InputSource:
    first, *others = (_law(context, law) for law in (tree, *tree.others))
    return first.model_copy(update={"others": tuple(others)}) if others else first


def _law(context: Context, tree: ast.SourceOf) -> model.InputSource:
    signature = context.names.law(tree.name.text)
    values = [_source_number(context, arg) for arg in tree.args]
    understood = values and not any(map(math.isnan, values))
    if signature is not None and understood and len(values) == len(signature.args):
        _verify_arguments(context, tree, signature, values)
    if signature is not None and not values:
        values = list(signature.defaults)
    return model.InputSource.model_construct(name=tree.name.text, args=tuple(values))


def _verify_arguments(
    context: Context, tree: ast.SourceOf, signature: SourceSignature, values: list[float]
) -> None:
    if signature.ordered and values[0] > values[-1]:
        low, high = (f"{value:g}" for value in values)
        context.found.add("GN141", tree.span, low=low, high=high)
    if signature.whole and not all(map(float.is_integer, values)):
        name = f"`{tree.name.text}`"
        context.found.add("GN121", tree.span, name=name, range="whole numbers")
    least, most = signature.least, signature.most
    if (least is not None and values[-1] < least) or (most is not None and values[-1] > most):
        low = f"{least:g}" if least is not None else "any"
        text = f"numbers from {low} to {most:g}" if most is not None else f"numbers from {low}"
        name = f"`{signature.args[-1]}`"
        context.found.add("GN121", tree.args[-1].span, name=name, range=text)


def _source_number(context: Context, tree: ast.Expr) -> float:
    typed = check_as(context, tree, Scope(), SCALAR, "an argument of a source")
    if isinstance(typed.expr, model.Number) and math.isfinite(typed.expr.value):
        return typed.expr.value
    if not typed.is_poison:
        context.found.add("GN218", tree.span)
    return math.nan


# Phases


def _phases(context: Context) -> tuple[model.Phase, ...]:
    trees = list(context.names.phases.values())
    known = context.names.is_mutable, context.names.promises
    turns, scopes = turn_scopes(trees, *known), phase_scopes(trees, *known)
    for tree in trees:
        if tree.variable.text not in words.RESERVED:
            warn_shadow(context, tree.variable, Scope())
    both = zip(trees, turns, scopes, strict=True)
    return tuple(_phase(context, tree, turn, scope) for tree, turn, scope in both)


def _phase(context: Context, tree: ast.Phase, turn: Scope, scope: Scope) -> model.Phase:
    when = _when(context, tree.when, turn, tree.name.text) if tree.when is not None else None
    allows = [clause for clause in tree.clauses if isinstance(clause, ast.Allow)]
    updates = [clause for clause in tree.clauses if isinstance(clause, ast.Update)]
    for first, extra in [(group[0], e) for group in (allows, updates) for e in group[1:]]:
        notes = [Note(first.span, "the first one is here")]
        context.found.add("GN124", extra.span, word=type(extra).__name__.lower(), notes=notes)
    allow = _allow(context, allows[0], scope, tree.name.text) if allows else None
    scope = scope.joining(allowed_pairs(tree, context.names.promises))
    body, facts = check_update(context, updates[0].body if updates else (), scope)
    where = f"the update of phase `{tree.name.text}`"
    forbid_oracle(context, facts, where)
    if updates:
        context.spent.append(Spent("update", where, updates[0].span, facts.cost))
    return model.Phase.model_construct(
        span=tree.span,
        name=tree.name.text,
        variable=tree.variable.text,
        allow=allow.expr if allow else None,
        update=body,
        when=None if when is None or known_truth(when) is True else when.expr,
    )


def _when(context: Context, tree: ast.Expr, scope: Scope, phase: str) -> Typed:
    """Asked once, when the turn of the phase comes."""
    where = f"`when` of phase `{phase}`"
    typed = check_as(context, tree, scope, MASK, where)
    forbid_oracle(context, typed.facts, where)
    forbid_hidden(context, typed.facts, where)
    context.spent.append(Spent("mask", where, tree.span, typed.facts.cost))
    return typed


def _allow(context: Context, tree: ast.Allow, scope: Scope, phase: str) -> Typed:
    typed = check_as(context, tree.condition, scope, MASK, "`allow`")
    forbid_oracle(context, typed.facts, "`allow`")
    forbid_hidden(context, typed.facts, "`allow`")
    where = f"`allow` of phase `{phase}`, asked for every node,"
    variable = context.names.phases[phase].variable.text
    terms = typed.facts.times(cost.NODES, names=[variable]).cost
    context.spent.append(Spent("mask", where, tree.span, terms))
    return typed


# Endings and goals


def _endings(context: Context, blocks: tuple[ast.Block, ...]) -> dict[str, object]:
    horizon = _rounds(context, first_of(blocks, ast.Horizon), "`horizon`")
    if horizon is not None:
        fix = "Bound the rounds by n and m; `limit` may read an oracle."
        forbid_oracle(context, horizon.facts, "`horizon`", fix)
    limit = _rounds(context, first_of(blocks, ast.Limit), "`limit`")
    terminate = None
    ending = first_of(blocks, ast.Terminate)
    if ending is not None:
        what = "`terminate when`"
        terminate = check_as(context, ending.condition, Scope(), MASK, what)
        context.spent.append(Spent("ending", what, ending.span, terminate.facts.cost))
    reads = [part.facts.oracle for part in (limit, terminate) if part is not None]
    stop = first_of(blocks, ast.Stop)
    return {
        "horizon": horizon.expr if horizon else None,
        "limit": limit.expr if limit else None,
        "terminate": terminate.expr if terminate else None,
        "stop": _stop(context, stop) if stop is not None else None,
        "deployable": not any(reads),
    }


def _stop(context: Context, tree: ast.Stop) -> model.Stop:
    """What may be chosen must be known to whoever plays."""
    if tree.when is None:
        return model.Stop.model_construct(span=tree.span)
    where = "`may stop`"
    typed = check_as(context, tree.when, Scope(), MASK, where)
    forbid_oracle(context, typed.facts, where)
    forbid_hidden(context, typed.facts, where)
    context.spent.append(Spent("ending", where, tree.span, typed.facts.terms))
    return model.Stop.model_construct(span=tree.span, when=typed.expr)


def _rounds(context: Context, tree: ast.Horizon | ast.Limit | None, what: str) -> Typed | None:
    if tree is None:
        return None
    typed = check_as(context, tree.rounds, Scope(), SCALAR, what)
    forbid_state(context, typed.facts, what)
    if isinstance(tree, ast.Horizon) and is_infinite(typed.expr):
        context.found.add("GN416", tree.rounds.span)
    return typed


def _goals(context: Context, blocks: tuple[ast.Block, ...]) -> dict[str, object]:
    names = context.names
    valid = clause_info(context, names.valid, names.valid.span) if names.valid else None
    correct = clause_info(context, names.correct, names.correct.span) if names.correct else None
    if valid is not None:
        fix = "Say what the answer is in `correct`, which may read an oracle."
        forbid_oracle(context, valid.facts, "`valid`", fix)
    objectives = tuple(_objective(context, tree) for tree in names.objectives.values())
    rewards = all_of(blocks, ast.Reward)
    return {
        "valid": valid.expr if valid else None,
        "correct": correct.expr if correct else None,
        "objectives": objectives,
        "rewards": tuple(_reward(context, tree, tree is rewards[0]) for tree in rewards),
        "metrics": tuple(_metric(context, tree) for tree in all_of(blocks, ast.Metric)),
    }


def _objective(context: Context, tree: ast.Objective) -> model.Objective:
    typed = clause_info(context, tree, tree.span)
    if typed is not None:
        fix = "An objective is known while solving; `reward` and `metric` may read an oracle."
        forbid_oracle(context, typed.facts, f"the objective `{tree.name.text}`", fix)
    expr = typed.expr if typed else None
    return model.Objective.model_construct(span=tree.span, name=tree.name.text, value=expr)


def _reward(context: Context, tree: ast.Reward, first: bool) -> model.Reward:
    name, kind = tree.name.text, tree.kind.text
    if is_first_of(context.names, "reward", tree.name):
        verify_unlike_objectives(context.names, tree.name)
    if kind not in words.REWARD_KINDS:
        expected = ", ".join(words.REWARD_KINDS)
        fix = did_you_mean(kind, words.REWARD_KINDS)
        context.found.add("GN122", tree.kind.span, name=kind, expected=expected, fix=fix)
    typed = check_as(context, tree.value, Scope(), SCALAR, "a reward")
    if first and not context.names.objectives:  # it is what a step earns unless another is named
        where = f"the reward `{name}`"
        context.spent.append(Spent("reward", where, tree.span, typed.facts.cost))
    return model.Reward.model_construct(span=tree.span, name=name, kind=kind, value=typed.expr)


def _metric(context: Context, tree: ast.Metric) -> model.Metric:
    is_first_of(context.names, "metric", tree.name)
    typed = check_as(context, tree.value, Scope(), SCALAR, "a metric")
    return model.Metric.model_construct(span=tree.span, name=tree.name.text, value=typed.expr)


def _experts(context: Context, blocks: tuple[ast.Block, ...]) -> tuple[model.Expert, ...]:
    trees = [block for block in blocks if isinstance(block, ast.Expert | ast.MadeExpert)]
    for tree in trees:
        is_first_of(context.names, "expert", tree.name)
    return tuple(check_experts(context, trees))


def _instances(context: Context, blocks: tuple[ast.Block, ...]) -> tuple[model.InstanceSet, ...]:
    sets = []
    for tree in all_of(blocks, ast.Instances):
        is_first_of(context.names, "instances", tree.name)
        laws = tuple(law for entry in tree.laws if (law := _input_law(context, entry)) is not None)
        _report_second_laws(context, tree)
        sets.append(check_instance_set(tree, context.names, laws))
    return tuple(sets)


def _input_law(context: Context, tree: ast.InputLaw) -> model.InputLaw | None:
    """Where an input comes from in one set of instances."""
    names, name = context.names, tree.name.text
    info = names.features.get(name)
    if info is None or info.stage is not INPUT:
        inputs = [known for known, entry in names.features.items() if entry.stage is INPUT]
        if not names.is_lost(name):
            fix = did_you_mean(name, inputs)
            listed = ", ".join(f"`{known}`" for known in inputs) or "none"
            context.found.add("GN143", tree.name.span, name=name, inputs=listed, fix=fix)
        return None
    verify_source(names, info, tree.source)
    source = _source(context, tree.source)
    return model.InputLaw.model_construct(input=name, source=source)


def _report_second_laws(context: Context, tree: ast.Instances) -> None:
    first: dict[str, ast.InputLaw] = {}
    for law in tree.laws:
        if law.name.text in first:
            notes = [Note(first[law.name.text].span, "the first one is here")]
            context.found.add("GN124", law.span, word=f"{law.name.text} ~ …", notes=notes)
        first.setdefault(law.name.text, law)


# Warnings and costs


def _warn_unused_names(context: Context, blocks: tuple[ast.Block, ...]) -> None:
    names = context.names
    phases_known = bool(names.phases) and "phase" not in names.lost_blocks
    for name, let in names.lets.items():
        _warn(context, name not in names.used, "GN901", let.name, "let")
    for name, extern in names.extern_trees.items():
        _warn(context, name not in names.used, "GN901", extern.name, "extern")
    for name, param in names.param_trees.items():
        _warn(context, name not in names.used, "GN901", param.name, "param")
    for name, info in names.features.items():
        unread = info.stage is ORACLE and name not in names.used
        _warn(context, unread, "GN901", info.tree.name, "oracle")
        kept = name in names.written or name in names.precomputed
        unwritten = info.stage.written and phases_known and not kept
        _warn(context, unwritten, "GN906", info.tree.name, "state feature")
    graph = first_of(blocks, ast.GraphDecl)
    for word in graph.attributes if graph is not None else ():
        # A graph that may change but never does.
        rigid = word.text == "mutable" and phases_known and "edge" not in names.written
        _warn(context, rigid, "GN909", word, "graph")


def _warn(context: Context, applies: bool, code: str, name: ast.Ident, what: str) -> None:
    """Warn about the file itself; what it inherits is another file's business."""
    if applies and name.span.file == 0:
        context.found.add(code, name.span, name=name.text, what=what)


def _spend_on_views(context: Context) -> None:
    """Note what derived features cost, which are computed in every step, and the objective."""
    names = context.names
    for name, info in names.features.items():
        if info.stage.computed and name in context.formulas:
            facts, variables = context.formulas[name].facts, [var.text for var in info.vars]
            terms = facts.times(cost.cells(info.place), names=variables).cost
            where = f"the derived feature `{name}`"
            context.spent.append(Spent("observation", where, info.tree.span, terms))
    for name, objective in list(names.objectives.items())[:1]:
        if name in context.clauses:
            where, terms = f"the objective `{name}`", context.clauses[name].facts.cost
            context.spent.append(Spent("reward", where, objective.span, terms))
