"""The description inside a `.gnarl.npz` file: what its arrays are, and where they come from."""

from __future__ import annotations

import hashlib
import json
from typing import Literal

from pydantic import BaseModel, ConfigDict

from gnarl_dsl.model import Feature
from gnarl_dsl.model.kinds import ORACLE

META = "meta.json"
VERSION = 1


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
