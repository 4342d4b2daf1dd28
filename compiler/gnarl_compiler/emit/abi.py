"""What emitter and runtime agree on: the table of a generated module in, `Abi` out, and back.

A module carries the agreement as one literal value, `ABI`: its kernels with their parameters and
arrays in order, how the arrays of features are called, what is kept between steps, space to work
in, and the mistakes of the spec that kernels report by number. Who calls kernels asks an `Abi`;
nobody takes names apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import PurePath
from typing import Any

from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import GRAPH, NODE, ORACLE, STAGES, Place, Stage
from gnarl_dsl.report.diagnostics import InternalError
from gnarl_dsl.report.source import Span

# The arrays that every batch has, in the order in which kernels take them.
CORE = (
    *("n", "m", "rowptr", "src", "adjacency", "edge_id", "tags", "phase", "last", "rounds"),
    *("horizon", "limit", "potential", "ended", "legal"),
)
# Of kernels that call code that somebody brought: (slots, 2), the address of one function for all
# of it, and the slot itself.
CALLS = "extern"
# The arrays of those batches whose phases may be skipped.
TURNS = ("picked",)
# The arrays of those batches whose network reads a part of the graph.
VIEWS = ("window", "heard")
_TYPES = ("float64", "bool", "int8", "int64")  # NumPy's, of tables and of space to work in


class Role(Enum):
    """What a kernel is for; of the last four there is one per expert, clause or name.

    The messages that inputs decide have the subject `reset`: they are found once.
    """

    RESET = "reset"
    STEP = "step"
    RECOUNT = "recount"
    OBSERVE = "observe"
    WINDOW = "window"
    MESSAGES = "messages"
    EXPERT = "expert"
    JUDGE = "judge"
    OBJECTIVE = "objective"
    METRIC = "metric"

    def of(self, subject: str = "") -> str:
        """The name of the kernel, of an expert, a clause, an objective or a metric."""
        return f"{self.value}_{subject}" if subject else self.value


@dataclass(frozen=True)
class Kernel:
    """A function that callers may call: its own parameters, then arrays."""

    role: Role
    subject: str  # an expert, clause, objective or metric, `reset` of messages; else empty
    first: tuple[str, ...]
    arrays: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.role.of(self.subject)


@dataclass(frozen=True)
class FeatureArray:
    """Where the values of a feature are that some kernel takes."""

    feature: str
    stage: Stage
    array: str


@dataclass(frozen=True)
class KeptTable:
    """Values that the reset leaves for other kernels; updates bring live ones up to date."""

    array: str
    type: str  # NumPy's name
    place: Place  # one value per node, or one per graph
    live: bool


@dataclass(frozen=True)
class Scratch:
    """One value per node to work in, the same space for every slot."""

    array: str
    type: str  # NumPy's name


@dataclass(frozen=True)
class Fault:
    """A run-time mistake of the spec; its number is its place among the others, from 1."""

    span: Span
    what: str

    def told(self, problem: Problem) -> str:
        """In one line; where a clause is inherited, the line is one of another file."""
        line = problem.line_of(self.span)
        name = PurePath(problem.sources[self.span.file].name).name
        return f"{f'{name}, ' * (self.span.file > 0)}line {line}: {self.what}"


@dataclass(frozen=True)
class Abi:
    """The agreement about one generated module."""

    kernels: tuple[Kernel, ...]
    features: tuple[FeatureArray, ...]
    kept: tuple[KeptTable, ...]
    scratch: tuple[Scratch, ...]
    faults: tuple[Fault, ...]

    @cached_property
    def _named(self) -> Mapping[str, Kernel]:
        return {kernel.name: kernel for kernel in self.kernels}

    @cached_property
    def _arrays(self) -> Mapping[str, str]:
        return {entry.feature: entry.array for entry in self.features}

    def kernel(self, name: str) -> Kernel:
        return self._named[name]

    def has(self, name: str) -> bool:
        return name in self._named

    def array_of(self, feature: str) -> str:
        """The array that holds a feature of the state, or another that some kernel takes."""
        return self._arrays[feature]

    @property
    def calls_back(self) -> bool:
        """Whether some kernel calls code that somebody brought."""
        return any(CALLS in kernel.arrays for kernel in self.kernels)

    @property
    def state_arrays(self) -> tuple[str, ...]:
        """The arrays of the features that updates write."""
        return tuple(entry.array for entry in self.features if entry.stage.written)

    @property
    def oracles(self) -> tuple[str, ...]:
        """The oracles that some kernel reads, in the order of the spec."""
        return tuple(entry.feature for entry in self.features if entry.stage is ORACLE)

    def oracles_of(self, kernels: Iterable[Kernel]) -> tuple[str, ...]:
        """Those of them that these kernels read."""
        used = {array for kernel in kernels for array in kernel.arrays}
        return tuple(name for name in self.oracles if self.array_of(name) in used)

    def fault(self, code: int) -> Fault:
        """What a positive number in `fault` says."""
        return self.faults[code - 1]


# Names


def array_name(feature: Feature) -> str:
    """The name of a feature's array: the first letter of its stage and its own name."""
    return f"{feature.stage.name[0]}_{feature.name}"


def kept_array(number: int) -> str:
    """The name of a kept table."""
    return f"kept{number}"


CHOICES = "choices"  # how many nodes the mask allows, where writes keep it


@dataclass(frozen=True)
class TallyArrays:
    """The arrays of a tally; for a sum also of what its summands have in common."""

    total: str
    grain: str  # the least power of two that makes whole numbers of all of them
    top: str  # the greatest of them, without their signs

    @classmethod
    def of(cls, number: int) -> TallyArrays:
        return cls(f"tally{number}", f"grain{number}", f"top{number}")


@dataclass(frozen=True)
class LinkArrays:
    """The arrays that list which nodes point to each, for one pointer that chains go along."""

    child: str
    after: str
    before: str

    @classmethod
    def of(cls, number: int) -> LinkArrays:
        return cls(f"child{number}", f"after{number}", f"before{number}")

    @property
    def all(self) -> tuple[str, str, str]:
        return self.child, self.after, self.before


LEADING = "leading"  # the nodes whose chains lead through one


# The literal


def write_abi(abi: Abi) -> str:
    """The value that a module carries, as Python text."""
    sections: dict[str, list[tuple[Any, ...]]] = {
        "kernels": [(k.role.value, k.subject, k.first, k.arrays) for k in abi.kernels],
        "features": [(f.feature, str(f.stage), f.array) for f in abi.features],
        "kept": [(k.array, k.type, str(k.place), k.live) for k in abi.kept],
        "scratch": [(s.array, s.type) for s in abi.scratch],
        "faults": [(*fault.span, fault.what) for fault in abi.faults],
    }
    lines = [f"    {name!r}: ({_rows(rows)})," for name, rows in sections.items()]
    return "\n".join(["{", *lines, "}"])


def _rows(rows: list[tuple[Any, ...]]) -> str:
    """One row per line."""
    return "".join(f"\n        {row!r}," for row in rows) + "\n    " * bool(rows)


def read_abi(literal: Mapping[str, Any]) -> Abi:
    """The agreement that a module carries; InternalError if it is none."""
    try:
        abi = Abi(
            kernels=tuple(Kernel(Role(row[0]), *row[1:]) for row in literal["kernels"]),
            features=tuple(
                FeatureArray(name, STAGES[stage], array)
                for name, stage, array in literal["features"]
            ),
            kept=tuple(
                KeptTable(array, kind, Place.named(place), live)
                for array, kind, place, live in literal["kept"]
            ),
            scratch=tuple(Scratch(*row) for row in literal["scratch"]),
            faults=tuple(
                Fault(Span(start, end, file), what) for start, end, file, what in literal["faults"]
            ),
        )
    except (LookupError, TypeError, ValueError) as error:
        raise InternalError(f"a generated module has no table of its kernels: {error}") from error
    verify_abi(abi)
    return abi


def verify_abi(abi: Abi) -> None:
    """Raise an InternalError unless every array has one meaning and every kernel one name."""
    entries: list[FeatureArray | KeptTable | Scratch] = [*abi.features, *abi.kept, *abi.scratch]
    own = [entry.array for entry in entries]
    known = {*CORE, CALLS, *TURNS, *VIEWS, *own}
    others = len(CORE) + 1 + len(TURNS) + len(VIEWS)
    _require(len(known) == others + len(own), "two arrays of one name")
    _require(len({k.name for k in abi.kernels}) == len(abi.kernels), "two kernels of one name")
    for kernel in abi.kernels:
        strange = [array for array in kernel.arrays if array not in known]
        _require(not strange, f"arrays of {kernel.name} that nothing explains: {strange}")
    for space in abi.scratch:
        _require(space.type in _TYPES, f"`{space.array}` of type {space.type}")
    for table in abi.kept:
        _require(table.type in _TYPES, f"`{table.array}` of type {table.type}")
        _require(table.place in (NODE, GRAPH), f"`{table.array}` per {table.place}")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise InternalError(f"a generated module has {what}")
