"""A source of choices and what a spec declares go in, well-typed formulas of it come out.

Half of `generator`. Every method returns text in brackets, so that no precedence matters.
`Scope` says what a formula may read, how deep it may go and what it may cost: the checker
bounds the cost of a step by n^3, and the interpreter has to play thousands of these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from random_specs.scope import ONE, Declared, Known, Let, Scope

T = TypeVar("T")
Pick = Callable[[int], int]  # k goes in, a number from 0 to k - 1 comes out; 0 is the simplest
Option = tuple[int, Callable[[], str]]  # weight, what to write
_NUMBERS = ("0", "1", "2", "3", "0.5", "0.1", "0.3", "1.5", "7", "1e-7", "1000")
_VARIABLES = ("x", "y", "z", "a1", "tmp1", "lambda")


class Formulas:
    """Writes formulas over what has been declared so far."""

    def __init__(self, pick: Pick, names: Declared) -> None:
        self.pick = pick
        self.names = names
        self.count = 0

    # Choices

    def one_of(self, items: Sequence[T]) -> T:
        return items[self.pick(len(items))]

    def chance(self, one_in: int) -> bool:
        return self.pick(one_in) == one_in - 1

    def choose(self, options: Sequence[Option]) -> str:
        number = self.pick(sum(weight for weight, _ in options))
        for weight, write in options:
            if number < weight:
                return write()
            number -= weight
        raise AssertionError("a pick was out of range")

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def readable(self, s: Scope, *types: str) -> list[Known]:
        def fits(f: Known) -> bool:
            may = {"input": True, "oracle": s.oracle, "hidden": s.hidden}
            stage = may.get(f.stage, s.state)
            return f.type in types and stage and f.cost <= s.budget

        return [f for f in self.names.features if fits(f)]

    def lets(self, s: Scope, kind: str) -> list[Let]:
        def fits(let: Let) -> bool:
            allowed = (s.state or not let.state) and ((s.oracle and s.hidden) or not let.oracle)
            nodes = "node" not in let.params or self.has_node(s)
            allowed = allowed and (s.depth > 0 or not let.params)
            return allowed and nodes and let.cost <= s.budget and (s.infinite or not let.infinite)

        return [let for let in self.names.lets if let.type == kind and fits(let)]

    def calls(self, s: Scope, kind: str) -> list[Option]:
        return [(2, lambda let=let: self.call(let, s)) for let in self.lets(s, kind)]

    def call(self, let: Let, s: Scope) -> str:
        write = {"node": self.node, "scalar": self.number, "mask": self.truth}
        args = [write[param](s.deeper()) for param in let.params]
        return f"{let.name}({', '.join(args)})" if args else let.name

    def reads(self, s: Scope, *types: str) -> list[Option]:
        can = [f for f in self.readable(s, *types) if f.place == "graph" or self.has_node(s)]
        return [(2, lambda f=f: self.cell(f, s)) for f in can]

    def cell(self, f: Known, s: Scope) -> str:
        if f.place == "graph":
            return f.name
        if f.place == "node":
            return f"{f.name}[{self.node(s.deeper())}]"
        if s.edges and not self.chance(3):
            return f"{f.name}[{', '.join(self.one_of(s.edges))}]"
        return f"{f.name}[{self.node(s.deeper())}, {self.node(s.deeper())}]"

    # Nodes

    def has_node(self, s: Scope) -> bool:
        """Whether a node can be named, whatever may still be spent."""
        cheap = self.readable(replace(s, budget=0), "mask_one", "pointer")
        return bool(s.nodes) or any(f.type == "mask_one" or f.place == "graph" for f in cheap)

    def node(self, s: Scope) -> str:
        options: list[Option] = [(4, lambda name=name: name) for name in s.nodes]
        options += [(1, lambda f=f: f.name) for f in self.readable(s, "mask_one")]
        pointers = self.readable(s, "pointer")
        options += [(1, lambda f=f: f.name) for f in pointers if f.place == "graph"]
        if s.depth > 0:
            cells = [f for f in pointers if f.place != "graph"]
            options += [(1, lambda f=f: self.cell(f, s)) for f in cells]
            options += self.calls(s, "node")
            options.append((1, lambda: f"({self.optional(s.deeper())} otherwise {self.some(s)})"))
            options.append((1, lambda: self.if_else(self.node, s)))
        return self.choose(options)

    def some(self, s: Scope) -> str:
        return self.node(s.deeper())

    def optional(self, s: Scope) -> str:
        options: list[Option] = [(3, lambda name=name: name) for name in s.optionals]
        options += [(2, lambda f=f: f.name) for f in self.readable(s, "unset_one")]
        if s.state:
            options += [(2, lambda p=p: f"last({p})") for p in self.names.phases]
        options += self.calls(s, "optional")
        if s.budget > 0 and s.depth > -2:
            options.append((2, lambda: self.best_node(s)))
            options.append((1, lambda: f"any({self.chosen_node(s)})"))
        if s.budget > 0 and s.depth > 0 and self.has_node(s):
            options += [
                (2, lambda f=f: f"root({f.name}, {self.some(s)})") for f in self.pointers(s)
            ]
        if s.budget > 1 and s.depth > 0 and self.has_node(s):
            options.append((2, lambda: f"component({self.chosen_node(s)}: {self.some(s)})"))
        if not options:
            return self.node(s)
        return self.choose(options)

    def best_node(self, s: Scope) -> str:
        binder, inner = self.binder(s, ())
        body = self.number(inner.deeper())
        return f"any {self.one_of(('argmin', 'argmax'))}({binder}{self.where(inner)}: {body})"

    def chosen_node(self, s: Scope) -> str:
        binder, inner = self.binder(s, ())
        return f"{binder}{self.where(inner)}"

    # What can be reached

    def part(self, s: Scope) -> str:
        """Nothing, nodes or steps in front of what is asked about them."""
        kind = self.pick(4)
        if kind == 0:
            return ""
        if kind == 1:
            return f"{self.chosen_node(s)}: "
        if kind == 2:
            binder, inner = self.edge_binder(s)
            test = self.truth(inner.deeper()) if self.names.directed else self.mirrored_truth(inner)
            return f"{binder} where {test}: "
        first, inner = self.binder(replace(s, budget=s.budget + 1), ())
        second, inner = self.binder(inner, (first.split()[0],))
        return f"{first}, {second}{self.where(inner)}: "

    def hops(self, s: Scope) -> str:
        return f"distance({self.part(s)}{self.some(s)}, {self.some(s)})"

    def is_acyclic(self, s: Scope) -> str:
        return f"acyclic({self.part(s).removesuffix(': ')})"

    def same_component(self, s: Scope) -> str:
        part = self.part(s)
        one, other = (f"component({part}{self.some(s)})" for _ in range(2))
        return f"({one} == {other})"

    def if_else(self, write: Callable[[Scope], str], s: Scope) -> str:
        test = self.truth(s.deeper())
        return f"(if {test} then {write(s.deeper())} else {write(s.deeper())})"

    # Numbers

    def number(self, s: Scope) -> str:
        options: list[Option] = [(3, lambda: self.one_of(_NUMBERS))]
        options += [(3, lambda name=name: name) for name in s.numbers]
        options += [(1, lambda: "n"), (1, lambda: "m")]
        options += [(1, lambda p=p: p) for p in self.names.params]
        options += self.reads(s, "scalar", "numbered") + self.calls(s, "number")
        if s.infinite:
            options.append((1, lambda: "inf"))
        if s.state:
            known = self.names.objectives.items() if s.hidden else ()
            goals = [goal for goal, cost in known if cost <= s.budget]
            options += [(1, lambda goal=goal: goal) for goal in goals]
        if self.has_node(s):
            options.append((2, lambda: f"{self.one_of(self.degrees())}({self.node(s.deeper())})"))
            options += [(3, lambda f=f: self.distance(f, s)) for f in self.readable(s, "point")]
        if s.depth > 0:
            options += self.deep_numbers(s)
        return self.choose(options)

    def distance(self, points: Known, s: Scope) -> str:
        return f"distance({points.name}, {self.some(s)}, {self.some(s)})"

    def degrees(self) -> tuple[str, ...]:
        return ("out_degree", "in_degree") if self.names.directed else ("degree",)

    def deep_numbers(self, s: Scope) -> list[Option]:
        down = s.deeper()
        options: list[Option] = [
            (3, lambda: f"({self.number(down)} + {self.number(down)})"),
            (3, lambda: f"({self.number(down)} - {self.number(down)})"),
            (3, lambda: f"({self.number(down)} * {self.number(down)})"),
            (3, lambda: f"({self.number(down)} / {self.number(down)})"),
            (1, lambda: f"(-{self.number(down)})"),
            (2, lambda: f"{self.one_of(('abs', 'ceil', 'floor'))}({self.number(down)})"),
            (2, lambda: f"{self.one_of(('min', 'max'))}({self.several(down)})"),
            (2, lambda: self.if_else(self.number, s)),
            (4, lambda: self.fold(s)),
        ]
        if s.budget > 0 and self.has_node(s):
            options += [(3, lambda f=f: self.chain(f, s)) for f in self.pointers(s)]
        if s.budget > 1 and self.has_node(s) and s.infinite:
            options.append((3, lambda: self.hops(s)))
        if s.budget > 2 and not self.names.directed:
            words = ("random", "targeted")
            options.append((4, lambda: f"critical_fraction({self.one_of(words)})"))
        return options

    def several(self, s: Scope) -> str:
        return ", ".join(self.number(s) for _ in range(2 + self.pick(2)))

    def pointers(self, s: Scope) -> list[Known]:
        own = self.readable(s, "pointer")
        return [f for f in own if f.place == "node" and f.cost < s.budget]

    def chain(self, pointer: Known, s: Scope) -> str:
        target = f", {self.node(s.deeper(1))}" if self.chance(2) else ""
        start = self.node(s.deeper(1))
        weights = [f for f in self.readable(s, "scalar") if f.place in ("edge", "pair")]
        weights = [f for f in weights if f.cost < s.budget and f.stage != "oracle"]
        weights += self.readable(s, "point")
        if weights and self.chance(2):
            return f"path_cost({pointer.name}, {self.one_of(weights).name}, {start}{target})"
        return f"depth({pointer.name}, {start}{target})"

    # Conditions

    def truth(self, s: Scope) -> str:
        options: list[Option] = [(1, lambda: "true"), (1, lambda: "false")]
        options += [(3, lambda name=name: name) for name in s.masks]
        options += self.reads(s, "mask") + self.calls(s, "truth")
        options += [(1, lambda e=e: self.word_test(*e)) for e in (*self.names.enums, *s.words)]
        if self.has_node(s):
            options += [(1, lambda f=f: self.marked(f, s)) for f in self.readable(s, *ONE)]
            options += [
                (1, lambda f=f: self.category_test(f, s)) for f in self.readable(s, "named")
            ]
            options.append((2, lambda: f"edge({self.some(s)}, {self.some(s)})"))
            options.append((3, lambda: self.node_test(s)))
        if s.depth > 0:
            options += self.deep_truths(s)
        return self.choose(options)

    def deep_truths(self, s: Scope) -> list[Option]:
        down = s.deeper()
        options: list[Option] = [
            (2, lambda: f"(not {self.truth(down)})"),
            (4, lambda: self.logic(down)),
            (5, lambda: self.comparison(self.number(down), self.number(down))),
            (1, lambda: f"({self.truth(down)} {self.one_of(('==', '!='))} {self.truth(down)})"),
            (1, lambda: self.if_else(self.truth, s)),
            (4, lambda: self.quantifier(s)),
        ]
        if s.budget > 0 and self.has_node(s):
            node = self.some
            options += [
                (1, lambda f=f: f"on_cycle({f.name}, {node(down)})") for f in self.pointers(s)
            ]
        if s.budget > 1:
            options.append((1, lambda: self.is_acyclic(s)))
        if s.budget > 1 and self.has_node(s):
            options.append((2, lambda: self.same_component(s)))
        if s.budget > 2:
            options += [(4, lambda f=f: f"is_dfs_forest({f.name})") for f in self.pointers(s)]
        return options

    def word_test(self, name: str, words: tuple[str, ...]) -> str:
        return f"({name} {self.one_of(('==', '!='))} {self.one_of(words)})"

    def marked(self, f: Known, s: Scope) -> str:
        return f"{f.name}[{self.node(s.deeper())}]"

    def category_test(self, f: Known, s: Scope) -> str:
        left = self.cell(f, s) if f.place != "node" else f"{f.name}[{self.some(s)}]"
        return f"({left} {self.one_of(('==', '!='))} {self.one_of(f.choices)})"

    def node_test(self, s: Scope) -> str:
        left = self.some(s)
        if not self.chance(2):
            return f"({left} {self.one_of(('==', '!='))} {self.some(s)})"
        same = f"({left} == {self.optional(s.deeper())})"
        return self.one_of((same, f"(not {same})"))

    def comparison(self, left: str, right: str) -> str:
        return f"({left} {self.one_of(('<', '<=', '>', '>=', '~=', '==', '!='))} {right})"

    def logic(self, s: Scope) -> str:
        word = self.one_of((" and ", " or "))
        return f"({word.join(self.truth(s) for _ in range(2 + self.pick(2)))})"

    # Quantifiers

    def where(self, s: Scope) -> str:
        return f" where {self.truth(s.deeper())}" if self.chance(2) else ""

    def binder(self, s: Scope, taken: tuple[str, ...]) -> tuple[str, Scope]:
        """`x in nodes` or the like, which costs 1, and the scope inside."""
        name = self.one_of([v for v in _VARIABLES if v not in taken])
        inside = replace(s.bind("nodes", name), budget=s.budget - 1)
        if not self.has_node(s) or not self.chance(2):
            return f"{name} in nodes", inside
        near, start = self.one_of(self.near()), self.node(s.deeper())
        if start in inside.nodes and start != name:
            pair = (name, start) if near == "predecessors" else (start, name)
            inside = replace(inside, edges=(*inside.edges, pair))
        return f"{name} in {near}({start})", inside

    def near(self) -> tuple[str, ...]:
        return ("successors", "predecessors") if self.names.directed else ("neighbors",)

    def binders(self, s: Scope) -> tuple[str, Scope]:
        """One or two binders; a range costs nothing, directed edges cost 2."""
        parts, inner, taken = list[str](), s, tuple[str, ...]()
        for _ in range(1 + self.pick(2)):
            kinds = ["range"] + ["node"] * 3 * (inner.budget > 0)
            kinds += ["edges"] * (self.names.directed and inner.budget > 1 and not taken)
            kind = self.one_of(kinds[::-1])
            if kind == "node":
                part, inner = self.binder(inner, taken)
            elif kind == "range":
                part, inner = self.range_binder(inner)
            else:
                part, inner = self.edge_binder(inner)
            taken += tuple(re.findall(r"\w+", part.split(" in ")[0]))
            parts.append(part)
        return ", ".join(parts), inner

    def range_binder(self, s: Scope) -> tuple[str, Scope]:
        name, first = self.fresh("i"), self.pick(3) - 1
        return f"{name} in {first}..{first + self.pick(4) - 1}", s.bind("numbers", name)

    def edge_binder(self, s: Scope) -> tuple[str, Scope]:
        x, y = self.fresh("p"), self.fresh("q")
        inner = replace(s.bind("nodes", x, y), budget=s.budget - 2)
        return f"({x}, {y}) in edges", replace(inner, edges=(*inner.edges, (x, y)))

    def fold(self, s: Scope) -> str:
        """count, sum, min or max."""
        op = self.one_of(("count", "sum", "min", "max"))
        if not self.names.directed and s.budget > 1 and self.chance(4):
            return self.mirrored_fold(op, s)
        binders, inner = self.binders(s)
        where = self.where(inner)
        if op == "count":
            return f"count({binders}{where})"
        return f"{op}({binders}{where}: {self.number(inner.deeper())})"

    def quantifier(self, s: Scope) -> str:
        op = self.one_of(("exists", "forall"))
        if not self.names.directed and s.budget > 1 and self.chance(4):
            binder, inner = self.edge_binder(s)
            return f"({op} {binder}: {self.mirrored_truth(inner)})"
        binders, inner = self.binders(s)
        return f"({op} {binders}{self.where(inner)}: {self.truth(inner.deeper())})"

    # Formulas over an undirected edge: the same with its ends swapped

    def mirrored_fold(self, op: str, s: Scope) -> str:
        binder, inner = self.edge_binder(s)
        where = f" where {self.mirrored_truth(inner)}" if self.chance(2) or op == "count" else ""
        body = "" if op == "count" else f": {self.mirrored_number(inner)}"
        return f"{op}({binder}{where}{body})"

    def twins(self, write: Callable[[Scope], str], s: Scope) -> tuple[str, str]:
        """One formula about each end of the innermost edge."""
        hole, (x, y) = self.fresh("hole"), s.edges[-1]
        others = replace(s, nodes=tuple(v for v in s.nodes if v not in (x, y)), edges=())
        text = write(others.bind("nodes", hole).deeper())
        return re.sub(rf"\b{hole}\b", x, text), re.sub(rf"\b{hole}\b", y, text)

    def mirrored_number(self, s: Scope) -> str:
        ends = ", ".join(s.edges[-1])
        features = [f for f in self.readable(s, "scalar", "numbered") if f.place == "edge"]
        options: list[Option] = [
            (3, lambda: "({} + {})".format(*self.twins(self.number, s))),
            (2, lambda: "abs({} - {})".format(*self.twins(self.number, s))),
            (2, lambda: "min({}, {})".format(*self.twins(self.number, s))),
            (2, lambda: "({} * {})".format(*self.twins(self.number, s))),
            *[(2, lambda f=f: f"{f.name}[{ends}]") for f in features],
            *[(2, lambda f=f: f"distance({f.name}, {ends})") for f in self.readable(s, "point")],
        ]
        return self.choose(options)

    def mirrored_truth(self, s: Scope) -> str:
        ends = ", ".join(s.edges[-1])
        features = [f for f in self.readable(s, "mask") if f.place == "edge"]
        options: list[Option] = [
            (2, lambda: "({} or {})".format(*self.twins(self.truth, s))),
            (2, lambda: "({} and {})".format(*self.twins(self.truth, s))),
            (2, lambda: "({} != {})".format(*self.twins(self.truth, s))),
            (2, lambda: self.comparison(self.mirrored_number(s), self.one_of(_NUMBERS))),
            (1, lambda: f"(not edge({ends}))"),
            *[(2, lambda f=f: f"{f.name}[{ends}]") for f in features],
        ]
        return self.choose(options)
