"""The packages of a checkout in, the map of their rooms out: the table in docs/design.md.

python docs/house_map.py     writes the map into docs/design.md
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "design.md"
BEGIN, END = "<!-- map: begin -->\n", "<!-- map: end -->\n"
PACKAGES = {
    "gnarl_dsl": ROOT / "gnarl_dsl",
    "gnarl_compiler": ROOT / "compiler" / "gnarl_compiler",
    "gnarl_runtime": ROOT / "runtime" / "gnarl_runtime",
}
# From left to right: a room imports only what stands before it, here or in an earlier package.
# A dot stands for the files of a folder beside its rooms.
ROOMS = {
    "gnarl_dsl": (
        *("report", "model", "language", "syntax", "levels", "check", ".", "format", "editing"),
    ),
    "gnarl_compiler": (
        *("graphs", "support", "algorithms", "externs", "interpret", "instances", "describe"),
        *("ir", "lower", "passes", "emit", "build"),
    ),
    "gnarl_runtime": (
        *("batch", "instances", "readers", "envs", "shards", "network", "checkpoints", "search"),
        *("training", "evaluation", "trajectories", "checks", "viewing", "doctor", "api"),
        *("sweeps", "web", "play", "serving", "commands"),
        *("starters", "reports", "machines"),
    ),
    "gnarl_runtime/checks": (
        *("findings", "explore", "sample", "properties", "witness", "lints", "report", "."),
    ),
}


def files_of(folder: Path) -> list[Path]:
    """The modules of a room: a single file, or those of a folder, its own rooms included."""
    if folder.suffix == ".py":
        return [folder]
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def first_line(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split("\n")[0]


def map_lines() -> Iterator[str]:
    """Markdown: a table of rooms for each package, in the order of their imports."""
    for package, home in PACKAGES.items():
        yield f"\n`{home.relative_to(ROOT).as_posix()}/` — {first_line(home / '__init__.py')}\n"
        yield "| room | in → out | files |"
        yield "|---|---|---|"
        for room in ROOMS[package]:
            yield from _room_lines(home / room, home, "")


def _room_lines(folder: Path, home: Path, indent: str) -> Iterator[str]:
    own = [path for path in sorted(folder.glob("*.py")) if path.stem != "__init__"]
    name = folder.relative_to(home).as_posix()
    if name == ".":
        doc = "the front door: `load`, `make`, `train` and what they share"
    else:
        doc = first_line(folder / "__init__.py")
    listed = ", ".join(f"`{path.stem}`" for path in own)
    yield f"| {indent}{name if name != '.' else 'beside them'} | {doc} | {listed} |"
    if name != ".":
        for inner in sorted(path.parent for path in folder.glob("*/__init__.py")):
            yield from _room_lines(inner, home, indent + "… ")


def page_with_map(text: str) -> str:
    """The page with the map of this checkout between its marks."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return before + BEGIN + "\n".join(map_lines()) + "\n" + END + after


if __name__ == "__main__":
    PAGE.write_text(page_with_map(PAGE.read_text("utf-8")), "utf-8")
