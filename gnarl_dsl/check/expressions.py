"""Syntax of an expression in, typed model expression with its facts out.

The checker never stops at the first mistake: a part that was reported gets the poison
type, which fits everywhere, so that one slip gives one message.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, assert_never

from gnarl_dsl import model
from gnarl_dsl.check import cost
from gnarl_dsl.check.context import (
    Context,
    FeatureInfo,
    LetInfo,
    forbid_same_names,
    warn_shadow,
    warn_unused,
)
from gnarl_dsl.check.cost import Terms
from gnarl_dsl.check.declare import MAX_NUMBER
from gnarl_dsl.check.hints import (
    FOREIGN_FUNCTIONS,
    FOREIGN_NAMES,
    FOREIGN_TYPES,
    bare_builtin_fix,
    compare_fix,
    operand_fix,
    type_fix,
)
from gnarl_dsl.check.scopes import Binding, Scope, pairs_bound_by
from gnarl_dsl.check.symmetry import is_symmetric_over
from gnarl_dsl.check.types import (
    CHOICE,
    MASK,
    MAYBE_NODE,
    NO_FACTS,
    NODE,
    POISON,
    POISONED,
    SCALAR,
    WHOLE,
    Facts,
    Kind,
    Row,
    Type,
    Typed,
    Witness,
    merge_types,
    poison,
)
from gnarl_dsl.language import registered, signatures, words
from gnarl_dsl.language.operators import COMPARISONS, OPERATORS, Operator
from gnarl_dsl.language.signatures import (
    EDGE_SCALAR,
    NODE_POINTER,
    NODE_POINTS,
    ONE_NODE,
    ONE_TRUTH,
    ArgKind,
    FunctionSignature,
)
from gnarl_dsl.model import kinds
from gnarl_dsl.model.kinds import (
    CATEGORY,
    DERIVED,
    EDGE,
    GRAPH,
    HIDDEN,
    NODE_VALUE,
    NUMBER,
    ORACLE,
    TRUTH,
    Place,
    Value,
)
from gnarl_dsl.model.parts import parts_inside
from gnarl_dsl.report.source import Span
from gnarl_dsl.report.suggestions import count_of, did_you_mean
from gnarl_dsl.syntax import ast
from gnarl_dsl.syntax.layout import MAX_DEPTH

MAX_RANGE = 1000
MAX_BINDERS = 16
PAIR_FIX = "Make it symmetric, or use a `pair` feature, which keeps both directions."
# The parser allows MAX_DEPTH; beyond it only a circle of definitions can lead.
_MAX_DEPTH = MAX_DEPTH + 20
_CONDITIONS, _TOTALS = ("exists", "forall"), ("sum", "min", "max")
_EXTREMES = ("argmin", "argmax", "any")


def check_expr(
    context: Context, tree: ast.Expr, scope: Scope, expected: Type | None = None
) -> Typed:
    """Type one expression; `expected` lets a bare word mean a category."""
    context.depth += 1
    typed = _typed(context, tree, scope, expected) if context.depth <= _MAX_DEPTH else None
    context.depth -= 1
    if typed is None:
        context.found.add("GN009", tree.span, limit=MAX_DEPTH)
        return poison(tree.span)
    return typed


def _typed(context: Context, tree: ast.Expr, scope: Scope, expected: Type | None) -> Typed:
    match tree:
        case ast.Number():
            return _number(context, tree)
        case ast.Boolean():
            return Typed(_boolean(tree.span, tree.value), MASK)
        case ast.Infinity():
            return Typed(model.Number.model_construct(span=tree.span, value=math.inf), WHOLE)
        case ast.Name():
            return _name(context, tree, scope, expected)
        case ast.Index():
            return _index(context, tree, scope)
        case ast.Last():
            return _last(context, tree)
        case ast.Unary():
            return _unary(context, tree, scope)
        case ast.Binary():
            return _binary(context, tree, scope)
        case ast.Compare():
            return _compare(context, tree, scope)
        case ast.Logic():
            return _logic(context, tree, scope)
        case ast.IfElse():
            return _if_else(context, tree, scope, expected)
        case ast.Otherwise():
            return _otherwise(context, tree, scope)
        case ast.Call():
            return _call(context, tree, scope)
        case ast.Quantifier():
            return _quantifier(context, tree, scope)
        case ast.Partial():
            return _partial(context, tree, scope)
        case _:
            assert_never(tree)


def check_as(context: Context, tree: ast.Expr, scope: Scope, wanted: Type, what: str) -> Typed:
    """Type an expression that must be of one type; `what` names the place for messages."""
    return _require(context, check_expr(context, tree, scope, wanted), wanted, tree.span, what)


def _require(context: Context, typed: Typed, wanted: Type, span: Span, what: str) -> Typed:
    if typed.is_poison or wanted.kind is POISONED:
        return typed
    if typed.type.kind is wanted.kind:
        if typed.type.optional and not wanted.optional:
            context.found.add("GN301", span, what=what)
            return poison(span)
        return typed
    if typed.type.numbered and wanted.kind is NUMBER:
        return typed
    code, fix = "GN206" if wanted == MASK else "GN205", type_fix(typed, wanted)
    context.found.add(code, span, what=what, expected=wanted, found=typed.type, fix=fix)
    return poison(span)


def check_scalar(context: Context, tree: ast.Expr, scope: Scope, what: str) -> Typed:
    """Type an expression that must be a number, where nothing else is likely to be meant."""
    typed = check_expr(context, tree, scope)
    return _require_scalar(context, typed, tree.span, what)


def _require_scalar(context: Context, typed: Typed, span: Span, what: str) -> Typed:
    if typed.type.numeric or typed.is_poison:
        return typed
    context.found.add("GN205", span, what=what, expected=SCALAR, found=typed.type, fix=None)
    return poison(span)


def _visit(context: Context, trees: Sequence[ast.Expr], scope: Scope) -> None:
    """Check arguments that nothing will use, for the mistakes in them."""
    for tree in trees:
        whole = isinstance(tree, ast.Name) and (
            tree.text in context.names.features or tree.text in ("nodes", "edges")
        )
        if not whole:
            check_expr(context, tree, scope)


def arity_ok(
    context: Context, name: ast.Ident, span: Span, found: int, wanted: Sequence[str]
) -> bool:
    if found == len(wanted):
        return True
    form = f"{name.text}({', '.join(wanted)})" if wanted else name.text
    takes, given = count_of(len(wanted), "argument"), count_of(found)
    context.found.add("GN203", span, name=name.text, expected=takes, found=given, form=form)
    return False


def _boolean(span: Span, value: bool) -> model.Boolean:
    return model.Boolean.model_construct(span=span, value=value)


def known_truth(typed: Typed) -> bool | None:
    """The value of a condition that is known now."""
    if typed.is_poison or not isinstance(typed.expr, model.Boolean):
        return None
    return typed.expr.value


# Values that features hold


def check_initial(context: Context, name: str) -> Typed:
    """The right-hand side of a feature line, typed for its place."""
    info = context.names.features[name]
    scope = Scope()
    for var in info.vars:
        warn_shadow(context, var, scope)
        scope = scope.bind(var.text, Binding(NODE, var.span, used=True))
    if info.place is EDGE and len(info.vars) == 2:
        scope = scope.joining(frozenset({(info.vars[0].text, info.vars[1].text)}))
    tree = info.tree.value
    return poison(info.tree.span) if tree is None else check_stored(context, tree, scope, name)


def check_stored(context: Context, tree: ast.Expr, scope: Scope, feature: str) -> Typed:
    """A value that a feature is to hold, at its start or by an update."""
    info = context.names.features[feature]
    what, wanted = f"the value of `{feature}`", info.stored
    if info.stage is ORACLE and isinstance(tree, ast.Call):
        return _require(context, _oracle_value(context, tree, scope, info), wanted, tree.span, what)
    typed = check_expr(context, tree, scope, wanted)
    if wanted.numbered and typed.type.kind is NUMBER:
        return _numbered(context, typed, wanted, tree.span)
    typed = _require(context, typed, wanted, tree.span, what)
    if info.stage is not ORACLE and is_infinite(typed.expr):
        context.found.add("GN407", tree.span, name=feature)
    return typed


def _oracle_value(context: Context, tree: ast.Call, scope: Scope, info: FeatureInfo) -> Typed:
    if _is_function(context, tree.name.text, scope):
        # One call fills the whole feature, so its arguments know no position.
        return _function(context, tree, Scope(), info.place)
    return check_expr(context, tree, scope)


def _numbered(context: Context, typed: Typed, wanted: Type, span: Span) -> Typed:
    """A number for a categorical(k) must be one of 0..k-1 where that is known."""
    value = typed.expr.value if isinstance(typed.expr, model.Number) else 0.0
    if not typed.type.whole or not 0 <= value < wanted.categories:
        context.found.add("GN222", span, last=wanted.categories - 1)
        return poison(span)
    return typed


def is_infinite(expr: model.Expr) -> bool:
    return isinstance(expr, model.Number) and math.isinf(expr.value)


# Definitions: what formulas can name, checked on first use


def formula(context: Context, name: str, used_at: Span) -> Typed | None:
    """The checked formula of a derived feature or oracle, or None if it needs itself."""
    return context.once(context.formulas, name, used_at, lambda: check_initial(context, name))


def let_info(context: Context, name: str, used_at: Span) -> LetInfo | None:
    """The checked let, or None if it calls itself or cannot be called."""
    tree = context.names.lets[name]
    return context.once(context.lets, name, used_at, lambda: _let(context, tree))


def _let(context: Context, tree: ast.Let) -> LetInfo | None:
    params = [_let_param(context, param) for param in tree.params]
    forbid_same_names(context, [param.name for param in tree.params], "parameter")
    scope = Scope()
    for param, declared in zip(params, tree.params, strict=True):
        warn_shadow(context, declared.name, Scope())
        kind = Type(param.type) if param else POISON
        scope = scope.bind(declared.name.text, Binding(kind, declared.name.span))
    body = check_expr(context, tree.body, scope)
    warn_unused(context, scope.bound, "parameter")
    known = tuple(param for param in params if param is not None)
    return LetInfo(known, body) if len(known) == len(params) else None


def _let_param(context: Context, param: ast.LetParam) -> model.LetParam | None:
    word = param.type.text if param.type else NODE_VALUE.name
    if word in words.LET_TYPES:
        kind = kinds.VALUES[word]
        return model.LetParam.model_construct(name=param.name.text, type=kind)
    span = param.type.span if param.type else param.span
    fix = did_you_mean(word, words.LET_TYPES) or FOREIGN_TYPES.get(word)
    expected = ", ".join(words.LET_TYPES)
    context.found.add("GN106", span, name=word, expected=expected, fix=fix)
    return None


Clause = ast.Correct | ast.Valid | ast.Objective


def clause_info(context: Context, tree: Clause, used_at: Span) -> Typed | None:
    """The checked value of `correct`, `valid` or an objective, or None if it needs itself."""
    name = tree.name.text if isinstance(tree, ast.Objective) else type(tree).__name__.lower()
    return context.once(context.clauses, name, used_at, lambda: _clause(context, tree))


def _clause(context: Context, tree: Clause) -> Typed:
    match tree:
        case ast.Objective():
            return check_as(context, tree.value, Scope(), SCALAR, "an objective")
        case ast.Correct():
            return check_as(context, tree.condition, Scope(), MASK, "`correct`")
        case ast.Valid():
            return check_as(context, tree.condition, Scope(), MASK, "`valid`")
        case _:
            assert_never(tree)


def _feature_facts(context: Context, name: str, span: Span) -> Facts:
    """What reading the feature means: an oracle read, a state read, or a formula's reads."""
    info = context.names.features[name]
    stage = info.stage
    context.names.used.add(name)
    if stage is ORACLE:
        formula(context, name, span)
        return Facts(oracle=(Witness(name, span),))
    if stage.written:
        read = (Witness(name, span),)
        return Facts(state=read, hidden=read if stage is HIDDEN else ())
    if stage is DERIVED:
        typed = formula(context, name, span)
        facts = typed.facts.times(cost.CONSTANT, names=_variables(info)) if typed else NO_FACTS
        return replace(facts, oracle=(), state=(Witness(name, span),), hidden=())
    return NO_FACTS


def _variables(info: FeatureInfo) -> tuple[str, ...]:
    return tuple(var.text for var in info.vars)


# Numbers and names


def _number(context: Context, tree: ast.Number) -> Typed:
    value = tree.value
    if not abs(value) <= MAX_NUMBER:
        context.found.add("GN020", tree.span, limit=f"{MAX_NUMBER:g}")
        return poison(tree.span)
    return _constant(tree.span, value)


def _constant(span: Span, value: float, unit: str = "") -> Typed:
    number = model.Number.model_construct(span=span, value=value, unit=unit)
    return Typed(number, WHOLE if float(value).is_integer() else SCALAR)


def _name(context: Context, tree: ast.Name, scope: Scope, expected: Type | None) -> Typed:
    name, span, names = tree.text, tree.span, context.names
    if expected is not None and name in expected.choices:
        return _choice(name, span, expected)
    if name in scope.bound:
        return _variable(tree, scope.bound[name])
    if name in names.features:
        return _bare_feature(context, tree)
    if name in names.params:
        return _param(context, name, span)
    if name in names.lets:
        return _let_call(context, ast.Ident(span, name), (), span, scope)
    if name in ("n", "m"):
        of = "nodes" if name == "n" else "edges"
        return Typed(model.Size.model_construct(span=span, of=of), WHOLE)
    if name in ("correct", "valid") or name in names.objectives:
        return _clause_ref(context, name, span)
    return _unknown_name(context, tree, scope, expected)


def _variable(tree: ast.Name, binding: Binding) -> Typed:
    binding.used = True
    if binding.choice is not None:
        return _choice(binding.choice.value, tree.span, binding.type)
    variable = model.Variable.model_construct(
        span=tree.span, name=tree.text, type=binding.type.value
    )
    return Typed(variable, binding.type, Facts(hidden=binding.hidden))


def _choice(name: str, span: Span, expected: Type) -> Typed:
    if expected.kind is CHOICE:
        return Typed(model.Choice.model_construct(span=span, value=name), expected)
    position = expected.choices.index(name)
    return Typed(model.Category.model_construct(span=span, value=position), expected)


def _param(context: Context, name: str, span: Span) -> Typed:
    param = context.names.params[name]
    context.names.used.add(name)
    if isinstance(param.value, str):
        chosen = model.Choice.model_construct(span=span, value=param.value)
        return Typed(chosen, Type(CHOICE, choices=param.choices))
    return _constant(span, param.value, param.unit)


def _bare_feature(context: Context, tree: ast.Name) -> Typed:
    info = context.names.features[tree.text]
    facts = _feature_facts(context, tree.text, tree.span)
    if info.type.apart:
        return _lone_point(context, tree.text, tree.span)
    if info.type.single:
        one = model.OneNode.model_construct(span=tree.span, feature=tree.text)
        return Typed(one, info.marked, facts)
    if info.place is GRAPH:
        read = model.Read.model_construct(span=tree.span, feature=tree.text, index=())
        return Typed(read, info.cell, facts)
    report_missing_index(context, tree.span, tree.text)
    return poison(tree.span)


def _clause_ref(context: Context, name: str, span: Span) -> Typed:
    """`correct`, `valid` or an objective, used by name."""
    names = context.names
    clauses = {"correct": names.correct, "valid": names.valid}
    tree = clauses[name] if name in clauses else names.objectives[name]
    if tree is None:
        if name not in names.lost_blocks:
            context.found.add("GN228", span, name=name)
        return poison(span)
    typed = clause_info(context, tree, span)
    if typed is None or typed.is_poison:
        return poison(span)
    clause, label = (name, "") if name in clauses else ("objective", name)
    ref = model.ClauseRef.model_construct(span=span, clause=clause, name=label)
    return Typed(ref, typed.type, typed.facts.through(name, span))


def _unknown_name(context: Context, tree: ast.Name, scope: Scope, expected: Type | None) -> Typed:
    name, found = tree.text, context.found
    if name in scope.later:
        found.add("GN408", tree.span, name=name)
    elif context.names.is_lost(name):
        pass
    elif name in (*words.RESERVED, *_CALLED) or _is_function(context, name, scope):
        found.add("GN224", tree.span, name=name, fix=bare_builtin_fix(name))
    elif expected is not None and expected.choices:
        fix = did_you_mean(name, [*expected.choices, *scope.bound])
        choices = " | ".join(expected.choices)
        found.add("GN214", tree.span, name=name, choices=choices, fix=fix)
    else:
        found.add("GN201", tree.span, name=name, fix=_name_fix(context, name, scope))
    return poison(tree.span)


def _name_fix(context: Context, name: str, scope: Scope) -> str | None:
    """A pick used outside its phases, a word from another language, or a slip of the pen."""
    phase = next((p for p in context.names.phases.values() if p.variable.text == name), None)
    if phase is not None:
        return (
            f"`{name}` is the pick of phase `{phase.name.text}`, which only phases and experts "
            f"see. A let can take it as a parameter; elsewhere use `last({phase.name.text})`."
        )
    if name in FOREIGN_NAMES:
        return FOREIGN_NAMES[name]
    if name in FOREIGN_FUNCTIONS:
        return FOREIGN_FUNCTIONS[name]
    return did_you_mean(name, [*scope.bound, *context.names.global_names(), "true", "false"])


def _last(context: Context, tree: ast.Last) -> Typed:
    phase, phases = tree.phase.text, context.names.phases
    if phase not in phases:
        if "phase" not in context.names.lost_blocks:
            known = ", ".join(f"`{name}`" for name in phases) or "none"
            fix = _phase_fix(context, phase)
            context.found.add("GN304", tree.phase.span, name=phase, known=known, fix=fix)
        return poison(tree.span)
    facts = Facts(state=(Witness(f"last({phase})", tree.span),))
    return Typed(model.Last.model_construct(span=tree.span, phase=phase), MAYBE_NODE, facts)


def _phase_fix(context: Context, name: str) -> str | None:
    for phase in context.names.phases.values():
        if phase.variable.text == name:
            return f"`{name}` is the pick; the phase is `{phase.name.text}`."
    return did_you_mean(name, context.names.phases)


# Cells of features


def _index(context: Context, tree: ast.Index, scope: Scope) -> Typed:
    name = tree.name.text
    info = context.names.features.get(name)
    if info is None:
        for part in tree.indices:
            check_expr(context, part, scope)
        return _not_a_feature(context, tree, scope)
    indices = [check_as(context, i, scope, NODE, "an index") for i in tree.indices]
    if info.type.apart:
        return _lone_point(context, name, tree.span)
    if info.place is GRAPH:
        context.found.add("GN210", tree.span, name=name)
        return poison(tree.span)
    if not index_ok(context, tree.span, name, len(indices)):
        return poison(tree.span)
    if info.place is EDGE:
        off = "is the first of them" if info.type.names_nodes else "reads as 0 or false"
        warn_if_unguarded(context, tree, scope, off)
    facts = _feature_facts(context, name, tree.span).plus(*(i.facts for i in indices))
    read = model.Read.model_construct(
        span=tree.span, feature=name, index=tuple(i.expr for i in indices)
    )
    return Typed(read, POISON if any(i.is_poison for i in indices) else info.cell, facts)


def _lone_point(context: Context, name: str, span: Span) -> Typed:
    """Formulas know distances only, which stay the same however the plane is turned."""
    context.names.used.add(name)
    context.found.add("GN236", span, name=name)
    return poison(span)


def index_ok(context: Context, span: Span, name: str, found: int) -> bool:
    """Whether a feature that is not on the graph gets as many nodes as its place has."""
    place = context.names.features[name].place
    if found == place.width:
        return True
    nodes = {0: "no index", 1: "one node", 2: "two nodes"}
    context.found.add(
        "GN204",
        span,
        name=name,
        place=place.plural,
        expected=nodes[place.width],
        found=nodes.get(found, str(found)).removesuffix(" node").removesuffix(" nodes"),
        form=_cell_form(name, place),
    )
    return False


def report_missing_index(context: Context, span: Span, name: str) -> None:
    place = context.names.features[name].place
    binders = ", ".join(f"{x} in nodes" for x in "xy"[: place.width])
    quantifier = f"forall {'(x, y) in edges' if place is EDGE else binders}: …"
    form = _cell_form(name, place)
    context.found.add("GN211", span, name=name, place=place.name, form=form, quantifier=quantifier)


def _cell_form(name: str, place: Place) -> str:
    return f"{name}[{', '.join('xy'[: place.width])}]" if place.width else name


def _not_a_feature(context: Context, tree: ast.Index, scope: Scope) -> Typed:
    name = tree.name.text
    if context.is_known(name, scope) or _is_function(context, name, scope):
        fix = _brackets_fix(context, name)
        context.found.add("GN225", tree.name.span, name=name, fix=fix)
    elif not context.names.is_lost(name):
        fix = did_you_mean(name, context.names.features) or FOREIGN_FUNCTIONS.get(name)
        context.found.add("GN201", tree.name.span, name=name, fix=fix)
    return poison(tree.span)


def _brackets_fix(context: Context, name: str) -> str | None:
    if name in context.names.lets:
        params = ", ".join(param.name.text for param in context.names.lets[name].params)
        return f"It is a let: write `{name}({params})`." if params else f"Write `{name}`."
    forms = {"edge": "edge(u, v)", **{word: f"{word}(v)" for word in words.DEGREES}}
    return f"Write `{forms[name]}`." if name in forms else None


def warn_if_unguarded(context: Context, tree: ast.Index, scope: Scope, holds: str) -> None:
    """Off the edges a feature reads 0 or false, which is rarely meant."""
    graph = context.names.graph
    ends = tuple(i.text for i in tree.indices if isinstance(i, ast.Name))
    if graph is None or graph.complete or len(ends) != 2:
        return
    if not all(end in scope.bound for end in ends):
        return
    u, v = ends
    known = (u, v) in scope.joined or (not graph.directed and (v, u) in scope.joined)
    if not known:
        context.found.add("GN904", tree.span, name=tree.name.text, u=u, v=v, holds=holds)


# Arithmetic


def _unary(context: Context, tree: ast.Unary, scope: Scope) -> Typed:
    if tree.op == "not":
        return _not(context, tree, scope)
    operand = _operand(context, tree.operand, scope, "`-`")
    return _computed(OPERATORS["neg"], [operand], tree.span)


def _binary(context: Context, tree: ast.Binary, scope: Scope) -> Typed:
    left = _operand(context, tree.left, scope, f"`{tree.op}`")
    right = _operand(context, tree.right, scope, f"`{tree.op}`")
    if tree.op == "/" and isinstance(right.expr, model.Number) and right.expr.value == 0:
        context.found.add("GN905", tree.span)
    return _computed(OPERATORS[tree.op], [left, right], tree.span)


def _operand(context: Context, tree: ast.Expr, scope: Scope, sign: str) -> Typed:
    typed = check_expr(context, tree, scope)
    if typed.type.numeric or typed.is_poison:
        return typed
    code, fix = "GN207" if typed.type.kind is TRUTH else "GN209", operand_fix(typed)
    context.found.add(code, tree.span, found=typed.type, sign=sign, fix=fix)
    return poison(tree.span)


def _computed(operator: Operator, operands: list[Typed], span: Span) -> Typed:
    """An operator on numbers; those that are known now are computed now, but for their units."""
    if any(operand.is_poison for operand in operands):
        return poison(span, *operands)
    facts = NO_FACTS.plus(*(operand.facts for operand in operands))
    exprs = [operand.expr for operand in operands]
    values = [e.value for e in exprs if isinstance(e, model.Number) and not e.unit]
    expr: model.Expr
    if len(values) == len(exprs):
        expr = model.Number.model_construct(span=span, value=operator.evaluate(*values))
    elif len(exprs) == 1:
        expr = model.Unary.model_construct(span=span, op=operator.name, operand=exprs[0])
    else:
        left, right = exprs
        expr = model.Arithmetic.model_construct(span=span, op=operator.name, left=left, right=right)
    return Typed(expr, _computed_type(operator, operands), facts)


def _computed_type(operator: Operator, operands: list[Typed]) -> Type:
    if operator.whole is None:
        if len(operands) == 1:
            return operands[0].type
        return WHOLE if all(operand.type.whole for operand in operands) else SCALAR
    return WHOLE if operator.whole else SCALAR


# Comparisons


def _compare(context: Context, tree: ast.Compare, scope: Scope) -> Typed:
    left, right = _compared(context, tree, scope)
    if left.is_poison or right.is_poison:
        return poison(tree.span, left, right)
    kind = _common_kind(context, tree, left.type, right.type)
    if kind is None:
        return poison(tree.span, left, right)
    if not isinstance(kind, Value):
        return _fold_choice(context, tree, left, right)
    if tree.op == "!=" and (left.type.optional or right.type.optional):
        _report_unequal_to_unset(context, tree, left.type, right.type)
        return poison(tree.span, left, right)
    if kind is NUMBER and not COMPARISONS[tree.op].ordered:
        _warn_exact(context, tree, left.type, right.type)
    expr = model.Compare.model_construct(
        span=tree.span, op=tree.op, of=kind, left=left.expr, right=right.expr
    )
    return Typed(expr, MASK, left.facts.plus(right.facts))


def _compared(context: Context, tree: ast.Compare, scope: Scope) -> tuple[Typed, Typed]:
    """Check the side with a known type first: it tells what a bare word may mean."""
    if isinstance(tree.left, ast.Name) and not context.is_known(tree.left.text, scope):
        right = check_expr(context, tree.right, scope)
        return check_expr(context, tree.left, scope, right.type), right
    left = check_expr(context, tree.left, scope)
    return left, check_expr(context, tree.right, scope, left.type)


def _common_kind(context: Context, tree: ast.Compare, left: Type, right: Type) -> Kind | None:
    if left.numeric and right.numeric:
        return NUMBER
    named_apart = left.kind is CATEGORY and left.choices != right.choices
    if left.kind is not right.kind or named_apart:
        code = "GN223" if {left.kind, right.kind} == {NODE_VALUE, NUMBER} else "GN208"
        fix = compare_fix(left, right) if code == "GN208" else None
        context.found.add(code, tree.span, op=tree.op, left=left, right=right, fix=fix)
        return None
    if COMPARISONS[tree.op].ordered:
        fix = "Write `==`, which is exact for these." if tree.op == "~=" else None
        plural = left.kind.plural if isinstance(left.kind, Value) else CATEGORY.plural
        context.found.add("GN226", tree.span, op=tree.op, what=plural, fix=fix)
        return None
    return left.kind


def _report_unequal_to_unset(context: Context, tree: ast.Compare, left: Type, right: Type) -> None:
    """It would be false before the first pick, where most people mean that it is true."""
    sides = [context.text_of(tree.left.span), context.text_of(tree.right.span)]
    may = [left.optional, right.optional]
    named = sides[may.index(True)]
    context.found.add(
        "GN305",
        tree.span,
        unset=f"`{named}`" if named != "…" else "this node",
        equal=" == ".join(sides),
        supplied=" != ".join(
            f"{side} otherwise s" if unset else side for side, unset in zip(sides, may, strict=True)
        ),
    )


def _fold_choice(context: Context, tree: ast.Compare, left: Typed, right: Typed) -> Typed:
    """Enum parameters are known now, so the comparison is too."""
    words: list[str] = []
    for side, part, other in ((left, tree.left, tree.right), (right, tree.right, tree.left)):
        if isinstance(side.expr, model.Choice):
            words.append(side.expr.value)
        else:
            same = f"… {tree.op} {context.text_of(other.span)}"
            fix = f"Compare in the branches: `if … then {same} else {same}`."
            context.found.add("GN218", part.span, fix=fix)
    if len(words) < 2:
        return poison(tree.span, left, right)
    holds = (words[0] == words[1]) == (tree.op == "==")
    return Typed(_boolean(tree.span, holds), MASK)


def _warn_exact(context: Context, tree: ast.Compare, left: Type, right: Type) -> None:
    if not (left.whole and right.whole):
        fix = "Use `not (… ~= …)`, or compare counts." if tree.op == "!=" else None
        context.found.add("GN903", tree.span, op=tree.op, fix=fix)


# Logic and choices


def _not(context: Context, tree: ast.Unary, scope: Scope) -> Typed:
    operand = check_as(context, tree.operand, scope, MASK, "`not`")
    known = known_truth(operand)
    if known is not None:
        return Typed(_boolean(tree.span, not known), MASK)
    negated = model.Unary.model_construct(span=tree.span, op="not", operand=operand.expr)
    return Typed(negated, operand.type, operand.facts)


def _logic(context: Context, tree: ast.Logic, scope: Scope) -> Typed:
    parts: list[Typed] = []
    inner = scope
    for arg in tree.args:
        parts.append(check_as(context, arg, inner, MASK, f"`{tree.op}`"))
        inner = inner.joining(context.names.promises.joined(arg, tree.op == "and"))
    if any(part.is_poison for part in parts):
        return poison(tree.span, *parts)
    return _folded_logic(tree, parts)


def _folded_logic(tree: ast.Logic, parts: list[Typed]) -> Typed:
    decisive = tree.op == "or"
    kept: list[Typed] = []
    for part in parts:
        known = known_truth(part)
        if known is None:
            kept.append(part)
        elif known == decisive:
            return Typed(_boolean(tree.span, decisive), MASK)
    if not kept:
        return Typed(_boolean(tree.span, not decisive), MASK)
    if len(kept) == 1:
        return kept[0]
    expr = model.Logic.model_construct(
        span=tree.span, op=tree.op, args=tuple(part.expr for part in kept)
    )
    return Typed(expr, MASK, NO_FACTS.plus(*(part.facts for part in kept)))


def _if_else(context: Context, tree: ast.IfElse, scope: Scope, expected: Type | None) -> Typed:
    condition = check_as(context, tree.condition, scope, MASK, "the condition of `if`")
    then_scope = scope.joining(context.names.promises.joined(tree.condition, True))
    then = check_expr(context, tree.then, then_scope, expected)
    else_scope = scope.joining(context.names.promises.joined(tree.condition, False))
    other = check_expr(context, tree.otherwise, else_scope, expected or then.type)
    if then.is_poison or other.is_poison or condition.is_poison:
        return _poisoned_choice(tree, condition, then, other)
    kind = merge_types(then.type, other.type)
    if kind is None:
        context.found.add("GN212", tree.span, then=then.type, other=other.type)
        return _poisoned_choice(tree, condition, then, other)
    known = known_truth(condition)
    if known is not None:
        return then if known else other
    expr = model.IfElse.model_construct(
        span=tree.span, condition=condition.expr, then=then.expr, otherwise=other.expr
    )
    return Typed(expr, kind, condition.facts.plus(then.facts, other.facts))


def _poisoned_choice(tree: ast.IfElse, condition: Typed, then: Typed, other: Typed) -> Typed:
    """A branch that enum params rule out reads nothing, even in a mistaken choice."""
    known = known_truth(condition)
    if known is not None:
        return poison(tree.span, then if known else other)
    return poison(tree.span, condition, then, other)


def _otherwise(context: Context, tree: ast.Otherwise, scope: Scope) -> Typed:
    value = check_expr(context, tree.value, scope)
    default = check_expr(context, tree.default, scope)
    if value.is_poison or default.is_poison:
        return poison(tree.span, value, default)
    if not value.type.optional:
        context.found.add("GN908", tree.span, found=value.type)
        return value
    what = "the value after `otherwise`"
    _require(context, default, MAYBE_NODE, tree.default.span, what)
    expr = model.Otherwise.model_construct(span=tree.span, value=value.expr, default=default.expr)
    return Typed(expr, default.type, value.facts.plus(default.facts))


# Calls: lets, and what the language knows of numbers, the graph and pointers


def _call(context: Context, tree: ast.Call, scope: Scope) -> Typed:
    name = tree.name.text
    if name in context.names.lets:
        return _let_call(context, tree.name, tree.args, tree.span, scope)
    if name == "edge":
        return _edge(context, tree, scope)
    if name in words.DEGREES:
        return _degree(context, tree, scope)
    if name in OPERATORS and OPERATORS[name].called:
        return _number_function(context, tree, OPERATORS[name], scope)
    if name in words.CHASES:
        return _chase(context, tree, scope)
    if _is_function(context, name, scope):
        return _function(context, tree, scope, GRAPH)
    if _is_open(context, name, scope):
        return _open_call(context, tree, scope)
    return _unknown_function(context, tree, scope)


def _is_open(context: Context, name: str, scope: Scope) -> bool:
    """Whether a name means what the language makes of it: the spec declares no other."""
    return name in words.OPEN and name not in scope.bound and not context.names.declares(name)


def _open_call(context: Context, tree: ast.Call, scope: Scope) -> Typed:
    if tree.name.text == "root":
        return _chase(context, tree, scope)
    if tree.name.text == "distance" and len(tree.args) == len(_FAR):
        return _distance(context, tree, scope)
    return _reach(context, tree, tree.args, Bound(scope), None, scope)


def _unknown_function(context: Context, tree: ast.Call, scope: Scope) -> Typed:
    name = tree.name.text
    _visit(context, tree.args, scope)
    if not context.names.is_lost(name):
        fix = _function_fix(context, tree, scope)
        context.found.add("GN202", tree.name.span, name=name, fix=fix)
    return poison(tree.span)


def _function_fix(context: Context, tree: ast.Call, scope: Scope) -> str | None:
    name, names = tree.name.text, context.names
    if name in names.features:
        wanted = names.features[name].place.width
        given = [arg.text for arg in tree.args if isinstance(arg, ast.Name)]
        index = given if len(given) == len(tree.args) == wanted else "xy"[:wanted]
        cell = f"{name}[{', '.join(index)}]" if wanted else name
        return f"`{name}` is a feature, which is read with brackets: `{cell}`."
    if name in words.NEAR or name in ("nodes", "edges"):
        call = f"{name}(x)" if name in words.NEAR else name
        return f"`{name}` is a set: use it as in `exists y in {call}: …`."
    if name in scope.bound or name in set(names.global_names()):
        return f"`{name}` takes nothing in parentheses: write `{name}`."
    if name in FOREIGN_FUNCTIONS:
        return FOREIGN_FUNCTIONS[name]
    brought = names.externs_of("extern")
    known = [*names.lets, *brought, *registered.FUNCTIONS, *words.MATH, *words.CHASES, *words.OPEN]
    folds = ("count", "sum", "exists", "forall", "last")
    return did_you_mean(name, [*known, *words.DEGREES, "edge", *folds])


def _let_call(
    context: Context, name: ast.Ident, args: tuple[ast.Expr, ...], span: Span, scope: Scope
) -> Typed:
    let = context.names.lets[name.text]
    context.names.used.add(name.text)
    info = let_info(context, name.text, span)
    fits = arity_ok(context, name, span, len(args), [p.name.text for p in let.params])
    if info is None or not fits:
        _visit(context, args, scope)
        return poison(span)
    checked = [
        check_as(context, arg, scope, Type(param.type), f"`{param.name}` of `{name.text}`")
        for arg, param in zip(args, info.params, strict=True)
    ]
    arguments = {p.name: _free(arg.expr) for p, arg in zip(info.params, checked, strict=True)}
    facts = info.body.facts.through(name.text, span).given(arguments)
    if info.body.is_poison or any(arg.is_poison for arg in checked):
        return poison(span, Typed(info.body.expr, POISON, facts), *checked)
    if isinstance(info.body.expr, model.Number | model.Boolean | model.Choice):
        return Typed(info.body.expr, info.body.type)
    call = model.LetCall.model_construct(
        span=span, name=name.text, args=tuple(arg.expr for arg in checked)
    )
    return Typed(call, info.body.type, facts.plus(*(arg.facts for arg in checked)))


def _number_function(context: Context, tree: ast.Call, operator: Operator, scope: Scope) -> Typed:
    """A function on numbers; one that may be grouped at will takes two or more."""
    if operator.associative and len(tree.args) < operator.arity:
        _report_too_few(context, tree)
        _visit(context, tree.args, scope)
        return poison(tree.span)
    what = f"an argument of `{operator.name}`"
    args = [check_as(context, arg, scope, SCALAR, what) for arg in tree.args]
    if not operator.associative:
        wanted = "ab"[: operator.arity]
        if not arity_ok(context, tree.name, tree.span, len(args), wanted):
            return poison(tree.span)
        return _computed(operator, args, tree.span)
    total = args[0]
    for arg in args[1:]:
        total = _computed(operator, [total, arg], tree.span)
    return total


def _report_too_few(context: Context, tree: ast.Call) -> None:
    """`min` and `max` of a single thing: probably of all values of a feature."""
    name = tree.name.text
    expected, form = "two or more arguments", f"{name}(a, b)"
    if name in _TOTALS:
        only = tree.args[0] if tree.args else None
        cell = f"{only.text}[x]" if isinstance(only, ast.Name) else "…"
        expected, form = f"{expected}, or a set to range over", f"{name}(x in nodes: {cell})"
    found = count_of(len(tree.args))
    context.found.add("GN203", tree.span, name=name, expected=expected, found=found, form=form)


def _edge(context: Context, tree: ast.Call, scope: Scope) -> Typed:
    ends = [check_as(context, arg, scope, NODE, "an end of `edge`") for arg in tree.args]
    if not arity_ok(context, tree.name, tree.span, len(ends), ["u", "v"]):
        return poison(tree.span)
    expr = model.HasEdge.model_construct(span=tree.span, source=ends[0].expr, target=ends[1].expr)
    return Typed(expr, MASK, ends[0].facts.plus(ends[1].facts))


def _degree(context: Context, tree: ast.Call, scope: Scope) -> Typed:
    direction = words.DEGREES[tree.name.text]
    args = [check_as(context, arg, scope, NODE, f"`{tree.name.text}`") for arg in tree.args]
    if not arity_ok(context, tree.name, tree.span, len(args), ["v"]):
        return poison(tree.span)
    if not _direction_ok(context, tree.name, words.DEGREES):
        return poison(tree.span)
    expr = model.Degree.model_construct(span=tree.span, node=args[0].expr, direction=direction)
    return Typed(expr, WHOLE, args[0].facts)


def _direction_ok(context: Context, word: ast.Ident, table: Mapping[str, str]) -> bool:
    """`neighbors` and `degree` belong to undirected graphs, the others to directed ones."""
    graph = context.names.graph
    if graph is None or graph.directed == (table[word.text] != "both"):
        return True
    options = ["out", "in"] if graph.directed else ["both"]
    instead = " or ".join(f"`{name}`" for name, way in table.items() if way in options)
    kind = "directed" if graph.directed else "undirected"
    context.found.add("GN216", word.span, word=word.text, kind=kind, instead=instead)
    return False


class _ChaseForm(NamedTuple):
    """How a pointer is followed: its arguments, of which a target may be left out."""

    args: list[str]
    type: Type


_CHASES = {
    "depth": _ChaseForm(["pointer", "x", "target"], WHOLE),
    "path_cost": _ChaseForm(["pointer", "weight", "x", "target"], SCALAR),
    "on_cycle": _ChaseForm(["pointer", "x"], MASK),
    "root": _ChaseForm(["pointer", "x"], MAYBE_NODE),
}


def _chase(context: Context, tree: ast.Call, scope: Scope) -> Typed:
    name = tree.name.text
    wanted, kind = _CHASES[name]
    count = len(tree.args)
    no_target = "target" in wanted and count == len(wanted) - 1
    if not no_target and not arity_ok(context, tree.name, tree.span, count, wanted):
        _visit(context, tree.args, scope)
        return poison(tree.span)
    features = [_feature_arg(context, tree.args[0], NODE_POINTER, tree, scope)]
    if "weight" in wanted:
        features.append(_feature_arg(context, tree.args[1], EDGE_SCALAR, tree, scope))
    nodes = [
        check_as(context, arg, scope, NODE, f"a node of `{name}`")
        for arg in tree.args[len(features) :]
    ]
    known = [feature for feature in features if feature is not None]
    if len(known) < len(features) or any(node.is_poison for node in nodes):
        return poison(tree.span)
    expr = model.Chase.model_construct(
        span=tree.span,
        op=name,
        pointer=known[0].feature,
        weight=known[1].feature if len(known) > 1 else None,
        start=nodes[0].expr,
        target=nodes[1].expr if len(nodes) > 1 else None,
    )
    reads = [_feature_facts(context, f.feature, f.span) for f in known]
    facts = NO_FACTS.plus(*reads, *(node.facts for node in nodes))
    if name == "root":
        return Typed(expr, kind, facts.plus(Facts(rows=frozenset({Row(cost.NODES, frozenset())}))))
    return Typed(expr, kind, facts.plus(Facts(terms=cost.NODES)))


def _distance(context: Context, tree: ast.Call, scope: Scope) -> Typed:
    """How far two nodes are apart, by their points."""
    points = _feature_arg(context, tree.args[0], NODE_POINTS, tree, scope)
    ends = [check_as(context, arg, scope, NODE, "an end of `distance`") for arg in tree.args[1:]]
    if points is None or any(end.is_poison for end in ends):
        return poison(tree.span, *ends)
    read = model.Read.model_construct(
        span=tree.span, feature=points.feature, index=tuple(end.expr for end in ends)
    )
    facts = _feature_facts(context, points.feature, tree.span).plus(*(end.facts for end in ends))
    return Typed(read, SCALAR, facts)


# Reachability: on the graph as it is now, or on a part of it


class _ReachForm(NamedTuple):
    """Nodes that it is asked about, and what it tells; a node outside the part has no component."""

    nodes: list[str]
    type: Type


_REACHES = {
    "distance": _ReachForm(["x", "y"], WHOLE),
    "component": _ReachForm(["x"], NODE),
    "acyclic": _ReachForm([], MASK),
}
_CALLED = ("component", "acyclic")  # `distance` and `root` are likelier to be names of somebody's
_FAR = ("points", "x", "y")


def _partial(context: Context, tree: ast.Partial, scope: Scope) -> Typed:
    """`component(u in nodes where P: x)`, and its like."""
    bound = check_binders(context, tree.binders, scope)
    where = check_where(context, tree.where, bound)
    if len(bound.fresh) == 1:  # the ends of a step are its ends, whatever is asked of them
        warn_unused(context, bound.fresh, "variable")
    name = tree.name.text
    if name not in _REACHES or not _is_open(context, name, scope):
        _visit(context, tree.args, scope)
        if not context.names.is_lost(name):
            asked = ", ".join(f"`{known}`" for known in _REACHES)
            fix = did_you_mean(name, _REACHES) or f"These are asked so: {asked}."
            context.found.add("GN202", tree.name.span, name=name, fix=fix)
        return poison(tree.span)
    _verify_part(context, tree, bound)
    typed = _reach(context, tree, tree.args, bound, where, scope)
    if isinstance(typed.expr, model.Reach):
        require_symmetry(context, tree, typed.expr)
    return typed


def _verify_part(context: Context, tree: ast.Partial, bound: Bound) -> None:
    """One variable says which nodes are in the part, two which steps there are."""
    ranges = any(isinstance(binder.domain, model.RangeDomain) for binder in bound.binders)
    count = len(bound.fresh)
    if bound.sound and (ranges or count > 2):
        found = "a range of numbers" if ranges else f"{count} variables"
        name, asked = tree.name.text, "" if tree.name.text == "acyclic" else ": …"
        parts = ("x in nodes", "(x, y) in edges")
        fix = f"Write {' or '.join(f'`{name}({part} where …{asked})`' for part in parts)}."
        context.found.add("GN237", tree.span, name=name, found=found, fix=fix)
        bound.sound = False


def _reach(
    context: Context,
    tree: ast.Call | ast.Partial,
    args: tuple[ast.Expr, ...],
    bound: Bound,
    where: Typed | None,
    scope: Scope,
) -> Typed:
    name = tree.name.text
    wanted, kind = _REACHES[name]
    nodes = [check_as(context, arg, scope, NODE, f"a node of `{name}`") for arg in args]
    fits = arity_ok(context, tree.name, tree.span, len(nodes), wanted)
    parts = nodes if where is None else [*nodes, where]
    if not fits or not bound.sound or any(part.is_poison for part in parts):
        return poison(tree.span, *parts)
    expr: model.Reach = model.Reach.model_construct(
        span=tree.span,
        op=name,
        binders=tuple(bound.binders),
        where=where.expr if where else None,
        nodes=tuple(node.expr for node in nodes),
    )
    inside = repeated(context, where.facts if where else NO_FACTS, bound, tree.span)
    facts = _reach_facts(expr, inside.plus(bound.facts), bound)
    kind = MAYBE_NODE if kind is NODE and len(bound.fresh) == 1 else kind
    return Typed(expr, kind, facts.plus(*(node.facts for node in nodes)))


def _reach_facts(expr: model.Reach, inside: Facts, bound: Bound) -> Facts:
    """What it reads, and what it costs to answer for all nodes at once, from one of them."""
    ends = [_free(node) for node in expr.nodes] if expr.op == "distance" else [frozenset[str]()]
    own = [] if expr.where is None else [expr.where]
    own += [b.domain.node for b in expr.binders if isinstance(b.domain, model.NearDomain)]
    names = frozenset().union(*map(_free, own)).difference(bound.fresh)
    terms = cost.add(inside.cost, bound.size, cost.NODES, cost.EDGES)
    rows = frozenset({Row(terms, names | min(ends, key=len))})
    return replace(inside, terms=cost.CONSTANT, rows=rows)


def _free(expr: model.Expr) -> frozenset[str]:
    """The variables in a formula, those that it binds included."""
    parts = parts_inside(expr)
    return frozenset(part.name for part in parts if isinstance(part, model.Variable))


# Registered functions


def _is_function(context: Context, name: str, scope: Scope) -> bool:
    """Whether a name means a registered function, or one that is brought."""
    return name not in scope.bound and context.names.function(name) is not None


def _signature(context: Context, name: str) -> FunctionSignature:
    signature = context.names.function(name)
    assert signature is not None
    return signature


def _function(context: Context, tree: ast.Call, scope: Scope, place: Place) -> Typed:
    """A registered function whose result is wanted at `place`."""
    name = tree.name.text
    signature = _signature(context, name)
    if not arity_ok(context, tree.name, tree.span, len(tree.args), signature.forms):
        _visit(context, tree.args, scope)
        return poison(tree.span)
    args = [
        _function_arg(context, arg, kind, tree, scope)
        for arg, kind in zip(tree.args, signature.args, strict=True)
    ]
    if not _fits(context, tree, signature, place) or any(arg.is_poison for arg in args):
        return poison(tree.span)
    call = model.Call.model_construct(
        span=tree.span, function=name, args=tuple(arg.expr for arg in args)
    )
    terms = frozenset((n, m, 0) for n, m in signature.cost)
    labels = (Witness(name, tree.span),) if signature.oracle else ()
    facts = Facts(oracle=labels, terms=terms).plus(*(arg.facts for arg in args))
    return Typed(call, Type(signature.type.cell, signature.whole), facts)


def _fits(context: Context, tree: ast.Call, signature: FunctionSignature, place: Place) -> bool:
    graph, name = context.names.graph, tree.name.text
    if graph and signature.directed is not None and signature.directed != graph.directed:
        kind, other = "undirected", "directed"
        if signature.directed:
            kind, other = other, kind
        context.found.add("GN227", tree.span, name=name, kind=kind, other=other)
        return False
    if graph and signature.complete and not graph.complete:
        context.found.add("GN234", tree.span, name=name)
        return False
    if signature.place is not place:
        _report_wrong_place(context, tree, signature, place)
        return False
    return True


def _report_wrong_place(
    context: Context, tree: ast.Call, signature: FunctionSignature, place: Place
) -> None:
    def values(of: Place) -> str:
        return "a single value" if of is GRAPH else f"a value for each {of.name}"

    name, own = tree.name.text, signature.place
    if place is GRAPH:
        column = f"best  oracle  {own.name}  {signature.type}  = {name}(…)"
        fix = f"Declare an oracle, such as `{column}`, and read its cells."
    else:
        fix = f"Write `{own.name}` instead of `{place.name}`."
    gives, wanted = values(own), values(place)
    context.found.add("GN220", tree.span, name=name, gives=gives, wanted=wanted, fix=fix)


def _function_arg(
    context: Context, arg: ast.Expr, kind: ArgKind, call: ast.Call, scope: Scope
) -> Typed:
    what = f"an argument of `{call.name.text}`"
    if kind.type is not None:
        ref = _feature_arg(context, arg, kind, call, scope)
        if ref is None:
            return poison(arg.span)
        return Typed(ref, SCALAR, _feature_facts(context, ref.feature, arg.span))
    if kind is signatures.CHOICE:
        return _word_arg(context, arg, call, scope)
    wanted = {ONE_NODE: NODE, ONE_TRUTH: MASK}.get(kind, SCALAR)
    return check_as(context, arg, scope, wanted, what)


def _word_arg(context: Context, arg: ast.Expr, call: ast.Call, scope: Scope) -> Typed:
    """Every value that an enum parameter can take must be one the function knows."""
    name = call.name.text
    known = _signature(context, name).choices
    wanted, what = Type(CHOICE, choices=known), f"an argument of `{name}`"
    typed = check_as(context, arg, scope, wanted, what)
    if not typed.is_poison and not isinstance(typed.expr, model.Choice):
        fix = f"Write one of {' | '.join(known)}, or an enum param."
        context.found.add("GN218", arg.span, fix=fix)
        return poison(arg.span, typed)
    unknown = [word for word in typed.type.choices if word not in known]
    if not unknown:
        return typed
    fix = f"`{name}` takes only these, so the param can list no others."
    context.found.add("GN214", arg.span, name=unknown[0], choices=" | ".join(known), fix=fix)
    return poison(arg.span)


def _feature_arg(
    context: Context, arg: ast.Expr, kind: ArgKind, call: ast.Call, scope: Scope
) -> model.FeatureRef | None:
    """An argument that must be the bare name of a feature of some place and type."""
    places, wanted = kind.places, kind.type
    assert wanted is not None
    fitting = [
        name
        for name, info in context.names.features.items()
        if (info.place in places and info.type is wanted)
        or (info.type.apart and info.type.cell is wanted.value and EDGE in places)
    ]
    if isinstance(arg, ast.Name):
        if arg.text in fitting:
            context.names.used.add(arg.text)
            return model.FeatureRef.model_construct(span=arg.span, feature=arg.text)
        if arg.text not in context.names.features and not context.is_known(arg.text, scope):
            check_expr(context, arg, scope)
            return None
    context.found.add(
        "GN221",
        arg.span,
        name=call.name.text,
        expected=f"a {wanted.name} feature on {' or '.join(place.plural for place in places)}",
        found=_describe_argument(context, arg),
        fix=_feature_arg_fix(context, arg, fitting),
    )
    return None


def _describe_argument(context: Context, arg: ast.Expr) -> str:
    if isinstance(arg, ast.Name) and arg.text in context.names.features:
        info = context.names.features[arg.text]
        return f"a {info.type.name} on {info.place.plural}"
    return "a feature's cell" if isinstance(arg, ast.Index) else "something else"


def _feature_arg_fix(context: Context, arg: ast.Expr, fitting: Sequence[str]) -> str | None:
    if isinstance(arg, ast.Index) and arg.name.text in context.names.features:
        return f"Write `{arg.name.text}` without its index: the whole feature is read."
    listed = ", ".join(f"`{name}`" for name in fitting)
    return f"Such features here: {listed}." if fitting else None


# Quantifiers


def _quantifier(context: Context, tree: ast.Quantifier, scope: Scope) -> Typed:
    bound = check_binders(context, tree.binders, scope)
    where = check_where(context, tree.where, bound)
    body = _body(context, tree, bound)
    if tree.kind not in ("count", "any"):  # these need not depend on which they are
        warn_unused(context, bound.fresh, "variable")
    parts = [part for part in (where, body) if part is not None]
    if not bound.sound or any(part.is_poison for part in parts):
        return poison(tree.span, *parts)
    facts = NO_FACTS.plus(*(part.facts for part in parts))
    facts = repeated(context, facts, bound, tree.span)
    expr: model.Quantifier = model.Quantifier.model_construct(
        span=tree.span,
        op="argmin" if tree.kind == "any" else tree.kind,
        binders=tuple(bound.binders),
        where=where.expr if where else None,
        body=body.expr if body else None,
    )
    require_symmetry(context, tree, expr)
    return Typed(expr, _quantified_type(tree, body), facts.plus(bound.facts))


def repeated(context: Context, facts: Facts, bound: Bound, span: Span) -> Facts:
    """The facts of something that is done once per combination of the bound variables."""
    total = facts.times(bound.size, bound.repeats, bound.fresh)
    if total.repeats > MAX_RANGE >= facts.repeats:
        context.found.add("GN233", span, count=f"{total.repeats:,}", limit=f"{MAX_RANGE:,}")
    return total


def check_where(context: Context, tree: ast.Expr | None, bound: Bound) -> Typed | None:
    if tree is None:
        return None
    where = check_as(context, tree, bound.scope, MASK, "`where`")
    bound.scope = bound.scope.joining(context.names.promises.joined(tree, True))
    return where


def _body(context: Context, tree: ast.Quantifier, bound: Bound) -> Typed | None:
    kind, found = tree.kind, context.found
    if kind == "count":
        if tree.body is None:
            return None
        found.add("GN230", tree.body.span, name=kind)
        check_expr(context, tree.body, bound.scope)
        return poison(tree.span)
    if kind == "any":
        return _any(context, tree, bound)
    if tree.body is None:
        found.add("GN231", tree.span, name=kind)
        return poison(tree.span)
    if kind in _CONDITIONS:
        return check_as(context, tree.body, bound.scope, MASK, f"the body of `{kind}`")
    body = check_expr(context, tree.body, bound.scope)
    if kind in _EXTREMES and not _extreme_ok(context, tree):
        return poison(tree.span)
    if body.type == MASK:
        fix = f"Write `count(… where …)` instead of `{kind}(…: …)`."
        found.add("GN207", tree.body.span, found=body.type, sign=f"`{kind}`", fix=fix)
        return poison(tree.body.span)
    return _require_scalar(context, body, tree.body.span, f"the body of `{kind}`")


def _any(context: Context, tree: ast.Quantifier, bound: Bound) -> Typed:
    """Any node will do, so all are as good."""
    if not _extreme_ok(context, tree):
        return poison(tree.span)
    if tree.body is not None:
        fix = "Write `any argmin(x in nodes where …: …)` for the one with the least value."
        context.found.add("GN230", tree.body.span, name="any", fix=fix)
        check_expr(context, tree.body, bound.scope)
        return poison(tree.span)
    return _constant(tree.span, 0.0)


def _extreme_ok(context: Context, tree: ast.Quantifier) -> bool:
    if not tree.is_any:
        context.found.add("GN303", tree.span, name=tree.kind)
        return False
    names = [name for binder in tree.binders for name in binder.names]
    if len(names) != 1 or isinstance(tree.binders[0].domain, ast.RangeDomain):
        context.found.add("GN232", tree.span, name=tree.kind)
        return False
    return True


def _quantified_type(tree: ast.Quantifier, body: Typed | None) -> Type:
    if body is None:
        return WHOLE
    if tree.kind in _CONDITIONS:
        return MASK
    if tree.kind in _EXTREMES:
        return MAYBE_NODE
    return WHOLE if body.type.whole else SCALAR


# Binders


@dataclass
class Bound:
    """Checked binders: model, inner scope, number of combinations, facts, new variables."""

    scope: Scope
    binders: list[model.Binder] = field(default_factory=list)
    size: Terms = cost.CONSTANT
    repeats: int = 1
    facts: Facts = NO_FACTS
    fresh: dict[str, Binding] = field(default_factory=dict)
    sound: bool = True


class _Set(NamedTuple):
    """What a binder ranges over; None if it is not known."""

    domain: model.Domain | None
    type: Type
    size: Terms = cost.CONSTANT
    facts: Facts = NO_FACTS


def check_binders(context: Context, trees: tuple[ast.Binder, ...], scope: Scope) -> Bound:
    bound = Bound(scope)
    if len(trees) > MAX_BINDERS:
        span = trees[MAX_BINDERS].span
        context.found.add("GN138", span, what="A binder list", limit=MAX_BINDERS, things="sets")
        bound.sound, trees = False, trees[:MAX_BINDERS]
    forbid_same_names(context, [name for tree in trees for name in tree.names], "variable")
    for tree in trees:
        _bind(context, tree, bound, scope)
    return bound


def _bind(context: Context, tree: ast.Binder, bound: Bound, outer: Scope) -> None:
    domain, kind, size, facts = _domain(context, tree, bound.scope)
    bound.facts = bound.facts.plus(facts.times(bound.size, bound.repeats, bound.fresh))
    bound.size = cost.multiply(bound.size, size)
    for name in tree.names:
        warn_shadow(context, name, outer)
        bound.fresh[name.text] = Binding(kind, name.span)
        bound.scope = bound.scope.bind(name.text, bound.fresh[name.text])
    bound.scope = bound.scope.joining(pairs_bound_by(tree))
    if domain is None:
        bound.sound = False
        return
    if isinstance(domain, model.RangeDomain):
        bound.repeats *= max(1, domain.last - domain.first + 1)
    if not _names_fit(context, tree, domain):
        bound.sound = False
    names = tuple(name.text for name in tree.names)
    bound.binders.append(model.Binder.model_construct(names=names, domain=domain))


def _names_fit(context: Context, tree: ast.Binder, domain: model.Domain) -> bool:
    pairs = isinstance(domain, model.EdgesDomain)
    if len(tree.names) == (2 if pairs else 1):
        return True
    word = tree.domain.name.text if isinstance(tree.domain, ast.NamedDomain) else "…"
    form = "(x, y) in edges" if pairs else f"{tree.names[0].text} in {word}"
    context.found.add("GN229", tree.span, form=form)
    return False


def _domain(context: Context, tree: ast.Binder, scope: Scope) -> _Set:
    domain = tree.domain
    if isinstance(domain, ast.RangeDomain):
        return _Set(_range(context, domain, scope), WHOLE)
    word = domain.name.text
    if word in words.NEAR:
        return _near(context, domain, scope)
    if word == "nodes" and not domain.args:
        return _Set(model.NodesDomain.model_construct(), NODE, cost.NODES)
    if word == "edges" and not domain.args:
        return _Set(model.EdgesDomain.model_construct(), NODE, cost.EDGES)
    fix = did_you_mean(word, ["nodes", "edges", *words.NEAR])
    if word in context.names.features:
        fix = f"Range over nodes: `{tree.names[0].text} in nodes where …`."
    if not context.names.is_lost(word):
        context.found.add("GN217", domain.span, name=word, fix=fix)
    return _Set(None, POISON)


def _near(context: Context, domain: ast.NamedDomain, scope: Scope) -> _Set:
    word = domain.name.text
    args = [check_as(context, arg, scope, NODE, f"`{word}`") for arg in domain.args]
    sound = arity_ok(context, domain.name, domain.span, len(args), ["x"])
    sound = _direction_ok(context, domain.name, words.NEAR) and sound
    if not sound or args[0].is_poison:
        return _Set(None, NODE)
    near = model.NearDomain.model_construct(node=args[0].expr, direction=words.NEAR[word])
    return _Set(near, NODE, cost.DEGREE, args[0].facts)


def _range(context: Context, domain: ast.RangeDomain, scope: Scope) -> model.Domain | None:
    first = _range_end(context, domain.first, scope)
    last = _range_end(context, domain.last, scope)
    if first is None or last is None:
        return None
    count = last - first + 1
    if count > MAX_RANGE:
        context.found.add("GN233", domain.span, count=f"{count:,}", limit=f"{MAX_RANGE:,}")
        return None
    return model.RangeDomain.model_construct(first=first, last=last)


def _range_end(context: Context, tree: ast.Expr, scope: Scope) -> int | None:
    typed = check_as(context, tree, scope, SCALAR, "an end of a range")
    if typed.is_poison:
        return None
    if isinstance(typed.expr, model.Number) and typed.expr.value.is_integer():
        return int(typed.expr.value)
    fix = "Use numbers and numeric params; to range over all nodes, write `x in nodes`."
    context.found.add("GN218", tree.span, fix=fix)
    return None


def require_symmetry(
    context: Context,
    tree: ast.Quantifier | ast.Partial | ast.ForEach,
    part: model.Quantifier | model.Reach | model.ForEach,
) -> None:
    """Over undirected edges a body must not tell one end from the other."""
    if not context.names.is_undirected:
        return
    for position, binder in enumerate(tree.binders):
        if len({name.text for name in binder.names}) != 2:
            continue
        x, y = (name.text for name in binder.names)
        if not is_symmetric_over(context, part, position):
            fix = PAIR_FIX if isinstance(tree, ast.ForEach) else None
            context.found.add("GN406", tree.span, x=x, y=y, fix=fix)
