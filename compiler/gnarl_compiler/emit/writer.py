"""Lines of text in, one generated function out: its blocks, names, known values and arrays.

The writer knows nothing of operations; functions over it do (`values`, `updates`). It keeps, per
open block, the names of values that are computed already. Names that contain a name of the spec
start with a letter and `_`, all others do not: none can collide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from gnarl_compiler.emit.abi import Fault, array_name
from gnarl_compiler.emit.lets import LetCall, let_functions
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import PICK, Ref, Unsupported
from gnarl_compiler.passes.costs import Costs
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.report.source import Span

_MOST_LEVELS = 80  # Python takes 100
_MOST_LOOPS = 18  # Python takes 20 nested ones


@dataclass(frozen=True)
class Source:
    """What functions are written from; `sizes` are those of the formulas, `costs` their work.

    `chains` names each chain of pointers, wherever it starts and leads: equal ones alike.
    `lets` are the values that functions find.
    """

    program: ir.Program
    problem: Problem
    sizes: Sequence[int]
    costs: Costs
    chains: Mapping[Ref, str]
    lets: Mapping[Ref, LetCall]
    features: Mapping[str, Feature]

    @classmethod
    def of(cls, program: ir.Program, problem: Problem) -> Source:
        features = {feature.name: feature for feature in problem.features}
        sizes, chains = _formula_sizes(program), _chain_names(program)
        lets = let_functions(program, problem)
        return cls(program, problem, sizes, Costs(program), chains, lets, features)


def _formula_sizes(program: ir.Program) -> list[int]:
    """How many operations each formula has if what is shared counts each time, up to a limit."""
    sizes: list[int] = []
    for op in program.ops:
        sizes.append(min(1 + sum(sizes[ref] for ref in ir.operands(op)), 10**9))
    return sizes


def _chain_names(program: ir.Program) -> dict[Ref, str]:
    """After what they follow; a number tells others along the same pointer apart."""
    forms: dict[ir.Op, int] = {}
    names: dict[tuple[object, ...], str] = {}
    found: dict[Ref, str] = {}
    for ref, op in enumerate(program.ops):
        if isinstance(op, ir.Chase):
            parts = [
                None if r is None else _form(program, r, op.at, forms, {})
                for r in (op.following, op.cost)
            ]
            key = (op.op, op.target is None, *parts)
            if key not in names:
                pointer = program.ops[op.following]
                along = pointer.feature if isinstance(pointer, ir.Read) else "formula"
                stem = f"{op.op}_along_{along}"
                taken = sum(name.startswith(stem) for name in names.values())
                names[key] = f"{stem}_{taken + 1}" if taken else stem
            found[ref] = names[key]
    return found


def _form(
    program: ir.Program, ref: Ref, at: str, forms: dict[ir.Op, int], done: dict[Ref, int]
) -> int:
    """A number for a formula, whatever its axis `at` is called."""
    if ref not in done:
        op = program.ops[ref]
        if isinstance(op, ir.Axis) and op.name == at:
            op = replace(op, name="at")
        moved = ir.map_operands(op, lambda part: _form(program, part, at, forms, done))
        done[ref] = forms.setdefault(moved, len(forms))
    return done[ref]


def axis_name(axis: str) -> str:
    """The variable of an axis; the pick is a parameter."""
    return axis if axis == PICK else f"v_{axis}"


def write_name(feature: str) -> str:
    """The function that writes cells of a feature which something follows."""
    return f"write_{feature}"


def table_write_name(number: int) -> str:
    """The function that writes to a table which something follows."""
    return f"write_kept{number}"


def found_name(number: int) -> str:
    """The function that finds a cell of a table anew."""
    return f"found_kept{number}"


def follow_name(number: int) -> str:
    """The function that brings a table of chains up to date."""
    return f"follow_kept{number}"


def total_name(code: ir.TallyCode) -> str:
    """The function that reads a sum which writes keep."""
    return f"total{code.number}"


@dataclass(frozen=True)
class Function:
    """One emitted function: its parameters before the arrays, and the arrays.

    `scratch` are those of the arrays that are space to work in, the same for every slot, with
    their types; `stops` says whether it reports mistakes of the spec, `inlined` whether it becomes
    a part of what calls it.
    """

    name: str
    first: tuple[str, ...]
    arrays: tuple[str, ...]
    scratch: Mapping[str, str]
    stops: bool
    inlined: bool
    text: str


@dataclass
class Part:
    """Lines that were written aside, with the value they lead to."""

    text: str = ""
    lines: list[str] = field(default_factory=list)
    known: dict[Ref, str] = field(default_factory=dict)


@dataclass
class _Scope:
    """Axes that are bound, values that have names, and memos that still hold."""

    axes: frozenset[str]
    known: dict[Ref, str]
    memos: dict[Ref, str] = field(default_factory=dict)


class Writer:
    """Lines of one generated function, and the arrays it needs.

    `faults` is the list of the whole module: what can go wrong, for messages. `shared` are its
    functions that any other may call.
    """

    def __init__(
        self,
        source: Source,
        axes: Sequence[str],
        faults: list[Fault],
        shared: Mapping[str, Function],
    ) -> None:
        self.source = source
        self.shared = shared
        self.program = source.program
        self.lines: list[str] = []
        self.arrays: set[str] = set()
        self.scratch: dict[str, str] = {}
        self.stops = False
        self._faults = faults
        self._level = 1
        self._loops = 0
        self._count = 0
        self._memos = 0
        self._scopes = [_Scope(frozenset(axes), {})]

    # Lines and blocks

    def line(self, text: str) -> None:
        self.lines.append("    " * self._level + text)

    @contextmanager
    def block(
        self, head: str, axes: Sequence[str] = (), known: dict[Ref, str] | None = None
    ) -> Iterator[None]:
        """An indented block; what is computed inside is forgotten behind it."""
        self.line(head)
        with self._inside(axes, known):
            yield

    @contextmanager
    def loop(self, head: str, *axes: str) -> Iterator[None]:
        if self._loops == _MOST_LOOPS:
            raise Unsupported("quantifiers nested too deeply")
        self._loops += 1
        with self.block(head, axes):
            yield
        self._loops -= 1

    @contextmanager
    def _inside(self, axes: Sequence[str], known: dict[Ref, str] | None) -> Iterator[None]:
        if self._level == _MOST_LEVELS:
            raise Unsupported("formulas nested too deeply")
        self._level += 1
        with self.scope(axes, known):
            yield
        self._level -= 1

    @contextmanager
    def scope(
        self, axes: Sequence[str] = (), known: dict[Ref, str] | None = None
    ) -> Iterator[None]:
        """Values that are known, and axes that are bound, until it ends."""
        self._scopes.append(_Scope(self.bound_axes.union(axes), {} if known is None else known))
        yield
        self._scopes.pop()

    @contextmanager
    def aside(self) -> Iterator[Part]:
        """What is written goes one level further in, and into a part instead of the function."""
        part = Part()
        written, self.lines = self.lines, part.lines
        with self._inside((), part.known):
            yield part
        self.lines = written

    def skip_if(self, condition: str) -> None:
        """Skip the rest of the loop's body."""
        with self.block(f"if {condition}:"):
            self.line("continue")

    # Names and arrays

    def fresh(self, stem: str = "tmp") -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def named(self, text: str) -> str:
        if text.isidentifier():
            return text
        name = self.fresh()
        self.line(f"{name} = {text}")
        return name

    def use(self, array: str) -> str:
        self.arrays.add(array)
        return array

    def feature(self, name: str) -> str:
        return self.use(array_name(self.source.features[name]))

    def work_space(self, array: str, kind: str) -> str:
        """An array of one value per node, of a NumPy type, to work in."""
        self.scratch[array] = kind
        return self.use(array)

    def call(self, function: Function, *first: str) -> str:
        """A call of another function: this one then needs the same arrays."""
        self.scratch |= function.scratch
        return f"{function.name}({', '.join([*first, *map(self.use, function.arrays)])})"

    def call_on_slot(self, function: Function, *first: str) -> str:
        """A call with views of the arrays in which slot b is the only one."""
        self.scratch |= function.scratch
        views = (
            f"{self.use(a)}{'' if a in function.scratch else '[b : b + 1]'}"
            for a in function.arrays
        )
        return f"{function.name}({', '.join([*first, *views])})"

    def fault_code(self, span: Span, what: str) -> int:
        """The number that reports a run-time mistake of the spec."""
        self.stops = True
        entry = Fault(span, what)
        if entry not in self._faults:
            self._faults.append(entry)
        return self._faults.index(entry) + 1

    # What is known

    @property
    def bound_axes(self) -> frozenset[str]:
        return self._scopes[-1].axes

    def known(self, ref: Ref) -> str | None:
        """The name of a value that is computed already."""
        scopes = reversed(self._scopes)
        return next((scope.known[ref] for scope in scopes if ref in scope.known), None)

    def keep(self, ref: Ref, text: str) -> str:
        """Give a value a name in the current block."""
        name = self.named(text)
        self._scopes[-1].known[ref] = name
        return name

    def memos(self) -> Iterator[tuple[Ref, str]]:
        """The memos that still hold, from the innermost block outwards."""
        for scope in reversed(self._scopes):
            yield from scope.memos.items()

    def new_memo(self, ref: Ref) -> str:
        self._memos += 1
        name = self._scopes[-1].memos[ref] = f"memo{self._memos}"
        return name

    def forget(self, changed: Callable[[Ref], bool]) -> None:
        """Values and memos that no longer hold."""
        for scope in self._scopes:
            for table in (scope.known, scope.memos):
                for ref in [ref for ref in table if changed(ref)]:
                    del table[ref]
