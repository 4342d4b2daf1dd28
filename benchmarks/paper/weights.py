"""The name of a run in, its weights out: from this machine, or from what is shipped.

Weights of experiments are no part of the checkout. The manifest, weights.toml, has a section for
every run whose weights were kept: the digest of the file, the command and the commit that made it.
The files themselves are in a folder beside it that is not under version control; a few are shipped.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.frame import say
from benchmarks.machine import ROOT
from benchmarks.paper.outcomes import (
    FINISHED,
    Places,
    Stopped,
    Training,
    read_training,
    write_training,
)
from benchmarks.paper.rows import Row
from gnarl_compiler.build.files import write_whole
from gnarl_runtime.checkpoints.arrays import read_arrays
from gnarl_runtime.checkpoints.checkpoint import BEST
from gnarl_runtime.checkpoints.pretrained import find_pretrained, pretrained_names

_HEAD = """\
# Weights of finished runs, which are not in the checkout. `shipped` names those of --pretrained;
# the others are looked for in benchmarks/weights/NAME/best.safetensors (see docs/contributing.md).
"""


@dataclass(frozen=True)
class Kept:
    """What the manifest says of the weights of a run."""

    sha256: str  # of the file
    shipped: str | None  # under which name the same file is shipped
    spec_hash: str
    recipe: str
    seed: int
    training: Training

    @classmethod
    def of(cls, file: Path, training: Training, row: Row, seed: int) -> Kept:
        """What is to be said of a file."""
        sha256, (_, text) = digest(file), read_arrays(file)
        same = [name for name in pretrained_names() if digest(find_pretrained(name)) == sha256]
        shipped = same[0] if same else None
        spec_hash = json.loads(text)["problem_hash"]
        return cls(sha256, shipped, spec_hash, row.recipe, seed, training)


def take_weights(row: Row, seed: int, places: Places) -> None:
    """A run folder with the weights of a run that was finished before, if they can be found."""
    kept = places.kept(row, seed)
    known = read_manifest(places.manifest).get(kept.name)
    file = find_weights(kept, known)
    if file is None:
        if known is not None:
            say(f"{kept.name}: its weights are neither in {kept} nor shipped, so it is trained")
        return
    training = training_of_weights(kept, known)
    if training.is_of(row):
        _copy(file, training, places.run(row, seed))


def keep_weights(row: Row, seed: int, places: Places) -> None:
    """The weights of a finished run, and their section of the manifest."""
    folder, kept = places.run(row, seed), places.kept(row, seed)
    training = read_training(folder)
    _copy(folder / BEST, training, kept)
    manifest, own = read_manifest(places.manifest), Kept.of(folder / BEST, training, row, seed)
    if manifest.get(kept.name) != own:
        write_manifest(places.manifest, {**manifest, kept.name: own})


def provide_start(row: Row, places: Places) -> Training | None:
    """What the weights took that a row begins with, if any; they are there afterwards."""
    for option, given in pairwise(row.arguments):
        if option == "--from":
            folder = ROOT / given
            known = read_manifest(places.manifest).get(folder.name)
            file = find_weights(folder, known)
            if file is None:
                first, _, seed = folder.name.rpartition("-seed")
                raise Stopped(
                    f"{row.name} begins with the weights of {folder.name}, which are not in "
                    f"{folder.parent}; likely fix: make them with --only {first} --seed {seed} "
                    "--again"
                )
            training = training_of_weights(folder, known)
            _copy(file, training, folder)
            return training
    return None


def find_weights(folder: Path, known: Kept | None) -> Path | None:
    """The file in a folder on this machine, or the shipped one if that is the same."""
    local = folder / BEST
    if local.is_file():
        if known is not None and (found := digest(local)) != known.sha256:
            raise Stopped(
                f"{local} has the digest {found[:12]}…, that of the manifest is "
                f"{known.sha256[:12]}…: it is of another run; likely fix: delete its folder, or "
                "train anew with --again"
            )
        return local
    if known is None or known.shipped not in pretrained_names():
        return None
    shipped = find_pretrained(known.shipped)
    return shipped if digest(shipped) == known.sha256 else None  # others are shipped by now


def training_of_weights(folder: Path, known: Kept | None) -> Training:
    """From beside the weights, else from the manifest."""
    if known is None or (folder / FINISHED).is_file():
        return read_training(folder)
    return known.training


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _copy(file: Path, training: Training, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    write_whole(target / BEST, file.read_bytes())
    write_training(target, training)


# The manifest


def read_manifest(file: Path) -> dict[str, Kept]:
    """By name of the run; none without a file."""
    if not file.is_file():
        return {}
    try:
        sections = tomllib.loads(file.read_text("utf-8"))
        return {name: _kept(section) for name, section in sections.items()}
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        problem = f"is no TOML: {error}"
    except (KeyError, TypeError, AttributeError) as error:
        problem = f"has another shape than expected: {type(error).__name__}: {error}"
    raise Stopped(f"{file} {problem}; likely fix: take it from version control")


def _kept(section: Mapping[str, Any]) -> Kept:
    return Kept(
        sha256=section["sha256"],
        shipped=section.get("shipped"),
        spec_hash=section["spec_hash"],
        recipe=section["recipe"],
        seed=section["seed"],
        training=Training(
            command=shlex.split(section["command"]),
            commit=section["commit"],
            load=section.get("load"),
            cpu_seconds=section["cpu_seconds"],
            picks=section["picks"],
            curve=section.get("curve"),
            recipe=section.get("recipe_digest"),
        ),
    )


def write_manifest(file: Path, manifest: Mapping[str, Kept]) -> None:
    """Sections by name, a line a value."""
    sections = [_section(name, manifest[name]) for name in sorted(manifest)]
    write_whole(file, "\n".join([_HEAD, *sections]).encode())


def _section(name: str, kept: Kept) -> str:
    training = kept.training
    values = {
        "sha256": kept.sha256,
        "shipped": kept.shipped,
        "command": shlex.join(training.command),
        "commit": training.commit,
        "spec_hash": kept.spec_hash,
        "recipe": kept.recipe,
        "recipe_digest": training.recipe,
        "seed": kept.seed,
        "cpu_seconds": training.cpu_seconds,
        "picks": training.picks,
        "load": training.load,
        "curve": training.curve,
    }
    lines = [f"{key} = {_toml(value)}" for key, value in values.items() if value is not None]
    return "\n".join([f"[{name}]", *lines, ""])


def _toml(value: str | float | list[Any]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value) if isinstance(value, str) else repr(value)
