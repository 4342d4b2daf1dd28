"""Values for features and statements of updates, for `generator`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from random_specs.formulas import Formulas, Pick
from random_specs.scope import ONE, Declared, Known, Scope

# Names that mean something in Python or inside generated code.
HOSTILE = (
    *("class", "def", "None", "import", "print", "np", "n_", "pick", "b", "b0", "slots", "fault"),
    *("s_x", "x_0", "s_d_1", "kept0", "legal", "out", "count_", "float", "INF", "joined", "range"),
)
_WIDTH = {"node": 1, "edge": 2, "pair": 2, "graph": 0}


class Updates(Formulas):
    """Writes what features can hold, and the blocks that store it."""

    def __init__(self, pick: Pick, names: Declared) -> None:
        super().__init__(pick, names)
        self.used: set[str] = set()
        # A loop writes each feature in one place per turn, named by what all of its blocks know.
        self.places: dict[tuple[tuple[str, ...], str], str] = {}
        self.around = Scope()

    def name(self, stem: str) -> str:
        """A new name, sometimes an awkward one."""
        free = [name for name in HOSTILE if name not in self.used]
        name = self.one_of(free) if self.chance(6) and free else self.fresh(stem)
        self.used.add(name)
        return name

    def value(self, known: Known, s: Scope) -> str:
        """A formula that the feature can store, most of the time."""
        match known.type:
            case "scalar":
                return self.number(s)
            case "mask":
                return self.truth(s)
            case "named":
                return self.category(known, s)
            case "numbered":
                others = self.reads(s, "numbered")
                if others and known.stage != "oracle" and self.chance(4):
                    return self.choose(others)
                return self.level(known, self.number(s))
            case _:
                return self.node(s)

    def level(self, known: Known, number: str) -> str:
        """A whole number that fits, with rare exceptions; nobody checks those of labels."""
        if self.chance(2):
            return str(self.pick(known.categories))
        if known.stage != "oracle" and self.chance(12):
            return f"floor({number} + n - n)"  # not a constant, which the checker would refuse
        return f"min(max(floor({number}), 0), {known.categories - 1})"

    def category(self, known: Known, s: Scope) -> str:
        others = [f for f in self.readable(s, "named") if f.choices == known.choices]
        others = [f for f in others if f.place == "graph" or self.has_node(s)]
        if others and self.chance(3):
            return self.cell(self.one_of(others), s)
        if s.depth > 0 and self.chance(2):
            return self.if_else(lambda _: self.one_of(known.choices), s)
        return self.one_of(known.choices)

    def mirrored_value(self, known: Known, s: Scope) -> str:
        match known.type:
            case "scalar":
                return self.mirrored_number(s)
            case "mask":
                return self.mirrored_truth(s)
            case "named":
                one, other = self.one_of(known.choices), self.one_of(known.choices)
                return f"(if {self.mirrored_truth(s)} then {one} else {other})"
            case "pointer":
                one, other = self.one_of(self.apart(s)), self.one_of(self.apart(s))
                return f"(if {self.mirrored_truth(s)} then {one} else {other})"
            case _:
                return self.level(known, self.mirrored_number(s))

    def apart(self, s: Scope) -> list[str]:
        """Nodes that are the same from either end of the edge."""
        marks = [f.name for f in self.readable(replace(s, budget=0), "mask_one")]
        tops = [
            f.name for f in self.readable(replace(s, budget=0), "pointer") if f.place == "graph"
        ]
        return [name for name in s.nodes if name not in s.edges[-1]] + marks + tops

    def block(self, s: Scope, indent: str, depth: int, loop: tuple[str, ...] = ()) -> list[str]:
        lines: list[str] = []
        for _ in range(1 + self.pick(3)):
            more, s = self.statement(s, indent, depth, loop)
            lines += more
        return lines if any(":=" in line for line in lines) else [*lines, self.nothing(s, indent)]

    def nothing(self, s: Scope, indent: str) -> str:
        return f"{indent}let {self.fresh('unused')} = {self.number(s.deeper())}"

    def statement(
        self, s: Scope, indent: str, depth: int, loop: tuple[str, ...]
    ) -> tuple[list[str], Scope]:
        kinds = ["assign"] * 5 + ["let"] + ["edge"] * 2 * self.names.mutable
        kinds += ["if"] * 2 * (depth > 0) + ["for"] * 2 * (depth > 0 and not loop)
        match self.one_of(kinds):
            case "let":
                return self.local_let(s, indent)
            case "if":
                return self.when(s, indent, depth - 1, loop), s
            case "for":
                return self.for_each(s, indent, depth - 1), s
            case "edge":
                return self.set_edge(s, indent, loop), s
            case _:
                return self.assign(s, indent, loop), s

    def local_let(self, s: Scope, indent: str) -> tuple[list[str], Scope]:
        writers: dict[str, Callable[[Scope], str]] = {
            "numbers": self.number,
            "masks": self.truth,
            "nodes": self.node,
            "optionals": self.optional,
        }
        named = [f for f in self.readable(s, "named") if f.stage != "oracle"]
        if named and self.chance(5):
            known, name = self.one_of(named), self.name("old")
            words = (*s.words, (name, known.choices))
            return [f"{indent}let {name} = {self.cell(known, s)}"], replace(s, words=words)
        kind, name = self.one_of(list(writers)), self.name("old")
        return [f"{indent}let {name} = {writers[kind](replace(s, depth=2))}"], s.bind(kind, name)

    def when(self, s: Scope, indent: str, depth: int, loop: tuple[str, ...]) -> list[str]:
        lines = [f"{indent}if {self.truth(replace(s, depth=2))}"]
        lines += self.block(s, indent + "  ", depth, loop)
        if self.chance(2):
            lines += [f"{indent}else", *self.block(s, indent + "  ", depth, loop)]
        return lines

    def for_each(self, s: Scope, indent: str, depth: int) -> list[str]:
        if self.chance(3):
            return self.for_edges(s, indent)
        binder, inner = self.binder(s, ())
        loop = (binder.split()[0],)
        if self.chance(4) and inner.budget > 0:
            second, inner = self.binder(inner, loop)
            binder, loop = f"{binder}, {second}", (*loop, second.split()[0])
        self.places.clear()
        self.around = inner
        body = self.block(inner, indent + "  ", depth, loop)
        return [f"{indent}for {binder}{self.where(inner)}", *body]

    def for_edges(self, s: Scope, indent: str) -> list[str]:
        """A loop over edges; undirected ones get values that both ends agree on."""
        binder, inner = self.edge_binder(replace(s, budget=3))
        own = [f for f in self.names.features if f.stage == "state" and f.place == "edge"]
        ends = ", ".join(inner.edges[-1])
        lines = [f"{indent}for {binder}"]
        if self.names.directed:
            self.places.clear()
            self.around = inner
            return lines + self.block(inner, indent + "  ", 1, inner.edges[-1])
        for known in own[:2]:
            if known.type == "pointer" and not self.apart(inner):
                continue
            value = self.mirrored_value(known, replace(inner, infinite=False))
            lines.append(f"{indent}  {known.name}[{ends}] := {value}")
        if self.names.mutable:
            lines.append(f"{indent}  edge({ends}) := {self.mirrored_truth(inner)}")
        return lines if len(lines) > 1 else self.assign(s, indent, ())

    # Writes

    def assign(self, s: Scope, indent: str, loop: tuple[str, ...]) -> list[str]:
        own = [f for f in self.names.features if f.stage in ("state", "hidden")]
        targets = [f for f in own if self.can_write(f, loop)]
        if not targets:
            return [self.nothing(s, indent)]
        known = self.one_of(targets)
        index = self.index(known, s, loop)
        if loop:
            index = self.places.setdefault((loop, known.name), index)
        value = self.value(known, replace(s, infinite=False, hidden=known.stage == "hidden"))
        line = f"{known.name}{f'[{index}]' if index else ''} := {value}"
        if known.place == "edge" and not self.chance(6):
            return [f"{indent}if edge({index})", f"{indent}  {line}"]
        return [indent + line]

    def can_write(self, known: Known, loop: Sequence[str]) -> bool:
        """An undirected edge has one cell but two rounds of a loop over pairs: see for_edges."""
        if known.place == "edge" and len(loop) == 2:
            return self.names.directed
        return len(loop) <= (0 if known.type in ONE else _WIDTH[known.place])

    def index(self, known: Known, s: Scope, loop: tuple[str, ...]) -> str:
        """Nodes for the target of a write; in a loop all of its variables are among them."""
        width = 0 if known.type in ONE else _WIDTH[known.place]
        leaf = replace(self.around if loop else s, depth=0)
        parts = [*loop, *(self.node(leaf) for _ in range(width - len(loop)))]
        return ", ".join(parts[::-1] if self.chance(2) else parts)

    def set_edge(self, s: Scope, indent: str, loop: tuple[str, ...]) -> list[str]:
        if len(loop) == 2 and not self.names.directed:
            return [self.nothing(s, indent)]
        parts = [*loop, *(self.node(replace(s, depth=0)) for _ in range(2 - len(loop)))]
        line = f"edge({', '.join(parts)}) := {self.truth(replace(s, depth=1))}"
        if self.chance(6):
            return [indent + line]
        return [f"{indent}if {parts[0]} != {parts[1]}", f"{indent}  {line}"]
