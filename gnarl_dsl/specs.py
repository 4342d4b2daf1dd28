"""Where the shipped specs are: beside the package in a checkout, inside it when installed."""

from __future__ import annotations

from pathlib import Path


def specs_folder() -> Path:
    inside = Path(__file__).parent / "specs"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "specs"


def find_spec(name: str) -> Path | None:
    """The shipped spec of that name, if there is one."""
    path = specs_folder() / f"{name}.gnarl"
    return path if path.is_file() else None


def shipped_specs() -> list[Path]:
    return sorted(specs_folder().glob("*.gnarl"))
