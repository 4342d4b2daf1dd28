"""Instances go in, one file of plain arrays comes out, and back (docs/instances.md).

A `.gnarl.npz` file is a zip of `.npy` arrays and one `meta.json`. Reading one runs nothing that
is in it: no pickles, no paths, and sizes are checked before anything is allocated.
"""

from __future__ import annotations

import io
import platform
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import gnarl_dsl
from gnarl_compiler.build.files import write_whole
from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import INPUT
from gnarl_runtime.instances.cells import Values, cell_type, to_cells
from gnarl_runtime.instances.instance_checks import InstanceError, verify_instance
from gnarl_runtime.instances.instance_format import (
    META,
    Column,
    Meta,
    Provenance,
    Spec,
    column_of,
    hash_bytes,
)
from gnarl_runtime.instances.instance_reading import InstanceFile, read_archive

__all__ = [
    "InstanceError",
    "InstanceFile",
    "Provenance",
    "read_instance_file",
    "read_instances",
    "write_instances",
]

_DATE = (1980, 1, 1, 0, 0, 0)  # the same instances give the same bytes


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


def read_instances(path: str | Path, problem: Problem) -> list[Instance]:
    """The instances in a file, if they fit the problem; InstanceError says why not."""
    return read_instance_file(path, problem).instances


def read_instance_file(path: str | Path, problem: Problem) -> InstanceFile:
    """The instances in a file and where they come from."""
    return read_archive(Path(path), problem)


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
