"""The update block of a phase: statements in, checked statements with their facts out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard, assert_never

from gnarl_dsl import model
from gnarl_dsl.check.environment import Binding, Scope
from gnarl_dsl.check.expressions import ExpressionChecker
from gnarl_dsl.check.facts import NO_FACTS, Facts, Typed
from gnarl_dsl.check.joins import joined_pairs
from gnarl_dsl.check.types import MASK, NODE
from gnarl_dsl.language import builtins
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax import ast

_WRITE_FIXES = {
    "input": "Make it a `state` feature that starts from the input.",
    "derived": "It follows from its formula; make it `state` to write it.",
    "oracle": "It is a label; nothing in an episode may write it.",
}
_KIND_FIXES = {
    "a variable": "Bind a new name: `let w = …`.",
    "a param": "What changes is a `state` feature.",
    "a let": "What changes is a `state` feature; a let is a formula.",
}


@dataclass
class _Block:
    """Statements checked so far, with the scope that the next one sees."""

    scope: Scope
    loop: Mapping[str, Binding] | None = None
    statements: list[model.Statement] = field(default_factory=list)
    facts: Facts = NO_FACTS

    def add(self, statement: model.Statement, *parts: Facts) -> None:
        self.statements.append(statement)
        self.facts = self.facts.plus(*parts)


class UpdateChecker(ExpressionChecker):
    """Checks statements; every write is remembered."""

    def check_update(
        self, body: tuple[ast.Statement, ...], scope: Scope
    ) -> tuple[tuple[model.Statement, ...], Facts]:
        block = _Block(scope)
        self._statements(body, block)
        return tuple(block.statements), block.facts

    def _statements(self, body: tuple[ast.Statement, ...], block: _Block) -> None:
        local: dict[str, Binding] = {}
        for tree in body:
            match tree:
                case ast.Assign():
                    self._assign(tree, block)
                case ast.LocalLet():
                    local[tree.name.text] = self._local_let(tree, block)
                case ast.When():
                    self._when(tree, block)
                case ast.ForEach():
                    self._for_each(tree, block)
                case _:
                    assert_never(tree)
        if body:
            self.warn_unused_bindings(Scope(local), "local let")

    def _local_let(self, tree: ast.LocalLet, block: _Block) -> Binding:
        typed = self.check_expr(tree.value, block.scope)
        self.warn_shadow(tree.name, block.scope)
        binding = Binding(typed.type, tree.name.span)
        block.scope = block.scope.bind(tree.name.text, binding)
        if isinstance(typed.expr, model.Choice):
            binding.choice = typed.expr
            return binding
        bind = model.Bind.model_construct(span=tree.span, name=tree.name.text, value=typed.expr)
        block.add(bind, typed.facts)
        return binding

    def _when(self, tree: ast.When, block: _Block) -> None:
        condition = self.check_as(tree.condition, block.scope, MASK, "the condition of `if`")
        then = self._branch(tree.then, block, joined_pairs(tree.condition, True))
        other = self._branch(tree.otherwise, block, joined_pairs(tree.condition, False))
        if isinstance(condition.expr, model.Boolean) and not condition.is_poison:
            chosen = then if condition.expr.value else other
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
        self, body: tuple[ast.Statement, ...], block: _Block, joined: frozenset[tuple[str, str]]
    ) -> _Block:
        branch = _Block(block.scope.joining(joined), block.loop)
        self._statements(body, branch)
        return branch

    def _for_each(self, tree: ast.ForEach, block: _Block) -> None:
        if block.loop is not None:
            self.found.add("GN412", tree.span)
            return
        bound = self.check_binders(tree.binders, block.scope)
        where = self.check_where(tree.where, bound)
        before = self.found.error_count
        inner = _Block(bound.scope, bound.fresh)
        self._statements(tree.body, inner)
        self.warn_unused_bindings(Scope(bound.fresh), "variable")
        loop: model.ForEach = model.ForEach.model_construct(
            span=tree.span,
            binders=tuple(bound.binders),
            where=where.expr if where else None,
            body=tuple(inner.statements),
        )
        if bound.sound and self.found.error_count == before:
            self.require_symmetry(tree, loop)
            self._require_one_writer(tree, loop)
        each = inner.facts.plus(where.facts) if where else inner.facts
        block.add(loop, self.repeated(each, bound, tree.span), bound.facts)

    def _require_one_writer(self, tree: ast.ForEach, loop: model.ForEach) -> None:
        """No two rounds may write one cell, unless both write the same."""
        self._require_one_order(loop)
        if self.names.graph is None or self.names.graph.directed:
            return
        free = [b.names[0] for b in loop.binders if len(b.names) == 1]
        if len(free) != 2 or not any(map(self._writes_edges, _writes(loop.body))):
            return
        x, y = free
        if not self.canonical().writes_alike(loop, x, y):
            self.found.add("GN414", tree.span, x=x, y=y)

    def _writes_edges(self, write: model.Assign | model.SetEdge) -> bool:
        if isinstance(write, model.SetEdge):
            return True
        return self.names.features[write.feature].place == "edge"

    # Assignments

    def _assign(self, tree: ast.Assign, block: _Block) -> None:
        target = tree.target
        if isinstance(target, ast.Call):
            self._set_edge(tree, target, block)
            return
        name = target.text if isinstance(target, ast.Name) else target.name.text
        if not self._writable(name, tree, block):
            self.check_expr(tree.value, block.scope)
            for part in target.indices if isinstance(target, ast.Index) else ():
                self.check_as(part, block.scope, NODE, "an index")
            return
        index = self._target_index(target, name, block)
        if self.names.features[name].type == "mask_one" and index:
            self.check_expr(tree.value, block.scope)
            return
        value = self.check_stored(tree.value, block.scope, name)
        self.names.written.add(name)
        self._require_own_cell(tree, target, block)
        assign = model.Assign.model_construct(
            span=tree.span,
            feature=name,
            index=tuple(part.expr for part in index),
            value=value.expr,
        )
        block.add(assign, value.facts, *(part.facts for part in index))

    def _writable(self, name: str, tree: ast.Assign, block: _Block) -> bool:
        info = self.names.features.get(name)
        target = tree.target
        span = target.span
        if info is None:
            if self.names.is_lost(name):
                return False
            fix = did_you_mean(name, self.names.features)
            bound = name in block.scope.bound or name in set(self.names.global_names())
            if bound:
                kind = self._kind_of(name, block)
                self.found.add("GN402", span, name=name, stage=kind, fix=_KIND_FIXES.get(kind))
            else:
                name_span = target.name.span if isinstance(target, ast.Index) else span
                self.found.add("GN201", name_span, name=name, fix=fix)
            return False
        if info.stage != "state":
            fix = _WRITE_FIXES[info.stage]
            kind = "a derived feature" if info.stage == "derived" else f"an {info.stage}"
            self.found.add("GN402", span, name=name, stage=kind, fix=fix)
            return False
        return True

    def _kind_of(self, name: str, block: _Block) -> str:
        if name in block.scope.bound:
            return "a variable"
        if name in self.names.params:
            return "a param"
        if name in self.names.lets:
            return "a let"
        return "built in" if name in ("n", "m") else "a clause"

    def _target_index(self, target: ast.Name | ast.Index, name: str, block: _Block) -> list[Typed]:
        info = self.names.features[name]
        trees = target.indices if isinstance(target, ast.Index) else ()
        index = [self.check_as(tree, block.scope, NODE, "an index") for tree in trees]
        wanted = 0 if info.type == "mask_one" else builtins.PLACES[info.place]
        if info.type == "mask_one":
            if trees:
                self.found.add("GN410", target.span, name=name)
        elif not trees and wanted:
            self.report_missing_index(target.span, name)
        elif not self.index_ok(target.span, name, len(index)):
            pass
        elif info.place == "edge" and isinstance(target, ast.Index):
            self.warn_if_unguarded(target, block.scope, "keeps nothing")
        return index

    def _set_edge(self, tree: ast.Assign, target: ast.Call, block: _Block) -> None:
        if target.name.text != "edge":
            fix = self._cell_fix(target)
            self.found.add("GN413", target.span, name=target.name.text, fix=fix)
            self.check_expr(tree.value, block.scope)
            return
        ends = [self.check_as(arg, block.scope, NODE, "an end of `edge`") for arg in target.args]
        value = self.check_as(tree.value, block.scope, MASK, "the value of `edge(u, v)`")
        if not self.arity_ok(target.name, target.span, len(ends), ["u", "v"]):
            return
        if self.names.graph is not None and not self.names.graph.mutable:
            kind = "directed" if self.names.graph.directed else "undirected"
            self.found.add("GN404", tree.span, kind=kind)
            return
        self._require_own_cell(tree, target, block)
        self.names.written.add("edge")
        statement = model.SetEdge.model_construct(
            span=tree.span, source=ends[0].expr, target=ends[1].expr, value=value.expr
        )
        block.add(statement, value.facts, *(end.facts for end in ends))

    def _cell_fix(self, target: ast.Call) -> str | None:
        name = target.name.text
        if name in self.names.features:
            return f"A feature's cell is written with brackets: `{name}[…] := …`."
        return None

    def _require_own_cell(
        self, tree: ast.Assign, target: ast.Name | ast.Index | ast.Call, block: _Block
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
            self.found.add("GN405", target.span, missing=", ".join(f"`{m}`" for m in missing))

    def _require_one_order(self, loop: model.ForEach) -> None:
        """A feature written as [x, y] and as [y, x]: some round meets another's cell."""
        places: dict[str, str] = {}
        for write in _writes(loop.body):
            if isinstance(write, model.SetEdge):
                continue
            place = "".join(f" {part.name}" for part in write.index if _is_variable(part))
            if places.setdefault(write.feature, place) != place and self._is_ordered(write):
                self.found.add("GN415", write.span, name=write.feature)

    def _is_ordered(self, write: model.Assign) -> bool:
        graph = self.names.graph
        undirected = graph is not None and not graph.directed
        return not (undirected and self.names.features[write.feature].place == "edge")


def _is_variable(part: model.Expr) -> TypeGuard[model.Variable]:
    return isinstance(part, model.Variable)


def _writes(body: Sequence[model.Statement]) -> Iterator[model.Assign | model.SetEdge]:
    for statement in body:
        if isinstance(statement, model.When):
            yield from _writes(statement.then)
            yield from _writes(statement.otherwise)
        elif isinstance(statement, model.Assign | model.SetEdge):
            yield statement
