"""The update block of a phase: statements in, checked statements with their facts out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard, assert_never

from gnarl_dsl import model
from gnarl_dsl.check.context import Context, forbid_hidden, warn_shadow, warn_unused
from gnarl_dsl.check.expressions import (
    arity_ok,
    check_as,
    check_binders,
    check_expr,
    check_stored,
    check_where,
    index_ok,
    known_truth,
    repeated,
    report_missing_index,
    require_symmetry,
    warn_if_unguarded,
)
from gnarl_dsl.check.scopes import Binding, Pairs, Scope
from gnarl_dsl.check.symmetry import writes_alike
from gnarl_dsl.check.types import MASK, NO_FACTS, NODE, Facts, Typed
from gnarl_dsl.model.kinds import DERIVED, EDGE, INPUT, ORACLE, Stage
from gnarl_dsl.model.parts import parts_inside
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax import ast

_WRITE_FIXES: Mapping[Stage, str] = {
    INPUT: "Make it a `state` feature that starts from the input.",
    DERIVED: "It follows from its formula; make it `state` to write it.",
    ORACLE: "It is a label; nothing in an episode may write it.",
}


@dataclass
class _Block:
    """Statements checked so far, with the scope that the next one sees.

    `around` is what the conditions around them read.
    """

    scope: Scope
    loop: Mapping[str, Binding] | None = None
    around: Facts = NO_FACTS
    statements: list[model.Statement] = field(default_factory=list)
    facts: Facts = NO_FACTS

    def add(self, statement: model.Statement, *parts: Facts) -> None:
        self.statements.append(statement)
        self.facts = self.facts.plus(*parts)


def check_update(
    context: Context, body: tuple[ast.Statement, ...], scope: Scope
) -> tuple[tuple[model.Statement, ...], Facts]:
    block = _Block(scope)
    _statements(context, body, block)
    return tuple(block.statements), block.facts


def _statements(context: Context, body: tuple[ast.Statement, ...], block: _Block) -> None:
    local: dict[str, Binding] = {}
    for tree in body:
        match tree:
            case ast.Assign():
                _assign(context, tree, block)
            case ast.LocalLet():
                local[tree.name.text] = _local_let(context, tree, block)
            case ast.When():
                _when(context, tree, block)
            case ast.ForEach():
                _for_each(context, tree, block)
            case _:
                assert_never(tree)
    if body:
        warn_unused(context, local, "local let")


def _local_let(context: Context, tree: ast.LocalLet, block: _Block) -> Binding:
    typed = check_expr(context, tree.value, block.scope)
    warn_shadow(context, tree.name, block.scope)
    hidden = typed.facts.plus(block.around).hidden
    binding = Binding(typed.type, tree.name.span, hidden=hidden)
    block.scope = block.scope.bind(tree.name.text, binding)
    if isinstance(typed.expr, model.Choice):
        binding.choice = typed.expr
        return binding
    bind = model.Bind.model_construct(span=tree.span, name=tree.name.text, value=typed.expr)
    block.add(bind, typed.facts)
    return binding


def _when(context: Context, tree: ast.When, block: _Block) -> None:
    condition = check_as(context, tree.condition, block.scope, MASK, "the condition of `if`")
    around, joined = block.around.plus(condition.facts), context.names.promises.joined
    then = _branch(context, tree.then, block, around, joined(tree.condition, True))
    other = _branch(context, tree.otherwise, block, around, joined(tree.condition, False))
    known = known_truth(condition)
    if known is not None:
        chosen = then if known else other
        block.statements += chosen.statements
        block.facts = block.facts.plus(chosen.facts)
        return
    when = model.When.model_construct(
        span=tree.span,
        condition=condition.expr,
        then=tuple(then.statements),
        otherwise=tuple(other.statements),
    )
    block.add(when, condition.facts, then.facts, other.facts)


def _branch(
    context: Context,
    body: tuple[ast.Statement, ...],
    block: _Block,
    around: Facts,
    joined: Pairs,
) -> _Block:
    branch = _Block(block.scope.joining(joined), block.loop, around)
    _statements(context, body, branch)
    return branch


def _for_each(context: Context, tree: ast.ForEach, block: _Block) -> None:
    if block.loop is not None:
        context.found.add("GN412", tree.span)
        return
    bound = check_binders(context, tree.binders, block.scope)
    where = check_where(context, tree.where, bound)
    before = context.found.error_count
    asked = bound.facts.plus(where.facts) if where else bound.facts
    inner = _Block(bound.scope, bound.fresh, block.around.plus(asked))
    _statements(context, tree.body, inner)
    warn_unused(context, bound.fresh, "variable")
    loop: model.ForEach = model.ForEach.model_construct(
        span=tree.span,
        binders=tuple(bound.binders),
        where=where.expr if where else None,
        body=tuple(inner.statements),
    )
    if bound.sound and context.found.error_count == before:
        require_symmetry(context, tree, loop)
        _require_one_writer(context, tree, loop)
    each = inner.facts.plus(where.facts) if where else inner.facts
    # What depends on a local let of the loop is not found once.
    own = {part.name for part in parts_inside(loop.body) if isinstance(part, model.Bind)}
    each = each.given({name: frozenset(bound.fresh) for name in own})
    block.add(loop, repeated(context, each, bound, tree.span), bound.facts)


def _require_one_writer(context: Context, tree: ast.ForEach, loop: model.ForEach) -> None:
    """No two rounds may write one cell, unless both write the same."""
    _require_one_order(context, loop)
    free = [b.names[0] for b in loop.binders if len(b.names) == 1]
    edges = any(_writes_edge(context, write) for write in _writes(loop.body))
    if len(free) != 2 or not edges or not context.names.is_undirected:
        return
    x, y = free
    if not writes_alike(context, loop, x, y):
        context.found.add("GN414", tree.span, x=x, y=y)


def _writes_edge(context: Context, write: model.Assign | model.SetEdge) -> bool:
    return isinstance(write, model.SetEdge) or context.names.is_edge_feature(write.feature)


# Assignments


def _assign(context: Context, tree: ast.Assign, block: _Block) -> None:
    target = tree.target
    if isinstance(target, ast.Call):
        _set_edge(context, tree, target, block)
        return
    name = target.text if isinstance(target, ast.Name) else target.name.text
    if not _writable(context, name, tree, block):
        check_expr(context, tree.value, block.scope)
        for part in target.indices if isinstance(target, ast.Index) else ():
            check_as(context, part, block.scope, NODE, "an index")
        return
    index = _target_index(context, target, name, block)
    if context.names.features[name].type.single and index:
        check_expr(context, tree.value, block.scope)
        return
    value = check_stored(context, tree.value, block.scope, name)
    context.names.written.add(name)
    _require_own_cell(context, target, block)
    assign = model.Assign.model_construct(
        span=tree.span,
        feature=name,
        index=tuple(part.expr for part in index),
        value=value.expr,
    )
    parts = [value.facts, *(part.facts for part in index)]
    if context.names.features[name].stage.observed:
        _forbid_hidden(context, block, parts, f"the update of `{name}`, which the policy sees,")
    block.add(assign, *parts)


def _forbid_hidden(context: Context, block: _Block, parts: Sequence[Facts], where: str) -> None:
    """What a policy sees must not be written from, or because of, what it does not see."""
    forbid_hidden(context, block.around.plus(*parts), where)


def _writable(context: Context, name: str, tree: ast.Assign, block: _Block) -> bool:
    info, target = context.names.features.get(name), tree.target
    if info is None:
        _report_not_a_feature(context, name, target, block)
        return False
    if not info.stage.written:
        stage, fix = info.stage.article, _WRITE_FIXES[info.stage]
        context.found.add("GN402", target.span, name=name, stage=stage, fix=fix)
        return False
    return True


def _report_not_a_feature(
    context: Context, name: str, target: ast.Name | ast.Index | ast.Call, block: _Block
) -> None:
    if context.names.is_lost(name):
        return
    if name in block.scope.bound or name in set(context.names.global_names()):
        kind, fix = _told(context, name, block)
        context.found.add("GN402", target.span, name=name, stage=kind, fix=fix)
        return
    span = target.name.span if isinstance(target, ast.Index) else target.span
    fix = did_you_mean(name, context.names.features)
    context.found.add("GN201", span, name=name, fix=fix)


def _told(context: Context, name: str, block: _Block) -> tuple[str, str | None]:
    """What a name is that no update can write, and what to do instead."""
    if name in block.scope.bound:
        return "a variable", "Bind a new name: `let w = …`."
    if name in context.names.params:
        return "a param", "What changes is a `state` feature."
    if name in context.names.lets:
        return "a let", "What changes is a `state` feature; a let is a formula."
    return "built in" if name in ("n", "m") else "a clause", None


def _target_index(
    context: Context, target: ast.Name | ast.Index, name: str, block: _Block
) -> list[Typed]:
    info = context.names.features[name]
    trees = target.indices if isinstance(target, ast.Index) else ()
    index = [check_as(context, tree, block.scope, NODE, "an index") for tree in trees]
    if info.type.single:
        if trees:
            context.found.add("GN410", target.span, name=name)
    elif not trees and info.place.width:
        report_missing_index(context, target.span, name)
    elif not index_ok(context, target.span, name, len(index)):
        pass
    elif info.place is EDGE and isinstance(target, ast.Index):
        warn_if_unguarded(context, target, block.scope, "keeps nothing")
    return index


def _set_edge(context: Context, tree: ast.Assign, target: ast.Call, block: _Block) -> None:
    if target.name.text != "edge":
        fix = _cell_fix(context, target)
        context.found.add("GN413", target.span, name=target.name.text, fix=fix)
        check_expr(context, tree.value, block.scope)
        return
    ends = [check_as(context, arg, block.scope, NODE, "an end of `edge`") for arg in target.args]
    value = check_as(context, tree.value, block.scope, MASK, "the value of `edge(u, v)`")
    if not arity_ok(context, target.name, target.span, len(ends), ["u", "v"]):
        return
    if context.names.graph is not None and not context.names.graph.mutable:
        kind = "directed" if context.names.graph.directed else "undirected"
        context.found.add("GN404", tree.span, kind=kind)
        return
    _require_own_cell(context, target, block)
    context.names.written.add("edge")
    statement = model.SetEdge.model_construct(
        span=tree.span, source=ends[0].expr, target=ends[1].expr, value=value.expr
    )
    parts = [value.facts, *(end.facts for end in ends)]
    _forbid_hidden(context, block, parts, "an update of the graph, which the policy sees,")
    block.add(statement, *parts)


def _cell_fix(context: Context, target: ast.Call) -> str | None:
    name = target.name.text
    if name in context.names.features:
        return f"A feature's cell is written with brackets: `{name}[…] := …`."
    return None


def _require_own_cell(
    context: Context, target: ast.Name | ast.Index | ast.Call, block: _Block
) -> None:
    """In a parallel loop two rounds must never write one cell."""
    if block.loop is None:
        return
    parts: tuple[ast.Expr, ...] = ()
    if isinstance(target, ast.Index):
        parts = target.indices
    elif isinstance(target, ast.Call):
        parts = target.args
    plain = {part.text for part in parts if isinstance(part, ast.Name)}
    own = {name for name in plain if block.scope.bound.get(name) is block.loop.get(name)}
    missing = sorted(set(block.loop) - own)
    if missing:
        context.found.add("GN405", target.span, missing=", ".join(f"`{m}`" for m in missing))


def _require_one_order(context: Context, loop: model.ForEach) -> None:
    """A feature written as [x, y] and as [y, x]: some round meets another's cell."""
    places: dict[str, str] = {}
    for write in _writes(loop.body):
        if isinstance(write, model.SetEdge):
            continue
        place = "".join(f" {part.name}" for part in write.index if _is_variable(part))
        if places.setdefault(write.feature, place) != place and _is_ordered(context, write):
            context.found.add("GN415", write.span, name=write.feature)


def _is_ordered(context: Context, write: model.Assign) -> bool:
    return not (context.names.is_undirected and context.names.is_edge_feature(write.feature))


def _is_variable(part: model.Expr) -> TypeGuard[model.Variable]:
    return isinstance(part, model.Variable)


def _writes(body: Sequence[model.Statement]) -> Iterator[model.Assign | model.SetEdge]:
    for statement in body:
        if isinstance(statement, model.When):
            yield from _writes(statement.then)
            yield from _writes(statement.otherwise)
        elif isinstance(statement, model.Assign | model.SetEdge):
            yield statement
