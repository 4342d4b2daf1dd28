"""A policy in, one file with its weights, its spec and its origin out; and back.

The file is safetensors: named arrays and, in the header, one JSON text. Opening one never runs
anything that it brings: the spec in it is checked like any stranger's.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from gnarl_dsl.externs import with_code
from gnarl_dsl.model import NO_CODE, Code, Problem
from gnarl_dsl.report.failures import Notice, UsageError
from gnarl_runtime.batch.reading import PLAIN, Reading
from gnarl_runtime.checkpoints.arrays import (
    CheckpointError,
    first_non_finite,
    read_arrays,
    write_arrays,
)
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.spec_texts import (
    SpecText,
    SpecTextError,
    params_of,
    problem_from,
    texts_of,
)
from gnarl_runtime.checkpoints.weight_arrays import module_arrays, restore_module
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.network.policy_config import PolicyConfig

VERSION = 1
SUFFIX = ".safetensors"
BEST = f"best{SUFFIX}"


class Meta(BaseModel):
    """What a checkpoint says about itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int
    spec: tuple[SpecText, ...]
    params: dict[str, str]
    problem_hash: str
    policy: PolicyConfig
    recipe: Recipe
    seed: int
    updates: int  # that the weights have seen
    scores: dict[str, float]  # on the validation graphs
    provenance: dict[str, Any]
    reading: Reading = PLAIN  # of numbers; files from before there were others have none


@dataclass(frozen=True, eq=False)
class TrainedPolicy:
    """A policy ready to play a problem, and how it was trained.

    `path` is the file that the weights came from or were written to, None while they are in
    memory only.
    """

    policy: Policy
    problem: Problem
    meta: Meta
    path: Path | None = None

    @property
    def scores(self) -> Mapping[str, float]:
        """How it did on the validation graphs."""
        return self.meta.scores

    def temperature(self, given: float | None = None) -> float | None:
        """At which picks are drawn, None for the best: what is given, else what the recipe says."""
        return (self.meta.recipe.temperature if given is None else given) or None

    def provenance(self) -> dict[str, Any]:
        """What decides the policy and the problem."""
        return {
            "problem": self.problem.name,
            "spec_hash": self.problem.hash,
            "params": {param.name: param.value for param in self.problem.params},
            "checkpoint": None if self.path is None else str(self.path),
            "recipe": self.meta.recipe.model_dump(mode="json"),
            "training": describe(self.meta),
        }

    def save(self, path: str | Path) -> Path:
        """Write the weights, the spec and their origin to one file, which commands read too."""
        file = Path(path)
        if file.suffix != SUFFIX:
            raise UsageError(f"{path}: expected a name that ends in {SUFFIX}")
        if not file.parent.is_dir():
            raise UsageError(f"{path}: there is no folder {file.parent}")
        save_checkpoint(file, self.policy, self.meta)
        return file

    def __repr__(self) -> str:
        where = "" if self.path is None else f" from {self.path}"
        return f"<TrainedPolicy for {self.problem.name}{where}>"


def make_meta(
    problem: Problem,
    recipe: Recipe,
    seed: int,
    updates: int,
    scores: Mapping[str, float],
    provenance: Mapping[str, Any],
) -> Meta:
    return Meta(
        version=VERSION,
        spec=texts_of(problem),
        params=params_of(problem),
        problem_hash=problem.hash,
        policy=recipe.policy,
        recipe=recipe,
        seed=seed,
        updates=updates,
        scores=dict(scores),
        provenance=dict(provenance),
    )


def save_checkpoint(path: Path, policy: Policy, meta: Meta) -> None:
    """Write the weights; an older file of that name stays until the new one is complete."""
    meta = meta.model_copy(update={"reading": policy.reading})
    write_arrays(path, module_arrays(policy), meta.model_dump_json())


def load_checkpoint(path: str | Path, device: str = "cpu", code: Code = NO_CODE) -> TrainedPolicy:
    """The policy in a file, or the best one in a run folder.

    `code` is what somebody brought beside the file, which itself never brings any.
    """
    file = Path(path)
    file = file / BEST if file.is_dir() else file
    if not file.is_file():
        raise CheckpointError(f"there is no file {file}{_hint(file)}")
    arrays, text = read_arrays(file)
    meta = _parsed(file, text)
    try:
        problem = with_code(problem_from(meta.spec, meta.params), code)
    except SpecTextError as error:
        raise CheckpointError(f"{file}: {error}") from None
    _tell_changes(file, meta, problem)
    _verify_sizes(file, meta.policy, arrays)
    try:
        policy = Policy(problem, meta.policy, reading=meta.reading)
    except ValueError as error:
        raise CheckpointError(f"{file}: its description is wrong: {error}") from None
    _verify_weights(file, policy, arrays)
    restore_module(policy, arrays)
    return TrainedPolicy(policy.to(device).eval(), problem, meta, file)


def _tell_changes(file: Path, meta: Meta, problem: Problem) -> None:
    """A notice if the spec inside means something else than when the weights were trained."""
    if meta.problem_hash != problem.hash:
        told = (
            f"{file} was trained on {problem.name} with the hash {meta.problem_hash}, but this "
            f"version reads the spec in it as {problem.hash}: results may differ"
        )
        warnings.warn(told, Notice, stacklevel=3)


def _verify_sizes(file: Path, policy: PolicyConfig, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Before a network is built: the file holds as much as the description says."""
    widest = max((max(values.shape, default=1) for values in arrays.values()), default=0)
    for name, said, most in (
        ("rounds", 1 if policy.tied else policy.rounds, len(arrays)),
        ("width", policy.width, widest),
        ("firsts", policy.firsts, widest),
    ):
        if said > most:
            raise CheckpointError(
                f"{file}: its description says {name} = {said:,}, but the weights in it are those "
                f"of at most {most:,}: they belong to another policy, or the file was changed"
            )


def _parsed(file: Path, text: str) -> Meta:
    try:
        found = json.loads(text)
        version = found.get("version") if isinstance(found, dict) else None
        if version != VERSION:
            raise CheckpointError(
                f"{file}: expected a checkpoint of version {VERSION}, found {version}"
            )
        return Meta.model_validate(found)
    except (json.JSONDecodeError, RecursionError) as error:
        raise CheckpointError(f"{file}: its description is no JSON: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise CheckpointError(
            f"{file}: its description is wrong at {where}: {first['msg']}"
        ) from None


def _verify_weights(file: Path, policy: Policy, arrays: Mapping[str, NDArray[Any]]) -> None:
    wanted = {name: tuple(tensor.shape) for name, tensor in policy.state_dict().items()}
    found = {name: values.shape for name, values in arrays.items()}
    for name, shape in wanted.items():
        if found.get(name) != shape:
            has = found.get(name, "nothing")
            raise CheckpointError(
                f"{file}: expected weights {name} of shape {shape}, found {has}: they belong to "
                "another policy, or to another version of this program"
            )
    extra = sorted(set(found) - set(wanted))
    if extra:
        raise CheckpointError(f"{file}: found weights {extra[0]} that the policy does not have")
    broken = first_non_finite(arrays)
    if broken is not None:
        raise CheckpointError(
            f"{file}: the weights {broken} are not finite: such a network cannot play; train it "
            "again, with a lower learning rate"
        )


def _hint(path: Path) -> str:
    folder = path.parent
    if path.name == BEST and folder.is_dir():
        return f"; {folder} is no run folder, or nothing was saved yet"
    near = sorted(str(file) for file in folder.glob("*.safetensors")) if folder.is_dir() else []
    likely = f"; did you mean {near[0]}?" if near else ""
    return f"; expected a run folder or a .safetensors file{likely}"


def describe(meta: Meta) -> dict[str, Any]:
    """The parts of the description that a report repeats."""
    return {
        "problem_hash": meta.problem_hash,
        "params": meta.params,
        "seed": meta.seed,
        "updates": meta.updates,
        "policy": asdict(meta.policy),
        "provenance": meta.provenance,
    }
