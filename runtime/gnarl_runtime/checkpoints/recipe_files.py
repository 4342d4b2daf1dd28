"""A TOML file or the name of a shipped recipe in, a checked Recipe out. Needs no torch."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.report.suggestions import nearest
from gnarl_dsl.specs import specs_folder
from gnarl_runtime.checkpoints.recipe import TRAINERS, Recipe

MAX_BYTES = 100_000
AUTO = "auto"  # no recipe: one is chosen when training begins


class RecipeError(UsageError):
    """A recipe that cannot be used: what was found, what was expected, where."""


def recipes_folder() -> Path:
    return specs_folder() / "recipes"


def shipped_recipes() -> list[str]:
    return sorted(path.stem for path in recipes_folder().glob("*.toml"))


def default_recipe(problem: Problem) -> tuple[str, Recipe]:
    """The shipped recipe called like the problem or its trainer, else one to be chosen."""
    for name in (problem.name, f"{problem.name}_bc", f"{problem.name}_ppo"):
        if name in shipped_recipes():
            return name, load_recipe(name)
    return AUTO, auto_base()


def auto_base() -> Recipe:
    """What a recipe that is chosen starts from: numbers are read by their level."""
    return set_keys(Recipe(), {"policy.levels": True}, AUTO)


def load_recipe(name: str) -> Recipe:
    """A path, or the name of a shipped recipe."""
    path = Path(name)
    if not path.is_file():
        shipped = recipes_folder() / f"{name}.toml"
        if not shipped.is_file():
            close = nearest(name, shipped_recipes())
            fix = f"did you mean {close}?" if close else f"shipped: {', '.join(shipped_recipes())}"
            raise RecipeError(f"there is no recipe {name}; {fix}")
        path = shipped
    if path.stat().st_size > MAX_BYTES:
        raise RecipeError(f"{path}: expected at most {MAX_BYTES:,} bytes")
    try:
        table = tomllib.loads(path.read_bytes().decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path}: {error}") from None
    return check_recipe(table, str(path))


def check_recipe(table: Mapping[str, Any], where: str) -> Recipe:
    """The recipe in a table; the first mistake is told with its key."""
    for key in _keys(table):
        if key.split(".")[0] != "params" and key not in known_keys():
            raise RecipeError(f"{where}: {unknown_key(key)}")
    try:
        return Recipe.model_validate(dict(table))
    except ValidationError as error:
        raise RecipeError(f"{where}: {_explained(error)}") from None


def _explained(error: ValidationError) -> str:
    """The first mistake: its key, what was expected, what was found."""
    first = error.errors()[0]
    parts = map(str, first["loc"])
    key = ".".join(part for part in parts if part != "int" and not part.startswith("tuple["))
    if first["type"] == "value_error":  # a check of ours across keys, which says what it found
        told = str(first["ctx"]["error"])
        return told if told.startswith(f"{key}: ") else f"{key}: {told}"
    return f"{key}: {first['msg']}, found {first['input']!r}"


def _keys(table: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in table.items():
        if isinstance(value, Mapping) and name != "params":
            yield from _keys(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def known_keys() -> list[str]:
    """Every key of a recipe, with dots."""
    return list(_model_keys(Recipe, ""))


def _model_keys(model: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, info in model.model_fields.items():
        kind = info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _model_keys(kind, f"{prefix}{name}.")
        elif isinstance(kind, type) and is_dataclass(kind):
            yield from (f"{prefix}{name}.{field.name}" for field in fields(kind))
        else:
            yield f"{prefix}{name}"


def unknown_key(key: str) -> str:
    known = known_keys()
    leaf = key.rpartition(".")[2]
    close = nearest(key, known) or nearest(leaf, [k.rpartition(".")[2] for k in known])
    full = close if close in known else next((k for k in known if k.endswith(f".{close}")), close)
    fix = f"did you mean {full}?" if close else f"known: {', '.join(known)}"
    return f"a recipe has no key {key}; {fix}"


# Changes


def change_recipe(recipe: Recipe, changes: Sequence[str]) -> Recipe:
    """The recipe with what `--set KEY=VALUE` says."""
    return set_keys(recipe, parse_changes(changes))


def parse_changes(changes: Sequence[str]) -> dict[str, Any]:
    """`key=value` texts as a mapping, values as TOML reads them."""
    found = {}
    for text in changes:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise RecipeError(f"--set {text}: expected KEY=VALUE, such as --set lr=1e-3")
        found[name.strip()] = _value(value.strip())
    return found


def set_keys(recipe: Recipe, changes: Mapping[str, Any], where: str = "--set") -> Recipe:
    """The recipe with changes: a key with dots, or its last part where that is clear."""
    table = recipe.model_dump()
    for name, value in changes.items():
        place = table
        *path, leaf = _full_key(name, recipe, where).split(".")
        for part in path:
            place = place[part]
        place[leaf] = value
    return check_recipe(table, where)


def policy_settings(changes: Iterable[str], where: str = "--set") -> tuple[str, ...]:
    """The settings of the policy itself among the keys that are changed."""
    keys = (_full_key(name, Recipe(), where) for name in changes)
    return tuple(key.removeprefix("policy.") for key in keys if key.startswith("policy."))


def _full_key(name: str, recipe: Recipe, where: str) -> str:
    known = known_keys()
    if name in known:
        return name
    fitting = [key for key in known if key.rpartition(".")[2] == name]
    used = [key for key in fitting if not key.startswith(_unused_sections(recipe))]
    if len(used) > 1:
        raise RecipeError(f"{where} {name}: expected one of {', '.join(used)}")
    if not used and not fitting:
        raise RecipeError(f"{where}: {unknown_key(name)}")
    return (used or fitting)[0]


def _unused_sections(recipe: Recipe) -> tuple[str, ...]:
    """Sections that the trainer does not read."""
    parts = {part for entry in TRAINERS.values() for part in entry.parts}
    return tuple(f"{part}." for part in sorted(parts - set(recipe.parts)))


def _value(text: str) -> Any:
    """As TOML reads it; what is no TOML value is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
