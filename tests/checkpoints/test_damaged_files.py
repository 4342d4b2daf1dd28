"""Damaged, forged and hostile instance files: an error that names the member, and no more."""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shipped_specs import shipped
from small_instances import assert_same, few

from gnarl_runtime.instances import instance_files
from gnarl_runtime.instances.instance_files import (
    InstanceError,
    Meta,
    hash_bytes,
    read_instances,
    write_instances,
)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A file of four Bellman-Ford instances."""
    path = tmp_path / "four.gnarl.npz"
    write_instances(path, shipped("bellman_ford"), few(shipped("bellman_ford")))
    return path


def test_truncated_and_damaged_files_are_errors(written: Path) -> None:
    """Whatever byte is changed: an InstanceError, or the very same instances."""
    whole, problem = written.read_bytes(), shipped("bellman_ford")
    good, rng = read_instances(written, problem), random.Random(1)
    for cut in rng.sample(range(len(whole)), 40):
        written.write_bytes(whole[:cut])
        with pytest.raises(InstanceError, match=re.escape(str(written))):
            read_instances(written, problem)
    for place in rng.sample(range(len(whole)), 250):
        written.write_bytes(
            whole[:place] + bytes([whole[place] ^ rng.randrange(1, 256)]) + whole[place + 1 :]
        )
        try:
            read = read_instances(written, problem)
        except InstanceError:
            pass
        else:
            for ours, theirs in zip(read, good, strict=True):
                assert_same(ours, theirs, oracles=True)


Members = dict[str, bytes]


def npy(array: Any, allow_pickle: bool = False) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=allow_pickle)
    return buffer.getvalue()


def forge(path: Path, change: Callable[[Members, dict[str, Any]], None]) -> None:
    """Rewrite a file with other members, and with hashes that fit them."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    meta = json.loads(members.pop("meta.json"))
    change(members, meta)
    meta["members"].update({name: hash_bytes(content) for name, content in members.items()})
    meta["content"] = ""
    try:
        meta["content"] = Meta.model_validate(meta).hash()
    except ValueError:
        meta["content"] = "unknown"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**members, "meta.json": json.dumps(meta).encode()}.items():
            archive.writestr(name, content)


class _Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch /tmp/gnarl-was-here",)


def _set(name: str, array: Any) -> Callable[[Members, dict[str, Any]], None]:
    return lambda members, meta: members.update({name: npy(array)})


def _meta(**fields: Any) -> Callable[[Members, dict[str, Any]], None]:
    return lambda members, meta: meta.update(fields)


def _evil(members: Members, meta: dict[str, Any]) -> None:
    members["nodes.npy"] = npy(np.array([_Evil()], object), allow_pickle=True)
    members["tags.npy"] = pickle.dumps(_Evil())


def _claim(members: Members, meta: dict[str, Any]) -> None:
    """A header that promises far more than there is."""
    members["tags.npy"] = members["tags.npy"].replace(b"(22,), }" + b" " * 6, b"(9999999999,)}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_evil, "nodes.npy: found object of shape"),
        (_claim, "tags.npy: found uint64 of shape (9999999999,), expected uint64 of shape (22,)"),
        (_set("nodes.npy", np.array([4, 5, 6])), "nodes.npy: found int64 of shape (3,)"),
        (_set("nodes.npy", np.array([4, 5, 6, 10**6])), "instance 3: found 1000000, expected 1 to"),
        (_set("nodes.npy", np.array([0, 5, 6, 7])), "instance 0: found 0, expected 1"),
        (_set("nodes.npy", np.array([4, 5, 6, 7], "i4")), "found int32 of shape (4,), expected"),
        (_set("edges.npy", np.array([4, 5, 6, 999])), "edges.npy: instance 3: found 999"),
        (_set("edges.npy", np.array([1, 1, 1, 1])), "ends.npy: found int32 of shape"),
        (_set("ends.npy", np.zeros((2, 2), "i4")), "ends.npy: found int32 of shape (2, 2)"),
        (lambda members, meta: members.pop("tags.npy"), "tags.npy: is missing"),
        (lambda members, meta: members.update({"tags.npy": b"?"}), "tags.npy: is not an array"),
        (_meta(format="zip"), "the field `format` is wrong"),
        (_meta(version=2), "has version 2, but this program reads version 1"),
        (_meta(count="four"), "the field `count` is wrong"),
        (_meta(count=-1), "the field `count` is -1"),
        (_meta(count=10**15), "the field `count` is"),
        (_meta(count=3), "nodes.npy: found int64 of shape (4,), expected int64 of shape (3,)"),
        (_meta(provenance={"seed": "x"}), "the field `provenance.seed` is wrong"),
        (_meta(surprise=1), "the field `surprise` is wrong"),
    ],
)  # fmt: skip
def test_forged_files_are_errors(
    written: Path, change: Callable[[Members, dict[str, Any]], None], message: str
) -> None:
    forge(written, change)
    with pytest.raises(InstanceError, match=re.escape(message)) as caught:
        read_instances(written, shipped("bellman_ford"))
    assert str(written) in str(caught.value)
    assert not Path("/tmp/gnarl-was-here").exists()


@pytest.mark.parametrize(
    ("ends", "message"),
    [([[0, 9]], "outside 0..4"), ([[1, 0]], "u < v"), ([[1, 1]], "u < v"),
     ([[0, 1], [0, 1]], "sorted, and none given twice"), ([[1, 2], [0, 1]], "sorted")],
)  # fmt: skip
def test_forged_edges_are_errors(tmp_path: Path, ends: list[list[int]], message: str) -> None:
    path, problem = tmp_path / "one.npz", shipped("rgc")
    write_instances(path, problem, few(problem)[1:2])

    def change(members: Members, meta: dict[str, Any]) -> None:
        members["edges.npy"] = npy(np.array([len(ends)]))
        members["ends.npy"] = npy(np.array(ends, "i4"))

    forge(path, change)
    with pytest.raises(InstanceError, match=f"ends.npy: instance 0: .*{message}"):
        read_instances(path, problem)


def test_sizes_are_limited_before_anything_is_unpacked(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = shipped("bellman_ford")
    monkeypatch.setattr(instance_files, "MAX_DENSE", 100)
    with pytest.raises(InstanceError, match="matrices would take"):
        read_instances(written, problem)
    with zipfile.ZipFile(written, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../bomb", bytes(50_000_000))
    assert written.stat().st_size < 100_000
    monkeypatch.setattr(instance_files, "MAX_BYTES", 40_000_000)
    with pytest.raises(InstanceError, match="unpacks to 50,"):
        read_instances(written, problem)


def test_a_change_without_a_new_hash_is_named(written: Path) -> None:
    with zipfile.ZipFile(written) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name, message in (("input.A.npy", "input.A.npy: does not match its hash"),
                          ("meta.json", "meta.json: does not match its own hash")):  # fmt: skip
        changed = (
            members[name][:-4] + b"    "
            if name != "meta.json"
            else members[name].replace(b'"seed": null', b'"seed": 1234')
        )
        with zipfile.ZipFile(written, "w") as archive:
            for member, content in {**members, name: changed}.items():
                archive.writestr(member, content)
        with pytest.raises(InstanceError, match=message):
            read_instances(written, shipped("bellman_ford"))


def test_other_files_are_no_instance_files(tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_text("hello")
    with pytest.raises(InstanceError, match=r"not a whole \.gnarl\.npz file"):
        read_instances(tmp_path / "x.npz", shipped("bfs"))
    np.savez(tmp_path / "y.npz", a=np.zeros(3))
    with pytest.raises(InstanceError, match=r"meta\.json: is missing"):
        read_instances(tmp_path / "y.npz", shipped("bfs"))
    with pytest.raises(FileNotFoundError):
        read_instances(tmp_path / "z.npz", shipped("bfs"))
