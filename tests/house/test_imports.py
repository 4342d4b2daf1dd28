"""The house: data flows one way from room to room, and rooms are small and say what they do."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import house_map
import pytest
from house import TESTS

PACKAGES = tuple(house_map.PACKAGES)
# The front door looks downstream, lazily; so do the helpers for tests of one's own.
FRONT_DOORS = {"gnarl_dsl/__init__.py", "gnarl_dsl/testing.py", "gnarl_runtime/__init__.py"}
CROWDED = 15


def imported_modules(path: Path) -> set[str]:
    """Every module of ours that a file imports, at its top or later."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in names if name.split(".")[0] in PACKAGES}


def place(module: str, folder: str) -> int | None:
    """The position of a module's room among the rooms of a folder; None outside of it."""
    parts, around = module.split("."), folder.split("/")
    if parts[: len(around)] != around:
        return None
    rooms = house_map.ROOMS[folder]
    inside = parts[len(around) :]
    name = inside[0] if inside and inside[0] in rooms else "."
    return rooms.index(name) if name in rooms else None


def module_of(path: Path, package: str) -> str:
    home = house_map.PACKAGES[package]
    return ".".join(path.relative_to(home.parent).with_suffix("").parts)


@pytest.mark.parametrize("folder", house_map.ROOMS)
def test_arrows_point_one_way(folder: str) -> None:
    """Between packages and between rooms: what stands to the left is imported, nothing else."""
    package = folder.split("/")[0]
    for path in house_map.files_of(house_map.PACKAGES[package]):
        module = module_of(path, package)
        here = place(module, folder)
        if f"{module.replace('.', '/')}.py" in FRONT_DOORS or here is None:
            continue
        for other in imported_modules(path):
            assert PACKAGES.index(other.split(".")[0]) <= PACKAGES.index(package), (module, other)
            there = place(other, folder)
            assert there is None or there <= here, f"{module} imports {other}"


def test_every_room_is_on_the_map() -> None:
    for folder, rooms in house_map.ROOMS.items():
        home = house_map.PACKAGES[folder.split("/")[0]].parent / folder
        found = {path.parent.name for path in home.glob("*/__init__.py")}
        assert found == set(rooms) - {"."}, folder


def test_rooms_are_small_and_say_what_they_are_for() -> None:
    for home in house_map.PACKAGES.values():
        names: dict[str, Path] = {}
        for init in home.rglob("__init__.py"):
            assert house_map.first_line(init), init
            own = [path for path in init.parent.glob("*.py") if path != init]
            assert len(own) <= CROWDED, f"{init.parent} has {len(own)} files"
            for path in own:
                assert house_map.first_line(path), path
                assert names.setdefault(path.stem, path) == path, f"{path} and {names[path.stem]}"


def test_the_map_is_drawn_from_the_tree() -> None:
    text = house_map.PAGE.read_text("utf-8")
    assert house_map.page_with_map(text) == text, "run `python docs/house_map.py`"


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("gnarl_dsl.loading", {"torch", "numpy", "scipy", "networkx", "gymnasium"}),
        ("gnarl_dsl.format.house_style", {"torch", "numpy", "scipy", "networkx", "pydantic"}),
        ("gnarl_runtime.commands.compile", {"torch", "numpy", "scipy", "networkx"}),
        ("gnarl_runtime.commands.trace", {"torch", "numpy", "scipy", "networkx"}),
        ("gnarl_runtime.commands.work.trace_command", {"torch", "networkx"}),
        ("gnarl_runtime.commands.check", {"torch", "numpy", "gymnasium", "pydantic"}),
        ("gnarl_runtime.commands.eval", {"torch", "numpy", "gymnasium", "pydantic"}),
        ("gnarl_runtime.commands.solve", {"torch", "numpy", "gymnasium", "pydantic"}),
        ("gnarl_runtime.commands.train", {"torch", "numpy", "gymnasium"}),
        ("gnarl_runtime.starters.new", {"torch", "numpy", "gymnasium", "pydantic"}),
        ("gnarl_runtime.reports.report", {"torch", "numpy", "gymnasium", "pydantic"}),
        ("gnarl_runtime.machines.mcp_command", {"torch", "numpy", "mcp", "pydantic"}),
        ("gnarl_runtime.machines.tool_work", {"torch", "numpy", "scipy", "mcp"}),
        ("gnarl_runtime.commands.servers.play", {"torch", "numpy", "pydantic", "starlette"}),
        ("gnarl_runtime.play.play_app", {"torch", "matplotlib", "gymnasium", "networkx"}),
    ],
)
def test_commands_start_light(module: str, forbidden: set[str]) -> None:
    code = f"import {module}, sys; print(' '.join(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not forbidden & set(run.stdout.split())


@pytest.mark.parametrize("imports", ["gnarl_runtime, gymnasium", "gymnasium, gnarl_runtime"])
def test_whoever_comes_second_the_environments_are_registered(imports: str) -> None:
    """Gymnasium is not imported for this alone, and does not notice that it was waited for."""
    code = (
        f"import {imports}, importlib.resources\n"
        "assert 'gnarl/BellmanFord-v0' in gymnasium.registry\n"
        "assert type(gymnasium.__spec__.loader).__module__.startswith('_frozen')\n"
        "assert importlib.resources.files('gymnasium').joinpath('__init__.py').is_file()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_rooms_of_tests_are_small() -> None:
    for room in {path.parent for path in TESTS.rglob("*.py")}:
        assert len(list(room.glob("*.py"))) <= CROWDED + 1, room  # and a conftest.py


def test_no_two_test_files_share_a_name() -> None:
    """pytest imports them by their names alone."""
    names = Counter(path.name for path in TESTS.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
