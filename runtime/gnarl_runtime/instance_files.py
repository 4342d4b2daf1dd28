"""Instances go in, one file of plain arrays comes out, and back (docs/instances.md).

A `.gnarl.npz` file is a zip of `.npy` arrays and one `meta.json`. Reading one runs nothing that
is in it: no pickles, no paths, and sizes are checked before anything is allocated.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gnarl_dsl
from gnarl_compiler.instance import Instance
from gnarl_dsl.model import Feature, Problem
from gnarl_runtime.instance_cells import Values, cell_type, to_cells
from gnarl_runtime.instance_checks import InstanceError, verify_instance
from gnarl_runtime.whole_files import write_whole

FORMAT, VERSION = "gnarl-instances", 1
META = "meta.json"
_DATE = (1980, 1, 1, 0, 0, 0)  # the same instances give the same bytes


@dataclass(frozen=True)
class Provenance:
    """Where instances come from; `recipe` is free text, such as the generator or a file."""

    seed: int | None = None
    split: str | None = None
    recipe: str = ""


@dataclass(frozen=True)
class Column:
    """A feature as a file describes it: what must fit for its values to mean the same."""

    name: str
    stage: str
    place: str
    type: str
    categories: int
    choices: tuple[str, ...]

    @property
    def member(self) -> str:
        return f"{self.stage}.{self.name}"

    def describe(self) -> str:
        kind = self.type
        if kind == "categorical":
            kind += f"({' | '.join(self.choices) or self.categories})"
        return f"{self.stage} {self.place} {kind}"


def column_of(feature: Feature) -> Column:
    """What a file says about a feature."""
    size = feature.categories if feature.type == "categorical" else 0
    return Column(
        feature.name, feature.stage, feature.place, feature.type, size, tuple(feature.choices)
    )


@dataclass(frozen=True, eq=False)
class InstanceFile:
    """What a file holds; `notes` say in which way its problem differs from the one asked for."""

    instances: list[Instance]
    problem: str
    problem_hash: str
    content: str
    spec: tuple[tuple[str, str], ...]  # (file name, text)
    versions: Mapping[str, str]
    provenance: Provenance
    notes: tuple[str, ...]


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
    members = {f"{name}.npy": _npy(array) for name, array in _arrays(problem, instances, columns)}
    meta = _describe(problem, len(instances), columns, provenance or Provenance(), members)
    meta["content"] = hash_meta(meta)
    write_whole(Path(path), _zipped({META: json.dumps(meta, indent=1).encode(), **members}))
    return str(meta["content"])


def read_instances(path: str | Path, problem: Problem) -> list[Instance]:
    """The instances in a file, if they fit the problem; InstanceError says why not."""
    return read_instance_file(path, problem).instances


def read_instance_file(path: str | Path, problem: Problem) -> InstanceFile:
    """The instances in a file and where they come from."""
    from gnarl_runtime.instance_reading import read_archive

    return read_archive(Path(path), problem)


def hash_meta(meta: Mapping[str, Any]) -> str:
    """The hash of everything in a file: its description holds the hash of every array."""
    own = {name: value for name, value in meta.items() if name != "content"}
    return hash_bytes(json.dumps(own, sort_keys=True).encode())


def hash_bytes(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


# Writing


def _columns(problem: Problem, instances: Sequence[Instance]) -> list[Column]:
    """All inputs, and the oracles that the instances bring."""
    kept = [feature for feature in problem.features if feature.stage == "input"]
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
) -> list[tuple[str, Values]]:
    ends = [instance.graph.edges() for instance in instances]
    arrays: list[tuple[str, Values]] = [
        ("nodes", np.array([instance.graph.n for instance in instances], "<i8")),
        ("edges", np.array([len(own) for own in ends], "<i8")),
        ("ends", _joined(ends, np.empty((0, 2), "<i4"))),
        ("tags", _joined([instance.tags for instance in instances], np.empty(0, "<u8"))),
    ]
    for column in columns:
        feature = problem.feature(column.name)
        values = [
            to_cells(feature, (i.inputs if column.stage == "input" else i.oracles)[column.name], e)
            for i, e in zip(instances, ends, strict=True)
        ]
        arrays.append((column.member, _joined(values, np.empty(0, cell_type(feature)))))
    return arrays


def _joined(parts: Sequence[Values], empty: Values) -> Values:
    return np.concatenate([empty, *parts]).astype(empty.dtype)


def _describe(
    problem: Problem,
    count: int,
    columns: Sequence[Column],
    provenance: Provenance,
    members: Mapping[str, bytes],
) -> dict[str, Any]:
    versions = {
        "gnarl": gnarl_dsl.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    return {
        "format": FORMAT,
        "version": VERSION,
        "problem": problem.name,
        "problem_hash": problem.hash,
        "params": {param.name: param.value for param in problem.params},
        "directed": problem.graph.directed,
        "count": count,
        "features": [asdict(column) for column in columns],
        "provenance": asdict(provenance),
        "versions": versions,
        "spec": [[source.name, source.text] for source in problem.sources],
        "members": {name: hash_bytes(content) for name, content in members.items()},
    }


def _npy(array: Values) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), (1, 0), allow_pickle=False)
    return buffer.getvalue()


def _zipped(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=1)
    return buffer.getvalue()
