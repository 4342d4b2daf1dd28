"""What is bound where an expression stands: binders, conditions and phases in, scopes out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from gnarl_dsl import model
from gnarl_dsl.check.types import MAYBE_NODE, NODE, Type, Witness
from gnarl_dsl.report.source import Span
from gnarl_dsl.syntax import ast

Pairs = frozenset[tuple[str, str]]
_LETS_DEEP = 8  # lets that call each other, looked into for a promise


@dataclass
class Binding:
    """A bound variable; `used` is set when an expression reads it.

    `choice` is the value of a variable that stands for an enum param, which is known now; `hidden`
    is what the value of a local let was read from that the policy does not see.
    """

    type: Type
    span: Span
    used: bool = False
    choice: model.Choice | None = None
    hidden: tuple[Witness, ...] = ()


@dataclass(frozen=True)
class Scope:
    """Variables bound here and the pairs of them known to be joined by an edge."""

    bound: dict[str, Binding] = field(default_factory=dict)
    joined: Pairs = frozenset()
    later: frozenset[str] = frozenset()

    def bind(self, name: str, binding: Binding) -> Scope:
        """This scope with one more variable; old knowledge about the name is dropped."""
        joined = frozenset(pair for pair in self.joined if name not in pair)
        return replace(self, bound={**self.bound, name: binding}, joined=joined)

    def joining(self, pairs: Pairs) -> Scope:
        return replace(self, joined=self.joined | pairs)


# Pairs of variables that are joined by an edge


@dataclass
class Promises:
    """Which variables a formula says are joined; what lets promise is looked up once."""

    lets: Mapping[str, ast.Let]
    known: dict[tuple[str, bool], Pairs] = field(default_factory=dict)
    depth: int = 0

    def joined(self, tree: ast.Expr, holds: bool) -> Pairs:
        """Pairs of variables that must be joined by an edge if `tree` is true (or false)."""
        match tree:
            case ast.Call(name=ast.Ident(text="edge"), args=(ast.Name(text=u), ast.Name(text=v))):
                return frozenset({(u, v)}) if holds else frozenset()
            case ast.Call() if tree.name.text in self.lets and self.depth < _LETS_DEEP:
                return self._called(tree, self.lets[tree.name.text], holds)
            case ast.Unary(op="not"):
                return self.joined(tree.operand, not holds)
            case ast.Logic(op=op) if (op == "and") == holds:
                return frozenset().union(*(self.joined(arg, holds) for arg in tree.args))
            case _:  # any other formula promises nothing
                return frozenset()

    def _called(self, call: ast.Call, let: ast.Let, holds: bool) -> Pairs:
        """What a let promises about its parameters, said of the variables it is given."""
        given = {
            param.name.text: arg.text
            for param, arg in zip(let.params, call.args, strict=False)
            if isinstance(arg, ast.Name)
        }
        pairs = self._inside(let, holds)
        return frozenset((given[u], given[v]) for u, v in pairs if u in given and v in given)

    def _inside(self, let: ast.Let, holds: bool) -> Pairs:
        key = let.name.text, holds
        if key not in self.known:
            self.known[key] = frozenset()  # as a circle of lets meets it, which is reported
            self.depth += 1
            self.known[key] = self.joined(let.body, holds)
            self.depth -= 1
        return self.known[key]


def pairs_bound_by(tree: ast.Binder) -> Pairs:
    """`(x, y) in edges` and `y in neighbors(x)` name two ends of an edge."""
    names = [name.text for name in tree.names]
    if len(names) == 2:
        return frozenset({(names[0], names[1])})
    domain = tree.domain
    if not isinstance(domain, ast.NamedDomain) or len(domain.args) != 1:
        return frozenset()
    other = domain.args[0]
    if not isinstance(other, ast.Name):
        return frozenset()
    if domain.name.text == "predecessors":
        return frozenset({(names[0], other.text)})
    return frozenset({(other.text, names[0])})


def allowed_pairs(phase: ast.Phase, promises: Promises) -> Pairs:
    """The pairs of picks that are joined whenever the phase allows its pick."""
    allows = [clause for clause in phase.clauses if isinstance(clause, ast.Allow)]
    return promises.joined(allows[0].condition, True) if allows else frozenset()


# Phases


def phase_scopes(phases: list[ast.Phase], mutable: bool, promises: Promises) -> list[Scope]:
    """For each phase the scope of its formulas: its own pick and those before it."""
    scopes = []
    for phase, scope in zip(phases, turn_scopes(phases, mutable, promises), strict=True):
        later = scope.later - {phase.variable.text}
        own = Binding(NODE, phase.variable.span, used=True)
        scopes.append(replace(scope, later=later).bind(phase.variable.text, own))
    return scopes


def turn_scopes(phases: list[ast.Phase], mutable: bool, promises: Promises) -> list[Scope]:
    """For each phase the scope when its turn comes: the picks before it.

    Those of phases that may be skipped may be unset. Picks that an earlier phase allows only
    along an edge are still joined, unless edges change.
    """
    scopes = []
    for position in range(len(phases)):
        scope = Scope(later=frozenset(phase.variable.text for phase in phases[position:]))
        for phase in phases[:position]:
            kind = NODE if phase.when is None else MAYBE_NODE
            scope = scope.bind(phase.variable.text, Binding(kind, phase.variable.span, used=True))
        for earlier in () if mutable else phases[:position]:
            scope = scope.joining(allowed_pairs(earlier, promises))
        scopes.append(scope)
    return scopes


# Definitions


def in_order(trees: Mapping[str, ast.Tree]) -> list[str]:
    """Names, the used before their users (no recursion); a circle comes in some order.

    A mention is a name in the text, whatever it means there, so that a variable may
    count as one: the order is then stricter than need be, which does no harm.
    """
    done: dict[str, None] = {}
    for name in trees:
        waiting = [(name, iter(mentions(trees[name])))]
        opened = {name}
        while waiting:
            current, used = waiting[-1]
            deeper = next((u for u in used if u in trees and u not in done and u not in opened), "")
            if deeper:
                opened.add(deeper)
                waiting.append((deeper, iter(mentions(trees[deeper]))))
            else:
                done.setdefault(current)
                waiting.pop()
    return list(done)


def mentions(tree: ast.Tree) -> Iterator[str]:
    """Every name that a formula below `tree` may refer to."""
    waiting = [tree]
    while waiting:
        current = waiting.pop()
        if isinstance(current, ast.Name):
            yield current.text
        elif isinstance(current, ast.Call | ast.Index | ast.Partial):
            yield current.name.text
        waiting.extend(ast.child_trees(current))
