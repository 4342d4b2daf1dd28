"""Instances go in, one file of plain arrays comes out, and back (docs/instances.md).

A `.gnarl.npz` file is a zip of `.npy` arrays and one `meta.json`. Reading one runs nothing that
is in it: no pickles, no paths, and sizes are checked before anything is allocated.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import platform
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

import gnarl_dsl
from gnarl_compiler.build.files import write_whole
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import INPUT, ORACLE
from gnarl_runtime.instances.cells import Ends, Values, cell_type, to_cells, to_dense
from gnarl_runtime.instances.instance_checks import MAX_NODES, InstanceError, verify_instance

__all__ = [
    "InstanceError",
    "InstanceFile",
    "Provenance",
    "read_instance_file",
    "read_instances",
    "write_instances",
]

META = "meta.json"
VERSION = 1
MAX_BYTES = 2 << 30  # of all members, unpacked
MAX_META = 16 << 20
MAX_DENSE = 16 << 30  # of all the matrices that instances hold
_HEADER = 1024  # more than the header of an array takes

_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    OSError,
)
_DATE = (1980, 1, 1, 0, 0, 0)  # the same instances give the same bytes


# The description inside a file: what its arrays are, and where they come from


class _Described(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Provenance(_Described):
    """Where instances come from; `recipe` is free text, such as a generator or a file name."""

    seed: int | None = None
    split: str | None = None
    recipe: str = ""


class Column(_Described):
    """An input or oracle: what must fit for its values to mean the same."""

    name: str
    stage: Literal["input", "oracle"]
    place: str
    type: str
    categories: int
    choices: list[str]

    @property
    def member(self) -> str:
        """The array that holds it."""
        return f"{self.stage}.{self.name}.npy"

    def describe(self) -> str:
        """The columns of the feature as a spec writes them."""
        options = f"({' | '.join(self.choices) or self.categories})" if self.categories else ""
        return f"{self.stage} {self.place} {self.type}{options}"


class Spec(_Described):
    """A file that the problem was read from."""

    name: str
    text: str


class Meta(_Described):
    """All of `meta.json`; `content` is the hash of the rest, which has the hash of each array."""

    format: Literal["gnarl-instances"] = "gnarl-instances"
    version: int = VERSION
    problem: str
    problem_hash: str
    params: dict[str, float | str]
    directed: bool
    count: int
    features: list[Column]
    provenance: Provenance
    versions: dict[str, str]
    spec: list[Spec]
    members: dict[str, str]
    content: str = ""

    def hash(self) -> str:
        """The hash of everything in the file."""
        own = self.model_dump(exclude={"content"})
        return hash_bytes(json.dumps(own, sort_keys=True).encode())


def column_of(feature: Feature) -> Column:
    """What a file says about a feature."""
    return Column(
        name=feature.name,
        stage="oracle" if feature.stage is ORACLE else "input",
        place=feature.place.name,
        type=feature.type.name,
        categories=feature.categories,
        choices=list(feature.choices),
    )


def hash_bytes(content: bytes) -> str:
    """A short name for some bytes that no others have."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


# Writing


def write_instances(
    path: str | Path,
    problem: Problem,
    instances: Sequence[Instance],
    provenance: Provenance | None = None,
) -> str:
    """Write a set of instances, all of it or nothing; returns the hash of its content."""
    for number, instance in enumerate(instances):
        verify_instance(problem, instance, f"instance {number}")
    columns = _columns(problem, instances)
    arrays = _arrays(problem, instances, columns)
    members = {name: _npy(array) for name, array in arrays.items()}
    meta = _describe(problem, len(instances), columns, provenance or Provenance(), members)
    sealed = meta.model_copy(update={"content": meta.hash()})
    text = sealed.model_dump_json(indent=1)
    write_whole(Path(path), _zipped({META: text.encode(), **members}))
    return sealed.content


def _columns(problem: Problem, instances: Sequence[Instance]) -> list[Column]:
    """All inputs, and the oracles that the instances bring."""
    kept = [feature for feature in problem.features if feature.stage is INPUT]
    for feature in problem.features:
        having = [feature.name in instance.oracles for instance in instances]
        if any(having) and not all(having):
            raise InstanceError(
                f"instance {having.index(False)} has no oracle `{feature.name}`, but others do; "
                "expected all or none of them to bring it"
            )
        if any(having):
            kept.append(feature)
    return [column_of(feature) for feature in kept]


def _arrays(
    problem: Problem, instances: Sequence[Instance], columns: Sequence[Column]
) -> dict[str, Values]:
    """Every array of the file by the name of its member."""
    ends = [instance.graph.edges() for instance in instances]
    arrays: dict[str, Values] = {
        "nodes.npy": np.array([instance.graph.n for instance in instances], "<i8"),
        "edges.npy": np.array([len(own) for own in ends], "<i8"),
        "ends.npy": _joined(ends, np.empty((0, 2), "<i4")),
        "tags.npy": _joined([instance.tags for instance in instances], np.empty(0, "<u8")),
    }
    for column in columns:
        feature = problem.feature(column.name)
        given = [i.inputs if feature.stage is INPUT else i.oracles for i in instances]
        dense = [values[column.name] for values in given]
        cells = [to_cells(feature, d, e) for d, e in zip(dense, ends, strict=True)]
        arrays[column.member] = _joined(cells, np.empty(0, cell_type(feature)))
    return arrays


def _joined(parts: Sequence[Values], empty: Values) -> Values:
    return np.concatenate([empty, *parts]).astype(empty.dtype)


def _describe(
    problem: Problem,
    count: int,
    columns: list[Column],
    provenance: Provenance,
    members: Mapping[str, bytes],
) -> Meta:
    return Meta(
        problem=problem.name,
        problem_hash=problem.hash,
        params={param.name: param.value for param in problem.params},
        directed=problem.graph.directed,
        count=count,
        features=columns,
        provenance=provenance,
        versions={
            "gnarl": gnarl_dsl.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        spec=[Spec(name=source.name, text=source.text) for source in problem.sources],
        members={name: hash_bytes(content) for name, content in members.items()},
    )


def _npy(array: Values) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), (1, 0), allow_pickle=False)
    return buffer.getvalue()


def _zipped(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, _DATE)
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, compresslevel=1)
    return buffer.getvalue()


# Reading: every fault names its member


@dataclass(frozen=True, eq=False)
class InstanceFile:
    """What a file holds; `notes` say how the problem it was written for differs from yours."""

    instances: list[Instance]
    problem: str
    problem_hash: str
    content: str
    spec: tuple[Spec, ...]
    versions: Mapping[str, str]
    provenance: Provenance
    notes: tuple[str, ...]


def read_instances(path: str | Path, problem: Problem) -> list[Instance]:
    """The instances in a file, if they fit the problem; InstanceError says why not."""
    return read_instance_file(path, problem).instances


def read_instance_file(path: str | Path, problem: Problem) -> InstanceFile:
    """The instances in a file and where they come from, checked against the problem."""
    path = Path(path)
    with path.open("rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except _BROKEN as error:
            raise InstanceError(
                f"{path}: not a whole .gnarl.npz file ({error}); copy or write it again"
            ) from error
        with archive:
            return _Reader(str(path), archive, problem).read()


class _Reader:
    """One open file."""

    def __init__(self, path: str, archive: zipfile.ZipFile, problem: Problem) -> None:
        self.path, self.archive, self.problem = path, archive, problem
        self.entries = {entry.filename: entry for entry in archive.infolist()}
        total = sum(entry.file_size for entry in archive.infolist())
        if total > MAX_BYTES:
            raise self.error("", f"unpacks to {total:,} bytes, more than {MAX_BYTES:,}")
        self.meta = self._meta()

    def error(self, member: str, what: str) -> InstanceError:
        return InstanceError(": ".join(filter(None, (self.path, member, what))))

    def read(self) -> InstanceFile:
        meta = self.meta
        columns = self._columns()
        instances = list(self._instances(columns))
        for number, instance in enumerate(instances):
            verify_instance(self.problem, instance, f"{self.path}: instance {number}")
        return InstanceFile(
            instances=instances,
            problem=meta.problem,
            problem_hash=meta.problem_hash,
            content=meta.content,
            spec=tuple(meta.spec),
            versions=meta.versions,
            provenance=meta.provenance,
            notes=tuple(self._notes()),
        )

    # The description

    def _meta(self) -> Meta:
        try:
            meta = Meta.model_validate_json(self._content(META, MAX_META))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            what = f"the field `{field}` is wrong" if field else "is not a description"
            raise self.error(META, f"{what}: {first['msg']}") from error
        if meta.version != VERSION:
            found = f"has version {meta.version}, but this program reads version {VERSION}"
            raise self.error(META, found)
        if meta.content != meta.hash():
            raise self.error(META, "does not match its own hash: it was changed or damaged")
        return meta

    def _columns(self) -> list[Column]:
        """The columns of the file, all of which must be of the same kind in the problem."""
        problem, columns = self.problem, self.meta.features
        if self.meta.directed != problem.graph.directed:
            kinds = {True: "directed", False: "undirected"}
            raise self.error(
                META,
                f"holds {kinds[self.meta.directed]} graphs, but {problem.name} is about "
                f"{kinds[problem.graph.directed]} ones",
            )
        known = {f.name: column_of(f) for f in problem.features if f.stage.steady}
        for column in columns:
            own = known.get(column.name)
            if own != column:
                found, expected = column.describe(), own.describe() if own else "no such feature"
                what = f"holds `{column.name}` as {found}, but {problem.name} has {expected}"
                raise self.error(META, what)
        missing = {n for n, c in known.items() if c.stage == INPUT.name} - {c.name for c in columns}
        if missing:
            raise self.error(META, f"the input `{min(missing)}` of {problem.name} is missing")
        return columns

    def _notes(self) -> Iterator[str]:
        meta, problem = self.meta, self.problem
        if meta.problem != problem.name:
            yield f"written for {meta.problem}, used for {problem.name}; the inputs are the same"
        elif meta.problem_hash != problem.hash:
            yield (
                f"written for another version of {problem.name} ({meta.problem_hash}, "
                f"this is {problem.hash}); the inputs are the same, the rules may differ"
            )

    # Arrays

    def _instances(self, columns: list[Column]) -> Iterator[Instance]:
        count = self.meta.count
        if not 0 <= count * 8 <= MAX_BYTES:
            raise self.error(META, f"the field `count` is {count}")
        n, m = self._array("nodes.npy", "<i8", count), self._array("edges.npy", "<i8", count)
        self._verify_sizes(n, m)
        ends = _parts(self._array("ends.npy", "<i4", int(m.sum()), 2).astype(np.int64), m)
        tags = _parts(self._array("tags.npy", "<u8", int(n.sum())), n)
        cells = {column.name: self._cells(column, n, m) for column in columns}
        for k, nodes in enumerate(n.tolist()):
            graph = self._graph(k, nodes, ends[k])
            given: dict[str, dict[str, Values]] = {INPUT.name: {}, ORACLE.name: {}}
            for column in columns:
                feature = self.problem.feature(column.name)
                dense = to_dense(feature, cells[column.name][k], graph, ends[k])
                given[column.stage][column.name] = dense
            own = tags[k].astype(np.uint64)
            yield Instance(graph, given[INPUT.name], own, given[ORACLE.name])

    def _verify_sizes(self, n: Values, m: Values) -> None:
        """Before anything else is read: no graph is larger than an instance can be."""
        for member, values, most in (
            ("nodes.npy", n, np.full_like(n, MAX_NODES)),
            ("edges.npy", m, n * (n - 1)),
        ):
            low = 1 if member == "nodes.npy" else 0
            bad = np.flatnonzero((values < low) | (values > most))
            if len(bad):
                k = bad[0]
                what = f"instance {k}: found {values[k]}, expected {low} to {most[k]}"
                raise self.error(member, what)
        wide = sum(self.problem.feature(column.name).width == 2 for column in self.meta.features)
        dense = int((n**2).sum()) * (1 + 8 * wide)
        if dense > MAX_DENSE:
            what = f"the matrices would take {dense:,} bytes, more than {MAX_DENSE:,}"
            raise self.error("nodes.npy", what)

    def _cells(self, column: Column, n: Values, m: Values) -> list[Values]:
        """The values of a column, per instance."""
        feature = self.problem.feature(column.name)
        graphs = zip(n.tolist(), m.tolist(), strict=True)
        sizes = np.array([feature.cells(nodes, edges) for nodes, edges in graphs], np.int64)
        whole = self._array(column.member, cell_type(feature).str, int(sizes.sum()))
        return _parts(whole, sizes)

    def _graph(self, number: int, n: int, ends: Ends) -> Graph:
        """A graph from its edges, which must be in the order of their ids."""
        where = f"instance {number}"
        directed = self.problem.graph.directed
        u, v = ends.T
        if ((ends < 0) | (ends >= n)).any():
            raise self.error("ends.npy", f"{where}: a node is outside 0..{n - 1}")
        if (u == v).any() or not (directed or (u < v).all()):
            order = "two different nodes" if directed else "u < v"
            raise self.error("ends.npy", f"{where}: expected {order} in every edge (u, v)")
        if (np.diff(u * n + v) <= 0).any():
            raise self.error("ends.npy", f"{where}: edges must be sorted, and none given twice")
        adjacency = np.zeros((n, n), np.bool_)
        adjacency[u, v] = True
        return Graph(directed, adjacency if directed else adjacency | adjacency.T)

    def _array(self, name: str, dtype: str, *shape: int) -> Values:
        """A member as an array of exactly this type and shape."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        content = self._content(name, size + _HEADER)
        if self.meta.members.get(name) != hash_bytes(content):
            raise self.error(name, "does not match its hash: it was changed or damaged")
        file = io.BytesIO(content)
        try:
            found: Any = _header(file)
        except _BROKEN as error:
            raise self.error(name, f"is not an array ({error})") from error
        if found != (shape, False, np.dtype(dtype)):
            what = f"{found[2]} of shape {found[0]}"
            raise self.error(name, f"found {what}, expected {np.dtype(dtype)} of shape {shape}")
        body = content[file.tell() :]
        if len(body) != size:
            raise self.error(name, f"found {len(body)} bytes of values, expected {size}")
        return np.frombuffer(body, dtype).reshape(shape)

    def _content(self, name: str, most: int) -> bytes:
        entry = self.entries.get(name)
        if entry is None:
            raise self.error(name, "is missing; the file was changed or is not an instance file")
        if entry.file_size > most:
            raise self.error(
                name, f"unpacks to {entry.file_size:,} bytes, expected at most {most:,}"
            )
        try:
            return self.archive.read(entry)
        except _BROKEN as error:
            raise self.error(
                name, f"cannot be unpacked ({error}); copy or write it again"
            ) from error


def _parts(values: Values, sizes: Values) -> list[Values]:
    """Values that stand one after the other, cut into parts of these sizes."""
    return np.split(values, np.cumsum(sizes))[:-1]


def _header(file: io.BytesIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("expected version 1.0 of the npy format")
    return np.lib.format.read_array_header_1_0(file)
